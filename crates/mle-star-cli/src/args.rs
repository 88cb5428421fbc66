//! Commands and their options. The doc comments are the help text.

mod check;
mod finished;
mod steer;
mod task;

use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use clap_complete::Shell;
use mle_star_domain::trouble::Trouble;
use mle_star_run::RunOptions;
use mle_star_run::VERSION;
use mle_star_run::resume::ResumeOptions;
use mle_star_run::runs;
use mle_star_run::settings::Setting;

use crate::commands::runs_dir;
use crate::exit::Exit;
use crate::output;

pub use check::CheckArgs;
pub use finished::{ExportArgs, PredictArgs};
pub use steer::{ForkArgs, NoteArgs, StopArgs};
pub use task::TaskArgs;

/// Turn a machine-learning task into a checked submission.
///
/// Give `run` a data folder or a task file. The program searches for models, writes and runs Python
/// scripts, refines the best one part by part, combines solutions, and checks the submission.
#[derive(Debug, Parser)]
#[command(name = "mle-star", version = VERSION, arg_required_else_help = true, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

/// The commands that the help lists first.
const DAILY: [&str; 9] = ["run", "resume", "show", "list", "predict", "check", "ui", "init", "doctor"];

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Solve a task
    ///
    /// In the folder of the run, final/submission.csv is the submission, and final/solution.py the script that wrote it. Ctrl-C
    /// stops a run, and `mle-star resume RUN` continues it. If something cannot be inferred, the program exits with 2 and
    /// names the option to set.
    ///
    /// Most options can also be set in the config file; --jobs is called max_concurrent_scripts there, and --time-limit
    /// time_limit_seconds. Options override the config file, which overrides
    /// the environment variables MLE_STAR_MODEL, MLE_STAR_LOG_LEVEL, MLE_STAR_MAX_BUDGET,
    /// MLE_STAR_TIME_LIMIT, MLE_STAR_CLAUDE_PATH, MLE_STAR_CODEX_PATH, MLE_STAR_OPENAI_URL, MLE_STAR_AGENTS_DIR and
    /// MLE_STAR_RUNS_DIR.
    Run(Box<RunArgs>),
    /// Run tasks with several seeds and limits, and compare their scores
    ///
    /// Makes one run for each task, time limit (budget) and seed, one after the other. Runs are in BENCH/runs, where `show`,
    /// `report` and `ui` find them; results in BENCH/results.json and BENCH/results.csv. The same command continues an
    /// interrupted bench: finished runs are kept, others are resumed. Settings of runs come from the config file and the environment, as for `run`.
    Bench(Box<BenchArgs>),
    /// Resume an interrupted or failed run, or one that used its limit
    ///
    /// Finished steps are not repeated. Task, settings and templates are those of the run.
    Resume(ResumeArgs),
    /// Stop a run that another process works on
    ///
    /// Does what Ctrl-C does where the run was started, and waits until it has stopped. `mle-star resume RUN` continues it. A
    /// second `stop` ends a run at once that is still stopping.
    Stop(StopArgs),
    /// Make a new run from a place of another one
    ///
    /// The new run has all records of RUN before the place, pays none of them again, and goes on with changed settings. RUN stays
    /// as it is. The time of what is shared counts; its cost does not.
    Fork(ForkArgs),
    /// Leave a note for the agents of a running or interrupted run
    ///
    /// Planners see the note from their next call on: in a run that another process works on, or once the run is resumed. Offline
    /// agents plan by rules and ignore notes.
    Note(NoteArgs),
    /// List runs
    ///
    /// The runs of a task and metric stand together, oldest first, with their validated and held-out scores. A star marks the
    /// best validated score among runs of the same task, metric and data.
    List(ListArgs),
    /// Follow a run that another process works on
    ///
    /// Shows the run as `run` does and exits with the run's exit code. Ctrl-C stops watching, with exit code 0; the run
    /// continues. With --news, the exit code is 0, and that of the run is in the JSON.
    Watch(WatchArgs),
    /// Show a run: its summary, accepted changes and solutions
    Show(ShowArgs),
    /// Predict rows with a finished run
    ///
    /// Prints CSV with the columns of the submission, in the order of the rows. The table needs the columns of the run's
    /// test table; further ones are ignored, and missing values and unknown categories are predicted, too. Rows without an ID
    /// are numbered from 0.
    Predict(PredictArgs),
    /// Write report.html for a run
    Report(ReportArgs),
    /// Write a finished run as a notebook, or log it to MLflow
    Export(ExportArgs),
    /// Delete runs
    ///
    /// Asks first, unless --yes is given. Deletes the folders of the runs with everything in them; a run that a process
    /// works on is never deleted.
    Delete(DeleteArgs),
    /// Serve the runs as a web page
    ///
    /// By default only this machine can reach the page. Its address holds a token, which a browser keeps in a cookie.
    /// Ctrl-C stops the server; runs continue.
    Ui(UiArgs),
    /// Serve runs as tools to coding agents (Model Context Protocol)
    ///
    /// A client starts this command and talks to it over stdin and stdout. It ends when the client closes stdin; runs
    /// that were started continue. See docs/mcp.md for the settings of clients.
    Mcp(McpArgs),
    /// Print a skill file that explains this program to coding agents
    ///
    /// With a folder, such as ~/.claude/skills, writes mle-star/SKILL.md there and prints its path.
    Skill {
        /// Folder of skills
        dir: Option<PathBuf>,
    },
    /// Create a task.yaml for a data folder
    ///
    /// A comment above each field explains how its value was inferred. Comments at the end say how solutions are
    /// evaluated: how validation rows are chosen, and which labelled rows are held out.
    Init(InitArgs),
    /// Find leaks of validation data in Python scripts and notebooks
    ///
    /// Follows the data through the source without running it, and finds scores that saw their own answers. The exit
    /// code is 1 if there is a leak, else 2 if a file cannot be checked, else 0. Warnings count with --strict.
    Check(CheckArgs),
    /// Check Python, agents, credentials, hardware, isolation and runners
    ///
    /// With --config, starts one runner of each entry of `runners`, all at once, and prints what it found there and
    /// how fast it is. The exit code is 0 even if something is missing or a runner cannot be reached.
    Doctor(DoctorArgs),
    /// Run scripts for a program on another machine
    ///
    /// `mle-star run` starts this command on the other machine, through the `command` of a runner in the config file, and
    /// talks to it over stdin and stdout. It opens no port, keeps data in MLE_STAR_CACHE (~/.cache/mle-star), and ends with
    /// the run.
    Runner(RunnerArgs),
    /// Manage prompt templates
    #[command(subcommand)]
    Prompts(PromptsCommand),
    /// Print a shell completion script
    Completions {
        /// Shell
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Print the manual page, or write one page per command to a folder
    Man {
        /// Destination folder
        dir: Option<PathBuf>,
    },
}

