//! A feature is computed with the target of rows that are then validated.

use crate::info::Kind;
use crate::report::{Cause, Report};

pub(super) fn find(report: &Report<'_>) -> Vec<Cause> {
    let does = format!("computes statistics of {}", report.target());
    report.on_scored_rows(|dep| {
        let is = matches!(dep.kind, Kind::Target | Kind::Window) && report.sees_all(dep);
        is.then(|| does.clone())
    })
}
