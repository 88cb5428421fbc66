//! Earlier attempts, as later agents are told about them.

use serde::Serialize;
use serde_json::{Value, json};

use crate::evaluation::Failure;
use crate::lessons::{diff, gained, number, seconds};
use crate::plans::news;
use crate::result::{AttemptEffect, RefinementAttempt};
use crate::solution::Solution;
use mle_star_domain::effects::Limit;

/// Maximum length of what planners and coders are told of a plan, in characters.
const LONGEST_PLAN: usize = 800;
const SHORT_PLAN: usize = 200;

/// A plan that was tried.
pub(super) struct Tried<'a> {
    pub plan: &'a str,
    /// `None` if it failed.
    pub score: Option<f64>,
}

/// A repair that was tried: the error before it, and what it changed.
#[derive(Serialize)]
pub(crate) struct Repair {
    error: String,
    diff: String,
}

/// The plans of a history.
pub(super) fn plans<'a>(tried: &[Tried<'a>]) -> Vec<&'a str> {
    tried.iter().map(|tried| tried.plan).collect()
}

/// The scores of a history.
pub(super) fn scores(tried: &[Tried<'_>]) -> Vec<Option<f64>> {
    tried.iter().map(|tried| tried.score).collect()
}

/// Plans with their scores under a heading, as in the paper; a plan without a score failed.
pub(super) fn history(heading: &str, tried: &[Tried<'_>]) -> String {
    let one = |Tried { plan, score }: &Tried<'_>| {
        // As Python prints floats: 0.82, 1.0.
        let score = score.map_or("N/A (evaluation failed)".to_owned(), |score| format!("{score:?}"));
        format!("## Plan: {plan}\n## Score: {score}")
    };
    std::iter::once(heading.to_owned()).chain(tried.iter().map(one)).collect::<Vec<_>>().join("\n\n")
}

/// What is new in the plan of each attempt of a step that has ended, in about `most` characters, and what became of it. Every
/// attempt starts from the solution that the step began with, so only the last one that was kept is part of the solution.
pub(super) fn outcomes(
    attempts: &[RefinementAttempt],
    most: usize,
) -> impl Iterator<Item = (String, String)> {
    let last = attempts.iter().rposition(|attempt| attempt.was_improvement);
    attempts.iter().enumerate().map(move |(index, attempt)| {
        let kept = if Some(index) == last { "kept" } else { "kept until a later attempt replaced it" };
        (new_part(attempts, index, most), outcome(attempt, &attempts[..index], kept))
    })
}

/// What the plan of an attempt says that those before it do not, in about `most` characters.
fn new_part(attempts: &[RefinementAttempt], index: usize, most: usize) -> String {
    news(&attempts[index].plan, attempts[..index].iter().map(|attempt| attempt.plan.as_str()), most)
}

/// What became of an attempt that came after `earlier` ones, in one line; `kept` says it of one that became the best solution.
fn outcome(attempt: &RefinementAttempt, earlier: &[RefinementAttempt], kept: &str) -> String {
    let effect = &attempt.effect;
    let was_better = |gain: f64| earlier.iter().any(|one| one.effect.gain.is_some_and(|other| other >= gain));
    let Some(score) = attempt.score else { return failed(attempt.limit, effect) };
    let kept = match (attempt.was_improvement, effect.gain) {
        (true, _) => kept,
        (false, Some(gain)) if gain > effect.standard_error.unwrap_or(0.0) && was_better(gain) => {
            "not kept because an earlier attempt was better"
        }
        (false, _) => "not kept",
    };
    scored(score, effect, Some(kept))
}

/// The score of a script, its difference to an earlier one, whether it was kept and how long it took, as far as they are
/// known.
pub(super) fn scored(score: f64, effect: &AttemptEffect, kept: Option<&str>) -> String {
    let gain = effect.gain.map(|gain| gained(gain, effect.standard_error));
    let parts = [Some(format!("score {}", number(score))), gain, kept.map(str::to_owned)];
    parts.into_iter().chain([effect.seconds.map(seconds)]).flatten().collect::<Vec<_>>().join(", ")
}

/// Why there is no score, and after which time.
pub(super) fn failed(limit: Option<Limit>, effect: &AttemptEffect) -> String {
    let why = match (limit.map(Limit::name), effect.failure.as_str()) {
        (Some(limit), _) => limit,
        (None, "") => "no script",
        (None, failure) => failure,
    };
    let after = effect.seconds.map(|time| format!(" after {}", seconds(time))).unwrap_or_default();
    format!("failed{after}: {why}")
}

/// The attempts of a step so far, for the template `attempts.md`.
pub(super) fn told(attempts: &[RefinementAttempt]) -> Value {
    let one = |(index, attempt): (usize, &RefinementAttempt)| {
        let effect = &attempt.effect;
        let (diff, printed, mishaps) = (&effect.diff, &effect.printed, &effect.mishaps);
        let plan = new_part(attempts, index, LONGEST_PLAN);
        json!({"plan": plan, "outcome": so_far(attempts, index), "diff": diff, "printed": printed, "mishaps": mishaps})
    };
    attempts.iter().enumerate().map(one).collect()
}

/// The attempts of a step so far, for those who write a block by this plan: each with its outcome and what is new in its plan,
/// and the diff of the best one and of those that the plan names by their numbers.
pub(super) fn to_build_on(attempts: &[RefinementAttempt], plan: &str) -> Value {
    let gain = |attempt: &RefinementAttempt| attempt.score.and(attempt.effect.gain);
    let scored = attempts.iter().enumerate().filter_map(|(index, attempt)| Some((index, gain(attempt)?)));
    let best = scored.max_by(|one, two| one.1.total_cmp(&two.1)).map(|(index, _)| index);
    let named = numbers_named(plan);
    let one = |(index, attempt): (usize, &RefinementAttempt)| {
        let number = index + 1;
        let is_shown = best == Some(index) || named.contains(&number);
        let diff = if is_shown { attempt.effect.diff.as_str() } else { "" };
        let plan = new_part(attempts, index, SHORT_PLAN);
        json!({"number": number, "plan": plan, "outcome": so_far(attempts, index), "diff": diff})
    };
    attempts.iter().enumerate().map(one).collect()
}

/// What became of an attempt. The words do not change with later attempts, so that the prompts of a step begin alike.
fn so_far(attempts: &[RefinementAttempt], index: usize) -> String {
    outcome(&attempts[index], &attempts[..index], "kept as the best so far")
}

/// The numbers of the attempts that a plan names: `attempt 2`, `Attempts 1 and 3`.
fn numbers_named(plan: &str) -> Vec<usize> {
    let plan = plan.to_lowercase();
    let after = plan.match_indices("attempt").map(|(at, word)| &plan[at + word.len()..]);
    let words = |rest: &str| -> Vec<usize> {
        let words = rest.trim_start_matches('s').split([' ', ',', '#']).filter(|word| !word.is_empty());
        let number = |word: &str| match word {
            "and" | "or" => Some(None),
            word => word.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().ok().map(Some),
        };
        words.map_while(number).flatten().collect()
    };
    after.flat_map(words).collect()
}

impl Repair {
    /// The repair of `before`, which failed.
    pub(crate) fn of(failure: &Failure, before: &Solution, after: &Solution) -> Self {
        Self { error: failure.headline().to_owned(), diff: diff(before.text(), after.text()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coders_see_the_diff_of_the_best_attempt_and_of_those_that_the_plan_names() {
        let attempt = |gain: Option<f64>| {
            let effect = AttemptEffect { gain, diff: format!("+{gain:?}"), ..AttemptEffect::default() };
            RefinementAttempt {
                score: gain,
                effect,
                ..RefinementAttempt::failed("Plan.".to_owned(), String::new())
            }
        };
        let attempts = [Some(-0.5), Some(0.25), None, Some(0.125)].map(attempt);
        let check = |plan: &str, shown: &[usize]| {
            let told = to_build_on(&attempts, plan);
            let numbers: Vec<usize> = (1..=4).filter(|number| told[number - 1]["diff"] != "").collect();
            assert_eq!(numbers, shown, "{plan}");
        };
        check("Add weights.", &[2]);
        check("Keep the folds of attempt 1, and add weights.", &[1, 2]);
        check("Join attempts 3 and 4.", &[2, 3, 4]);
        check("Attempt #4: again, attempt by attempt.", &[2, 4]);
        assert_eq!(to_build_on(&attempts[..0], "Plan."), json!([]));
    }
}
