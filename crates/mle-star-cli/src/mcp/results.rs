//! The tools `list`, `show` and `result`.

use std::path::{Path, PathBuf};

use mle_star::result::FinalResult;
use mle_star_domain::layout;
use mle_star_domain::metric::Direction;
use mle_star_domain::trouble::Trouble;
use mle_star_domain::trust::{Finding, Probe};
use mle_star_report::cut::cut;
use mle_star_report::figures::{duration, number};
use mle_star_report::run_view::{self, RunView, SoFar, State, StepRow, Summary};
use mle_star_report::sanitize::first_line;
use mle_star_report::views;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Hub;
use super::answer::{Answer, MOST_OF_SCRIPT};
use crate::commands::{list as listing, show as showing};
use crate::drive::{exit_of, score_lines};

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
pub struct Listed {
    runs_dir: PathBuf,
    /// Newest first.
    runs: Vec<Summary>,
    /// How many older runs are not listed.
    left_out: usize,
    /// Run folders that cannot be read.
    notes: Vec<String>,
}

/// Lists runs.
pub fn list(hub: &Hub, ListInput { most }: ListInput) -> Result<Answer<Listed>, Trouble> {
    let (mut runs, notes) = listing::summaries(&hub.runs_dir);
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
    Ok(Answer::new(&lines, Listed { runs_dir: hub.runs_dir.clone(), runs, left_out, notes }))
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
pub struct Shown {
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
pub fn show(hub: &Hub, input: ShowInput) -> Result<Answer<Shown>, Trouble> {
    let ShowInput { run, place, diff, steps } = input;
    let folder = hub.find(&run)?;
    let view = run_view::read(&folder).map_err(|error| error.trouble())?;
    let views = views::of_run(&view);
    let script = place.map(|place| script(&view, &place, diff)).transpose()?;
    // Who asks for a script knows the run.
    let most = if script.is_some() { 0 } else { steps.unwrap_or(MOST_STEPS) };
    let steps_left_out = view.steps.len().saturating_sub(most);
    let accepted = views.ledger.entries.iter().filter(|_| script.is_none()).map(|entry| Accepted {
        place: entry.place.clone(),
        score: entry.score.clone(),
        change: entry.change.clone(),
        plan: first_line(&entry.plan, 200),
    });
    let shown = Shown {
        run: view.summary.clone(),
        folder,
        accepted: accepted.collect(),
        steps: view.steps[steps_left_out..].to_vec(),
        steps_left_out,
        script: script.clone(),
    };
    match script {
        Some(script) => Ok(Answer::script(&script, shown)),
        None => Ok(Answer::new(&showing::lines(&view, &views), shown)),
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

/// What a run is worth. Paths are those of files that exist.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Worth {
    run_id: String,
    folder: PathBuf,
    state: State,
    /// Whether this is the final result.
    is_final: bool,
    metric: String,
    direction: Direction,
    /// The score that guided the search, so it is optimistic.
    validation_score: Option<f64>,
    validation_interval: Option<[f64; 2]>,
    /// The score on rows that no script saw before: the one to report.
    held_out_score: Option<f64>,
    held_out_interval: Option<[f64; 2]>,
    held_out_rows: Option<u64>,
    /// Whether the program's own computation gives the validation score; null if it could not be computed.
    verified: Option<bool>,
    /// Why the score may be too good.
    suspect: Option<String>,
    /// Whether a leak was found in the solution and could not be removed.
    leakage_suspected: bool,
    /// Probes of the final solution.
    probes: Vec<Probe>,
    /// The first leaks and warnings that were found in scripts.
    findings: Vec<Finding>,
    /// What to tell where the score is published.
    disclosure: Option<String>,
    submission: Option<PathBuf>,
    solution: Option<PathBuf>,
    requirements: Option<PathBuf>,
    report: Option<PathBuf>,
    /// The whole result.
    result: Option<PathBuf>,
    /// The answer so far of a run that is not finished.
    so_far: Option<SoFar>,
    /// Of `mle-star run`: 0 is a checked submission, 3 a solution without one.
    exit_code: Option<u8>,
    elapsed_seconds: f64,
    /// Estimates included; null if nothing is known.
    cost_usd: Option<f64>,
    /// The estimated part.
    estimated_usd: f64,
    /// What to read first.
    notes: Vec<String>,
}

/// Shows the result of a run.
pub fn result(hub: &Hub, ResultInput { run }: ResultInput) -> Result<Answer<Worth>, Trouble> {
    let folder = hub.find(&run)?;
    let view = run_view::read(&folder).map_err(|error| error.trouble())?;
    let worth = worth(&view);
    Ok(Answer::new(&lines(&view, &worth), worth))
}

fn worth(view: &RunView) -> Worth {
    let (folder, summary, result) = (&view.folder, &view.summary, view.result.as_ref());
    let trust = result.and_then(|result| result.trust.as_ref());
    let overview = views::of_run(view);
    let last = folder.join(layout::FINAL);
    let validation =
        trust.and_then(|trust| trust.validation_score).or_else(|| result.map(FinalResult::validation_score));
    Worth {
        run_id: summary.run_id.clone(),
        folder: folder.clone(),
        state: summary.state,
        is_final: result.is_some(),
        metric: summary.metric.clone(),
        direction: summary.direction,
        validation_score: validation.or(summary.best_score),
        validation_interval: trust.and_then(|trust| trust.validation_interval),
        held_out_score: trust.and_then(|trust| trust.holdout_score),
        held_out_interval: trust.and_then(|trust| trust.holdout_interval),
        held_out_rows: trust.and_then(|trust| trust.holdout_rows),
        verified: trust.and_then(|trust| trust.verified),
        suspect: trust.and_then(|trust| trust.suspicion()).map(str::to_owned),
        leakage_suspected: result.is_some_and(|result| result.leakage_suspected),
        probes: trust.map(|trust| trust.probes.clone()).unwrap_or_default(),
        findings: trust
            .map(|trust| trust.findings.iter().take(MOST_FINDINGS).cloned().collect())
            .unwrap_or_default(),
        disclosure: overview.trust.map(|trust| trust.disclosure),
        submission: existing(&last, layout::SUBMISSION),
        solution: existing(&last, layout::SOLUTION),
        requirements: existing(&last, layout::REQUIREMENTS),
        report: existing(folder, layout::REPORT),
        result: existing(folder, layout::RESULT),
        so_far: summary.so_far.clone(),
        exit_code: result.map(|result| exit_of(result).code()),
        elapsed_seconds: summary.elapsed_seconds,
        cost_usd: summary.cost_usd,
        estimated_usd: summary.estimated_usd,
        notes: overview.overview.notes,
    }
}

fn existing(folder: &Path, name: &str) -> Option<PathBuf> {
    Some(folder.join(name)).filter(|path| path.is_file())
}

fn lines(view: &RunView, worth: &Worth) -> Vec<String> {
    let mut lines = vec![format!(
        "run {} ({}), {} ({})",
        worth.run_id,
        worth.state.name(),
        worth.metric,
        worth.direction.name()
    )];
    lines.extend(match &view.result {
        Some(result) => of_result(&worth.metric, result),
        None => vec![format!(
            "no final result yet; best validation score so far: {}",
            worth.validation_score.map_or_else(|| "none".to_owned(), number)
        )],
    });
    lines.extend(worth.notes.iter().map(|note| format!("note: {note}")));
    lines.push(format!("time: {}", duration(worth.elapsed_seconds)));
    let files = [
        ("submission", &worth.submission),
        ("solution", &worth.solution),
        ("report", &worth.report),
        ("result", &worth.result),
    ];
    let files = files.into_iter().filter_map(|(name, path)| Some((name, path.as_ref()?)));
    lines.extend(files.map(|(name, path)| format!("{name}: {}", path.display())));
    lines
}

fn of_result(metric: &str, result: &FinalResult) -> Vec<String> {
    match &result.trust {
        Some(trust) => score_lines(metric, result.validation_score(), trust),
        None => vec![format!("{metric}: {} (validation)", number(result.validation_score()))],
    }
}
