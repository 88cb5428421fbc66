//! Forecasts that a score is compared with.

use std::collections::HashMap;
use std::io::Read;

use csv::StringRecord;

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

    /// The forecast of the row with this key.
    pub(super) fn of_row(&self, key: u64) -> Option<f64> {
        self.of.get(&key).copied()
    }
}
