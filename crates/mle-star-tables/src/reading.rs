//! Files with rows to predict, which are read like the training table.

use std::path::Path;

use mle_star_domain::trouble::Trouble;
use mle_star_formats::{Decimal, Notation, NumberColumn, Options, Table, open};
use serde::{Deserialize, Serialize};

/// How files are read that leave it open: like the training table of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// The sheet of workbooks.
    pub sheet: Option<String>,
    /// The columns whose numbers have a decimal comma.
    pub commas: Vec<String>,
    /// The columns whose numbers have a decimal point.
    pub points: Vec<String>,
}

impl Reading {
    /// Opens a table. A workbook without the sheet is read as if none was named.
    pub(crate) fn open(&self, given: &Path) -> Result<Table, Trouble> {
        let of = |decimal: Decimal, names: &[String]| -> Vec<NumberColumn> {
            let column = |(at, name): (usize, &String)| NumberColumn {
                name: name.clone(),
                at,
                decimal: Some(decimal),
                thousands: None,
                is_translated: false,
                example: String::new(),
            };
            names.iter().enumerate().map(column).collect()
        };
        let numbers = [of(Decimal::Comma, &self.commas), of(Decimal::Point, &self.points)].concat();
        let like = Notation { numbers, ..Notation::default() };
        let open = |sheet| open(given, &Options { sheet, like: Some(&like) });
        let named = self.sheet.as_deref().and_then(|sheet| open(Some(sheet)).ok());
        named.map_or_else(|| open(None), Ok)
    }
}
