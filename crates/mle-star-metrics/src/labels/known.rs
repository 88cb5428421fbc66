//! Known labels of rows in memory.

use std::cmp::Ordering;
use std::io::{self, Read as _};
use std::sync::Arc;

use super::forecasts::Forecasts;
use crate::bootstrap::{self, Rows};
use crate::cell::SEPARATORS;
use crate::intervals::{Folds, IntervalFor};
use crate::names::Metric;
use crate::table::canonical;

/// Why labels of one class are of no use.
pub(super) const ONE_CLASS: &str = "all labels are the same, so predictions cannot be told apart";

/// Known labels of rows.
///
/// Labels agree whatever blanks are around them, if they are the same number (`1` and `1.0`), or the same truth value
/// (`True` and `true`). Sets agree if they have the same labels. IDs agree whatever blanks are around them, or if they are the same whole number. Rows are
/// kept as a hash of their ID, so that millions of them need little memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Labels {
    pub(super) metric: Metric,
    pub(super) target: String,
    /// In ascending order.
    pub(super) keys: Vec<u64>,
    /// What draws each row's weights if there are enough clusters: a hash of its cluster, or else its key.
    pub(super) units: Vec<u64>,
    /// A weight for each row, with a mean of 1; `None` if all count the same.
    pub(super) weights: Option<Vec<f64>>,
    /// The name of the class that a binary metric is about, if it is given.
    pub(super) positive: Option<String>,
    pub(super) known: OwnedTruth,
    /// These rows with the labels of each further target.
    pub(super) further: Vec<Self>,
    /// What intervals are for.
    pub(super) interval_for: IntervalFor,
    /// The folds of the rows, for an interval of one more period.
    pub(super) folds: Arc<Folds>,
    /// Whether the score of rows of several folds is the mean of those of the folds.
    pub(super) averages: bool,
    /// What scores stand beside.
    pub(super) forecasts: Arc<Forecasts>,
}

/// The labels, in the order of the keys.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum OwnedTruth {
    Numbers(Vec<f64>),
    Classes { rows: Vec<u32>, names: Vec<String> },
}

impl Labels {
    /// Labels of one target without a name and without weights.
    pub(super) fn of(metric: Metric, keys: Vec<u64>, units: Vec<u64>, known: OwnedTruth) -> Self {
        Self {
            metric,
            target: String::new(),
            keys,
            units,
            weights: None,
            positive: None,
            known,
            further: Vec::new(),
            interval_for: IntervalFor::default(),
            folds: Arc::default(),
            averages: false,
            forecasts: Arc::default(),
        }
    }

    /// Labels whose scores get the interval of a score on such rows.
    #[must_use]
    pub fn with_intervals_for(self, interval_for: IntervalFor) -> Self {
        Self { interval_for, ..self }
    }

    /// Labels of rows in these folds, which are periods of time, the earliest first.
    #[must_use]
    pub fn in_periods(self, folds: Arc<Folds>) -> Self {
        Self { interval_for: IntervalFor::Period, folds, ..self }
    }

    /// Labels whose score is the mean over the periods that are predicted, if there are several and each row is in one.
    #[must_use]
    pub fn averaging_periods(self) -> Self {
        let folds = &self.folds;
        let of_target = |labels: Self| Self { folds: Arc::clone(folds), averages: true, ..labels };
        let further = self.further.into_iter().map(of_target).collect();
        Self { further, averages: true, ..self }
    }

    /// Labels whose scores stand beside that of these forecasts.
    #[must_use]
    pub fn beside(self, forecasts: Forecasts) -> Self {
        Self { forecasts: Arc::new(forecasts), ..self }
    }

    /// The fold of each of these rows, if the score is the mean over folds.
    pub(super) fn folds_of(&self, keys: &[u64]) -> Option<Vec<u32>> {
        self.averages.then(|| self.folds.of_rows(keys)).flatten()
    }

    /// These labels among the classes of both, so that a class which none of these rows has keeps its place between the
    /// others.
    #[must_use]
    pub fn among_classes_of(self, others: &Self) -> Self {
        let known = match (self.known, &others.known) {
            (OwnedTruth::Classes { rows, names }, OwnedTruth::Classes { names: further, .. }) => {
                let further = further.iter().filter(|name| !names.contains(name));
                let (names, places) = in_order(&names.iter().chain(further).cloned().collect::<Vec<_>>());
                OwnedTruth::Classes {
                    rows: rows.iter().map(|class| places[*class as usize]).collect(),
                    names,
                }
            }
            (known, _) => known,
        };
        let pairs = self.further.into_iter().zip(&others.further);
        let further = pairs.map(|(labels, others)| labels.among_classes_of(others)).collect();
        Self { known, further, ..self }
    }

