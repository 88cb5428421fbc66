//! Reads a run folder, also of a live run, for `list`, `show` and the report. Writes nothing.

use std::path::{Path, PathBuf};

use mle_star::event::Done;
use mle_star::journal::{self, EffectRecord, EffectState, JournalError, Kind, Outcome, Snapshot};
use mle_star::result::FinalResult;
use mle_star::shell;
use mle_star::spending::Spending;
use mle_star::verdict::{Best, Verdicts};
use mle_star_domain::config::Config;
use mle_star_domain::effects::{AgentReply, Answer, Limit, Purpose, ScriptOutcome};
use mle_star_domain::layout;
use mle_star_domain::measure::Measurement;
use mle_star_domain::metric::{Direction, Score, last_best};
use mle_star_domain::place::{Phase, Step};
use mle_star_domain::question::{HoldoutScore, Selection};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::words::phase_title;
use crate::{cuts, done, files, money, usage};

/// The largest `result.json` that is read, in bytes. A full-size run has less than a megabyte.
const LARGEST_RESULT: u64 = 256 << 20;
/// The default runs directory.
pub const DEFAULT_DIR: &str = "runs";

/// A run at one moment.
#[derive(Clone, Debug)]
pub struct RunView {
    /// Its folder.
    pub folder: PathBuf,
    /// Its summary.
    pub summary: Summary,
    /// Its records, oldest first.
    pub steps: Vec<StepRow>,
    /// The usage of its agents.
    pub spending: Spending,
    /// The journal.
    pub snapshot: Snapshot,
    /// The result of a finished run.
    pub result: Option<FinalResult>,
}

/// The summary of a run. Scores are in the metric's unit, times in seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Which run it is.
    #[serde(flatten)]
    pub run: Identity,
    /// The task's name.
    pub task: String,
    /// The current or last phase; `None` before the first.
    pub phase: Option<Phase>,
    /// The best score that counts.
    pub best_score: Option<f64>,
    /// When it started, RFC 3339.
    pub created_at: String,
    /// Time and money.
    #[serde(flatten)]
    pub spent: Spent,
    /// Tokens read and written, cached ones included; 0 for offline agents.
    pub tokens: u64,
    /// Interrupted calls, whose cost is estimated.
    pub interrupted_calls: u64,
    /// Its submission.
    #[serde(flatten)]
    pub answer: Submissions,
    /// The refinement paths that failed, each with its cause.
    pub failed_paths: Vec<FailedPath>,
    /// How far it is.
    pub done: Done,
    /// What a finished run used of its limit, if that left steps undone: `used its 40 s (5 of 12 steps)`.
    pub used: Option<String>,
}

/// A run, its state and its metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Identity {
    /// The run ID.
    pub run_id: String,
    /// Its state.
    pub state: State,
    /// The metric's name.
    pub metric: String,
    /// Which scores win.
    pub direction: Direction,
}

/// What a run used so far.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spent {
    /// Time so far.
    pub elapsed_seconds: f64,
    /// US dollars with estimates; `None` if unknown.
    pub cost_usd: Option<f64>,
    /// The estimated part.
    pub estimated_usd: f64,
}

/// The submission of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Submissions {
    /// The path of the submission.
    pub submission: Option<String>,
    /// The submission so far of a run that is not finished.
    pub so_far: Option<SoFar>,
}

/// A checked submission of a run that is not finished.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SoFar {
    /// Its path.
    pub path: String,
    /// The run of the script that wrote it.
    pub place: String,
    /// The validation score of that script.
    pub score: f64,
}

/// `final/provisional.json`: what the files in `final/` are while the run is not finished.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Provisional {
    /// The run of the script that wrote the submission.
    pub place: String,
    /// Its validation score.
    pub score: f64,
    /// The 95 % interval of that score. No version of the program has written one so far.
    pub interval: Option<[f64; 2]>,
    /// The solution in `final/`, whose score may be better.
    pub solution: Best,
}

/// A refinement path that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailedPath {
    /// From 0.
    pub path: usize,
    /// Its error.
    pub cause: String,
}

/// The state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// A process works on it.
    Running,
    /// It has a result.
    Finished,
    /// It was interrupted or failed; it can be resumed.
    Unfinished,
}

