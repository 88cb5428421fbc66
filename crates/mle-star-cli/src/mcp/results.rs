//! The tools `list`, `show` and `result`.

use std::path::{Path, PathBuf};

use mle_star_domain::layout;
use mle_star_domain::trouble::Trouble;
use mle_star_report::at_work::AtWork;
use mle_star_report::cut::cut;
use mle_star_report::figures::{duration, number, signed};
use mle_star_report::run_report::{Checks, RunReport};
use mle_star_report::run_view::{self, Identity, RunView, SoFar, Spent, StepRow, Summary};
use mle_star_report::sanitize::first_line;
use mle_star_report::score_report::ScoreReport;
use mle_star_report::text;
use mle_star_report::views::{Context, edits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Hub;
use super::answer::{Answer, MOST_OF_SCRIPT};
use crate::commands::{list as listing, show as showing};
use crate::exit::Exit;

pub const ABOUT_LIST: &str = "List runs, newest first: state, best score, time and cost.";

pub const ABOUT_SHOW: &str = "Show a run: its summary, its steps and the changes that were accepted; with a place, the script \
of that step, or with diff=true what it changed.";

pub const ABOUT_RESULT: &str = "Show what a run is worth: validation and held-out score with 95 % intervals, what was checked, \
why a score is suspect if it is, and the paths of submission, script and report. Of an unfinished run, the best answer so far.";

/// The runs that are listed by default.
const MOST_RUNS: usize = 20;
/// The steps that are shown by default.
const MOST_STEPS: usize = 40;
/// The findings that are shown.
const MOST_FINDINGS: usize = 10;

/// How much to list.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListInput {
    /// The most runs; default 20
    most: Option<usize>,
}

/// The runs of the runs directory.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListOutput {
    runs_dir: PathBuf,
    /// Newest first.
    runs: Vec<Summary>,
    /// How many older runs are not listed.
    left_out: usize,
    /// Run folders that cannot be read.
    notes: Vec<String>,
}

/// Lists runs.
pub fn list(hub: &Hub, ListInput { most }: ListInput) -> Result<Answer<ListOutput>, Trouble> {
    let (mut runs, notes) = listing::rows(&hub.runs_dir);
    runs.reverse();
    let most = most.unwrap_or(MOST_RUNS);
    let left_out = runs.len().saturating_sub(most);
    runs.truncate(most);
    let mut lines: Vec<String> = runs.iter().map(listing::line).collect();
    if runs.is_empty() {
        lines.push(format!("no runs in {}", hub.runs_dir.display()));
    }
    if left_out > 0 {
        lines.push(format!("{left_out} older runs are not listed"));
    }
    lines.extend(notes.iter().cloned());
    let runs = runs.into_iter().map(|run| run.summary).collect();
    Ok(Answer::new(&lines, ListOutput { runs_dir: hub.runs_dir.clone(), runs, left_out, notes }))
}

/// What to show of a run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShowInput {
    /// Run ID, or path of the run folder
    run: String,
    /// Show the script of this step instead, such as phase1/merge-1, phase2/path-0/t0/k1 or finalization
    place: Option<String>,
    /// Show what the script of the step changed, compared with the script that it was made from
    #[serde(default)]
    diff: bool,
    /// The most steps, counted from the last; default 40
    steps: Option<usize>,
}

/// A run.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ShowOutput {
    run: Summary,
    folder: PathBuf,
    /// Accepted edits of solutions, oldest first.
    accepted: Vec<Accepted>,
    /// Agent calls, scripts and decisions, oldest first.
    steps: Vec<StepRow>,
    /// How many earlier steps are not shown.
    steps_left_out: usize,
    /// The script or diff, if a place was given.
    script: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Accepted {
    place: String,
    score: String,
    /// Compared with the solution before; + is better.
    change: String,
    plan: String,
}

/// Shows a run, or a script.
pub fn show(hub: &Hub, input: ShowInput) -> Result<Answer<ShowOutput>, Trouble> {
    let ShowInput { run, place, diff, steps } = input;
    let folder = hub.find(&run)?;
    let view = run_view::read(&folder).map_err(|error| error.trouble())?;
    let at_work = AtWork::of(&view);
    let context = Context::of(&view, &at_work);
    let script = place.map(|place| script(&view, &place, diff)).transpose()?;
    // Who asks for a script knows the run.
    let most = if script.is_some() { 0 } else { steps.unwrap_or(MOST_STEPS) };
    let steps_left_out = view.steps.len().saturating_sub(most);
    let edits = if script.is_none() { edits(&context) } else { Vec::new() };
    let accepted = edits.iter().map(|edit| Accepted {
        place: edit.place.to_string(),
        score: number(edit.score),
        change: signed(edit.gain),
        plan: first_line(&edit.plan, 200),
    });
    let shown = ShowOutput {
        run: view.summary.clone(),
        folder,
        accepted: accepted.collect(),
        steps: view.steps[steps_left_out..].to_vec(),
        steps_left_out,
        script: script.clone(),
    };
    match script {
        Some(script) => Ok(Answer::script(&script, shown)),
        None => Ok(Answer::new(&text::lines(&context)?, shown)),
    }
}

