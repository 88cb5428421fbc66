//! Two of the three effects of a run, asking an agent and running a script: what is requested, and what comes of it. The third
//! one is a [`question`](crate::question).
//!
//! The journal stores answers and outcomes in this form.

mod fits;
mod usage;

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::measure::{Chance, Difference, Measurement};
use crate::place::Place;
use crate::role::{AgentType, Variant};
use crate::slot::Slot;

pub use fits::{Fits, Fitted};
pub use usage::Usage;

/// One call of one agent.
#[derive(Clone, Debug)]
pub struct AgentRequest {
    /// The place of the call.
    pub place: Place,
    /// The agent.
    pub agent: AgentType,
    /// The task, for agents with several.
    pub variant: Option<Variant>,
    /// The system prompt: persona, task, metric and machine, as far as the agent needs them.
    pub system: String,
    /// The rendered template.
    pub prompt: String,
    /// Where the first parts of the prompt end, in bytes from its start: later calls are likely to begin with the
    /// same parts. Some services bill them less if they are told.
    pub shared: Vec<usize>,
    /// The values that the template was rendered with, by name.
    pub inputs: Map<String, Value>,
    /// What the prompt tells beyond `inputs`, by name: facts of earlier scripts, and the time that the next one has.
    pub told: Map<String, Value>,
    /// Tools that the agent may use; empty for none.
    pub tools: &'static [&'static str],
    /// The JSON schema of a structured answer.
    pub schema: Option<Arc<Value>>,
    /// The model to use.
    pub model: String,
    /// Time limit of the call, without waiting for an overloaded service.
    pub timeout: Duration,
    /// Time limit of the call, including all waiting.
    pub time_left: Duration,
    /// US dollars that the call may cost, for backends that can stop a conversation there; `None`: any amount.
    pub max_usd: Option<f64>,
}

/// An agent's reply and its cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentReply {
    /// The answer or the failure.
    pub answer: Answer,
    /// Money and tokens.
    #[serde(default)]
    pub usage: Usage,
    /// The web searches and fetches made for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lookups: Vec<Lookup>,
}

/// One use of a web tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Lookup {
    /// `WebSearch` or `WebFetch`.
    pub tool: String,
    /// The query, or the address.
    pub what: String,
    /// The error; `None` on success.
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
        /// The structured answer, if one was requested and given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        structured: Option<Value>,
    },
    /// The call failed; the algorithms decide what follows.
    Failed {
        /// The reason.
        reason: String,
    },
    /// It was not asked because a limit had been reached.
    Refused {
        /// The limit.
        limit: Limit,
    },
}

/// One script to run.
#[derive(Clone, Debug)]
pub struct ScriptRequest {
    /// The place of the run. It names the files that are kept.
    pub place: Place,
    /// The whole script.
    pub script: String,
    /// The purpose of the run.
    pub purpose: Purpose,
    /// Wall-clock limit.
    pub timeout: Duration,
    /// The time that its phase has left, for the script and for scores of what it predicted.
    pub time_left: Duration,
    /// Its script slot. No two running scripts of this process share one.
    pub slot: Slot,
    /// The data that it sees.
    pub data: DataView,
}

/// The data that a script sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DataView {
    /// The training table without the held-out rows, which are part of the test table; all data if none are held out.
    Search,
    /// The training table without the held-out rows and the original test table, nothing else; all data if no rows are
    /// held out.
    Compared,
    /// The original files.
    Whole,
    /// What scripts of the search see, with a permuted target.
    ShuffledTarget,
    /// What scripts of the search see, with half of the test rows replaced by others.
    ReplacedTestRows,
    /// What scripts of the search see, with a test table of copies of the held-out rows: one as they are, and others in which
    /// one column is permuted.
    PermutedColumns,
    /// The rows of the last validation fold, held out afterwards: they are part of the test table, without their labels, and
    /// not of the training table.
    LastFold,
    /// The same training table, with a test table of copies of the rows of the last validation fold: one as they are, and
    /// others in which one column is permuted.
    PermutedLastFold,
}

/// The purpose of a script run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// To get a validation score.
    Score,
    /// To get the printed results of an ablation study.
    Ablation,
    /// To get `./final/submission.csv`.
    Submission,
    /// To see what the score becomes with changed data, or with [`DataView::Search`], which rows the script fits.
    Probe,
    /// To compare training and test table: the program's own script.
    Comparison,
}

