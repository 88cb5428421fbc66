//! The submission: the script of the chosen solution on all rows, with what is known about it.
//!
//! Why: a solution that already writes a submission from all rows needs no other script, held-out rows have to come back, and
//! a submission script that fails must not cost the answer. What it may change: which script is submitted, from the paper's
//! (`paper::finalize`) to the chosen solution as it is.

use super::choice::{Chosen, Predictions};
use super::held_out::{compare_fits, has_looked, look};
use super::importance::importance;
use super::last::Last;
use super::model;
use super::probes::leaks;
use super::provisional::Provisional;
use super::rehearsal::{Rehearsal, rehearse, warn_if_worse};
use crate::agents;
use crate::composition::Composition;
use crate::ctx::Ctx;
use crate::evaluate::{Execution, attempt, execute, without_leakage};
use crate::evaluation::Script;
use crate::lessons::number;
use crate::paper::finalize::without_subsampling;
use crate::result::{KeptModel, SolutionScript};
use crate::scored::Scored;
use crate::solution::{Solution, SolutionPhase};
use crate::stop::Stop;
use crate::verdict::{Best, Verdict};
use mle_star_domain::effects::{Limit, Purpose};
use mle_star_domain::measure::Measurement;
use mle_star_domain::place::{Place, Step};
use mle_star_domain::protocol::HoldoutPart;

/// Section 3.4 and Figures 25 to 28: turns the chosen solution into a submission.
///
/// If scripts of the search predict an earlier period, `before` is the answer from before finalization.
pub(crate) async fn finalize(
    ctx: &Ctx<'_>,
    chosen: Chosen,
    before: Option<&Provisional>,
) -> Result<Last, Stop> {
    let ctx = &ctx.at(Step::Finalization, []);
    let end = |end| closed(ctx, end, &chosen.best, before);
    let work = async {
        let submitted = submit(ctx, &chosen, before).await?;
        let importance = importance(ctx, &submitted.last).await?;
        let model = model::model(ctx, &submitted.last, submitted.asked).await?;
        Ok(Submitted { last: Last { importance, model, ..submitted.last }, ..submitted })
    };
    let last = ctx.step_always(work, end).await?;
    let contamination = agents::compare(ctx, &last.solution).await?;
    let leakage_suspected = last.leakage_suspected || leaks(ctx, &last.chosen);
    Ok(Last { contamination, leakage_suspected, ..last }.chosen_by(chosen))
}

/// Scores the submission on rows whose labels are known to the program alone, if that has not been done. Nothing is decided by
/// this score.
pub(crate) async fn score(ctx: &Ctx<'_>, last: Last) -> Result<Last, Stop> {
    let ctx = &ctx.at(Step::Finalization, []);
    let scored = if let Some(run) = last.submission.as_ref().filter(|_| ctx.holdout().is_test()) {
        look(ctx, run, &last.solution.content, HoldoutPart::Whole).await?
    } else {
        scored_as_it_was(ctx, &last).await?
    };
    warn_if_worse(ctx, scored.as_ref(), &last.chosen);
    Ok(Last { scored, ..last })
}

/// The score of what the solution that stands after a failed finalization predicted for held-out rows during the search.
async fn scored_as_it_was(ctx: &Ctx<'_>, last: &Last) -> Result<Option<Measurement>, Stop> {
    let stands = !last.completed && last.rehearsal.is_none() && last.solution.content == last.chosen.text();
    let Some(known) = Predictions::of(&last.chosen).filter(|_| ctx.holdout().is_on() && stands) else {
        return Ok(None);
    };
    let has_decided = has_looked(&ctx.below(Place::without_labels), HoldoutPart::Choosing)?;
    let part = if has_decided { HoldoutPart::Reporting } else { last.reports };
    look(&ctx.below(Place::fallback), &known.run, &known.script, part).await
}

