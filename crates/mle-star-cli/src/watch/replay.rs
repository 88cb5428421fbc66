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
pub struct ShownEvent {
    /// The phase of the first new effect, to be shown first.
    pub phase: Option<Phase>,
    /// Whether the event itself is shown.
    pub is_shown: bool,
}

impl Replay {
    /// Processes an event and returns what is shown of it.
    pub fn take(&mut self, event: &Event) -> ShownEvent {
        if let Event::RunStarted(outline) = event {
            *self = Self { is_resumed: outline.resumed, ..Self::default() };
        }
        if !self.is_resumed {
            return ShownEvent { phase: None, is_shown: true };
        }
        let phase = self.note(event);
        ShownEvent { phase, is_shown: self.is_shown(event) }
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
