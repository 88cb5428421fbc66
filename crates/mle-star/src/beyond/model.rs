//! Runs a copy of the submitted script that keeps its fitted model.
//!
//! Why: people predict other rows later. A solution of the search that writes the submission itself needs no other
//! script, so nobody asked it to keep what it fitted. What it may change: nothing but which model is kept: the
//! submission and its script stay whatever becomes of it.

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
    let time = TimePlan::for_model(&at, seconds).await?;
    if !time.has_room_for(seconds) {
        return Ok(Err(format!("the script has no time to fit once more: {}", time.refusal(seconds))));
    }
    let reply = match of.composition() {
        Some(composition) if composition.script().text() != script => {
            Err("the combination was changed after it was chosen".to_owned())
        }
        Some(composition) => keep_members(&at, composition).await?,
        None => keep_one(&at, &Solution::new(script, SolutionPhase::Final)).await?,
    };
    let reply = match reply {
        Ok(reply) => reply,
        Err(why) => return Ok(Err(why)),
    };
    let execution = attempt(&at, Script::new(reply), Purpose::Submission).await?;
    let script = execution.solution.text().to_owned();
    Ok(match execution.result {
        Ok(ran) if ran.outcome.is_error() => Err(failure_text(&ran.outcome.headline())),
        Ok(ran) => Ok(KeptModel { run: ran.place, script }),
        Err(failure) => Err(failure_text(failure.headline())),
    })
}

/// A copy of this script that keeps its model, or why there is none.
async fn keep_one(ctx: &Ctx<'_>, solution: &Solution) -> Result<Result<Solution, String>, Stop> {
    let reply = test_agent::submission_script(ctx, solution).await?;
    let keeps = reply.text().contains(PREDICTS);
    Ok(if keeps { Ok(reply) } else { Err("the agent wrote no script that keeps its model".to_owned()) })
}

/// The combination of such copies of its members.
async fn keep_members(ctx: &Ctx<'_>, composition: &Composition) -> Result<Result<Solution, String>, Stop> {
    let members = composition.len() as u64;
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
