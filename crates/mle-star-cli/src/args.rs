//! What can be typed: commands and their options. The doc comments are the help text.

use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, Parser, Subcommand};
use mle_star::stop::Trouble;

use crate::exit::Exit;
use crate::output;

/// Turn a machine-learning task into a verified submission.
///
/// Give a data folder or a task file to `run`; the program searches for models, writes and runs Python
/// scripts, refines the best one part by part, combines solutions, and checks the submission it makes.
#[derive(Debug, Parser)]
#[command(name = "mle-star", version, arg_required_else_help = true, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Solve a task, or several side by side
    ///
    /// Every option is also a key of the config file. An option wins over the config file, that over the
    /// environment (MLE_STAR_MODEL, MLE_STAR_LOG_LEVEL, MLE_STAR_MAX_BUDGET, MLE_STAR_TIME_LIMIT,
    /// MLE_STAR_CLAUDE_PATH, MLE_STAR_RUNS_DIR), and that over the default.
    Run(Box<RunArgs>),
    /// Go on with an interrupted or failed run
    ///
    /// Repeats no finished step. Task, settings and templates are those of the run.
    Resume(ResumeArgs),
    /// List the runs of a runs directory
    List(ListArgs),
    /// Watch a run that another process works on
    ///
    /// Shows it as `run` does, until it ends, and ends with its exit code. Ctrl-C ends the watching, with exit code 0;
    /// the run goes on.
    Watch(WatchArgs),
    /// Show one run: what it is, its accepted changes and its solutions
    Show(ShowArgs),
    /// Write a run's report.html
    Report(RunRef),
    /// Show the runs of a runs directory as a web page
    ///
    /// Serves this machine alone, unless told otherwise. Ends with Ctrl-C; runs go on without it.
    Ui(UiArgs),
    /// Look at a data folder and write a task.yaml for it
    Init(InitArgs),
    /// Say what this machine offers
    Doctor(DoctorArgs),
    /// Work with the agents' prompt templates
    #[command(subcommand)]
    Prompts(PromptsCommand),
    /// Print what makes a shell complete this program's commands and options
    Completions {
        /// For this shell
        #[arg(value_enum)]
        shell: CompletedShell,
    },
    /// Print the manual page, or write one page per command into a folder
    Man {
        /// Write them here
        dir: Option<PathBuf>,
    },
}

#[derive(Debug, Default, Args)]
pub struct RunArgs {
    /// Use this task: a task file (YAML or TOML), or a folder with train.csv, test.csv,
    /// sample_submission.csv and description.md; several tasks, or a folder of task folders, run side by side
    #[arg(value_name = "TASK", required = true)]
    pub tasks: Vec<PathBuf>,
    /// Let these agents answer: auto, claude or offline
    #[arg(long, value_name = "WHO")]
    pub agents: Option<String>,
    /// Read settings from this YAML or TOML file
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Set any config key; repeatable
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Hand this model to the agents
    #[arg(long)]
    pub model: Option<String>,
    /// End the run within this time
    #[arg(long, value_name = "SECONDS")]
    pub time_limit: Option<String>,
    /// Spend no more than this
    #[arg(long, value_name = "X")]
    pub max_budget_usd: Option<String>,
    /// Replace built-in prompt templates by those of this folder
    #[arg(long, value_name = "DIR")]
    pub prompts: Option<PathBuf>,
    /// Keep runs in this folder [default: ./runs]
    #[arg(long, value_name = "DIR")]
    pub runs_dir: Option<PathBuf>,
    /// Call the run so [default: the task's name with date and time]
    #[arg(long, value_name = "ID")]
    pub run_id: Option<String>,
    /// Score by this metric
    #[arg(long, value_name = "NAME")]
    pub metric: Option<String>,
    /// Say which scores win: maximize or minimize
    #[arg(long, value_name = "WHICH")]
    pub direction: Option<String>,
    /// Predict this column
    #[arg(long, value_name = "COLUMN")]
    pub target: Option<String>,
    /// Name rows by this column
    #[arg(long, value_name = "COLUMN")]
    pub id_column: Option<String>,
    /// Run so many scripts at once [default: one per GPU, else one]
    #[arg(long, value_name = "N")]
    pub jobs: Option<String>,
    /// Print how many agent calls and script runs this implies and what it may cost, and do nothing
    #[arg(long)]
    pub estimate: bool,
    /// Print one event per line as JSON
    #[arg(long)]
    pub json: bool,
    /// Print nothing but errors
    #[arg(long)]
    pub quiet: bool,
}

