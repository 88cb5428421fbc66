//! One call of an agent: trouble that passes is waited out, and the rest is told apart.

use std::time::Duration;

use mle_star::effects::{AgentReply, AgentRequest, Answer, Lookup, Usage};
use mle_star::event::{Event, EventSink};
use mle_star::stop::Stop;
use tokio::time::{Instant, sleep};

use crate::ClaudeAgents;
use crate::conversation::{self, Attempt};
use crate::verdict::Verdict;

/// Starts after a `claude` that died without an answer; the wait doubles from a second on.
const RESTARTS: u32 = 3;
/// The longest wait between two questions to a busy service, unless the service names a longer one.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// The time of one call. Waiting for a busy service moves the end, up to a bound.
pub(crate) struct Clock {
    ends: Instant,
    /// After this nothing of the call may go on.
    last: Instant,
    patience: Duration,
    waited: Duration,
}

/// Asks until there is an answer, a failure, or nothing left to wait with.
pub(crate) async fn ask(
    agents: &ClaudeAgents,
    request: &AgentRequest,
    events: &dyn EventSink,
) -> Result<AgentReply, Stop> {
    let mut clock = Clock::new(request, agents.setup.patience);
    let (mut usage, mut lookups) = (Usage::free(), Vec::new());
    let (mut busy, mut restarts) = (0, 0);
    loop {
        let attempt = conversation::hold(agents, request, &mut clock, events).await;
        usage = usage + attempt.usage;
        lookups.extend(attempt.lookups);
        match attempt.verdict {
            Verdict::Answered { text, structured } => {
                return Ok(AgentReply { answer: Answer::Text { text, structured }, usage, lookups });
            }
            Verdict::Failed(reason) => return Ok(failed(reason, usage, lookups)),
            Verdict::Broken(trouble) => return Err(Stop::Agents { trouble, usage }),
            Verdict::Busy { reason, advised } => {
                let wait = clock.wait(backoff(busy).max(advised));
                busy += 1;
                let Some(wait) = wait else {
                    let waited = clock.waited.as_secs();
                    let reason = format!("{reason}; given up after waiting for {waited} s");
                    return Ok(failed(reason, usage, lookups));
                };
                events.emit(waits(request, wait, reason.clone()));
                sleep(wait).await;
                if clock.left().is_zero() {
                    return Ok(failed(reason, usage, lookups));
                }
            }
            Verdict::Died(reason) if restarts == RESTARTS || clock.left().is_zero() => {
                return Ok(failed(reason, usage, lookups));
            }
            Verdict::Died(_) => {
                sleep(Duration::from_secs(1 << restarts).min(clock.left())).await;
                restarts += 1;
            }
        }
    }
}

impl Attempt {
    /// An attempt that came to nothing before it cost anything.
    pub(crate) fn free(verdict: Verdict) -> Self {
        Self { verdict, usage: Usage::free(), lookups: Vec::new() }
    }
}

impl Clock {
    fn new(request: &AgentRequest, patience: Duration) -> Self {
        let now = Instant::now();
        let last = now + request.time_left;
        Self { ends: (now + request.timeout).min(last), last, patience, waited: Duration::ZERO }
    }

    /// When the call ends as things stand.
    pub(crate) fn ends(&self) -> Instant {
        self.ends
    }

    fn left(&self) -> Duration {
        self.ends.saturating_duration_since(Instant::now())
    }

    /// Waits as long as wanted, or not at all.
    pub(crate) fn wait_whole(&mut self, wanted: Duration) -> bool {
        let time = self.last.saturating_duration_since(Instant::now());
        let is_possible = wanted <= time.min(self.patience.saturating_sub(self.waited));
        is_possible && (wanted.is_zero() || self.wait(wanted).is_some())
    }

    /// How much of a wait there is patience and time for; the call's end moves by it. `None`: no more.
    pub(crate) fn wait(&mut self, wanted: Duration) -> Option<Duration> {
        let time = self.last.saturating_duration_since(Instant::now());
        let wait = wanted.min(self.patience.saturating_sub(self.waited)).min(time);
        if wait.is_zero() {
            return None;
        }
        self.waited += wait;
        self.ends = (self.ends + wait).min(self.last);
        Some(wait)
    }
}

/// What the user sees while a service is waited for.
pub(crate) fn waits(request: &AgentRequest, wait: Duration, reason: String) -> Event {
    let (place, seconds) = (request.place.clone(), wait.as_secs_f64());
    Event::AgentWaits { place, agent: request.agent, seconds, reason }
}

fn failed(reason: String, usage: Usage, lookups: Vec<Lookup>) -> AgentReply {
    AgentReply { lookups, ..AgentReply::failed(reason, usage) }
}

/// One second, two, four, … a minute, each shortened at random by up to half, so that many callers do not
/// come back at the same moment.
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

    #[test]
    fn patience_and_time_bound_the_waiting() {
        let seconds = Duration::from_secs;
        let clock = |patience: u64, left: u64| Clock {
            ends: Instant::now() + seconds(10),
            last: Instant::now() + seconds(left),
            patience: seconds(patience),
            waited: Duration::ZERO,
        };
        let mut impatient = clock(5, 1000);
        let ends = impatient.ends();
        assert_eq!(impatient.wait(seconds(4)), Some(seconds(4)));
        assert_eq!(impatient.ends(), ends + seconds(4));
        assert_eq!(impatient.wait(seconds(4)), Some(seconds(1)));
        assert_eq!(impatient.wait(seconds(4)), None);
        let mut late = clock(3600, 10);
        assert!(late.wait(seconds(60)).unwrap() <= seconds(10));
        assert_eq!(late.ends(), late.last);
        assert_eq!(clock(3600, 0).wait(seconds(1)), None);
        let mut whole = clock(5, 1000);
        assert!(!whole.wait_whole(seconds(6)), "no part of it is used up");
        assert!(
            whole.wait_whole(seconds(5)) && whole.wait_whole(seconds(0)) && !whole.wait_whole(seconds(1))
        );
    }
}
