//! Rows are repeated or generated before the split into folds.

use crate::info::{Dependency, Score};
use crate::report::{Cause, Report};
use crate::rows::DivisionKind;

pub(super) fn find(report: &Report<'_>) -> Vec<Cause> {
    let cause = |(score, fit): (&Score, Dependency)| {
        let (divided, kind, split) = report.division(fit)?;
        // Copies of a row are in the same group, and fulfil the same condition.
        if matches!(kind, DivisionKind::Groups | DivisionKind::Condition | DivisionKind::Value) {
            return None;
        }
        let repeated = report.machine.rows.repetition(divided)?;
        let (cause, split, scored) = (report.code(repeated), report.line(split), report.code(score.site));
        let text = format!(
            "{cause} repeats or generates rows before line {split} splits them, so copies of rows that the model was \
             fitted on are scored by {scored}"
        );
        Some((repeated, text))
    };
    report.fits().filter_map(cause).collect()
}
