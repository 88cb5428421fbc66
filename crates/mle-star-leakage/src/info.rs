//! Dependencies of values (their provenance): what was learnt, where, and from which rows; and scores.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::rows::RowsId;
use crate::site::Site;

/// Something that was learnt from rows, and that a value depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Dependency {
    /// What was learnt.
    pub(crate) kind: Kind,
    /// Where.
    pub(crate) site: Site,
    /// The rows that it was learnt from.
    pub(crate) from: RowsId,
    /// The rows that it was applied to, once a model predicted for them.
    pub(crate) on: RowsId,
    /// Where the model was made, if it is a model.
    pub(crate) made: Site,
}

/// What was learnt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Kind {
    /// A model.
    Model,
    /// Statistics of the target.
    Target,
    /// Statistics of the target of rows before this one, and of this one.
    Window,
    /// Statistics without the target.
    Unsupervised,
    /// Which features to use, by the target.
    Selection,
    /// Nothing: the target of a row, or what was computed from it, is among the features of the same row.
    Answer(TargetId),
    /// When to stop.
    Stopping,
    /// The best of several candidates, by their scores.
    Choice(How),
    /// Nothing yet: a candidate, which differs between the steps of a search.
    Candidate(How),
}

/// A target, by its number in [`crate::targets::Targets`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TargetId(pub(crate) u16);

/// How the candidates of a search differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum How {
    /// Not known yet.
    Open,
    /// Not known yet, but candidates are no long range of numbers.
    Few,
    /// By how long one model was trained: the loop at the place of the dependency trains it further.
    Epoch,
    /// By the features.
    Features,
    /// By settings of a model.
    Setting,
    /// By the features, of which each step of a search adds one.
    Steps,
    /// By settings of a model, in many trials.
    Trials,
    /// By the model.
    Model,
    /// By the number of rounds.
    Rounds,
    /// By the seed.
    Seed,
    /// By a threshold, a weight or another number that changes predictions.
    Number,
}

impl How {
    /// Whether it is not known how the candidates differ.
    pub(crate) fn is_open(self) -> bool {
        matches!(self, Self::Open | Self::Few)
    }
}

impl Dependency {
    /// A dependency that was not applied to rows yet.
    pub(crate) fn new(kind: Kind, site: Site, from: RowsId) -> Self {
        Self { kind, site, from, on: RowsId::UNKNOWN, made: site }
    }
}

/// A set of dependencies, by their numbers.
pub(crate) type Dependencies = Set;
/// A set of scores, by their numbers.
pub(crate) type Scores = Set;

/// A small sorted set of numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Set(Option<Rc<[u32]>>);

impl Set {
    /// A set of one number.
    pub(crate) fn one(number: u32) -> Self {
        Self(Some(Rc::new([number])))
    }

    /// A set of numbers.
    pub(crate) fn of(mut numbers: Vec<u32>) -> Self {
        numbers.sort_unstable();
        numbers.dedup();
        if numbers.is_empty() { Self(None) } else { Self(Some(numbers.into())) }
    }

    /// Whether there is nothing in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// How many numbers there are.
    pub(crate) fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |numbers| numbers.len())
    }

    /// The numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.as_deref().unwrap_or_default().iter().copied()
    }

    /// Adds another set.
    pub(crate) fn add(&mut self, other: &Self) {
        *self = self.and(other);
    }

    /// Both sets together.
    pub(crate) fn and(&self, other: &Self) -> Self {
        match (&self.0, &other.0) {
            (_, None) => self.clone(),
            (None, _) => other.clone(),
            (Some(left), Some(right)) if Rc::ptr_eq(left, right) || left == right => self.clone(),
            _ => Self::of(self.iter().chain(other.iter()).collect()),
        }
    }
}

impl FromIterator<Set> for Set {
    fn from_iter<T: IntoIterator<Item = Self>>(sets: T) -> Self {
        sets.into_iter().fold(Self::default(), |all, set| all.and(&set))
    }
}

