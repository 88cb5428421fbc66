//! One attempt at a call: one process, one prompt, and what `claude` says until the turn ends.

use std::time::Duration;

use async_trait::async_trait;
use mle_star::attempts::{Attempt, CallBackend, Deadline, Outcome, waiting};
use mle_star::event::{Event, EventSink};
use mle_star_domain::effects::{AgentRequest, Usage};
use mle_star_domain::trouble::Trouble;
use tokio::time::{Instant, timeout, timeout_at};

use crate::child::{Child, StartError};
use crate::classify;
use crate::client::Client;
use crate::invocation;
use crate::os::Ending;
use crate::permission::{self, Permissions};
use crate::protocol::{self, ControlRequest, Ended, Message, System, Turn};
use crate::transcript::{ToolResult, Transcript};

/// How long an interrupted turn may take to report its cost.
const LAST_MESSAGES: Duration = Duration::from_secs(2);

/// The attempts at one call.
pub(crate) struct Conversations<'a> {
    pub(crate) client: &'a Client,
    pub(crate) request: &'a AgentRequest,
    pub(crate) events: &'a dyn EventSink,
    /// US dollars that earlier attempts have used.
    pub(crate) used: f64,
}

#[async_trait]
impl CallBackend for Conversations<'_> {
    async fn attempt(&mut self, deadline: &mut Deadline) -> Attempt {
        let left = self.request.max_usd.map(|max| max - self.used);
        if left.is_some_and(|left| left <= 0.0) && self.used > 0.0 {
            return Attempt { outcome: Outcome::OverBudget, usage: Usage::free(), lookups: Vec::new() };
        }
        let request = AgentRequest { max_usd: left, ..self.request.clone() };
        let attempt = attempt(self.client, &request, deadline, self.events).await;
        self.used += attempt.usage.cost_usd.unwrap_or(0.0);
        attempt
    }
}

/// Why the reading of messages ended.
enum End {
    /// The turn ended.
    Turn(Box<Ended>),
    Decided(Outcome),
    /// Standard output was closed.
    Closed,
    Timeout,
}

/// Asks one process and ends it.
async fn attempt(
    client: &Client,
    request: &AgentRequest,
    deadline: &mut Deadline,
    events: &dyn EventSink,
) -> Attempt {
    let mut child = match client.child(request) {
        Ok(child) => child,
        Err(error) => return not_started(client, &error),
    };
    let lifetime = child.invocation.cache_lifetime;
    child.send(&invocation::prompt(&client.cache.content(request, lifetime, std::time::Instant::now())));
    let began = Instant::now();
    let mut conversation = Conversation { client, request, events, transcript: Transcript::default() };
    let end = conversation.listen(&mut child, deadline).await;
    let waited = began.elapsed().as_secs();
    let (end, last) = conversation.interrupt(end, &mut child).await;
    let (ending, stderr) = child.end().await;
    let (outcome, usage) = match end {
        End::Turn(ended) => (conversation.turn_outcome(&ended), classify::usage(&ended)),
        End::Decided(outcome) => (outcome, conversation.usage(last.as_deref())),
        End::Timeout => {
            let reason = format!("no answer within {waited} s");
            (Outcome::Failed(reason), last.as_deref().map(classify::usage).unwrap_or_default())
        }
        End::Closed => (conversation.death_outcome(ending, &stderr), conversation.usage(None)),
    };
    // A refused login has cost nothing, unless the service had answered before.
    let is_free = usage.cost_usd.is_none()
        && classify::is_refused_login(&outcome)
        && !conversation.transcript.is_answered;
    let usage = if is_free { Usage::free() } else { usage };
    Attempt { outcome, usage, lookups: conversation.transcript.lookups }
}

fn not_started(client: &Client, error: &StartError) -> Attempt {
    let outcome = match error {
        StartError::Spawn(error) => classify::start_error(&client.setup.executable, error),
        StartError::WorkDir(error) => {
            Outcome::Fatal(Trouble::io("create the agents' folders in", &client.setup.folder, error))
        }
    };
    Attempt { outcome, usage: Usage::free(), lookups: Vec::new() }
}

struct Conversation<'a> {
    client: &'a Client,
    request: &'a AgentRequest,
    events: &'a dyn EventSink,
    transcript: Transcript,
}

