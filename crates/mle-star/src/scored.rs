//! A solution with its score, which only an evaluation makes.

use std::sync::Arc;

use mle_star_domain::config::Acceptance;
use mle_star_domain::measure::{Difference, Measurement};
use mle_star_domain::metric::Score;
use mle_star_domain::place::{Place, Step};
use mle_star_domain::question::{Comparison, FileStem};

use crate::composition::{Composition, Part};
use crate::outcomes::RunFacts;
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
    /// How it compares with the solution that it competes with, if that validated on other rows.
    pub against: Option<Arc<Against>>,
}

/// The comparison with a solution that validated on other rows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Against {
    /// The run of that solution.
    run: Place,
    comparison: Comparison,
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

    /// The score of the solution.
    pub fn score(&self) -> Score {
        self.score
    }

    /// The place of the run that gave the score.
    pub fn place(&self) -> &Place {
        &self.evidence.place
    }

    /// The files that this run left.
    pub(crate) fn kept(&self) -> FileStem {
        FileStem::new(self.place(), self.text())
    }

    /// What it is as a member of a combination with this weight.
    pub(crate) fn weighted(&self, weight: f64) -> Part {
        let model = self.solution.source_model().map(|model| format!("{model}, ")).unwrap_or_default();
        let title = format!("{model}{}, validation score {}", self.step(), self.score.value());
        Part { solution: self.solution.clone(), title, weight }
    }

    /// The step of the algorithms that made it.
    pub fn step(&self) -> Step {
        self.evidence.step
    }

    /// That step for people, with the model that it began with: `LightGBM`, `path 1, step 1, attempt 2 (LightGBM)`.
    pub(crate) fn title(&self) -> String {
        match (self.step(), self.solution.source_model()) {
            (Step::Candidate(_) | Step::Extra(_), Some(model)) => model.to_owned(),
            (step, Some(model)) => format!("{} ({model})", step.title()),
            (step, None) => step.title(),
        }
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

    /// With its comparison with a solution that validated on other rows.
    #[must_use]
    pub(crate) fn against(mut self, other: &Self, comparison: Comparison) -> Self {
        self.evidence.against = Some(Arc::new(Against { run: other.place().clone(), comparison }));
        self
    }

    /// Whether it replaces `incumbent` by this rule. Without known rows, every rule is the paper's. If `incumbent` validated on
    /// other rows, those that both predicted decide; if they are too few, the solution stays that validated on the folds of
    /// the program, and of two that did not, the one with more rows.
    pub fn replaces(&self, incumbent: &Self, rule: Acceptance) -> bool {
        let (own, other, error) = match self.comparison_with(incumbent) {
            Some(comparison) => {
                let Some(difference) = comparison.difference else {
                    return self.standing() > incumbent.standing();
                };
                let (own, none) = (self.score.of_value(difference.by), self.score.of_value(0.0));
                (own, none, Some(difference.standard_error))
            }
            None => {
                let error = self.difference(incumbent).map(|difference| difference.standard_error);
                (self.score, incumbent.score, error)
            }
        };
        let gain = own.gain_over(other);
        match (rule, error) {
            (Acceptance::Paper, _) | (_, None) => own.beats_or_ties(other),
            (Acceptance::OneSigma, Some(error)) => gain > error,
            (Acceptance::Auto, Some(error)) if gain.abs() > error => gain > 0.0,
            (Acceptance::Auto, Some(_)) => {
                let simpler = self.solution.simplicity().cmp(&incumbent.solution.simplicity());
                simpler.is_gt() || simpler.is_eq() && own.beats_or_ties(other)
            }
        }
    }

    /// The comparison with this solution, if it validated on other rows and the program could compare the two.
    fn comparison_with(&self, incumbent: &Self) -> Option<&Comparison> {
        let against = self.evidence.against.as_ref().filter(|against| against.run == *incumbent.place())?;
        Some(&against.comparison).filter(|comparison| comparison.failure.is_empty())
    }

    /// What decides between solutions that have no rows in common: the program's folds, then the number of rows.
    fn standing(&self) -> (bool, u64) {
        let rows = self.measured().map_or(0, |measured| measured.rows);
        (self.is_on_folds(), if self.is_on_folds() { 0 } else { rows })
    }

    /// Whether it validated on the rows of the program's folds.
    pub(crate) fn is_on_folds(&self) -> bool {
        self.measured().is_some_and(|measured| measured.on_folds)
    }

    /// The paired difference of the scores; `None` if predictions are not known.
    pub fn difference(&self, other: &Self) -> Option<Difference> {
        self.measured().zip(other.measured()).and_then(|(one, two)| one.difference(two))
    }

    /// That the two scores are of different validation rows, in a few words; `None` if they are not, or are not known.
    pub(crate) fn other_rows(&self, other: &Self) -> Option<String> {
        let (own, others) = self.measured().zip(other.measured())?;
        let common = self.comparison_with(other).map(|comparison| match comparison.difference {
            Some(Difference { by: 0.0, .. }) => {
                format!("; on the {} rows of both, the scores are equal", comparison.rows)
            }
            Some(difference) => format!(
                "; on the {} rows of both, its score is {} by {:.6}",
                comparison.rows,
                if difference.by < 0.0 { "smaller" } else { "larger" },
                difference.by.abs()
            ),
            None => "; they have too few rows in common".to_owned(),
        });
        (own.rows_digest != others.rows_digest).then(|| {
            format!(
                "validated on other rows ({}) than the solution that it is compared with ({}){}",
                own.rows,
                others.rows,
                common.unwrap_or_default()
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
