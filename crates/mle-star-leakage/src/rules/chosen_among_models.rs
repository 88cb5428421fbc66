//! The reported score is the best of several models' scores on the same rows.

use super::chosen_on_scored_rows;
use crate::info::{Dependency, How, Kind};
use crate::report::{Cause, Report};

pub(super) fn find(report: &Report<'_>) -> Vec<Cause> {
    let among_models = |dep: Dependency| {
        let among = matches!(dep.kind, Kind::Choice(How::Model | How::Setting | How::Rounds | How::Trials));
        among && report.sees_some(dep) && chosen_on_scored_rows::does(report, dep).is_none()
    };
    let does = "takes the model with the best score";
    let mut causes = report.on_scored_rows(|dep| among_models(dep).then_some(does));
    // What is told as a leak is not told again as a warning.
    let leaks = chosen_on_scored_rows::find(report);
    let start = |(site, _): &Cause| site.expression.start();
    causes.retain(|cause| !leaks.iter().any(|leak| start(leak) == start(cause)));
    causes
}
