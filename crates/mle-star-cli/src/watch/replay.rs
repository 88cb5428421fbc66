//! Events that a resumed run repeats.
//!
//! The events of a resumed run begin with those of earlier processes. [`Replay`] decides which of them the terminal
//! leaves out: those of steps that were replayed whole, and those before the first new step. Event files and streams
//! have all.

use std::collections::HashSet;

use mle_star::event::Event;
use mle_star_domain::place::{Phase, Place};

/// The events so far. The default is for a run that was not resumed.
#[derive(Debug, Default)]
pub struct Replay {
    is_resumed: bool,
    /// Whether a new effect has begun.
    has_begun: bool,
    /// The last phase, as long as no new effect has begun.
    phase: Option<Phase>,
    /// Steps with a replayed effect.
    known: HashSet<Place>,
    /// Steps with a new effect.
    fresh: HashSet<Place>,
}

/// The shown parts of an event.
#[derive(Debug, PartialEq, Eq)]
pub struct Passed {
    /// The phase of the first new effect, to be shown first.
    pub phase: Option<Phase>,
    /// Whether the event itself is shown.
    pub is_shown: bool,
}

impl Replay {
    /// Processes an event and returns what is shown of it.
    pub fn take(&mut self, event: &Event) -> Passed {
        if let Event::RunStarted(outline) = event {
            *self = Self { is_resumed: outline.resumed, ..Self::default() };
        }
        if !self.is_resumed {
            return Passed { phase: None, is_shown: true };
        }
        let phase = self.note(event);
        Passed { phase, is_shown: self.is_shown(event) }
    }

    /// Sorts steps into replayed and new; returns the phase in which the first new effect begins.
    fn note(&mut self, event: &Event) -> Option<Phase> {
        match event {
            Event::AgentStarted { place, .. } | Event::ScriptStarted { place, .. } => {
                self.fresh.extend(steps_of(place));
                self.has_begun = true;
                self.phase.take()
            }
            Event::AgentEnded { place, replayed: true, .. }
            | Event::ScriptEnded { place, replayed: true, .. } => {
                self.known.extend(steps_of(place));
                None
            }
            Event::PhaseStarted { phase } if !self.has_begun => {
                self.phase = Some(*phase);
                None
            }
            _ => None,
        }
    }

    fn is_shown(&self, event: &Event) -> bool {
        let is_new =
            |place: &Place| self.fresh.contains(place) || self.has_begun && !self.known.contains(place);
        match event {
            Event::AgentEnded { replayed, .. }
            | Event::ScriptEnded { replayed, .. }
            | Event::Finding { replayed, .. }
            | Event::Look { replayed, .. } => !replayed,
            Event::PhaseStarted { .. } => self.has_begun,
            Event::StepStarted { place, .. } | Event::StepEnded { place, .. } => is_new(&place.place()),
            Event::Skipped { place, .. } => is_new(place),
            // Events about the whole run are those of this process.
            Event::PhaseEnded { .. } | Event::PathEnded { .. } | Event::Answer { .. } => self.has_begun,
            Event::Warning { place, .. } | Event::Info { place, .. } => {
                place.as_str().is_empty() || is_new(place)
            }
            _ => true,
        }
    }
}

/// A place and all above it.
fn steps_of(place: &Place) -> impl Iterator<Item = Place> + use<> {
    std::iter::successors(Some(place.clone()), |place| {
        Some(place.parent()).filter(|above| !above.as_str().is_empty())
    })
}

#[cfg(test)]
mod tests {
    use mle_star::event::Outline;
    use mle_star::testing::frozen;
    use serde_json::{Value, json};

    use super::*;

    /// The shown events, each as a word and a place.
    fn shown(resumed: bool, events: &[Value]) -> Vec<String> {
        let outline = Outline::new(&frozen(), resumed, 1.0, mle_star_domain::effects::Usage::free());
        let started = Event::RunStarted(Box::new(outline));
        let events = events.iter().map(|event| serde_json::from_value(event.clone()).unwrap());
        let mut replay = Replay::default();
        let mut shown = Vec::new();
        for event in std::iter::once(started).chain(events) {
            let passed = replay.take(&event);
            shown.extend(passed.phase.map(|phase| format!("phase {}", phase.name())));
            let json = serde_json::to_value(&event).unwrap();
            let word =
                ["place", "phase", "text"].iter().find_map(|key| json[*key].as_str()).unwrap_or_default();
            if passed.is_shown && !word.is_empty() {
                shown.push(format!("{} {word}", json["event"].as_str().unwrap()));
            }
        }
        shown
    }

    fn phase(name: &str) -> Value {
        json!({"event": "phase_started", "phase": name})
    }

    fn script(place: &str, replayed: bool) -> Value {
        let (seconds, score, failure) = (1.0, 0.5, Value::Null);
        json!({"event": "script_ended", "place": place, "seconds": seconds, "score": score, "failure": failure,
            "replayed": replayed})
    }

    fn begun(place: &str) -> Value {
        json!({"event": "script_started", "place": place, "timeout": 0.0})
    }

    fn step(place: &str) -> Value {
        json!({"event": "step_ended", "place": place, "score": 0.5, "kept": true, "note": ""})
    }

    fn warning(place: &str) -> Value {
        json!({"event": "warning", "place": place, "text": place})
    }

    #[test]
    fn only_what_is_new_scrolls() {
        let events = [
            json!({"event": "said", "text": "opening"}),
            warning(""),
            phase("phase1"),
            script("phase1/candidate-0/run", true),
            warning("phase1/candidate-0"),
            step("phase1/candidate-0"),
            phase("phase2"),
            script("phase2/path-0/t0/run", true),
            script("phase2/path-0/t0/k0/run", true),
            step("phase2/path-0/t0/k0"),
            begun("phase2/path-0/t0/k1/run"),
            script("phase2/path-1/t0/k0/run", true),
            step("phase2/path-1/t0/k0"),
            warning("phase2/path-1/t0/k0"),
            begun("phase2/path-1/t0/k1/run"),
            script("phase2/path-0/t0/k1/run", false),
            step("phase2/path-0/t0/k1"),
            step("phase2/path-0/t0"),
            step("phase2/path-0/t1"),
            phase("phase3"),
        ];
        assert_eq!(
            shown(true, &events),
            [
                "said opening",
                "phase phase2",
                "script_started phase2/path-0/t0/k1/run",
                "script_started phase2/path-1/t0/k1/run",
                "script_ended phase2/path-0/t0/k1/run",
                "step_ended phase2/path-0/t0/k1",
                "step_ended phase2/path-0/t0",
                "step_ended phase2/path-0/t1",
                "phase_started phase3",
            ]
        );
        let all = events.len() - 1;
        assert_eq!(shown(false, &events).len(), all, "all but the warning without a place");
    }
}
