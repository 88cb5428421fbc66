//! How well training and test rows can be told apart.

use mle_star_domain::protocol::{self, Split};
use serde::Serialize;

use crate::cut::{line_of, sentence};
use crate::figures::grouped;

/// The maximum number of columns that are named.
const MOST_COLUMNS: usize = 10;

/// The comparison of training and test rows.
#[derive(Clone, Debug, Serialize)]
pub struct Shift {
    /// How well a classifier tells them apart.
    pub words: String,
    /// The columns that tell them apart, with their ROC-AUC, most telling first.
    pub columns: Vec<(String, String)>,
    /// The columns whose relation to the target can exist in the training table only, with the reason.
    pub suspicious: Vec<(String, String)>,
}

/// Creates the view of a comparison.
pub fn shift(shift: &protocol::Shift, split: Option<&Split>) -> Shift {
    let telling = shift.columns.iter().take(MOST_COLUMNS);
    let suspicious = shift.suspicious.iter().take(MOST_COLUMNS);
    Shift {
        words: words(shift, split),
        columns: telling.map(|one| (line_of(&one.column), format!("{:.3}", one.auc))).collect(),
        suspicious: suspicious
            .map(|one| (line_of(&one.column), sentence(&one.why.replace('`', "\""))))
            .collect(),
    }
}

fn words(shift: &protocol::Shift, split: Option<&Split>) -> String {
    // The comparison leaves the column out that the tables differ by.
    let column = split.and_then(|split| split.column.as_ref());
    let without =
        column.map_or_else(String::new, |column| format!(" that does not see \"{}\"", line_of(column)));
    let on = match shift.rows {
        0 => String::new(),
        rows => format!(" on {} rows", grouped(rows)),
    };
    format!(
        "A classifier{without} tells test rows from training rows with a ROC-AUC of {:.3}{on}; 0.5 is chance, 1 is certainty.",
        shift.auc
    )
}
