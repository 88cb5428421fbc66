//! `A_abl` (Figure 12): a script that switches parts of the solution off and measures each.

use serde_json::{Value, json};

use super::attempts::outcomes;
use super::ensembler::run_of;
use crate::call::Call;
use crate::ctx::Ctx;
use crate::lessons::shortened;
use crate::reply;
use crate::result::StepRecord;
use crate::scored::Scored;
use crate::solution::{Solution, SolutionPhase};
use crate::stop::Stop;
use mle_star_domain::place::Step;
use mle_star_domain::role::AgentType;

/// Where the paths look first, one after another, so that no two of their steps begin alike.
const ATTENTION: [&str; 8] = [
    "how the features are made: encodings, missing values, combinations, information that is not used",
    "the models: their kind, their loss, how they are regularized and how long they are trained",
    "how the data is used for training: weights, rows, augmentation, folds",
    "what happens to the predictions: calibration, limits, rounding, blending",
    "the target: its distribution, a transformation of it, rare and extreme values, what the metric rewards",
    "rows that belong together: groups, neighbours, order in time, tables that can be joined",
    "the quality of the data: wrong values, outliers, duplicates, units, texts and dates that are read badly",
    "how stable the solution is: several seeds, columns that only overfit, models of another kind beside its own",
];

/// The ablation script. Its text is empty if the reply had no code; an empty script fails when it runs.
pub(crate) async fn ablation(
    ctx: &Ctx<'_>,
    current: &Scored,
    steps: &[StepRecord],
) -> Result<Solution, Stop> {
    let summaries = StepRecord::summaries(steps);
    let inputs = json!({"solution_script": current.text(), "previous_ablations": summaries});
    let attempts = steps.iter().flat_map(|step| outcomes(&step.inner_loop_attempts));
    let outcomes =
        attempts.map(|(attempt, outcome)| json!({"plan": shortened(&attempt.plan), "outcome": outcome}));
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
    match ctx.place().step() {
        // Later steps look at what no path has looked at yet, as long as there is such a thing.
        Some(Step::Outer { path, outer }) if paths > 1 => looks_first((path + outer * paths) as usize),
        _ => String::new(),
    }
}

/// Where the search with this number looks first. If there are more searches than places to look at, the later ones look at
/// two of them.
fn looks_first(number: usize) -> String {
    let (time, first) = (number / ATTENTION.len(), number % ATTENTION.len());
    let second = (first + time) % ATTENTION.len();
    if first == second {
        return ATTENTION[first].to_owned();
    }
    format!("{}; then {}", ATTENTION[first], ATTENTION[second])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{ATTENTION, looks_first};

    #[test]
    fn searches_look_at_different_things() {
        let all: BTreeSet<String> = (0..64).map(looks_first).collect();
        assert_eq!(all.len(), 64);
        assert_eq!((0..8).map(looks_first).collect::<Vec<_>>(), ATTENTION);
        assert_eq!(looks_first(9), format!("{}; then {}", ATTENTION[1], ATTENTION[2]));
        assert_eq!(looks_first(64), ATTENTION[0]);
    }
}
