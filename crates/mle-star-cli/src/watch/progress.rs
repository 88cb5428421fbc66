//! What runs now: the state behind the terminal's live line.

use std::collections::BTreeMap;
use std::time::Instant;

use mle_star::effects::Usage;
use mle_star::event::Event;
use mle_star::place::{Phase, Place};

use crate::money;

use super::words::{Ended, agent_name, duration, number, phase_title, place_name};

/// What a running script is called.
const SCRIPT: &str = "script";

/// The run as its events tell it.
pub struct Progress {
    /// When this process began to work on the run; the time before, such as for making an environment, is free.
    started: Option<Instant>,
    elapsed_before: f64,
    phase: Option<Phase>,
    best: Option<f64>,
    best_at: Option<Place>,
    running: BTreeMap<Place, Effect>,
    steps: BTreeMap<Place, Instant>,
    spent: Usage,
    max_usd: Option<f64>,
}

/// What earlier processes did for the run, and what it may cost.
#[derive(Clone, Copy, Debug)]
pub struct Before {
    /// Seconds.
    pub elapsed: f64,
    /// Money and tokens.
    pub spent: Usage,
    /// The run's money limit in US dollars.
    pub max_usd: Option<f64>,
}

struct Effect {
    name: String,
    since: Instant,
    timeout: f64,
}

impl Before {
    /// Nothing was done yet, and money does not matter.
    pub fn nothing() -> Self {
        Self { elapsed: 0.0, spent: Usage::free(), max_usd: None }
    }
}

impl Progress {
    /// A run of which `before` was done by earlier processes.
    pub fn new(before: Before) -> Self {
        Self {
            started: None,
            elapsed_before: before.elapsed,
            spent: before.spent,
            max_usd: before.max_usd,
            phase: None,
            best: None,
            best_at: None,
            running: BTreeMap::new(),
            steps: BTreeMap::new(),
        }
    }

    /// Takes in an event; tells what is known about it when it ends a step.
    pub fn take(&mut self, event: &Event) -> Ended {
        match event {
            Event::PhaseStarted { phase } => {
                self.started.get_or_insert_with(Instant::now);
                self.phase = Some(*phase);
            }
            Event::StepStarted { place, .. } => {
                self.steps.insert(place.clone(), Instant::now());
            }
            Event::StepEnded { place, .. } => {
                let began = self.steps.remove(place);
                let seconds = began.map(|began| began.elapsed().as_secs_f64());
                return Ended { seconds, is_best: self.best_at.as_ref() == Some(place) };
            }
            Event::AgentStarted { place, agent, timeout, .. } => {
                self.begin(place, agent_name(*agent), *timeout);
            }
            Event::ScriptStarted { place, timeout } => self.begin(place, SCRIPT.to_owned(), *timeout),
            Event::AgentEnded { place, usage, replayed, .. } => {
                self.running.remove(place);
                if !replayed {
                    self.spent = self.spent + *usage;
                }
            }
            Event::ScriptEnded { place, .. } | Event::Skipped { place, .. } => {
                self.running.remove(place);
            }
            Event::Best { place, score, .. } => {
                self.best = Some(*score);
                self.best_at = Some(place.clone());
            }
            Event::AgentWaits { place, agent, seconds, .. } => {
                self.begin(place, format!("{} waits for the service", agent_name(*agent)), *seconds);
            }
            Event::ToolUsed { .. } | Event::Warning { .. } => {}
        }
        Ended::default()
    }

    /// Seconds of the whole run.
    pub fn elapsed(&self) -> f64 {
        self.elapsed_before + self.started.map_or(0.0, |started| started.elapsed().as_secs_f64())
    }

