//! How far the score of a run can be trusted, as in `result.json`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metric::{Direction, Score};
use crate::place::Place;
use crate::protocol::{Holdout, NewSeries, Shift, Split};

/// How far the score of a run can be trusted. Intervals are 95 %, low and high.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trust {
    /// The chosen solution's score in the search.
    pub validation_score: Option<f64>,
    /// Its 95 % interval for a score on the test rows, if its rows are known.
    pub validation_interval: Option<[f64; 2]>,
    /// What the best constant prediction scores on the validation rows, such as their mean; `None` if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constant_score: Option<f64>,
    /// For forecasts of numbers, what the value of the same series a week or a year earlier scores on the validation rows; `None`
    /// otherwise, or if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seasonal_naive_score: Option<f64>,
    /// The number of validation rows, which the script chose; `None` if they are not known.
    #[serde(default)]
    pub validation_rows: Option<u64>,
    /// `true` if the program computed the score itself; `None` if it could not. Never `false`: another
    /// score that a script prints does not count.
    pub verified: Option<bool>,
    /// Why the score could not be computed, in one sentence; `None` if it was, or if the script wrote no predictions that
    /// can be scored.
    #[serde(default)]
    pub unverified: Option<String>,
    /// The number of groups or times of the validation rows, if it is too small to tell how they differ. The interval is
    /// then for other rows of the same ones.
    #[serde(default)]
    pub validation_clusters: Option<u64>,
    /// The number of groups or times of the held-out rows, if it is too small to tell how they differ. The interval is then
    /// for other rows of the same ones.
    #[serde(default)]
    pub holdout_clusters: Option<u64>,
    /// For a split by time, the scores of the submitted solution by period, the earliest first: the validated ones, then the
    /// held-out one.
    #[serde(default)]
    pub periods: Vec<PeriodScore>,
    /// Whether the validation score is the mean of those of the validated periods. Otherwise it is of all rows together.
    #[serde(default)]
    pub mean_over_periods: bool,
    /// For a split by time, the series of test rows that no training row has, if the test table has clearly more of them than
    /// earlier periods.
    #[serde(default)]
    pub new_series: Option<NewSeries>,
    /// Why there is no interval, in one sentence; `None` if there is one, or if nothing is known.
    #[serde(default)]
    pub no_interval: Option<String>,
    /// The score on rows that no script saw before.
    pub holdout_score: Option<f64>,
    /// Its 95 % interval for a score on the test rows.
    pub holdout_interval: Option<[f64; 2]>,
    /// The number of held-out rows.
    pub holdout_rows: Option<u64>,
    /// The number of those that the score is of; `None` if it is of all. The others took part in a decision.
    #[serde(default)]
    pub holdout_reported_rows: Option<u64>,
    /// How often predictions for held-out rows were scored.
    pub holdout_looks: u64,
    /// How the test rows differ from the training rows.
    pub split: Option<Split>,
    /// The held-out rows, or why there are none.
    #[serde(default)]
    pub holdout: Option<Holdout>,
    /// How well training and test rows can be told apart.
    #[serde(default)]
    pub shift: Option<Shift>,
    /// What was found in scripts.
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// The results of probes.
    #[serde(default)]
    pub probes: Vec<Probe>,
    /// How the final solution was chosen.
    pub choice: Choice,
    /// Whether the finalized script predicts like the chosen one, and with the held-out rows as without, in a sentence each; empty
    /// if it was not compared.
    #[serde(default)]
    pub equivalence: String,
}

impl Trust {
    /// Why the score may be too good, if a probe says so.
    pub fn suspicion(&self) -> Option<&str> {
        let suspect = self.probes.iter().find(|probe| probe.verdict == ProbeVerdict::Suspect);
        suspect.map(|probe| probe.detail.as_str())
    }
}

/// Held-out rows contradict a validation score that is better by more than this many standard errors of the difference.
/// `lab/trust.md` shows what a comparison costs if that is chance.
pub const MAX_Z_SCORE: f64 = 2.0;
/// The half of a 95 % interval, in standard errors.
const HALF: f64 = 1.96;

/// The one score to expect on the rows of the test table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExpectedScore {
    /// The score, in the metric's unit.
    pub score: f64,
    /// Its 95 % interval, low and high; `null` if it is not known.
    pub interval: Option<[f64; 2]>,
    /// The rows that it is from.
    pub from: ScoreSource,
    /// What the best constant prediction scores; `null` if it is not known.
    pub constant: Option<f64>,
}

/// The rows that an expected score is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ScoreSource {
    /// Held-out rows.
    Holdout,
    /// Validation rows.
    Validation,
    /// Both, each by its precision.
    Both,
}