#[derive(Clone, Debug, Default, Args)]
pub struct RunArgs {
    /// Folder with train.csv, test.csv, sample_submission.csv and description.md, one table (CSV, Parquet,
    /// Excel and others), or task file (YAML, TOML or JSON)
    #[arg(value_name = "TASK")]
    pub path: PathBuf,
    #[command(flatten)]
    pub settings: SettingsArgs,
    /// Stop the run after this time; 10m and 2h work, too [default: 86400, a day]
    #[arg(long, value_name = "SECONDS")]
    pub time_limit: Option<String>,
    /// Tell the agents what this earlier run tried, and with what effect (repeatable)
    #[arg(long, value_name = "RUN")]
    pub learn_from: Vec<String>,
    /// Store runs in this folder [default: ./runs]
    #[arg(long, value_name = "DIR")]
    pub runs_dir: Option<PathBuf>,
    /// Set the run ID [default: the task's name with date and time]
    #[arg(long, value_name = "ID")]
    pub run_id: Option<String>,
    #[command(flatten)]
    pub task: TaskArgs,
    /// Print the expected agent calls, script runs and cost, with --json as one document, and exit
    #[arg(long, conflicts_with = "detach")]
    pub estimate: bool,
    #[command(flatten)]
    pub view: ViewArgs,
}

