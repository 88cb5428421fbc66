//! The first screen of a run: what it expects to score, against what costs nothing, and with which model.

use mle_star::spending::was_made;
use mle_star_domain::place;
use serde_json::{Value, json};

use super::context::Context;
use super::leaderboard::{LeaderboardRow, answer, leaderboard_rows, models};
use super::picture::references;
use super::steps::{ScriptRun, Step};
use crate::chart::Scale;
use crate::figures::count;

/// The score to expect, or the best one so far, and what the run used and did so far.
pub fn overview(context: &Context<'_>) -> Option<Value> {
    let Context { run, report, steps, .. } = context;
    let snapshot = &run.snapshot;
    let has_run = |run: &&ScriptRun<'_>| run.outcome.is_some() && run.limit().is_none();
    let runs = || steps.iter().flat_map(|step| &step.runs).filter(has_run);
    let calls = snapshot.effects.iter().filter(|effect| effect.counts() && was_made(effect));
    let rows = leaderboard_rows(context);
    let score = headline(context, &rows);
    Some(json!({
        "notes": report.notes(),
        "forked_from": snapshot.forked_from,
        "of_user": snapshot.notes,
        "cost": report.cost(),
        "scripts": runs().count(),
        "failed": runs().filter(|run| !run.is_ok()).count(),
        "calls": calls.count(),
        "solution": answer(context, &rows).map(|step| solution(context, step)),
        "scale": score.as_ref().and_then(|score| scale(context, score)),
        "score": score,
    }))
}

/// What the score is, the score, and its interval.
type Headline = (&'static str, f64, Option<[f64; 2]>);

/// The score to expect; without one that of the answer, or the best one so far.
fn headline(context: &Context<'_>, rows: &[LeaderboardRow]) -> Option<Headline> {
    let score = &context.report.score;
    if let Some(expected) = &score.expected {
        return Some(("expected", expected.score, expected.interval));
    }
    let best = score.validation_score?;
    let words = if context.report.is_final { "validated" } else { "best validated" };
    let row = rows.iter().find(|row| row.score.total_cmp(&best).is_eq());
    Some((words, best, row.and_then(LeaderboardRow::interval)))
}

/// The score with its interval on an axis, beside the scores of a constant and of the program's own baseline.
fn scale(context: &Context<'_>, (_, score, interval): &Headline) -> Option<Value> {
    let ends = interval.iter().flatten().copied().chain([*score]);
    let marks = references(context);
    let axis = Scale::of(ends, marks.iter().map(|(_, score)| *score))?;
    let shown = |(name, score): &(&str, f64)| json!({"name": name, "score": score, "at": axis.at(*score)});
    Some(json!({
        "mark": axis.mark(*score, *interval), "ticks": axis.ticks,
        "marks": marks.iter().map(shown).collect::<Vec<_>>(),
    }))
}

/// A solution in words: its models, and what became of them.
fn solution(context: &Context<'_>, best: place::Step) -> String {
    let way = context.descent.way_to(Some(best));
    let is_accepted = |step: &&place::Step| {
        let is_change = matches!(step, place::Step::Attempt { .. });
        is_change && context.steps.at(**step).is_some_and(Step::is_kept)
    };
    let changes = way.iter().filter(is_accepted).count() as u64;
    let combined = match best {
        place::Step::Round(_) | place::Step::Selection => "combination of ",
        _ => "",
    };
    let refined = match changes {
        0 => String::new(),
        changes => format!(", refined by {}", count(changes, "change")),
    };
    format!("{combined}{}{refined}", models(context, best))
}
