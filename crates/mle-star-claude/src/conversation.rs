//! One process, one prompt: reads what `claude` says until the turn ends, and answers what it asks.

use std::collections::HashMap;
use std::time::Duration;

use mle_star::effects::{AgentRequest, Lookup, Usage};
use mle_star::event::{Event, EventSink};
use mle_star::stop::Trouble;
use serde_json::Value;
use tokio::time::{Instant, timeout, timeout_at};

use crate::ClaudeAgents;
use crate::command::{self, STRUCTURED_OUTPUT};
use crate::patience::{self, Clock};
use crate::permission::{self, Sandbox};
use crate::process::{NotStarted, Process};
use crate::protocol::{self, Block, Ended, Message, System, Turn};
use crate::verdict::{self, Verdict};

/// How long an interrupted turn may take to say what it has cost.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// Web tools, by the name of the argument that says what is wanted.
const WEB: [(&str, &str); 2] = [("WebSearch", "query"), ("WebFetch", "url")];

/// One process's part in a call.
pub(crate) struct Attempt {
    pub(crate) verdict: Verdict,
    pub(crate) usage: Usage,
    pub(crate) lookups: Vec<Lookup>,
}

/// What has been said so far.
#[derive(Default)]
pub(crate) struct Heard {
    /// What the agent itself has said, in order, with the message it belongs to.
    pieces: Vec<(Option<String>, String)>,
    /// A tool was used since: what follows is a new piece of text.
    is_interrupted: bool,
    tools: HashMap<String, (String, Value)>,
    lookups: Vec<Lookup>,
    /// The first line that is no message although it looks like one.
    pub(crate) unreadable: Option<String>,
    /// `claude` has asked again by itself.
    pub(crate) was_retried: bool,
    /// The service has been asked.
    said_something: bool,
    /// A model has answered, if only in part, for all that is known.
    is_answered: bool,
}

/// How the reading of messages ended.
enum End {
    Ended(Box<Ended>),
    Decided(Verdict),
    /// Standard output ended.
    Closed,
    Late,
}

/// Asks in one process and sees it to its end.
pub(crate) async fn hold(
    agents: &ClaudeAgents,
    request: &AgentRequest,
    clock: &mut Clock,
    events: &dyn EventSink,
) -> Attempt {
    let mut process = match agents.process(request) {
        Ok(process) => process,
        Err(NotStarted::Program(error)) => {
            return Attempt::free(verdict::of_start(&agents.setup.executable, &error));
        }
        Err(NotStarted::Room(error)) => {
            return Attempt::free(Verdict::Broken(Trouble::io(
                "make the agents' work in",
                &agents.setup.folder,
                &error,
            )));
        }
    };
    let started = Instant::now();
    for line in command::opening(request) {
        process.send(line);
    }
    let mut call = Conversation { agents, request, events, heard: Heard::default() };
    let mut end = call.listen(&mut process, clock).await;
    let mut last_words = match &end {
        End::Late | End::Decided(_) => call.interrupt(&mut process).await,
        End::Ended(_) | End::Closed => None,
    };
    // It may have come to its end in the moment it was interrupted.
    if let (End::Late, Some(answer)) = (&end, last_words.take_if(|ended| !ended.is_error)) {
        end = End::Ended(answer);
    }
    let (ending, stderr) = process.end().await;
    // Told that its answer has another form than was asked for, an agent may give it again.
    let is_twice = |ended: &Ended| request.schema.is_some() && ended.structured_output.is_none();
    let text = match &end {
        End::Ended(ended) if is_twice(ended) => ended.result.clone().unwrap_or_default(),
        _ => call.heard.text(),
    };
    let heard = call.heard;
    // What a turn that never ended has cost, nobody knows.
    let untold = if heard.said_something { Usage::default() } else { Usage::free() };
    let told = last_words.as_deref().map(verdict::usage);
    let (usage, verdict) = match end {
        End::Ended(ended) => (verdict::usage(&ended), verdict::of_turn(&ended, &text, &heard)),
        End::Decided(verdict) => (told.unwrap_or(untold), verdict),
        End::Late => {
            let seconds = started.elapsed().as_secs();
            (told.unwrap_or_default(), Verdict::Failed(format!("no answer within {seconds} s")))
        }
        End::Closed => {
            let status = ending.and_then(|ending| ending.status);
            (untold, verdict::of_death(status, &stderr, heard.unreadable.as_deref()))
        }
    };
    // Who was not let in has used nothing, unless it had been let in before.
    let is_free = usage.cost_usd.is_none() && verdict::is_refused_login(&verdict) && !heard.is_answered;
    let usage = if is_free { Usage::free() } else { usage };
    Attempt { verdict, usage, lookups: heard.lookups }
}

struct Conversation<'a> {
    agents: &'a ClaudeAgents,
    request: &'a AgentRequest,
    events: &'a dyn EventSink,
    heard: Heard,
}

