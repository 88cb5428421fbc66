//! Options of the commands that steer a run, or begin one from another.

use std::path::PathBuf;

use clap::Args;

use super::given;
use mle_star_domain::trouble::Trouble;
use mle_star_run::fork::ForkOptions;
use mle_star_run::settings::Setting;

#[derive(Debug, Default, Args)]
pub struct ForkArgs {
    /// Run ID, or path of the run folder
    pub run: String,
    /// The first place that is done anew, as `show` lists it, such as phase2/path-0/t0/k1 or phase3
    #[arg(long, value_name = "PLACE")]
    pub at: String,
    /// Set a config key from the place on, such as model=opus (repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Set the ID of the new run [default: the task's name with date and time]
    #[arg(long, value_name = "ID")]
    pub run_id: Option<String>,
    /// Look for the run in this folder [default: ./runs]
    #[arg(long, value_name = "DIR")]
    pub runs_dir: Option<PathBuf>,
    /// Set the time limit, with the time of what is shared [default: that of RUN]
    #[arg(long, value_name = "SECONDS")]
    pub time_limit: Option<String>,
    /// Limit the cost of the calls that follow, in US dollars [default: as RUN]
    #[arg(long, value_name = "USD")]
    pub max_budget_usd: Option<String>,
    /// Start the new run in a process of its own, and print its folder
    #[arg(long)]
    pub detach: bool,
    /// Print events as JSON, one per line; with --detach, one document
    #[arg(long)]
    pub json: bool,
    /// Print only errors
    #[arg(long)]
    pub quiet: bool,
}

#[derive(Debug, Args)]
pub struct NoteArgs {
    /// Run ID, or path of the run folder
    pub run: String,
    /// The note, of at most 4000 characters; - is standard input
    #[arg(allow_hyphen_values = true)]
    pub text: String,
    /// Look for the run in this folder [default: ./runs]
    #[arg(long, value_name = "DIR")]
    pub runs_dir: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct StopArgs {
    /// Run ID, or path of the run folder
    pub run: String,
    /// Look for the run in this folder [default: ./runs]
    #[arg(long, value_name = "DIR")]
    pub runs_dir: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

impl ForkArgs {
    /// The options for the library.
    ///
    /// # Errors
    /// A `--set` without `=`.
    pub fn options(&self) -> Result<ForkOptions, Trouble> {
        let named = [
            ("time_limit_seconds", "--time-limit", self.time_limit.clone()),
            ("max_budget_usd", "--max-budget-usd", self.max_budget_usd.clone()),
        ];
        let pairs = self.set.iter().map(|pair| Setting::from_pair(pair, "--set"));
        let mut settings = pairs.collect::<Result<Vec<_>, _>>()?;
        settings.extend(given(named));
        Ok(ForkOptions { at: self.at.clone(), run_id: self.run_id.clone(), settings })
    }
}