/// The prefix of a note about data that changed during the run. Scores before and after the change are not
/// comparable.
pub const DATA_CHANGED: &str = "THE DATA IS NO LONGER WHAT IT WAS";

/// The outcome of a script run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ScriptOutcome {
    /// How it ended.
    pub end: ScriptEnd,
    /// Wall-clock seconds.
    pub duration_seconds: f64,
    /// Standard output.
    pub stdout: Captured,
    /// Standard error.
    pub stderr: Captured,
    /// The score in the last score line of the complete standard output, see
    /// [`ScoreScanner`](crate::score::ScoreScanner).
    pub score: Option<f64>,
    /// The last traceback in standard error.
    pub traceback: Option<String>,
    /// The check of `./final/submission.csv`, if the script wrote one.
    pub submission: Option<Submission>,
    /// Notes for the debugger about what was stopped, truncated or cleaned up. See also [`DATA_CHANGED`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// How it ran out of memory, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub out_of_memory: Option<OutOfMemory>,
    /// The score computed by the program from the script's predictions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<Measurement>,
    /// What is wrong with the script's validation predictions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mismatch: Option<String>,
    /// The most memory that the program saw it use, in MiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_memory_mib: Option<u64>,
    /// What the score would be by chance, for a run with a permuted target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chance: Option<Chance>,
    /// The name of the runner that ran it; `None`: this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runner: Option<String>,
    /// What the models behind the validation predictions were fitted on, for a run whose fits were watched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fits: Option<Fits>,
    /// The names of the runners that were lost while they ran it, before this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_runners: Vec<String>,
    /// Whether another script ran on the same machine meanwhile. Its time is then more than what it would take alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub beside: bool,
    /// The limit of the run or the phase that stopped it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_by: Option<Limit>,
    /// The variants of an ablation study that left validation predictions, the unchanged solution (0) first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variants: Vec<VariantScore>,
}

/// A variant of an ablation study, scored by the program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VariantScore {
    /// Its number in the study; 0 is the unchanged solution.
    pub number: usize,
    /// The score of its validation predictions.
    pub score: f64,
    /// Its score minus that of the unchanged solution on the rows of both; `None` if that is not known.
    pub difference: Option<Difference>,
}

/// Which memory a script ran out of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutOfMemory {
    /// The memory of the machine or container: the kernel killed the script or one of its processes.
    Machine,
    /// The memory limit of scripts: the script was stopped.
    Limit,
    /// An allocation inside the script failed.
    Allocation,
    /// The memory of a GPU.
    Gpu,
}

/// How a script ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ScriptEnd {
    /// It exited.
    Exited {
        /// Its exit code.
        code: i32,
    },
    /// A signal killed it.
    Signalled {
        /// The signal's number.
        signal: i32,
    },
    /// It was stopped at its time limit.
    TimedOut,
    /// It was stopped at its time limit when it had printed its score and written its files: what Python does at its end may take
    /// a second.
    Answered,
    /// The runner that ran it was lost, and so were the next ones.
    Lost {
        /// What happened to the last runner.
        reason: String,
    },
    /// It was not run because a limit had been reached.
    Refused {
        /// The limit.
        limit: Limit,
    },
}

/// Head and tail of a stream. The complete stream is in the run's `logs/`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Captured {
    /// The first bytes as text; the complete stream if `tail` is empty.
    pub head: String,
    /// The last bytes as text, if the stream was truncated.
    pub tail: String,
    /// The length of the complete stream in bytes.
    pub bytes: u64,
}

/// The check of a submission file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Submission {
    /// Size of the file in bytes.
    pub bytes: u64,
    /// Data rows; `None` if the file does not parse.
    pub rows: Option<u64>,
    /// The defects, one sentence each; empty if the file is valid.
    pub findings: Vec<String>,
}

/// A limit that makes the run skip work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// The time limit of the run.
    Time,
    /// The budget of the run.
    Budget,
    /// The time share of a phase or a path. The run goes on.
    Share,
}

impl Default for ScriptEnd {
    fn default() -> Self {
        Self::Exited { code: 0 }
    }
}

impl AgentReply {
    /// A text answer without cost.
    pub fn text(text: impl Into<String>) -> Self {
        let answer = Answer::Text { text: text.into(), structured: None };
        Self { answer, usage: Usage::free(), lookups: Vec::new() }
    }

    /// A failed call with this usage.
    pub fn failed(reason: impl Into<String>, usage: Usage) -> Self {
        Self { answer: Answer::Failed { reason: reason.into() }, usage, lookups: Vec::new() }
    }

