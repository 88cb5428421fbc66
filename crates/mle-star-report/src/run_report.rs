//! The report of a run: the one value that terminal, `show`, page, `report.html`, exports and benches ask, so that they
//! say the same in the same words.
//!
//! Sentences are fragments: lower case, no full stop. [`sentence`] makes a sentence of one.

use std::cmp::Ordering;
use std::path::PathBuf;

use mle_star::journal::{EffectRecord, Kind, Snapshot};
use mle_star::result::{FinalResult, StoppedBy};
use mle_star::spending::Spending;
use mle_star_domain::effects::DATA_CHANGED;
use mle_star_domain::layout;
use mle_star_domain::metric::{Direction, Score};
use mle_star_domain::place::{Place, Step};
use mle_star_domain::trust::Trust;
use serde::Serialize;

use crate::at_work::AtWork;
use crate::cut::sentence;
use crate::cuts;
use crate::figures::{duration, number};
use crate::model::words;
use crate::run_view::{RunSummary, RunView, State, argument, resume_command};
use crate::sanitize::first_line;
use crate::score_report::ScoreReport;
use crate::step_rows::stands;
use crate::usage;
use crate::views::{Context, Helped, Solution, solutions};
use crate::words::Models;

/// The longest cause in a sentence, in characters.
const MAX_CAUSE_CHARS: usize = 300;
/// What a run without a valid submission lacks.
pub const NO_SUBMISSION: &str = "no valid submission";

/// The report of a run at any stage.
#[derive(Clone, Debug, Serialize)]
pub struct RunReport {
    /// The run in short.
    pub summary: RunSummary,
    /// The run's folder.
    pub folder: PathBuf,
    /// Whether the run has its final result.
    pub is_final: bool,
    /// The scores of the solution; the best score so far without a result.
    pub score: ScoreReport,
    /// The checks of the solution, and why its score may be too good.
    pub checks: Checks,
    /// What the run used of its limits, and what went wrong.
    pub ending: RunEnd,
    /// The solutions, in the order in which they ended.
    #[serde(skip)]
    pub solutions: Vec<Solution>,
    /// The step whose solution is submitted; of a run without a result, the one with the best score.
    pub answer: Option<Place>,
    /// What raised the best score; `None` if nothing did.
    #[serde(skip)]
    pub helped: Option<Helped>,
    /// The models that steps tried.
    #[serde(skip)]
    pub tried: Models,
    /// What predicts other rows, in words.
    pub model: Option<String>,
    /// The calls of agents.
    pub calls: Spending,
}

/// The checks of a solution.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Checks {
    /// Why the score may be too good.
    pub suspect: Option<String>,
    /// Whether a leak was found in the solution and could not be removed.
    pub leakage_suspected: bool,
}

/// What a run used of its limits, and what went wrong.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RunEnd {
    /// What the run used of its limit, if that left steps undone.
    pub used: Option<String>,
    /// The option that raises this limit; `None` if a larger one would change nothing.
    pub larger: Option<&'static str>,
    /// Whether the answer is the one from before a limit was raised.
    pub answer_is_earlier: bool,
    /// Why the submission is not what the delivered script wrote.
    pub not_run: Option<String>,
    /// Why the best solution is not submitted.
    pub not_best: Option<String>,
    /// Whether the data changed while the run lasted.
    pub data_changed: bool,
    /// The error that stopped an unfinished run.
    pub error: Option<String>,
}

impl RunReport {
    /// The report of a run.
    pub fn of(view: &RunView) -> Self {
        Self::with(&Context::of(view, &AtWork::of(view)))
    }

    /// The report of a run whose records were read.
    pub fn with(context: &Context<'_>) -> Self {
        let (view, solutions) = (context.run, solutions(context));
        let (summary, result) = (view.summary.clone(), view.result.as_ref());
        let best = || ScoreReport { validation_score: summary.best_score, ..ScoreReport::default() };
        let submitted = result.and(context.descent.best).map(Step::place);
        let first = || best_first(&solutions, summary.run.direction).first().map(|one| one.place.clone());
        Self {
            folder: view.folder.clone(),
            is_final: result.is_some(),
            score: result.map_or_else(best, ScoreReport::of),
            checks: result.map(Checks::of).unwrap_or_default(),
            ending: RunEnd::of(view),
            answer: submitted.or_else(first),
            helped: Helped::of(&solutions),
            solutions,
            tried: context.tried.clone(),
            model: result.and_then(|result| words(&result.model)),
            calls: view.spending.clone(),
            summary,
        }
    }

    /// The solutions whose scores count, the best first; of equal ones the earlier.
    pub fn leaderboard(&self) -> Vec<&Solution> {
        best_first(&self.solutions, self.summary.run.direction)
    }

