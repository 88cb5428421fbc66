//! How good the solution of a run is, and how sure that is.
//!
//! Sentences are fragments: lower case, no full stop. [`sentence`](crate::cut::sentence) makes a sentence of one.

use std::fmt;

use mle_star::result::FinalResult;
use mle_star_domain::metric::{Direction, Score};
use mle_star_domain::protocol::{Holdout, Split};
use mle_star_domain::trust::{ExpectedScore, PeriodScore, Trust};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::figures::{grouped, interval, number};
use crate::sanitize::first_line;

/// The longest cause in a sentence, in characters.
const LONGEST_CAUSE: usize = 300;

/// The scores of a run's solution, in the metric's unit. Intervals are 95 %, low and high.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ScoreReport {
    /// The one score to expect on the rows of the test table.
    pub expected: Option<ExpectedScore>,
    /// The score that guided the search: optimistic.
    pub validation_score: Option<f64>,
    /// Its interval for a score on the test rows.
    pub validation_interval: Option<[f64; 2]>,
    /// What the best constant prediction scores on the validation rows.
    pub constant_score: Option<f64>,
    /// The same for a seasonal naive forecast.
    pub seasonal_naive_score: Option<f64>,
    /// The score on rows that no script saw before: the one to report.
    pub held_out_score: Option<f64>,
    /// Its interval.
    pub held_out_interval: Option<[f64; 2]>,
    /// The number of held-out rows.
    pub held_out_rows: Option<u64>,
    /// The number of those that the score is of, if the others took part in a decision.
    pub held_out_reported_rows: Option<u64>,
    /// Whether the program's own computation gives the validation score.
    pub verified: Option<bool>,
    /// Why the score could not be computed.
    #[serde(skip)]
    pub unverified: Option<String>,
    /// The held-out rows, or why there are none.
    #[serde(skip)]
    pub holdout: Option<Holdout>,
    /// Groups or times that are too few to tell how they differ.
    #[serde(skip)]
    pub few: Vec<FewClusters>,
    /// For a split by time, the scores of the submitted solution by period, the earliest first.
    pub periods: Vec<PeriodScore>,
    /// Whether the validation score is the mean of those of the validated periods.
    #[serde(skip)]
    pub mean_over_periods: bool,
    /// Why there is no interval.
    pub no_interval: Option<String>,
}

