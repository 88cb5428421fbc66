//! Training is stopped by the score on the rows that are then scored.

use crate::info::{Dependency, Kind};
use crate::report::{Cause, Report};

pub(super) fn find(report: &Report<'_>) -> Vec<Cause> {
    let is = |dep: Dependency| dep.kind == Kind::Stopping && report.sees_some(dep);
    report.on_scored_rows(|dep| is(dep).then_some("stops by the score"))
}
