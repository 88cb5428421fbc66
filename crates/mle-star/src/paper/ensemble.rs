//! Algorithm 3 of the MLE-STAR paper: the ensemble of the paths' solutions.

use mle_star_domain::place::Step;

use crate::agents;
use crate::closing::Round;
use crate::ctx::Ctx;
use crate::evaluate::evaluate;
use crate::library::Library;
use crate::result::EnsembleAttempt;
use crate::scored::Scored;
use crate::stop::Stop;

/// The progress of Algorithm 3. One that ends early keeps it.
#[derive(Default)]
pub(crate) struct Rounds {
    /// One per round that began.
    pub attempts: Vec<EnsembleAttempt>,
    /// The best ensemble so far.
    pub best: Option<Scored>,
    /// All ensembles that ran.
    pub library: Library,
}

/// Algorithm 3: the best ensemble; `None` if no round made one.
pub(crate) async fn ensemble(
    ctx: &Ctx<'_>,
    solutions: &[Scored],
    rounds: &mut Rounds,
) -> Result<Option<Scored>, Stop> {
    for round in 0..ctx.config().ensemble_rounds {
        let ctx = &ctx.at(Step::Round(round), solutions); // lines 1, 4
        let combining = async {
            let (tried, best) = (&rounds.attempts, rounds.best.as_ref());
            let plan = agents::ens_planner(ctx, solutions, tried, best).await?; // 1, 5
            attempt(ctx, solutions, plan, best).await // 2-3, 6-7
        };
        let (rule, best) = (ctx.acceptance(), rounds.best.as_ref());
        let round = ctx.step(combining, |end| Round::end(end, solutions, best, rule)).await?;
        round.scored.iter().for_each(|scored| rounds.library.add(scored));
        let better = round.accepted().cloned();
        rounds.attempts.push(round.record); // 8
        rounds.best = better.or(rounds.best.take()); // 9
    }
    Ok(rounds.best.clone()) // 10
}

/// Lines 2-3 and 6-7: the ensembler's script, evaluated.
async fn attempt(
    ctx: &Ctx<'_>,
    solutions: &[Scored],
    plan: Option<String>,
    best: Option<&Scored>,
) -> Result<Round, Stop> {
    let Some(plan) = plan else {
        return Ok(Round::failed(EnsembleAttempt::without_script("[ens_planner failed]".to_owned())));
    };
    let Some(script) = agents::ensembler(ctx, &plan, solutions, best).await? else {
        return Ok(Round::failed(EnsembleAttempt::without_script(plan)));
    }; // 2, 6
    let evaluation = evaluate(ctx, Ok(script), best).await?; // 3, 7
    Ok(Round::evaluated(plan, evaluation, solutions))
}
