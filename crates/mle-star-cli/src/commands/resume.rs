//! `resume`: continues a run, optionally with raised limits.

use mle_star::result::FinalResult;
use mle_star_report::cuts::{self, More};
use mle_star_run::resume::{Reopened, reopen};
use mle_star_run::runs;

use super::runs_dir;
use crate::args::ResumeArgs;
use crate::exit::{Exit, Failure};
use crate::foreground::{View, drive};
use crate::output;

/// Resumes a run.
///
/// # Errors
/// There is no such run, another process works on it, its inputs have changed, or it was stopped again.
pub fn resume(args: &ResumeArgs) -> Result<Exit, Failure> {
    let folder = runs::find(&args.run, &runs_dir(args.runs_dir.clone()))?;
    match reopen(&folder, &args.options())? {
        Reopened::Finished(result) => Ok(already_finished(args, &result)),
        Reopened::Unfinished(run) => drive(*run, View { json: args.json, quiet: args.quiet }, |_, _| {}),
    }
}

fn already_finished(args: &ResumeArgs, result: &FinalResult) -> Exit {
    if !args.quiet {
        let submission = match result.submission_path.as_str() {
            "" => "without a valid submission".to_owned(),
            path => format!("submission: {path}"),
        };
        output::talk(&format!("the run is already finished; {submission}"));
        let options = [
            ("--time-limit", More { time: true, money: false }),
            ("--max-budget-usd", More { time: false, money: true }),
        ];
        for (option, more) in options {
            let cuts = cuts::of(&result.cuts, more);
            if !cuts.is_empty() {
                output::talk(&format!("a larger {option} would go on with {}", cuts::in_words(&cuts)));
            }
        }
    }
    Exit::of_result(result)
}
