//! A comment allows a finding without a reason, or names no rule.

use crate::allow::Comment;
use crate::report::{Cause, Report};
use crate::site::Site;

pub(super) fn find(report: &Report<'_>) -> Vec<Cause> {
    let cause = |comment: &Comment<'_>| {
        let wrong = match comment.unknown.as_slice() {
            [] if comment.rules.is_empty() => "names no rule".to_owned(),
            [] if comment.reason.is_empty() => "gives no reason, so it allows nothing".to_owned(),
            [] => return None,
            [unknown, ..] => format!("names the rule `{unknown}`, which does not exist"),
        };
        let site = Site { expression: comment.range, statement: comment.range };
        Some((site, format!("the comment in line {} {wrong}", report.line(site))))
    };
    report.comments.iter().filter_map(cause).collect()
}
