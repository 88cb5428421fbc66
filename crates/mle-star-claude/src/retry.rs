//! One call of an agent: attempts until there is an answer or a failure.

use std::time::Duration;

use mle_star::effects::{AgentReply, AgentRequest, Answer, Lookup, Usage};
use mle_star::event::EventSink;
use mle_star::stop::{Stop, Trouble};
use tokio::time::sleep;

use crate::client::Client;
use crate::conversation::{self, waiting};
use crate::deadline::Deadline;
use crate::verdict::Verdict;

/// Restarts after a `claude` died without an answer; the wait before them is 1, 2 and 4 s.
const RESTARTS: u32 = 3;
/// So many calls in a row for which every `claude` died stop the run.
const DEAD_CALLS: u32 = 3;
/// The longest wait between two requests to a busy service, unless the service asks for a longer one.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Asks until there is an answer, a failure, or no time and no retry left.
pub(crate) async fn ask(
    client: &Client,
    request: &AgentRequest,
    events: &dyn EventSink,
) -> Result<AgentReply, Stop> {
    let mut deadline = Deadline::new(request.timeout, request.time_left, client.setup.max_wait);
    let (mut usage, mut lookups) = (Usage::free(), Vec::new());
    let (mut busy, mut restarts) = (0, 0);
    loop {
        let attempt = conversation::attempt(client, request, &mut deadline, events).await;
        usage = usage + attempt.usage;
        lookups.extend(attempt.lookups);
        if !matches!(attempt.verdict, Verdict::Died(_)) {
            client.reset_dead_calls();
        }
        match attempt.verdict {
            Verdict::Answered { text, structured } => {
                return Ok(AgentReply { answer: Answer::Text { text, structured }, usage, lookups });
            }
            Verdict::Failed(reason) => return Ok(failed(reason, usage, lookups)),
            Verdict::Fatal(trouble) => return Err(Stop::Agents { trouble, usage }),
            Verdict::Busy { reason, advised } => {
                let Some(wait) = deadline.extend(backoff(busy).max(advised)) else {
                    let waited = deadline.waited().as_secs();
                    return Ok(failed(format!("{reason}; gave up after waiting {waited} s"), usage, lookups));
                };
                busy += 1;
                events.emit(waiting(request, wait, reason.clone()));
                sleep(wait).await;
                if deadline.left().is_zero() {
                    return Ok(failed(reason, usage, lookups));
                }
            }
            Verdict::Died(reason) if deadline.left().is_zero() => {
                return Ok(failed(reason, usage, lookups));
            }
            // If every `claude` of the previous call died, waiting again would only delay the run.
            Verdict::Died(reason) if restarts == RESTARTS || client.dead_calls() > 0 => {
                return match client.count_dead_call() {
                    DEAD_CALLS.. => Err(Stop::Agents { trouble: keeps_dying(&reason), usage }),
                    _ => Ok(failed(reason, usage, lookups)),
                };
            }
            Verdict::Died(_) => {
                sleep(Duration::from_secs(1 << restarts).min(deadline.left())).await;
                restarts += 1;
            }
        }
    }
}

fn failed(reason: String, usage: Usage, lookups: Vec<Lookup>) -> AgentReply {
    AgentReply { lookups, ..AgentReply::failed(reason, usage) }
}

fn keeps_dying(reason: &str) -> Trouble {
    Trouble::new(
        format!("claude failed without an answer in {DEAD_CALLS} calls in a row: {reason}"),
        "check that it works with `mle-star doctor --probe-agents`, then resume the run",
    )
}

/// 1, 2, 4, … 60 s, each shortened at random by up to half so that concurrent calls spread out.
fn backoff(busy: u32) -> Duration {
    let longest = Duration::from_secs(1 << busy.min(6)).min(LONGEST_WAIT);
    longest.mul_f64(0.5 + fastrand::f64() / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_minute_and_are_never_less_than_half() {
        let check = |busy, longest: u64| {
            for _ in 0..100 {
                let wait = backoff(busy).as_secs_f64();
                let longest = Duration::from_secs(longest).as_secs_f64();
                assert!((longest / 2.0..=longest).contains(&wait), "{busy}: {wait}");
            }
        };
        check(0, 1);
        check(1, 2);
        check(5, 32);
        check(6, 60);
        check(1000, 60);
    }
}