/// The submission script after its runs.
struct Submitted {
    last: Last,
    /// The limit that prevented its run.
    limit: Option<Limit>,
    /// Whether subsampling was removed.
    subsampled: bool,
    /// Whether an agent was asked for the script.
    asked: bool,
}

/// Writes and runs the submission script.
async fn submit(ctx: &Ctx<'_>, chosen: &Chosen, before: Option<&Provisional>) -> Result<Submitted, Stop> {
    let best = &chosen.best;
    let seconds = best.facts().seconds;
    let (solution, uses_all_rows) = match best.composition() {
        Some(composition) => of_members_on_all_rows(ctx, composition, seconds).await?,
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
        let script = if asked { agents::test(ctx, &solution).await? } else { solution.clone() };
        without_leakage(ctx, script).await?
    };
    let (script, rehearsal) = rehearse(ctx, script, chosen).await?;
    let (last, limit) = match &rehearsal {
        // The script of a combination has not run yet.
        None if is_complete && !combines && !ctx.holdout().is_on() => (as_it_ran(best), None),
        _ => on_all_rows(ctx, script, best, rehearsal.as_ref(), before).await?,
    };
    // The scores are of the script that is submitted.
    let is_other = ctx.holdout().is_period() && last.chosen.text() != best.text();
    let rehearsal = rehearsal.filter(|_| !is_other);
    let subsampled = solution != *best.solution();
    Ok(Submitted { last: Last { rehearsal, ..last }, limit, subsampled, asked })
}

/// The outcome of finalization, and its verdict.
fn closed(
    ctx: &Ctx<'_>,
    end: Result<Submitted, String>,
    best: &Scored,
    before: Option<&Provisional>,
) -> (Last, Verdict) {
    let Submitted { last, limit, subsampled, .. } = end.unwrap_or_else(|cause| Submitted {
        last: fall_back(ctx, best, &cause, before),
        limit: None,
        subsampled: false,
        asked: false,
    });
    let more_rows = if ctx.holdout().is_on() && last.completed && last.solution.score.is_some() {
        "; its score is of other rows and cannot be compared with earlier ones"
    } else {
        ""
    };
    let note = format!("{}{more_rows}", changes(best.solution(), &last.solution.content, subsampled));
    let kept = last.step == Step::Finalization;
    let score = last.solution.score.filter(|_| kept);
    let run = last.submission.clone().zip(score);
    let best_now = run.map(|(run, score)| Best { step: Step::Finalization, run, score });
    let verdict = Verdict { score, kept, best: best_now, limit, ..Verdict::default() };
    (last, verdict.made_from([best]).note(note))
}

/// The outcome after a failed finalization: the chosen validation script.
pub(crate) fn after_failure(
    ctx: &Ctx<'_>,
    chosen: Chosen,
    before: Option<&Provisional>,
    cause: String,
) -> Result<Last, Stop> {
    let last = fall_back(ctx, &chosen.best, &cause, before);
    ctx.close_after_failure(Verdict::default().made_from([&chosen.best]).note(cause))?;
    Ok(last.chosen_by(chosen))
}

