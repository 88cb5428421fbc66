//! Starts and resumes runs in processes of their own.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use mle_star::journal::JournalError;
use mle_star::result::FinalResult;
use mle_star_domain::trouble::Trouble;
use mle_star_report::cuts::{self, More};
use mle_star_report::run_view::{self, RunView, State};
use mle_star_run::prepare::{Intent, Prepared, prepare_for, task_source};
use mle_star_run::resume::raise_limits;
use mle_star_run::settings::process_environment;

use super::{Begun, Late, begin};
use crate::args::{ForkArgs, ResumeArgs, RunArgs};

/// A run that was started.
#[derive(Debug)]
pub struct Launched {
    /// The run ID.
    pub id: String,
    /// Its folder, which may not exist yet.
    pub folder: PathBuf,
    /// How far its process came.
    pub begun: Begun,
    /// The inputs, as the process infers them, too.
    pub prepared: Prepared,
}

/// Starts a run of one task in a separate process.
///
/// # Errors
/// The task or an option is wrong; with the error of `run`.
pub fn launch(args: &RunArgs, runs_dir: &Path, late: &Late) -> Result<Launched, Trouble> {
    let prepared = prepared(Intent::Begin, args)?;
    let id = args.run_id.clone();
    let id = id.unwrap_or_else(|| free_id(runs_dir, &prepared.task.competition_id, &jiff::Zoned::now()));
    let folder = runs_dir.join(&id);
    let begun = begin(runs_dir, &folder, &run_line(args, runs_dir, &id), late)?;
    Ok(Launched { id, folder, begun, prepared })
}

/// The inputs of a run of one task.
///
/// # Errors
/// The task or an option is wrong, or there are several tasks.
pub fn prepared(intent: Intent, args: &RunArgs) -> Result<Prepared, Trouble> {
    let task = task_source::one(&args.path)?;
    prepare_for(intent, &args.options()?, &task, &process_environment).map_err(|error| error.trouble)
}

/// Resumes a run in a separate process, with the limits of `args`.
///
/// # Errors
/// It cannot be resumed; the error of a `resume` that ends at once.
pub fn resume(folder: &Path, args: &ResumeArgs, late: &Late) -> Result<Begun, Trouble> {
    can_go_on(&resumable(folder)?, args)?;
    let runs_dir = folder.parent().unwrap_or(Path::new("."));
    begin(runs_dir, folder, &resume_line(folder, args), late)
}

/// Makes a new run from a place of the one in `parent`, in a separate process. Returns its folder.
///
/// # Errors
/// As `fork`.
pub fn fork(parent: &Path, args: &ForkArgs, late: &Late) -> Result<(PathBuf, Begun), Trouble> {
    let view = run_view::read(parent).map_err(|error: JournalError| error.trouble())?;
    let runs_dir = parent.parent().unwrap_or(Path::new("."));
    let id = args.run_id.clone();
    let id = id.unwrap_or_else(|| free_id(runs_dir, &view.summary.task, &jiff::Zoned::now()));
    let folder = runs_dir.join(&id);
    let begun = begin(runs_dir, &folder, &fork_line(parent, args, &id), late)?;
    Ok((folder, begun))
}

/// A run that was interrupted, or used its limit.
///
/// # Errors
/// It is running or finished, or its journal cannot be read.
pub fn resumable(folder: &Path) -> Result<RunView, Trouble> {
    let view = run_view::read(folder).map_err(|error: JournalError| error.trouble())?;
    let why = match view.summary.run.state {
        State::Unfinished => return Ok(view),
        State::Finished if view.result.as_ref().is_some_and(FinalResult::was_cut) => {
            return Ok(view);
        }
        State::Running => "this run is already running",
        State::Finished => "this run has finished",
    };
    Err(Trouble::new(why, "look at its result so far"))
}