    /// The scores with what makes them doubtful, as lines. A run without a result has its best score.
    pub fn score_lines(&self) -> Vec<String> {
        if !self.is_final {
            let best = self.score.validation_score.map_or_else(|| "none".to_owned(), number);
            return vec![format!("no final result yet; best validation score so far: {best}")];
        }
        self.score.lines(&self.summary.run.metric)
    }

    /// What to read first, as sentences.
    pub fn notes(&self) -> Vec<String> {
        let (summary, ending) = (&self.summary, &self.ending);
        let is_unfinished = summary.run.state == State::Unfinished;
        let is_told = |is_so: bool, words: &str| is_so.then(|| words.to_owned());
        let changed = "the data changed while the run lasted: scores from before and after do not compare";
        let notes = [
            ending.used.clone(),
            self.leak(),
            is_told(ending.data_changed, changed),
            is_told(is_unfinished, "the run did not come to its end; it can be resumed"),
            self.earlier_answer(),
            self.not_best(),
            self.not_run(),
            self.suspicion(),
            self.score.no_better_than_naive(summary.run.direction),
            ending.error.as_ref().map(|error| format!("it was stopped: {error}")),
            summary.answer.so_far.as_ref().map(|so_far| so_far.words(&self.tried)),
        ];
        let failed = summary.failed_paths.iter();
        let failed = failed.map(|failed| format!("path {} failed: {}", failed.path + 1, failed.cause));
        let damage = summary.damage.as_ref().map(|damage| format!("the journal is damaged: {damage}"));
        notes.into_iter().flatten().chain(failed).chain(damage).map(|note| sentence(&note)).collect()
    }

    /// The last lines of a finished run.
    pub fn last_lines(&self) -> Vec<String> {
        let mut lines = self.score_lines();
        lines.push(format!("time: {}", duration(self.summary.spent.elapsed_seconds)));
        lines.extend(self.cost().map(|cost| format!("cost: {cost}")));
        lines.extend(self.earlier_answer());
        lines.extend(self.used_and_more());
        let naive = self.score.no_better_than_naive(self.summary.run.direction);
        let notes = [self.leak(), self.suspicion(), naive, self.not_best(), self.not_run()];
        lines.extend(notes.into_iter().flatten().map(|note| format!("note: {note}")));
        lines.push(match &self.summary.answer.submission {
            Some(submission) => format!("submission: {submission}"),
            None => {
                let solution = self.folder.join(layout::FINAL).join(layout::SOLUTION);
                format!("{NO_SUBMISSION}; the best solution is {}", solution.display())
            }
        });
        let predict = |model: &String| {
            format!("predict other rows: mle-star predict {} TABLE ({model})", argument(&self.folder))
        };
        lines.extend(self.model.as_ref().map(predict));
        lines.push(format!("report: {}", self.folder.join(layout::REPORT).display()));
        lines
    }

    /// `$1.23 for 85 calls, 120k tokens in, 30k out`; `None` without calls to a language model.
    pub fn cost(&self) -> Option<String> {
        usage::line(&self.calls)
    }

    /// Why the score may be too good, for a table.
    pub fn doubt(&self) -> Option<String> {
        self.checks.suspect.clone().or_else(|| self.leak())
    }

    /// What the run used of its limit, with the command that goes on.
    fn used_and_more(&self) -> Option<String> {
        let used = self.ending.used.clone()?;
        let command = resume_command(&self.folder);
        let more = self.ending.larger.map(|option| format!("; continue with: {command} {option} N"));
        Some(used + &more.unwrap_or_default())
    }

    /// The warning that the solution may leak, if the agent that looks for leaks found one that it could not correct.
    pub fn leak(&self) -> Option<String> {
        let words = "the solution may leak the answers it is scored on";
        self.checks.leakage_suspected.then(|| words.to_owned())
    }

    /// The warning that the score may be too good, with the reason.
    fn suspicion(&self) -> Option<String> {
        let why = self.checks.suspect.as_deref()?;
        Some(format!("this score is suspect: {}", first_line(why, MAX_CAUSE_CHARS)))
    }

    /// The note that a larger limit found nothing better.
    fn earlier_answer(&self) -> Option<String> {
        let words = "nothing better was found since the limit was raised: the earlier answer stays";
        self.ending.answer_is_earlier.then(|| words.to_owned())
    }

    /// The note that another solution than the best one is submitted, with the reason.
    fn not_best(&self) -> Option<String> {
        self.ending.not_best.as_deref().map(|words| first_line(words, MAX_CAUSE_CHARS))
    }

    /// The note that the delivered script did not write the submission, with the reason.
    fn not_run(&self) -> Option<String> {
        let why = first_line(self.ending.not_run.as_deref()?, MAX_CAUSE_CHARS);
        Some(format!("`{}/{}` did not write the submission: {why}", layout::FINAL, layout::SOLUTION))
    }
}

