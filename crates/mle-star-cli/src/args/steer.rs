//! Options of the commands that steer a run, or begin one from another.

use clap::Args;

use super::{RunRef, ViewArgs, given_options};
use mle_star_domain::trouble::Trouble;
use mle_star_run::fork::ForkOptions;
use mle_star_run::settings::Setting;

#[derive(Debug, Default, Args)]
pub struct ForkArgs {
    #[command(flatten)]
    pub run: RunRef,
    /// The first place that is done anew, as `show` lists it, such as phase2/path-0/t0/k1 or phase3
    #[arg(long, value_name = "PLACE")]
    pub at: String,
    /// Set a config key from the place on, such as model=opus (repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Set the ID of the new run [default: the task's name with date and time]
    #[arg(long, value_name = "ID")]
    pub run_id: Option<String>,
    /// Set the time limit, with the time of what is shared [default: that of RUN]
    #[arg(long, value_name = "SECONDS")]
    pub time_limit: Option<String>,
    /// Limit the cost of the calls that follow, in US dollars [default: as RUN]
    #[arg(long, value_name = "USD")]
    pub max_budget_usd: Option<String>,
    #[command(flatten)]
    pub view: ViewArgs,
}

#[derive(Debug, Args)]
pub struct NoteArgs {
    #[command(flatten)]
    pub run: RunRef,
    /// The note, of at most 4000 characters; - is standard input
    #[arg(allow_hyphen_values = true)]
    pub text: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct StopArgs {
    #[command(flatten)]
    pub run: RunRef,
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
        settings.extend(given_options(named));
        Ok(ForkOptions { at: self.at.clone(), run_id: self.run_id.clone(), settings })
    }
}
