//! The run of the submission script that scores it on the held-out rows, whose labels it does not see.
//!
//! Why: nothing else shows how the script that is submitted predicts rows that it has not seen. What it may change: the
//! reported score, and the submission, if the script predicts worse than the chosen solution. Its predictions for those
//! rows give the reported score and show whether the script predicts as the chosen solution does.

use super::choice::{Chosen, Predictions, is_worse};
use super::held_out::holdout_score;
use crate::ctx::Ctx;
use crate::evaluate::execute;
use crate::evaluation::Script;
use crate::scored::Scored;
use crate::solution::Solution;
use crate::stop::Stop;
use mle_star_domain::config::FinalChoice;
use mle_star_domain::effects::Purpose;
use mle_star_domain::measure::Measurement;
use mle_star_domain::place::Place;
use mle_star_domain::protocol::HoldoutPart;

/// A score that is worse by more than this many standard errors of the difference is a mistake. The standard error
/// is about the rows alone: other seeds and other training rows may add as much again.
const MAX_Z_SCORE: f64 = 3.0;
/// Why nothing is told of the predictions on the original files.
const PERIODS_NOTE: &str =
    "The last fit is not compared with the one that was scored, because they predict different periods.";

/// The submission script's run without the labels of the held-out rows, and its score there.
pub(crate) struct HoldoutRun {
    /// How long the script ran, in seconds.
    pub seconds: f64,
    /// The predictions of the script that is submitted.
    pub predictions: Predictions,
    /// Whether that is the chosen solution, because the submission script is worse.
    pub falls_back: bool,
    /// The score of the predictions.
    pub measured: Option<Measurement>,
    /// How they compare with those of the chosen solution, and with what the script predicts on the original files, in a sentence
    /// each.
    pub notes: Vec<String>,
}

/// Runs the script on the data of the search and scores its predictions. Returns the script with its repairs, or the chosen
/// solution if that is better. `None` if no rows are held out or the script does not run.
pub(super) async fn run_on_holdout(
    ctx: &Ctx<'_>,
    checked: Script,
    chosen: &Chosen,
) -> Result<(Script, Option<HoldoutRun>), Stop> {
    if !ctx.holdout().is_on() {
        return Ok((checked, None));
    }
    let Some((script, own, seconds)) = predict(&ctx.below(Place::without_labels), &checked, chosen).await?
    else {
        return Ok((checked, None));
    };
    let (leaks, notes) = (own.leaks, Vec::new());
    let mut holdout_run = HoldoutRun { seconds, predictions: own, falls_back: false, measured: None, notes };
    choose(ctx, &mut holdout_run, chosen).await?;
    holdout_run.notes.extend(ctx.holdout().is_period().then(|| PERIODS_NOTE.to_owned()));
    let script = match holdout_run.falls_back {
        true => holdout_run.predictions.checked(),
        false => Script { leaks, checked: true, ..Script::new(script) },
    };
    Ok((script, Some(holdout_run)))
}

/// The predictions of the script, after repairs. The chosen solution's own, if it is the same script. `None` if it
/// cannot be run.
async fn predict(
    ctx: &Ctx<'_>,
    checked: &Script,
    chosen: &Chosen,
) -> Result<Option<(Solution, Predictions, f64)>, Stop> {
    if let Some(known) = chosen.predictions.as_ref().filter(|known| known.script == *checked.solution.text())
    {
        return Ok(Some((checked.solution.clone(), known.clone(), chosen.best.facts().seconds)));
    }
    let execution = execute(ctx, checked.clone(), Purpose::Submission).await?;
    match execution.result {
        Ok(ran) => {
            let (script, leaks) = (execution.solution.text().to_owned(), execution.leaks);
            let predictions = Predictions { script, run: ran.place, at: ran.at, leaks };
            Ok(Some((execution.solution, predictions, ran.outcome.duration_seconds)))
        }
        Err(failure) => {
            ctx.warn(format!("no score on held-out rows: {}", failure.headline()));
            Ok(None)
        }
    }
}

