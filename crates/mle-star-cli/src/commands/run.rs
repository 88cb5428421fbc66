//! `run`.
use crate::args::RunArgs;
use crate::exit::{Exit, Failure};
use crate::settings::process_environment;
use crate::{freeze, runs, say};
/// Run.
pub fn run(args: &RunArgs) -> Result<Exit, Failure> {
    let prepared = freeze::prepare(args, &process_environment)?;
    for s in &prepared.sources {
        say::talk(s);
    }
    for g in &prepared.guesses {
        say::talk(&format!("{g:?}"));
    }
    let dir = super::runs_dir(prepared.invocation.runs_dir.clone());
    let c = runs::claim(
        &dir,
        prepared.invocation.run_id.as_deref(),
        &prepared.task.competition_id,
        &jiff::Zoned::now(),
    )?;
    say::talk(&format!("{c:?}"));
    Ok(Exit::Done)
}
