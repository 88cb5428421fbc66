//! `resume`: continues a run, optionally with raised limits.

use mle_star::result::FinalResult;
use mle_star_report::cuts::{self, More};
use mle_star_run::resume::{ReopenedRun, reopen};

use super::detach;
use crate::args::ResumeArgs;
use crate::exit::{Exit, Failure};
use crate::foreground::{View, drive};
use crate::output;
use crate::processes::detached;

/// Resumes a run.
///
/// # Errors
/// There is no such run, another process works on it, its inputs have changed, or it was stopped again.
pub fn resume(args: &ResumeArgs) -> Result<Exit, Failure> {
    let folder = args.run.find()?;
    match reopen(&folder, &args.options())? {
        ReopenedRun::Finished(result) => {
            if args.view.detach && args.view.json {
                output::json(&detached::finished(&folder, &result))?;
            } else if !args.view.quiet {
                already_finished(&result).iter().for_each(|line| output::talk(line));
            }
            Ok(Exit::of_result(&result))
        }
        ReopenedRun::Unfinished(run) if args.view.detach => detach(*run, &args.view),
        ReopenedRun::Unfinished(run) => drive(*run, View::of(&args.view), |_, _| {}),
    }
}

/// What to say of a run that has nothing left to do.
pub fn already_finished(result: &FinalResult) -> Vec<String> {
    let submission = match result.submission_path.as_str() {
        "" => "without a valid submission".to_owned(),
        path => format!("submission: {path}"),
    };
    let options = [
        ("--time-limit", More { time: true, money: false }),
        ("--max-budget-usd", More { time: false, money: true }),
    ];
    let larger = options.into_iter().map(|(option, more)| (option, cuts::of(&result.cuts, more)));
    let larger = larger.filter(|(_, cuts)| !cuts.is_empty());
    let larger =
        larger.map(|(option, cuts)| format!("a larger {option} would go on with {}", cuts::in_words(&cuts)));
    [format!("the run is already finished; {submission}")].into_iter().chain(larger).collect()
}
