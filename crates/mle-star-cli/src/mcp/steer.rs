//! The tools `note` and `fork`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use mle_star_domain::trouble::Trouble;
use mle_star_run::{note, runs};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Hub;
use super::answer::Answer;
use super::start::setting;
use crate::args::ForkArgs;
use crate::processes::{self, Begun};

pub const ABOUT_NOTE: &str = "Leave a note for the agents of a running or interrupted run: its planners see it from their next \
call on.";

/// A note for a run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoteInput {
    /// Run ID, or path of the run folder
    run: String,
    /// At most 4000 characters
    text: String,
}

/// What becomes of a note.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NoteLeft {
    notes: Vec<String>,
}

/// Leaves a note.
pub fn note(hub: &Hub, input: NoteInput) -> Result<Answer<NoteLeft>, Trouble> {
    let NoteInput { run, text } = input;
    let notes = note::leave(&hub.find(&run)?, &text)?;
    Ok(Answer::new(&notes.clone(), NoteLeft { notes }))
}

pub const ABOUT_FORK: &str = "Start a new run from a place of another one: it shares all records before the place, pays none of \
them again, and goes on with changed settings.";

/// A run to fork.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForkInput {
    /// Run ID, or path of the run folder
    run: String,
    /// First place that is done anew, as show lists it
    at: String,
    /// Config keys to change from there on, such as {"model": "opus"}
    #[serde(default)]
    settings: BTreeMap<String, Value>,
    /// ID of the new run
    run_id: Option<String>,
    /// With the time of what is shared
    time_limit_seconds: Option<u64>,
    /// For the calls that follow
    max_budget_usd: Option<f64>,
}

/// A run in progress.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Forked {
    run_id: String,
    folder: PathBuf,
    /// `running` or `preparing`.
    state: &'static str,
}

/// Makes a new run from a place of another one.
pub fn fork(hub: &Hub, input: ForkInput) -> Result<Answer<Forked>, Trouble> {
    let args = ForkArgs {
        at: input.at,
        set: input.settings.iter().map(|(key, value)| format!("{key}={}", setting(value))).collect(),
        run_id: input.run_id,
        time_limit: input.time_limit_seconds.map(|limit| limit.to_string()),
        max_budget_usd: input.max_budget_usd.map(|limit| limit.to_string()),
        ..ForkArgs::default()
    };
    let (folder, begun) = processes::fork(&hub.find(&input.run)?, &args, &hub.late)?;
    let state = match begun {
        Begun::Going => "running",
        Begun::Preparing => "preparing",
    };
    let run_id = runs::name(&folder).unwrap_or_default();
    let lines = [format!("started run {run_id} ({state}) in {}", folder.display())];
    Ok(Answer::new(&lines, Forked { run_id, folder, state }))
}
