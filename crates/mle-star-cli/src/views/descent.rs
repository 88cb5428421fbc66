//! What was made from what, and what was kept: the rules of the algorithms read off the scores.

use std::collections::{BTreeMap, BTreeSet};

use mle_star::metric::{Score, last_best, sort_best_first};
use mle_star::place::Place;

use super::steps::{Step, StepKind, Steps};

/// The family tree of a run's solutions.
#[derive(Debug, Default)]
pub struct Descent {
    from: BTreeMap<Place, Vec<Place>>,
    kept: BTreeSet<Place>,
    /// The step whose solution is the best so far: the one a submission is, or would be, made from.
    pub best: Option<Place>,
}

type Scored = (Place, Score);

impl Descent {
    /// Of a run, also one that goes on.
    pub fn of(steps: &Steps<'_>) -> Self {
        let mut descent = Self::default();
        let initial = descent.initial(steps);
        let paths = descent.paths(steps, initial.as_ref());
        let rounds = descent.rounds(steps, &paths);
        let path = last_best(paths.iter().cloned(), |one| one.1);
        let best = last_best(path.into_iter().chain(rounds), |one| one.1).or(initial);
        // An ensemble that a single path beats is not gone on with.
        descent.kept.extend(best.iter().map(|best| best.0.clone()));
        let origin: Vec<Place> = best.iter().map(|best| best.0.clone()).collect();
        for step in steps.of_kind(StepKind::Submission) {
            descent.from.insert(step.place.clone(), origin.clone());
            descent.kept.insert(step.place.clone());
        }
        descent.best = best.map(|best| best.0);
        descent
    }

    /// The steps whose solutions the solution of a step was made from; the one to compare it with comes first.
    pub fn from(&self, place: &Place) -> &[Place] {
        self.from.get(place).map_or(&[], Vec::as_slice)
    }

    /// Was the step's solution gone on with?
    pub fn is_kept(&self, place: &Place) -> bool {
        self.kept.contains(place)
    }

    /// The steps on the way to `place`, itself included.
    pub fn way_to(&self, place: &Place) -> BTreeSet<Place> {
        let (mut way, mut wanted) = (BTreeSet::new(), vec![place.clone()]);
        while let Some(place) = wanted.pop() {
            if way.insert(place.clone()) {
                wanted.extend(self.from(&place).iter().cloned());
            }
        }
        way
    }

    /// s_0 by Algorithm 1.
    fn initial(&mut self, steps: &Steps<'_>) -> Option<Scored> {
        let mut ranked: Vec<Scored> = steps.of_kind(StepKind::Candidate).filter_map(scored).collect();
        self.kept.extend(ranked.iter().map(|one| one.0.clone()));
        sort_best_first(&mut ranked, |one| one.1);
        let mut best = ranked.first()?.clone();
        for (merge, reference) in steps.of_kind(StepKind::Merge).zip(&ranked[1..]) {
            self.from.insert(merge.place.clone(), vec![best.0.clone(), reference.0.clone()]);
            best = self.better(merge, best);
        }
        for step in steps.iter().filter(|step| [StepKind::Data, StepKind::LeakageCheck].contains(&step.kind))
        {
            self.from.insert(step.place.clone(), vec![best.0.clone()]);
            // What uses more data or leaks less is taken even when it scores worse.
            if let Some(revised) = scored(step) {
                self.kept.insert(step.place.clone());
                best = revised;
            }
        }
        Some(best)
    }

    /// The best of each path by Algorithm 2.
    fn paths(&mut self, steps: &Steps<'_>, initial: Option<&Scored>) -> Vec<Scored> {
        let mut bests: BTreeMap<usize, Scored> = BTreeMap::new();
        let mut current: Option<Scored> = None;
        for step in steps.iter() {
            let (Some(path), Some(initial)) = (step.place.path(), initial) else { continue };
            let best = bests.get(&path).unwrap_or(initial).clone();
            if step.kind == StepKind::Study {
                current = Some(best.clone());
            }
            // Every attempt of an outer step starts from the solution as it was before the step.
            let origin = current.as_ref().unwrap_or(&best).0.clone();
            self.from.insert(step.place.clone(), vec![origin]);
            let best = if step.kind == StepKind::Attempt { self.better(step, best) } else { best };
            bests.insert(path, best);
        }
        bests.into_values().collect()
    }

    /// The best ensemble by Algorithm 3.
    fn rounds(&mut self, steps: &Steps<'_>, paths: &[Scored]) -> Option<Scored> {
        let first = last_best(paths.iter().cloned(), |one| one.1).map(|best| best.0);
        let others = paths.iter().map(|path| path.0.clone()).filter(|path| Some(path) != first.as_ref());
        let origins: Vec<Place> = first.iter().cloned().chain(others).collect();
        for round in steps.of_kind(StepKind::Round) {
            self.from.insert(round.place.clone(), origins.clone());
        }
        last_best(steps.of_kind(StepKind::Round).filter_map(scored), |one| one.1)
    }

    /// A tie goes to the newer solution.
    fn better(&mut self, step: &Step<'_>, best: Scored) -> Scored {
        match scored(step) {
            Some(newer) if newer.1.beats_or_ties(best.1) => {
                self.kept.insert(newer.0.clone());
                newer
            }
            _ => best,
        }
    }
}

fn scored(step: &Step<'_>) -> Option<Scored> {
    Some((step.place.clone(), step.score()?))
}