    /// Elapsed, phase, best score, what runs and for how long: one line, what matters least at its end.
    pub fn line(&self) -> String {
        let phase = self.phase.map(phase_title);
        let best = self.best.map(|best| format!("best {}", number(best)));
        let elapsed = Some(duration(self.elapsed()));
        [elapsed, phase, best, self.money(), self.effect()]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" · ")
    }

    /// How many agents are being asked, and how many scripts run.
    pub fn at_work(&self) -> (usize, usize) {
        let scripts = self.running.values().filter(|effect| effect.name == SCRIPT).count();
        (self.running.len() - scripts, scripts)
    }

    /// `$1.23 of $5.00 · 120k tokens`; nothing about money where none was needed.
    fn money(&self) -> Option<String> {
        if money::is_free(&self.spent) {
            return None;
        }
        let tokens = money::all_tokens(&self.spent);
        let of = self.max_usd.map_or_else(String::new, |max| format!(" of {}", money::usd(max)));
        let cost = self.spent.cost_usd.map_or_else(|| "cost unknown".to_owned(), money::usd);
        Some(format!("{cost}{of} · {} tokens", money::tokens(tokens)))
    }

    /// The effect that has run longest, and how many others there are.
    fn effect(&self) -> Option<String> {
        let (place, effect) = self.running.iter().min_by_key(|(_, effect)| effect.since)?;
        let others = match self.running.len() {
            1 => String::new(),
            running => format!(" (+{} more)", running - 1),
        };
        let for_how_long = duration(effect.since.elapsed().as_secs_f64());
        let of =
            if effect.timeout > 0.0 { format!(" of {}", duration(effect.timeout)) } else { String::new() };
        Some(format!("{}: {} {for_how_long}{of}{others}", place_name(place), effect.name))
    }

    fn begin(&mut self, place: &Place, name: String, timeout: f64) {
        self.running.insert(place.clone(), Effect { name, since: Instant::now(), timeout });
    }
}

#[cfg(test)]
mod tests {
    use mle_star::agents::AgentType;

    use super::*;

    #[test]
    fn the_clock_starts_with_the_first_phase() {
        let mut progress = Progress::new(Before { elapsed: 90.0, ..Before::nothing() });
        let before = progress.elapsed();
        let begun = Instant::now();
        while begun.elapsed().is_zero() {}
        assert_eq!(progress.elapsed().to_bits(), before.to_bits());
        assert_eq!(progress.line(), "1m 30s");
        progress.take(&Event::PhaseStarted { phase: Phase::Phase1 });
        while progress.elapsed() <= before {}
        let started = progress.started;
        progress.take(&Event::PhaseStarted { phase: Phase::Phase2 });
        assert_eq!(progress.started, started);
    }

    #[test]
    fn the_line_follows_the_events() {
        let mut progress = Progress::new(Before::nothing());
        let place = || Place::from("phase1/candidate-0/init");
        progress.take(&Event::PhaseStarted { phase: Phase::Phase1 });
        progress.take(&Event::AgentStarted {
            place: place(),
            agent: AgentType::Init,
            variant: None,
            timeout: 0.0,
        });
        progress.take(&Event::ScriptStarted { place: Place::from("phase1/candidate-1/run"), timeout: 60.0 });
        progress.take(&Event::Best { place: place(), score: 0.5, from: None });
        let line = progress.line();
        for part in [
            "Phase 1: initial solution",
            "candidate 1: init 0.0 s (+1 more)",
            "best 0.50000",
            "0.0 s · Phase",
        ] {
            assert!(line.contains(part), "{line}");
        }
        let usage = Usage::default();
        let (seconds, failure, replayed) = (0.0, None, false);
        progress.take(&Event::AgentEnded {
            place: place(),
            agent: AgentType::Init,
            seconds,
            usage,
            failure,
            replayed,
        });
        assert!(progress.line().contains("candidate 2: script 0.0 s of 1m 00s"), "{}", progress.line());
    }

    #[test]
    fn money_is_told_where_it_is_spent_and_an_unknown_cost_is_unknown() {
        let usage = |cost_usd, input| Usage { cost_usd, input, ..Usage::default() };
        let check = |before: Before, calls: &[(Usage, bool)], expected: &str| {
            let mut progress = Progress::new(before);
            for (usage, replayed) in calls {
                progress.take(&Event::AgentEnded {
                    place: Place::from("phase1/retriever"),
                    agent: AgentType::Retriever,
                    seconds: 0.0,
                    usage: *usage,
                    failure: None,
                    replayed: *replayed,
                });
            }
            assert_eq!(progress.money().as_deref().unwrap_or_default(), expected, "{calls:?}");
        };
        let capped = Before { max_usd: Some(5.0), ..Before::nothing() };
        let resumed = Before { spent: usage(Some(1.0), 500), ..capped };
        check(Before::nothing(), &[], "");
        check(capped, &[(Usage::free(), false)], "");
        check(Before::nothing(), &[(usage(Some(0.5), 120_000), false)], "$0.50 · 120k tokens");
        check(
            capped,
            &[(usage(Some(0.5), 10), false), (usage(Some(0.73), 10), false)],
            "$1.23 of $5.00 · 20 tokens",
        );
        check(
            capped,
            &[(usage(Some(0.5), 10), false), (usage(None, 10), false)],
            "cost unknown of $5.00 · 20 tokens",
        );
        check(
            resumed,
            &[(usage(Some(1.0), 500), true), (usage(Some(1.0), 500), false)],
            "$2.00 of $5.00 · 1.0k tokens",
        );
    }
}
