//! Prompts and replies of agents, in the log file at level `DEBUG`.

use async_trait::async_trait;
use mle_star::backend::AgentBackend;
use mle_star::event::EventSink;
use mle_star::stop::Stop;
use mle_star_domain::effects::{AgentReply, AgentRequest, Answer};
use mle_star_report::words::agent_name;

use super::log::Log;

/// An agent backend whose prompts and replies are logged.
pub struct Asked<'a> {
    /// The backend.
    pub agents: &'a dyn AgentBackend,
    /// The log file.
    pub log: &'a Log<'a>,
}

#[async_trait]
impl AgentBackend for Asked<'_> {
    async fn ask(&self, request: &AgentRequest, events: &dyn EventSink) -> Result<AgentReply, Stop> {
        let who = format!("{} ({})", agent_name(request.agent), request.place);
        self.log.debug(&format!("prompt for {who}:\n{}", request.prompt));
        let reply = self.agents.ask(request, events).await?;
        if let Answer::Text { text, .. } = &reply.answer {
            self.log.debug(&format!("reply of {who}:\n{text}"));
        }
        Ok(reply)
    }

    fn prefetch(&self, likely: &[AgentRequest]) {
        self.agents.prefetch(likely);
    }
}
