//! A scaler, imputer or the like is fitted on rows that are then validated.

use crate::info::{Dependency, Kind};
use crate::report::{Cause, Report};

pub(super) fn find(report: &Report<'_>) -> Vec<Cause> {
    let is = |dep: Dependency| dep.kind == Kind::Unsupervised && report.sees_all(dep);
    report.on_scored_rows(|dep| is(dep).then_some("learns"))
}