impl Checks {
    fn of(result: &FinalResult) -> Self {
        let suspicion = result.trust.as_ref().and_then(Trust::suspicion);
        Self { suspect: suspicion.map(str::to_owned), leakage_suspected: result.leakage_suspected }
    }
}

impl RunEnd {
    fn of(view: &RunView) -> Self {
        let snapshot = &view.snapshot;
        let data_changed = data_changed(snapshot);
        if let Some(result) = &view.result {
            return Self { data_changed, ..Self::of_result(result) };
        }
        let is_unfinished = view.summary.run.state == State::Unfinished;
        let limit = snapshot.first_limit().and_then(StoppedBy::of).filter(|_| is_unfinished);
        let stopped = snapshot.stopped.as_ref().filter(|_| is_unfinished);
        Self {
            used: limit.map(|limit| cuts::used_up(limit, &snapshot.frozen.config)),
            error: stopped.map(|stopped| stopped.error.clone()),
            data_changed,
            ..Self::default()
        }
    }

    fn of_result(result: &FinalResult) -> Self {
        let is_open = result.stopped_by.is_some() || result.cuts.iter().any(|cut| cut.open);
        let option = match result.stopped_by {
            Some(StoppedBy::Budget) => "--max-budget-usd",
            Some(StoppedBy::Time) | None => "--time-limit",
        };
        Self {
            used: cuts::used(result),
            larger: is_open.then_some(option),
            answer_is_earlier: result.answer_is_earlier,
            not_run: result.not_run.clone(),
            not_best: result.not_best.clone(),
            ..Self::default()
        }
    }
}

fn best_first(solutions: &[Solution], direction: Direction) -> Vec<&Solution> {
    let score = |one: &Solution| Score::new(one.score?, direction);
    let scored = solutions.iter().filter(|one| one.counts);
    let mut rows: Vec<(Score, &Solution)> = scored.filter_map(|one| Some((score(one)?, one))).collect();
    rows.sort_by(|(one, _), (other, _)| match (one.beats(*other), other.beats(*one)) {
        (true, _) => Ordering::Less,
        (_, true) => Ordering::Greater,
        _ => Ordering::Equal,
    });
    rows.into_iter().map(|(_, row)| row).collect()
}

