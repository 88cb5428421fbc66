//! One attempt at a call: one process, one prompt, and what `codex` prints until the turn ends.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mle_star::attempts::{Attempt, CallBackend, Deadline, Outcome, waiting};
use mle_star::event::{Event, EventSink};
use mle_star::schema;
use mle_star_domain::effects::{AgentRequest, Usage};
use mle_star_domain::search::{is_blocked, is_link};
use mle_star_domain::trouble::Trouble;
use mle_star_process::Talk;
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use crate::agents::CodexAgents;
use crate::classify;
use crate::transcript::{LineEffect, Retry, Transcript, WEB_FETCH};

/// Retries after a refused login before it is permanent: a token may be renewed meanwhile.
const LOGIN_RETRIES: u32 = 1;

/// The attempts at one call.
pub(crate) struct Conversations<'a> {
    agents: &'a CodexAgents,
    request: &'a AgentRequest,
    events: &'a dyn EventSink,
    /// A conversation with a schema was silent, so later ones are without.
    was_silent: bool,
}

/// Why the reading of events ended.
enum End {
    /// The turn ended, with an error if there is one.
    Turn(Option<String>),
    Decided(Outcome),
    /// Standard output was closed.
    Closed,
    Timeout,
    /// Nothing was printed for half of the call's time.
    Silent(Duration),
}

#[async_trait]
impl CallBackend for Conversations<'_> {
    async fn attempt(&mut self, deadline: &mut Deadline) -> Attempt {
        let AgentRequest { schema, model, .. } = self.request;
        let asked = schema.clone().filter(|_| !self.was_silent && self.agents.takes_schema(model));
        let attempt = self.converse(asked.clone(), deadline).await;
        match &attempt.outcome {
            Outcome::Failed(why) if asked.is_some() && schema::is_refused(why) => {
                self.agents.note_refused_schema(model);
                self.converse(None, deadline).await
            }
            _ => attempt,
        }
    }
}

impl<'a> Conversations<'a> {
    pub(crate) fn new(agents: &'a CodexAgents, request: &'a AgentRequest, events: &'a dyn EventSink) -> Self {
        Self { agents, request, events, was_silent: false }
    }

    /// Asks one process and ends it. `asked` is the schema that the service is asked to follow.
    async fn converse(&mut self, asked: Option<Arc<Value>>, deadline: &mut Deadline) -> Attempt {
        let setup = &self.agents.setup;
        let strict = asked.as_deref().map(schema::strict);
        let started = match self.agents.files.command(setup, self.request, strict.as_ref()) {
            Ok(command) => {
                Talk::start(command).map_err(|error| classify::start_error(&setup.executable, &error))
            }
            Err(error) => Err(Outcome::Fatal(Trouble::io("write below", &setup.folder, &error))),
        };
        let mut talk = match started {
            Ok(talk) => talk,
            Err(outcome) => return Attempt { outcome, usage: Usage::free(), lookups: Vec::new() },
        };
        talk.send(self.prompt(asked.is_some()).into_bytes());
        talk.close_input();
        let (began, mut transcript) = (Instant::now(), Transcript::default());
        let end = self.listen(&mut talk, &mut transcript, deadline).await;
        let waited = began.elapsed().as_secs();
        let (ending, stderr) = talk.end().await;
        let outcome = match end {
            End::Turn(None) => outcome_of(&transcript, asked.is_some()),
            End::Turn(Some(error)) => classify::error(&error),
            End::Decided(outcome) => outcome,
            End::Closed => {
                let status = ending.and_then(|ending| ending.status);
                classify::death(status, &stderr, transcript.error.as_deref())
            }
            End::Timeout => Outcome::Failed(format!("no answer within {waited} s")),
            End::Silent(time) => {
                // Some versions hang with a schema.
                self.was_silent = asked.is_some();
                Outcome::Died(format!("codex printed nothing for {} s", time.as_secs()))
            }
        };
        let usage = self.usage(&transcript, &outcome);
        Attempt { outcome: self.hidden(outcome), usage, lookups: transcript.lookups }
    }

    /// The prompt, with the schema if the service is not asked to follow it.
    fn prompt(&self, is_asked: bool) -> String {
        match &self.request.schema {
            Some(schema) if !is_asked => schema::in_prompt(&self.request.prompt, schema),
            _ => self.request.prompt.clone(),
        }
    }

