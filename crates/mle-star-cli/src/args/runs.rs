//! Options of the commands for several runs.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use mle_star_report::run_view::State;

#[derive(Debug, Args)]
pub struct ListArgs {
    /// Only runs whose task has this in its name
    #[arg(long, value_name = "TEXT")]
    pub task: Option<String>,
    /// Only runs whose metric has this in its name
    #[arg(short, long, value_name = "TEXT")]
    pub metric: Option<String>,
    /// Only runs in this state: running, finished or unfinished
    #[arg(long, value_name = "STATE", value_parser = states(), hide_possible_values = true)]
    pub state: Option<State>,
    /// List the runs of this folder [default: ./runs]
    #[arg(long, value_name = "DIR")]
    pub runs_dir: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct DeleteArgs {
    /// Run IDs, or paths of run folders
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<String>,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
    /// Look for the runs in this folder [default: ./runs]
    #[arg(long, value_name = "DIR")]
    pub runs_dir: Option<PathBuf>,
}

/// The states of runs by their names.
fn states() -> impl TypedValueParser<Value = State> {
    let all = [State::Running, State::Finished, State::Unfinished];
    PossibleValuesParser::new(all.map(State::name))
        .map(move |name| all.into_iter().find(|state| state.name() == name).unwrap_or(State::Finished))
}
