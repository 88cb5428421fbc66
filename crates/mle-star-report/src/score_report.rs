//! The scores of a run's solution, with their intervals and what makes them doubtful, as sentences.
//!
//! Sentences are fragments: lower case, no full stop. [`sentence`](crate::cut::sentence) makes a sentence of one.

use mle_star::result::FinalResult;
use mle_star_domain::metric::{Direction, Score};
use mle_star_domain::protocol::{Holdout, Split};
use mle_star_domain::trust::{ExpectedScore, Trust};
use serde::Serialize;

use crate::figures::{count, grouped, interval, measured, number, with_interval};
use crate::sanitize::first_line;

/// The longest cause in a sentence, in characters.
const MAX_CAUSE_CHARS: usize = 300;

/// The scores of a run's solution, in the metric's unit.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ScoreReport {
    /// The one score to expect on the rows of the test table.
    pub expected: Option<ExpectedScore>,
    /// The score that guided the search: optimistic. Without a result, the best one so far.
    pub validation_score: Option<f64>,
    /// How far the scores can be trusted, as the result has it.
    pub trust: Option<Trust>,
}

impl ScoreReport {
    /// The scores in a result.
    pub fn of(result: &FinalResult) -> Self {
        let trust = result.trust.clone();
        let validated = trust.as_ref().and_then(|trust| trust.validation_score);
        Self {
            expected: trust.as_ref().and(result.expected.clone()),
            validation_score: validated.or(Some(result.validation_score())),
            trust,
        }
    }

    /// The scores with what makes them doubtful, as lines.
    pub fn lines(&self, metric: &str) -> Vec<String> {
        let lines = [
            self.expected_line(metric),
            self.line(metric),
            self.reported_part(),
            self.by_period(),
            self.beside_naive(),
            self.without_interval(),
            self.not_held_out(),
            self.few().first().map(|few| format!("note: {few}")),
        ];
        lines.into_iter().flatten().collect()
    }

    /// The score to expect: `expect ROC-AUC 0.8123 [0.801, 0.823]; a constant has 0.5000`.
    fn expected_line(&self, metric: &str) -> Option<String> {
        let expected = self.expected.as_ref()?;
        let constant = expected.constant.map(|constant| measured(constant, expected.interval));
        let constant = constant.map(|constant| format!("; a constant has {constant}"));
        let score = with_interval(expected.score, expected.interval);
        Some(format!("expect {metric} {score}{}", constant.unwrap_or_default()))
    }

    /// Both scores: `ROC-AUC: 0.8123 validated [0.801, 0.823], 0.8098 held out [0.790, 0.829]`.
    fn line(&self, metric: &str) -> Option<String> {
        let told = |score: f64, of: &str, bounds: Option<[f64; 2]>| {
            let words = bounds.map(|bounds| format!(" {}", interval(bounds)));
            format!("{} {of}{}", measured(score, bounds), words.unwrap_or_default())
        };
        let trust = self.trust.as_ref();
        let bounds = trust.and_then(|trust| trust.validation_interval);
        let validated = told(self.validation_score?, "validated", bounds);
        let held_out =
            trust.and_then(|trust| Some(told(trust.holdout_score?, "held out", trust.holdout_interval)));
        let held_out = held_out.map(|held_out| format!(", {held_out}"));
        Some(format!("{metric}: {validated}{}", held_out.unwrap_or_default()))
    }

    /// The score on rows that no script saw before: the one to report.
    pub fn held_out_score(&self) -> Option<f64> {
        self.trust.as_ref()?.holdout_score
    }

    /// The scores by period in one line, and what the interval is for: `by period, the last one held out: 12.25, 13.50,
    /// 12.75; the interval is for one more period`. `None` for other splits than those by time.
    fn by_period(&self) -> Option<String> {
        let trust = self.trust.as_ref().filter(|trust| !trust.periods.is_empty())?;
        let scores: Vec<String> = trust.periods.iter().map(|period| number(period.score)).collect();
        let last = if trust.holdout_score.is_some() { ", the last one held out" } else { "" };
        let has_interval = trust.holdout_interval.or(trust.validation_interval).is_some();
        let aim = if has_interval { "; the interval is for one more period" } else { "" };
        let mean = if trust.mean_over_periods {
            "; the validation score is the mean of the validated ones"
        } else {
            ""
        };
        Some(format!("by period{last}: {}{mean}{aim}", scores.join(", ")))
    }

    /// What to compare the score of a forecast with.
    fn beside_naive(&self) -> Option<String> {
        let score = self.trust.as_ref()?.seasonal_naive_score?;
        Some(format!("seasonal naive: {} on the validated rows", number(score)))
    }

    /// Why the solution is of no use, if it is not better than a seasonal naive forecast.
    pub fn no_better_than_naive(&self, direction: Direction) -> Option<String> {
        let score = Score::new(self.validation_score?, direction)?;
        let naive = Score::new(self.trust.as_ref()?.seasonal_naive_score?, direction)?;
        let words = || {
            format!("a seasonal naive forecast is as good: {} on the validated rows", number(naive.value()))
        };
        naive.beats_or_ties(score).then(words)
    }

    /// Why there is no interval.
    fn without_interval(&self) -> Option<String> {
        let why = self.trust.as_ref()?.no_interval.as_ref()?;
        Some(format!("no interval: {}", first_line(why, MAX_CAUSE_CHARS)))
    }

    /// The note that the held-out score is of some of the held-out rows; `None` if it is of all.
    fn reported_part(&self) -> Option<String> {
        let trust = self.trust.as_ref()?;
        Some(format!(
            "the held-out score is of {} of {} held-out rows, because the others took part in a decision",
            grouped(trust.holdout_reported_rows?),
            grouped(trust.holdout_rows?)
        ))
    }

    /// Why there is no score on held-out rows; `None` if there is one.
    pub fn not_held_out(&self) -> Option<String> {
        if self.held_out_score().is_some() {
            return None;
        }
        Some(match self.trust.as_ref().and_then(|trust| trust.holdout.as_ref()) {
            Some(Holdout::On { .. } | Holdout::Test { .. }) => "no score on the held-out rows".to_owned(),
            Some(Holdout::Off { why }) => {
                format!("no held-out rows: {}", first_line(why, MAX_CAUSE_CHARS).trim_end_matches('.'))
            }
            None => "no held-out rows".to_owned(),
        })
    }

    /// Whether the program could compute the validation score itself.
    pub fn verification(&self) -> String {
        let trust = self.trust.as_ref();
        // A script whose printed score differs has failed, so it is never `Some(false)`.
        if trust.is_some_and(|trust| trust.verified.is_some()) {
            return "the program recomputed the validation score from the script's predictions: same score"
                .to_owned();
        }
        let why = trust.and_then(|trust| trust.unverified.as_deref());
        let why = why.unwrap_or("the script wrote no validation predictions that can be scored");
        format!("the validation score is not verified: {}", first_line(why, MAX_CAUSE_CHARS))
    }

    /// What few groups or times cannot show: of the held-out rows first, then of the validation rows.
    pub fn few(&self) -> Vec<String> {
        let Some(trust) = &self.trust else { return Vec::new() };
        let column = trust.split.as_ref().and_then(Split::cluster);
        let known = [("held-out", trust.holdout_clusters), ("validation", trust.validation_clusters)];
        let words = |(rows, clusters): (&str, Option<u64>)| {
            let (values, column) = (count(clusters?, "value"), first_line(column?, 100));
            let rest = "with other values, the score may be outside the interval";
            Some(format!("the {rows} rows have {values} of `{column}`; {rest}"))
        };
        known.into_iter().filter_map(words).collect()
    }
}
