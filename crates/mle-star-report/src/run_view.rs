//! A run as its folder has it, also while the run goes on: its journal, its result, and the run in short. Nothing is written.

use std::path::{Path, PathBuf};

use mle_star::event::Done;
use mle_star::journal::{self, JournalError, Snapshot};
use mle_star::result::FinalResult;
use mle_star::shell;
use mle_star::spending::Spending;
use mle_star::verdict::Best;
use mle_star_domain::config::Config;
use mle_star_domain::layout;
use mle_star_domain::metric::{Direction, Score, last_best};
use mle_star_domain::place::{Phase, Place};
use mle_star_domain::trust::ExpectedScore;
use serde::{Deserialize, Serialize};

use crate::figures::number;
use crate::score_report::ScoreReport;
use crate::step_rows::{self, StepRow, stands};
use crate::words::{Models, phase_title};
use crate::{cuts, done, files, money, usage};

/// The largest `result.json` that is read, in bytes. A full-size run has less than a megabyte.
const MAX_RESULT_BYTES: u64 = 256 << 20;
/// The default runs directory.
pub const DEFAULT_DIR: &str = "runs";

/// A run at one moment.
#[derive(Clone, Debug)]
pub struct RunView {
    /// The run's folder.
    pub folder: PathBuf,
    /// The run in short.
    pub summary: RunSummary,
    /// The rows of its records, oldest first.
    pub steps: Vec<StepRow>,
    /// The usage of its agents.
    pub spending: Spending,
    /// The journal.
    pub snapshot: Snapshot,
    /// The result of a finished run.
    pub result: Option<FinalResult>,
}

/// A run in short, for lists and for `summary.json`. Scores are in the metric's unit, times in seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSummary {
    /// The run, its state and its metric.
    #[serde(flatten)]
    pub run: Identity,
    /// The task's name.
    pub task: String,
    /// The current or last phase; `None` before the first.
    pub phase: Option<Phase>,
    /// The best score that counts.
    pub best_score: Option<f64>,
    /// The score to expect on new rows; `None` without a result, and in files of earlier versions.
    #[serde(default)]
    pub expected: Option<ExpectedScore>,
    /// The validated score of the answer; `None` without a result, and in files of earlier versions.
    #[serde(default)]
    pub validated: Option<f64>,
    /// The score on held-out rows.
    #[serde(default)]
    pub held_out: Option<f64>,
    /// The 95 % interval of the score on held-out rows.
    #[serde(default)]
    pub held_out_interval: Option<[f64; 2]>,
    /// When the run started, RFC 3339.
    pub created_at: String,
    /// Time and money.
    #[serde(flatten)]
    pub spent: Spent,
    /// Tokens read and written, cached ones included; 0 for offline agents.
    pub tokens: u64,
    /// Interrupted calls, whose cost is estimated.
    pub interrupted_calls: u64,
    /// The submission.
    #[serde(flatten)]
    pub answer: Submissions,
    /// The refinement paths that failed, each with its cause.
    pub failed_paths: Vec<FailedPath>,
    /// How far the run is.
    pub done: Done,
    /// What a finished run used of its limit, if that left steps undone: `used its 40 s (5 of 12 steps)`.
    pub used: Option<String>,
    /// The digest of the data.
    #[serde(default)]
    pub data: String,
    /// Why only a part of the journal could be read.
    #[serde(default)]
    pub damage: Option<String>,
}

/// A run, its state and its metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    /// The run ID.
    pub run_id: String,
    /// The run's state.
    pub state: State,
    /// The metric's name.
    pub metric: String,
    /// Which scores win.
    pub direction: Direction,
}

/// What a run used so far.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    /// Time so far.
    pub elapsed_seconds: f64,
    /// US dollars with estimates; `None` if unknown.
    pub cost_usd: Option<f64>,
    /// The estimated part.
    pub estimated_usd: f64,
}

/// The submission of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Submissions {
    /// The path of the submission.
    pub submission: Option<String>,
    /// The submission so far of a run that is not finished.
    pub so_far: Option<SoFar>,
}

/// A checked submission of a run that is not finished.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SoFar {
    /// The path of the submission.
    pub path: String,
    /// The run of the script that wrote it.
    pub place: String,
    /// The validation score of that script.
    pub score: f64,
}

impl SoFar {
    /// The submission with its path and its score, as a fragment.
    pub fn words(&self, tried: &Models) -> String {
        let (place, score) = (tried.place(&Place::from(self.place.as_str())), number(self.score));
        format!("a checked submission so far: {} ({place}, from a solution that scored {score})", self.path)
    }
}

