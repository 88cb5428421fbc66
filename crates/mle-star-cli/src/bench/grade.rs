//! Grades of submissions: with hidden answers, or by a program of the user.
//!
//! A grade is kept in the folder of the bench and belongs to one submission, so each submission is graded once.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use jiff::Timestamp;
use mle_star::result::FinalResult;
use mle_star_domain::metric::{Direction, Score};
use mle_star_domain::trouble::Trouble;
use serde::{Deserialize, Serialize};

use super::answers::Answers;
use super::file::TaskEntry;
use super::grader;

/// How the submissions of a task are graded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Grading {
    /// The hidden answers.
    pub answers: Option<Answers>,
    /// A program that prints a grade, with its arguments; empty for none.
    pub grader: Vec<String>,
    /// The scores that win medals.
    pub medals: Option<Medals>,
    /// The scores that are 0 and 1 units.
    pub anchors: Option<Anchors>,
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

/// A grade as it is kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Kept {
    /// The BLAKE3 digest of the submission.
    pub submission: String,
    /// How it was graded.
    pub grading: Grading,
    /// When.
    pub at: Timestamp,
    /// When the run had ended: the time of its `result.json`.
    pub after: Option<Timestamp>,
    /// How often a submission of this run was graded.
    pub times: u64,
    /// The grade.
    pub grade: Grade,
}

impl Grading {
    /// How the submissions of a task are graded: as its entry says, else with the answers and the grader of all tasks.
    ///
    /// # Errors
    /// The answers cannot be found or are part of the data, or there are both answers and a grader.
    pub fn find(
        name: &str,
        entry: &TaskEntry,
        answers: Option<&Path>,
        grader: &[String],
        data_dir: &Path,
    ) -> Result<Self, Trouble> {
        let has_own = entry.answers.is_some() || !entry.grader.is_empty();
        let (answers, grader) = match has_own {
            true => (entry.answers.as_deref(), entry.grader.as_slice()),
            false => (answers, grader),
        };
        if answers.is_some() && !grader.is_empty() {
            let message = format!("the task {name} has both answers and a grader");
            return Err(Trouble::new(message, "give one of them"));
        }
        let answers = answers.map(|given| Answers::find(name, &entry.task, given, data_dir)).transpose()?;
        let (medals, anchors) = (entry.medals.clone(), entry.anchors);
        if anchors.is_some_and(|anchors| anchors.constant == anchors.hgb) {
            let message = format!("the anchors of the task {name} are equal");
            return Err(Trouble::new(message, "give two different scores"));
        }
        Ok(Self { answers, grader: grader.to_vec(), medals, anchors })
    }

    /// Whether submissions are graded.
    pub fn is_on(&self) -> bool {
        self.answers.is_some() || !self.grader.is_empty()
    }

    /// The grade of a run's submission.
    ///
    /// # Errors
    /// The answers cannot be used, or the grader gives no grade. The submission is not the reason.
    pub fn grade(&self, name: &str, result: &FinalResult, submission: &Path) -> Result<Grade, Trouble> {
        let direction = result.task.metric_direction;
        let mut grade = match &self.answers {
            Some(answers) => answers.grade(name, result, submission)?,
            None => grader::grade(&self.grader, name, submission)?,
        };
        if let (Some(medals), Some(score)) = (&self.medals, grade.score) {
            grade.medal = medals.won(score, direction);
            grade.above_median = medals.median.map(|median| is_better(score, median, direction));
        }
        grade.has_medals |= self.medals.is_some();
        Ok(grade)
    }
}

/// The BLAKE3 digest of a file, in hexadecimal.
pub fn digest_of(path: &Path) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(File::open(path)?)?;
    Ok(hasher.finalize().to_hex().to_string())
}

/// When a file was last written, if it is known.
pub fn written_at(path: &Path) -> Option<Timestamp> {
    let time = fs::metadata(path).and_then(|about| about.modified()).ok()?;
    Timestamp::try_from(time).ok()
}

/// Whether the first score is better.
pub fn is_better(one: f64, other: f64, direction: Direction) -> bool {
    let score = |value| Score::new(value, direction);
    score(one).zip(score(other)).is_some_and(|(one, other)| one.gain_over(other) > 0.0)
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
