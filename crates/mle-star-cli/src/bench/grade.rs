//! Grades of submissions: with hidden answers, or by a program of the user.
//!
//! A grade is kept in the folder of the bench and belongs to one submission, so each submission is graded once.

use std::path::Path;

use mle_star::result::FinalResult;
use mle_star_domain::trouble::Trouble;
use serde::{Deserialize, Serialize};

use super::answers::Answers;
use super::file::TaskEntry;
use super::grader;
use super::scale::{Anchors, Grade, Medals, is_better};

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

/// A grade as it is kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Kept {
    /// The BLAKE3 digest of the submission.
    pub submission: String,
    /// How it was graded.
    pub grading: Grading,
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
            Some(answers) => answers.grade(result, submission)?,
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