/// One record of the journal.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StepRow {
    /// Where.
    pub place: String,
    /// Agent, script or decision.
    #[schemars(with = "String")]
    pub kind: Kind,
    /// Its outcome in words.
    pub outcome: String,
    /// Did it succeed?
    pub ok: bool,
    /// The score of a script.
    pub score: Option<f64>,
    /// Can the score be the best one?
    pub counts: bool,
    /// Time; of a script without its wait for a slot. `None` while it runs.
    pub seconds: Option<f64>,
    /// When it ended, in seconds since the start of the run.
    pub ended: Option<f64>,
    /// When it ended, RFC 3339; for exports.
    #[serde(skip)]
    pub ended_at: Option<String>,
}

/// Reads a run folder.
///
/// # Errors
/// The journal is missing, damaged or of another format.
pub fn read(folder: &Path) -> Result<RunView, JournalError> {
    let snapshot = journal::read(folder)?;
    let any = read_result(folder);
    let submission =
        any.as_ref().map(|result| result.submission_path.clone()).filter(|path| !path.is_empty());
    let (has_result, known) = (any.is_some(), any.as_ref().map(FinalResult::search_score));
    let result = any.filter(|result| is_current(result, &snapshot.frozen.config));
    let (corrected, verdicts) = (snapshot.corrected(), snapshot.verdicts());
    let leaking = replaced_by_leakage_check(&verdicts);
    let row = |record: &EffectRecord| {
        let (row, step) = (row(record), record.place.step());
        let verdict = step.and_then(|step| verdicts.get(&step));
        let is_dropped = row.counts && verdict.is_some_and(|verdict| verdict.score != row.score);
        let has_correction = step.is_some_and(|step| corrected.contains(&step));
        let leaks = has_correction && !record.place.is_corrected();
        if leaks || step.is_some_and(|step| leaking.contains(&step)) {
            without_leaking_score(row)
        } else {
            StepRow { counts: row.counts && !is_dropped, ..row }
        }
    };
    let steps: Vec<StepRow> = snapshot.effects.iter().filter(|record| is_shown(record)).map(row).collect();
    let task = &snapshot.frozen.task;
    let state = State::of(is_held(folder), result.is_some());
    let spending = usage::of_run(&snapshot, state == State::Running);
    let used = spending.total().usage;
    let summary = Summary {
        run: Identity {
            run_id: name(folder).unwrap_or_else(|| snapshot.frozen.run_id.clone()),
            state,
            metric: task.evaluation_metric.clone(),
            direction: task.metric_direction,
        },
        task: task.competition_id.clone(),
        phase: phase(&snapshot),
        best_score: best(&steps, known, task.metric_direction),
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
        done: done::of_run(&snapshot, &used, state),
        used: result.as_ref().and_then(cuts::used),
    };
    Ok(RunView { folder: folder.to_owned(), summary, steps, spending, snapshot, result })
}

/// The steps whose solution the last check of Phase 1 found to leak, if it is replaced by one without the leak.
fn replaced_by_leakage_check(verdicts: &Verdicts) -> &[Step] {
    let check = verdicts.get(&Step::LeakageCheck).filter(|check| check.score.is_some());
    check.map_or(&[], |check| &check.from)
}

/// The latest phase. Records that a longer time limit set aside do not count.
pub(crate) fn phase(snapshot: &Snapshot) -> Option<Phase> {
    let current = snapshot
        .effects
        .iter()
        .filter(|effect| matches!(effect.state, EffectState::Begun | EffectState::Ended));
    current.filter_map(|effect| effect.place.phase()).max()
}

