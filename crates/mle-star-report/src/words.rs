//! Names of places, steps, phases and agents for people.

use std::collections::BTreeMap;

use mle_star::event::{Done, Event, ProgressMeasure};
use mle_star::verdict::{Verdict, Verdicts};
use mle_star_domain::place::{Phase, Place, Step};

use crate::sanitize::first_line;

/// How far a run is: `42 % of the time`.
pub fn done_words(done: Done) -> String {
    let of = match done.of {
        ProgressMeasure::Time => "time",
        ProgressMeasure::Money => "money",
        ProgressMeasure::Steps => "steps",
    };
    format!("{} % of the {of}", done.percent)
}

/// The models that steps try: people know these steps by them.
#[derive(Clone, Debug, Default)]
pub struct Models(BTreeMap<Step, String>);

impl Models {
    /// The models of the steps that ended with a score.
    pub fn of(verdicts: &Verdicts) -> Self {
        Self(verdicts.iter().filter_map(|(step, verdict)| Self::tried(*step, verdict)).collect())
    }

    /// Learns the model that an event names.
    pub fn take(&mut self, event: &Event) {
        self.0.extend(match event {
            Event::Model { place, name } => Some((*place, in_line(name))),
            Event::StepEnded { place, verdict } => Self::tried(*place, verdict),
            _ => None,
        });
    }

    /// The verdict on a model names it.
    fn tried(step: Step, verdict: &Verdict) -> Option<(Step, String)> {
        let tries = matches!(step, Step::Candidate(_) | Step::Extra(_)) && verdict.score.is_some();
        (tries && !verdict.note.is_empty()).then(|| (step, in_line(&verdict.note)))
    }

    /// A step for people: its model, else its name.
    pub fn step(&self, step: Step) -> String {
        self.0.get(&step).cloned().unwrap_or_else(|| step.title())
    }

    /// A place for people: `LightGBM, repair 1`, `path 1, step 2, attempt 3`.
    pub fn place(&self, place: &Place) -> String {
        let name = match (place.step(), place.path(), place.phase()) {
            _ if place.is_within(&Place::tables()) => "comparison of the tables".to_owned(),
            _ if let Some(probe) = place.probe_name() => probe_words(probe),
            _ if place.is_importance() => "importance of columns".to_owned(),
            (Some(step), _, _) => self.step(step),
            (None, Some(path), _) => format!("path {}", path + 1),
            (None, None, Some(phase)) => phase.title().to_owned(),
            (None, None, None) => "run".to_owned(),
        };
        place.repair().map_or_else(|| name.clone(), |repair| format!("{name}, repair {repair}"))
    }
}

/// A place for people, if no models are known: `path 1, step 2, attempt 3`.
pub fn place_name(place: &Place) -> String {
    Models::default().place(place)
}

/// A probe for people: `probe with shuffled target`.
fn probe_words(name: &str) -> String {
    match name {
        "fits" => "probe with watched fits".to_owned(),
        other => format!("probe with {}", other.replace('-', " ")),
    }
}

/// `Phase 1: initial solution`.
pub fn phase_title(phase: Phase) -> String {
    match phase.name().strip_prefix("phase") {
        Some(number) => format!("Phase {number}: {}", phase.title()),
        None => "Finalization".to_owned(),
    }
}

/// ` on near-1`; nothing for this machine.
pub fn on_runner(runner: Option<&str>) -> String {
    runner.map_or_else(String::new, |name| format!(" on {}", in_line(name)))
}

/// The first line of a text, shortened to fit beside other words.
pub fn in_line(text: &str) -> String {
    first_line(text, 120)
}
