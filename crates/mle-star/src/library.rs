//! The library of a run: its scored solutions that left predictions for every row and have no known leak. They can be
//! combined with each other, and chosen in place of the best one.

use std::collections::HashSet;

use mle_star_domain::metric::sort_best_first;

use crate::evaluation::Evaluation;
use crate::scored::Scored;

/// The solutions that can be combined and chosen.
#[derive(Debug, Default)]
pub(crate) struct Library {
    solutions: Vec<Scored>,
}

impl Library {
    /// Adds a solution, if it left predictions for every row and has no known leak.
    pub fn add(&mut self, scored: &Scored) {
        if scored.wrote_submission() && scored.measured().is_some() && !scored.leaks() {
            self.solutions.push(scored.clone());
        }
    }

    /// Adds the solutions that ran.
    pub fn add_evaluated<'e>(&mut self, evaluations: impl IntoIterator<Item = &'e Evaluation>) {
        evaluations
            .into_iter()
            .filter_map(|one| one.scored.as_ref().ok())
            .for_each(|scored| self.add(scored));
    }

    /// Adds all that another part of the search has found.
    pub fn extend(&mut self, other: Self) {
        self.solutions.extend(other.solutions);
    }

    /// Removes the solutions with this text, in which a leak was found after it was scored.
    pub fn remove(&mut self, leaking: &Scored) {
        self.solutions.retain(|one| one.text() != leaking.text());
    }

    /// All solutions, best first, each text once.
    pub fn best_first(&self) -> Vec<Scored> {
        let mut solutions = self.solutions.clone();
        // Paths run side by side, so the order of their solutions may differ in a resume.
        solutions.sort_by_key(Scored::step);
        sort_best_first(&mut solutions, Scored::score);
        let mut texts = HashSet::new();
        solutions.retain(|one| texts.insert(one.text().to_owned()));
        solutions
    }

    /// All solutions, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &Scored> {
        self.solutions.iter()
    }
}
