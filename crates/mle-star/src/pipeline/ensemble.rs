//! Algorithm 3: the ensemble of the paths' solutions.

use crate::agents;
use crate::ctx::Ctx;
use crate::evaluate::evaluate;
use crate::journal::Line;
use crate::result::EnsembleAttempt;
use crate::solution::Scored;
use crate::stop::Stop;
use crate::verdict::{Best, Verdict};
use mle_star_domain::config::AgentsChoice;
use mle_star_domain::metric::last_best;
use mle_star_domain::place::Step;

/// The result of Phase 3.
pub(super) struct Ensemble {
    /// One per round.
    pub rounds: Vec<EnsembleAttempt>,
    /// The combination of solutions, or else the better of the best round (the best input if every round failed) and the
    /// best solution for a further model.
    pub best: Scored,
}

/// Algorithm 3: the best ensemble. `None` if a limit skipped every round. The rounds that ended stay if it fails.
pub(super) async fn ensemble(
    ctx: &Ctx<'_>,
    solutions: &[Scored],
    rounds: &mut Vec<EnsembleAttempt>,
) -> Result<Option<Scored>, Stop> {
    if let [only] = solutions {
        return Ok(Some(only.clone()));
    }
    let by_rules = ctx.config().agents == AgentsChoice::Offline;
    if by_rules && solutions.iter().all(|one| one.text() == solutions[0].text()) {
        ctx.info("all paths have the same solution, so there is nothing to combine");
        return Ok(None);
    }
    ctx.rest_on(Line::Rounds, solutions)?;
    ctx.builds_on(solutions);
    let mut best: Option<Scored> = None;
    for r in 0..ctx.config().ensemble_rounds {
        let ctx = &ctx.at(Step::Round(r)); // lines 1, 4
        let (round, made) = match ctx.skip(ctx.config().ensemble_rounds)? {
            Some(limit) => (EnsembleAttempt::skipped(limit), None),
            None => match agents::ens_planner(ctx, solutions, rounds, best.as_ref()).await? {
                Some(plan) => carry_out(ctx, solutions, plan, best.as_ref()).await?, // 2-3, 6-7
                None => (EnsembleAttempt::without_plan(), None),
            },
        };
        let rule = ctx.config().acceptance;
        let replaces = |made: &Scored| best.as_ref().is_none_or(|best| made.replaces(best, rule));
        let kept = made.as_ref().is_some_and(replaces);
        let verdict = round.verdict(solutions, made.as_ref(), kept);
        if let Some(made) = made.filter(|_| kept) {
            ctx.warn_of_other_rows(&made, best.as_ref().or(solutions.last()));
            best = Some(made);
        }
        ctx.close(Verdict { best: best.as_ref().map(Best::from), ..verdict })?;
        rounds.push(round); // 8
    }
    if rounds.iter().all(EnsembleAttempt::was_left_out) {
        return Ok(None);
    }
    let Some(best) = best else { return Ok(fall_back(ctx, solutions)) };
    let (made, all) = (rounds.iter().filter(|round| round.score.is_some()).count(), rounds.len());
    let (step, score) = (best.step(), best.score().value());
    ctx.info(format!("the best ensemble is that of {step}, score {score}; {made} of {all} rounds succeeded"));
    Ok(Some(best)) // 9-10
}

/// The rounds as they are recorded, which are always R: those that never began have neither plan nor script.
pub(super) fn all_rounds(ctx: &Ctx<'_>, mut rounds: Vec<EnsembleAttempt>) -> Vec<EnsembleAttempt> {
    let all = usize::try_from(ctx.config().ensemble_rounds).unwrap_or(usize::MAX);
    rounds.resize_with(all, || EnsembleAttempt::without_script(String::new()));
    rounds
}

/// Says what Phase 3 is about to do.
pub(super) fn announce(ctx: &Ctx<'_>, solutions: &[Scored]) {
    let (count, rounds, task) = (solutions.len(), ctx.config().ensemble_rounds, &ctx.task().competition_id);
    ctx.info(format!("Phase 3 combines {count} solutions in {rounds} rounds: {task}"));
}

/// An ensemble needs at least two solutions.
pub(super) fn skipped(ctx: &Ctx<'_>, solutions: &[Scored]) -> Option<Ensemble> {
    let score = solutions.first().map_or(f64::NAN, |one| one.score().value());
    ctx.info(format!("Phase 3 skipped (L=1): {}, score {score}", ctx.task().competition_id));
    None
}

/// The ensembler's script, with its score if it runs.
async fn carry_out(
    ctx: &Ctx<'_>,
    solutions: &[Scored],
    plan: String,
    best: Option<&Scored>,
) -> Result<(EnsembleAttempt, Option<Scored>), Stop> {
    let Some(ensemble) = agents::ensembler(ctx, &plan, solutions, best).await? else {
        return Ok((EnsembleAttempt::without_script(plan), None));
    }; // 2, 6
    let evaluation = evaluate(ctx, ensemble, best).await?; // 3, 7
    match &evaluation.scored {
        Ok(scored) if scored.wrote_submission() => {}
        Ok(_) => ctx.warn("the ensemble left no valid ./final/submission.csv"),
        Err(failure) => {
            let plan: String = plan.chars().take(200).collect();
            ctx.warn(format!("the round failed: {} (plan: {plan})", failure.headline()));
        }
    }
    Ok((EnsembleAttempt::evaluated(plan, &evaluation, solutions), evaluation.scored.ok()))
}

fn fall_back(ctx: &Ctx<'_>, solutions: &[Scored]) -> Option<Scored> {
    let rounds = ctx.config().ensemble_rounds;
    ctx.warn(format!("Phase 3 ensemble: all {rounds} attempts failed; falling back to best input solution"));
    last_best(solutions.iter().cloned(), Scored::score)
}
