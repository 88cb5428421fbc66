//! The events of a run.
//!
//! The algorithms emit an [`Event`]. With a time and a run ID it is a [`Line`], the form in which events are
//! printed, stored in `logs/events.jsonl` and watched. Every process that works on a run begins with
//! [`Event::RunStarted`] and, unless it is killed, ends with [`Event::RunEnded`]. A resumed run repeats earlier
//! events, marked as replayed.

use jiff::Timestamp;
use schemars::{JsonSchema, Schema, schema_for};
use serde::{Deserialize, Serialize};

use crate::diagnostics::Diagnostics;
use crate::estimate::estimate;
use crate::journal::Frozen;
use crate::result::PathStatus;
use crate::verdict::{Best, Verdict};
use mle_star_domain::effects::{Limit, Submission, Usage};
use mle_star_domain::metric::Direction;
use mle_star_domain::place::{Phase, Place, Step};
use mle_star_domain::protocol::HoldoutPart;
use mle_star_domain::role::{AgentType, Variant};
use mle_star_domain::trust::Finding;

/// An event with its time and its run: one line of JSON.
///
/// Later versions may add fields and events; readers ignore unknown ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Line {
    /// When it happened, RFC 3339, UTC.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub time: Timestamp,
    /// The run ID.
    pub run_id: String,
    /// How far the run is; absent before it has a plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done: Option<Done>,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// The progress of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Done {
    /// In percent. Only a run that has ended has 100.
    pub percent: u64,
    /// Of what: its time or its money, where they end it, otherwise its steps.
    pub of: ProgressMeasure,
}

/// The limit or plan that ends a run, by which progress is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ProgressMeasure {
    /// The time limit of the run.
    Time,
    /// The money limit of the run.
    Money,
    /// The end of the steps.
    Steps,
}

/// The plan of a run and its progress in earlier processes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outline {
    /// The task's name.
    pub task: String,
    /// The metric's name.
    pub metric: String,
    /// Which scores win.
    pub direction: Direction,
    /// Whether the run continues an earlier process.
    pub resumed: bool,
    /// Seconds that earlier processes took.
    pub elapsed: f64,
    /// Cost and tokens of earlier processes.
    pub spent: Usage,
    /// L, refinement paths.
    pub paths: u32,
    /// T, outer steps on each path.
    pub outer_steps: u32,
    /// K, attempts at each block.
    pub inner_steps: u32,
    /// R, ensemble rounds.
    pub rounds: u32,
    /// Time limit of the run in seconds.
    pub time_limit: u64,
    /// Budget of the run in US dollars.
    pub max_budget_usd: Option<f64>,
    /// The minimal work of each phase, in order.
    pub planned: Vec<Planned>,
}

/// The minimal work of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Planned {
    /// The phase.
    pub phase: Phase,
    /// Agent calls.
    pub calls: u64,
    /// Script runs.
    pub scripts: u64,
}

