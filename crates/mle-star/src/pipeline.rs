//! The pipeline: initial solution, L parallel refinements, ensemble, finalization.
//!
//! Each algorithm has its own file, which follows the paper's listing. See [`crate::ctx`] for what happens around
//! every effect, [`crate::evaluate`] for h(s), and [`crate::verdict`] for the record of each step.

mod assemble;
mod choose;
mod continued;
mod ensemble;
mod finalize;
mod initial;
mod probe;
mod refine;
mod rehearse;
mod replay;
mod retrieve;
mod select;
mod target;
#[cfg(test)]
mod tests;

use std::time::Duration;

use ensemble::Ensemble;
use futures_util::future::try_join_all;
pub use replay::check_recorded;

use crate::ctx::{Ctx, Outside, Run};
use crate::journal::{Frozen, Journal, Line};
use crate::prompts::Prompts;
use crate::result::{FinalResult, PathRecord};
use crate::solution::Scored;
use crate::stop::Stop;
use crate::verdict::best_of_all;
use mle_star_domain::answers::RetrievedModel;
use mle_star_domain::place::{Phase, Place};

/// How often the journal records the elapsed time.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// Runs the pipeline. Recorded effects are read back from the journal.
///
/// # Errors
/// The stop that ended the run. The journal is ready for a resume.
pub async fn run(
    frozen: &Frozen,
    prompts: &Prompts,
    journal: &Journal,
    outside: Outside<'_>,
) -> Result<Finished, Stop> {
    let run = Run::new(frozen, prompts, journal, outside)?;
    let ctx = run.root();
    run.limits.purse.remember(&journal.ledger()?).iter().for_each(|warning| ctx.warn(warning.text()));
    journal.note_stop(None)?;
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
    /// The result. `submission_path` is empty until the submission is in its final place.
    pub result: FinalResult,
    /// The place of the run that wrote a valid submission, if any.
    pub submission: Option<Place>,
    /// Whether the answer from before a limit was raised stands, with the files in `final/`.
    pub stays: bool,
}

async fn solve(ctx: &Ctx<'_>) -> Result<Finished, Stop> {
    ctx.compare_tables().await?;
    // On the heap: unoptimised, the stack of a thread with the default size would be too small for the phases.
    let initial = Box::pin(initial::initial_solution(&ctx.phase(Phase::Phase1)?)).await?;
    let refined = Box::pin(refine_paths(&ctx.phase(Phase::Phase2)?, &initial.best)).await?;
    let solutions: Vec<Scored> = refined.iter().map(|(path, _)| path.best.clone()).collect();
    let ensemble = match solutions.len() {
        1 => ensemble::skipped(ctx, &solutions),
        _ => Box::pin(combine(&ctx.phase(Phase::Phase3)?, &solutions, &initial.further_models())).await?,
    };
    let ensembled = ensemble.iter().map(|ensemble| ensemble.best.clone());
    let solutions: Vec<Scored> = solutions.into_iter().chain(ensembled).collect();
    // A combination has been compared with all of them.
    let combined = solutions.last().filter(|one| one.composition().is_some());
    let best =
        combined.or_else(|| best_of_all(&solutions, |best| best.score())).unwrap_or(&initial.best).clone();
    let finalists: Vec<Scored> = solutions.into_iter().rev().chain([initial.best.clone()]).collect();
    let last = submit(&ctx.phase(Phase::Finalization)?, &best, &finalists).await?;
    continued::unless_worse(ctx, assemble::assemble(ctx, &initial, &refined, ensemble.as_ref(), last)?)
}

/// Runs Algorithm 2 on L paths in parallel. A failed path keeps its best solution, and the others continue.
async fn refine_paths(ctx: &Ctx<'_>, initial: &Scored) -> Result<Vec<(refine::Refined, PathRecord)>, Stop> {
    let paths = ctx.config().num_parallel_solutions;
    ctx.rest_on(Line::Path(0), [initial])?;
    ctx.divide_among_paths(paths, initial)?;
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

/// Runs Algorithm 3, and ensemble selection over all solutions of the run. If one fails, the run continues without it.
async fn combine(
    ctx: &Ctx<'_>,
    solutions: &[Scored],
    models: &[RetrievedModel],
) -> Result<Option<Ensemble>, Stop> {
    ensemble::announce(ctx, solutions);
    let further = ctx.isolated(select::further_models(ctx, models)).await?.ok().flatten();
    let mut rounds = Vec::new();
    let made = ctx.isolated(ensemble::ensemble(ctx, solutions, &mut rounds)).await?.ok().flatten();
    let best = best_of_all(solutions.iter().chain(&further).chain(&made), |best| best.score());
    let selected = match best {
        Some(best) => ctx.isolated(select::select(ctx, best)).await?.ok().flatten(),
        None => None,
    };
    let made = best_of_all(further.into_iter().chain(made), Scored::score);
    let rounds = ensemble::all_rounds(ctx, rounds);
    let ensemble = selected.or(made).map(|best| Ensemble { rounds, best });
    ctx.end_phase(ensemble.as_ref().map(|ensemble| &ensemble.best))?;
    Ok(ensemble)
}

/// Chooses and finalizes the solution. If that fails, the submission is the one of the chosen validation script.
async fn submit(ctx: &Ctx<'_>, best: &Scored, finalists: &[Scored]) -> Result<finalize::Last, Stop> {
    let mut stands = choose::Chosen::by_validation(best, std::slice::from_ref(best));
    let last = Box::pin(async {
        let chosen = probe::probe(ctx, choose::choose(ctx, best, finalists).await?).await?;
        stands = chosen.clone();
        finalize::finalize(ctx, chosen).await
    });
    let last = ctx.isolated(last).await?;
    let last = last.or_else(|cause| finalize::after_failure(ctx, stands, cause))?;
    ctx.end_phase(Some(&last.chosen))?;
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