    /// Whether the classes are the same.
    pub fn has_classes_of(&self, others: &Self) -> bool {
        let are_alike = match (&self.known, &others.known) {
            (OwnedTruth::Classes { names, .. }, OwnedTruth::Classes { names: of_others, .. }) => {
                names == of_others
            }
            _ => true,
        };
        are_alike && self.further.iter().zip(&others.further).all(|(one, other)| one.has_classes_of(other))
    }

    /// Whether each of these is the name of a class.
    pub fn are_classes(&self, columns: &[String]) -> bool {
        let OwnedTruth::Classes { names, .. } = &self.known else { return false };
        columns.iter().all(|column| names.contains(&canonical(column).into_owned()))
    }

    /// Whether what separates the guesses at the beginning of this table is inside a label, too, so that labels would be torn.
    pub fn are_torn_in(&self, table: impl io::Read) -> bool {
        let OwnedTruth::Classes { names, .. } = &self.known else { return false };
        let mut head = Vec::new();
        let _ = table.take(1 << 16).read_to_end(&mut head);
        let marks: &[char] = match SEPARATORS.iter().find(|mark| head.contains(&(**mark as u8))) {
            Some(mark @ ('|' | ';')) => std::slice::from_ref(mark),
            // A comma also separates the columns.
            _ => &[',', ' '],
        };
        names.iter().any(|name| name.contains(marks))
    }

    /// Whether rows have labels of several targets.
    pub(crate) fn has_several_targets(&self) -> bool {
        !self.further.is_empty()
    }

    /// The metric of scores.
    pub(crate) fn metric(&self) -> Metric {
        self.metric
    }

    /// The number of rows with a label.
    pub fn rows(&self) -> usize {
        self.keys.len()
    }

    /// The keys of the rows, in ascending order.
    pub fn keys(&self) -> &[u64] {
        &self.keys
    }

    /// Two halves of the rows, drawn by the IDs alone. Rows of a cluster stay together if there are enough clusters. The
    /// classes stay those of all rows.
    pub fn halves(&self) -> [Self; 2] {
        let rows = Rows { keys: &self.keys, units: &self.units, weights: None, folds: None };
        let of = |units: &[u64]| -> Option<Vec<bool>> {
            let first = bootstrap::first_half(units)?;
            Some(units.iter().map(|unit| first.contains(unit)).collect())
        };
        let is_first = of(rows.drawn()).or_else(|| of(rows.keys)).unwrap_or_else(|| vec![true; self.rows()]);
        [true, false].map(|wanted| {
            let places: Vec<usize> = (0..self.rows()).filter(|place| is_first[*place] == wanted).collect();
            self.at(&places)
        })
    }

    /// The labels of the rows at these places.
    pub(super) fn at(&self, places: &[usize]) -> Self {
        let pick = |all: &[u64]| places.iter().map(|place| all[*place]).collect();
        let (keys, units, known) = (pick(&self.keys), pick(&self.units), self.known.at(places));
        let further = self.further.iter().map(|labels| labels.at(places)).collect();
        let weights = self.weights.as_ref().map(|all| places.iter().map(|place| all[*place]).collect());
        let (metric, target, interval_for) = (self.metric, self.target.clone(), self.interval_for);
        Self {
            metric,
            target,
            keys,
            units,
            weights,
            positive: self.positive.clone(),
            known,
            further,
            interval_for,
            folds: Arc::clone(&self.folds),
            averages: self.averages,
            forecasts: Arc::clone(&self.forecasts),
        }
    }

    /// A digest of the IDs of the rows in these folds.
    pub fn digest_in(&self, folds: &Folds) -> String {
        bootstrap::digest(self.keys.iter().copied().filter(|key| folds.has(*key)).collect())
    }

    /// A digest of the rows' IDs, equal to the `rows_digest` of a measurement of all of them.
    pub fn digest(&self) -> String {
        bootstrap::digest(self.keys.clone())
    }
}

impl OwnedTruth {
    pub(super) fn at(&self, places: &[usize]) -> Self {
        match self {
            Self::Numbers(numbers) => Self::Numbers(places.iter().map(|place| numbers[*place]).collect()),
            Self::Classes { rows, names } => Self::Classes {
                rows: places.iter().map(|place| rows[*place]).collect(),
                names: names.clone(),
            },
        }
    }
}

/// Names of classes in order, by number if all are numbers, and the new place of each.
pub(super) fn in_order(names: &[String]) -> (Vec<String>, Vec<u32>) {
    let numbers: Option<Vec<f64>> = names.iter().map(|name| name.parse().ok()).collect();
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by(|one, two| {
        let by_number =
            numbers.as_ref().map_or(Ordering::Equal, |numbers| numbers[*one].total_cmp(&numbers[*two]));
        by_number.then_with(|| names[*one].cmp(&names[*two]))
    });
    let mut places = vec![0; names.len()];
    for (new, old) in order.iter().enumerate() {
        places[*old] = new as u32;
    }
    (order.iter().map(|old| names[*old].clone()).collect(), places)
}