/// One thing that happened in a run. Scores are in the metric's unit, times in seconds, money in US dollars.
///
/// `replayed` marks what was read back from the journal instead of performed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
#[expect(missing_docs, reason = "fields are named after what they hold")]
pub enum Event {
    /// A process starts work on the run.
    RunStarted(Box<Outline>),
    /// A message for people, such as the Python version or the path of the submission. A terminal leaves out a `detail`.
    Said {
        text: String,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        detail: bool,
    },
    /// Something ended the run early. Its results so far are kept.
    Stopped(Box<Diagnostics>),
    /// The process ended with this exit code. After a failure, `error` and `hint` say why.
    RunEnded { exit_code: u8, error: Option<String>, hint: Option<String> },
    /// A phase begins.
    PhaseStarted { phase: Phase },
    /// A phase ended after `seconds` and `steps` steps. The next phase starts from `best`.
    PhaseEnded { phase: Phase, seconds: f64, steps: u64, best: Option<Best> },
    /// A refinement path ended. `cause` is the error of a failed path or the limit that cut one short.
    PathEnded { path: u32, status: PathStatus, cause: Option<String>, best: Best },
    /// A step of the algorithms begins, such as a candidate, a merge, an outer step, an attempt or a round.
    StepStarted { place: Step, of: u32 },
    /// A step tries this model.
    Model { place: Step, name: String },
    /// A step ended.
    StepEnded {
        place: Step,
        #[serde(flatten)]
        verdict: Verdict,
    },
    /// The run's answer changed. `solution` is what it would submit if it ended now, `submission` the best
    /// solution with a valid submission.
    Answer { solution: Best, submission: Option<Best> },
    /// The predictions of the script that ran at `run` for held-out rows were scored.
    Look { place: Place, run: Place, part: HoldoutPart, score: Option<f64>, replayed: bool },
    /// A limit skipped a step or an effect.
    Skipped { place: Place, limit: Limit },
    /// An agent call begins.
    AgentStarted {
        place: Place,
        agent: AgentType,
        variant: Option<Variant>,
        timeout: f64,
        /// A summary of its input: sizes of texts and lists, beginnings of plans.
        #[serde(default)]
        about: String,
    },
    /// An agent answered or failed; `failure` is the reason. `reply` is the beginning of the answer and
    /// `characters` its length.
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
    /// The agent's service is overloaded or unreachable, or its answer broke off. The call is retried in `seconds`.
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
    /// A script of this length has a slot and starts, on a runner or on this machine. The data may have to be sent
    /// first.
    ScriptStarted {
        place: Place,
        timeout: f64,
        #[serde(default)]
        characters: u64,
        runner: Option<String>,
    },
    /// A script ended. `end` says how, `output` is the length of its output in bytes, `failure` is the beginning of the
    /// error, and `runner` ran it; `null`: this machine. The `lost_runners` were lost while they ran it before.
    ScriptEnded {
        place: Place,
        seconds: f64,
        score: Option<f64>,
        failure: Option<String>,
        #[serde(default)]
        end: String,
        #[serde(default)]
        output: u64,
        submission: Option<Submission>,
        runner: Option<String>,
        #[serde(default)]
        lost_runners: Vec<String>,
        replayed: bool,
    },
    /// A runner has another state.
    Runner {
        #[serde(flatten)]
        runner: RunnerStatus,
    },
    /// The program found something in a script before its run.
    Finding { finding: Finding, replayed: bool },
    /// The best score of the run so far changed; `from` is `None` for the first one.
    Best { place: Place, score: f64, from: Option<f64> },
    /// A note about the run.
    Info { place: Place, text: String },
    /// A warning. The run goes on. `limit` is the limit that refused an effect in this step.
    Warning { place: Place, text: String, limit: Option<Limit> },
}

/// The state of a runner, a process on another machine that runs scripts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunnerStatus {
    /// The name of the runner: that of its entry in `runners`, with a number.
    pub runner: String,
    /// What it does.
    pub state: RunnerState,
    /// The name of its machine, once it is known.
    pub host: Option<String>,
    /// How many scripts it runs at once.
    pub slots: u64,
    /// Seconds from its start until it was ready, for example in an engine's queue.
    pub waited: Option<f64>,
    /// More in words: what it prepares, its machine, or why it is gone.
    #[serde(default)]
    pub detail: String,
}

/// The state of a runner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunnerState {
    /// The command of the runner has been started, and the runner has not answered yet. It may wait in an engine's queue.
    Waiting,
    /// The runner runs scripts.
    Ready,
    /// The runner had nothing to do and was ended. It is started again when scripts wait.
    GivenBack,
    /// The runner was lost. Its scripts run elsewhere.
    Lost,
    /// The runner could not be started, or is not accepted.
    Failed,
}

impl Event {
    /// A message for people.
    pub fn said(text: impl Into<String>) -> Self {
        Self::Said { text: text.into(), detail: false }
    }

    /// A message that a terminal leaves out.
    pub fn detail(text: impl Into<String>) -> Self {
        Self::Said { text: text.into(), detail: true }
    }
}

impl Outline {
    /// The plan of a run with these inputs that has used `elapsed` seconds and `spent` so far.
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

/// Receives events as they happen. Implementations must not block.
pub trait EventSink: Send + Sync {
    /// Receives one event.
    fn emit(&self, event: Event);
}

/// Discards every event.
#[derive(Debug, Default)]
pub struct NoEvents;

impl EventSink for NoEvents {
    fn emit(&self, _event: Event) {}
}
