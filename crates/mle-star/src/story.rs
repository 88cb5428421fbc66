//! What a run has seen so far: its best score, and where its solutions come from.
//!
//! Nothing here is stored; every replay of the journal tells the same story again.

use std::collections::BTreeMap;

use crate::metric::Score;
use crate::place::{Phase, Place};
use crate::result::Lineage;

#[derive(Default)]
pub(crate) struct Story {
    best: Option<Score>,
    lineage: BTreeMap<Place, Lineage>,
}

impl Story {
    /// The best score before this one, when this one is better; `Some(None)` for the first.
    pub fn scored(&mut self, score: Score) -> Option<Option<f64>> {
        let better = self.best.is_none_or(|best| score.beats(best));
        better.then(|| self.best.replace(score).map(Score::value))
    }

    /// What was made at `step` was accepted and was made from `from`.
    pub fn descends(&mut self, step: &Place, score: Option<Score>, from: Vec<Place>) {
        let phase = step.phase().map_or("", Phase::name).to_owned();
        let entry = Lineage { place: step.clone(), phase, score: score.map(Score::value), from };
        self.lineage.insert(step.clone(), entry);
    }

    /// How the solution of `step` came about, ancestors before descendants.
    pub fn lineage(&self, step: &Place) -> Vec<Lineage> {
        let (mut entries, mut wanted): (Vec<Lineage>, Vec<Place>) = (Vec::new(), vec![step.clone()]);
        while let Some(place) = wanted.pop() {
            let Some(entry) = self.lineage.get(&place) else { continue };
            entries.retain(|known| known.place != place);
            wanted.extend(entry.from.iter().cloned());
            entries.push(entry.clone());
        }
        entries.reverse();
        entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ancestors_come_first_and_once() {
        let mut story = Story::default();
        let place = |name: &str| Place::from(name);
        story.descends(&place("a"), None, vec![]);
        story.descends(&place("b"), None, vec![place("a")]);
        story.descends(&place("unrelated"), None, vec![place("a")]);
        story.descends(&place("c"), None, vec![place("a"), place("b")]);
        let names: Vec<String> =
            story.lineage(&place("c")).iter().map(|entry| entry.place.to_string()).collect();
        assert_eq!(names, ["a", "b", "c"]);
        assert!(story.lineage(&place("nowhere")).is_empty());
    }
}
