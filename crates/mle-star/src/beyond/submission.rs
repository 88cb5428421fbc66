//! Makes the submission: runs the script of the chosen solution on all rows, and collects what is known about it.
//!
//! Why: a solution that already writes a submission from all rows needs no other script, held-out rows have to come
//! back, and a submission script that fails must not cost the answer. What it may change: which script is submitted,
//! from the paper's (`paper::finalize`) to the chosen solution as it is.

use super::choice::{Chosen, Predictions};
use super::fallback::{Candidate, FinalAnswer};
use super::held_out::{compare_fits, has_looked, holdout_score};
use super::holdout_run::{HoldoutRun, run_on_holdout, warn_if_worse};
use super::importance::{self, importance};
use super::model::{self, WithModel};
use super::probes::{self, leaks};
use crate::abilities::asks_for_model;
use crate::agents::test_agent;
use crate::composition::Composition;
use crate::ctx::Ctx;
use crate::evaluate::{attempt, execute, without_leakage};
use crate::evaluation::Script;
use crate::library::Library;
use crate::limits::RERUN_FACTOR;
use crate::paper::finalize::without_subsampling;
use crate::result::{KeptModel, SolutionScript};
use crate::scored::Scored;
use crate::solution::{Solution, SolutionPhase};
use crate::stop::Stop;
use crate::verdict::{Best, Verdict};
use mle_star_domain::effects::{Limit, Purpose};
use mle_star_domain::place::{Place, Step};
use mle_star_domain::protocol::HoldoutPart;
use mle_star_domain::question::Refit;

/// Section 3.4 and Figures 25 to 28 of the MLE-STAR paper: turns the chosen solution into a submission.
///
/// If scripts of the search predict an earlier period, `before` is the answer from before finalization.
pub(crate) async fn finalize(
    ctx: &Ctx<'_>,
    chosen: &Chosen,
    before: Option<&Candidate>,
) -> Result<FinalAnswer, Stop> {
    let ctx = &ctx.at(Step::Finalization, []);
    let work = async {
        let mut made = submit(ctx, chosen, before).await?;
        // It is published now: what follows tells more about it, and may take as long again.
        made.last.candidate.answer().into_iter().for_each(|answer| ctx.emit(answer));
        made.last.importance = importance(ctx, &made.last).await?;
        // An agent was asked to keep the model, with the script or in a copy of it.
        let was_asked = |kept: &KeptModel| made.asked || kept.run.is_with_model();
        if let Ok(kept) = &made.last.candidate.model
            && !was_asked(kept)
            && !made.last.is_fallback
        {
            let (solution, holdout) = (&made.last.candidate.solution, &made.last.holdout_run);
            let seconds = holdout.as_ref().map_or(solution.facts().seconds, |run| run.seconds);
            made.last.candidate.model = model::model(ctx, solution, kept.clone(), seconds).await?;
        }
        let verdict = verdict(ctx, &made, &chosen.best);
        Ok((made.last, verdict))
    };
    let end = |end: Result<_, String>| end.unwrap_or_else(|cause| fail(ctx, chosen, before, cause));
    let mut last = ctx.step_always(work, end).await?;
    last.contamination = test_agent::check_contamination(ctx, &last.candidate.script).await?;
    last.candidate.leaks |= leaks(ctx, &last.candidate.solution);
    Ok(last)
}