#[derive(Debug, Args)]
pub struct ResumeArgs {
    /// Name the run by its id or the path of its folder
    pub run: String,
    /// Look for the run in this folder [default: ./runs]
    #[arg(long, value_name = "DIR")]
    pub runs_dir: Option<PathBuf>,
    /// Raise the run's time limit
    #[arg(long, value_name = "SECONDS")]
    pub time_limit: Option<String>,
    /// Raise the run's money limit
    #[arg(long, value_name = "X")]
    pub max_budget_usd: Option<String>,
    /// Print one event per line as JSON
    #[arg(long)]
    pub json: bool,
    /// Print nothing but errors
    #[arg(long)]
    pub quiet: bool,
}

#[derive(Debug, Args)]
pub struct WatchArgs {
    /// Name the run by its id or the path of its folder
    pub run: String,
    /// Look for the run in this folder [default: ./runs]
    #[arg(long, value_name = "DIR")]
    pub runs_dir: Option<PathBuf>,
    /// Print one event per line as JSON
    #[arg(long)]
    pub json: bool,
}

/// The shells that completions are made for.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum CompletedShell {
    Bash,
    Zsh,
    Fish,
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
pub struct ShowArgs {
    #[command(flatten)]
    pub of: RunRef,
    /// Print the script at this place instead, such as phase1/merge-1, phase2/path-0/t0/k1 or finalization
    #[arg(long, value_name = "PLACE", conflicts_with_all = ["diff", "json"])]
    pub code: Option<String>,
    /// Print what the script at this place changes in the one it was made from
    #[arg(long, value_name = "PLACE", conflicts_with = "json")]
    pub diff: Option<String>,
}

#[derive(Debug, Args)]
pub struct RunRef {
    /// Name the run by its id or the path of its folder
    pub run: String,
    /// Look for the run in this folder [default: ./runs]
    #[arg(long, value_name = "DIR")]
    pub runs_dir: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct UiArgs {
    /// Show the runs of this folder [default: ./runs]
    #[arg(long, value_name = "DIR")]
    pub runs_dir: Option<PathBuf>,
    /// Listen on this port; 0 takes any that is free
    #[arg(long, value_name = "N", default_value_t = 7575)]
    pub port: u16,
    /// Listen on this address; any but this machine's own requires the token that is printed
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub host: String,
    /// Ask for the token on this machine, too: without it, every process of this user is let in
    #[arg(long)]
    pub token: bool,
    /// Print the page's address as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct InitArgs {
    /// Look at this data folder
    pub dir: PathBuf,
    /// Score by this metric
    #[arg(long, value_name = "NAME")]
    pub metric: Option<String>,
    /// Say which scores win: maximize or minimize
    #[arg(long, value_name = "WHICH")]
    pub direction: Option<String>,
    /// Predict this column
    #[arg(long, value_name = "COLUMN")]
    pub target: Option<String>,
    /// Name rows by this column
    #[arg(long, value_name = "COLUMN")]
    pub id_column: Option<String>,
}

#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Ask the language model one small question instead; it costs a little
    #[arg(long, conflicts_with = "e2e")]
    pub probe_agents: bool,
    /// Solve a small built-in task from end to end instead
    #[arg(long, conflicts_with = "json")]
    pub e2e: bool,
    /// Solve it with this interpreter [default: the program's own environment]
    #[arg(long, value_name = "FILE", requires = "e2e")]
    pub python: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum PromptsCommand {
    /// Write the built-in templates into a folder, to be changed and given to `run --prompts`
    Export {
        /// Write them here
        dir: PathBuf,
    },
}

/// What was typed.
///
/// # Errors
/// The exit code of help, version (done) or bad usage, after it was told.
pub fn parse() -> Result<Cli, Exit> {
    Cli::try_parse().map_err(|error| match error.kind() {
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
    })
}

fn usage_trouble(error: &clap::Error) -> Trouble {
    let text = error.render().to_string();
    let whole = text.split("\n\n").next().unwrap_or_default().trim_start_matches("error: ");
    let message = whole.split_whitespace().collect::<Vec<_>>().join(" ");
    let suggested =
        [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand, ContextKind::SuggestedValue]
            .into_iter()
            .find_map(|kind| error.get(kind).map(suggestion));
    let hint = match suggested {
        Some(word) => format!("did you mean {word}?"),
        None => "see `mle-star --help`, or `mle-star COMMAND --help`".to_owned(),
    };
    Trouble::new(message, hint)
}

fn suggestion(value: &ContextValue) -> String {
    match value {
        ContextValue::Strings(words) => words.join(" or "),
        other => other.to_string(),
    }
}
