//! Describes earlier attempts in the prompts of later agents.

use serde::Serialize;
use serde_json::{Value, json};

use crate::evaluation::Failure;
use crate::lessons::{clip, diff, format_seconds, gain_text, number};
use crate::result::{AttemptEffect, RefinementAttempt};
use crate::solution::Solution;
use mle_star_domain::effects::Limit;

/// Maximum length of what planners and coders are told of a plan, in characters.
const MAX_PLAN_CHARS: usize = 800;
/// The same of a plan whose step has ended.
const MAX_ENDED_PLAN_CHARS: usize = 400;

/// Plans that were tried, with their scores; `None` if one failed.
pub(super) type Plans<'a> = Vec<(&'a str, Option<f64>)>;

/// A repair that was tried: the error before it, and what it changed.
#[derive(Serialize)]
pub(crate) struct Repair {
    error: String,
    diff: String,
}

/// Plans with their scores under a heading, as in the paper; a plan without a score failed.
pub(super) fn history(heading: &str, tried: &Plans<'_>) -> String {
    let one = |(plan, score): &(&str, Option<f64>)| {
        // As Python prints floats: 0.82, 1.0.
        let score = score.map_or("N/A (evaluation failed)".to_owned(), |score| format!("{score:?}"));
        format!("## Plan: {plan}\n## Score: {score}")
    };
    std::iter::once(heading.to_owned()).chain(tried.iter().map(one)).collect::<Vec<_>>().join("\n\n")
}

/// The plan of each attempt of a step that has ended, and what became of it. Every attempt starts from the solution that
/// the step began with, so only the last one that was kept is part of the solution.
pub(super) fn outcomes(attempts: &[RefinementAttempt]) -> impl Iterator<Item = Value> {
    let last = attempts.iter().rposition(|attempt| attempt.was_improvement);
    attempts.iter().enumerate().map(move |(index, attempt)| {
        let kept = if Some(index) == last { "kept" } else { "kept until a later attempt replaced it" };
        let outcome = outcome(attempt, &attempts[..index], kept);
        json!({"plan": clip(&attempt.plan, MAX_ENDED_PLAN_CHARS), "outcome": outcome})
    })
}

/// What became of an attempt that came after `earlier` ones, in one line; `kept` says it of one that became the best solution.
fn outcome(attempt: &RefinementAttempt, earlier: &[RefinementAttempt], kept: &str) -> String {
    let effect = &attempt.effect;
    let was_better = |gain: f64| earlier.iter().any(|one| one.effect.gain.is_some_and(|other| other >= gain));
    let Some(score) = attempt.score else { return failure_text(attempt.limit, effect) };
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
    let gain = effect.gain.map(|gain| gain_text(gain, effect.standard_error));
    let parts = [Some(format!("score {}", number(score))), gain, kept.map(str::to_owned)];
    parts.into_iter().chain([effect.seconds.map(format_seconds)]).flatten().collect::<Vec<_>>().join(", ")
}

/// Why there is no score, and after which time.
pub(super) fn failure_text(limit: Option<Limit>, effect: &AttemptEffect) -> String {
    let why = match (limit.map(Limit::name), effect.failure.as_str()) {
        (Some(limit), _) => limit,
        (None, "") => "no script",
        (None, failure) => failure,
    };
    let after = effect.seconds.map_or(String::new(), |time| format!(" after {}", format_seconds(time)));
    format!("failed{after}: {why}")
}

/// The attempts of a step so far, for the templates. The words do not change with later attempts, so that the prompts of a
/// step begin alike.
pub(super) fn attempts_so_far(attempts: &[RefinementAttempt]) -> Value {
    let one = |(index, attempt): (usize, &RefinementAttempt)| {
        let AttemptEffect { diff, printed, mishaps, .. } = &attempt.effect;
        let outcome = outcome(attempt, &attempts[..index], "kept as the best so far");
        json!({
            "number": index + 1, "plan": clip(&attempt.plan, MAX_PLAN_CHARS), "outcome": outcome, "diff": diff,
            "printed": printed, "mishaps": mishaps,
        })
    };
    attempts.iter().enumerate().map(one).collect()
}

impl Repair {
    /// The repair of `before`, which failed.
    pub(crate) fn of(failure: &Failure, before: &Solution, after: &Solution) -> Self {
        Self { error: failure.headline().to_owned(), diff: diff(before.text(), after.text()) }
    }
}