/// Says what finalization is expected to run, and for about how long.
pub(crate) fn announce(ctx: &Ctx<'_>, best: &Scored, library: &Library, before: Option<&Candidate>) {
    let seconds = best.facts().seconds;
    let probed = probes::expected(ctx, best, library);
    let at_once = ctx.run.outside.script_slots.most() > 1;
    let probing = probed.iter().copied().reduce(if at_once { f64::max } else { |one, other| one + other });
    let importance = importance::expected(ctx, seconds);
    let (combines, holds_out) = (best.composition().is_some(), ctx.holdout().is_on());
    let is_complete = (combines || ctx.tells_more()) && best.wrote_submission();
    // Another script is scored without the labels of the held-out rows first.
    let rehearses = holds_out && !is_complete;
    let is_alone = is_complete && !combines && !holds_out;
    let has_run = is_alone || before.is_some_and(|known| known.script.content == best.text());
    let runs = u32::from(!has_run || asks_for_model(ctx.config()));
    let parts = [
        (!probed.is_empty()).then(|| format!("{} probes", probed.len())),
        rehearses.then(|| "1 run without the held-out rows".to_owned()),
        (runs > 0).then(|| "1 run on all rows".to_owned()),
        importance.map(|_| "importance".to_owned()),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() {
        return;
    }
    let searched = f64::from(u32::from(rehearses)) + RERUN_FACTOR * f64::from(runs);
    let all = probing.unwrap_or_default() + searched * seconds + importance.unwrap_or_default();
    let about = if all < 60.0 { format!("{:.0} s", all.ceil()) } else { format!("{:.0} min", all / 60.0) };
    ctx.info(format!("finalization: {}; about {about}", parts.join(", ")));
}

/// Scores what is submitted on rows whose labels are known to the program alone, if that has not been done. Nothing is decided by
/// this score.
pub(crate) async fn score(ctx: &Ctx<'_>, mut last: FinalAnswer) -> Result<FinalAnswer, Stop> {
    let ctx = &ctx.at(Step::Finalization, []);
    last.held_out = match (&last.holdout_run, last.predicted_held_out(ctx)) {
        (Some(holdout), _) => holdout.measured.clone(),
        (None, Some((run, script))) if ctx.holdout().is_test() => {
            holdout_score(ctx, &run, &script, HoldoutPart::Whole).await?
        }
        (None, Some((run, script))) => {
            let has_decided = has_looked(&ctx.below(Place::without_labels), HoldoutPart::Choosing)?;
            let part = if has_decided { HoldoutPart::Reporting } else { last.chosen.reports };
            holdout_score(&ctx.below(Place::fallback), &run, &script, part).await?
        }
        (None, None) => None,
    };
    warn_if_worse(ctx, last.held_out.as_ref(), &last.candidate.solution);
    Ok(last)
}

/// The outcome after a finalization that a defect of the program ended.
pub(crate) fn after_failure(
    ctx: &Ctx<'_>,
    chosen: &Chosen,
    before: Option<&Candidate>,
    cause: String,
) -> Result<FinalAnswer, Stop> {
    let (last, verdict) = fail(ctx, chosen, before, cause);
    ctx.close_after_failure(verdict)?;
    Ok(last)
}

fn fail(ctx: &Ctx<'_>, chosen: &Chosen, before: Option<&Candidate>, cause: String) -> (FinalAnswer, Verdict) {
    let why = format!("finalization failed ({cause})");
    let verdict = Verdict::default().made_from([&chosen.best]).note(cause);
    (FinalAnswer::new(ctx, Err(why), None, chosen, before), verdict)
}

/// The submission script after its runs.
struct SubmissionRuns {
    last: FinalAnswer,
    /// The limit that prevented its run.
    limit: Option<Limit>,
    /// Whether subsampling was removed.
    subsampled: bool,
    /// Whether an agent was asked for the script.
    asked: bool,
}

/// Writes and runs the submission script.
async fn submit(ctx: &Ctx<'_>, chosen: &Chosen, before: Option<&Candidate>) -> Result<SubmissionRuns, Stop> {
    let best = &chosen.best;
    let seconds = best.facts().seconds;
    let (solution, uses_all_rows) = match best.composition() {
        Some(composition) => run_members_on_all_rows(ctx, composition, seconds).await?,
        None => without_subsampling(ctx, best.solution(), seconds).await?,
    };
    // A combination of solutions writes a submission in any case.
    let combines = best.composition().is_some();
    let is_complete = (combines || ctx.tells_more()) && best.wrote_submission() && uses_all_rows;
    if is_complete {
        ctx.info("the solution writes a submission from all rows that fit, so it is the submission script");
    }
    let asked = !combines && !is_complete;
    let script = if is_complete && best.is_checked() {
        Script::of(best)
    } else {
        let script =
            if asked { test_agent::submission_script(ctx, &solution).await? } else { solution.clone() };
        without_leakage(ctx, script).await?
    };
    let (script, mut held_out) = run_on_holdout(ctx, script, chosen).await?;
    let mut limit = None;
    // The script of a combination has not run yet.
    let has_run = held_out.is_none() && is_complete && !combines && !ctx.holdout().is_on();
    let on_original_files = if has_run {
        let script = SolutionScript { phase: SolutionPhase::Final, ..SolutionScript::from(best) };
        Ok(Candidate::finalized(best, script, best.place().clone(), best.leaks()))
    } else {
        let own = held_out.as_ref().map(|run| run.predictions.clone()).or_else(|| Predictions::of(best));
        let is_known = |own: &Predictions| !asked && own.script == script.solution.text();
        let own = own.filter(|own| is_known(own) && !ctx.holdout().is_period());
        on_all_rows(ctx, (script, own), best, &mut held_out, before, &mut limit).await?
    };
    let last = FinalAnswer::new(ctx, on_original_files, held_out, chosen, before);
    Ok(SubmissionRuns { last, limit, subsampled: solution != *best.solution(), asked })
}

fn verdict(ctx: &Ctx<'_>, made: &SubmissionRuns, best: &Scored) -> Verdict {
    let SubmissionRuns { last, limit, subsampled, .. } = made;
    let Candidate { script, submission, step, .. } = &last.candidate;
    let more_rows = if ctx.holdout().is_on() && !last.is_fallback && script.score.is_some() {
        "; its score is of other rows and cannot be compared with earlier ones"
    } else {
        ""
    };
    let note = format!("{}{more_rows}", changes(best.solution(), &script.content, *subsampled));
    let kept = *step == Step::Finalization;
    let score = script.score.filter(|_| kept);
    let run = submission.clone().zip(score);
    let best_now = run.map(|(run, score)| Best { step: Step::Finalization, run, score });
    let verdict = Verdict { score, kept, best: best_now, limit: *limit, ..Verdict::default() };
    verdict.made_from([best]).note(note)
}

/// Runs the submission script on the original files, or the chosen solution as it is if that one predicts better; the error says
/// why that is no answer. If `own` is what the script predicted for the test rows before, a copy that keeps its model may run
/// instead.
async fn on_all_rows(
    ctx: &Ctx<'_>,
    (checked, own): (Script, Option<Predictions>),
    best: &Scored,
    holdout: &mut Option<HoldoutRun>,
    before: Option<&Candidate>,
    limit: &mut Option<Limit>,
) -> Result<Result<Candidate, String>, Stop> {
    let on_all_rows = ctx.on_all_rows(holdout.as_ref().map(|holdout| holdout.seconds));
    let known = before.filter(|known| known.script.content == checked.solution.text());
    if let Some((known, run)) = known.and_then(|known| Some((known, known.submission.clone()?))) {
        ctx.info(format!("the script ran on the original files at {run}, so it does not run again"));
        return Ok(Ok(Candidate::finalized(best, known.script.clone(), run, checked.leaks)));
    }
    let seconds = holdout.as_ref().map_or(best.facts().seconds, |holdout| holdout.seconds);
    let copied = match &own {
        Some(own) => Box::pin(model::with_model(ctx, (best, &checked), own, seconds)).await?,
        None => None,
    };
    let model = match copied {
        Some(WithModel::Submits(made, refit)) => {
            holdout.iter_mut().for_each(|holdout| holdout.notes.push(like_before(&refit)));
            return Ok(Ok(*made));
        }
        Some(WithModel::Leaves(model)) => Some(model),
        None => None,
    };
    let execution = match holdout {
        Some(HoldoutRun { falls_back: true, .. }) => {
            attempt(&on_all_rows, checked, Purpose::Submission).await?
        }
        _ => execute(&on_all_rows, checked, Purpose::Submission).await?,
    };
    match Candidate::from_run(ctx, best, execution) {
        Ok(mut made) => {
            made.model = model.unwrap_or(made.model);
            unless_it_jumps(ctx, made, holdout.as_mut()).await
        }
        Err(failure) => {
            *limit = failure.limit;
            let headline = failure.headline();
            Ok(Err(format!("the submission script did not run on the original files ({headline})")))
        }
    }
}

/// The answer of the run on the original files, unless its predictions for the test rows differ from those without the held-out
/// rows by more than fits do: then these are submitted, which have been scored.
async fn unless_it_jumps(
    ctx: &Ctx<'_>,
    made: Candidate,
    holdout: Option<&mut HoldoutRun>,
) -> Result<Result<Candidate, String>, Stop> {
    // The earlier period has other rows.
    let Some((holdout, run)) = holdout.filter(|_| !ctx.holdout().is_period()).zip(made.submission.as_ref())
    else {
        return Ok(Ok(made));
    };
    let predicted = &holdout.predictions;
    let (first, second) = ((&predicted.run, predicted.script.as_str()), (run, made.script.content.as_str()));
    let Some(refit) = compare_fits(ctx, first, second).await? else { return Ok(Ok(made)) };
    if !refit.is_jump {
        holdout.notes.push(like_before(&refit));
        return Ok(Ok(made));
    }
    let differ = format!("differ from those without by more than fits do ({})", refit.words);
    let words = format!("With the held-out rows, its predictions for {} test rows", refit.rows);
    holdout.notes.push(format!("{words} {differ}, so those without are submitted."));
    Ok(Err(format!("the submission script's predictions on the original files {differ}")))
}

/// That the predictions of a script with the held-out rows are like those without, in a sentence.
fn like_before(refit: &Refit) -> String {
    let Refit { rows, words, .. } = refit;
    format!("With the held-out rows, its predictions for {rows} test rows are like those without ({words}).")
}

/// The combination of members without subsampling. Also returns whether all members are known to use all rows that fit.
async fn run_members_on_all_rows(
    ctx: &Ctx<'_>,
    composition: &Composition,
    seconds: f64,
) -> Result<(Solution, bool), Stop> {
    let (mut members, mut use_all_rows) = (Vec::new(), true);
    for (index, member) in (1..).zip(composition.solutions()) {
        let (member, uses_all_rows) =
            without_subsampling(&ctx.below(|place| place.member(index)), member, seconds).await?;
        use_all_rows &= uses_all_rows;
        members.push(member);
    }
    Ok((composition.of(members).script(), use_all_rows))
}

/// How the submission script differs from the solution it was made from.
fn changes(best: &Solution, script: &str, subsampled: bool) -> String {
    let lines =
        |text: &str, other: &str| text.lines().filter(|line| !other.lines().any(|one| one == *line)).count();
    let (added, removed) = (lines(script, best.text()), lines(best.text(), script));
    let subsampling = if subsampled { "subsampling removed" } else { "no subsampling removed" };
    format!("{subsampling}; {added} lines added, {removed} removed")
}
