//! The tool `preview`.

use mle_star_domain::metric::Direction;
use mle_star_domain::trouble::Trouble;
use mle_star_report::sanitize::first_line;
use mle_star_run::prepare::{Intent, Prepared};
use mle_star_run::provider;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::Hub;
use super::answer::Answer;
use super::start::RunInput;
use crate::estimate;
use crate::processes::prepared;

pub const ABOUT: &str = "Show what run would do with the same input: the inferred task with reasons, the agents, how \
solutions are evaluated, and the expected number of calls and cost. Starts nothing and writes nothing.";

/// The most columns that are named.
const MOST_COLUMNS: usize = 60;

/// What a run would do.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Preview {
    task: String,
    metric: String,
    direction: Direction,
    target: Option<String>,
    id_column: Option<String>,
    agents: String,
    /// What was inferred, and why.
    guesses: Vec<Guessed>,
    /// Columns, each with role and type.
    columns: Vec<String>,
    /// How many further columns there are.
    columns_left_out: usize,
    /// Where the task, its settings and agents come from, and how solutions are evaluated.
    notes: Vec<String>,
    /// As `mle-star run --estimate --json` prints it.
    estimate: Value,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Guessed {
    field: String,
    value: String,
    reason: String,
}

/// Looks at a task.
pub fn preview(hub: &Hub, input: RunInput) -> Result<Answer<Preview>, Trouble> {
    let prepared = prepared(Intent::Preview, &input.into_arguments(hub))?;
    let estimate = estimate::of(&prepared)?;
    let guesses: Vec<Guessed> = guesses(&prepared);
    let notes = prepared.lines();
    let mut lines = notes.clone();
    lines.extend(guesses.iter().map(|guess| format!("{}: {} ({})", guess.field, guess.value, guess.reason)));
    lines.push(String::new());
    let estimated = estimate::lines(&estimate, prepared.config.max_debug_attempts);
    // Without the rows of single agents, which are part of the data. The first line is the heading.
    let is_shown = |(at, line): &(usize, String)| *at == 0 || !line.starts_with("    ");
    lines.extend(estimated.into_iter().enumerate().filter(is_shown).map(|(_, line)| line));
    let columns = prepared.task.columns.iter();
    let columns = columns.map(|column| format!("{} ({}, {})", column.column, column.role, column.kind));
    let mut columns: Vec<String> = columns.collect();
    let columns_left_out = columns.len().saturating_sub(MOST_COLUMNS);
    columns.truncate(MOST_COLUMNS);
    let preview = Preview {
        task: prepared.task.competition_id,
        metric: prepared.task.evaluation_metric,
        direction: prepared.task.metric_direction,
        target: prepared.task.roles.target.map(|targets| targets.to_string()),
        id_column: prepared.task.roles.id,
        agents: provider::name(prepared.config.agents).to_owned(),
        guesses,
        columns,
        columns_left_out,
        notes,
        estimate: serde_json::to_value(&estimate).unwrap_or_default(),
    };
    Ok(Answer::new(&lines, preview))
}

fn guesses(prepared: &Prepared) -> Vec<Guessed> {
    let guesses = prepared.guesses.iter().map(|guess| Guessed {
        field: guess.field.to_string(),
        value: first_line(&guess.value, 200),
        reason: guess.reason.clone(),
    });
    guesses.collect()
}
