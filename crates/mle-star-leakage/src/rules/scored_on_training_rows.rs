//! The score is computed on rows that the model was fitted on.

use std::collections::BTreeSet;

use crate::info::{Dependency, Score};
use crate::report::{Cause, Report};

pub(super) fn find(report: &Report<'_>) -> Vec<Cause> {
    let rows = &report.machine.rows;
    let leaks = report.fits().filter(|(_, fit)| report.sees_some(*fit));
    let leaks = leaks.filter(|(_, fit)| rows.brought_together(fit.from, fit.on).is_none());
    // Scores of the rows of one fit have one cause.
    let mut told = BTreeSet::new();
    let leaks = leaks.filter(|(_, fit)| told.insert(fit.site));
    let cause = |(score, fit): (&Score, Dependency)| {
        let (fitted, scored) = (report.code(fit.site), report.code(score.site));
        // A model that is fitted on more rows than those that are scored is fitted on too many.
        let more = fit.from != fit.on && !rows.contains(fit.on, fit.from);
        let site = if more { fit.site } else { score.site };
        (site, format!("{scored} scores rows that the model was fitted on by {fitted}"))
    };
    leaks.map(cause).collect()
}