/// Whether a script found other data than one before.
fn data_changed(snapshot: &Snapshot) -> bool {
    let is_told = |record: &EffectRecord| {
        let notes = record.outcome.as_ref().and_then(|outcome| outcome.get("notes")?.as_array());
        let mut notes = notes.into_iter().flatten().filter_map(|note| note.as_str());
        notes.any(|note| note.starts_with(DATA_CHANGED))
    };
    let is_script = |record: &&EffectRecord| record.kind == Kind::Script && stands(record);
    snapshot.effects.iter().filter(is_script).any(is_told)
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// A finished run whose result tells this about its score.
    pub fn report(more: &Value) -> RunReport {
        let mut trust = json!({
            "validation_score": 0.8123, "validation_interval": [0.801, 0.823], "verified": true,
            "holdout_looks": 0, "choice": {"rule": "best validation score", "candidates": []},
        });
        trust.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let trust: Trust = serde_json::from_value(trust).unwrap();
        RunReport {
            summary: summary(),
            folder: PathBuf::from("runs/r"),
            is_final: true,
            checks: Checks { suspect: trust.suspicion().map(str::to_owned), ..Checks::default() },
            score: ScoreReport {
                validation_score: trust.validation_score,
                trust: Some(trust),
                ..ScoreReport::default()
            },
            ending: RunEnd::default(),
            solutions: Vec::new(),
            answer: None,
            helped: None,
            tried: Models::default(),
            model: None,
            calls: Spending::default(),
        }
    }

    /// A finished run in short.
    fn summary() -> RunSummary {
        let told = json!({
            "run_id": "r", "state": "finished", "metric": "ROC-AUC", "direction": "maximize", "task": "t",
            "phase": null, "best_score": 0.8123, "created_at": "2026-01-02T03:04:05Z", "elapsed_seconds": 75.0,
            "cost_usd": null, "estimated_usd": 0.0, "tokens": 0, "interrupted_calls": 0, "submission": null,
            "so_far": null, "failed_paths": [], "done": {"percent": 100, "of": "steps"}, "used": null,
        });
        serde_json::from_value(told).unwrap()
    }

    #[test]
    fn the_last_lines_name_both_scores_or_why_there_is_one() {
        let check = |more: Value, expected: &[&str]| assert_eq!(report(&more).score_lines(), expected);
        let validated = "ROC-AUC: 0.8123 validated [0.801, 0.823]";
        check(
            json!({"holdout_score": 0.8098, "holdout_interval": [0.790, 0.829]}),
            &["ROC-AUC: 0.8123 validated [0.801, 0.823], 0.8098 held out [0.790, 0.829]"],
        );
        check(
            json!({"holdout_score": 0.8098, "holdout_rows": 1500, "holdout_reported_rows": 750}),
            &[
                "ROC-AUC: 0.8123 validated [0.801, 0.823], 0.80980 held out",
                "the held-out score is of 750 of 1,500 held-out rows, because the others took part in a decision",
            ],
        );
        check(
            json!({"holdout": {"state": "off", "why": "The task has 800 labelled rows.\nMore."}}),
            &[validated, "no held-out rows: The task has 800 labelled rows"],
        );
        let on = json!({"state": "on", "rows": 300, "of": 2000, "seed": 1, "digest": "d"});
        check(json!({"holdout": on}), &[validated, "no score on the held-out rows"]);
        let split = json!({"kind": "time", "column": "year", "why": ""});
        let few = |rows: &str, values: &str| {
            format!(
                "note: the {rows} rows have {values} of `year`; with other values, the score may be outside the interval"
            )
        };
        check(
            json!({"split": split, "holdout_clusters": 1, "validation_clusters": 3}),
            &[validated, "no held-out rows", &few("held-out", "1 value")],
        );
        check(
            json!({"split": split, "validation_clusters": 3}),
            &[validated, "no held-out rows", &few("validation", "3 values")],
        );
        check(
            json!({"validation_interval": null, "verified": null}),
            &["ROC-AUC: 0.81230 validated", "no held-out rows"],
        );
    }

    #[test]
    fn the_last_lines_name_the_scores_of_periods() {
        let check = |more: Value, expected: &[&str]| assert_eq!(report(&more).score_lines(), expected);
        let period = |score: f64| json!({"from": "a", "to": "b", "rows": 9, "score": score});
        let held_out = "ROC-AUC: 0.8123 validated [0.801, 0.823], 0.80980 held out";
        check(
            json!({"holdout_score": 0.8098, "periods": [period(0.79), period(0.83), period(0.8098)]}),
            &[
                held_out,
                "by period, the last one held out: 0.79000, 0.83000, 0.80980; the interval is for one more period",
            ],
        );
        check(
            json!({"holdout_score": 0.8098, "mean_over_periods": true, "periods": [period(0.79), period(0.8098)]}),
            &[
                held_out,
                "by period, the last one held out: 0.79000, 0.80980; the validation score is the mean of the validated ones; the interval is for one more period",
            ],
        );
        let why = "only 2 periods have a score";
        check(
            json!({"validation_interval": null, "holdout": {"state": "off", "why": "none"}, "no_interval": why,
                "periods": [period(0.79), period(0.83)]}),
            &[
                "ROC-AUC: 0.81230 validated",
                "by period: 0.79000, 0.83000",
                "no interval: only 2 periods have a score",
                "no held-out rows: none",
            ],
        );
    }

    #[test]
    fn a_note_is_the_same_in_the_terminal_and_on_the_page() {
        let check = |change: fn(&mut RunReport), line: &str, note: &str| {
            let mut report = report(&json!({}));
            change(&mut report);
            assert!(report.last_lines().iter().any(|one| one == line), "{:?}", report.last_lines());
            assert_eq!(report.notes(), [note]);
        };
        check(
            |report| report.checks.leakage_suspected = true,
            "note: the solution may leak the answers it is scored on",
            "The solution may leak the answers it is scored on.",
        );
        check(
            |report| report.checks.suspect = Some("it is better than chance".to_owned()),
            "note: this score is suspect: it is better than chance",
            "This score is suspect: it is better than chance.",
        );
        check(
            |report| report.ending.not_run = Some("it failed\nat last".to_owned()),
            "note: `final/solution.py` did not write the submission: it failed",
            "`final/solution.py` did not write the submission: it failed.",
        );
        check(
            |report| report.ending.not_best = Some("the solution of a is submitted".to_owned()),
            "note: the solution of a is submitted",
            "The solution of a is submitted.",
        );
        check(
            |report| report.ending.answer_is_earlier = true,
            "nothing better was found since the limit was raised: the earlier answer stays",
            "Nothing better was found since the limit was raised: the earlier answer stays.",
        );
        check(
            |report| {
                report.ending.used = Some("used its $2.00 (5 of 12 steps)".to_owned());
                report.ending.larger = Some("--max-budget-usd");
            },
            "used its $2.00 (5 of 12 steps); continue with: mle-star resume r --max-budget-usd N",
            "Used its $2.00 (5 of 12 steps).",
        );
    }
}
