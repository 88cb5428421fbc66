//! `bench`: several tasks, time limits and seeds, one table.

use std::path::PathBuf;

use mle_star::shell;
use mle_star_domain::trouble::Trouble;
use mle_star_report::figures::{count, duration, number};
use mle_star_report::run_view;
use mle_star_run::prepare::task_source;

use crate::args::{BenchArgs, RunArgs};
use crate::bench::folder::{Folder, RUNS};
use crate::bench::plan::{Plan, PlannedBench, PlannedRun, plan_of};
use crate::bench::results::{self, Results, RunRow, ScoreOf, State};
use crate::bench::run::start_or_resume;
use crate::bench::table;
use crate::exit::{Exit, Failure};
use crate::foreground::{Listening, View, drive_in_turn};
use crate::output;
use crate::watch::Show;

/// A bench in progress.
struct Bench<'a> {
    args: &'a BenchArgs,
    folder: Folder,
    plan: &'a Plan,
    runs: Vec<PlannedRun<'a>>,
    /// One for each of them.
    rows: Vec<RunRow>,
    options: RunArgs,
    view: View,
}

/// Makes the runs of a bench that have no result, grades them, and shows all results. A run that fails does not stop the
/// others; the exit code is the [worst](Exit::rank) of them.
///
/// # Errors
/// A mistake in the input, a bench folder that cannot be used, or an interruption.
pub fn bench(args: &BenchArgs) -> Result<Exit, Failure> {
    let PlannedBench { plan, options } = plan_of(args)?;
    if !args.quiet {
        say_skipped(&args.tasks);
    }
    let out = &args.out;
    let folder = Folder::open(out, &plan)?;
    let listening = Listening::start()?;
    let mut bench = Bench::new(args, folder, &plan, options);
    bench.announce();
    bench.make(&listening)?;
    let results = bench.write()?;
    if let Some(exit) = listening.stopped().filter(|_| !results.complete) {
        return Err(interrupted(exit, &results));
    }
    if args.json {
        output::json(&results)?;
    } else {
        table::lines(&results, output::data_columns()).iter().for_each(|line| output::shown(line));
    }
    bench.say(&format!("\nresults: {0}/results.json, {0}/results.csv", out.display()));
    bench.say(&format!("runs: mle-star ui --runs-dir {}", shell::quoted(&out.join(RUNS))));
    Ok(results.exit())
}

impl<'a> Bench<'a> {
    fn new(args: &'a BenchArgs, folder: Folder, plan: &'a Plan, options: RunArgs) -> Self {
        let runs = plan.runs();
        let rows = runs.iter().map(|planned| results::row(&folder, planned)).collect();
        let view = View { show: if args.quiet { Show::Nothing } else { Show::Status }, json: false };
        Self { args, folder, plan, runs, rows, options, view }
    }

    fn say(&self, line: &str) {
        if !self.args.quiet {
            output::talk(line);
        }
    }

    fn announce(&self) {
        let finished = self.rows.iter().filter(|row| row.state == State::Finished).count();
        let finished = if finished > 0 { format!(", {finished} finished") } else { String::new() };
        let runs = count(self.runs.len() as u64, "run");
        self.say(&format!("agents: {}", self.plan.agents));
        self.say(&format!("bench: {} ({runs}{finished})", self.folder.path.display()));
    }

    /// Makes the runs that have no result.
    fn make(&mut self, listening: &Listening) -> Result<(), Failure> {
        let is_finished = |at: &usize| run_view::is_finished(&self.folder.run(&self.runs[*at]));
        let (finished, open): (Vec<usize>, Vec<usize>) = (0..self.runs.len()).partition(is_finished);
        // Answers may have been added, or corrected.
        finished.into_iter().for_each(|at| self.close(at));
        for at in open {
            if listening.stopped().is_some() {
                break;
            }
            self.make_one(at, listening);
            self.write()?;
        }
        Ok(())
    }

    /// Makes one run.
    fn make_one(&mut self, at: usize, listening: &Listening) {
        let planned = &self.runs[at];
        self.say(&format!("[{}/{}] {}", at + 1, self.runs.len(), planned.words()));
        let begun = start_or_resume(&self.folder, planned, &self.options);
        let drive = |run| drive_in_turn(listening, self.view, run).map(drop);
        match begun.and_then(|run| run.map_or(Ok(()), drive)) {
            Ok(()) => self.close(at),
            Err(failure) if matches!(failure.exit, Exit::Interrupted | Exit::Terminated) => {
                self.rows[at] = results::row(&self.folder, &self.runs[at]);
            }
            Err(failure) => return self.fail(at, &failure),
        }
        self.say(&format!("    {}", outcome(&self.rows[at])));
    }

    /// Makes the row of a finished run.
    fn close(&mut self, at: usize) {
        let (planned, row) = (&self.runs[at], &mut self.rows[at]);
        *row = results::row(&self.folder, planned);
        if let Err(trouble) = results::grade(row, &self.folder, planned) {
            output::error(&trouble.clone().of(planned.words()));
            (row.exit, row.error) = (Some(Exit::Failed.code()), Some(trouble.message));
        }
    }

    /// Makes the row of a run that failed.
    fn fail(&mut self, at: usize, failure: &Failure) {
        let (planned, row) = (&self.runs[at], &mut self.rows[at]);
        output::error(&failure.trouble.clone().of(planned.words()));
        *row = results::row(&self.folder, planned);
        row.state = State::Failed;
        (row.exit, row.error) = (Some(failure.exit.code()), Some(failure.trouble.message.clone()));
    }

    fn write(&self) -> Result<Results, Failure> {
        let results = results::results(self.plan, self.rows.clone());
        self.folder.write("results.json", &results.json()?)?;
        self.folder.write("results.csv", &results.csv()?)?;
        Ok(results)
    }
}

/// Names the folders beside tasks that are no tasks.
fn say_skipped(tasks: &[PathBuf]) {
    for folder in task_source::skipped(tasks) {
        let folder = folder.display();
        output::talk(&format!("note: skipped {folder}: it has no task file, train.csv or description.md"));
    }
}

/// How a run ended, in words.
fn outcome(row: &RunRow) -> String {
    let kinds = [ScoreOf::Hidden, ScoreOf::HeldOut, ScoreOf::Validation];
    let score = kinds.into_iter().find_map(|of| Some((row.score_on(of)?, of.words())));
    let metric = row.metric().unwrap_or("score");
    let score = score.map(|(score, of)| format!("{metric} {} ({of})", number(score)));
    let time = row.seconds().map(duration);
    let error = match row.state {
        State::Unfinished => Some("unfinished".to_owned()),
        _ => row.error.clone(),
    };
    [score.filter(|_| row.valid), error, time].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn interrupted(exit: Exit, results: &Results) -> Failure {
    let ended = results.runs.iter().filter(|row| row.state == State::Finished).count();
    let message = format!("interrupted, {ended} of {} runs are finished", results.runs.len());
    Failure { exit, trouble: Trouble::new(message, "continue with the same command") }
}
