//! The first screen of a run: what it expects to score, against what costs nothing, and with which model.

use mle_star::spending::was_made;
use mle_star_domain::place::{self, Place};
use serde_json::{Value, json};

use super::picture::references;
use super::solutions::models;
use super::steps::{ScriptRun, Step};
use super::{Context, RunReport};
use crate::chart::Scale;
use crate::figures::count;

/// The score to expect, or the best one so far, and what the run used and did so far.
pub fn overview(context: &Context<'_>, report: &RunReport) -> Option<Value> {
    let Context { run, steps, .. } = context;
    let snapshot = &run.snapshot;
    let has_run = |run: &&ScriptRun<'_>| run.outcome.is_some() && run.limit().is_none();
    let runs = || steps.iter().flat_map(|step| &step.runs).filter(has_run);
    let calls = snapshot.effects.iter().filter(|effect| effect.counts() && was_made(effect));
    let score = headline(report);
    Some(json!({
        "notes": report.notes(),
        "forked_from": snapshot.forked_from,
        "of_user": snapshot.notes,
        "cost": report.cost(),
        "scripts": runs().count(),
        "failed": runs().filter(|run| !run.is_ok()).count(),
        "calls": calls.count(),
        "solution": report.answer.as_ref().and_then(Place::step).map(|step| solution(context, step)),
        "scale": score.as_ref().and_then(|score| scale(report, score)),
        "score": score,
    }))
}

/// What the score is, the score, and its interval.
type Headline = (&'static str, f64, Option<[f64; 2]>);

/// The score to expect; without one that of the answer, or the best one so far.
fn headline(report: &RunReport) -> Option<Headline> {
    let score = &report.score;
    if let Some(expected) = &score.expected {
        return Some(("expected", expected.score, expected.interval));
    }
    let best = score.validation_score?;
    let words = if report.is_final { "validated" } else { "best validated" };
    let row = report.leaderboard().into_iter().find(|row| row.score == Some(best));
    Some((words, best, row.and_then(|row| row.interval)))
}

/// The score with its interval on an axis, beside the scores of a constant and of the program's own baseline.
fn scale(report: &RunReport, (_, score, interval): &Headline) -> Option<Value> {
    let ends = interval.iter().flatten().copied().chain([*score]);
    let marks = references(report);
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