/// Runs the submission script on the original files, or the chosen solution as it is if that one predicts better. If that
/// fails, its run without the held-out rows' labels counts, or else the validation script.
async fn on_all_rows(
    ctx: &Ctx<'_>,
    checked: Script,
    best: &Scored,
    rehearsal: Option<&Rehearsal>,
    before: Option<&Provisional>,
) -> Result<(Last, Option<Limit>), Stop> {
    let on_all_rows = ctx.on_all_rows(rehearsal.map(|rehearsal| rehearsal.seconds));
    let instead = rehearsal.and_then(|rehearsal| rehearsal.instead.as_ref());
    let (script, leaks) = match instead {
        Some(known) => (known.script.as_str(), known.leaks),
        None => (checked.solution.text(), checked.leaks),
    };
    if let Some(known) = before.filter(|known| known.solution.content == script) {
        ctx.info(format!("the script ran on the original files at {}, so it does not run again", known.run));
        return Ok((submitted(best, known.solution.clone(), known.run.clone(), leaks), None));
    }
    let execution = match instead {
        Some(known) => attempt(&on_all_rows, known.checked(), Purpose::Submission).await?,
        None => execute(&on_all_rows, checked, Purpose::Submission).await?,
    };
    let Execution { solution, leaks, result, .. } = execution;
    let failure = match result {
        Ok(ran) => {
            let direction = ctx.task().metric_direction;
            let solution = SolutionScript::ran(&solution, &ran.outcome, ran.at, direction);
            let mut last = submitted(best, solution, ran.place, leaks);
            if ran.outcome.is_error() {
                last.model = Err(model::failed(&ran.outcome.headline()));
            }
            let predicted = rehearsal.map(|rehearsal| instead.unwrap_or(&rehearsal.predictions));
            return Ok((unless_it_jumps(ctx, last, best, predicted).await?, None));
        }
        Err(failure) => failure,
    };
    let (headline, score) = (failure.headline(), best.score().value());
    if let Some(rehearsal) = rehearsal.filter(|_| !ctx.holdout().is_period()) {
        ctx.warn(format!("the submission is made without the held-out rows: {headline}"));
        let predicted = instead.unwrap_or(&rehearsal.predictions);
        let failure_words = format!("it did not run on the original files ({headline})");
        return Ok((as_predicted(best, predicted, &failure_words), failure.limit));
    }
    let step = best.step();
    ctx.warn(format!(
        "no submission script could be made: {headline}; the solution of {step} stands, score {score}"
    ));
    Ok((fall_back(ctx, best, headline, before), failure.limit))
}

/// The answer of the run on the original files, unless its predictions for the test rows differ from those without the held-out
/// rows by more than fits do: then these are submitted, which have been scored.
async fn unless_it_jumps(
    ctx: &Ctx<'_>,
    last: Last,
    best: &Scored,
    predicted: Option<&Predictions>,
) -> Result<Last, Stop> {
    // The earlier period has other rows.
    let Some((predicted, run)) =
        predicted.filter(|_| !ctx.holdout().is_period()).zip(last.submission.as_ref())
    else {
        return Ok(last);
    };
    let (first, second) =
        ((&predicted.run, predicted.script.as_str()), (run, last.solution.content.as_str()));
    let Some(refit) = compare_fits(ctx, first, second).await? else { return Ok(last) };
    let words = format!("With the held-out rows, its predictions for {} test rows", refit.rows);
    if !refit.is_jump {
        let refit = format!("{words} are like those without ({}).", refit.words);
        return Ok(Last { refit, ..last });
    }
    let differ = format!("differ from those without by more than fits do ({})", refit.words);
    let refit = format!("{words} {differ}, so those without are submitted.");
    ctx.warn(refit.clone());
    let why = format!("its predictions on the original files {differ}");
    Ok(Last { refit, ..as_predicted(best, predicted, &why) })
}

/// The solution with the submission of its own run, which had seen all rows.
fn as_it_ran(best: &Scored) -> Last {
    let solution = SolutionScript { phase: SolutionPhase::Final, ..SolutionScript::from(best) };
    submitted(best, solution, best.place().clone(), best.leaks())
}

/// A script with the submission that it, or the members that it combines, wrote without the held-out rows' labels.
fn as_predicted(best: &Scored, predicted: &Predictions, why: &str) -> Last {
    let Predictions { script, run, at, leaks } = predicted;
    let is_combined = best.composition().is_some() && run == best.place();
    let solution = Solution::new(script.clone(), SolutionPhase::Final);
    let created_at = if is_combined { String::new() } else { at.to_string() };
    let solution = SolutionScript { created_at, ..SolutionScript::failed(&solution) };
    let whose = if is_combined { "its members" } else { "it" };
    let not_run = format!("{why}, so the submission is what {whose} predicted without the held-out rows");
    let last = submitted(best, solution, run.clone(), *leaks);
    Last { completed: false, not_run: Some(not_run), ..last }
}