impl Summary {
    /// What it does now, or what it did.
    pub fn stage(&self) -> String {
        match self.run.state {
            State::Finished => self.used.clone().unwrap_or_else(|| "done".to_owned()),
            State::Running | State::Unfinished => {
                self.phase.map_or_else(|| "preparing".to_owned(), phase_title)
            }
        }
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
    serde_json::from_str(&files::read(folder, &name, LARGEST_RESULT).ok()?).ok()
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
    let config = files::read(folder, layout::CONFIG, LARGEST_RESULT).ok();
    let config: Option<Config> = config.and_then(|text| serde_json::from_str(&text).ok());
    let result = read_result(folder);
    result.zip(config).is_some_and(|(result, config)| is_current(&result, &config))
}

/// The last result of a run, which may be that of smaller limits, see [`is_current`].
pub fn read_result(folder: &Path) -> Option<FinalResult> {
    let mut result: FinalResult =
        serde_json::from_str(&files::read(folder, layout::RESULT, LARGEST_RESULT).ok()?).ok()?;
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
pub fn is_held(folder: &Path) -> bool {
    let lock = files::open(folder, layout::LOCK);
    lock.is_ok_and(|lock| journal::is_locked(&lock, &folder.join(layout::LOCK)))
}

fn is_shown(record: &EffectRecord) -> bool {
    use EffectState::{Begun, Ended};
    // A decision without a limit only marks the start or end of a phase.
    let is_effect = match record.kind {
        Kind::Agent | Kind::Script | Kind::Look | Kind::Selection => true,
        Kind::Decision => record.limit.is_some(),
        Kind::Gate | Kind::Probe | Kind::Verdict | Kind::Failure => false,
    };
    matches!(record.state, Begun | Ended) && is_effect
}

fn row(record: &EffectRecord) -> StepRow {
    let row = StepRow {
        place: record.place.to_string(),
        kind: record.kind,
        outcome: "unreadable".to_owned(),
        ok: false,
        score: None,
        counts: false,
        seconds: record.elapsed_ended.map(|ended| (ended - record.elapsed_begun).max(0.0)),
        ended: record.elapsed_ended,
        ended_at: record.ended_at.clone(),
    };
    let Some(outcome) = &record.outcome else {
        let not_ended = || "not ended".to_owned();
        return StepRow { outcome: record.limit.map_or_else(not_ended, skipped), ..row };
    };
    let known = match record.kind {
        Kind::Agent => AgentReply::deserialize(outcome).map(|reply| of_agent(reply, row.clone())),
        Kind::Script => ScriptOutcome::deserialize(outcome)
            .map(|outcome| of_script(&outcome, &record.request, row.clone())),
        Kind::Look => HoldoutScore::deserialize(outcome)
            .map(|look| of_question(look.measured, "scored".to_owned(), look.failure, row.clone())),
        Kind::Selection => Selection::deserialize(outcome).map(|selection| {
            let chosen = selection.weights.iter().filter(|weight| **weight > 0.0).count();
            of_question(
                selection.measured,
                format!("{chosen} solutions chosen"),
                selection.failure,
                row.clone(),
            )
        }),
        Kind::Decision | Kind::Gate | Kind::Probe | Kind::Verdict | Kind::Failure => {
            let outcome = record.limit.map_or_else(|| "skipped: a limit".to_owned(), skipped);
            Ok(StepRow { outcome, ..row.clone() })
        }
    };
    known.unwrap_or(row)
}

fn skipped(limit: Limit) -> String {
    format!("skipped: {}", limit.name())
}

/// The row of a run whose script was found to leak, and ran again without the leak.
fn without_leaking_score(row: StepRow) -> StepRow {
    let outcome = if row.counts { "ran with a leak".to_owned() } else { row.outcome };
    StepRow { outcome, counts: false, ..row }
}

fn of_agent(reply: AgentReply, row: StepRow) -> StepRow {
    match reply.answer {
        Answer::Text { .. } => StepRow { outcome: "answered".to_owned(), ok: true, ..row },
        Answer::Failed { reason } => StepRow { outcome: reason, ..row },
        Answer::Refused { limit } => StepRow { outcome: skipped(limit), ..row },
    }
}

fn of_script(outcome: &ScriptOutcome, request: &Value, row: StepRow) -> StepRow {
    if let Some(limit) = outcome.limit() {
        return StepRow { outcome: skipped(limit), ..row };
    }
    let purpose = request.get("purpose").and_then(|name| Purpose::deserialize(name).ok());
    let ok = !outcome.is_error();
    let failure = outcome.traceback.as_deref().and_then(|text| text.lines().last());
    let words = match (ok, failure, outcome.submission.as_ref()) {
        (true, ..) if outcome.mismatch.is_some() => outcome.mismatch.clone().unwrap_or_default(),
        (true, _, Some(submission)) if !submission.findings.is_empty() => submission.findings.join("; "),
        (true, _, _) => "ran".to_owned(),
        (false, Some(failure), _) => failure.to_owned(),
        (false, None, _) => outcome.headline(),
    };
    let counts = ok && purpose == Some(Purpose::Score) && outcome.mismatch.is_none();
    let (score, seconds) = (outcome.value(), Some(outcome.duration_seconds));
    StepRow { outcome: words, ok, score, counts, seconds, ..row }
}

/// The answer to a question about predictions.
fn of_question(measured: Option<Measurement>, words: String, failure: String, row: StepRow) -> StepRow {
    let score = measured.map(|measured| measured.score);
    StepRow { outcome: if score.is_some() { words } else { failure }, ok: score.is_some(), score, ..row }
}
