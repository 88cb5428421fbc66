//! The weights of rows.

use std::io::Read;

use csv::StringRecord;

use crate::table::{Table, shown};

/// The weights while rows are read.
pub(super) struct Weights {
    /// The column with weights, and its name.
    column: Option<(usize, String)>,
    values: Vec<f64>,
}

impl Weights {
    /// The weights in this column of a table, if any.
    ///
    /// # Errors
    /// The table lacks the column.
    pub(super) fn new(table: &Table<impl Read>, column: Option<&str>) -> Result<Self, String> {
        let column = match column {
            Some(column) => Some((table.columns(&[column])?[0], column.to_owned())),
            None => None,
        };
        Ok(Self { column, values: Vec::new() })
    }

    /// Reads the weight of a row.
    ///
    /// # Errors
    /// It is missing, negative, or no finite number.
    pub(super) fn add(&mut self, row: &StringRecord) -> Result<(), String> {
        let Some((column, name)) = &self.column else { return Ok(()) };
        let cell = row.get(*column).unwrap_or_default().trim();
        match cell.parse::<f64>() {
            Ok(weight) if weight.is_finite() && weight >= 0.0 => self.values.push(weight),
            _ if cell.is_empty() => return Err(format!("has no weight in column {}", shown(name))),
            _ => {
                let (cell, name) = (shown(cell), shown(name));
                return Err(format!(
                    "has the weight {cell} in column {name}, which is no finite number of at least 0"
                ));
            }
        }
        Ok(())
    }

    /// The weights of the rows at these places, with a mean of 1: that of a metric does not depend on their unit.
    ///
    /// # Errors
    /// No row has any weight.
    pub(super) fn finish(self, places: &[usize]) -> Result<Option<Vec<f64>>, String> {
        let Some((_, name)) = &self.column else { return Ok(None) };
        let largest = self.values.iter().copied().fold(0.0, f64::max);
        if largest <= 0.0 {
            return Err(format!("no row has a weight above 0 in column {}", shown(name)));
        }
        // Divided by the largest first, since the sum may be infinite.
        let mean = self.values.iter().map(|weight| weight / largest).sum::<f64>() / self.values.len() as f64;
        Ok(Some(places.iter().map(|place| self.values[*place] / largest / mean).collect()))
    }
}