/// `final/provisional.json`: what the files in `final/` are while the run is not finished.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Provisional {
    /// The run of the script that wrote the submission.
    pub place: String,
    /// The validation score of that script.
    pub score: f64,
    /// The 95 % interval of that score. No version of the program has written one so far.
    pub interval: Option<[f64; 2]>,
    /// The solution in `final/`, whose score may be better.
    pub solution: Best,
}

/// A refinement path that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedPath {
    /// From 0.
    pub path: usize,
    /// The error that ended the path.
    pub cause: String,
}

/// The state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// A process works on it.
    Running,
    /// The run has a result.
    Finished,
    /// The run was interrupted or failed; it can be resumed.
    Unfinished,
}

/// Reads a run folder.
///
/// # Errors
/// The journal is missing, damaged or of another format.
pub fn read(folder: &Path) -> Result<RunView, JournalError> {
    read_with(folder, is_running(folder))
}

/// Reads a run folder as it is if the process that works on the run ends now.
///
/// # Errors
/// The journal is missing, damaged or of another format.
pub fn read_as_left(folder: &Path) -> Result<RunView, JournalError> {
    read_with(folder, false)
}

fn read_with(folder: &Path, is_held: bool) -> Result<RunView, JournalError> {
    let snapshot = journal::read(folder)?;
    let any = read_result(folder);
    let submission =
        any.as_ref().map(|result| result.submission_path.clone()).filter(|path| !path.is_empty());
    let (has_result, known) = (any.is_some(), any.as_ref().map(FinalResult::search_score));
    let result = any.filter(|result| is_current(result, &snapshot.frozen.config));
    let steps = step_rows::rows(&snapshot);
    let task = &snapshot.frozen.task;
    let state = State::of(is_held, result.is_some());
    let spending = usage::run_spending(&snapshot, state == State::Running);
    let used = spending.total().usage;
    let scores = result.as_ref().map(ScoreReport::of).unwrap_or_default();
    let held_out = scores.trust.as_ref();
    let summary = RunSummary {
        run: Identity {
            run_id: name(folder).unwrap_or_else(|| snapshot.frozen.run_id.clone()),
            state,
            metric: task.evaluation_metric.clone(),
            direction: task.metric_direction,
        },
        task: task.competition_id.clone(),
        phase: phase(&snapshot),
        best_score: best(&steps, known, task.metric_direction),
        expected: scores.expected,
        validated: scores.validation_score,
        held_out: held_out.and_then(|trust| trust.holdout_score),
        held_out_interval: held_out.and_then(|trust| trust.holdout_interval),
        created_at: snapshot.created_at.clone(),
        spent: Spent {
            elapsed_seconds: snapshot.elapsed,
            cost_usd: used.cost_usd,
            estimated_usd: used.estimated_usd,
        },
        tokens: money::all_tokens(&used),
        interrupted_calls: spending.interrupted_calls,
        answer: Submissions { submission, so_far: if has_result { None } else { so_far(folder) } },
        failed_paths: failed_paths(&snapshot),
        done: done::run_progress(&snapshot, &used, state),
        used: result.as_ref().and_then(cuts::used),
        data: snapshot.frozen.data_id.clone(),
        damage: snapshot.damage.clone(),
    };
    Ok(RunView { folder: folder.to_owned(), summary, steps, spending, snapshot, result })
}

/// The latest phase.
pub(crate) fn phase(snapshot: &Snapshot) -> Option<Phase> {
    snapshot.effects.iter().filter(|record| stands(record)).filter_map(|record| record.place.phase()).max()
}

impl RunSummary {
    /// The stage: the phase that the run is in, or what a finished run used.
    pub fn stage(&self) -> String {
        match self.run.state {
            State::Finished => self.used.clone().unwrap_or_else(|| "done".to_owned()),
            State::Running | State::Unfinished => {
                self.phase.map_or_else(|| "preparing".to_owned(), phase_title)
            }
        }
    }

    /// The validated score of the answer, or the best one so far.
    pub fn validated(&self) -> Option<f64> {
        self.validated.or(self.best_score)
    }

    /// The score that stands first: the expected one, or else the validated one.
    pub fn score(&self) -> Option<f64> {
        self.expected.as_ref().map(|expected| expected.score).or_else(|| self.validated())
    }

    /// The cost in words; `None` for agents without a model.
    pub fn cost(&self) -> Option<String> {
        let Spent { cost_usd, estimated_usd, .. } = self.spent;
        (!money::costs_nothing(self.tokens, cost_usd)).then(|| money::cost(cost_usd, estimated_usd))
    }
}

