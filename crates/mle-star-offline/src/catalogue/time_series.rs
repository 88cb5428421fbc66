//! Refinement strategies for time series: the baseline that models predict the distance from, lag features, and the weights
//! and the trend of blended forecasts. Each edits one code block of a script.

use super::{Block, Strategy};

const WINDOWS: &str = "    windows = [0.25, 1.0, 4.0]";
const NO_WINDOWS: &str = "    windows = []";
/// The power of the error in the weights of blended forecasts, the periods that the error is from, the cycles of the trend.
const FORECASTS: &str = "POWER, PERIODS, TREND = 6, 4, 5";
/// What models predict the distance from, in scripts.
const BASELINE: &str = "    level = [";

pub(super) const TIME_SERIES_STRATEGIES: &[Strategy] = &[
    Strategy {
        name: "distance from the forecast",
        part: "History",
        reason: "Series that go on from where they are leave the range of values that models know.",
        how: "Predict the distance from the mean of simple forecasts.",
        edit: |block| with_baseline(block, "with_forecasts(", &["forecast"]),
    },
    Strategy {
        name: "distance from the last value",
        part: "History",
        reason: "Series that go on from where they are leave the range of values that models know.",
        how: "Predict the distance from the last known value of the series.",
        edit: |block| {
            with_baseline(block, "with_windows(", &["recent_last"])
                .or_else(|| with_baseline(block, "with_forecasts(", &["past_level_1"]))
        },
    },
    Strategy {
        name: "distance from the recent mean",
        part: "History",
        reason: "Series with different levels share their changes, and a mean is less noisy than one value.",
        how: "Predict the distance from the mean over a quarter of a period.",
        edit: |block| with_baseline(block, "with_windows(", &["recent_0.25", "recent_1", "recent_4"]),
    },
    Strategy {
        name: "target instead of a distance",
        part: "History",
        reason: "A level that jumps misleads what is predicted from it.",
        how: "Predict the target itself, with the columns of the past as they are.",
        edit: |block| with_baseline(block, "with_", &[]),
    },
    Strategy {
        name: "more windows of earlier targets",
        part: "History",
        reason: "How far back the level of a series counts depends on how fast it changes.",
        how: "Add a shorter and a longer window.",
        edit: |block| replace(block, WINDOWS, "    windows = [0.1, 0.25, 1.0, 4.0, 12.0]"),
    },
    Strategy {
        name: "time beside earlier targets",
        part: "History",
        reason: "Changes that all series share are easier to follow with time itself.",
        how: "Keep the column of time.",
        edit: keep_time_column,
    },
    Strategy {
        name: "no earlier targets",
        part: "History",
        reason: "Levels that jump say little about later rows.",
        how: "Leave the columns of earlier targets out.",
        edit: |block| {
            let line = first_line(block, "    windows = [").filter(|line| *line != NO_WINDOWS)?;
            replace(block, line, NO_WINDOWS)
        },
    },
    Strategy {
        name: "earlier targets again",
        part: "History",
        reason: "The level of a series is often the best guess of its next values.",
        how: "Use columns of earlier targets.",
        edit: |block| replace(block, NO_WINDOWS, WINDOWS),
    },
    Strategy {
        name: "weights that follow errors more closely",
        part: "Seasons",
        reason: "Where one forecast is much better than the others, they only disturb it.",
        how: "Let weights fall with the twelfth power of the error.",
        edit: |block| replace(block, FORECASTS, "POWER, PERIODS, TREND = 12, 4, 5"),
    },
    Strategy {
        name: "longer trends",
        part: "Seasons",
        reason: "A trend of many cycles is surer than that of few.",
        how: "Take the trend from eight cycles.",
        edit: |block| replace(block, FORECASTS, "POWER, PERIODS, TREND = 6, 4, 8"),
    },
    Strategy {
        name: "weights from the last two periods",
        part: "Seasons",
        reason: "What forecast a series well long ago may no longer do so.",
        how: "Weigh forecasts by their errors in the last two periods.",
        edit: |block| replace(block, FORECASTS, "POWER, PERIODS, TREND = 6, 2, 5"),
    },
];

/// The first line that begins like this.
fn first_line<'a>(block: &Block<'a>, start: &str) -> Option<&'a str> {
    block.text.lines().find(|line| line.starts_with(start))
}

/// The block with this text in place of another; `None` if it lacks that.
fn replace(block: &Block<'_>, old: &str, new: &str) -> Option<String> {
    block.text.contains(old).then(|| block.text.replacen(old, new, 1))
}

fn keep_time_column(block: &Block<'_>) -> Option<String> {
    replace(block, first_line(block, "    left_out = [\"")?, "    left_out = []")
}

/// The block with the first of these columns that has a value as the baseline, if it calls this function.
fn with_baseline(block: &Block<'_>, function: &str, columns: &[&str]) -> Option<String> {
    let line = first_line(block, BASELINE)?;
    let wanted = format!("    level = {columns:?}");
    let fits = block.text.contains(function) && !block.text.contains(NO_WINDOWS);
    (fits && line != wanted).then(|| block.text.replacen(line, &wanted, 1))
}
