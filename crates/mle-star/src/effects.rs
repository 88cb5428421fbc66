//! The two effects, as the outside sees them: ask an agent, run a script.
//!
//! [`AgentBackend`] and [`ScriptRunner`] are what an implementation provides; the types here are what
//! crosses the border and, for answers and outcomes, what the journal keeps. The algorithms do not call
//! the backends: they go through [`Ctx`](crate::ctx::Ctx).

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::event::EventSink;
use crate::place::Place;
use crate::role::{AgentType, Variant};
use crate::stop::Stop;

/// Answers agents' prompts.
#[async_trait]
pub trait AgentBackend: Send + Sync {
    /// Asks one agent once; `events` hears what happens meanwhile. A reply that failed is a reply; only
    /// what ends the run is a [`Stop`]. Dropping the future ends everything the call started.
    async fn ask(&self, request: &AgentRequest, events: &dyn EventSink) -> Result<AgentReply, Stop>;

    /// Prepares for calls that are likely to follow, soonest first; their prompts and inputs are not known yet and
    /// empty. It affects speed alone.
    fn prefetch(&self, _likely: &[AgentRequest]) {}
}

/// Runs Python scripts.
#[async_trait]
pub trait ScriptRunner: Send + Sync {
    /// Runs one script to its end or its deadline. A script that failed is an outcome; only what ends the
    /// run is a [`Stop`]. Dropping the future ends the script and everything it started.
    async fn run(&self, request: &ScriptRequest) -> Result<ScriptOutcome, Stop>;
}

/// One question to one agent.
#[derive(Clone, Debug)]
pub struct AgentRequest {
    /// Where in the algorithm.
    pub place: Place,
    /// Who is asked.
    pub agent: AgentType,
    /// Which of the agent's several tasks, when it has more than one.
    pub variant: Option<Variant>,
    /// Persona, task, metric and machine.
    pub system: String,
    /// The rendered template.
    pub prompt: String,
    /// The typed values the template was rendered from, by variable name.
    pub inputs: Map<String, Value>,
    /// Tools the agent may use; empty means none at all.
    pub tools: &'static [&'static str],
    /// JSON schema of a structured answer.
    pub schema: Option<Arc<Value>>,
    /// The model to use.
    pub model: String,
    /// Limit of the call, without the time it waits for an overloaded service.
    pub timeout: Duration,
    /// What is left for the call and all its waiting.
    pub time_left: Duration,
}

/// What came back from an agent, and what it cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentReply {
    /// The answer or the failure.
    pub answer: Answer,
    /// Money and tokens.
    #[serde(default)]
    pub usage: Usage,
    /// What was looked up on the web for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lookups: Vec<Lookup>,
}

/// One use of a web tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lookup {
    /// `WebSearch` or `WebFetch`.
    pub tool: String,
    /// The query, or the address.
    pub what: String,
    /// Why nothing came of it; `None` when something did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// An agent's answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Answer {
    /// It answered.
    Text {
        /// The whole text.
        text: String,
        /// The structured answer, when one was asked for and given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        structured: Option<Value>,
    },
    /// It did not answer; the rule for this agent decides what follows.
    Failed {
        /// Why, in words.
        reason: String,
    },
    /// It was not asked: a limit had been reached.
    Refused {
        /// Which one.
        limit: Limit,
    },
}

/// Money and tokens of one agent call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// US dollars; `None` when unknown.
    pub cost_usd: Option<f64>,
    /// Tokens read, outside any cache.
    pub input: u64,
    /// Tokens written.
    pub output: u64,
    /// Tokens read from the cache.
    pub cache_read: u64,
    /// Tokens written to the cache.
    pub cache_write: u64,
}

/// One script to run.
#[derive(Clone, Debug)]
pub struct ScriptRequest {
    /// Where in the algorithm; names the files kept of the run.
    pub place: Place,
    /// The whole script.
    pub script: String,
    /// What is wanted from it.
    pub purpose: Purpose,
    /// Wall-clock limit.
    pub timeout: Duration,
    /// Which of the script slots it occupies, from 0; no two scripts of this process share one.
    pub slot: usize,
}

/// What a script is run for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// A validation score.
    Score,
    /// The printed effects of an ablation study.
    Ablation,
    /// `./final/submission.csv`.
    Submission,
}

/// How a note begins that tells of data which changed while the run lasted: scores before and after are of different
/// data.
pub const DATA_CHANGED: &str = "THE DATA IS NO LONGER WHAT IT WAS";

/// What a script did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScriptOutcome {
    /// How it ended.
    pub end: ScriptEnd,
    /// Wall-clock seconds.
    pub duration_seconds: f64,
    /// What it printed.
    pub stdout: Captured,
    /// What it printed to standard error.
    pub stderr: Captured,
    /// The last score line's value in the whole of stdout, as [`ScoreScanner`](crate::score::ScoreScanner) finds it.
    pub score: Option<f64>,
    /// The last traceback of stderr.
    pub traceback: Option<String>,
    /// `./final/submission.csv` checked, when the script wrote one.
    pub submission: Option<Submission>,
    /// What was stopped, cut or cleaned up, in words a debugger can use; [`DATA_CHANGED`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// How it ran out of memory, when that is why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub out_of_memory: Option<OutOfMemory>,
}

/// Whose memory was not enough for a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutOfMemory {
    /// The machine's or the container's: the kernel killed the script or a part of it.
    Machine,
    /// What a script may use: it was stopped.
    Limit,
    /// What an allocation could get: it failed inside the script.
    Allocation,
    /// A GPU's.
    Gpu,
}