/// A score: predictions compared with true values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Score {
    /// Where it is computed.
    pub(crate) site: Site,
    /// The rows of the true values.
    pub(crate) rows: RowsId,
    /// What the predictions depend on.
    pub(crate) deps: Dependencies,
    /// Whether the true values are compared with themselves.
    pub(crate) with_itself: bool,
}

/// All dependencies and scores of a script.
#[derive(Debug, Default)]
pub(crate) struct Infos {
    deps: Vec<Dependency>,
    dependency_numbers: FxHashMap<Dependency, u32>,
    scores: Vec<Score>,
    score_numbers: FxHashMap<Score, u32>,
}

impl Infos {
    /// The set with what was learnt at a place from rows.
    pub(crate) fn learn(&mut self, kind: Kind, site: Site, from: RowsId) -> Dependencies {
        self.dep(Dependency::new(kind, site, from))
    }

    /// The set with one dependency.
    pub(crate) fn dep(&mut self, dep: Dependency) -> Dependencies {
        Set::one(self.number(dep))
    }

    /// The set with one score.
    pub(crate) fn score(&mut self, score: Score) -> Scores {
        if let Some(known) = self.score_numbers.get(&score) {
            return Set::one(*known);
        }
        let number = u32::try_from(self.scores.len()).unwrap_or(u32::MAX);
        self.scores.push(score.clone());
        self.score_numbers.insert(score, number);
        Set::one(number)
    }

    /// The dependencies of a set.
    pub(crate) fn deps<'a>(&'a self, set: &'a Dependencies) -> impl Iterator<Item = Dependency> + 'a {
        set.iter().filter_map(|number| self.deps.get(number as usize).copied())
    }

    /// The scores of a set.
    pub(crate) fn scores<'a>(&'a self, set: &'a Scores) -> impl Iterator<Item = &'a Score> + 'a {
        set.iter().filter_map(|number| self.scores.get(number as usize))
    }

    /// All scores.
    pub(crate) fn all_scores(&self) -> impl Iterator<Item = &Score> {
        self.scores.iter()
    }

    /// The set with every dependency changed, or left out.
    pub(crate) fn map(
        &mut self,
        set: &Dependencies,
        change: impl Fn(Dependency) -> Option<Dependency>,
    ) -> Dependencies {
        let changed: Vec<Dependency> = self.deps(set).filter_map(change).collect();
        Set::of(changed.into_iter().map(|dep| self.number(dep)).collect())
    }

    /// The set with the kind of every dependency changed, or the dependency left out.
    pub(crate) fn map_kinds(
        &mut self,
        set: &Dependencies,
        change: impl Fn(Kind) -> Option<Kind>,
    ) -> Dependencies {
        self.map(set, |dep| change(dep.kind).map(|kind| Dependency { kind, ..dep }))
    }

    /// The dependencies of a kind.
    pub(crate) fn of_kind(&mut self, set: &Dependencies, kind: Kind) -> Dependencies {
        self.map(set, |dep| (dep.kind == kind).then_some(dep))
    }

    /// The dependencies that are not of a kind.
    pub(crate) fn without(&mut self, set: &Dependencies, kind: Kind) -> Dependencies {
        self.map(set, |dep| (dep.kind != kind).then_some(dep))
    }

    /// The target that is an answer among these.
    pub(crate) fn answer(&self, set: &Dependencies) -> Option<TargetId> {
        self.deps(set).find_map(|dep| if let Kind::Answer(number) = dep.kind { Some(number) } else { None })
    }

    /// Whether something is, or depends on, a prediction of a model.
    pub(crate) fn has_model(&self, set: &Dependencies) -> bool {
        self.any(set, |dep| dep.kind == Kind::Model)
    }

    /// Whether the set has such a dependency.
    pub(crate) fn any(&self, set: &Dependencies, is: impl Fn(&Dependency) -> bool) -> bool {
        self.deps(set).any(|dep| is(&dep))
    }

    fn number(&mut self, dep: Dependency) -> u32 {
        if let Some(known) = self.dependency_numbers.get(&dep) {
            return *known;
        }
        let number = u32::try_from(self.deps.len()).unwrap_or(u32::MAX);
        self.deps.push(dep);
        self.dependency_numbers.insert(dep, number);
        number
    }
}