/// Warns if the held-out score is worse than the validation score by more than the rows of both explain. If the script is
/// not that of the search, nothing else would show that it predicts something else.
pub(super) fn warn_if_worse(ctx: &Ctx<'_>, held_out: Option<&Measurement>, best: &Scored) {
    let both = held_out.zip(best.measured());
    if let Some((held_out, validated)) = both.filter(|(now, then)| is_worse(ctx, now, then, MAX_Z_SCORE))
        && let Some(error) = held_out.error_of_gap(validated)
    {
        ctx.warn(format!(
            "the score on held-out rows, {:.6}, is worse than the validation score, {:.6}, by more than chance explains (standard error of the difference {error:.6}): the rows differ, the validation score is too good, or the submission script predicts something else",
            held_out.score, validated.score
        ));
    }
}

/// Compares the script with the chosen solution, and scores the one that is submitted on rows that decided nothing.
async fn choose(ctx: &Ctx<'_>, holdout: &mut HoldoutRun, chosen: &Chosen) -> Result<(), Stop> {
    let at = &ctx.below(Place::without_labels);
    let submitted = holdout.predictions.clone();
    let Some(known) = chosen.predictions.as_ref().filter(|known| known.script != submitted.script) else {
        holdout.measured = holdout_score(at, &submitted.run, &submitted.script, chosen.reports).await?;
        return Ok(());
    };
    // Two halves, unless only the validation score chooses.
    let (decide, report) = match ctx.config().final_choice {
        FinalChoice::Validation => (HoldoutPart::Whole, HoldoutPart::Whole),
        _ => (HoldoutPart::Choosing, HoldoutPart::Reporting),
    };
    let submitted_score = holdout_score(at, &submitted.run, &submitted.script, decide).await?;
    let chosen_score = match &chosen.looked {
        Some(looked) if decide == HoldoutPart::Choosing => Some(looked.clone()),
        // The place of the step itself may have a look at another solution.
        None if decide == HoldoutPart::Choosing => {
            holdout_score(&at.below(Place::corrected), &known.run, &known.script, decide).await?
        }
        _ => holdout_score(ctx, &known.run, &known.script, decide).await?,
    };
    if let (Some(chosen_score), Some(submitted_score)) = (&chosen_score, &submitted_score) {
        let rows = match decide {
            HoldoutPart::Whole => "held-out rows",
            HoldoutPart::Choosing | HoldoutPart::Reporting => "one half of the held-out rows",
        };
        compare_with_chosen(ctx, holdout, known, (chosen_score, submitted_score), rows);
    }
    holdout.measured = match (decide == report, holdout.falls_back) {
        (true, true) => chosen_score,
        (true, false) => submitted_score,
        (false, true) => holdout_score(ctx, &known.run, &known.script, report).await?,
        (false, false) => holdout_score(at, &submitted.run, &submitted.script, report).await?,
    };
    Ok(())
}

/// Compares the script with the chosen solution. If it is worse, the chosen solution is submitted.
fn compare_with_chosen(
    ctx: &Ctx<'_>,
    holdout: &mut HoldoutRun,
    known: &Predictions,
    (chosen_score, submitted_score): (&Measurement, &Measurement),
    rows: &str,
) {
    let scores = ctx.score(submitted_score.score).zip(ctx.score(chosen_score.score));
    let Some((now, then)) = scores else { return };
    let known_error = submitted_score.difference(chosen_score).map(|difference| difference.standard_error);
    // Where nothing is known about chance, the scores alone decide.
    let error = known_error.unwrap_or_default();
    let (is_worse, is_better) =
        (then.gain_over(now) > MAX_Z_SCORE * error, now.gain_over(then) > MAX_Z_SCORE * error);
    let words = match (is_worse, is_better) {
        (true, _) if known_error.is_none() => "that is worse, so the chosen solution is submitted unchanged",
        _ if known_error.is_none() => "that is not worse",
        (true, _) => {
            "that is worse than chance in the rows explains, so the chosen solution is submitted unchanged"
        }
        (_, true) => {
            "that is better than chance in the rows explains, so it learns from more rows or has a leak"
        }
        _ => "the difference is within what chance in the rows explains",
    };
    let error = known_error.map_or_else(|| "not known".to_owned(), |error| format!("{error:.6}"));
    let note = format!(
        "On {rows} the submission script scores {:.6} and the chosen solution {:.6} (standard error of the difference {error}); {words}.",
        submitted_score.score, chosen_score.score
    );
    if is_worse || is_better {
        ctx.warn(note.clone());
    }
    holdout.notes.push(note);
    if is_worse {
        (holdout.predictions, holdout.falls_back) = (known.clone(), true);
    }
}
