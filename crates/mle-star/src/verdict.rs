//! Verdicts: the record of how each step ended.
//!
//! The pipeline closes each step with a [`Verdict`]. Results, reports, the page, the terminal and a resume read
//! it; no other code decides what was kept or what a solution was made from.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::evaluation::Failure;
use crate::scored::Scored;
use mle_star_domain::effects::Limit;
use mle_star_domain::metric::{Direction, Score, last_best};
use mle_star_domain::place::{Phase, Place, Step};

/// The end of a step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// The score of the step's solution in the metric's unit; `None` if no solution ran.
    pub score: Option<f64>,
    /// Whether the algorithm continued with that solution.
    pub kept: bool,
    /// The steps whose solutions it was made from. The one to compare it with comes first.
    #[serde(default)]
    pub from: Vec<Step>,
    /// The best solution after the step, of Phase 1, of the step's path, or of the ensembles.
    pub best: Option<Best>,
    /// The limit that skipped the step or cut it short.
    pub limit: Option<Limit>,
    /// A one-line description of what was done or what failed.
    #[serde(default)]
    pub note: String,
    /// The part of the solution that was changed, in a few words; empty if it was the whole.
    #[serde(default)]
    pub part: String,
    /// The standard error of the difference to the first solution of `from`; `None` if predictions are not known.
    pub standard_error: Option<f64>,
    /// What later agents of the run, and people, are told besides.
    #[serde(skip)]
    pub unrecorded: Unrecorded,
}

/// What is told about a step besides its verdict. Journals do not contain it: a replay finds it again, and the
/// verdicts in older journals remain the same.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unrecorded {
    /// Why no solution ran, in one line; empty if one did, or if the reason is not known.
    pub failure: String,
    /// The standard error of the difference to the first solution of `from`, in the metric's unit, of a step whose verdict
    /// has none.
    pub standard_error: Option<f64>,
    /// What people are warned of when the step ends, one sentence each.
    pub warnings: Vec<String>,
}

/// The best solution of a phase, a path or the ensembles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Best {
    /// The step that made it.
    pub step: Step,
    /// The run that gave the score.
    pub run: Place,
    /// The score in the metric's unit.
    pub score: f64,
}

/// The verdicts of a run, in the order of the algorithms.
pub type Verdicts = BTreeMap<Step, Verdict>;

impl Verdict {
    /// The verdict of a step whose solution was evaluated.
    pub(crate) fn of(evaluated: &Result<Scored, Failure>, kept: bool) -> Self {
        let score = evaluated.as_ref().ok().map(|scored| scored.score().value());
        let failure = evaluated.as_ref().err();
        let limit = failure.and_then(|failure| failure.limit);
        let headline = failure.map(Failure::headline).unwrap_or_default();
        Self { score, kept, limit, ..Self::default() }.failed_by(headline)
    }

    /// Sets the reason why no solution ran, for later agents.
    #[must_use]
    pub(crate) fn failed_by(self, failure: &str) -> Self {
        Self { unrecorded: Unrecorded { failure: failure.to_owned(), ..self.unrecorded }, ..self }
    }

    /// Sets the best solution after the step.
    #[must_use]
    pub(crate) fn best(self, best: &Scored) -> Self {
        Self { best: Some(Best::from(best)), ..self }
    }

