//! The same rows are in training and in validation.

use crate::info::{Dependency, Kind, Score};
use crate::machine::Machine;
use crate::report::{Cause, Report};

pub(super) fn find(report: &Report<'_>) -> Vec<Cause> {
    report.fits().flat_map(|(score, fit)| causes(report, score, fit)).collect()
}

fn causes(report: &Report<'_>, score: &Score, fit: Dependency) -> Vec<Cause> {
    let Machine { rows, .. } = report.machine;
    let both = || (report.code(fit.site), report.code(score.site));
    if report.sees_some(fit) {
        let together = |site| {
            let (cause, (fitted, scored)) = (report.code(site), both());
            (site, format!("by {cause}, {fitted} and {scored} have the same rows"))
        };
        return rows.brought_together(fit.from, fit.on).map(together).into_iter().collect();
    }
    if let Some((divided, kind, split)) = report.division(fit) {
        let overlapping = |windows| {
            let (cause, split, scored) = (report.code(windows), report.line(split), report.code(score.site));
            let text = format!(
                "the windows of {cause} overlap, and line {split} divides them at random, so what the model was fitted on is in \
                 windows that are scored by {scored}"
            );
            (windows, text)
        };
        let windows = rows.windows_of(divided).filter(|_| kind.is_random());
        return windows.map(overlapping).into_iter().collect();
    }
    let Some((one, other)) = rows.different_divisions(fit.from, fit.on) else { return Vec::new() };
    let rows_of = |site, are: &str| {
        let (fitted, scored) = both();
        (site, format!("the rows of {fitted} and of {scored} are {are}"))
    };
    // Without a final line, a score of some training rows may be told beside that of others.
    let told = |within: bool| !within || !report.machine.seen.finals.is_empty() || is_only(report, fit);
    let choice = report.machine.overlapping_choice(fit.from, fit.on).filter(|(_, within)| told(*within));
    let chosen = choice.map(|(choice, _)| rows_of(choice, "chosen so that some are in both"));
    let drawn = rows.drawn_apart(one, other).map(|site| rows_of(site, "drawn apart, so some are the same"));
    chosen.into_iter().chain(drawn).collect()
}

/// Whether what a model was fitted on is all that is known of the scores of this model.
fn is_only(report: &Report<'_>, fit: Dependency) -> bool {
    let other = |dep: Dependency| {
        let choice = report.machine.overlapping_choice(dep.from, dep.on);
        dep.kind == Kind::Model && dep.site == fit.site && !choice.is_some_and(|(_, within)| within)
    };
    !report.dependencies().any(|(_, dep)| other(dep))
}