/// How a script ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ScriptEnd {
    /// By itself.
    Exited {
        /// Its exit code.
        code: i32,
    },
    /// By a signal.
    Signalled {
        /// The signal's number.
        signal: i32,
    },
    /// It was stopped at its limit.
    TimedOut,
    /// It was not run: a limit had been reached.
    Refused {
        /// Which one.
        limit: Limit,
    },
}

/// Head and tail of a stream; the whole of it is in the run's `logs/`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Captured {
    /// The first bytes, as text; everything, when `tail` is empty.
    pub head: String,
    /// The last bytes, as text, when something between is missing.
    pub tail: String,
    /// How many bytes the stream had in all.
    pub bytes: u64,
}

/// A submission file and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Submission {
    /// Size of the file in bytes.
    pub bytes: u64,
    /// Data rows; `None` when it does not parse.
    pub rows: Option<u64>,
    /// What is wrong, one sentence each; empty when it is valid.
    pub findings: Vec<String>,
}

/// A limit that makes the run do less than it was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// The run's time.
    Time,
    /// The run's money.
    Budget,
    /// The share of time of a phase or a path; the run itself goes on.
    Share,
}

impl AgentReply {
    /// A plain answer that cost nothing.
    pub fn text(text: impl Into<String>) -> Self {
        let answer = Answer::Text { text: text.into(), structured: None };
        Self { answer, usage: Usage::free(), lookups: Vec::new() }
    }

    /// A failure whose cost is given.
    pub fn failed(reason: impl Into<String>, usage: Usage) -> Self {
        Self { answer: Answer::Failed { reason: reason.into() }, usage, lookups: Vec::new() }
    }

    /// A call that was not made, or came to nothing, because of a limit.
    pub fn refused(limit: Limit, usage: Usage) -> Self {
        Self { answer: Answer::Refused { limit }, usage, lookups: Vec::new() }
    }
}

impl Usage {
    /// Nothing used, nothing paid.
    pub fn free() -> Self {
        Self { cost_usd: Some(0.0), ..Self::default() }
    }
}

impl std::ops::Add for Usage {
    type Output = Self;

    /// What two calls used together; unknown when either cost is.
    fn add(self, other: Self) -> Self {
        Self {
            cost_usd: self.cost_usd.zip(other.cost_usd).map(|(one, two)| one + two),
            input: self.input + other.input,
            output: self.output + other.output,
            cache_read: self.cache_read + other.cache_read,
            cache_write: self.cache_write + other.cache_write,
        }
    }
}

impl ScriptOutcome {
    /// Did it fail as a program? Non-zero exit, signal, time-out, refusal, or a traceback on stderr.
    pub fn is_error(&self) -> bool {
        self.end != ScriptEnd::Exited { code: 0 } || self.traceback.is_some()
    }

    /// The outcome of a script that was never started.
    pub fn refused(limit: Limit) -> Self {
        Self {
            end: ScriptEnd::Refused { limit },
            duration_seconds: 0.0,
            stdout: Captured::default(),
            stderr: Captured::default(),
            score: None,
            traceback: None,
            submission: None,
            notes: Vec::new(),
            out_of_memory: None,
        }
    }

    /// What a script did that was run once more, alone, because it had run out of memory the first time.
    pub(crate) fn after_out_of_memory(self, first: Self) -> Self {
        let how = first.out_of_memory.map_or("", OutOfMemory::words);
        if let ScriptEnd::Refused { limit } = self.end {
            let note = format!("not run once more, alone: {}", limit.name());
            return Self { notes: first.notes.iter().cloned().chain([note]).collect(), ..first };
        }
        let note = format!("run once more, alone: the first time it ran out of memory, {how}");
        Self {
            duration_seconds: first.duration_seconds + self.duration_seconds,
            notes: [note].into_iter().chain(self.notes).collect(),
            ..self
        }
    }
}

impl ScriptEnd {
    /// How it ended, in words.
    pub fn words(&self) -> String {
        match self {
            Self::Exited { code } => format!("exit code {code}"),
            Self::Signalled { signal } => format!("signal {signal}"),
            Self::TimedOut => "time limit".to_owned(),
            Self::Refused { limit } => limit.name().to_owned(),
        }
    }
}

impl OutOfMemory {
    /// What happened, to be put behind "ran out of memory: ".
    pub fn words(self) -> &'static str {
        match self {
            Self::Machine => "the machine had none left, and the kernel killed it",
            Self::Limit => "it used more than a script may use, and was stopped",
            Self::Allocation => "an allocation failed",
            Self::Gpu => "the GPU had none left",
        }
    }

    /// May there be more of it another time, whoever else of this process runs? Others use the machine, too.
    pub(crate) fn may_pass(self) -> bool {
        matches!(self, Self::Machine | Self::Gpu)
    }
}

impl Captured {
    /// A stream short enough to be kept whole.
    pub fn whole(text: impl Into<String>) -> Self {
        let head = text.into();
        Self { bytes: head.len() as u64, head, tail: String::new() }
    }

    /// The stream as text, with the cut named.
    pub fn text(&self) -> String {
        if self.tail.is_empty() {
            return self.head.clone();
        }
        let kept = (self.head.len() + self.tail.len()) as u64;
        format!("{}\n[… {} bytes cut …]\n{}", self.head, self.bytes.saturating_sub(kept), self.tail)
    }
}

impl Limit {
    /// The limit in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Time => "time limit",
            Self::Budget => "budget",
            Self::Share => "time share",
        }
    }
}
