//! Names of places, steps, phases and agents for people.

use mle_star::event::{Done, DoneOf};
use mle_star_domain::place::{Phase, Place};
use mle_star_domain::role::AgentType;

use crate::sanitize::first_line;

/// How far a run is: `42 % of the time`.
pub fn done_words(done: Done) -> String {
    let of = match done.of {
        DoneOf::Time => "time",
        DoneOf::Money => "money",
        DoneOf::Steps => "steps",
    };
    format!("{} % of the {of}", done.percent)
}

/// A place for people: `path 1, step 2, attempt 3`.
pub fn place_name(place: &Place) -> String {
    let name = match (place.step(), place.path(), place.phase()) {
        _ if place.is_within(&Place::tables()) => "comparison of the tables".to_owned(),
        _ if let Some(probe) = place.probe_name() => probe_words(probe),
        _ if place.is_importance() => "importance of columns".to_owned(),
        (Some(step), _, _) => step.title(),
        (None, Some(path), _) => format!("path {}", path + 1),
        (None, None, Some(phase)) => phase.title().to_owned(),
        (None, None, None) => "run".to_owned(),
    };
    place.repair().map_or_else(|| name.clone(), |repair| format!("{name}, repair {repair}"))
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

/// An agent's name as in files: `retriever`, `ens_planner`.
pub fn agent_name(agent: AgentType) -> String {
    serde_json::to_value(agent).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
}

/// ` on near-1`; nothing for this machine.
pub fn on_runner(runner: Option<&str>) -> String {
    runner.map_or_else(String::new, |name| format!(" on {}", in_line(name)))
}

/// The first line of a text, shortened to fit beside other words.
pub fn in_line(text: &str) -> String {
    first_line(text, 120)
}
