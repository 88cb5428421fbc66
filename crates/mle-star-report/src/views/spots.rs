//! The dots of charts: the tooltip of each, and the solution that it links to.

use mle_star_domain::place::Place;

use super::context::Context;
use super::steps::{Step, node_id};
use crate::chart::Spot;
use crate::figures::with_interval;
use crate::sanitize::escape;
use crate::words::place_name;

/// The dot of the solution at a place.
pub fn spot_at(context: &Context<'_>, place: &Place) -> Spot {
    let step = place.step().and_then(|step| context.steps.at(step));
    step.map_or_else(|| Spot { target: node_id(place), says: place_name(place) }, spot)
}

/// The dot of a step's solution: its place and its score with the interval. The rest stands in the list of solutions.
pub fn spot(step: &Step<'_>) -> Spot {
    let score = step.scored().and_then(|run| {
        let interval = run.outcome.as_ref().and_then(|outcome| outcome.measured.as_ref()?.interval);
        Some(with_interval(run.score?.value(), interval))
    });
    let parts = [Some(place_name(&step.place)), score];
    let says = parts.into_iter().flatten().collect::<Vec<_>>().join(": ");
    Spot { target: node_id(&step.place), says: escape(&says) }
}
