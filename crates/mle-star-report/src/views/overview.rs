//! Overview of a run: its task and its progress.

use std::path::Path;

use mle_star::journal::{EffectRecord, Kind};
use mle_star::spending::was_made;
use mle_star_domain::layout;
use mle_star_domain::metric::Score;
use mle_star_domain::place::{Phase, Place};
use serde_json::{Value, json};

use super::context::Context;
use super::scores::scored;
use super::steps::{ScriptRun, Step, StepKind};
use crate::words::phase_title;

/// The task, and what the run used and did so far.
pub fn overview(context: &Context<'_>) -> Option<Value> {
    let Context { run, report, steps, .. } = context;
    let (summary, snapshot) = (&run.summary, &run.snapshot);
    let has_run = |run: &&ScriptRun<'_>| run.outcome.is_some() && run.limit().is_none();
    let runs = || steps.iter().flat_map(|step| &step.runs).filter(has_run);
    let calls = snapshot.effects.iter().filter(|effect| effect.counts() && was_made(effect));
    let first = steps.of_kind(StepKind::Candidate).find_map(Step::score);
    Some(json!({
        "description": snapshot.frozen.task.description,
        "notes": report.notes(),
        "forked_from": snapshot.forked_from,
        "of_user": snapshot.notes,
        "cost": report.cost(),
        "scripts": runs().count(),
        "failed": runs().filter(|run| !run.is_ok()).count(),
        "calls": calls.count(),
        "first": first.map(Score::value),
        "best_at": best_at(context),
        "submission": summary.answer.submission.as_ref().and_then(|path| present_path(&run.folder, path)),
        "phases": phases(context),
    }))
}

/// The step of the final solution, or of the best score; `None` while the run would submit another solution than the one with the best
/// score.
fn best_at(context: &Context<'_>) -> Option<String> {
    let best = context.descent.best?;
    let is_best = context.run.summary.best_score == context.descent.score(best);
    let is_told = is_best || context.result().is_some();
    is_told.then(|| format!("{}, {best}", context.report.tried.step(best)))
}

/// The path of a file of `final/` at present: a run folder may have been moved or copied since its path was recorded.
fn present_path(folder: &Path, recorded: &str) -> Option<String> {
    let name = Path::new(recorded).file_name()?;
    Some(folder.join(layout::FINAL).join(name).display().to_string())
}

/// The phases that have begun, from their records in the journal, each with its time and the best validation score at its end.
fn phases(context: &Context<'_>) -> Vec<Value> {
    let effects = &context.run.snapshot.effects;
    let began = |place: &Place| {
        let is_mark = |record: &&EffectRecord| {
            record.kind == Kind::Decision
                && record.limit.is_none()
                && record.counts()
                && record.place == *place
        };
        effects.iter().find(is_mark).map(|record| record.elapsed_begun)
    };
    let begun: Vec<(Phase, f64)> =
        Phase::ALL.iter().filter_map(|phase| Some((*phase, began(&Place::from(*phase))?))).collect();
    let end = began(&Place::root().end()).unwrap_or(context.run.summary.spent.elapsed_seconds);
    let ends = begun.iter().skip(1).map(|(_, at)| *at).chain([end]);
    let scored = scored(context.run);
    let best_until = |at: f64| scored.iter().take_while(|one| one.ended <= at).last().map(|one| one.best);
    let row = |((phase, from), to): (&(Phase, f64), f64)| json!({"name": phase_title(*phase), "seconds": to - from, "best": best_until(to)});
    begun.iter().zip(ends).map(row).collect()
}
