//! The results of a bench: a row for each run, a summary for each task and budget, and the whole.

use std::ops::Add as _;

use mle_star_domain::effects::Usage;
use mle_star_domain::trouble::Trouble;
use mle_star_report::money;
use mle_star_report::run_report::{NO_SUBMISSION, RunReport};
use mle_star_report::run_view::{self, RunSummary, Spent};
use serde::Serialize;

use super::folder::Folder;
use super::plan::{Plan, PlannedRun};
use crate::exit::{Exit, Failure};

/// The results of a bench, as in `results.json`. Scores are in the unit of the metric, times in seconds, money in US
/// dollars.
#[derive(Clone, Debug, Serialize)]
pub struct Results {
    /// The format of this document.
    pub format: u32,
    /// Whether every run has ended.
    pub complete: bool,
    /// One row per run.
    pub runs: Vec<RunRow>,
    /// One per task and budget.
    pub summaries: Vec<Summary>,
    /// All runs together.
    pub total: Total,
}

/// The columns of `results.csv`: where the row of a run has them in `results.json`.
const CSV_COLUMNS: &str = "task budget_seconds seed run state exit valid report/summary/metric score score_of hidden_score \
                           report/score/trust/holdout_score report/score/validation_score \
                           report/summary/elapsed_seconds report/summary/cost_usd report/checks/suspect \
                           report/checks/leakage_suspected error";

/// The state of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It has a result.
    Finished,
    /// It ended without a result.
    Failed,
    /// It was interrupted.
    Unfinished,
    /// It has not begun.
    #[default]
    Pending,
}

/// Where a score comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ScoreOf {
    /// The hidden answers.
    Hidden,
    /// The rows that no script saw before the final choice.
    HeldOut,
    /// The validation rows.
    Validation,
}

/// One run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RunRow {
    /// The task's name.
    pub task: String,
    /// The time limit, if the bench set it.
    pub budget_seconds: Option<u64>,
    /// The seed.
    pub seed: u32,
    /// The run ID, in the folder `runs`.
    pub run: String,
    /// Its state.
    pub state: State,
    /// Its exit code.
    pub exit: Option<u8>,
    /// Whether there is a valid submission.
    pub valid: bool,
    /// The score that the table shows.
    pub score: Option<f64>,
    /// Where it comes from.
    pub score_of: Option<ScoreOf>,
    /// The score on the hidden answers.
    pub hidden_score: Option<f64>,
    /// Why there is no result or no valid submission.
    pub error: Option<String>,
    /// The run's report, as `show --json` has it; `None` before the run has begun.
    pub report: Option<RunReport>,
}

/// The runs of a task with a budget. Statistics of scores leave out runs that are not valid.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// The task's name.
    pub task: String,
    /// The time limit, if the bench set it.
    pub budget_seconds: Option<u64>,
    /// The number of runs.
    pub runs: usize,
    /// The number of runs with a valid submission.
    pub valid: usize,
    /// The metric's name.
    pub metric: Option<String>,
    /// Where the scores come from.
    pub score_of: Option<ScoreOf>,
    /// The mean score of the valid runs.
    pub mean: Option<f64>,
    /// The median.
    pub median: Option<f64>,
    /// The interquartile range.
    pub iqr: Option<f64>,
    /// The mean time of the runs that ended.
    pub seconds_mean: Option<f64>,
    /// The cost of all runs, as far as it is known or estimated; `None` if nothing is.
    pub cost_usd: Option<f64>,
    /// The estimated part of the cost.
    pub estimated_usd: f64,
}

/// All runs together.
#[derive(Clone, Debug, Serialize)]
pub struct Total {
    /// The number of runs.
    pub runs: usize,
    /// The number of runs with a valid submission.
    pub valid: usize,
    /// The time of all runs, one after another.
    pub seconds: f64,
    /// Their cost, as far as it is known or estimated; `None` if nothing is.
    pub cost_usd: Option<f64>,
    /// The estimated part of the cost.
    pub estimated_usd: f64,
}

