//! The time from the last effect of a phase to the first of the next one.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use mle_star::event::{Event, EventSink};
use mle_star::journal::Journal;
use mle_star::slots::Slots;
use mle_star::testing::{World, frozen};

use crate::{AGENT, Failure, run_in};

/// How many runs are measured.
const RUNS: usize = 20;
/// The longest that a transition may take.
const ALLOWED: Duration = Duration::from_millis(100);

/// When effects ended and began, and when phases did.
#[derive(Default)]
struct Clock(Mutex<Vec<(Instant, Moment)>>);

enum Moment {
    Began,
    Ended,
    Phase,
}

impl EventSink for Clock {
    fn emit(&self, event: Event) {
        let moment = match event {
            Event::AgentStarted { .. } | Event::ScriptStarted { .. } => Moment::Began,
            Event::AgentEnded { .. } | Event::ScriptEnded { .. } => Moment::Ended,
            Event::PhaseStarted { .. } => Moment::Phase,
            _ => return,
        };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((Instant::now(), moment));
    }
}

impl Clock {
    /// The time that each phase but the first took to begin.
    fn transitions(self) -> Vec<Duration> {
        let moments = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        let transition = |at: usize| {
            let (before, after) = moments.split_at(at);
            let Some((_, Moment::Phase)) = after.first() else { return None };
            let (ended, _) = before.iter().rfind(|(_, moment)| matches!(moment, Moment::Ended))?;
            let (began, _) = after.iter().find(|(_, moment)| matches!(moment, Moment::Began))?;
            Some(began.duration_since(*ended))
        };
        (0..moments.len()).filter_map(transition).collect()
    }
}

/// Prints the longest transition; fails when one takes longer than [`ALLOWED`].
pub async fn transitions() -> Result<(), Failure> {
    let mut longest = Duration::ZERO;
    for _ in 0..RUNS {
        let (folder, inputs, clock) = (tempfile::tempdir()?, frozen(), Clock::default());
        let journal = Journal::create(folder.path(), &inputs)?;
        let world = World::new().agents_take(AGENT).only_traces();
        run_in(&world, &inputs, &journal, &clock, &Slots::new(1), &Slots::new(8)).await?;
        let transitions = clock.transitions();
        if transitions.len() != 3 {
            return Err(format!("{} transitions instead of three", transitions.len()).into());
        }
        longest = transitions.into_iter().chain([longest]).max().unwrap_or_default();
    }
    println!("longest of {} transitions between phases: {:.1} ms", 3 * RUNS, longest.as_secs_f64() * 1e3);
    if longest > ALLOWED { Err(format!("longer than {ALLOWED:?}").into()) } else { Ok(()) }
}