/// Options of every run, whichever command makes it.
#[derive(Clone, Debug, Default, Args)]
pub struct SettingsArgs {
    /// Choose who answers as agents: auto, claude, codex, openai, offline or files [default: auto]
    #[arg(long, value_name = "AGENTS")]
    pub agents: Option<String>,
    /// Read settings from this YAML or TOML file
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Set a config key, such as holdout=off (repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Set the model of the agents
    #[arg(long)]
    pub model: Option<String>,
    /// Limit the cost of agent calls of each run, in US dollars
    #[arg(long, value_name = "USD")]
    pub max_budget_usd: Option<String>,
    /// Use the templates of this folder instead of built-in ones
    #[arg(long, value_name = "DIR")]
    pub prompts: Option<PathBuf>,
    /// Run this many scripts at once [default: one per GPU, else one]
    #[arg(long, value_name = "N")]
    pub jobs: Option<String>,
    /// Use only this runner of the config file (repeatable)
    #[arg(long, value_name = "NAME")]
    pub runner: Vec<String>,
}

#[derive(Debug, Default, Args)]
pub struct BenchArgs {
    /// Task folder, folder of task folders, one table, or task file (YAML, TOML or JSON)
    #[arg(value_name = "TASK", required = true)]
    pub tasks: Vec<PathBuf>,
    /// Make runs with the seeds 1 to N
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub seeds: u32,
    /// Make runs with each of these time limits, such as 240,600 [default: that of the settings]
    #[arg(long, value_name = "SECONDS", value_delimiter = ',')]
    pub budgets: Vec<u64>,
    /// Grade submissions with these hidden answers: a table, or a folder with TASK.csv, TASK/answers.csv or MLE-bench's
    /// TASK/prepared/private/test.csv
    #[arg(long, value_name = "PATH")]
    pub answers: Option<PathBuf>,
    /// Store the bench in this folder
    #[arg(long, value_name = "BENCH", default_value = "bench")]
    pub out: PathBuf,
    #[command(flatten)]
    pub task: TaskArgs,
    #[command(flatten)]
    pub settings: SettingsArgs,
    /// Print the results as JSON instead of the table
    #[arg(long)]
    pub json: bool,
    /// Print only errors and the table
    #[arg(long)]
    pub quiet: bool,
}

#[derive(Debug, Default, Args)]
pub struct ResumeArgs {
    #[command(flatten)]
    pub run: RunRef,
    /// Raise the time limit of the run
    #[arg(long, value_name = "SECONDS")]
    pub time_limit: Option<String>,
    /// Raise the cost limit of the run
    #[arg(long, value_name = "USD")]
    pub max_budget_usd: Option<String>,
    /// Use the runners of this YAML or TOML file instead of the last ones; other keys have no effect
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Use only this runner (repeatable), or `none` to use no runner
    #[arg(long, value_name = "NAME")]
    pub runner: Vec<String>,
    #[command(flatten)]
    pub view: ViewArgs,
}

#[derive(Debug, Args)]
pub struct WatchArgs {
    #[command(flatten)]
    pub run: RunRef,
    /// Print the news of the run and its state, once there are news, and exit
    #[arg(long)]
    pub news: bool,
    /// With --news, wait this many seconds at most
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(..=600))]
    pub wait: u64,
    /// With --news, wait for this
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = Until::News)]
    pub until: Until,
    /// Begin with this event, counted from 0; `next` of --news is the one after the last [default: those to come]
    #[arg(long, value_name = "N")]
    pub since: Option<usize>,
    /// Print events as JSON, one per line; with --news, one document
    #[arg(long)]
    pub json: bool,
}

/// What those wait for who ask for news.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Until {
    /// A step or phase that ended, a warning, or the end of the run
    News,
    /// The end of the run
    End,
}

