//! Known labels of rows, and the score of a file of predictions for them.

mod columns;
pub(crate) mod evaluate;
pub mod paired;
mod per_class;
mod weights;

use std::cmp::Ordering;
use std::collections::HashMap;
use std::io::Read;

use csv::StringRecord;
use thiserror::Error;

pub use self::columns::{classes_of_columns, places_of_columns};
use self::weights::Weights;
use crate::bootstrap::{self, Rows};
use crate::names::{Kind, Metric};
use crate::table::{Table, canonical, is_missing, key, listed, shown};

/// The columns of a table with labels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// The column that names the rows; `None` if the row's number does, from 0.
    pub id: Option<String>,
    /// The column with the labels.
    pub target: String,
    /// Further columns with labels. The score is the mean over all targets.
    pub further: Vec<String>,
    /// The column whose equal values make rows dependent, such as a group or a day. Such rows have the same weight in a
    /// replicate.
    pub cluster: Option<String>,
    /// The column with row weights, which are part of every score. `None` if all rows count the same.
    pub weight: Option<String>,
    /// The class that a binary metric is about, and a single column of probabilities. `None` for the usual one.
    pub positive: Option<String>,
    /// Words that look missing, such as `None`, but are labels.
    pub words: Vec<String>,
}

impl Columns {
    /// Whether a row with this label has none.
    fn lacks(&self, label: &str) -> bool {
        is_missing(label) && !self.words.iter().any(|word| word == label.trim())
    }
}

/// The layout of a file of predictions.
#[derive(Clone, Copy, Debug)]
pub struct Layout<'a> {
    /// The columns of the sample submission.
    pub header: &'a [String],
    /// The column that names the rows; `None` if the row's number does, from 0.
    pub id_column: Option<&'a str>,
}

/// What predictions for rows without a known label mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Others {
    /// An error. Predictions for some of the labelled rows are enough.
    Reject,
    /// Nothing. Every labelled row needs a prediction.
    Ignore,
}

/// A table whose labels cannot be used, and why.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct Unusable(String);

/// Why labels of one class are of no use.
const ONE_CLASS: &str = "all labels are the same, so nothing can be scored";

/// Known labels of rows.
///
/// Labels agree whatever blanks are around them, if they are the same number (`1` and `1.0`), or the same truth value
/// (`True` and `true`). Sets agree if they have the same labels. IDs agree whatever blanks are around them, or if they are the same whole number. Rows are
/// kept as a hash of their ID, so that millions of them need little memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Labels {
    metric: Metric,
    target: String,
    /// In ascending order.
    keys: Vec<u64>,
    /// What draws each row's weights if there are enough clusters: a hash of its cluster, or else its key.
    units: Vec<u64>,
    /// A weight for each row, with a mean of 1; `None` if all count the same.
    weights: Option<Vec<f64>>,
    /// The name of the class that a binary metric is about, if it is given.
    positive: Option<String>,
    known: OwnedTruth,
    /// These rows with the labels of each further target.
    further: Vec<Self>,
    /// The number of rows of the test table, if it is known.
    test_rows: Option<u64>,
}

/// The labels, in the order of the keys.
#[derive(Clone, Debug, PartialEq)]
enum OwnedTruth {
    Numbers(Vec<f64>),
    Classes { rows: Vec<u32>, names: Vec<String> },
}

impl Columns {
    /// The columns with the name and the label of a row.
    pub fn new(id: Option<String>, target: impl Into<String>) -> Self {
        Self { id, target: target.into(), ..Self::default() }
    }
}

impl Labels {
    /// The labels in a CSV table, for a metric. Rows without a label are left out, and of numbers those that are infinite.
    ///
    /// # Errors
    /// The table cannot be read or lacks a column, an ID is missing or occurs twice, a label does not fit the metric,
    /// there are no two different classes or not the positive one, or the weight of a labelled row is missing or negative.
    pub fn read(table: impl Read, columns: &Columns, metric: Metric) -> Result<Self, Unusable> {
        read(table, columns, metric, None).map_err(Unusable)
    }

    /// The labels in a CSV table with one column per class, which holds 1 for the class of a row and else 0. Rows with a
    /// missing value are left out. `id` is the column that names the rows; `None` if the row's number does, from 0.
    ///
    /// # Errors
    /// As for [`Labels::read`], a row does not have exactly one class, or the metric is not about unordered classes.
    pub fn read_per_class(
        table: impl Read,
        id: Option<&str>,
        classes: &[String],
        metric: Metric,
    ) -> Result<Self, Unusable> {
        per_class::read(table, id, classes, metric).map_err(Unusable)
    }

    /// As [`Labels::read`], with the cluster of each row of the table, whether it has a label or not.
    pub(crate) fn read_with(
        table: impl Read,
        columns: &Columns,
        metric: Metric,
        clusters: &[u32],
    ) -> Result<Self, Unusable> {
        let columns = Columns { cluster: None, ..columns.clone() };
        read(table, &columns, metric, Some(clusters)).map_err(Unusable)
    }