/// Checks that a run which used its limit gets more of what it lacked.
fn can_go_on(view: &RunView, args: &ResumeArgs) -> Result<(), Trouble> {
    let cut = view.result.as_ref().filter(|_| view.summary.run.state == State::Finished);
    let Some(cuts) = cut.map(|result| &result.cuts) else { return Ok(()) };
    let more = raise_limits(&args.options().limits, &mut view.snapshot.frozen.config.clone())?;
    // Results of earlier versions have no cuts.
    if (more.time || more.money) && (cuts.is_empty() || !cuts::of(cuts, more).is_empty()) {
        return Ok(());
    }
    let limits = [
        ("time limit", More { time: true, money: false }),
        ("cost limit", More { time: false, money: true }),
    ];
    let of_limit = limits.map(|(limit, more)| (limit, cuts::of(cuts, more)));
    let hints = of_limit.iter().filter(|(_, cuts)| !cuts.is_empty());
    let hints: Vec<String> = hints
        .map(|(limit, cuts)| format!("a larger {limit} would go on with {}", cuts::in_words(cuts)))
        .collect();
    let hint =
        if hints.is_empty() { "raise the limit that cut it short".to_owned() } else { hints.join("; ") };
    Err(Trouble::new("this run has finished as far as its limits allow", hint))
}

/// A run ID that no run has, and that was given to no other start.
fn free_id(runs_dir: &Path, task: &str, now: &jiff::Zoned) -> String {
    static GIVEN: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let mut given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
    let first = run_id(task, now);
    let mut id = first.clone();
    for attempt in 2.. {
        let folder = runs_dir.join(&id);
        if !folder.exists() && given.insert(folder) {
            break;
        }
        id = format!("{first}-{attempt}");
    }
    id
}

/// A valid run ID made from the task's name.
fn run_id(task: &str, now: &jiff::Zoned) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let name: String = task.chars().map(allowed).take(60).collect();
    let name = name.trim_start_matches(['-', '.']);
    let name = if name.is_empty() { "task" } else { name };
    format!("{name}-{}", now.strftime("%Y%m%d-%H%M%S"))
}

/// The command line of a run of one task.
fn run_line(args: &RunArgs, runs_dir: &Path, id: &str) -> Vec<OsString> {
    let mut line: Vec<OsString> = vec!["run".into(), "--quiet".into(), format!("--run-id={id}").into()];
    line.extend(["--runs-dir".into(), runs_dir.as_os_str().to_owned()]);
    let RunArgs { settings, task, .. } = args;
    for (option, path) in [("--config", &settings.config), ("--prompts", &settings.prompts)] {
        line.extend(path.iter().flat_map(|path| [option.into(), path.as_os_str().to_owned()]));
    }
    let single = [
        ("agents", &settings.agents),
        ("model", &settings.model),
        ("time-limit", &args.time_limit),
        ("max-budget-usd", &settings.max_budget_usd),
        ("jobs", &settings.jobs),
    ];
    line.extend(given(&single));
    line.extend(task.line().map(OsString::from));
    line.extend(settings.set.iter().map(|setting| format!("--set={setting}").into()));
    line.extend(settings.runner.iter().map(|runner| format!("--runner={runner}").into()));
    line.extend(args.learn_from.iter().map(|run| format!("--learn-from={run}").into()));
    line.push("--".into());
    line.push(args.path.as_os_str().to_owned());
    line
}

fn resume_line(folder: &Path, args: &ResumeArgs) -> Vec<OsString> {
    let limits = [("time-limit", &args.time_limit), ("max-budget-usd", &args.max_budget_usd)];
    let mut line: Vec<OsString> = vec!["resume".into(), "--quiet".into()];
    line.extend(given(&limits));
    line.extend(["--".into(), folder.as_os_str().to_owned()]);
    line
}

fn fork_line(parent: &Path, args: &ForkArgs, id: &str) -> Vec<OsString> {
    let limits = [("time-limit", &args.time_limit), ("max-budget-usd", &args.max_budget_usd)];
    let mut line: Vec<OsString> = vec!["fork".into(), "--quiet".into(), format!("--run-id={id}").into()];
    line.push(format!("--at={}", args.at).into());
    line.extend(given(&limits));
    line.extend(args.set.iter().map(|setting| format!("--set={setting}").into()));
    line.extend(["--".into(), parent.as_os_str().to_owned()]);
    line
}

fn given(options: &[(&str, &Option<String>)]) -> Vec<OsString> {
    let given = options.iter().filter_map(|(option, value)| Some((option, value.as_ref()?)));
    given.map(|(option, value)| format!("--{option}={value}").into()).collect()
}
