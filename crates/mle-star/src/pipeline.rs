//! The run: initial solution, L refinements side by side, ensemble, finalization.
//!
//! Each algorithm has a file of its own that reads like the paper's listing. Where to read next:
//! [`crate::ctx`] for what happens around every effect, [`crate::evaluate`] for h(s).

mod assemble;
mod ensemble;
mod finalize;
mod initial;
mod refine;
mod retrieve;

use std::time::Duration;

use futures_util::future::try_join_all;

use crate::ctx::{Ctx, Outside, Run};
use crate::journal::{Frozen, Journal};
use crate::place::{Phase, Place};
use crate::prompts::Prompts;
use crate::result::FinalResult;
use crate::solution::Scored;
use crate::stop::Stop;

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
    let run = Run::new(frozen, prompts, journal, outside);
    let ctx = run.root();
    run.limits.remember(&journal.ledger()?).iter().for_each(|warning| ctx.warn(warning.text()));
    journal.start_clock();
    tokio::select! {
        result = solve(&ctx) => result,
        stop = heartbeat(journal) => Err(stop),
    }
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
    let initial = initial::initial_solution(&begin(ctx, Phase::Phase1)?).await?;
    let refined = refine_paths(&begin(ctx, Phase::Phase2)?, &initial.best).await?;
    let solutions: Vec<Scored> = refined.iter().map(|path| path.best.clone()).collect();
    let ensemble = match solutions.len() {
        1 => None,
        _ => ensemble::ensemble(&begin(ctx, Phase::Phase3)?, &solutions).await?,
    };
    let best = ensemble::best_of_all(&solutions, ensemble.as_ref()).unwrap_or_else(|| initial.best.clone());
    let last = finalize::finalize(&begin(ctx, Phase::Finalization)?, &best).await?;
    assemble::assemble(ctx, &initial, &refined, ensemble.as_ref(), last)
}

async fn refine_paths(ctx: &Ctx<'_>, initial: &Scored) -> Result<Vec<refine::Refined>, Stop> {
    let paths = ctx.config().num_parallel_solutions as usize;
    ctx.divide_among_paths(paths)?;
    let contexts: Vec<Ctx<'_>> = (0..paths).map(|path| ctx.at(format_args!("path-{path}"))).collect();
    try_join_all(contexts.iter().map(|ctx| refine::refine(ctx, initial))).await
}

/// A phase begins: it has its share of the time that is left.
fn begin<'a>(ctx: &Ctx<'a>, phase: Phase) -> Result<Ctx<'a>, Stop> {
    let ctx = ctx.at(phase.name());
    ctx.begin_phase(phase)?;
    Ok(ctx)
}

async fn heartbeat(journal: &Journal) -> Stop {
    loop {
        tokio::time::sleep(HEARTBEAT).await;
        if let Err(error) = journal.heartbeat() {
            return error.into();
        }
    }
}