fn script(view: &RunView, place: &str, diff: bool) -> Result<String, Trouble> {
    let code = showing::find(view, place)?;
    let text = match (&code.parent, diff) {
        (_, false) => code.script,
        (None, true) => {
            let hint = "ask for the script itself, without diff";
            return Err(Trouble::new(format!("{} has no parent script", code.place), hint));
        }
        (Some(_), true) => code.diff(),
    };
    Ok(cut(&text, MOST_OF_SCRIPT))
}

/// Whose result.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResultInput {
    /// Run ID, or path of the run folder
    run: String,
}

/// What a run is worth.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ResultOutput {
    #[serde(flatten)]
    run: Identity,
    folder: PathBuf,
    /// Whether this is the final result.
    is_final: bool,
    #[serde(flatten)]
    score: ScoreReport,
    #[serde(flatten)]
    checks: Checks,
    #[serde(flatten)]
    files: ResultFiles,
    /// The answer so far of a run that is not finished.
    so_far: Option<SoFar>,
    /// Of `mle-star run`: 0 is a checked submission, 3 a solution without one.
    exit_code: Option<u8>,
    #[serde(flatten)]
    spent: Spent,
    /// What to read first.
    notes: Vec<String>,
}

/// The paths of the files of a run that exist.
#[derive(Debug, Serialize, JsonSchema)]
struct ResultFiles {
    submission: Option<PathBuf>,
    solution: Option<PathBuf>,
    requirements: Option<PathBuf>,
    report: Option<PathBuf>,
    /// The whole result.
    result: Option<PathBuf>,
}

/// Shows the result of a run.
pub fn result(hub: &Hub, ResultInput { run }: ResultInput) -> Result<Answer<ResultOutput>, Trouble> {
    let folder = hub.find(&run)?;
    let view = run_view::read(&folder).map_err(|error| error.trouble())?;
    let report = RunReport::of(&view);
    let files = ResultFiles::of(&folder);
    let lines = lines(&report, &files);
    let exit_code = view.result.as_ref().map(|result| Exit::of_result(result).code());
    Ok(Answer::new(&lines, ResultOutput::of(report, files, exit_code)))
}

impl ResultOutput {
    fn of(report: RunReport, files: ResultFiles, exit_code: Option<u8>) -> Self {
        let notes = report.notes();
        let RunReport { run, folder, is_final, mut score, checks, answer, spent, .. } = report;
        score.trust.iter_mut().for_each(|trust| trust.findings.truncate(MOST_FINDINGS));
        Self { run, folder, is_final, score, checks, files, so_far: answer.so_far, exit_code, spent, notes }
    }
}

impl ResultFiles {
    fn of(folder: &Path) -> Self {
        let last = folder.join(layout::FINAL);
        Self {
            submission: existing(&last, layout::SUBMISSION),
            solution: existing(&last, layout::SOLUTION),
            requirements: existing(&last, layout::REQUIREMENTS),
            report: existing(folder, layout::REPORT),
            result: existing(folder, layout::RESULT),
        }
    }
}

fn existing(folder: &Path, name: &str) -> Option<PathBuf> {
    Some(folder.join(name)).filter(|path| path.is_file())
}

fn lines(report: &RunReport, files: &ResultFiles) -> Vec<String> {
    let Identity { run_id, state, metric, direction } = &report.run;
    let mut lines = vec![format!("run {run_id} ({}), {metric} ({})", state.name(), direction.name())];
    lines.extend(report.score_lines());
    lines.extend(report.notes().iter().map(|note| format!("note: {note}")));
    lines.push(format!("time: {}", duration(report.spent.elapsed_seconds)));
    let files = [
        ("submission", &files.submission),
        ("solution", &files.solution),
        ("report", &files.report),
        ("result", &files.result),
    ];
    let files = files.into_iter().filter_map(|(name, path)| Some((name, path.as_ref()?)));
    lines.extend(files.map(|(name, path)| format!("{name}: {}", path.display())));
    lines
}