/// Rows of few groups or times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FewClusters {
    /// `held-out` or `validation`.
    rows: &'static str,
    /// The number of groups or times.
    clusters: u64,
    /// The column that has them.
    column: String,
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
        let validation_score = Some(result.validation_score());
        let Some(trust) = &result.trust else { return Self { validation_score, ..Self::default() } };
        let expected = result.expected.clone();
        Self {
            expected,
            validation_score: trust.validation_score.or(validation_score),
            ..Self::of_trust(trust)
        }
    }

    /// The scores as far as the program can tell how far to trust them.
    pub fn of_trust(trust: &Trust) -> Self {
        Self {
            expected: None,
            validation_score: trust.validation_score,
            validation_interval: trust.validation_interval,
            constant_score: trust.constant_score,
            seasonal_naive_score: trust.seasonal_naive_score,
            held_out_score: trust.holdout_score,
            held_out_interval: trust.holdout_interval,
            held_out_rows: trust.holdout_rows,
            held_out_reported_rows: trust.holdout_reported_rows,
            verified: trust.verified,
            unverified: trust.unverified.clone(),
            holdout: trust.holdout.clone(),
            few: few_clusters(trust),
            periods: trust.periods.clone(),
            mean_over_periods: trust.mean_over_periods,
            no_interval: trust.no_interval.clone(),
        }
    }

    /// The validation score.
    pub fn validated(&self) -> Option<Figure> {
        self.validation_score.map(|score| Figure::of(score, self.validation_interval))
    }

    /// The scores by period in one line, and what the interval is for: `by period, the last one held out: 12.25, 13.50,
    /// 12.75; the interval is for one more period`. `None` for other splits than those by time.
    pub fn by_period(&self) -> Option<String> {
        let scores: Vec<String> = self.periods.iter().map(|period| number(period.score)).collect();
        let last = if self.held_out_score.is_some() { ", the last one held out" } else { "" };
        let has_interval = self.held_out_interval.or(self.validation_interval).is_some();
        let aim = if has_interval { "; the interval is for one more period" } else { "" };
        let mean = if self.mean_over_periods {
            "; the validation score is the mean of the validated ones"
        } else {
            ""
        };
        (!scores.is_empty()).then(|| format!("by period{last}: {}{mean}{aim}", scores.join(", ")))
    }

    /// What to compare the score of a forecast with.
    pub fn beside_naive(&self) -> Option<String> {
        let score = self.seasonal_naive_score?;
        Some(format!("seasonal naive: {} on the validated rows", number(score)))
    }

    /// Why the solution is of no use, if it is not better than a seasonal naive forecast.
    pub fn no_better_than_naive(&self, direction: Direction) -> Option<String> {
        let score = Score::new(self.validation_score?, direction)?;
        let naive = Score::new(self.seasonal_naive_score?, direction)?;
        let words = || {
            format!("a seasonal naive forecast is as good: {} on the validated rows", number(naive.value()))
        };
        naive.beats_or_ties(score).then(words)
    }

    /// Why there is no interval.
    pub fn without_interval(&self) -> Option<String> {
        self.no_interval.as_ref().map(|why| format!("no interval: {}", first_line(why, LONGEST_CAUSE)))
    }

    /// The score on held-out rows.
    pub fn held_out(&self) -> Option<Figure> {
        self.held_out_score.map(|score| Figure::of(score, self.held_out_interval))
    }

    /// That the held-out score is of some of the held-out rows; `None` if it is of all.
    pub fn reported_part(&self) -> Option<String> {
        let (reported, all) = self.held_out_reported_rows.zip(self.held_out_rows)?;
        Some(format!(
            "the held-out score is of {} of {} held-out rows, because the others took part in a decision",
            grouped(reported),
            grouped(all)
        ))
    }

    /// Why there is no score on held-out rows; `None` if there is one.
    pub fn not_held_out(&self) -> Option<String> {
        match (self.held_out_score, &self.holdout) {
            (Some(_), _) => None,
            (None, Some(Holdout::On { .. } | Holdout::Test { .. })) => {
                Some("no score on the held-out rows".to_owned())
            }
            (None, Some(Holdout::Off { why })) => Some(no_held_out_rows(why)),
            (None, None) => Some("no held-out rows".to_owned()),
        }
    }

    /// Whether the program could compute the validation score itself.
    pub fn verification(&self) -> String {
        // A script whose printed score differs has failed, so it is never `Some(false)`.
        if self.verified.is_some() {
            return "the program recomputed the validation score from the script's predictions: same score"
                .to_owned();
        }
        let why = self.unverified.as_deref();
        let why = why.unwrap_or("the script wrote no validation predictions that can be scored");
        format!("the validation score is not verified: {}", first_line(why, LONGEST_CAUSE))
    }

    /// The score to expect.
    pub fn expected(&self) -> Option<Figure> {
        self.expected.as_ref().map(|expected| Figure::of(expected.score, expected.interval))
    }

    /// The score to expect in one line: `expect ROC-AUC 0.812 [0.801, 0.823]; a constant has 0.500`.
    pub fn expected_line(&self, metric: &str) -> Option<String> {
        let constant = self.expected.as_ref().and_then(|expected| expected.constant);
        let constant = constant.map(|constant| format!("; a constant has {}", number(constant)));
        Some(format!("expect {metric} {}{}", self.expected()?, constant.unwrap_or_default()))
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

impl FewClusters {
    /// What few groups or times cannot show.
    pub fn words(&self) -> String {
        let values = if self.clusters == 1 { "value" } else { "values" };
        format!(
            "the {} rows have {} {values} of `{}`; with other values, the score may be outside the interval",
            self.rows,
            self.clusters,
            first_line(&self.column, 100)
        )
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

/// That no rows were held out, and why.
fn no_held_out_rows(why: &str) -> String {
    format!("no held-out rows: {}", first_line(why, LONGEST_CAUSE).trim_end_matches('.'))
}

/// The rows whose groups or times are too few, the held-out ones first.
fn few_clusters(trust: &Trust) -> Vec<FewClusters> {
    let column = trust.split.as_ref().and_then(Split::cluster);
    let known = [("held-out", trust.holdout_clusters), ("validation", trust.validation_clusters)];
    let few = |(rows, clusters): (&'static str, Option<u64>)| {
        Some(FewClusters { rows, clusters: clusters?, column: column?.to_owned() })
    };
    known.into_iter().filter_map(few).collect()
}
