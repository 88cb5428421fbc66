//! A solution with its score, which only an evaluation makes.

use std::sync::Arc;

use mle_star_domain::config::Acceptance;
use mle_star_domain::effects::{Member, RunFacts};
use mle_star_domain::measure::{Difference, Measurement};
use mle_star_domain::metric::Score;
use mle_star_domain::place::{Place, Step};

use crate::composition::Composition;
use crate::solution::Solution;

/// A solution with the score of exactly that text.
///
/// Only [`evaluate`](crate::evaluate::evaluate) makes one, and nothing changes its text afterwards.
#[derive(Clone, Debug, PartialEq)]
pub struct Scored {
    solution: Solution,
    score: Score,
    evidence: Evidence,
}

/// The run that a score comes from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Evidence {
    /// The step that made the text.
    pub step: Step,
    /// The place of the run.
    pub place: Place,
    /// When it ended.
    pub ran_at: jiff::Timestamp,
    /// Whether it left a valid submission.
    pub wrote_submission: bool,
    /// Whether a leak was found in the text that could not be corrected.
    pub leaks: bool,
    /// Whether the text was checked for leakage.
    pub checked: bool,
    /// What agents are told about the run.
    pub facts: RunFacts,
    /// The program's own computation of the score, if the predictions are known.
    pub measured: Option<Arc<Measurement>>,
    /// The solutions that the text combines by weights, if it does.
    pub composition: Option<Arc<Composition>>,
}

impl Scored {
    /// Only for [`evaluate`](crate::evaluate::evaluate).
    pub(crate) fn new(solution: Solution, score: Score, evidence: Evidence) -> Self {
        Self { solution, score, evidence }
    }

    /// The script.
    pub fn solution(&self) -> &Solution {
        &self.solution
    }

    /// The script's text.
    pub fn text(&self) -> &str {
        self.solution.text()
    }

    /// Its score.
    pub fn score(&self) -> Score {
        self.score
    }

    /// The place of the run that gave the score.
    pub fn place(&self) -> &Place {
        &self.evidence.place
    }

    /// What it is as a member of a combination with this weight.
    pub(crate) fn weighted(&self, weight: f64) -> (Solution, String, f64) {
        let model = self.solution.source_model().map(|model| format!("{model}, ")).unwrap_or_default();
        let title = format!("{model}{}, validation score {}", self.step(), self.score.value());
        (self.solution.clone(), title, weight)
    }

    /// The step of the algorithms that made it.
    pub fn step(&self) -> Step {
        self.evidence.step
    }

    /// Whether that run left a valid submission.
    pub fn wrote_submission(&self) -> bool {
        self.evidence.wrote_submission
    }

    /// Whether a leak was found in it that could not be corrected.
    pub fn leaks(&self) -> bool {
        self.evidence.leaks
    }

    /// Whether it was checked for leakage. Only a solution that replaces no other may be unchecked.
    pub fn is_checked(&self) -> bool {
        self.evidence.checked
    }

    /// What agents are told about the run that gave the score.
    pub(crate) fn facts(&self) -> &RunFacts {
        &self.evidence.facts
    }

    /// The same text with the result of its leakage check.
    #[must_use]
    pub(crate) fn checked(mut self, leaks: bool) -> Self {
        (self.evidence.checked, self.evidence.leaks) = (true, leaks);
        self
    }

    /// The program's own computation of the score; `None` if the predictions are not known.
    pub fn measured(&self) -> Option<&Measurement> {
        self.evidence.measured.as_deref()
    }

    /// Whether it replaces `incumbent` by this rule. Without known rows, every rule is the paper's.
    pub fn replaces(&self, incumbent: &Self, rule: Acceptance) -> bool {
        match (rule, self.difference(incumbent)) {
            (Acceptance::OneSigma, Some(difference)) => {
                self.score.gain_over(incumbent.score) > difference.standard_error
            }
            _ => self.score.beats_or_ties(incumbent.score),
        }
    }

    /// The paired difference of the scores; `None` if predictions are not known.
    pub fn difference(&self, other: &Self) -> Option<Difference> {
        self.measured().zip(other.measured()).and_then(|(one, two)| one.difference(two))
    }

    /// That the two scores are of different validation rows, in a few words; `None` if they are not, or are not known.
    pub(crate) fn other_rows(&self, other: &Self) -> Option<String> {
        let (own, others) = self.measured().zip(other.measured())?;
        (own.rows_digest != others.rows_digest).then(|| {
            format!(
                "validated on other rows ({}) than the solution that it is compared with ({})",
                own.rows, others.rows
            )
        })
    }

    /// The solutions that it combines by weights; `None` for any other solution.
    pub(crate) fn composition(&self) -> Option<&Composition> {
        self.evidence.composition.as_deref()
    }

    /// When that run ended.
    pub fn ran_at(&self) -> jiff::Timestamp {
        self.evidence.ran_at
    }
}

impl From<&Scored> for Member {
    fn from(solution: &Scored) -> Self {
        let (run, script) = (solution.place().clone(), solution.text().to_owned());
        Self { run, script, seconds: solution.facts().seconds }
    }
}