#[derive(Debug, Args)]
pub struct ShowArgs {
    #[command(flatten)]
    pub run: RunRef,
    /// Print the script at this place instead, such as phase1/merge-1, phase2/path-0/t0/k1 or finalization
    #[arg(long, value_name = "PLACE", conflicts_with = "diff")]
    pub code: Option<String>,
    /// Print the diff between the script at this place and the one it was made from
    #[arg(long, value_name = "PLACE")]
    pub diff: Option<String>,
    /// Print a picture of the search as SVG: the best score over time, and what each solution was made from
    #[arg(long, conflicts_with_all = ["code", "diff", "json"])]
    pub svg: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ReportArgs {
    #[command(flatten)]
    pub run: RunRef,
    /// Include every script and every change, also in print
    #[arg(long)]
    pub full: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// The run that a command is about.
#[derive(Debug, Default, Args)]
pub struct RunRef {
    /// Run ID, or path of the run folder
    pub run: String,
    /// Look for the run in this folder [default: ./runs]
    #[arg(long, value_name = "DIR")]
    pub runs_dir: Option<PathBuf>,
}

/// Where a command works on a run, and what it prints of it.
#[derive(Clone, Debug, Default, Args)]
pub struct ViewArgs {
    /// Work on the run in a process of its own, and print its folder
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
pub struct ListArgs {
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

#[derive(Debug, Args)]
pub struct UiArgs {
    /// Serve the runs of this folder [default: ./runs]
    #[arg(long, value_name = "DIR")]
    pub runs_dir: Option<PathBuf>,
    /// Listen on this port; 0 picks a free one
    #[arg(long, value_name = "N", default_value_t = 7575)]
    pub port: u16,
    /// Listen on this address
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub host: String,
    /// Has no effect: the address of the page always holds its token
    #[arg(long, hide = true)]
    pub token: bool,
    /// Print the address of the page as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct McpArgs {
    /// Find and store runs in this folder [default: ./runs]
    #[arg(long, value_name = "DIR")]
    pub runs_dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct InitArgs {
    /// Data folder, or one table
    pub dir: PathBuf,
    /// Print what was found in the data, and the open questions, as JSON, and write no file
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub task: TaskArgs,
}

#[derive(Debug, Default, Args)]
pub struct DoctorArgs {
    /// Use the settings of this YAML or TOML file, and check its runners
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Set a config key for the check, such as agents=openai (repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Solve a small built-in task end to end instead, with the offline agents unless settings name others
    #[arg(long, conflicts_with = "json")]
    pub e2e: bool,
    /// Check only this runner of the config file (repeatable)
    #[arg(long, value_name = "NAME", conflicts_with = "e2e")]
    pub runner: Vec<String>,
    /// Use this interpreter for --e2e [default: the program's own environment]
    #[arg(long, value_name = "FILE", requires = "e2e")]
    pub python: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct RunnerArgs {
    /// Keep at most this much data of runs [default: half of what is free or cached]
    #[arg(long, value_name = "GIB")]
    pub cache_limit: Option<u64>,
    /// Copy the data even if it lies at the same path here, for example on a slow shared disk
    #[arg(long)]
    pub copy_data: bool,
}

#[derive(Debug, Subcommand)]
pub enum PromptsCommand {
    /// Write the built-in templates to a folder, to edit and pass to `run --prompts`
    Export {
        /// Destination folder
        dir: PathBuf,
        /// Those of `preset: paper`
        #[arg(long)]
        paper: bool,
    },
}

/// Parses the command line; also returns whether JSON is to be printed.
///
/// # Errors
/// Help, version or an error was printed; its exit code.
pub fn parse() -> Result<(Cli, bool), Exit> {
    let matches = command().try_get_matches();
    let as_json = |matches: &clap::ArgMatches| {
        let given = matches.subcommand().and_then(|(_, of)| of.try_get_one::<bool>("json").ok().flatten());
        given.copied().unwrap_or(false)
    };
    matches.and_then(|matches| Ok((Cli::from_arg_matches(&matches)?, as_json(&matches)))).map_err(|error| {
        match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
                output::text(&error.render().to_string());
                Exit::Done
            }
            ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                output::talk(error.render().to_string().trim_end());
                Exit::Usage
            }
            _ => {
                output::error(&usage_trouble(&error));
                Exit::Usage
            }
        }
    })
}

/// The program, with its commands in two groups.
fn command() -> clap::Command {
    let command = Cli::command();
    let line = |command: &clap::Command| {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        format!("\n  {:<13}{about}", command.get_name())
    };
    let is_daily = |command: &&clap::Command| DAILY.contains(&command.get_name());
    let daily: String = DAILY.iter().filter_map(|name| command.find_subcommand(name)).map(line).collect();
    let more: String = command.get_subcommands().filter(|command| !is_daily(command)).map(line).collect();
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\nCommands:{daily}\n\nMore commands:{more}\n\nOptions:\n{{options}}"
    ))
}

fn usage_trouble(error: &clap::Error) -> Trouble {
    let text = error.render().to_string();
    let whole = text.split("\n\n").next().unwrap_or_default().trim_start_matches("error: ");
    let message = whole.split_whitespace().collect::<Vec<_>>().join(" ");
    let tip = text.lines().find_map(|line| line.trim().strip_prefix("tip: "));
    let hint = match tip {
        Some(tip) => tip,
        None if is_second_task(error) => "give one task; `mle-star bench` runs several",
        None => "see `mle-star --help`, or `mle-star COMMAND --help`",
    };
    Trouble::new(message, hint)
}

/// Whether `run` got a second value without an option.
fn is_second_task(error: &clap::Error) -> bool {
    let is_value = |value: &ContextValue| !value.to_string().starts_with('-');
    error.kind() == ErrorKind::UnknownArgument
        && error.get(ContextKind::InvalidArg).is_some_and(is_value)
        && std::env::args_os().nth(1).is_some_and(|command| command == "run")
}

impl RunRef {
    /// The folder of the run.
    ///
    /// # Errors
    /// There is no such run.
    pub fn find(&self) -> Result<PathBuf, Trouble> {
        runs::find(&self.run, &runs_dir(self.runs_dir.clone()))
    }
}

impl RunArgs {
    /// The options for the library.
    ///
    /// # Errors
    /// A `--set` without `=`.
    pub fn options(&self) -> Result<RunOptions, Trouble> {
        let config = self.settings.config.clone();
        let say: fn(&str) = if self.view.quiet { |_| () } else { output::talk };
        let learn_from = self.learn_from.clone();
        Ok(RunOptions { settings: self.named_settings()?, config, learn_from, say: Some(say) })
    }

    /// The settings that options name. `--set` comes first: a named option overrides it.
    fn named_settings(&self) -> Result<Vec<Setting>, Trouble> {
        let Self { settings: shared, task, .. } = self;
        let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
        let named = [
            ("agents", "--agents", shared.agents.clone()),
            ("model", "--model", shared.model.clone()),
            ("time_limit_seconds", "--time-limit", self.time_limit.clone()),
            ("max_budget_usd", "--max-budget-usd", shared.max_budget_usd.clone()),
            ("prompts", "--prompts", path(&shared.prompts)),
            ("runs_dir", "--runs-dir", path(&self.runs_dir)),
            ("run_id", "--run-id", self.run_id.clone()),
            ("max_concurrent_scripts", "--jobs", shared.jobs.clone()),
            ("json", "--json", self.view.json.then(|| "true".to_owned())),
            ("quiet", "--quiet", self.view.quiet.then(|| "true".to_owned())),
        ];
        let pairs = shared.set.iter().map(|pair| Setting::from_pair(pair, "--set"));
        let mut settings = pairs.collect::<Result<Vec<_>, _>>()?;
        settings.extend(given_options(named));
        settings.extend(task.settings());
        settings.extend((!shared.runner.is_empty()).then(|| Setting {
            key: "runner".to_owned(),
            value: shared.runner.clone().into(),
            origin: "--runner".to_owned(),
        }));
        Ok(settings)
    }
}

impl ResumeArgs {
    /// The options for the library.
    pub fn options(&self) -> ResumeOptions {
        let limits = [
            ("time_limit_seconds", "--time-limit", self.time_limit.clone()),
            ("max_budget_usd", "--max-budget-usd", self.max_budget_usd.clone()),
        ];
        let (config, runners) = (self.config.clone(), self.runner.clone());
        ResumeOptions { limits: given_options(limits).collect(), config, runners }
    }
}

/// Makes a setting of each option that was given. Elements: config key, name of the option, its value.
fn given_options<'a, const N: usize>(
    options: [(&'a str, &'a str, Option<String>); N],
) -> impl Iterator<Item = Setting> + use<'a, N> {
    options.into_iter().filter_map(|(key, option, value)| Some(Setting::from_text(key, &value?, option)))
}

