//! The target itself is a feature.

use crate::info::{Dependency, Kind, Score};
use crate::report::{Cause, Report};

pub(super) fn find(report: &Report<'_>) -> Vec<Cause> {
    let answers = report.dependencies().filter(|(_, dep)| matches!(dep.kind, Kind::Answer(_)));
    let leaks = answers.filter(|(_, dep)| report.sees_all(*dep));
    let cause = |(score, dep): (&Score, Dependency)| {
        let (cause, target, scored) = (report.code(dep.site), report.target(), report.code(score.site));
        let text =
            format!("{cause} has {target} among its features, and {scored} scores what it predicts with it");
        (dep.site, text)
    };
    leaks.map(cause).collect()
}
