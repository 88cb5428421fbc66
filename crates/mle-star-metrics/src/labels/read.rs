//! Reads known labels from tables.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::io::Read;

use csv::StringRecord;
use thiserror::Error;

use super::columns;
use super::known::{Labels, ONE_CLASS, OwnedTruth, in_order};
use super::layout::Columns;
use super::per_class;
use super::rows::{row_key, sorted};
use super::weights::Weights;
use crate::cell::{canonical_set, separator};
use crate::names::{Kind, Metric};
use crate::table::{Table, canonical, key, listed, shown};

/// A table whose labels cannot be used, and why.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct Unusable(String);

impl Labels {
    /// The labels in a CSV table, for a metric. Rows without a label are left out, and for a metric of numbers those with an
    /// infinite one.
    ///
    /// # Errors
    /// The table cannot be read or lacks a column, an ID is missing or occurs twice, a label does not fit the metric,
    /// there are no two different classes or not the positive one, or the weight of a labelled row is missing or negative.
    pub fn read(table: impl Read, columns: &Columns, metric: Metric) -> Result<Self, Unusable> {
        read(table, columns, metric, Beside::default()).map_err(Unusable)
    }

    /// As [`Labels::read`], [among the classes](Self::among_classes_of) of other rows, too, if there are any. These rows may lack
    /// all classes but one.
    ///
    /// # Errors
    /// As for [`Labels::read`].
    pub fn read_among(
        table: impl Read,
        columns: &Columns,
        metric: Metric,
        others: Option<&Self>,
    ) -> Result<Self, Unusable> {
        let labels =
            read(table, columns, metric, Beside { others, ..Beside::default() }).map_err(Unusable)?;
        Ok(match others {
            Some(others) => labels.among_classes_of(others),
            None => labels,
        })
    }

    /// The labels in a CSV table with one column per class, which holds 1 for the class of a row and else 0. Rows with a
    /// missing value are left out. Of `columns`, those with the name and the weight of a row count, and the positive class.
    ///
    /// # Errors
    /// As for [`Labels::read`], a row does not have exactly one class, or the metric is not about unordered classes.
    pub fn read_per_class(
        table: impl Read,
        columns: &Columns,
        classes: &[String],
        metric: Metric,
    ) -> Result<Self, Unusable> {
        per_class::read(table, columns, classes, metric).map_err(Unusable)
    }

    /// As [`Labels::read`], with the cluster of each row of the table, whether it has a label or not.
    pub(crate) fn read_with(
        table: impl Read,
        columns: &Columns,
        metric: Metric,
        clusters: &[u32],
    ) -> Result<Self, Unusable> {
        let columns = Columns { cluster: None, ..columns.clone() };
        let beside = Beside { clusters: Some(clusters), ..Beside::default() };
        read(table, &columns, metric, beside).map_err(Unusable)
    }
}

/// What is known beside the table.
#[derive(Clone, Copy, Default)]
struct Beside<'a> {
    /// The cluster of each row.
    clusters: Option<&'a [u32]>,
    /// Labels of other rows.
    others: Option<&'a Labels>,
}

impl Beside<'_> {
    /// The classes of other rows, of this target.
    fn classes(&self, target: usize) -> &[String] {
        match self.others.and_then(|others| others.targets().nth(target)).map(|others| &others.known) {
            Some(OwnedTruth::Classes { names, .. }) => names,
            _ => &[],
        }
    }
}

fn read(table: impl Read, columns: &Columns, metric: Metric, beside: Beside<'_>) -> Result<Labels, String> {
    let mut table = Table::open(table)?;
    let names: Vec<&str> =
        std::iter::once(&columns.target).chain(&columns.further).map(String::as_str).collect();
    let targets = table.columns(&names)?;
    let id = match &columns.id {
        Some(id) => Some(table.columns(&[id])?[0]),
        None => None,
    };
    let cluster = match &columns.cluster {
        Some(cluster) => Some(table.columns(&[cluster])?[0]),
        None => None,
    };
    let mut weights = Weights::new(&table, columns.weight.as_deref())?;
    let (mut row, mut number) = (StringRecord::new(), 0_u64);
    let (mut keys, mut clusters) = (Vec::new(), Vec::new());
    let mut collected: Vec<Collected> = targets.iter().map(|_| Collected::new(metric)).collect();
    while table.read(&mut row)? {
        let labels = || targets.iter().map(|target| row.get(*target).unwrap_or_default());
        if !labels().any(|label| columns.lacks(label) || is_infinite(label, metric)) {
            keys.push((row_key(&row, id, number)?, number));
            weights.add(&row).map_err(|why| format!("row {} {why}", number + 1))?;
            clusters.extend(cluster.map(|cluster| key(row.get(cluster).unwrap_or_default())));
            clusters.extend(
                beside
                    .clusters
                    .map(|given| u64::from(given.get(number as usize).copied().unwrap_or_default())),
            );
            for (collected, label) in collected.iter_mut().zip(labels()) {
                collected.add(label).map_err(|why| format!("row {} {why}", number + 1))?;
            }
        }
        number += 1;
    }
    let (keys, places) = sorted(&keys)?;
    if keys.is_empty() {
        return Err(format!("no row has a label in column {}", shown(&columns.target)));
    }
    let units = match clusters.as_slice() {
        [] => keys.clone(),
        clusters => places.iter().map(|place| clusters[*place]).collect(),
    };
    let weights = weights.finish(&places)?;
    let mut all = Vec::new();
    for (at, (target, collected)) in names.into_iter().zip(collected).enumerate() {
        let positive = columns.positive.as_deref().map(|label| canonical(label).into_owned());
        let known = collected.finish(metric, positive.as_deref(), beside.classes(at))?.at(&places);
        let (target, weights) = (target.to_owned(), weights.clone());
        let labels = Labels::of(metric, keys.clone(), units.clone(), known);
        all.push(Labels { target, weights, positive, ..labels });
    }
    let mut first = all.remove(0);
    first.further = all;
    Ok(first)
}

