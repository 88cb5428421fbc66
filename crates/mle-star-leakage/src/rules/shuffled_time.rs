//! Rows sorted by time are shuffled into folds.

use crate::report::{Cause, Report};

pub(super) fn find(report: &Report<'_>) -> Vec<Cause> {
    let cause = |(site, _)| {
        let (_, column) = report.machine.seen.shuffled.iter().find(|(shuffled, _)| *shuffled == site)?;
        let line = report.line(site);
        Some((site, format!("line {line} shuffles rows that are sorted by `{column}`")))
    };
    report.folds().filter_map(cause).collect()
}
