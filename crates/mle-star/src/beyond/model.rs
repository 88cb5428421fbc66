//! Runs a copy of the submission script that keeps its fitted model.
//!
//! Why: people predict other rows later. A solution of the search that writes the submission itself needs no other
//! script, so nobody asked it to keep what it fitted. What it may change: the copy makes the submission, so that one fit on all
//! rows gives both, if it predicts as the solution did. Where that is not known, or the solution has already run on all rows,
//! the copy runs after the submission, which stays whatever becomes of it.

use super::choice::Predictions;
use super::fallback::Candidate;
use super::held_out::compare_fits;
use crate::abilities::asks_for_model;
use crate::agents::test_agent;
use crate::composition::Composition;
use crate::ctx::Ctx;
use crate::evaluate::attempt;
use crate::evaluation::Script;
use crate::result::KeptModel;
use crate::scored::Scored;
use crate::solution::{Solution, SolutionPhase};
use crate::stop::Stop;
use crate::time_plan::TimePlan;
use mle_star_domain::config::MAX_KEPT_MODELS;
use mle_star_domain::effects::{DataView, Purpose};
use mle_star_domain::place::Place;
use mle_star_domain::question::Refit;

/// A script that keeps its model writes a file of this name.
const PREDICTS: &str = "predict.py";

/// The run that may have kept a model, or why there is none.
pub(super) type Model = Result<KeptModel, String>;

/// The run whose script may have kept the model of the submission, which the script of this run wrote, in about so many seconds;
/// the error says why there is none.
pub(super) async fn model(ctx: &Ctx<'_>, of: &Scored, run: KeptModel, seconds: f64) -> Result<Model, Stop> {
    if !asks_for_model(ctx.config()) {
        return Ok(Ok(run));
    }
    let script = run.script;
    let at = ctx.below(Place::model).seeing(DataView::Whole);
    if let Some(refusal) = TimePlan::for_model(&at, seconds).await?.refusal(seconds) {
        return Ok(Err(format!("the script has no time to fit once more: {refusal}")));
    }
    let copy = match copy(&at, of, &script).await? {
        Ok(copy) => copy,
        Err(why) => return Ok(Err(why)),
    };
    let execution = attempt(&at, Script::new(copy), Purpose::Submission).await?;
    let script = execution.solution.text().to_owned();
    Ok(match execution.result {
        Ok(ran) if ran.outcome.is_error() => Err(failure_text(&ran.outcome.headline())),
        Ok(ran) => Ok(KeptModel { run: ran.place, script }),
        Err(failure) => Err(failure_text(failure.headline())),
    })
}

/// The run of a copy of the submission script on all rows.
pub(super) enum WithModel {
    /// It predicts as the solution did, so it makes the submission.
    Submits(Box<Candidate>, Refit),
    /// The script has to run itself; the model of this run belongs to it, or there is none, and why.
    Leaves(Model),
}

/// Runs a copy of the submission script that keeps its model on the original files. The script is that of `best`, took so many
/// seconds before, and predicted the test rows as in `own`. `None` if nobody is asked for a model.
pub(super) async fn with_model(
    ctx: &Ctx<'_>,
    (best, submitted): (&Scored, &Script),
    own: &Predictions,
    seconds: f64,
) -> Result<Option<WithModel>, Stop> {
    if !asks_for_model(ctx.config()) {
        return Ok(None);
    }
    let leaves = |why: String| Ok(Some(WithModel::Leaves(Err(why))));
    let at = ctx.on_all_rows(Some(seconds)).below(Place::with_model);
    // If the copy does not predict as the script did, the script runs after it.
    let twice = 2.0 * seconds;
    if let Some(refusal) = TimePlan::for_model(&at, twice).await?.refusal(twice) {
        return leaves(format!("the script may have to run once more, and has no time for that: {refusal}"));
    }
    let copy = match copy(&at, best, submitted.solution.text()).await? {
        Ok(copy) => copy,
        Err(why) => return leaves(why),
    };
    let copy = Script { leaks: submitted.leaks, checked: true, ..Script::new(copy) };
    let made = match Candidate::from_run(ctx, best, attempt(&at, copy, Purpose::Submission).await?) {
        Ok(made) => made,
        Err(failure) => return leaves(failure_text(failure.headline())),
    };
    let Some(run) = made.submission.as_ref() else { return leaves("it wrote no submission".to_owned()) };
    let copied = (run, made.script.content.as_str());
    let refit = compare_fits(&at, (&own.run, own.script.as_str()), copied).await?;
    Ok(Some(match refit {
        Some(Refit { is_jump: true, words, .. }) => WithModel::Leaves(Err(format!(
            "the script that keeps its model predicts otherwise than the solution, by more than fits do ({words})"
        ))),
        Some(refit) => WithModel::Submits(Box::new(made), refit),
        None => WithModel::Leaves(made.model),
    }))
}

/// A copy of this script, the solution's own, that keeps its model, or why there is none.
async fn copy(ctx: &Ctx<'_>, of: &Scored, script: &str) -> Result<Result<Solution, String>, Stop> {
    match of.composition() {
        Some(composition) if composition.script().text() != script => {
            Ok(Err("the combination was changed after it was chosen".to_owned()))
        }
        Some(composition) => keep_members(ctx, composition).await,
        None => keep_one(ctx, &Solution::new(script.to_owned(), SolutionPhase::Final)).await,
    }
}

/// A copy of this script that keeps its model, or why there is none.
async fn keep_one(ctx: &Ctx<'_>, solution: &Solution) -> Result<Result<Solution, String>, Stop> {
    let reply = test_agent::submission_script(ctx, solution).await?;
    let keeps = reply.text().contains(PREDICTS);
    Ok(if keeps { Ok(reply) } else { Err("the agent wrote no script that keeps its model".to_owned()) })
}

/// The combination of such copies of its members.
async fn keep_members(ctx: &Ctx<'_>, composition: &Composition) -> Result<Result<Solution, String>, Stop> {
    let members = composition.members.len() as u64;
    if members > MAX_KEPT_MODELS {
        return Ok(Err(format!(
            "{members} solutions are combined, and at most {MAX_KEPT_MODELS} are asked for their models"
        )));
    }
    let mut copies = Vec::new();
    for (index, member) in (1..).zip(composition.solutions()) {
        match keep_one(&ctx.below(|place| place.member(index)), member).await? {
            Ok(copy) => copies.push(copy),
            Err(why) => {
                return Ok(Err(format!("{why} (solution {index} of the {members} that are combined)")));
            }
        }
    }
    Ok(Ok(composition.of(copies).script()))
}

/// Why a script that failed with this error left no model.
pub(super) fn failure_text(error: &str) -> String {
    format!("the script that keeps its model failed: {}", error.trim_end_matches('.'))
}
