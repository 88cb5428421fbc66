//! `fork`: a new run from a place of another one.

use mle_star_run::fork::{self, ForkOptions};
use mle_star_run::resume::{ReopenedRun, ResumeOptions, reopen};

use super::detach;
use crate::args::ForkArgs;
use crate::exit::{Exit, Failure};
use crate::foreground::{View, drive};

/// Makes a new run from a place of another one, and drives it.
///
/// # Errors
/// There is no such run or place, a setting cannot change there, or the new run stopped.
pub fn fork(args: &ForkArgs) -> Result<Exit, Failure> {
    let parent = args.run.find()?;
    let options: ForkOptions = args.options()?;
    let folder = fork::fork(&parent, &options)?;
    match reopen(&folder, &ResumeOptions::default())? {
        ReopenedRun::Finished(result) => Ok(Exit::of_result(&result)),
        ReopenedRun::Unfinished(run) if args.view.detach => detach(*run, &args.view),
        ReopenedRun::Unfinished(run) => drive(*run, View::of(&args.view), |_, _| {}),
    }
}
