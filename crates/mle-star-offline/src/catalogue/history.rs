//! Strategies for columns of earlier targets.

use super::{Block, Strategy};

const WINDOWS: &str = "WINDOWS = [0.25, 1.0, 4.0]";
const NO_WINDOWS: &str = "WINDOWS = []";

pub(super) const HISTORY: &[Strategy] = &[
    Strategy {
        name: "more windows of earlier targets",
        part: "History",
        reason: "How far back the level of a series counts depends on how fast it changes.",
        how: "Add a shorter and a longer window.",
        edit: |block| replaced(block, WINDOWS, "WINDOWS = [0.1, 0.25, 1.0, 4.0, 12.0]"),
    },
    Strategy {
        name: "time beside earlier targets",
        part: "History",
        reason: "Changes that all series share are easier to follow with time itself.",
        how: "Keep the column of time.",
        edit: time_kept,
    },
    Strategy {
        name: "no earlier targets",
        part: "History",
        reason: "Levels that jump say little about later rows.",
        how: "Leave the columns of earlier targets out.",
        edit: |block| {
            let line =
                block.text.lines().find(|line| line.starts_with("WINDOWS = [") && *line != NO_WINDOWS)?;
            replaced(block, line, NO_WINDOWS)
        },
    },
    Strategy {
        name: "earlier targets again",
        part: "History",
        reason: "The level of a series is often the best guess of its next values.",
        how: "Use columns of earlier targets.",
        edit: |block| replaced(block, NO_WINDOWS, WINDOWS),
    },
];

/// The block with this text in place of another; `None` if it lacks that.
fn replaced(block: &Block<'_>, old: &str, new: &str) -> Option<String> {
    block.text.contains(old).then(|| block.text.replacen(old, new, 1))
}

fn time_kept(block: &Block<'_>) -> Option<String> {
    let line = block.text.lines().find(|line| line.starts_with("TIME_LEFT_OUT = [\""))?;
    replaced(block, line, "TIME_LEFT_OUT = []")
}
