//! Grades, medals and anchors: scales on which scores of tasks are read.

use std::fs::File;
use std::io;
use std::path::Path;

use mle_star_domain::metric::{Direction, Score};
use serde::{Deserialize, Serialize};

/// The grade of a submission.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Grade {
    /// Whether it could be graded at all.
    pub valid: bool,
    /// The score on the hidden answers.
    pub score: Option<f64>,
    /// Its medal, as far as thresholds are known.
    pub medal: Option<Medal>,
    /// Whether there were thresholds for medals.
    pub has_medals: bool,
    /// Whether it is better than the median of the leaderboard.
    pub above_median: Option<bool>,
    /// Why it is not valid; empty otherwise.
    pub why: String,
}

/// A medal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Medal {
    /// The best.
    Gold,
    /// The second.
    Silver,
    /// The third.
    Bronze,
}

/// The scores from which a submission wins a medal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Medals {
    /// The score for gold.
    pub gold: f64,
    /// The score for silver.
    pub silver: f64,
    /// The score for bronze.
    pub bronze: f64,
    /// The median of the leaderboard.
    #[serde(default)]
    pub median: Option<f64>,
}

/// Two scores that make scores of different tasks comparable, as in TML-bench.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Anchors {
    /// The score of a constant: 0 units.
    pub constant: f64,
    /// The score of histogram gradient boosting with defaults: 1 unit.
    pub hgb: f64,
}

impl Medals {
    /// The medal of a score, which may equal its threshold.
    pub fn won(&self, score: f64, direction: Direction) -> Option<Medal> {
        let thresholds =
            [(Medal::Gold, self.gold), (Medal::Silver, self.silver), (Medal::Bronze, self.bronze)];
        let reaches = |threshold: f64| score == threshold || is_better(score, threshold, direction);
        thresholds.into_iter().find(|(_, threshold)| reaches(*threshold)).map(|(medal, _)| medal)
    }
}

impl Medal {
    /// The name in tables and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gold => "gold",
            Self::Silver => "silver",
            Self::Bronze => "bronze",
        }
    }
}

impl Anchors {
    /// A score in units: 0 for the constant, 1 for histogram gradient boosting.
    pub fn units(self, score: f64) -> f64 {
        (score - self.constant) / (self.hgb - self.constant)
    }
}

/// Whether the first score is better.
pub fn is_better(one: f64, other: f64, direction: Direction) -> bool {
    let score = |value| Score::new(value, direction);
    score(one).zip(score(other)).is_some_and(|(one, other)| one.gain_over(other) > 0.0)
}

/// The BLAKE3 digest of a file, in hexadecimal.
pub fn digest_of(path: &Path) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(File::open(path)?)?;
    Ok(hasher.finalize().to_hex().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medals_follow_the_direction_of_the_metric() {
        use Direction::{Maximize, Minimize};
        let check = |thresholds: [f64; 3], score: f64, direction: Direction, expected: Option<Medal>| {
            let [gold, silver, bronze] = thresholds;
            assert_eq!(
                Medals { gold, silver, bronze, median: None }.won(score, direction),
                expected,
                "{score}"
            );
        };
        check([0.9, 0.8, 0.7], 0.95, Maximize, Some(Medal::Gold));
        check([0.9, 0.8, 0.7], 0.8, Maximize, Some(Medal::Silver));
        check([0.9, 0.8, 0.7], 0.69, Maximize, None);
        check([1.0, 2.0, 3.0], 0.5, Minimize, Some(Medal::Gold));
        check([1.0, 2.0, 3.0], 2.5, Minimize, Some(Medal::Bronze));
        check([1.0, 2.0, 3.0], 3.5, Minimize, None);
        check([1.0, 2.0, 3.0], f64::NAN, Minimize, None);
        let anchors = Anchors { constant: 2.0, hgb: 1.0 };
        assert_eq!((anchors.units(2.0), anchors.units(0.5)), (0.0, 1.5));
    }
}