fn submitted(chosen: &Scored, solution: SolutionScript, run: Place, leaks: bool) -> Last {
    Last {
        model: Ok(KeptModel { run: run.clone(), script: solution.content.clone() }),
        solution,
        submission: Some(run),
        step: Step::Finalization,
        leakage_suspected: leaks,
        not_run: None,
        completed: true,
        ..validated(chosen)
    }
}

/// The validation script after a finalization that failed. It has seen the original files if no rows are held out. If it
/// predicted an earlier period, the answer from before stands.
fn fall_back(ctx: &Ctx<'_>, best: &Scored, failure: &str, before: Option<&Provisional>) -> Last {
    if ctx.holdout().is_period() {
        return earlier(ctx, best, failure, before);
    }
    let last = validated(best);
    let why = match &last.submission {
        Some(_) if best.composition().is_some() => "the submission is what its members predicted",
        Some(_) if ctx.holdout().is_on() => "the submission is what it predicted without the held-out rows",
        None if ctx.holdout().is_on() || best.composition().is_some() => "it wrote no submission",
        _ => return last,
    };
    let solution = SolutionScript { is_executable: false, ..last.solution };
    let not_run = Some(format!("it did not run on the original files ({failure}); {why}"));
    Last { solution, not_run, ..last }
}

/// The answer from before finalization; without one, the validation script, which predicted no row of the test table.
fn earlier(ctx: &Ctx<'_>, chosen: &Scored, failure: &str, before: Option<&Provisional>) -> Last {
    if let Some(Provisional { best, solution, run }) = before {
        ctx.warn(format!("finalization failed ({failure}), so the answer of {run} stands"));
        let last = submitted(best, solution.clone(), run.clone(), best.leaks());
        return Last {
            step: best.step(),
            completed: false,
            not_best: not_best(chosen, best, failure),
            ..last
        };
    }
    let period = ctx.predicted_period().map_or_else(String::new, |period| format!(", {}", period.words()));
    let not_run = format!(
        "it did not run on the original files ({failure}); it predicted the held-out period{period}, not the test rows"
    );
    let last = validated(chosen);
    let solution = SolutionScript { is_executable: false, ..last.solution };
    Last { solution, submission: None, not_run: Some(not_run), ..last }
}

/// That not the chosen solution is submitted but another one.
fn not_best(chosen: &Scored, submitted: &Scored, failure: &str) -> Option<String> {
    let is_other = chosen.text() != submitted.text();
    is_other.then(|| {
        format!(
            "the solution of {} (validation score {}) is submitted instead of the best one, that of {} ({}), because finalization failed: {failure}",
            submitted.title(),
            number(submitted.score().value()),
            chosen.title(),
            number(chosen.score().value())
        )
    })
}

/// The unchanged best validation script, with the submission of its own run if that was valid.
fn validated(best: &Scored) -> Last {
    Last {
        solution: SolutionScript::from(best),
        submission: best.wrote_submission().then(|| best.place().clone()),
        step: best.step(),
        contamination: None,
        leakage_suspected: best.leaks(),
        not_run: None,
        completed: false,
        chosen: best.clone(),
        choice: Chosen::by_validation(best, std::slice::from_ref(best)).choice,
        probes: Vec::new(),
        rehearsal: None,
        refit: String::new(),
        reports: HoldoutPart::Whole,
        scored: None,
        importance: None,
        model: match best.wrote_submission() {
            true => Ok(KeptModel { run: best.place().clone(), script: best.text().to_owned() }),
            false => Err("there is no submission".to_owned()),
        },
        not_best: None,
    }
}

/// The combination of members without subsampling. Also returns whether all members are known to use all rows that fit.
async fn of_members_on_all_rows(
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
