//! Compares two texts line by line.

use serde::Serialize;
use similar::{ChangeTag, DiffTag, TextDiff};

use crate::cut::line_of;

/// Longer texts, in lines, are not compared: the diff would take too long to compute and to read.
const COMPARABLE: usize = 3_000;
/// Maximum number of lines of a diff.
const SHOWN: usize = 1_200;
/// Unchanged lines around a change.
const CONTEXT: usize = 3;

/// The diff of two texts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Diff {
    /// Number of added lines.
    pub added: usize,
    /// Number of removed lines.
    pub removed: usize,
    /// The changed lines with context.
    pub hunks: Vec<Hunk>,
    /// Why the diff is incomplete; empty if it is complete.
    pub note: &'static str,
}

/// A hunk of changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hunk {
    /// The number of its first line in the newer text.
    pub line: usize,
    /// Its lines.
    pub lines: Vec<Line>,
}

/// A line of a diff.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Line {
    /// `+`, `-` or a blank.
    pub sign: &'static str,
    /// The text.
    pub text: String,
}

/// Compares two texts. The result is deterministic.
pub fn diff(before: &str, after: &str) -> Diff {
    if [before, after].iter().any(|text| text.lines().count() > COMPARABLE) {
        return Diff { note: "too long to be compared", ..Diff::default() };
    }
    let diff = TextDiff::from_lines(before, after);
    let mut shown = Diff::default();
    for op in diff.ops().iter().filter(|op| op.tag() != DiffTag::Equal) {
        shown.added += op.new_range().len();
        shown.removed += op.old_range().len();
    }
    let mut left = SHOWN;
    for group in diff.grouped_ops(CONTEXT) {
        let line = group.first().map_or(0, |op| op.new_range().start) + 1;
        let changes = group.iter().flat_map(|op| diff.iter_changes(op));
        let lines: Vec<Line> =
            changes.take(left).map(|change| Line::new(change.tag(), change.value())).collect();
        left -= lines.len();
        if lines.is_empty() || left == 0 {
            shown.note = "the rest is omitted";
        }
        if !lines.is_empty() {
            shown.hunks.push(Hunk { line, lines });
        }
    }
    shown
}

impl Line {
    fn new(tag: ChangeTag, text: &str) -> Self {
        let sign = match tag {
            ChangeTag::Delete => "-",
            ChangeTag::Insert => "+",
            ChangeTag::Equal => " ",
        };
        Self { sign, text: line_of(text.trim_end()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diffs_are_line_by_line_with_some_lines_around() {
        let check = |before: &str, after: &str, expected: &str, counts: (usize, usize)| {
            let diff = diff(before, after);
            let signs: String =
                diff.hunks.iter().flat_map(|hunk| &hunk.lines).map(|line| line.sign).collect();
            assert_eq!(
                (signs.as_str(), (diff.added, diff.removed)),
                (expected, counts),
                "{before:?} {after:?}"
            );
        };
        check("a\nb\nc\n", "a\nx\nc\n", " -+ ", (1, 1));
        check("", "a\n", "+", (1, 0));
        check("a\n", "a\n", "", (0, 0));
        let many = |changed: &str| format!("{}{changed}\n{}", "same\n".repeat(9), "same\n".repeat(9));
        check(&many("a"), &many("b"), "   -+   ", (1, 1));
        assert_eq!(diff(&many("a"), &many("b")).hunks[0].line, 7);
    }

    #[test]
    fn what_is_too_long_is_said_to_be() {
        let lines = |count: usize| (0..count).map(|n| format!("{n}\n")).collect::<String>();
        assert_eq!(diff("", &lines(COMPARABLE + 1)).note, "too long to be compared");
        let most = diff("", &lines(SHOWN + 5));
        assert_eq!((most.added, most.note), (SHOWN + 5, "the rest is omitted"));
        assert_eq!(most.hunks[0].lines.len(), SHOWN);
    }
}
