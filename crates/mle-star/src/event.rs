//! What a person may want to see, as it happens.
//!
//! The algorithms emit an [`Event`]; with time and run it is a [`Line`], the form in which events are printed, kept in
//! `logs/events.jsonl` and followed from elsewhere. Every process that works on a run begins with
//! [`Event::RunStarted`] and, unless it is killed, ends with [`Event::RunEnded`]; a run that goes on tells what was
//! done before once more, marked as replayed.

use jiff::Timestamp;
use schemars::{JsonSchema, Schema, schema_for};
use serde::{Deserialize, Serialize};

use crate::diagnostics::Diagnostics;
use crate::effects::{Limit, Submission, Usage};
use crate::estimate::estimate;
use crate::journal::Frozen;
use crate::metric::Direction;
use crate::place::{Phase, Place, Step};
use crate::result::PathStatus;
use crate::role::{AgentType, Variant};
use crate::verdict::{Best, Verdict};

/// An event with its time and its run: one line of JSON.
///
/// Later versions may add fields and events; readers pass over what they do not know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Line {
    /// When it happened, RFC 3339, UTC.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub time: Timestamp,
    /// The run's name.
    pub run_id: String,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// What a run is about to do, and what earlier processes did for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outline {
    /// The task's name.
    pub task: String,
    /// The metric's name.
    pub metric: String,
    /// Which scores win.
    pub direction: Direction,
    /// Does the run go on from an earlier process?
    pub resumed: bool,
    /// Seconds that earlier processes took.
    pub elapsed: f64,
    /// What earlier processes spent.
    pub spent: Usage,
    /// L, refinement paths.
    pub paths: u32,
    /// T, outer steps on each path.
    pub outer_steps: u32,
    /// K, attempts at each block.
    pub inner_steps: u32,
    /// R, ensemble rounds.
    pub rounds: u32,
    /// Seconds that the run may take.
    pub time_limit: u64,
    /// US dollars that it may spend.
    pub max_budget_usd: Option<f64>,
    /// What each phase does when all goes well, phases in their order.
    pub planned: Vec<Planned>,
}

/// What a phase does when all goes well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Planned {
    /// Which.
    pub phase: Phase,
    /// Agent calls.
    pub calls: u64,
    /// Script runs.
    pub scripts: u64,
}

/// One thing that happened in a run. Scores are in the metric's unit, times in seconds, money in US dollars.
///
/// `replayed` marks what was read back from the journal instead of done again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
#[expect(missing_docs, reason = "fields are named after what they hold")]
pub enum Event {
    /// A process begins to work on the run; what it does follows.
    RunStarted(Box<Outline>),
    /// Words for people, such as which Python is used or where the submission is.
    Said { text: String },
    /// Something ended the run early; what exists stays.
    Stopped(Box<Diagnostics>),
    /// The process has ended with this exit code; `error` and `hint` say why where it was no success.
    RunEnded { exit_code: u8, error: Option<String>, hint: Option<String> },
    /// A phase begins.
    PhaseStarted { phase: Phase },
    /// A phase is over after `seconds` and so many steps; `best` is the solution that the next phase starts from.
    PhaseEnded { phase: Phase, seconds: f64, steps: u64, best: Option<Best> },
    /// A refinement path is over; `cause` is the error of a failed path or the limit that cut one short.
    PathEnded { path: u32, status: PathStatus, cause: Option<String>, best: Best },
    /// A step of the algorithm begins: a candidate, a merge, an outer step, an attempt, a round.
    StepStarted { place: Step, of: u32 },
    /// A step is over.
    StepEnded {
        place: Step,
        #[serde(flatten)]
        verdict: Verdict,
    },
    /// The run's answer changed: the solution it would submit if it ended now, and the best solution whose run left a
    /// valid submission.
    Answer { solution: Best, submission: Option<Best> },
    /// A step or an effect was left out because of a limit.
    Skipped { place: Place, limit: Limit },
    /// An agent is being asked.
    AgentStarted {
        place: Place,
        agent: AgentType,
        variant: Option<Variant>,
        timeout: f64,
        /// What it is given: sizes of texts and lists, beginnings of plans.
        #[serde(default)]
        about: String,
    },
    /// An agent answered or failed (`failure` says how); `reply` is how the answer begins, `characters` its length.
    AgentEnded {
        place: Place,
        agent: AgentType,
        seconds: f64,
        usage: Usage,
        failure: Option<String>,
        #[serde(default)]
        characters: u64,
        #[serde(default)]
        reply: String,
        replayed: bool,
    },
    /// The service behind an agent is busy or out of reach; it is asked again in `seconds`.
    AgentWaits { place: Place, agent: AgentType, seconds: f64, reason: String },
    /// An agent used a tool; `about` is the command, file, query or address. `session` groups the calls of a
    /// path, `seconds` is the time since the call began. `failures` counts the failures in a row of this
    /// agent's tools, 0 after a success.
    ToolUsed {
        place: Place,
        agent: AgentType,
        #[serde(default)]
        session: String,
        #[serde(default)]
        seconds: f64,
        tool: String,
        about: String,
        failure: Option<String>,
        failures: u32,
    },
    /// A script of this length has its slot and runs.
    ScriptStarted {
        place: Place,
        timeout: f64,
        #[serde(default)]
        characters: u64,
    },
    /// A script ended; `end` says how, `output` is the length of what it printed in bytes, `failure` the first words
    /// of what went wrong.
    ScriptEnded {
        place: Place,
        seconds: f64,
        score: Option<f64>,
        failure: Option<String>,
        #[serde(default)]
        end: String,
        #[serde(default)]
        output: u64,
        #[serde(default)]
        submission: Option<Submission>,
        replayed: bool,
    },
    /// The best score of the run so far changed; `from` is `None` for the first one.
    Best { place: Place, score: f64, from: Option<f64> },
    /// A fact about the run.
    Info { place: Place, text: String },
    /// Something a person should know that stops nothing. `limit` is the one that had refused something in this step.
    Warning {
        place: Place,
        text: String,
        #[serde(default)]
        limit: Option<Limit>,
    },
}

impl Outline {
    /// Of a run with these inputs, of which `elapsed` seconds and `spent` are behind it.
    pub fn new(frozen: &Frozen, resumed: bool, elapsed: f64, spent: Usage) -> Self {
        let Frozen { task, config, retrieved_models, .. } = frozen;
        let phases = estimate(config, task, retrieved_models.as_ref().map(Vec::len));
        let planned = phases.iter().map(|phase| Planned {
            phase: phase.phase,
            calls: phase.calls.values().map(|count| count.fewest).sum(),
            scripts: phase.scripts.fewest,
        });
        Self {
            task: task.competition_id.clone(),
            metric: task.evaluation_metric.clone(),
            direction: task.metric_direction,
            resumed,
            elapsed,
            spent,
            paths: config.num_parallel_solutions,
            outer_steps: config.outer_loop_steps,
            inner_steps: config.inner_loop_steps,
            rounds: config.ensemble_rounds,
            time_limit: config.time_limit_seconds,
            max_budget_usd: config.max_budget_usd,
            planned: planned.collect(),
        }
    }
}

/// The JSON schema of a [`Line`].
pub fn line_schema() -> Schema {
    schema_for!(Line)
}

/// Takes events as they happen. Implementations must not block.
pub trait EventSink: Send + Sync {
    /// Takes one event.
    fn emit(&self, event: Event);
}

/// Forgets every event.
#[derive(Debug, Default)]
pub struct NoEvents;

impl EventSink for NoEvents {
    fn emit(&self, _event: Event) {}
}
