//! The backends, which perform the three effects: asking an agent, running a script, and answering a question about predictions.
//!
//! The algorithms do not call a backend directly but use [`Ctx`](crate::ctx::Ctx).

use std::time::Duration;

use async_trait::async_trait;
use mle_star_domain::effects::{AgentReply, AgentRequest, ScriptOutcome, ScriptRequest};
use mle_star_domain::place::Place;
use mle_star_domain::question::{Answer, Question};

use crate::event::EventSink;
use crate::stop::Stop;

/// Answers agents' prompts.
#[async_trait]
pub trait AgentBackend: Send + Sync {
    /// Asks one agent once and reports progress to `events`. A failed call is a reply; only what ends the run is a
    /// [`Stop`]. Dropping the future ends everything that the call started.
    async fn ask(&self, request: &AgentRequest, events: &dyn EventSink) -> Result<AgentReply, Stop>;
}

/// Runs Python scripts, and answers questions about their predictions.
#[async_trait]
pub trait ScriptRunner: Send + Sync {
    /// Runs one script to its end or its deadline. A failed script is an outcome; only what ends the run is a
    /// [`Stop`]. Dropping the future ends the script and everything that it started.
    async fn run(&self, request: &ScriptRequest) -> Result<ScriptOutcome, Stop>;

    /// Answers a question about the predictions of earlier runs, in the time that its phase has left. Why there is no answer is
    /// part of the answer.
    async fn answer(&self, place: &Place, question: &Question, time_left: Duration) -> Result<Answer, Stop>;
}
