//! `run`: solves one task, or hands several to [`several`].

use mle_star_run::prepare::{prepare_for, task_source};
use mle_star_run::settings::process_environment;

use super::several;
use super::tasks::{forget_if_unusable, intent, say_skipped};
use crate::args::RunArgs;
use crate::estimate;
use crate::exit::{Exit, Failure};
use crate::foreground::{View, drive};

/// Solves one or more tasks.
///
/// # Errors
/// A mistake in the input, or what stopped the run.
pub fn run(args: &RunArgs) -> Result<Exit, Failure> {
    let tasks = task_source::all(&args.tasks);
    if !args.quiet {
        say_skipped(&args.tasks);
    }
    let [task] = tasks.as_slice() else { return several::run(args, &tasks) };
    let prepared = prepare_for(intent(args), &args.options()?, task, &process_environment)?;
    if args.estimate {
        return estimate::print(&prepared);
    }
    let view = View::of(&prepared.invocation);
    drive(prepared.freeze()?, view, forget_if_unusable)
}