impl RunView {
    /// The run once it has this result, which its folder does not hold yet.
    pub fn finish(&mut self, result: FinalResult) {
        self.summary.run.state = State::Finished;
        self.summary.answer.submission = Some(result.submission_path.clone()).filter(|path| !path.is_empty());
        self.summary.used = cuts::used(&result);
        self.summary.done.percent = 100;
        self.result = Some(result);
    }
}

/// The best score that counts. An earlier result may know one that no record has any more.
fn best(steps: &[StepRow], known: Option<f64>, direction: Direction) -> Option<f64> {
    let counted = steps.iter().filter(|step| step.counts).filter_map(|step| step.score);
    let scores = counted.chain(known).filter_map(|score| Score::new(score, direction));
    last_best(scores, |score| *score).map(Score::value)
}

/// The run ID of a folder.
pub fn name(folder: &Path) -> Option<String> {
    let whole = folder.canonicalize().ok()?;
    Some(whole.file_name()?.to_string_lossy().into_owned())
}

/// The answer so far of a run that is not finished.
pub fn provisional(folder: &Path) -> Option<Provisional> {
    let name = format!("{}/{}", layout::FINAL, layout::PROVISIONAL);
    serde_json::from_str(&files::read(folder, &name, MAX_RESULT_BYTES).ok()?).ok()
}

/// What commands call the run in a folder: its ID if that is in the default runs directory, otherwise the folder.
pub fn argument(folder: &Path) -> String {
    let is_default = folder.parent() == Some(Path::new(DEFAULT_DIR));
    let name = folder.file_name().filter(|_| is_default);
    shell::quoted(name.map_or(folder, Path::new))
}

/// The command that resumes the run in a folder.
pub fn resume_command(folder: &Path) -> String {
    format!("mle-star resume {}", argument(folder))
}

/// The answer so far of a run that has no result; `None` without one.
pub fn so_far(folder: &Path) -> Option<SoFar> {
    let Provisional { place, score, .. } = provisional(folder)?;
    let path = folder.join(layout::FINAL).join(layout::SUBMISSION).display().to_string();
    Some(SoFar { path, place, score })
}

fn failed_paths(snapshot: &Snapshot) -> Vec<FailedPath> {
    let failures = snapshot.failures().into_iter();
    failures.filter_map(|(place, cause)| Some(FailedPath { path: place.path()?, cause })).collect()
}

/// Whether a result is that of a run with this configuration. It stays while the run goes on with larger limits.
pub fn is_current(result: &FinalResult, config: &Config) -> bool {
    let limits = |config: &Config| (config.time_limit_seconds, config.max_budget_usd);
    limits(&result.config) == limits(config)
}

/// Whether a run has the result of its present limits.
pub fn is_finished(folder: &Path) -> bool {
    let config = files::read(folder, layout::CONFIG, MAX_RESULT_BYTES).ok();
    let config: Option<Config> = config.and_then(|text| serde_json::from_str(&text).ok());
    let result = read_result(folder);
    result.zip(config).is_some_and(|(result, config)| is_current(&result, &config))
}

/// The last result of a run, which may be that of smaller limits, see [`is_current`].
pub fn read_result(folder: &Path) -> Option<FinalResult> {
    let mut result: FinalResult =
        serde_json::from_str(&files::read(folder, layout::RESULT, MAX_RESULT_BYTES).ok()?).ok()?;
    // The folder may have been moved since. Links in it are not followed.
    if !result.submission_path.is_empty() {
        result.submission_path = submission(folder).display().to_string();
    }
    Some(result)
}

/// The whole path of the submission in a run folder, which need not exist.
pub(crate) fn submission(folder: &Path) -> PathBuf {
    let whole = folder.canonicalize().or_else(|_| std::path::absolute(folder));
    whole.unwrap_or_else(|_| folder.to_owned()).join(layout::FINAL).join(layout::SUBMISSION)
}

impl State {
    /// The state of a run.
    pub fn of(is_held: bool, has_result: bool) -> Self {
        match (is_held, has_result) {
            (true, _) => Self::Running,
            (false, true) => Self::Finished,
            (false, false) => Self::Unfinished,
        }
    }

    /// The state as a word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Finished => "finished",
            Self::Unfinished => "unfinished",
        }
    }
}

/// Does a process work on the run? It holds the lock while it does.
pub fn is_running(folder: &Path) -> bool {
    let lock = files::open(folder, layout::LOCK);
    lock.is_ok_and(|lock| journal::is_locked(&lock, &folder.join(layout::LOCK)))
}
