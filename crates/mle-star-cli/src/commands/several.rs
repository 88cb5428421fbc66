//! `run` with several tasks: one run per task, side by side.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use mle_star::result::FinalResult;
use mle_star_domain::trouble::Trouble;
use mle_star_process::open_files::allow_many;
use mle_star_report::figures::number;
use mle_star_report::run_view;
use mle_star_run::OpenRun;
use mle_star_run::prepare::{Prepared, prepare_for};
use mle_star_run::settings::process_environment;

use super::tasks::{forget_if_unusable, intent};
use crate::args::RunArgs;
use crate::estimate;
use crate::exit::{Exit, Failure};
use crate::foreground::{Ended, View, drive_all};
use crate::output;

/// A row of the final table.
struct Row {
    task: String,
    score: String,
    submission: String,
    exit: Exit,
}

/// Solves several tasks. One that cannot be started or fails does not stop the others; the exit code is the
/// [worst](Exit::rank) of them.
///
/// # Errors
/// A run ID was set, or the runtime cannot be started.
pub fn run(args: &RunArgs, tasks: &[PathBuf]) -> Result<Exit, Failure> {
    if let Some(id) = &args.run_id {
        let message = format!("{} tasks cannot share the run ID {id}", tasks.len());
        return Err(Trouble::new(message, "leave out --run-id: each run is named after its task").into());
    }
    if args.estimate {
        return Ok(worst(tasks.iter().map(|task| exit_of(task, estimated(args, task)))));
    }
    allow_many();
    let mut rows: Vec<Row> = Vec::new();
    let mut view = View { json: args.json, quiet: args.quiet };
    let mut runs: Vec<OpenRun> = Vec::new();
    for task in tasks {
        match opened(args, task) {
            Ok((wished, run)) => {
                view = if runs.is_empty() { wished } else { view };
                runs.push(run);
            }
            Err(failure) => rows.push(Row::not_started(task, exit_of(task, Err(failure)))),
        }
    }
    if !runs.is_empty() {
        rows.extend(drive_all(view, named(runs), forget_if_unusable)?.into_iter().map(closed));
    }
    if !view.quiet {
        table(&rows).iter().for_each(|line| output::talk(line));
    }
    Ok(worst(rows.iter().map(|row| row.exit)))
}

fn opened(args: &RunArgs, task: &Path) -> Result<(View, OpenRun), Failure> {
    let prepared = prepared(args, task)?;
    Ok((View::of(&prepared.invocation), prepared.freeze()?))
}

fn prepared(args: &RunArgs, task: &Path) -> Result<Prepared, Failure> {
    let prepared = prepare_for(intent(args), &args.options()?, task, &process_environment)?;
    match &prepared.invocation.run_id {
        None => Ok(prepared),
        Some(id) => {
            let message = format!("several runs cannot share the run ID {id}");
            Err(Trouble::new(message, "remove run_id from the config file: each run is named after its task")
                .into())
        }
    }
}

fn estimated(args: &RunArgs, task: &Path) -> Result<Exit, Failure> {
    estimate::print(&prepared(args, task)?)
}

/// The exit code of a task that was not started; prints its error.
fn exit_of(task: &Path, ended: Result<Exit, Failure>) -> Exit {
    ended.unwrap_or_else(|Failure { exit, trouble }| {
        output::error(&trouble.of(task.display()));
        exit
    })
}

/// Each run is named after its task, or by its ID if several tasks have the same name.
fn named(runs: Vec<OpenRun>) -> Vec<(String, OpenRun)> {
    let mut times: HashMap<String, usize> = HashMap::new();
    for run in &runs {
        *times.entry(run.frozen.task.competition_id.clone()).or_default() += 1;
    }
    let name = |run: &OpenRun| {
        let task = &run.frozen.task.competition_id;
        if times.get(task) == Some(&1) { task.clone() } else { run.frozen.run_id.clone() }
    };
    runs.into_iter().map(|run| (name(&run), run)).collect()
}

fn closed(ended: Ended) -> Row {
    let Ended { name, folder, exit } = ended;
    let code = exit.as_ref().map_or_else(|failure| failure.exit, |exit| *exit);
    let result = folder.filter(|_| exit.is_ok()).and_then(|folder| run_view::read_result(&folder));
    Row::ended(name, result.as_ref(), code)
}

fn worst(exits: impl Iterator<Item = Exit>) -> Exit {
    exits.max_by_key(|exit| exit.rank()).unwrap_or(Exit::Done)
}

impl Row {
    fn not_started(task: &Path, exit: Exit) -> Self {
        Self::ended(task.display().to_string(), None, exit)
    }

    fn ended(task: String, result: Option<&FinalResult>, exit: Exit) -> Self {
        let none = || "-".to_owned();
        let score = |result: &FinalResult| {
            format!("{} {}", result.task.evaluation_metric, number(result.validation_score()))
        };
        let submission = result.map(|result| result.submission_path.clone()).filter(|path| !path.is_empty());
        Self {
            task,
            score: result.map_or_else(none, score),
            submission: submission.unwrap_or_else(none),
            exit,
        }
    }
}

/// The rows in columns under a heading. The path of the submission is last because it is the longest.
fn table(rows: &[Row]) -> Vec<String> {
    let width = |column: fn(&Row) -> &str, heading: &str| {
        let cells = rows.iter().map(|row| column(row).chars().count());
        cells.chain([heading.len()]).max().unwrap_or_default()
    };
    let (task, score) = (width(|row| &row.task, "task"), width(|row| &row.score, "score"));
    let line = |a: &str, b: &str, c: &str, d: &str| format!("{a:<task$}  {b:<score$}  {c:>4}  {d}");
    let heading = [String::new(), line("task", "score", "exit", "submission")];
    let rows =
        rows.iter().map(|row| line(&row.task, &row.score, &row.exit.code().to_string(), &row.submission));
    heading.into_iter().chain(rows).collect()
}
