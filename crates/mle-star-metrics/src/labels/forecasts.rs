//! Forecasts that a score is compared with.

use std::collections::HashMap;
use std::io::Read;
use std::sync::Arc;

use csv::StringRecord;

use super::evaluate::Predicted;
use super::known::Labels;
use crate::score::Unscorable;
use crate::table::{Table, key};

/// A number for each of some rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Forecasts {
    of: HashMap<u64, f64>,
}

impl Forecasts {
    /// The forecasts in a CSV table with the row ID and the target.
    ///
    /// # Errors
    /// The table cannot be read or has other columns, or a forecast is no number.
    pub fn read(table: impl Read) -> Result<Self, Unscorable> {
        Self::read_text(table).map_err(Unscorable::new)
    }

    fn read_text(table: impl Read) -> Result<Self, String> {
        let mut table = Table::open(table)?;
        let (mut row, mut of) = (StringRecord::new(), HashMap::new());
        while table.read(&mut row)? {
            let [id, value] = [0, 1].map(|at| row.get(at).unwrap_or_default());
            let number = value.trim().parse();
            of.insert(key(id), number.map_err(|_| format!("the forecast {value} is no number"))?);
        }
        Ok(Self { of })
    }
}

impl Labels {
    /// Labels whose scores stand beside that of these forecasts.
    #[must_use]
    pub fn beside(self, forecasts: Forecasts) -> Self {
        Self { forecasts: Arc::new(forecasts), ..self }
    }

    /// What the forecasts score on the rows that are predicted, in the metric's unit; `None` if a row has none, or if rows are predicted
    /// otherwise than by one number.
    pub(super) fn score_of_forecasts(&self, predicted: &[Predicted]) -> Option<f64> {
        match predicted {
            [predicted] => predicted.score_of(|key| self.forecasts.of.get(&key).copied()),
            _ => None,
        }
    }
}
