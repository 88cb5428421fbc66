//! The search so far: the value that the phases take and return.

use crate::agents::Retrieved;
use crate::beyond::baseline::Baseline;
use crate::beyond::fallback::Candidate;
use crate::closing::MergeEnd;
use crate::evaluation::Evaluation;
use crate::library::Library;
use crate::paper::checks::CheckedSolution;
use crate::paper::refine::Refinement;
use crate::result::{EnsembleAttempt, PathRecord};
use crate::scored::Scored;
use crate::verdict::Best;
use mle_star_domain::config::Acceptance;
use mle_star_domain::place::Step;

/// The results of the search so far.
pub(super) struct Search {
    /// The program's own solutions.
    pub baseline: Vec<Scored>,
    pub retrieved: Retrieved,
    pub candidates: Vec<Evaluation>,
    pub merges: Vec<MergeEnd>,
    /// s_0.
    pub initial: CheckedSolution,
    /// The refinement paths.
    pub paths: Vec<(Refinement, PathRecord)>,
    /// The result of Phase 3; `None` if it made nothing.
    pub ensemble: Option<Ensemble>,
    /// All solutions that can be combined and chosen.
    pub library: Library,
    /// The answer so far for the rows of the test table, if scripts of the search predict an earlier period.
    pub provisional: Option<Candidate>,
}

/// The result of Phase 3.
pub(super) struct Ensemble {
    /// One per round.
    pub rounds: Vec<EnsembleAttempt>,
    /// The combination of solutions, or else the better of the best round (the best input if every round failed) and the
    /// best solution for a further model.
    pub best: Scored,
}

impl Search {
    /// What a run has whose limit ends before Phase 1 has a solution.
    pub fn of_baseline(baseline: Baseline, best: Scored) -> Self {
        let initial = CheckedSolution { best, leakage_suspected: false };
        Self {
            baseline: baseline.solutions,
            retrieved: Retrieved::default(),
            candidates: Vec::new(),
            merges: Vec::new(),
            initial,
            paths: Vec::new(),
            ensemble: None,
            library: Library::default(),
            provisional: baseline.provisional,
        }
    }

    /// Whether the baseline is all that the run has.
    pub fn is_baseline(&self) -> bool {
        matches!(self.initial.best.step(), Step::Baseline(_))
    }

    /// The best solution of each path.
    pub fn refined(&self) -> Vec<Scored> {
        self.paths.iter().map(|(path, _)| path.best.clone()).collect()
    }

    /// The solutions that may become the answer: those of the paths, the ensemble, and s_0.
    pub fn answers(&self) -> Vec<Scored> {
        let ensemble = self.ensemble.iter().map(|ensemble| ensemble.best.clone());
        self.refined().into_iter().chain(ensemble).rev().chain([self.initial.best.clone()]).collect()
    }

    /// The solution of this answer; s_0 without one. A baseline that would replace it by this rule stands instead.
    pub fn solution_of(&self, answer: Option<Best>, rule: Acceptance) -> Scored {
        let run = answer.map(|best| best.run);
        let is_it = |one: &Scored| Some(one.place()) == run.as_ref();
        let best = self.answers().into_iter().find(is_it).unwrap_or_else(|| self.initial.best.clone());
        let replaces = |own: &&Scored| own.score().beats(best.score()) && own.replaces(&best, rule);
        self.baseline.iter().rfind(replaces).cloned().unwrap_or(best)
    }
}
