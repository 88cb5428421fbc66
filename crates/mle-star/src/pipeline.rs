//! The run: initial solution, L refinements side by side, ensemble, finalization.
//!
//! Each algorithm has a file of its own that reads like the paper's listing. Where to read next:
//! [`crate::ctx`] for what happens around every effect, [`crate::evaluate`] for h(s), [`crate::verdict`] for what is
//! recorded of each step.

mod assemble;
mod ensemble;
mod finalize;
mod initial;
mod refine;
mod retrieve;
mod target;
#[cfg(test)]
mod tests;

use std::time::Duration;

use futures_util::future::try_join_all;

use crate::ctx::{Ctx, Outside, Run};
use crate::journal::{Frozen, Journal};
use crate::place::{Phase, Place};
use crate::prompts::Prompts;
use crate::result::{FinalResult, PathRecord};
use crate::solution::Scored;
use crate::stop::Stop;
use crate::verdict::best_of_all;

/// How often the journal notes the time.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// Runs the whole pipeline, or what the journal does not hold of it yet.
///
/// # Errors
/// Whatever ended the run; the journal is ready for a resume.
pub async fn run(
    frozen: &Frozen,
    prompts: &Prompts,
    journal: &Journal,
    outside: Outside<'_>,
) -> Result<Finished, Stop> {
    let run = Run::new(frozen, prompts, journal, outside)?;
    let ctx = run.root();
    run.limits.remember(&journal.ledger()?).iter().for_each(|warning| ctx.warn(warning.text()));
    journal.start_clock();
    let ended = tokio::select! {
        result = solve(&ctx) => result,
        stop = heartbeat(journal) => Err(stop),
    };
    ended.inspect_err(|stop| ctx.stopped(stop))
}

/// A finished run.
#[derive(Clone, Debug)]
pub struct Finished {
    /// The result; `submission_path` is empty until the submission is in its final place.
    pub result: FinalResult,
    /// The place of the run that wrote a valid submission; `None` when no run did.
    pub submission: Option<Place>,
}

async fn solve(ctx: &Ctx<'_>) -> Result<Finished, Stop> {
    let initial = initial::initial_solution(&ctx.phase(Phase::Phase1)?).await?;
    let refined = refine_paths(&ctx.phase(Phase::Phase2)?, &initial.best).await?;
    let solutions: Vec<Scored> = refined.iter().map(|(path, _)| path.best.clone()).collect();
    let ensemble = match solutions.len() {
        1 => ensemble::skipped(ctx, &solutions),
        _ => combine(&ctx.phase(Phase::Phase3)?, &solutions).await?,
    };
    let ensembled = ensemble.iter().map(|ensemble| ensemble.best.clone());
    let best = best_of_all(solutions.into_iter().chain(ensembled), Scored::score);
    let best = best.unwrap_or_else(|| initial.best.clone());
    let last = submit(&ctx.phase(Phase::Finalization)?, &best).await?;
    assemble::assemble(ctx, &initial, &refined, ensemble.as_ref(), last)
}

/// L times Algorithm 2, side by side. A path that fails keeps its best solution, and the others go on.
async fn refine_paths(ctx: &Ctx<'_>, initial: &Scored) -> Result<Vec<(refine::Refined, PathRecord)>, Stop> {
    let paths = ctx.config().num_parallel_solutions;
    ctx.divide_among_paths(paths)?;
    ctx.warn_of_queued_paths();
    let refined = try_join_all((0..paths).map(async |path| {
        let ctx = &ctx.on_path(path);
        let mut refined = refine::Refined::new(path, initial);
        let ended = ctx.isolated(refine::refine(ctx, &mut refined)).await?;
        let record = refined.end(ctx, ended.err())?;
        Ok::<_, Stop>((refined, record))
    }));
    let refined = refined.await?;
    ctx.end_phase(best_of_all(refined.iter().map(|(path, _)| &path.best), |best| best.score()))?;
    Ok(refined)
}

/// Algorithm 3; without it when it fails.
async fn combine(ctx: &Ctx<'_>, solutions: &[Scored]) -> Result<Option<ensemble::Ensemble>, Stop> {
    let ensemble = ctx.isolated(ensemble::ensemble(ctx, solutions)).await?.ok().flatten();
    ctx.end_phase(ensemble.as_ref().map(|ensemble| &ensemble.best))?;
    Ok(ensemble)
}

/// The submission; the best validation script's own when finalization fails.
async fn submit(ctx: &Ctx<'_>, best: &Scored) -> Result<finalize::Last, Stop> {
    let last = ctx.isolated(finalize::finalize(ctx, best)).await?;
    let last = last.or_else(|cause| finalize::after_failure(ctx, best, cause))?;
    ctx.end_phase(Some(best))?;
    Ok(last)
}

async fn heartbeat(journal: &Journal) -> Stop {
    loop {
        tokio::time::sleep(HEARTBEAT).await;
        if let Err(error) = journal.heartbeat() {
            return error.into();
        }
    }
}