    /// Sets the steps that the solution was made from.
    #[must_use]
    pub(crate) fn made_from<'a>(self, from: impl IntoIterator<Item = &'a Scored>) -> Self {
        Self { from: from.into_iter().map(Scored::step).collect(), ..self }
    }

    /// Sets the standard error of the difference of `scored` to `other`, the first solution it was made from.
    #[must_use]
    pub(crate) fn compared(self, scored: Option<&Scored>, other: Option<&Scored>) -> Self {
        let difference = scored.zip(other).and_then(|(scored, other)| scored.difference(other));
        Self { standard_error: difference.map(|difference| difference.standard_error), ..self }
    }

    /// Sets the standard error of the difference of `scored` to `other` for later agents alone.
    #[must_use]
    pub(crate) fn telling_difference(self, scored: Option<&Scored>, other: &Scored) -> Self {
        let difference = scored.and_then(|scored| scored.difference(other));
        let standard_error = difference.map(|difference| difference.standard_error);
        Self { unrecorded: Unrecorded { standard_error, ..self.unrecorded }, ..self }
    }

    /// Sets the note.
    #[must_use]
    pub(crate) fn note(self, note: impl Into<String>) -> Self {
        Self { note: note.into(), ..self }
    }

    /// Sets what people are warned of, if anything.
    #[must_use]
    pub(crate) fn warning(mut self, warning: Option<String>) -> Self {
        self.unrecorded.warnings.extend(warning);
        self
    }

    /// Warns if the solution was kept, and its score is of other validation rows than that of the solution before.
    #[must_use]
    pub(crate) fn warning_of_other_rows(self, kept: Option<&Scored>, before: Option<&Scored>) -> Self {
        let words = kept.zip(before).and_then(|(kept, before)| kept.other_rows(before));
        self.warning(words.map(|words| format!("the solution is kept, but it was {words}")))
    }

    /// Adds a remark to the note.
    #[must_use]
    pub(crate) fn remark(mut self, remark: Option<String>) -> Self {
        if let Some(remark) = remark {
            self.note = if self.note.is_empty() { remark } else { format!("{}; {remark}", self.note) };
        }
        self
    }
}

impl From<&Scored> for Best {
    fn from(scored: &Scored) -> Self {
        Self { step: scored.step(), run: scored.place().clone(), score: scored.score().value() }
    }
}

/// The solution that a run with these verdicts submits, or would submit if it ended now: the best ensemble, unless
/// the best solution of a path is strictly better; before both, s_0; before the end of Phase 1, the baseline. A combination that
/// was kept has been compared with all of them. Where solutions of a phase validated on different rows, the best one is that
/// of their comparison on like rows.
pub fn answer(verdicts: &Verdicts, direction: Direction) -> Option<&Best> {
    let paths: BTreeSet<u32> = verdicts.keys().filter_map(|step| step.path()).collect();
    let best_of = |path: u32| {
        let of_path = verdicts.iter().rev().filter(move |(step, _)| step.path() == Some(path));
        of_path.filter_map(|(_, verdict)| verdict.best.as_ref()).next()
    };
    let compared = |phase| verdicts.get(&Step::LikeRows(phase)).and_then(|verdict| verdict.best.as_ref());
    let bests: Vec<&Best> = match compared(Phase::Phase2) {
        Some(best) => vec![best],
        None => paths.into_iter().filter_map(best_of).collect(),
    };
    // A round without a best ensemble is one in which Phase 3 failed, or all rounds so far did.
    let combined = verdicts.get(&Step::Selection).and_then(|verdict| verdict.best.as_ref());
    if let Some(best) = combined.or_else(|| compared(Phase::Phase3)) {
        return Some(best);
    }
    let round = verdicts.iter().rev().find(|(step, _)| matches!(step, Step::Round(_)));
    let further = verdicts.iter().rev().find(|(step, _)| matches!(step, Step::Extra(_)));
    let ensemble = further.into_iter().chain(round).filter_map(|(_, verdict)| verdict.best.as_ref());
    let scored = |best: &&Best| Score::new(best.score, direction);
    let known: Vec<(&Best, Score)> =
        bests.into_iter().chain(ensemble).filter_map(|best| Some((best, scored(&best)?))).collect();
    // The best of the paths in order, then the ensembles; the last of equals wins.
    let best = last_best(known, |(_, score)| *score).map(|(best, _)| best);
    let baseline =
        || verdicts.iter().rev().find(|(step, _)| matches!(step, Step::Baseline(_)))?.1.best.as_ref();
    best.or_else(|| verdicts.get(&Step::LeakageCheck)?.best.as_ref()).or_else(baseline)
}

/// One step on the way to the final solution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Lineage {
    /// The step.
    pub place: Place,
    /// The name of the step's phase.
    pub phase: String,
    /// The score of its solution.
    pub score: Option<f64>,
    /// The steps that its solution was made from.
    pub from: Vec<Place>,
    /// A one-line description.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// The steps that led to the solution of `step`, ancestors first.
