//! Features are selected with the target of rows that are then validated.

use crate::info::Kind;
use crate::report::{Cause, Report};

pub(super) fn find(report: &Report<'_>) -> Vec<Cause> {
    let does = format!("selects features by {}", report.target());
    report.on_scored_rows(|dep| (dep.kind == Kind::Selection && report.sees_all(dep)).then(|| does.clone()))
}