    /// Labels whose scores get the interval of a score on this many rows of a test table.
    #[must_use]
    pub fn for_test_rows(self, test_rows: Option<u64>) -> Self {
        Self { test_rows, ..self }
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
        let rows = Rows { keys: &self.keys, units: &self.units, weights: None };
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
    fn at(&self, places: &[usize]) -> Self {
        let pick = |all: &[u64]| places.iter().map(|place| all[*place]).collect();
        let (keys, units, known) = (pick(&self.keys), pick(&self.units), self.known.at(places));
        let further = self.further.iter().map(|labels| labels.at(places)).collect();
        let weights = self.weights.as_ref().map(|all| places.iter().map(|place| all[*place]).collect());
        let (metric, target, test_rows) = (self.metric, self.target.clone(), self.test_rows);
        Self {
            metric,
            target,
            keys,
            units,
            weights,
            positive: self.positive.clone(),
            known,
            further,
            test_rows,
        }
    }

    /// A digest of the rows' IDs, equal to the `rows_digest` of a measurement of all of them.
    pub fn digest(&self) -> String {
        bootstrap::digest(self.keys.clone())
    }
}

impl OwnedTruth {
    fn at(&self, places: &[usize]) -> Self {
        match self {
            Self::Numbers(numbers) => Self::Numbers(places.iter().map(|place| numbers[*place]).collect()),
            Self::Classes { rows, names } => Self::Classes {
                rows: places.iter().map(|place| rows[*place]).collect(),
                names: names.clone(),
            },
        }
    }
}

fn read(
    table: impl Read,
    columns: &Columns,
    metric: Metric,
    given: Option<&[u32]>,
) -> Result<Labels, String> {
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
                given.map(|given| u64::from(given.get(number as usize).copied().unwrap_or_default())),
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
    for (target, collected) in names.into_iter().zip(collected) {
        let positive = columns.positive.as_deref().map(|label| canonical(label).into_owned());
        let known = collected.finish(metric, positive.as_deref())?.at(&places);
        let (target, keys, units, weights) =
            (target.to_owned(), keys.clone(), units.clone(), weights.clone());
        let further = Vec::new();
        all.push(Labels { metric, target, keys, units, weights, positive, known, further, test_rows: None });
    }
    let mut first = all.remove(0);
    first.further = all;
    Ok(first)
}

/// The key of a row with this number, from 0.
fn row_key(row: &StringRecord, id: Option<usize>, number: u64) -> Result<u64, String> {
    let id = id.map_or_else(|| number.to_string(), |id| row.get(id).unwrap_or_default().to_owned());
    if id.trim().is_empty() { Err(format!("row {} has no ID", number + 1)) } else { Ok(key(&id)) }
}

/// Whether a metric of numbers has no use for this label.
fn is_infinite(label: &str, metric: Metric) -> bool {
    metric.is_for_regression() && label.trim().parse().is_ok_and(f64::is_infinite)
}

/// The keys in order, and where each of them was.
fn sorted(keys: &[(u64, u64)]) -> Result<(Vec<u64>, Vec<usize>), String> {
    let mut places: Vec<usize> = (0..keys.len()).collect();
    places.sort_unstable_by_key(|place| keys[*place]);
    if let Some(pair) = places.windows(2).find(|pair| keys[pair[0]].0 == keys[pair[1]].0) {
        let (one, two) = (keys[pair[0]].1 + 1, keys[pair[1]].1 + 1);
        return Err(format!("IDs must be unique, but rows {one} and {two} have the same one"));
    }
    Ok((places.iter().map(|place| keys[*place].0).collect(), places))
}

/// Labels while they are read.
enum Collected {
    Numbers(Vec<f64>),
    Classes { rows: Vec<u32>, places: HashMap<String, u32> },
}

impl Collected {
    fn new(metric: Metric) -> Self {
        match metric.kind() {
            Kind::Numbers | Kind::Intervals => Self::Numbers(Vec::new()),
            _ => Self::Classes { rows: Vec::new(), places: HashMap::new() },
        }
    }

    fn add(&mut self, label: &str) -> Result<(), String> {
        match self {
            Self::Numbers(numbers) => match label.trim().parse::<f64>() {
                Ok(number) if number.is_finite() => numbers.push(number),
                _ => return Err(format!("has the label {}, which is not a finite number", shown(label))),
            },
            Self::Classes { rows, places } => {
                let name = canonical(label);
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

    fn finish(self, metric: Metric, positive: Option<&str>) -> Result<OwnedTruth, String> {
        let (rows, places) = match self {
            Self::Numbers(numbers) => return Ok(OwnedTruth::Numbers(numbers)),
            Self::Classes { rows, places } => (rows, places),
        };
        if places.len() < 2 {
            return Err(ONE_CLASS.to_owned());
        }
        let mut names: Vec<(String, u32)> = places.into_iter().collect();
        names.sort_unstable_by_key(|(_, place)| *place);
        let (names, places) = in_order(&names.into_iter().map(|(name, _)| name).collect::<Vec<_>>());
        let rows: Vec<u32> = rows.iter().map(|class| places[*class as usize]).collect();
        if let Some(positive) = positive.filter(|positive| !names.iter().any(|name| name == positive)) {
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
            let first = names.iter().find(|name| name.parse::<f64>().is_err());
            let first = shown(first.map_or("", String::as_str));
            Err(format!(
                "{metric} needs numbers or two classes, but there are {} labels such as {first}",
                names.len()
            ))
        }
    }
}

/// Names of classes in order, by number if all are numbers, and the new place of each.
fn in_order(names: &[String]) -> (Vec<String>, Vec<u32>) {
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

#[cfg(test)]
mod tests;