    /// A call that was not made, or failed, because of a limit.
    pub fn refused(limit: Limit, usage: Usage) -> Self {
        Self { answer: Answer::Refused { limit }, usage, lookups: Vec::new() }
    }
}

impl ScriptOutcome {
    /// The score: computed by the program if the predictions are known, otherwise as printed.
    pub fn value(&self) -> Option<f64> {
        self.measured.as_ref().map(|measured| measured.score).or(self.score)
    }

    /// The error in one line for people.
    pub fn headline(&self) -> String {
        if let Some(how) = self.out_of_memory {
            return format!("The script ran out of memory: {}.", how.words());
        }
        match self.end {
            ScriptEnd::TimedOut | ScriptEnd::Answered => {
                format!("The script was stopped at its time limit after {:.0} s.", self.duration_seconds)
            }
            ScriptEnd::Signalled { signal } => format!("The script was killed by signal {signal}."),
            ScriptEnd::Lost { ref reason } => format!("The script was given up: {reason}."),
            ScriptEnd::Refused { limit } => format!("not run: {}", limit.name()),
            ScriptEnd::Exited { code } => match self.traceback.as_deref().and_then(exception) {
                Some(exception) => exception.to_owned(),
                None => format!("The script ended with exit code {code}."),
            },
        }
    }

    /// Whether the program failed: non-zero exit code, signal, timeout, refusal, or a traceback in standard error.
    pub fn is_error(&self) -> bool {
        !matches!(self.end, ScriptEnd::Exited { code: 0 } | ScriptEnd::Answered) || self.traceback.is_some()
    }

    /// An outcome of which only the end is known.
    pub fn of(end: ScriptEnd) -> Self {
        Self { end, ..Self::default() }
    }

    /// The outcome of a script that was never started.
    pub fn refused(limit: Limit) -> Self {
        Self::of(ScriptEnd::Refused { limit })
    }

    /// The outcome of a script whose runner was lost for this reason.
    pub fn lost(reason: String) -> Self {
        Self::of(ScriptEnd::Lost { reason })
    }

    /// Why its runner was lost, if it was.
    pub fn loss(&self) -> Option<&str> {
        let ScriptEnd::Lost { reason } = &self.end else { return None };
        Some(reason)
    }
}

/// The line of the exception: the last line of a traceback that is not indented.
fn exception(traceback: &str) -> Option<&str> {
    traceback.lines().rev().find(|line| !line.trim().is_empty() && !line.starts_with([' ', '\t']))
}

impl ScriptEnd {
    /// Describes how the script ended.
    pub fn words(&self) -> String {
        match self {
            Self::Exited { code } => format!("exit code {code}"),
            Self::Signalled { signal } => format!("signal {signal}"),
            Self::TimedOut => "time limit".to_owned(),
            Self::Answered => "time limit, after its answer".to_owned(),
            Self::Lost { reason } => format!("lost: {reason}"),
            Self::Refused { limit } => limit.name().to_owned(),
        }
    }
}

impl OutOfMemory {
    /// Describes what happened, to follow "ran out of memory: ".
    pub fn words(self) -> &'static str {
        match self {
            Self::Machine => "the machine had none left, and the kernel killed it",
            Self::Limit => "it used more than a script may use, and was stopped",
            Self::Allocation => "an allocation failed",
            Self::Gpu => "the GPU had none left",
        }
    }

    /// Whether a second run can have more memory even if no other script of this process ran. Other programs use
    /// the machine, too.
    pub fn may_pass(self) -> bool {
        matches!(self, Self::Machine | Self::Gpu)
    }
}

impl Captured {
    /// A stream that is kept complete.
    pub fn whole(text: impl Into<String>) -> Self {
        let head = text.into();
        Self { bytes: head.len() as u64, head, tail: String::new() }
    }

    /// The stream as text. A line marks what is missing.
    pub fn text(&self) -> String {
        if self.tail.is_empty() {
            return self.head.clone();
        }
        let kept = (self.head.len() + self.tail.len()) as u64;
        format!("{}\n[… {} bytes cut …]\n{}", self.head, self.bytes.saturating_sub(kept), self.tail)
    }
}

impl Limit {
    /// Describes the limit.
    pub fn name(self) -> &'static str {
        match self {
            Self::Time => "time limit",
            Self::Budget => "budget",
            Self::Share => "time share",
        }
    }
}