/// Whether a metric of numbers has no use for this label.
fn is_infinite(label: &str, metric: Metric) -> bool {
    metric.is_for_regression() && label.trim().parse().is_ok_and(f64::is_infinite)
}

/// Labels while they are read.
enum Collected {
    Numbers(Vec<f64>),
    Classes { rows: Vec<u32>, places: HashMap<String, u32>, name: fn(&str) -> Cow<'_, str> },
}

impl Collected {
    fn new(metric: Metric) -> Self {
        match metric.kind() {
            Kind::Numbers | Kind::Intervals => Self::Numbers(Vec::new()),
            kind => {
                // What separates the labels of a set is known once all sets are read.
                let name: fn(&str) -> Cow<'_, str> =
                    if kind == Kind::Sets { |cell| cell.trim().into() } else { canonical };
                Self::Classes { rows: Vec::new(), places: HashMap::new(), name }
            }
        }
    }

    fn add(&mut self, label: &str) -> Result<(), String> {
        match self {
            Self::Numbers(numbers) => match label.trim().parse::<f64>() {
                Ok(number) if number.is_finite() => numbers.push(number),
                _ => return Err(format!("has the label {}, which is not a finite number", shown(label))),
            },
            Self::Classes { rows, places, name } => {
                let name = name(label);
                let next = places.len() as u32;
                let class = match places.get(name.as_ref()) {
                    Some(class) => *class,
                    None => *places.entry(name.into_owned()).or_insert(next),
                };
                rows.push(class);
            }
        }
        Ok(())
    }

    /// The labels, which have two classes together with those of other rows.
    fn finish(self, metric: Metric, positive: Option<&str>, others: &[String]) -> Result<OwnedTruth, String> {
        let (rows, places) = match self {
            Self::Numbers(numbers) => return Ok(OwnedTruth::Numbers(numbers)),
            Self::Classes { rows, places, .. } => (rows, places),
        };
        let mut names: Vec<(String, u32)> = places.into_iter().collect();
        names.sort_unstable_by_key(|(_, place)| *place);
        let names: Vec<String> = names.into_iter().map(|(name, _)| name).collect();
        let (names, places) =
            if metric.kind() == Kind::Sets { sets_in_order(&names) } else { in_order(&names) };
        let mut all = names.iter().chain(others);
        let first = all.next();
        if all.all(|name| Some(name) == first) {
            return Err(ONE_CLASS.to_owned());
        }
        let rows: Vec<u32> = rows.iter().map(|class| places[*class as usize]).collect();
        let is_known = |class: &&str| names.iter().chain(others).any(|name| name == class);
        if let Some(positive) = positive.filter(|positive| !is_known(positive)) {
            let (positive, found) = (shown(positive), listed(&names));
            return Err(format!("no row has the positive class {positive}; the classes are {found}"));
        }
        if metric.kind() == Kind::Order {
            let numbers = amounts(metric, &names, positive)?;
            return Ok(OwnedTruth::Numbers(rows.iter().map(|class| numbers[*class as usize]).collect()));
        }
        Ok(OwnedTruth::Classes { rows, names })
    }
}

/// The distinct sets in these cells in order, and the place of each cell among them.
fn sets_in_order(cells: &[String]) -> (Vec<String>, Vec<u32>) {
    let separator = separator(cells);
    let sets: Vec<String> = cells.iter().map(|cell| canonical_set(cell, separator)).collect();
    let distinct: HashSet<&String> = sets.iter().collect();
    let (names, _) = in_order(&distinct.into_iter().cloned().collect::<Vec<_>>());
    let places: HashMap<&String, u32> = names.iter().zip(0..).collect();
    let places = sets.iter().map(|set| places[set]).collect();
    (names, places)
}

/// The amounts that the distinct labels stand for: numbers, or 1 for the positive one of two classes.
fn amounts(metric: Metric, names: &[String], positive: Option<&str>) -> Result<Vec<f64>, String> {
    let numbers: Option<Vec<f64>> =
        names.iter().map(|name| name.parse().ok().filter(|number: &f64| number.is_finite())).collect();
    match numbers {
        Some(numbers) if positive.is_none() || names.len() != 2 => Ok(numbers),
        _ if names.len() == 2 => {
            let positive = columns::positive(names, positive) as usize;
            Ok((0..2).map(|class| f64::from(u8::from(class == positive))).collect())
        }
        _ => {
            let first = names.iter().find(|name| !name.parse::<f64>().is_ok_and(f64::is_finite));
            let first = shown(first.map_or("", String::as_str));
            Err(format!(
                "{metric} needs numbers or two classes, but there are {} labels such as {first}",
                names.len()
            ))
        }
    }
}
