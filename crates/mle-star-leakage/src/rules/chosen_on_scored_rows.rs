//! A threshold, weight or seed is chosen by the very score that is reported.

use crate::info::{Dependency, How, Kind};
use crate::machine::Machine;
use crate::report::{Cause, Report};
use crate::reported::Reported;
use crate::rows::{DivisionKind, RowsId};

pub(super) fn find(report: &Report<'_>) -> Vec<Cause> {
    let mut causes = rows(report);
    causes.extend(report.on_scored_rows(|dep| does(report, dep)));
    causes
}

/// What is chosen, in words.
pub(super) fn does(report: &Report<'_>, dep: Dependency) -> Option<&'static str> {
    let Kind::Choice(how) = dep.kind else { return None };
    let does = match how {
        How::Number => "takes the threshold or weight with the best score",
        How::Steps => "takes in each step what has the best score",
        How::Seed => "takes the seed with the best score",
        How::Rounds if one_part(report, dep.from) => "takes the number of rounds with the best score",
        How::Trials if one_part(report, dep.from) => "takes the best of many trials",
        _ => return None,
    };
    report.sees_some(dep).then_some(does)
}

/// Whether rows come from single divisions only, such as a train-test split, and from no folds.
fn one_part(report: &Report<'_>, rows: RowsId) -> bool {
    let all = &report.machine.rows;
    let mut kinds = all.parts(rows).map(|(_, division, _)| all.division_of(division).0.kind);
    let single = |kind| {
        use DivisionKind::{Condition, Position, Random, Sample, Value};
        matches!(kind, Random | Sample | Position | Condition | Value)
    };
    kinds.next().is_some_and(single) && kinds.all(single)
}

/// The scored rows are those that are predicted well.
fn rows(report: &Report<'_>) -> Vec<Cause> {
    let Machine { rows, infos, seen, .. } = report.machine;
    let among = |chosen: RowsId, scored: RowsId| rows.ancestors(scored).any(|above| above == chosen);
    let cause = |(score, _): &Reported| {
        // A score of some rows alone may be told beside that of all. If a model is fitted on such rows, there is no other.
        let fits = |chosen| infos.any(&score.deps, |dep| dep.kind == Kind::Model && among(chosen, dep.from));
        let mut chosen = seen.chosen_by_errors.iter();
        let is_reported = |chosen| !seen.finals.is_empty() || fits(chosen);
        let (_, site) = chosen.find(|(rows, _)| among(*rows, score.rows) && is_reported(*rows))?;
        let (cause, scored) = (report.line(*site), report.code(score.site));
        let text =
            format!("line {cause} chooses the rows that {scored} scores by how well they are predicted");
        Some((*site, text))
    };
    report.scores.iter().filter_map(cause).collect()
}
