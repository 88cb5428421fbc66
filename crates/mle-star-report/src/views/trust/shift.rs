//! How well training and test rows can be told apart.

use mle_star_domain::protocol;
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
pub fn shift(shift: &protocol::Shift) -> Shift {
    let telling = shift.columns.iter().take(MOST_COLUMNS);
    let suspicious = shift.suspicious.iter().take(MOST_COLUMNS);
    Shift {
        words: words(shift),
        columns: telling.map(|one| (line_of(&one.column), format!("{:.3}", one.auc))).collect(),
        suspicious: suspicious
            .map(|one| (line_of(&one.column), sentence(&one.why.replace('`', "\""))))
            .collect(),
    }
}

fn words(shift: &protocol::Shift) -> String {
    let on = match shift.rows {
        0 => String::new(),
        rows => format!(" on {} rows", grouped(rows)),
    };
    format!(
        "A classifier tells test rows from training rows with a ROC-AUC of {:.3}{on}; 0.5 is chance, 1 is certainty.",
        shift.auc
    )
}
