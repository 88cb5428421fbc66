//! Failures: scripts with their tracebacks and repairs, and agents.

use mle_star::journal::{EffectState, Kind};
use mle_star::spending::role;
use mle_star_domain::effects::Answer;
use mle_star_domain::layout::LOGS;
use serde::Serialize;

use super::context::Context;
use super::outcome::error;
use super::solutions::run_name;
use super::steps::{ScriptRun, Step, node_id, reply};
use crate::sanitize::first_line;
use crate::words::{agent_name, place_name};

/// Failed scripts and agents.
#[derive(Clone, Debug, Serialize)]
pub struct Failures {
    /// Scripts that failed at least once.
    pub scripts: Vec<Failed>,
    /// Agents that failed, including those that ended the run.
    pub agents: Vec<Silent>,
}

/// A step whose script failed at least once.
#[derive(Clone, Debug, Serialize)]
pub struct Failed {
    /// The place, for people.
    pub name: String,
    /// The ID of its node.
    pub node: String,
    /// Whether the last script ran.
    pub repaired: bool,
    /// Every run, including a last one that succeeded.
    pub runs: Vec<Try>,
}

/// One run of it.
#[derive(Clone, Debug, Serialize)]
pub struct Try {
    /// The place, for people.
    pub name: String,
    /// Its runner; `None`: this machine.
    pub runner: Option<String>,
    /// How it ended.
    pub outcome: String,
    /// Whether it succeeded.
    pub ok: bool,
    /// The traceback.
    pub error: Option<String>,
    /// The log files of its output, relative to the run's folder.
    pub log: String,
}

/// A failed agent call.
#[derive(Clone, Debug, Serialize)]
pub struct Silent {
    /// The place, for people.
    pub name: String,
    /// The agent's name.
    pub agent: String,
    /// The reason.
    pub reason: String,
    /// Whether the call was repeated. If so, this failure does not count.
    pub again: bool,
}

/// Creates the view of a run.
pub fn failures(context: &Context<'_>) -> Failures {
    Failures { scripts: context.steps.iter().filter_map(failed).collect(), agents: agents(context) }
}

fn failed(step: &Step<'_>) -> Option<Failed> {
    let fails = |run: &ScriptRun<'_>| run.outcome.is_some() && !run.is_ok() && run.limit().is_none();
    step.runs.iter().any(fails).then(|| Failed {
        name: place_name(&step.place),
        node: node_id(&step.place),
        repaired: step.runs.last().is_some_and(ScriptRun::is_ok),
        runs: step.runs.iter().map(tried).collect(),
    })
}

fn tried(run: &ScriptRun<'_>) -> Try {
    let outcome = match &run.outcome {
        None => "not ended".to_owned(),
        Some(outcome) if outcome.is_error() => first_line(&outcome.headline(), 200),
        Some(_) => "ran".to_owned(),
    };
    Try {
        name: run_name(run),
        runner: run.runner().map(str::to_owned),
        outcome,
        ok: run.is_ok(),
        error: error(run),
        log: format!("{LOGS}/{}", run.place.file_stem()),
    }
}

fn agents(context: &Context<'_>) -> Vec<Silent> {
    let records = context.run.snapshot.effects.iter().filter(|record| record.kind == Kind::Agent);
    records
        .filter_map(|record| {
            let Answer::Failed { reason } = reply(record)?.answer else { return None };
            Some(Silent {
                name: place_name(&record.place),
                agent: role(record).map(agent_name).unwrap_or_default(),
                reason: first_line(&reason, 400),
                again: record.state != EffectState::Ended,
            })
        })
        .collect()
}
