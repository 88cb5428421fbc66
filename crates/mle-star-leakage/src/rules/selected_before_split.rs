//! Features are selected with the target of rows that are then validated.

use crate::info::{Dependency, Kind};
use crate::report::{Cause, Report};

pub(super) fn find(report: &Report<'_>) -> Vec<Cause> {
    let does = format!("selects features by {}", report.target());
    let is = |dep: Dependency| dep.kind == Kind::Selection && report.sees_all(dep);
    report.on_scored_rows(|dep| is(dep).then_some(does.as_str()))
}
