//! One call of an agent behind a service: attempts until there is an answer or a failure.
//!
//! A backend implements [`CallBackend`] with one conversation per attempt, and [`ask`] repeats it: after a wait if the
//! service is busy, and a few times if the conversation broke off. [`Deadline`] is the time of the call, [`Permanent`] an
//! error that no repetition mends.

mod deadline;
mod permanent;

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use tokio::time::sleep;

use crate::event::{Event, EventSink};
use crate::stop::Stop;
use mle_star_domain::effects::{AgentReply, AgentRequest, Answer, Limit, Lookup, Usage};
use mle_star_domain::trouble::Trouble;

pub use deadline::Deadline;
pub use permanent::{Permanent, start_error};

/// Restarts after a conversation broke off without an answer; the wait before them is 1, 2 and 4 s.
const RESTARTS: u32 = 3;
/// So many calls in a row for which every conversation broke off stop the run.
const DEAD_CALLS: u32 = 3;
/// The longest wait between two requests to a busy service, unless the service asks for a longer one.
const MAX_RETRY_WAIT: Duration = Duration::from_secs(60);

/// The result of one attempt.
#[derive(Debug)]
pub struct Attempt {
    /// The end of the attempt.
    pub outcome: Outcome,
    /// The tokens and money that it used.
    pub usage: Usage,
    /// The web searches and fetches of the call.
    pub lookups: Vec<Lookup>,
}

/// The end of an attempt.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// With an answer.
    Answered {
        /// The whole text.
        text: String,
        /// The structured answer, if one was requested and given.
        structured: Option<Value>,
    },
    /// The agent failed; the algorithm's rule for it applies.
    Failed(String),
    /// With a temporary error: retry.
    Busy {
        /// The error.
        reason: String,
        /// The shortest wait that the service asks for.
        advised: Duration,
    },
    /// The attempt used up the money of the call without an answer.
    OverBudget,
    /// The conversation broke off without an answer.
    Died(String),
    /// With a permanent error: the run stops until someone has fixed it.
    Fatal(Trouble),
}

/// Makes one attempt at a call.
#[async_trait]
pub trait CallBackend: Send {
    /// One conversation, within the deadline.
    async fn attempt(&mut self, deadline: &mut Deadline) -> Attempt;
}

/// The retry policy for the calls of a run.
#[derive(Debug)]
pub struct RetryPolicy {
    /// The most time that one call may wait for a busy service.
    pub max_wait: Duration,
    /// The next random number from 0 to 1, which spreads the waits of concurrent calls.
    pub random: fn() -> f64,
    /// The hint for calls of which every conversation breaks off.
    pub hint: &'static str,
    /// Consecutive calls for which every conversation broke off.
    dead_calls: AtomicU32,
}

impl RetryPolicy {
    /// The policy of a run without calls so far.
    pub fn new(max_wait: Duration, random: fn() -> f64, hint: &'static str) -> Self {
        Self { max_wait, random, hint, dead_calls: AtomicU32::new(0) }
    }

    /// 1, 2, 4, … 60 s, each shortened at random by up to half so that concurrent calls spread out.
    fn backoff(&self, busy: u32) -> Duration {
        let longest = Duration::from_secs(1 << busy.min(6)).min(MAX_RETRY_WAIT);
        longest.mul_f64(0.5 + (self.random)() / 2.0)
    }
}

/// Asks until there is an answer, a failure, or no time and no retry left.
///
/// # Errors
/// A permanent error, or too many calls in a row without any answer.
pub async fn ask(
    attempts: &mut dyn CallBackend,
    retry_policy: &RetryPolicy,
    request: &AgentRequest,
    events: &dyn EventSink,
) -> Result<AgentReply, Stop> {
    let mut deadline = Deadline::new(request.timeout, request.time_left, retry_policy.max_wait);
    let (mut usage, mut lookups) = (Usage::free(), Vec::new());
    let (mut busy, mut restarts) = (0, 0);
    loop {
        let attempt = attempts.attempt(&mut deadline).await;
        usage = usage + attempt.usage;
        lookups.extend(attempt.lookups);
        if !matches!(attempt.outcome, Outcome::Died(_)) {
            retry_policy.dead_calls.store(0, Ordering::Relaxed);
        }
        let (reason, wait) = match attempt.outcome {
            Outcome::Answered { text, structured } => {
                return Ok(AgentReply { answer: Answer::Text { text, structured }, usage, lookups });
            }
            Outcome::Failed(reason) => return Ok(failed(reason, usage, lookups)),
            Outcome::Fatal(trouble) => return Err(Stop::Agents { trouble: Box::new(trouble), usage }),
            Outcome::OverBudget => {
                return Ok(AgentReply { lookups, ..AgentReply::refused(Limit::Budget, usage) });
            }
            Outcome::Busy { reason, advised } => {
                let Some(wait) = deadline.extend(retry_policy.backoff(busy).max(advised)) else {
                    let waited = deadline.waited().as_secs();
                    return Ok(failed(format!("{reason}; gave up after waiting {waited} s"), usage, lookups));
                };
                busy += 1;
                (reason, wait)
            }
            Outcome::Died(reason) if deadline.left().is_zero() => {
                return Ok(failed(reason, usage, lookups));
            }
            // If every conversation of the previous call broke off, waiting again would only delay the run.
            Outcome::Died(reason)
                if restarts == RESTARTS || retry_policy.dead_calls.load(Ordering::Relaxed) > 0 =>
            {
                if retry_policy.dead_calls.fetch_add(1, Ordering::Relaxed) + 1 < DEAD_CALLS {
                    return Ok(failed(reason, usage, lookups));
                }
                let message = format!("{DEAD_CALLS} calls in a row failed: {reason}");
                let trouble = Box::new(Trouble::new(message, retry_policy.hint));
                return Err(Stop::Agents { trouble, usage });
            }
            Outcome::Died(reason) => {
                restarts += 1;
                (reason, Duration::from_secs(1 << (restarts - 1)).min(deadline.left()))
            }
        };
        events.emit(waiting(request, wait, reason.clone()));
        sleep(wait).await;
        if deadline.left().is_zero() {
            return Ok(failed(reason, usage, lookups));
        }
    }
}

/// The event of a wait before the next attempt.
pub fn waiting(request: &AgentRequest, wait: Duration, reason: String) -> Event {
    let (place, seconds) = (request.place.clone(), wait.as_secs_f64());
    Event::AgentWaits { place, agent: request.agent, seconds, reason }
}

fn failed(reason: String, usage: Usage, lookups: Vec<Lookup>) -> AgentReply {
    AgentReply { lookups, ..AgentReply::failed(reason, usage) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_minute_and_are_never_less_than_half() {
        let wait = |random: fn() -> f64, busy| {
            RetryPolicy::new(Duration::ZERO, random, "").backoff(busy).as_secs_f64()
        };
        for (busy, longest) in [(0, 1.0), (1, 2.0), (5, 32.0), (6, 60.0), (1000, 60.0)] {
            let waits = [wait(|| 0.0, busy), wait(|| 0.5, busy), wait(|| 1.0, busy)];
            assert_eq!(waits, [longest / 2.0, longest * 0.75, longest], "{busy}");
        }
    }
}
