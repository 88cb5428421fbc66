//! Compares two texts line by line.

use serde_json::{Value, json};
use similar::{Change, DiffTag, TextDiff};

use crate::cut::line_of;

/// Longer texts, in lines, are not compared: the diff would take too long to compute and to read.
const COMPARABLE: usize = 3_000;
/// Maximum number of lines of a diff.
const SHOWN: usize = 1_200;
/// Unchanged lines around a change.
const CONTEXT: usize = 3;

/// The diff of two texts: the numbers of lines added and removed, and hunks of the changed lines with their context. A block of a
/// hunk has lines that stand beside each other: removed ones before added ones, or unchanged ones. The `note` says why a
/// diff is incomplete. The result is deterministic.
pub fn diff(before: &str, after: &str) -> Value {
    if [before, after].iter().any(|text| text.lines().count() > COMPARABLE) {
        return json!({"added": 0, "removed": 0, "hunks": [], "note": "too long to be compared"});
    }
    let diff = TextDiff::from_lines(before, after);
    let changes = || diff.ops().iter().filter(|op| op.tag() != DiffTag::Equal);
    let (mut hunks, mut note, mut left) = (Vec::new(), "", SHOWN);
    for group in diff.grouped_ops(CONTEXT) {
        let mut blocks = Vec::new();
        for op in &group {
            let lines: Vec<Value> = diff.iter_changes(op).take(left).map(|change| line(&change)).collect();
            left -= lines.len();
            if lines.len() < diff.iter_changes(op).count() {
                note = "the rest is omitted";
            }
            if !lines.is_empty() {
                blocks.push(json!({"is_change": op.tag() != DiffTag::Equal, "lines": lines}));
            }
        }
        if !blocks.is_empty() {
            let first = group.first().map_or(0, |op| op.new_range().start) + 1;
            hunks.push(json!({"line": first, "blocks": blocks}));
        }
    }
    json!({
        "added": changes().map(|op| op.new_range().len()).sum::<usize>(),
        "removed": changes().map(|op| op.old_range().len()).sum::<usize>(),
        "hunks": hunks,
        "note": note,
    })
}

/// A line with its numbers in both texts, from 1.
fn line(change: &Change<&str>) -> Value {
    let number = |index: Option<usize>| index.map(|index| index + 1);
    json!({
        "sign": change.tag().to_string(),
        "old": number(change.old_index()),
        "new": number(change.new_index()),
        "text": line_of(change.value().trim_end()),
    })
}