pub fn lineage(verdicts: &Verdicts, step: Step) -> Vec<Lineage> {
    let (mut entries, mut wanted): (Vec<Lineage>, Vec<Step>) = (Vec::new(), vec![step]);
    while let Some(step) = wanted.pop() {
        let Some(verdict) = verdicts.get(&step) else { continue };
        entries.retain(|known| known.place != step.place());
        wanted.extend(verdict.from.iter().copied());
        entries.push(Lineage {
            place: step.place(),
            phase: Phase::name(step.phase()).to_owned(),
            score: verdict.score,
            from: verdict.from.iter().map(|step| step.place()).collect(),
            note: verdict.note.clone(),
        });
    }
    entries.reverse();
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best(step: Step, score: f64) -> Option<Best> {
        Some(Best { step, run: step.place(), score })
    }

    #[test]
    fn ancestors_come_first_and_once() {
        let made_from = |from: &[Step]| Verdict { from: from.to_vec(), ..Verdict::default() };
        let (a, b, other, c) = (Step::Candidate(0), Step::Candidate(1), Step::Candidate(2), Step::Merge(1));
        let verdicts = BTreeMap::from([
            (a, made_from(&[])),
            (b, made_from(&[a])),
            (other, made_from(&[a])),
            (c, made_from(&[a, b])),
        ]);
        let names: Vec<String> = lineage(&verdicts, c).iter().map(|entry| entry.place.to_string()).collect();
        assert_eq!(names, [a, b, c].map(|step| step.to_string()));
        assert!(lineage(&verdicts, Step::Finalization).is_empty());
    }

    #[test]
    fn the_answer_is_the_ensemble_unless_a_path_beats_it() {
        let attempt = |path| Step::Attempt { path, outer: 0, inner: 0 };
        let check = |bests: &[(Step, Step, f64)], expected: Option<Step>| {
            let verdict =
                |&(at, step, score)| (at, Verdict { best: best(step, score), ..Verdict::default() });
            let verdicts: Verdicts = bests.iter().map(verdict).collect();
            let answer = answer(&verdicts, Direction::Maximize).map(|best| best.step);
            assert_eq!(answer, expected, "{bests:?}");
        };
        let s_0 = (Step::LeakageCheck, Step::Merge(1), 0.5);
        check(&[], None);
        check(&[(Step::Candidate(0), Step::Candidate(0), 0.9)], None);
        check(&[s_0], Some(Step::Merge(1)));
        check(&[s_0, (attempt(0), attempt(0), 0.6)], Some(attempt(0)));
        check(&[s_0, (attempt(0), attempt(0), 0.6), (attempt(1), attempt(1), 0.6)], Some(attempt(1)));
        let paths = [s_0, (attempt(0), attempt(0), 0.6), (attempt(1), Step::Merge(1), 0.5)];
        let with = |score| [&paths[..], &[(Step::Round(0), Step::Round(0), score)]].concat();
        check(&with(0.6), Some(Step::Round(0)));
        check(&with(0.59), Some(attempt(0)));
        let further = (Step::Extra(0), Step::Extra(0), 0.7);
        check(&[&with(0.65)[..], &[further]].concat(), Some(Step::Extra(0)));
        let like = (Step::LikeRows(Phase::Phase2), Step::Merge(1), 0.5);
        check(&[&paths[..], &[like]].concat(), Some(Step::Merge(1)));
        check(&[&with(0.55)[..], &[like]].concat(), Some(Step::Round(0)));
        let like_rounds = (Step::LikeRows(Phase::Phase3), attempt(0), 0.6);
        check(&[&with(0.65)[..], &[like, like_rounds]].concat(), Some(attempt(0)));
        let selection = (Step::Selection, Step::Selection, 0.59);
        check(&[&with(0.6)[..], &[like_rounds, selection]].concat(), Some(Step::Selection));
        check(&[&with(0.6)[..], &[selection]].concat(), Some(Step::Selection));
    }
}
