//! The leaderboard: the solutions of a run, the best first, and those without a score.

use serde_json::{Value, json};

use super::solutions::Solution;
use super::{Context, RunReport};
use crate::chart::Scale;

/// The rows, those with a score first, and their scores on one axis; `None` before the first score.
pub fn leaderboard(_: &Context<'_>, report: &RunReport) -> Option<Value> {
    let rows = report.leaderboard();
    // Those that cost nothing are far off, and stand on the first screen.
    let drawn = || rows.iter().filter(|row| !row.is_reference);
    let ends = drawn().filter_map(|row| row.interval).flatten();
    let best = rows.first().and_then(|row| row.score);
    let axis = Scale::of(drawn().filter_map(|row| row.score).chain(ends).chain(best), best)?;
    let shown = |row: &&Solution| {
        let mark = row.score.filter(|_| row.counts).map(|score| axis.mark(score, row.interval));
        json!({"of": row, "mark": mark})
    };
    let others = report.solutions.iter().filter(|one| !one.counts);
    Some(json!({
        "rows": rows.iter().map(shown).collect::<Vec<_>>(),
        "others": others.map(|one| shown(&one)).collect::<Vec<_>>(),
        "axis": axis,
        "kept": rows.iter().filter(|row| row.kept).count(),
        "width": rows.iter().map(|row| row.place.as_str().len()).max(),
    }))
}
