//! How good the solution of a run is, and how sure that is.
//!
//! Sentences are fragments: lower case, no full stop. [`sentence`](crate::cut::sentence) makes a sentence of one.

use std::fmt;

use mle_star::result::FinalResult;
use mle_star_domain::metric::{Direction, Score};
use mle_star_domain::protocol::{Holdout, Split};
use mle_star_domain::trust::{ExpectedScore, Trust};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::figures::{count, grouped, interval, number};
use crate::sanitize::first_line;

/// The longest cause in a sentence, in characters.
const LONGEST_CAUSE: usize = 300;

/// The scores of a run's solution, in the metric's unit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ScoreReport {
    /// The one score to expect on the rows of the test table.
    pub expected: Option<ExpectedScore>,
    /// The score that guided the search: optimistic. Without a result, the best one so far.
    pub validation_score: Option<f64>,
    /// How far the scores can be trusted, as the result has it.
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub trust: Option<Trust>,
}

/// A score with its 95 % interval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Figure {
    /// The score.
    pub score: String,
    /// Its interval, if known.
    pub interval: Option<String>,
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

    /// The validation score.
    pub fn validated(&self) -> Option<Figure> {
        let interval = self.trust.as_ref().and_then(|trust| trust.validation_interval);
        self.validation_score.map(|score| Figure::of(score, interval))
    }

    /// The score on rows that no script saw before: the one to report.
    pub fn held_out_score(&self) -> Option<f64> {
        self.trust.as_ref()?.holdout_score
    }

    /// The same with its interval.
    pub fn held_out(&self) -> Option<Figure> {
        let trust = self.trust.as_ref()?;
        trust.holdout_score.map(|score| Figure::of(score, trust.holdout_interval))
    }

    /// The scores by period in one line, and what the interval is for: `by period, the last one held out: 12.25, 13.50,
    /// 12.75; the interval is for one more period`. `None` for other splits than those by time.
    pub fn by_period(&self) -> Option<String> {
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
    pub fn beside_naive(&self) -> Option<String> {
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
    pub fn without_interval(&self) -> Option<String> {
        let why = self.trust.as_ref()?.no_interval.as_ref()?;
        Some(format!("no interval: {}", first_line(why, LONGEST_CAUSE)))
    }

    /// That the held-out score is of some of the held-out rows; `None` if it is of all.
    pub fn reported_part(&self) -> Option<String> {
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
                format!("no held-out rows: {}", first_line(why, LONGEST_CAUSE).trim_end_matches('.'))
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
        format!("the validation score is not verified: {}", first_line(why, LONGEST_CAUSE))
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

    /// The score to expect in one line: `expect ROC-AUC 0.812 [0.801, 0.823]; a constant has 0.500`.
    pub fn expected_line(&self, metric: &str) -> Option<String> {
        let expected = self.expected.as_ref()?;
        let constant = expected.constant.map(|constant| format!("; a constant has {}", number(constant)));
        let figure = Figure::of(expected.score, expected.interval);
        Some(format!("expect {metric} {figure}{}", constant.unwrap_or_default()))
    }

    /// Both scores in one line: `ROC-AUC: 0.81230 validated [0.801, 0.823], 0.80980 held out [0.790, 0.829]`.
    pub fn line(&self, metric: &str) -> Option<String> {
        let told = |figure: Figure, kind: &str| {
            let interval = figure.interval.map_or_else(String::new, |interval| format!(" {interval}"));
            format!("{} {kind}{interval}", figure.score)
        };
        let held_out = self.held_out().map(|figure| format!(", {}", told(figure, "held out")));
        let validated = told(self.validated()?, "validated");
        Some(format!("{metric}: {validated}{}", held_out.unwrap_or_default()))
    }
}

impl Figure {
    /// A score with its bounds.
    pub fn of(score: f64, bounds: Option<[f64; 2]>) -> Self {
        Self { score: number(score), interval: bounds.map(interval) }
    }

    /// `0.81230, 95 % interval [0.801, 0.823]`.
    pub fn in_words(&self) -> String {
        let interval = self.interval.as_ref().map(|interval| format!(", 95 % interval {interval}"));
        format!("{}{}", self.score, interval.unwrap_or_default())
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.interval {
            Some(interval) => write!(f, "{} {interval}", self.score),
            None => f.write_str(&self.score),
        }
    }
}

/// That the solution may leak, if it is suspected to.
pub fn leak(is_suspected: bool) -> Option<&'static str> {
    is_suspected.then_some("the solution may leak the answers it is scored on")
}
