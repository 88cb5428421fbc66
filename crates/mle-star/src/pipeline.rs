//! The pipeline: initial solution, L parallel refinements, ensemble, finalization.
//!
//! The order of the paper's algorithms ([`crate::paper`]) and of the stages around them ([`crate::beyond`]). See
//! [`crate::ctx`] for what happens around every step and every effect.

mod assemble;
mod phases;
mod replay;
mod search;
#[cfg(test)]
mod tests;

use std::time::Duration;

use futures_util::future::BoxFuture;
use mle_star_domain::place::Phase;

use crate::beyond::earlier_answer;
use crate::ctx::{Ctx, Outside, Run};
use crate::journal::{Frozen, Journal};
use crate::prompts::Prompts;
use crate::stop::Stop;
use search::Search;

pub use crate::result::FinishedRun;
pub use replay::check_recorded;

/// How often the journal records the elapsed time.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// Runs the pipeline. Recorded effects are read back from the journal.
///
/// The future is on the heap, so that it is compiled here, and not again in each crate that waits for it.
///
/// # Errors
/// The stop that ended the run. The journal is ready for a resume.
pub fn run<'run>(
    frozen: &'run Frozen,
    prompts: &'run Prompts,
    journal: &'run Journal,
    outside: Outside<'run>,
) -> BoxFuture<'run, Result<FinishedRun, Stop>> {
    Box::pin(run_to_its_end(frozen, prompts, journal, outside))
}

async fn run_to_its_end(
    frozen: &Frozen,
    prompts: &Prompts,
    journal: &Journal,
    outside: Outside<'_>,
) -> Result<FinishedRun, Stop> {
    let run = Run::new(frozen, prompts, journal, outside)?;
    let ctx = Ctx::root(&run);
    run.limits.purse.remember(&journal.ledger()?).iter().for_each(|warning| ctx.warn(warning.text()));
    journal.note_stop(None)?;
    journal.start_clock();
    let ended = tokio::select! {
        result = solve(&ctx) => result,
        stop = heartbeat(journal) => Err(stop),
    };
    ended.inspect_err(|stop| ctx.stopped(stop))
}

async fn solve(ctx: &Ctx<'_>) -> Result<FinishedRun, Stop> {
    // On the heap: unoptimised, the stack of a thread with the default size would be too small for the phases.
    let search = Box::pin(phases::initial(&ctx.phase(Phase::Phase1)?)).await?;
    let search = if search.is_baseline() { search } else { refined(ctx, search).await? };
    let last = Box::pin(phases::finalization(&ctx.phase(Phase::Finalization)?, &search)).await?;
    earlier_answer::unless_worse(ctx, assemble::assemble(ctx, &search, last)?)
}

/// Phases 2 and 3.
async fn refined(ctx: &Ctx<'_>, search: Search) -> Result<Search, Stop> {
    let search = Box::pin(phases::refinement(&ctx.phase(Phase::Phase2)?, search)).await?;
    if let [(path, _)] = search.paths.as_slice() {
        let (task, score) = (&ctx.task().competition_id, path.best.score().value());
        ctx.info(format!("Phase 3 skipped (L=1): {task}, score {score}"));
        return Ok(search);
    }
    Box::pin(phases::ensembles(&ctx.phase(Phase::Phase3)?, search)).await
}

async fn heartbeat(journal: &Journal) -> Stop {
    loop {
        tokio::time::sleep(HEARTBEAT).await;
        if let Err(error) = journal.heartbeat() {
            return error.into();
        }
    }
}
