//! Compares two texts line by line.

use serde::Serialize;
use similar::{Change, ChangeTag, DiffTag, TextDiff};

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
    /// Its lines, unchanged and changed ones in turn.
    pub blocks: Vec<Block>,
}

/// Lines that stand beside each other: removed ones beside added ones, or unchanged ones beside themselves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Block {
    /// Whether its lines differ.
    pub is_change: bool,
    /// The lines; removed ones come before added ones.
    pub lines: Vec<Line>,
}

/// A line of a diff.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Line {
    /// `+`, `-` or a blank.
    pub sign: &'static str,
    /// Its number in the older text, from 1.
    pub old: Option<usize>,
    /// Its number in the newer text, from 1.
    pub new: Option<usize>,
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
        let mut blocks: Vec<Block> = Vec::new();
        for op in &group {
            let lines: Vec<Line> = diff.iter_changes(op).take(left).map(|change| Line::of(&change)).collect();
            left -= lines.len();
            if lines.len() < diff.iter_changes(op).count() {
                shown.note = "the rest is omitted";
            }
            let is_change = op.tag() != DiffTag::Equal;
            blocks.extend((!lines.is_empty()).then_some(Block { is_change, lines }));
        }
        if !blocks.is_empty() {
            shown.hunks.push(Hunk { line, blocks });
        }
    }
    shown
}

impl Line {
    fn of(change: &Change<&str>) -> Self {
        let sign = match change.tag() {
            ChangeTag::Delete => "-",
            ChangeTag::Insert => "+",
            ChangeTag::Equal => " ",
        };
        let number = |index: Option<usize>| index.map(|index| index + 1);
        Self {
            sign,
            old: number(change.old_index()),
            new: number(change.new_index()),
            text: line_of(change.value().trim_end()),
        }
    }
}
