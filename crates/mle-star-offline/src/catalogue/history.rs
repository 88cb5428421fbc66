//! Strategies for what models get of the past of a row's series.

use super::{Block, Strategy};

const WINDOWS: &str = "    windows = [0.25, 1.0, 4.0]";
const NO_WINDOWS: &str = "    windows = []";
/// How forecasts are weighed.
const FORECASTS: &str = "POWER, PERIODS, TREND = 6, 4, 5";
const LEVEL: &str = "    level = [";

pub(super) const HISTORY: &[Strategy] = &[
    Strategy {
        name: "distance from the forecast",
        part: "History",
        reason: "Series that go on from where they are leave the range of values that models know.",
        how: "Predict the distance from the mean of simple forecasts.",
        edit: |block| with_level(block, "with_forecasts(", &["forecast"]),
    },
    Strategy {
        name: "distance from the last value",
        part: "History",
        reason: "Series that go on from where they are leave the range of values that models know.",
        how: "Predict the distance from the last known value of the series.",
        edit: |block| {
            with_level(block, "with_windows(", &["recent_last"])
                .or_else(|| with_level(block, "with_forecasts(", &["past_level_1"]))
        },
    },
    Strategy {
        name: "distance from the recent mean",
        part: "History",
        reason: "Series with different levels share their changes, and a mean is less noisy than one value.",
        how: "Predict the distance from the mean over a quarter of a period.",
        edit: |block| with_level(block, "with_windows(", &["recent_0.25", "recent_1", "recent_4"]),
    },
    Strategy {
        name: "target instead of a distance",
        part: "History",
        reason: "A level that jumps misleads what is predicted from it.",
        how: "Predict the target itself, with the columns of the past as they are.",
        edit: |block| with_level(block, "with_", &[]),
    },
    Strategy {
        name: "more windows of earlier targets",
        part: "History",
        reason: "How far back the level of a series counts depends on how fast it changes.",
        how: "Add a shorter and a longer window.",
        edit: |block| replaced(block, WINDOWS, "    windows = [0.1, 0.25, 1.0, 4.0, 12.0]"),
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
            let line = line(block, "    windows = [").filter(|line| *line != NO_WINDOWS)?;
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
    Strategy {
        name: "weights that follow errors more closely",
        part: "Seasons",
        reason: "Where one forecast is much better than the others, they only disturb it.",
        how: "Let weights fall with the twelfth power of the error.",
        edit: |block| replaced(block, FORECASTS, "POWER, PERIODS, TREND = 12, 4, 5"),
    },
    Strategy {
        name: "longer trends",
        part: "Seasons",
        reason: "A trend of many cycles is surer than that of few.",
        how: "Take the trend from eight cycles.",
        edit: |block| replaced(block, FORECASTS, "POWER, PERIODS, TREND = 6, 4, 8"),
    },
    Strategy {
        name: "weights from the last two periods",
        part: "Seasons",
        reason: "What forecast a series well long ago may no longer do so.",
        how: "Weigh forecasts by their errors in the last two periods.",
        edit: |block| replaced(block, FORECASTS, "POWER, PERIODS, TREND = 6, 2, 5"),
    },
];

/// The first line that begins like this.
fn line<'a>(block: &Block<'a>, start: &str) -> Option<&'a str> {
    block.text.lines().find(|line| line.starts_with(start))
}

/// The block with this text in place of another; `None` if it lacks that.
fn replaced(block: &Block<'_>, old: &str, new: &str) -> Option<String> {
    block.text.contains(old).then(|| block.text.replacen(old, new, 1))
}

fn time_kept(block: &Block<'_>) -> Option<String> {
    replaced(block, line(block, "    left_out = [\"")?, "    left_out = []")
}

/// The block with the first of these columns that has a value as the level that models start from, if it calls this function.
fn with_level(block: &Block<'_>, function: &str, columns: &[&str]) -> Option<String> {
    let line = line(block, LEVEL)?;
    let wanted = format!("    level = {columns:?}");
    let fits = block.text.contains(function) && !block.text.contains(NO_WINDOWS);
    (fits && line != wanted).then(|| block.text.replacen(line, &wanted, 1))
}