impl Trust {
    /// The score to expect; `None` if no score is known.
    ///
    /// It is the mean of the validated and the held-out score by their precision, and its standard error the geometric mean of
    /// theirs. If the validated score is better by more than chance, the held-out one alone counts. `lab/trust.md` has the
    /// coverage of the interval.
    pub fn expected(&self, direction: Direction) -> Option<ExpectedScore> {
        let (held_out, validated) = (self.holdout_score, self.validation_score);
        let intervals = self.holdout_interval.zip(self.validation_interval);
        let both = held_out.zip(validated).zip(intervals);
        let both = both.and_then(|(scores, intervals)| combined_interval(scores, intervals, direction));
        let (score, interval, from) = match (both, held_out, validated) {
            (Some((score, interval)), ..) => (score, Some(interval), ScoreSource::Both),
            (None, Some(score), _) => (score, self.holdout_interval, ScoreSource::Holdout),
            (None, None, Some(score)) => (score, self.validation_interval, ScoreSource::Validation),
            (None, None, None) => return None,
        };
        Some(ExpectedScore { score, interval, from, constant: self.constant_score })
    }
}

/// The held-out and the validated score together, with the interval; `None` if they contradict each other.
fn combined_interval(
    (held_out, validated): (f64, f64),
    intervals: ([f64; 2], [f64; 2]),
    direction: Direction,
) -> Option<(f64, [f64; 2])> {
    let error = |[low, high]: [f64; 2]| (high - low) / (2.0 * HALF);
    let (of_held_out, of_validated) = (error(intervals.0), error(intervals.1));
    let gap = Score::new(validated, direction)?.gain_over(Score::new(held_out, direction)?);
    // Without any error, the scores say nothing about each other.
    if gap > MAX_Z_SCORE * of_held_out.hypot(of_validated) || of_held_out.min(of_validated) <= 0.0 {
        return None;
    }
    let (weight, other) = (of_held_out.powi(-2), of_validated.powi(-2));
    let score = (held_out * weight + validated * other) / (weight + other);
    let half = HALF * (of_held_out * of_validated).sqrt();
    // No further than either interval goes, so that it stays in the metric's range.
    let low = intervals.0[0].min(intervals.1[0]);
    let high = intervals.0[1].max(intervals.1[1]);
    Some((score, [(score - half).max(low), (score + half).min(high)]))
}

/// The score of a period of time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PeriodScore {
    /// The first time of its rows, as in the table.
    pub from: String,
    /// The last time of its rows, as in the table.
    pub to: String,
    /// The number of rows that were scored.
    pub rows: u64,
    /// The score, in the metric's unit.
    pub score: f64,
}

/// A finding in a script.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The rule.
    pub rule: String,
    /// Its severity.
    pub severity: Severity,
    /// The run of the script.
    pub place: Place,
    /// The line, from 1.
    pub line: u64,
    /// A description.
    pub text: String,
}

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The script gets no score.
    Block,
    /// It is reported.
    Warn,
}

/// The result of a probe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Probe {
    /// Its name.
    pub name: String,
    /// The verdict.
    pub verdict: ProbeVerdict,
    /// A description.
    pub detail: String,
}

/// The verdict of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ProbeVerdict {
    /// Nothing was found.
    Pass,
    /// The score may be too good.
    Suspect,
    /// It was not carried out.
    Skipped,
}

/// How the final solution was chosen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Choice {
    /// The rule, in a few words.
    pub rule: String,
    /// The solutions that were compared, the chosen one first.
    pub candidates: Vec<ChoiceCandidate>,
}

/// A solution that was compared in the final choice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChoiceCandidate {
    /// The run that gave its validation score.
    pub place: Place,
    /// Its validation score.
    pub validation: f64,
    /// Its score on the choosing half of the holdout.
    pub holdout: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_scores_count_by_their_precision_unless_they_contradict_each_other() {
        let of = |held_out: f64, direction| {
            combined_interval((held_out, 0.8), ([held_out - 0.08, held_out + 0.08], [0.76, 0.84]), direction)
        };
        // The validated score has a quarter of the variance, and the mean of errors is the geometric one.
        let (score, [low, high]) = of(0.75, Direction::Maximize).unwrap();
        assert!((score - 0.79).abs() < 1e-9, "{score}");
        assert!((score - low - 0.04 * 2.0_f64.sqrt()).abs() < 1e-9, "{low}");
        assert_eq!(high, 0.84, "no further than either interval");
        assert_eq!(of(0.6, Direction::Maximize), None);
        assert!(of(0.6, Direction::Minimize).is_some(), "a validated error that is larger is not too good");
    }
}
