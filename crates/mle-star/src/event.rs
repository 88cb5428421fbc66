//! What a person may want to see, as it happens.

use serde::{Deserialize, Serialize};

use crate::agents::{AgentType, Variant};
use crate::effects::{Limit, Usage};
use crate::place::{Phase, Place};

/// One thing that happened in a run. Scores are in the metric's unit, times in seconds, money in US dollars.
///
/// `replayed` marks what was read back from the journal instead of done again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[expect(missing_docs, reason = "fields are named after what they hold")]
pub enum Event {
    /// A phase begins.
    PhaseStarted { phase: Phase },
    /// A step of the algorithm begins: a candidate, a merge, an outer step, an attempt, a round.
    StepStarted { place: Place, of: u32 },
    /// A step is over; `score` is that of the step's own solution, `None` when it has none.
    StepEnded { place: Place, score: Option<f64>, accepted: bool, note: String },
    /// A step or an effect was left out because of a limit.
    Skipped { place: Place, limit: Limit },
    /// An agent is being asked.
    AgentStarted { place: Place, agent: AgentType, variant: Option<Variant>, timeout: f64 },
    /// An agent answered or failed (`failure` says how).
    AgentEnded {
        place: Place,
        agent: AgentType,
        seconds: f64,
        usage: Usage,
        failure: Option<String>,
        replayed: bool,
    },
    /// The service behind an agent is busy or out of reach; it is asked again in `seconds`.
    AgentWaits { place: Place, agent: AgentType, seconds: f64, reason: String },
    /// An agent used a tool; `about` is the command, file, query or address. `failures` counts the failures
    /// in a row of this agent's tools, 0 after a success.
    ToolUsed {
        place: Place,
        agent: AgentType,
        tool: String,
        about: String,
        failure: Option<String>,
        failures: u32,
    },
    /// A script waits for its slot no longer and runs.
    ScriptStarted { place: Place, timeout: f64 },
    /// A script ended; `failure` is the first words of what went wrong.
    ScriptEnded { place: Place, seconds: f64, score: Option<f64>, failure: Option<String>, replayed: bool },
    /// The best score of the run so far changed; `from` is `None` for the first one.
    Best { place: Place, score: f64, from: Option<f64> },
    /// Something a person should know that stops nothing.
    Warning { place: Place, text: String },
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