impl Conversation<'_> {
    async fn listen(&mut self, child: &mut Child, deadline: &mut Deadline) -> End {
        loop {
            let line = match timeout_at(deadline.ends(), child.next_line()).await {
                Ok(Ok(Some(line))) => line,
                Ok(Ok(None) | Err(_)) => return End::Closed,
                Err(_) => return End::Timeout,
            };
            match self.transcript.read(&line) {
                Some(Message::Result(ended)) => return End::Turn(ended),
                // No further message will come.
                None if line.contains(r#""type":"result""#) => {
                    let line = self.transcript.unreadable.as_deref().unwrap_or_default();
                    let reason = format!("the end of the answer cannot be read: {line}");
                    return End::Decided(Outcome::Failed(reason));
                }
                Some(Message::System(system)) if system.subtype == "init" => {
                    self.transcript.is_requested = true;
                }
                Some(Message::System(system)) if system.subtype == "api_retry" => {
                    if let Some(outcome) = self.retried(&system, deadline) {
                        return End::Decided(outcome);
                    }
                }
                Some(Message::Assistant(turn)) if turn.is_from_agent() => self.transcript.add(turn),
                Some(Message::User(turn)) => self.tools_used(turn, deadline.elapsed()),
                Some(Message::ControlRequest(asked)) => self.answer(child, &asked),
                _ => {}
            }
        }
    }

    /// `claude` retries a request. That is waiting, unless the error is permanent or the waiting time is used up.
    fn retried(&mut self, system: &System, deadline: &mut Deadline) -> Option<Outcome> {
        self.transcript.was_retried = true;
        if let Some(outcome) = classify::retry(system) {
            return Some(outcome);
        }
        let reason = classify::busy(system.error_status, system.error_name());
        let wanted = Duration::try_from_secs_f64(system.retry_delay_ms / 1000.0).unwrap_or_default();
        if !deadline.extend_by_all(wanted) {
            return Some(Outcome::Busy { reason, advised: wanted });
        }
        self.events.emit(waiting(self.request, wanted, reason));
        None
    }

    fn tools_used(&mut self, turn: Turn, elapsed: Duration) {
        for ToolResult { tool, input, failure } in self.transcript.add_results(turn) {
            let (place, agent) = (self.request.place.clone(), self.request.agent);
            let (session, seconds) = (place.session(), elapsed.as_secs_f64());
            let failures = self.client.count_tool(agent, failure.is_some());
            let about = permission::about(&input);
            self.events.emit(Event::ToolUsed {
                place,
                agent,
                session,
                seconds,
                tool,
                about,
                failure,
                failures,
            });
        }
    }

    /// Answers a request of `claude`; an unknown one is refused.
    fn answer(&self, child: &Child, asked: &ControlRequest) {
        let permissions = Permissions {
            setup: &self.client.setup,
            tools: self.request.tools,
            folder: &child.work_dir.folder,
        };
        let answer = permission::answer(&permissions, &asked.request);
        let answer = answer.map_or_else(
            || protocol::refuse(&asked.request_id),
            |answer| protocol::reply_to(&asked.request_id, &answer),
        );
        child.send(&answer);
    }

    /// Interrupts a turn that is not over, and waits a moment for its cost. The turn may end just then.
    async fn interrupt(&mut self, end: End, child: &mut Child) -> (End, Option<Box<Ended>>) {
        if matches!(end, End::Turn(_) | End::Closed) {
            return (end, None);
        }
        child.send(&protocol::interrupt());
        let last = timeout(LAST_MESSAGES, self.result(child)).await.ok().flatten();
        match (end, last) {
            (End::Timeout, Some(ended)) if !ended.is_error => (End::Turn(ended), None),
            (end, last) => (end, last),
        }
    }

    /// The message that ends the turn; `None` if there is none.
    async fn result(&mut self, child: &mut Child) -> Option<Box<Ended>> {
        while let Ok(Some(line)) = child.next_line().await {
            if let Some(Message::Result(ended)) = self.transcript.read(&line) {
                return Some(ended);
            }
        }
        None
    }

    fn turn_outcome(&self, ended: &Ended) -> Outcome {
        // An agent that is reminded of the schema may repeat its whole answer as text.
        let is_repeated = self.request.schema.is_some() && ended.structured_output.is_none();
        let text = match is_repeated {
            true => ended.result.clone().unwrap_or_default(),
            false => self.transcript.text(),
        };
        classify::turn(ended, &text, &self.transcript)
    }

    fn death_outcome(&self, ending: Option<Ending>, stderr: &str) -> Outcome {
        let status = ending.and_then(|ending| ending.status);
        classify::death(status, stderr, self.transcript.unreadable.as_deref())
    }

    /// The usage of a turn without an end: what its last message reports, else nothing if no request was sent, else
    /// unknown.
    fn usage(&self, last: Option<&Ended>) -> Usage {
        let unreported = if self.transcript.is_requested { Usage::default() } else { Usage::free() };
        last.map_or(unreported, classify::usage)
    }
}