    async fn listen(&self, talk: &mut Talk, transcript: &mut Transcript, deadline: &mut Deadline) -> End {
        let longest = self.request.timeout / 2;
        let mut refused_logins = 0;
        loop {
            let silent = Instant::now() + longest;
            let line = match timeout_at(deadline.ends().min(silent), talk.next_line()).await {
                Ok(Ok(Some(line))) => line,
                Ok(Ok(None) | Err(_)) => return End::Closed,
                Err(_) if deadline.left().is_zero() => return End::Timeout,
                Err(_) => return End::Silent(longest),
            };
            match transcript.read(&line) {
                LineEffect::Nothing => {}
                LineEffect::Lookup => {
                    if let Some(outcome) = self.looked_up(transcript, deadline.elapsed()) {
                        return End::Decided(outcome);
                    }
                }
                LineEffect::Retry(retry) => {
                    let outcome = classify::error(&retry.reason);
                    refused_logins += u32::from(classify::is_refused_login(&outcome));
                    transcript.broken += u32::from(matches!(outcome, Outcome::Died(_)));
                    let may_recover = classify::is_refused_login(&outcome) && refused_logins <= LOGIN_RETRIES;
                    if !may_recover && let Some(outcome) = self.retried(retry, outcome, deadline) {
                        return End::Decided(outcome);
                    }
                }
                LineEffect::Ended(error) => return End::Turn(error),
            }
        }
    }

    /// `codex` repeats a request. That is waiting, unless repeating is in vain or the waiting time is used up.
    fn retried(&self, retry: Retry, outcome: Outcome, deadline: &mut Deadline) -> Option<Outcome> {
        let wait = retry.wait();
        // Without a connection, `codex` would go on for ever.
        if retry.nth.is_none() || classify::is_decided(&retry.reason, &outcome) {
            return Some(outcome);
        }
        if !deadline.extend_by_all(wait) {
            return Some(Outcome::Busy { reason: retry.reason, advised: wait });
        }
        let reason = match outcome {
            Outcome::Busy { reason, .. } => reason,
            _ => retry.reason,
        };
        self.events.emit(waiting(self.request, wait, self.agents.hide(&reason)));
        None
    }

    /// Reports a use of the web. An answer for which a blocked page was opened is not used; a query may name one.
    fn looked_up(&self, transcript: &mut Transcript, elapsed: Duration) -> Option<Outcome> {
        let lookup = transcript.lookups.last_mut()?;
        let is_page = lookup.tool == WEB_FETCH || is_link(&lookup.what);
        let is_against = is_page && is_blocked(&lookup.what, &self.agents.setup.blocked_domains);
        lookup.failure = is_against.then(|| "search_blocked_domains has this page".to_owned());
        let (place, agent) = (self.request.place.clone(), self.request.agent);
        self.events.emit(Event::ToolUsed {
            session: place.session(),
            place,
            agent,
            seconds: elapsed.as_secs_f64(),
            tool: lookup.tool.clone(),
            about: lookup.what.clone(),
            failure: lookup.failure.clone(),
            failures: u32::from(is_against),
        });
        is_against.then(|| Outcome::Failed(format!("codex opened a page that is blocked: {}", lookup.what)))
    }

    /// What the conversation used: an error of the service is free.
    fn usage(&self, transcript: &Transcript, outcome: &Outcome) -> Usage {
        let usage = transcript.usage(self.agents.setup.prices.get(&self.request.model));
        let is_reported = usage.input + usage.cache_read + usage.output > 0;
        let is_free = matches!(outcome, Outcome::Busy { .. } | Outcome::Fatal(_)) || !transcript.is_requested;
        if is_free && !is_reported && transcript.broken == 0 { Usage::free() } else { usage }
    }

    /// An outcome whose reason does not hold the key. Answers hold it only if the model was told.
    fn hidden(&self, outcome: Outcome) -> Outcome {
        let hide = |text: &str| self.agents.hide(text);
        match outcome {
            Outcome::Failed(why) => Outcome::Failed(hide(&why)),
            Outcome::Died(why) => Outcome::Died(hide(&why)),
            Outcome::Busy { reason, advised } => Outcome::Busy { reason: hide(&reason), advised },
            Outcome::Fatal(trouble) => Outcome::Fatal(Trouble { message: hide(&trouble.message), ..trouble }),
            without @ (Outcome::Answered { .. } | Outcome::OverBudget) => without,
        }
    }
}

/// The outcome of a turn without an error.
fn outcome_of(transcript: &Transcript, wants_structure: bool) -> Outcome {
    let text = transcript.text.clone();
    if text.trim().is_empty() {
        return Outcome::Died("the answer is empty".to_owned());
    }
    let structured = wants_structure.then(|| serde_json::from_str(&text).ok()).flatten();
    Outcome::Answered { text, structured }
}
