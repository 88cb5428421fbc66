//! `A_abl` (Figure 12): a script that switches parts of the solution off and measures each.

use serde_json::{Value, json};

use super::attempts::outcomes;
use super::ensembler::run_of;
use crate::call::Call;
use crate::ctx::Ctx;
use crate::reply;
use crate::result::StepRecord;
use crate::scored::Scored;
use crate::solution::{Solution, SolutionPhase};
use crate::stop::Stop;
use mle_star_domain::place::Step;
use mle_star_domain::protocol::Protocol;
use mle_star_domain::role::AgentType;

/// Where the paths look first, one after another, so that no two of their steps begin alike.
const ATTENTION: [&str; 8] = [
    "how the features are made: encodings, missing values, combinations, information that is not used",
    "the models: their kind, their loss, how they are regularized and how long they are trained",
    "how the data is used for training: weights, rows, augmentation, folds",
    "what happens to the predictions: calibration, limits, rounding, blending",
    "the target: its distribution, a transformation of it, rare and extreme values, what the metric rewards",
    "rows that belong together: groups, neighbours, duplicates",
    "the quality of the data: wrong values, outliers, duplicates, units, texts and dates that are read badly",
    "how stable the solution is: several seeds, columns that only overfit, models of another kind beside its own",
];

/// The same where the rows to predict are later.
const ATTENTION_IN_TIME: [&str; 8] = [
    "level and drift: how the latest level of each series, or of all rows, enters the predictions, and how much recent rows count",
    "what comes back and what is known in advance: week, year, holidays, events, planned values",
    "the history: lags and windows at the distance of the rows to predict, statistics of a series that end before them",
    "the models: their kind, their loss, how they are regularized, one for all series or several",
    "the target: a transformation of it, its ratio to the level, zeros and rare extremes, what the metric rewards",
    "how the data is used for training: how far it reaches back, weights, unusual periods",
    "what happens to the predictions: a correction of the level, limits, rounding, blending",
    "how stable the solution is from fold to fold: several seeds, columns that only overfit, models of another kind beside its own",
];

/// How what is looked at of the predictions begins.
const OF_PREDICTIONS: &str = "what happens to the predictions";
/// What is looked at in place of the predictions' size where their order counts alone.
const IN_ORDER: &str =
    "how predictions are combined: several models, seeds or views of the data, in ranks or in probabilities";

/// What is looked at second where further tables can be joined.
const LINKED_TABLES: &str = "the tables that can be joined: what they tell of a row, counts and statistics of their rows, what is not used yet";

/// Length of what is told of a plan, in characters.
const SHORT: usize = 400;

/// The ablation script. Its text is empty if the reply had no code; an empty script fails when it runs.
pub(crate) async fn ablation(
    ctx: &Ctx<'_>,
    current: &Scored,
    steps: &[StepRecord],
) -> Result<Solution, Stop> {
    let summaries = StepRecord::summaries(steps);
    let inputs = json!({"solution_script": current.text(), "previous_ablations": summaries});
    let outcomes = steps.iter().flat_map(|step| outcomes(&step.inner_loop_attempts, SHORT));
    let outcomes = outcomes.map(|(plan, outcome)| json!({"plan": plan, "outcome": outcome}));
    let call = Call::new(AgentType::Ablation, "ablation.md", inputs)
        .telling("current", run_of(current))
        .telling("outcomes", outcomes.collect::<Value>())
        .telling("attention", attention(ctx));
    let answer = ctx.ask(call).await?;
    Ok(Solution::new(reply::code(&answer).unwrap_or_default(), SolutionPhase::Refined))
}

/// Where this path looks first in this outer step; empty if there is only one path.
pub(super) fn attention(ctx: &Ctx<'_>) -> String {
    let paths = ctx.config().num_parallel_solutions;
    let later = ctx.protocol().is_some_and(Protocol::tests_later);
    let by_order = ctx.protocol().is_some_and(|protocol| protocol.by_order);
    match ctx.place().step() {
        // Later steps look at what no path has looked at yet, as long as there is such a thing.
        Some(Step::Outer { path, outer }) if paths > 1 => looks_first(
            (path + outer * paths) as usize,
            &places(later, ctx.run.frozen.linked_tables, by_order),
        ),
        _ => String::new(),
    }
}

/// What the paths look at, in order: what tells most for such a task comes first.
fn places(later: bool, linked: bool, by_order: bool) -> Vec<&'static str> {
    let mut places = if later { ATTENTION_IN_TIME.to_vec() } else { ATTENTION.to_vec() };
    for place in places.iter_mut().filter(|place| by_order && place.starts_with(OF_PREDICTIONS)) {
        *place = IN_ORDER;
    }
    if linked {
        places.insert(1, LINKED_TABLES);
    }
    places
}

/// Where the search with this number looks first. If there are more searches than places to look at, the later ones look at
/// two of them.
fn looks_first(number: usize, places: &[&str]) -> String {
    let (time, first) = (number / places.len(), number % places.len());
    let second = (first + time) % places.len();
    if first == second {
        return places[first].to_owned();
    }
    format!("{}; then {}", places[first], places[second])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{ATTENTION, IN_ORDER, looks_first, places};

    #[test]
    fn searches_look_at_different_things() {
        for bits in 0..8 {
            let [later, linked, by_order] = [1, 2, 4].map(|bit| bits & bit != 0);
            let (places, kinds) = (places(later, linked, by_order), if linked { 9 } else { 8 });
            let all: BTreeSet<String> =
                (0..kinds * kinds).map(|number| looks_first(number, &places)).collect();
            assert_eq!((places.len(), all.len()), (kinds, kinds * kinds));
            assert_eq!(places.contains(&IN_ORDER), by_order);
        }
        assert_eq!(looks_first(9, &ATTENTION), format!("{}; then {}", ATTENTION[1], ATTENTION[2]));
        assert_eq!(looks_first(64, &ATTENTION), ATTENTION[0]);
    }
}
