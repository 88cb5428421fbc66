//! What performs the two effects: asking an agent and running a script.
//!
//! The algorithms do not call a backend directly but use [`Ctx`](crate::ctx::Ctx).

use async_trait::async_trait;
use mle_star_domain::effects::{
    AgentReply, AgentRequest, Agreement, AgreementRequest, CombinationRequest, Comparison, ComparisonRequest,
    Importance, ImportanceRequest, ImportanceRows, Look, LookRequest, Refit, RefitRequest, ScriptOutcome,
    ScriptRequest, Selection, SelectionRequest,
};

use crate::event::EventSink;
use crate::stop::Stop;

/// Answers agents' prompts.
#[async_trait]
pub trait AgentBackend: Send + Sync {
    /// Asks one agent once and reports progress to `events`. A failed call is a reply; only what ends the run is a
    /// [`Stop`]. Dropping the future ends everything that the call started.
    async fn ask(&self, request: &AgentRequest, events: &dyn EventSink) -> Result<AgentReply, Stop>;

    /// Prepares for calls that are likely to follow, soonest first. Their prompts and inputs are empty, because
    /// they are not known yet. This affects only speed.
    fn prefetch(&self, _likely: &[AgentRequest]) {}
}

/// Runs Python scripts.
#[async_trait]
pub trait ScriptRunner: Send + Sync {
    /// Runs one script to its end or its deadline. A failed script is an outcome; only what ends the run is a
    /// [`Stop`]. Dropping the future ends the script and everything that it started.
    async fn run(&self, request: &ScriptRequest) -> Result<ScriptOutcome, Stop>;

    /// Scores the predictions for held-out rows in the submission of an earlier run.
    async fn look(&self, request: &LookRequest) -> Result<Look, Stop>;

    /// Compares the kept validation predictions of two earlier runs on the rows that both have.
    async fn compare(&self, request: &ComparisonRequest) -> Result<Comparison, Stop>;

    /// Compares the errors of the kept validation predictions of several earlier runs on the rows that all of them have.
    async fn agreement(&self, request: &AgreementRequest) -> Result<Agreement, Stop>;

    /// Chooses weights for the kept predictions of earlier runs.
    async fn select(&self, request: &SelectionRequest) -> Result<Selection, Stop>;

    /// Compares what two fits of a solution predicted for the same rows of the test table.
    async fn compare_fits(&self, request: &RefitRequest) -> Result<Refit, Stop>;

    /// Why copies of these rows with permuted columns cannot be made, in one clause; `None` if they can.
    async fn lacks_copies(&self, on: ImportanceRows) -> Result<Option<String>, Stop>;

    /// Compares the predictions of an earlier run on copies of rows, in each of which one column is permuted.
    async fn importance(&self, request: &ImportanceRequest) -> Result<Importance, Stop>;

    /// Combines the kept predictions of earlier runs, as the script at a place would if it ran.
    async fn combine(&self, request: &CombinationRequest) -> Result<ScriptOutcome, Stop>;
}