#[cfg(test)]
mod tests {
    use mle_star_domain::metric::Direction;
    use mle_star_run::settings::{Settings, resolve};

    use super::*;

    #[test]
    fn every_named_option_sets_its_key() {
        let args = RunArgs {
            settings: SettingsArgs {
                agents: Some("offline".to_owned()),
                jobs: Some("3".to_owned()),
                max_budget_usd: Some("2.5".to_owned()),
                prompts: Some("p".into()),
                set: vec!["network=on".to_owned(), "max_budget_usd=1".to_owned()],
                ..SettingsArgs::default()
            },
            runs_dir: Some("r".into()),
            task: TaskArgs::of([("metric", "4".to_owned()), ("direction", "minimize".to_owned())]),
            ..RunArgs::default()
        };
        let Settings { config, invocation, task, .. } = resolve(args.options().unwrap().settings).unwrap();
        assert_eq!((config.max_concurrent_scripts, config.max_budget_usd), (Some(3), Some(2.5)));
        assert_eq!(config.prompts, Some("p".into()));
        assert_eq!(config.network, mle_star_domain::config::Switch::On);
        assert_eq!((invocation.runs_dir, task.metric.as_deref()), (Some("r".into()), Some("4")));
        assert_eq!(task.direction, Some(Direction::Minimize));
    }
}