/// The results of a bench so far, from one row for each of its runs.
pub fn results(plan: &Plan, mut runs: Vec<RunRow>) -> Results {
    let mut summaries = Vec::new();
    for budget in &plan.budgets {
        for task in &plan.tasks {
            let is_here = |row: &&mut RunRow| row.task == task.name && row.budget_seconds == *budget;
            let mut here: Vec<&mut RunRow> = runs.iter_mut().filter(is_here).collect();
            choose_scores(&mut here);
            let here: Vec<&RunRow> = here.into_iter().map(|row| &*row).collect();
            summaries.push(summary(&task.name, *budget, &here));
        }
    }
    let complete = runs.iter().all(|row| matches!(row.state, State::Finished | State::Failed));
    let total = total(&runs);
    Results { format: 1, complete, runs, summaries, total }
}

/// The row of a run.
pub fn row(folder: &Folder, planned: &PlannedRun<'_>) -> RunRow {
    let run = folder.run(planned);
    let mut row = RunRow {
        task: planned.task.name.clone(),
        budget_seconds: planned.budget,
        seed: planned.seed,
        run: planned.id(),
        ..RunRow::default()
    };
    if let Ok(view) = run_view::read(&run) {
        row.state = State::Unfinished;
        if let Some(result) = &view.result {
            row.state = State::Finished;
            row.exit = Some(Exit::of_result(result).code());
            row.valid = view.summary.answer.submission.is_some();
            row.error = (!row.valid).then(|| NO_SUBMISSION.to_owned());
        }
        row.report = Some(RunReport::of(&view));
    }
    row
}

/// Compares the submission of a finished run with the hidden answers, if there are any.
///
/// # Errors
/// The answers cannot be used.
pub fn grade(row: &mut RunRow, folder: &Folder, planned: &PlannedRun<'_>) -> Result<(), Trouble> {
    let result = run_view::read_result(&folder.run(planned)).filter(|_| row.valid);
    let (Some(answers), Some(result)) = (&planned.task.answers, result) else { return Ok(()) };
    match answers.score(&result, &folder.submission(planned))? {
        Ok(score) => row.hidden_score = Some(score),
        Err(why) => {
            (row.valid, row.exit) = (false, Some(Exit::NoSubmission.code()));
            row.error = Some(why);
        }
    }
    Ok(())
}

/// Chooses one kind of score, so that runs can be compared: the hidden score if any valid run has one, and those whose grading
/// failed then have none; else the held-out score if all have one; else the validation score.
fn choose_scores(rows: &mut [&mut RunRow]) {
    let valid = || rows.iter().filter(|row| row.valid);
    let kind = match () {
        () if valid().any(|row| row.hidden_score.is_some()) => ScoreOf::Hidden,
        () if valid().all(|row| row.score_on(ScoreOf::HeldOut).is_some()) => ScoreOf::HeldOut,
        () => ScoreOf::Validation,
    };
    for row in rows.iter_mut().filter(|row| row.valid) {
        row.score = row.score_on(kind);
        row.score_of = row.score.map(|_| kind);
    }
}

fn summary(task: &str, budget: Option<u64>, rows: &[&RunRow]) -> Summary {
    let cost = cost(rows.iter().copied());
    let valid = rows.iter().filter(|row| row.valid).count();
    let scores: Vec<f64> = rows.iter().filter_map(|row| row.score).collect();
    let has_ended = |row: &&&RunRow| matches!(row.state, State::Finished | State::Failed);
    let seconds: Vec<f64> = rows.iter().filter(has_ended).filter_map(|row| row.seconds()).collect();
    let (q1, q3) = (quantile(&scores, 0.25), quantile(&scores, 0.75));
    Summary {
        task: task.to_owned(),
        budget_seconds: budget,
        runs: rows.len(),
        valid,
        metric: rows.iter().find_map(|row| row.metric()).map(str::to_owned),
        score_of: rows.iter().find_map(|row| row.score_of),
        mean: mean(&scores),
        median: quantile(&scores, 0.5),
        iqr: q1.zip(q3).map(|(q1, q3)| q3 - q1),
        seconds_mean: mean(&seconds),
        cost_usd: cost.cost_usd,
        estimated_usd: cost.estimated_usd,
    }
}

/// The cost of the runs that have begun.
fn cost<'a>(rows: impl Iterator<Item = &'a RunRow>) -> Usage {
    let of_run =
        |Spent { cost_usd, estimated_usd, .. }: Spent| Usage { cost_usd, estimated_usd, ..Usage::default() };
    rows.filter_map(RunRow::spent).map(of_run).fold(Usage::free(), Usage::add)
}

