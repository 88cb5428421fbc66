//! Folds are random, although test rows have other groups or later times.

use crate::facts::Split;
use crate::report::{Cause, Report};
use crate::rows::DivisionKind;
use crate::site::Site;

pub(super) fn find(report: &Report<'_>) -> Vec<Cause> {
    let cause = |(site, kind): (Site, DivisionKind)| {
        let (differ, column) = match report.machine.facts.split.as_ref()? {
            Split::Groups(column) => ("other groups", column),
            Split::Time(column) if kind.is_random() => ("later times", column),
            Split::Time(_) => return None,
        };
        let of = column.as_ref().map_or_else(String::new, |column| format!(" in `{column}`"));
        let line = report.line(site);
        Some((site, format!("line {line} splits rows at random, although test rows have {differ}{of}")))
    };
    report.folds().filter_map(cause).collect()
}
