//! `fork`: a new run from a place of another one.

use mle_star_run::fork::{self, ForkOptions};
use mle_star_run::resume::{Reopened, ResumeOptions, reopen};
use mle_star_run::runs;

use super::{detach, runs_dir};
use crate::args::ForkArgs;
use crate::exit::{Exit, Failure};
use crate::foreground::{View, drive};

/// Makes a new run from a place of another one, and drives it.
///
/// # Errors
/// There is no such run or place, a setting cannot change there, or the new run stopped.
pub fn fork(args: &ForkArgs) -> Result<Exit, Failure> {
    let parent = runs::find(&args.run, &runs_dir(args.runs_dir.clone()))?;
    let options: ForkOptions = args.options()?;
    let folder = fork::fork(&parent, &options)?;
    let view = View { json: args.json, quiet: args.quiet };
    match reopen(&folder, &ResumeOptions::default())? {
        Reopened::Finished(result) => Ok(Exit::of_result(&result)),
        Reopened::Unfinished(run) if args.detach => detach(*run, view),
        Reopened::Unfinished(run) => drive(*run, view, |_, _| {}),
    }
}