fn total(rows: &[RunRow]) -> Total {
    let Usage { cost_usd, estimated_usd, .. } = cost(rows.iter());
    let valid = rows.iter().filter(|row| row.valid).count();
    let seconds = rows.iter().filter_map(RunRow::seconds).sum();
    Total { runs: rows.len(), valid, seconds, cost_usd, estimated_usd }
}

/// The mean; `None` of no values.
fn mean(values: &[f64]) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "there are few values")]
    let count = values.len() as f64;
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / count)
}

/// A quantile, interpolated linearly between the values next to it, as numpy does; `None` of no values.
fn quantile(values: &[f64], share: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    #[expect(clippy::cast_precision_loss, reason = "there are few values")]
    let at = share.clamp(0.0, 1.0) * last as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and the last")]
    let below = at.floor() as usize;
    let above = (below + 1).min(last);
    Some(sorted[below] + (sorted[above] - sorted[below]) * at.fract())
}

impl Results {
    /// The exit code: the worst of the runs.
    pub fn exit(&self) -> Exit {
        let exits = self.runs.iter().filter_map(|row| row.exit).map(Exit::of_code);
        exits.max_by_key(|exit| exit.rank()).unwrap_or(Exit::Done)
    }

    /// All as JSON.
    ///
    /// # Errors
    /// They cannot be written as JSON, which is a defect.
    pub fn json(&self) -> Result<String, Failure> {
        serde_json::to_string_pretty(self).map_err(|error| unwritable(&error))
    }

    /// The rows as CSV.
    ///
    /// # Errors
    /// They cannot be written as a table, which is a defect.
    pub fn csv(&self) -> Result<String, Failure> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let columns = || CSV_COLUMNS.split(' ');
        let names = columns().filter_map(|column| column.rsplit('/').next());
        writer.write_record(names).map_err(|error| unwritable(&error))?;
        for row in &self.runs {
            let row = serde_json::to_value(row).map_err(|error| unwritable(&error))?;
            let cells: Vec<_> = columns().map(|column| row.pointer(&format!("/{column}"))).collect();
            writer.serialize(cells).map_err(|error| unwritable(&error))?;
        }
        let bytes = writer.into_inner().map_err(|error| unwritable(&error))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

fn unwritable(error: &dyn std::fmt::Display) -> Failure {
    Failure::defect(format!("cannot write the results: {error}"))
}

impl ScoreOf {
    /// The words in tables.
    pub fn words(self) -> &'static str {
        match self {
            Self::Hidden => "hidden",
            Self::HeldOut => "held out",
            Self::Validation => "validation",
        }
    }
}

impl RunRow {
    /// The name of the metric, if the run has begun.
    pub fn metric(&self) -> Option<&str> {
        self.report.as_ref().map(|report| report.summary.run.metric.as_str())
    }

    /// Time and money, if the run has begun.
    pub fn spent(&self) -> Option<Spent> {
        self.report.as_ref().map(|report| report.summary.spent)
    }

    /// The time of the run so far.
    pub fn seconds(&self) -> Option<f64> {
        self.spent().map(|spent| spent.elapsed_seconds)
    }

    /// Why the score in the search may be too good.
    pub fn doubt(&self) -> Option<String> {
        self.report.as_ref().and_then(RunReport::doubt)
    }

    /// The score of this kind, if it has one.
    pub fn score_on(&self, of: ScoreOf) -> Option<f64> {
        let report = self.report.as_ref().filter(|report| report.is_final);
        match of {
            ScoreOf::Hidden => self.hidden_score,
            ScoreOf::HeldOut => report?.score.held_out_score(),
            ScoreOf::Validation => report?.score.validation_score,
        }
    }

    /// Its cost in words; `None` if it cost nothing.
    pub fn cost(&self) -> Option<String> {
        let RunSummary { tokens, spent, .. } = self.report.as_ref().map(|report| &report.summary)?;
        let is_free = money::costs_nothing(*tokens, spent.cost_usd);
        (!is_free).then(|| money::cost(spent.cost_usd, spent.estimated_usd))
    }
}

#[cfg(test)]
pub mod tests {
    use std::path::PathBuf;

    use mle_star::spending::Spending;
    use mle_star_report::run_report::{Checks, RunEnd};
    use mle_star_report::score_report::ScoreReport;
    use mle_star_report::words::Models;
    use serde_json::json;

    use super::*;

