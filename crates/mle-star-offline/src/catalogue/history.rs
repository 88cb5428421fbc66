//! Strategies for columns of earlier targets.

use super::{Block, Strategy};

const WINDOWS: &str = "WINDOWS = [0.25, 1.0, 4.0]";
const NO_WINDOWS: &str = "WINDOWS = []";

pub(super) const HISTORY: &[Strategy] = &[
    Strategy {
        name: "distance from the last value",
        part: "History",
        reason: "Series that go on from where they are leave the range of values that models know.",
        how: "Predict the distance from the last known value of the series.",
        edit: |block| with_level(block, &["recent_last"]),
    },
    Strategy {
        name: "distance from the recent mean",
        part: "History",
        reason: "Series with different levels share their changes, and a mean is less noisy than one value.",
        how: "Predict the distance from the mean over a quarter of a period.",
        edit: |block| with_level(block, &["recent_0.25", "recent_1", "recent_4"]),
    },
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

/// The block with the first of these columns that has a value as the level that models start from.
fn with_level(block: &Block<'_>, columns: &[&str]) -> Option<String> {
    let line = block.text.lines().find(|line| line.starts_with("LEVEL = ["))?;
    let wanted = format!("LEVEL = {columns:?}");
    (line != wanted && !block.text.contains(NO_WINDOWS)).then(|| block.text.replacen(line, &wanted, 1))
}
