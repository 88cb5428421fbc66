//! How much the score of the final solution depends on each column.
//!
//! Why: who uses a model asks which columns matter, and a script alone does not tell. What it may change: nothing but what is
//! told.
//!
//! The final script runs once more, on a test table of copies of the held-out rows: one as they are, and others in which one
//! column is permuted. One fit gives all columns, and no label of these rows reaches the script.
//!
//! If no rows are held out, those of the last validation fold are, for two runs: the first one predicts them in the test table,
//! as they are. What the second one predicts for the copy as it is must be the same. Without the first run, nothing would tell
//! that a script uses statistics of the test table, or the order of its rows, and so predicts copies otherwise. The validation
//! predictions do not tell: they are by another fit, and of another script if an agent wrote the submission script.

use super::fallback::FinalAnswer;
use crate::ctx::Ctx;
use crate::stop::Stop;
use crate::time_plan::TimePlan;
use mle_star_domain::effects::{DataView, Purpose, ScriptOutcome};
use mle_star_domain::place::{Name, Place, Step};
use mle_star_domain::question::{Copies, FileStem, Importance, ImportanceRows, Question};

/// How much longer than before the script is expected to take: its test table is larger.
const LONGER: f64 = 1.5;
/// The same of the run that predicts the rows as they are.
const AS_LONG: f64 = 1.0;

/// The importance of the columns for the final solution, or why it is not known. `None` with `preset: paper`.
pub(super) async fn importance(ctx: &Ctx<'_>, last: &FinalAnswer) -> Result<Option<Importance>, Stop> {
    let Some(protocol) = ctx.protocol() else { return Ok(None) };
    let unknown = |why: &str| Ok(Some(Importance::unknown(why)));
    if !protocol.verifies {
        return unknown(protocol.unverified.as_deref().unwrap_or(super::UNVERIFIED));
    }
    let known = last.predicted_held_out(ctx).filter(|_| !last.is_fallback);
    let on = match &known {
        Some(_) => ImportanceRows::HeldOut,
        None if ctx.holdout().rows().is_some() => {
            return unknown("the final solution did not predict the held-out rows");
        }
        None if !protocol.has_folds_file => return unknown("no rows are held out"),
        None if last.is_fallback => return unknown("no rows are held out, and finalization failed"),
        None => ImportanceRows::LastFold,
    };
    let data = match on {
        ImportanceRows::HeldOut => DataView::PermutedColumns,
        ImportanceRows::LastFold => DataView::PermutedLastFold,
    };
    let at = ctx.below(Place::importance).seeing(data);
    let seconds =
        last.holdout_run.as_ref().map_or(last.candidate.solution.facts().seconds, |one| one.seconds);
    let longer = if known.is_some() { LONGER } else { AS_LONG + LONGER };
    let time = TimePlan::for_probe(&at, seconds, longer).await?;
    if let Some(refusal) = time.refusal(seconds) {
        let times = if known.is_some() { "once" } else { "twice" };
        return unknown(&format!("the final script has no time to run {times} more: {refusal}"));
    }
    // The script that predicted the rows as they are: what is submitted may be a copy that keeps its model.
    let script = known.as_ref().map_or(&last.candidate.script.content, |(_, script)| script);
    let stem = known.as_ref().map(|(run, script)| FileStem::new(run, script));
    let found = measured(ctx, &at, (script, on), stem).await?.unwrap_or_else(Importance::unknown);
    if !found.failure.is_empty() {
        at.info(format!("the importance of columns is not known: {}", found.failure));
    }
    Ok(Some(found))
}

/// How long the runs of a script that takes so many seconds are expected to take; `None` if there are none, or no time for them now.
pub(super) fn expected(ctx: &Ctx<'_>, seconds: f64) -> Option<f64> {
    let protocol = ctx.protocol().filter(|protocol| protocol.verifies)?;
    let longer = if ctx.holdout().rows().is_some() { Some(LONGER) } else { None };
    let longer = longer.or_else(|| protocol.has_folds_file.then_some(AS_LONG + LONGER))?;
    let place = Step::Finalization.place().importance();
    let allowed = ctx.run.limits.probe_time(&place, ctx.run.journal.elapsed());
    Some(seconds * longer).filter(|expected| *expected <= allowed)
}

/// The importance by runs of the script at this place, or why it is not known. The rows as they are were predicted by `known`, if
/// they are held out.
async fn measured(
    ctx: &Ctx<'_>,
    at: &Ctx<'_>,
    (script, on): (&str, ImportanceRows),
    known: Option<FileStem>,
) -> Result<Result<Importance, String>, Stop> {
    let copies = at.measure::<Copies>(Question::Copies { on }).await?.value;
    if !copies.failure.is_empty() {
        return Ok(Err(copies.failure));
    }
    let known = match known {
        Some(known) => known,
        None => {
            let alone = ctx.below(Place::unpermuted).seeing(DataView::LastFold);
            let outcome = alone.run(script, Purpose::Probe).await?.value;
            if let Err(why) = submitted(&outcome, &format!("the {}", on.words())) {
                return Ok(Err(why));
            }
            FileStem::new(&alone.place().named(Name::Run), script)
        }
    };
    let outcome = at.run(script, Purpose::Probe).await?.value;
    if let Err(why) = submitted(&outcome, &format!("copies of the {}", on.words())) {
        return Ok(Err(why));
    }
    let run = FileStem::new(&at.place().named(Name::Run), script);
    let direction = ctx.task().metric_direction;
    Ok(Ok(at.measure(Question::Importance { run, known, on, direction }).await?.value))
}

/// Checks that the script predicted these rows, or says why not.
fn submitted(outcome: &ScriptOutcome, rows: &str) -> Result<(), String> {
    let findings = outcome.submission.as_ref().map(|submission| submission.findings.as_slice());
    match findings {
        _ if outcome.is_error() => {
            let why = outcome.headline().trim_end_matches('.').to_owned();
            Err(format!("not asked, since the final script fails on {rows}: {why}"))
        }
        Some([]) => Ok(()),
        Some([first, ..]) => Err(format!("the final script does not predict {rows}: {first}")),
        None => Err(format!("the final script wrote no submission for {rows}")),
    }
}
