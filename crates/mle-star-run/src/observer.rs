//! Observers of a run, which see its events, prompts and replies.

use std::path::Path;

use async_trait::async_trait;
use mle_star::backend::AgentBackend;
use mle_star::event::{Event, EventSink};
use mle_star::result::FinalResult;
use mle_star::stop::Stop;
use mle_star_domain::effects::{AgentReply, AgentRequest};

/// Sees the events of a run, and may write files of its own before the run counts as finished. Nothing that an observer
/// does changes the run.
#[async_trait]
pub trait Observer: EventSink {
    /// An agent is asked.
    fn asked(&self, request: &AgentRequest) {
        let _ = request;
    }

    /// An agent replied.
    fn replied(&self, request: &AgentRequest, reply: &AgentReply) {
        let _ = (request, reply);
    }

    /// The search has ended with this result, and `result.json` is about to mark the run in `folder` as finished. Returns
    /// notes for people.
    async fn before_result(&self, folder: &Path, result: &FinalResult) -> Vec<String> {
        let _ = (folder, result);
        Vec::new()
    }

    /// The search was stopped without a result. Returns notes for people.
    async fn stopped(&self, folder: &Path) -> Vec<String> {
        let _ = folder;
        Vec::new()
    }
}

/// Nobody: every event is discarded.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl EventSink for NoObserver {
    fn emit(&self, _: Event) {}
}

impl Observer for NoObserver {}

/// Agents whose prompts and replies an observer sees.
pub(crate) struct ObservedAgents<'a> {
    /// The agents that answer.
    pub agents: &'a dyn AgentBackend,
    /// The observer of prompts and replies.
    pub observer: &'a dyn Observer,
}

#[async_trait]
impl AgentBackend for ObservedAgents<'_> {
    async fn ask(&self, request: &AgentRequest, events: &dyn EventSink) -> Result<AgentReply, Stop> {
        self.observer.asked(request);
        let reply = self.agents.ask(request, events).await?;
        self.observer.replied(request, &reply);
        Ok(reply)
    }
}