    /// The results of these runs of one task.
    pub fn results_of(runs: Vec<RunRow>) -> Results {
        let summaries = vec![summary("house-prices", Some(240), &runs.iter().collect::<Vec<_>>())];
        let total = total(&runs);
        Results { format: 1, complete: false, runs, summaries, total }
    }

    /// The report of a finished run with a validation score of 1, which took these seconds.
    pub fn report(seconds: f64, held_out: Option<f64>) -> RunReport {
        let trust = json!({
            "validation_score": 1.0, "verified": true, "holdout_score": held_out, "holdout_looks": 1,
            "choice": {"rule": "validation", "candidates": []},
        });
        RunReport {
            summary: serde_json::from_value(json!({
                "run_id": "a", "state": "finished", "metric": "RMSE", "direction": "minimize", "task": "a",
                "phase": null, "best_score": 1.0, "created_at": "", "elapsed_seconds": seconds, "cost_usd": 0.0,
                "estimated_usd": 0.0, "tokens": 0, "interrupted_calls": 0, "submission": null, "so_far": null,
                "failed_paths": [], "done": {"percent": 100, "of": "steps"}, "used": null,
            }))
            .unwrap(),
            is_final: true,
            score: ScoreReport {
                validation_score: Some(1.0),
                trust: Some(serde_json::from_value(trust).unwrap()),
                ..ScoreReport::default()
            },
            folder: PathBuf::new(),
            checks: Checks::default(),
            ending: RunEnd::default(),
            solutions: Vec::new(),
            answer: None,
            helped: None,
            tried: Models::default(),
            model: None,
            calls: Spending::default(),
        }
    }

    /// A finished run of the task `a`.
    pub fn row_of(seed: u32, score: Option<f64>) -> RunRow {
        RunRow {
            task: "a".to_owned(),
            seed,
            run: format!("a-seed-{seed}"),
            state: State::Finished,
            exit: Some(0),
            valid: score.is_some(),
            score,
            score_of: score.map(|_| ScoreOf::Hidden),
            hidden_score: score,
            report: Some(report(60.0, None)),
            ..RunRow::default()
        }
    }

    #[test]
    fn a_summary_counts_failures_and_leaves_out_their_scores() {
        let rows = vec![row_of(1, Some(2.0)), row_of(2, Some(4.0)), row_of(3, None)];
        let interrupted =
            RunRow { state: State::Unfinished, report: Some(report(1.0, None)), ..row_of(4, None) };
        assert_eq!(summary("a", None, &[&rows[0], &interrupted]).seconds_mean, Some(60.0));
        let all: Vec<&RunRow> = rows.iter().collect();
        let summary = summary("a", None, &all);
        assert_eq!((summary.runs, summary.valid, summary.mean, summary.iqr), (3, 2, Some(3.0), Some(1.0)));
        let total = total(&rows);
        assert_eq!((total.valid, total.seconds, total.cost_usd), (2, 180.0, Some(0.0)));
    }

    #[test]
    fn statistics_are_those_of_numpy() {
        let values = [4.0, 1.0, 2.0, 8.0];
        assert_eq!((mean(&values), mean(&[])), (Some(3.75), None));
        assert_eq!([0.25, 0.5, 0.75].map(|share| quantile(&values, share).unwrap()), [1.75, 3.0, 5.0]);
        assert_eq!((quantile(&[7.0], 0.25), quantile(&[], 0.5)), (Some(7.0), None));
    }

    #[test]
    fn runs_of_a_task_show_the_same_kind_of_score() {
        let check = |hidden: [Option<f64>; 2], held_out: [Option<f64>; 2], expected: [Option<f64>; 2]| {
            let mut rows = [row_of(1, Some(0.0)), row_of(2, Some(0.0))];
            for (row, (hidden, held_out)) in rows.iter_mut().zip(hidden.into_iter().zip(held_out)) {
                (row.hidden_score, row.report, row.score) = (hidden, Some(report(60.0, held_out)), None);
            }
            choose_scores(&mut rows.iter_mut().collect::<Vec<_>>());
            assert_eq!(rows.map(|row| row.score), expected);
        };
        check([Some(3.0), Some(4.0)], [Some(1.5), Some(1.6)], [Some(3.0), Some(4.0)]);
        check([None, None], [Some(1.5), Some(1.6)], [Some(1.5), Some(1.6)]);
        check([None, None], [Some(1.5), None], [Some(1.0), Some(1.0)]);
    }
}