impl Conversation<'_> {
    async fn listen(&mut self, process: &mut Process, clock: &mut Clock) -> End {
        loop {
            let line = match timeout_at(clock.ends(), process.next_line()).await {
                Ok(Ok(Some(line))) => line,
                Ok(Ok(None) | Err(_)) => return End::Closed,
                Err(_) => return End::Late,
            };
            match self.heard.read(&line) {
                Some(Message::Result(ended)) => return End::Ended(ended),
                None if line.contains(r#""type":"result""#) => {
                    let why = format!("the end of the answer cannot be read: {}", self.heard.unreadable());
                    return End::Decided(Verdict::Failed(why));
                }
                Some(Message::System(system)) if system.subtype == "init" => self.heard.said_something = true,
                Some(Message::System(system)) if system.subtype == "api_retry" => {
                    if let Some(verdict) = self.retries(&system, clock) {
                        return End::Decided(verdict);
                    }
                }
                Some(Message::Assistant(turn)) if turn.is_the_agents() => self.heard.turn(turn),
                Some(Message::User(turn)) => {
                    if turn.refused_message_id.is_some() {
                        self.heard.pieces.retain(|(message, _)| *message != turn.refused_message_id);
                    }
                    self.tool_results(turn);
                }
                Some(Message::ControlRequest(asked)) => {
                    let answer = self.answer(process, &asked.request);
                    process.send(answer.map_or_else(
                        || protocol::refuse(&asked.request_id),
                        |answer| protocol::reply_to(&asked.request_id, &answer),
                    ));
                }
                _ => {}
            }
        }
    }

    /// `claude` itself asks again; that is waiting, unless the trouble cannot pass or patience is at its end.
    fn retries(&mut self, system: &System, clock: &mut Clock) -> Option<Verdict> {
        self.heard.was_retried = true;
        if let Some(verdict) = verdict::of_retry(system) {
            return Some(verdict);
        }
        let reason = verdict::busy(system.error_status, system.error_name());
        let wanted = Duration::try_from_secs_f64(system.retry_delay_ms / 1000.0).unwrap_or_default();
        if !clock.wait_whole(wanted) {
            return Some(Verdict::Busy { reason, advised: wanted });
        }
        self.events.emit(patience::waits(self.request, wanted, reason));
        None
    }

    fn tool_results(&mut self, turn: Turn) {
        for block in turn.message.content.into_blocks() {
            let Block::ToolResult { tool_use_id, is_error, content } = block else { continue };
            let Some((tool, input)) = self.heard.tools.remove(&tool_use_id) else { continue };
            if tool == STRUCTURED_OUTPUT {
                continue;
            }
            let failure = is_error.unwrap_or(false).then(|| protocol::text_of(&content));
            if let Some((_, argument)) = WEB.iter().find(|(name, _)| *name == tool) {
                let what = input.get(argument).and_then(Value::as_str).unwrap_or_default().to_owned();
                self.heard.lookups.push(Lookup { tool: tool.clone(), what, failure: failure.clone() });
            }
            let (place, agent) = (self.request.place.clone(), self.request.agent);
            let failures = self.agents.count_tool(agent, failure.is_some());
            let about = permission::about(&input);
            self.events.emit(Event::ToolUsed { place, agent, tool, about, failure, failures });
        }
    }

    /// The answer to what `claude` asks; `None` when it is nothing known.
    fn answer(&self, process: &Process, asked: &Value) -> Option<Value> {
        let sandbox =
            Sandbox { setup: &self.agents.setup, tools: self.request.tools, folder: &process.room.folder };
        permission::answer(&sandbox, asked)
    }

    /// Ends the turn early and waits a moment for what it has cost.
    async fn interrupt(&mut self, process: &mut Process) -> Option<Box<Ended>> {
        process.send(protocol::interrupt());
        let last_words = async {
            loop {
                match process.next_line().await {
                    Ok(Some(line)) => {
                        if let Some(Message::Result(ended)) = self.heard.read(&line) {
                            return Some(ended);
                        }
                    }
                    Ok(None) | Err(_) => return None,
                }
            }
        };
        timeout(LAST_WORDS, last_words).await.ok().flatten()
    }
}

impl Heard {
    /// A message. A line that breaks off, or a part of the answer in a form that is not known, is remembered;
    /// anything else that is no message is passed over.
    fn read(&mut self, line: &str) -> Option<Message> {
        let value = serde_json::from_str::<Value>(line);
        let kind = value.as_ref().ok().and_then(|value| value.get("type")).and_then(Value::as_str);
        let matters = match (&value, kind) {
            (Err(_), _) => line.starts_with('{'),
            (Ok(_), kind) => matches!(kind, Some("assistant" | "result")),
        };
        let message = value.ok().and_then(protocol::message);
        if let Some(Message::Assistant(turn)) = &message {
            self.is_answered |= turn.is_a_models();
        }
        if message.is_none() && matters {
            self.is_answered = true;
            self.unreadable.get_or_insert_with(|| line.chars().take(200).collect());
        }
        message
    }

    fn unreadable(&self) -> &str {
        self.unreadable.as_deref().unwrap_or_default()
    }

    /// All text as one. A continued answer goes on where it broke off.
    fn text(&self) -> String {
        self.pieces.iter().map(|(_, text)| text.as_str()).collect()
    }

    fn turn(&mut self, turn: Turn) {
        let id = turn.message.id;
        for block in turn.message.content.into_blocks() {
            match block {
                Block::Text { text } => {
                    let is_new = std::mem::take(&mut self.is_interrupted) && !self.pieces.is_empty();
                    let text = if is_new { format!("\n\n{text}") } else { text };
                    self.pieces.push((id.clone(), text));
                }
                Block::ToolUse { id, name, input } => {
                    self.is_interrupted = true;
                    self.tools.insert(id, (name, input));
                }
                Block::ToolResult { .. } | Block::Other => {}
            }
        }
    }
}
