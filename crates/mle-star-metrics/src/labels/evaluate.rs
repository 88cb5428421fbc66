//! The score of a file of predictions.

mod constant;
mod diagnose;
mod errors;

use std::collections::HashMap;
use std::io::Read;

use csv::{StringRecord, Writer};
use mle_star_domain::measure::Measurement;

use super::columns::{Cells, cells, positive};
use super::known::{Labels, OwnedTruth, in_order};
use super::layout::{Layout, Others};
use crate::bootstrap::{Rows, measure};
use crate::cell::{canonical_set, guesses, separator};
use crate::names::Metric;
use crate::score::{NO_GUESS, Predictions, Truth, Unscorable, score_in_folds};
use crate::table::{Table, canonical, is_missing, key, listed, shown};

pub use diagnose::{Division, Files};

/// How many unknown IDs are remembered for an error.
pub(super) const MOST_UNKNOWN: usize = 5;

impl Labels {
    /// Checks whether files of this layout can have a score at all.
    ///
    /// # Errors
    /// The columns do not stand for what the metric needs, whatever they hold.
    pub fn check(&self, layout: &Layout<'_>) -> Result<(), Unscorable> {
        if !self.further.is_empty() {
            return self.each(layout, |_, labels, layout| labels.check_one(layout)).map(drop);
        }
        self.check_one(layout)
    }

    fn check_one(&self, layout: &Layout<'_>) -> Result<(), Unscorable> {
        let names = match &self.known {
            OwnedTruth::Numbers(_) => &[][..],
            OwnedTruth::Classes { names, .. } => names,
        };
        let columns = predicted_columns(layout);
        let cells = cells(self.metric, &self.target, &columns, names, self.positive.as_deref());
        cells.map(drop).map_err(Unscorable::new)
    }

    /// The score alone of a CSV file of predictions, read as in [`Labels::evaluate`]. It exists for few rows as well, whose
    /// uncertainty is unknown.
    ///
    /// # Errors
    /// As [`Labels::evaluate`].
    pub fn score(
        &self,
        predictions: impl Read,
        layout: &Layout<'_>,
        others: Others,
    ) -> Result<f64, Unscorable> {
        let predicted = self.predicted(predictions, layout, others)?;
        let scores = predicted.iter().map(|one| one.score(&one.values)).collect::<Result<Vec<_>, _>>()?;
        Ok(scores.iter().sum::<f64>() / scores.len() as f64)
    }

    /// Calls `take` for each target with its number, its labels, and a layout that has only its column.
    fn each<T>(
        &self,
        layout: &Layout<'_>,
        take: impl Fn(usize, &Self, &Layout<'_>) -> Result<T, Unscorable>,
    ) -> Result<Vec<T>, Unscorable> {
        let of_target = |(at, labels): (usize, &Self)| {
            if !layout.header.iter().any(|name| name.trim() == labels.target.trim()) {
                let target = shown(&labels.target);
                return Err(Unscorable::new(format!(
                    "the sample submission has no column for the target {target}"
                )));
            }
            let id = layout.id_column.map(str::to_owned);
            let header: Vec<String> = id.into_iter().chain([labels.target.clone()]).collect();
            take(at, labels, &Layout { header: &header, id_column: layout.id_column })
        };
        self.targets().enumerate().map(of_target).collect()
    }

    /// The predictions of a file for each target, as in [`Labels::evaluate`].
    pub(crate) fn predicted(
        &self,
        predictions: impl Read,
        layout: &Layout<'_>,
        others: Others,
    ) -> Result<Vec<Predicted>, Unscorable> {
        if self.further.is_empty() {
            return Ok(vec![self.predicted_for_one(predictions, layout, others)?]);
        }
        let (mut text, mut predictions) = (Vec::new(), predictions);
        let read = predictions.read_to_end(&mut text);
        read.map_err(|error| Unscorable::new(format!("the file cannot be read: {error}")))?;
        let names: Vec<&str> = self.targets().map(|labels| labels.target.as_str()).collect();
        let files = one_file_each(&text, layout.id_column, &names);
        self.each(layout, |at, labels, layout| {
            let file = files.as_ref().map_or(&text, |files| &files[at]);
            let predicted = labels.predicted_for_one(file.as_slice(), layout, others);
            predicted.map_err(|error| self.about(labels, error))
        })
    }

    /// The labels of each target.
    pub(super) fn targets(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.further)
    }

    /// The error of a target, which is named if there are several.
    pub(super) fn about(&self, target: &Self, error: Unscorable) -> Unscorable {
        match self.further.as_slice() {
            [] => error,
            _ => Unscorable::new(format!("{error} (target {})", shown(&target.target))),
        }
    }

    fn predicted_for_one(
        &self,
        predictions: impl Read,
        layout: &Layout<'_>,
        others: Others,
    ) -> Result<Predicted, Unscorable> {
        let mut file = File::new(self, predictions, layout).map_err(Unscorable::new)?;
        file.read(self, others).map_err(Unscorable::new)?;
        let places = file.places(self, others).map_err(Unscorable::new)?;
        let pick = |all: &[u64]| places.iter().map(|place| all[*place]).collect::<Vec<u64>>();
        let row = |place: &usize| &file.values[place * file.width..(place + 1) * file.width];
        let values: Vec<f64> = places.iter().flat_map(row).copied().collect();
        let known = match &self.known {
            OwnedTruth::Numbers(_) => 0,
            OwnedTruth::Classes { names, .. } => names.len(),
        };
        let keys = pick(&self.keys);
        Ok(Predicted {
            metric: self.metric,
            folds: self.folds_of(&keys),
            keys,
            units: pick(&self.units),
            weights: self.weights.as_ref().map(|all| places.iter().map(|place| all[*place]).collect()),
            positive: self.positive.clone(),
            truth: self.known.at(&places),
            cells: file.cells,
            width: file.width,
            values,
            names: file.names,
            known,
        })
    }
}

/// A file for each of these columns, since a file of 200 targets takes long to read 200 times. `None` if the text is no such
/// table: then each target reads the whole text, which gives the error.
fn one_file_each(text: &[u8], id: Option<&str>, columns: &[&str]) -> Option<Vec<Vec<u8>>> {
    let mut table = Table::open(text).ok()?;
    let columns = table.columns(columns).ok()?;
    let id = table.columns(id.as_slice()).ok()?.first().copied();
    let header = StringRecord::from(table.header().collect::<Vec<_>>());
    let mut files: Vec<Writer<Vec<u8>>> = columns.iter().map(|_| Writer::from_writer(Vec::new())).collect();
    let mut row = header;
    loop {
        for (file, column) in files.iter_mut().zip(&columns) {
            let cells = id.into_iter().chain([*column]);
            file.write_record(cells.map(|at| row.get(at).unwrap_or_default())).ok()?;
        }
        if !table.read(&mut row).ok()? {
            return files.into_iter().map(|file| file.into_inner().ok()).collect();
        }
    }
}

/// Predictions for rows with a label.
#[derive(Clone, Debug)]
pub(crate) struct Predicted {
    metric: Metric,
    keys: Vec<u64>,
    units: Vec<u64>,
    weights: Option<Vec<f64>>,
    /// The fold of each row, if the score is the mean over folds.
    folds: Option<Vec<u32>>,
    /// The class that a binary metric is about, if it is given.
    positive: Option<String>,
    truth: OwnedTruth,
    cells: Cells,
    /// The number of values of a row.
    pub(crate) width: usize,
    /// What is predicted, row after row. A label is its place in the names; no guess is -1.
    pub(crate) values: Vec<f64>,
    /// The known classes, and then those that only the file names.
    names: Vec<String>,
    /// The number of known classes.
    known: usize,
}

impl Predicted {
    /// The score with its uncertainty.
    pub(crate) fn measure(&self, replicates: usize) -> Result<Measurement, Unscorable> {
        let rows = self.rows_drawn();
        self.read(&self.values, |truth, predicted| measure(self.metric, truth, predicted, rows, replicates))
    }

    /// The score with its uncertainty if each row is drawn alone.
    pub(crate) fn measure_rows(&self, replicates: usize) -> Result<Measurement, Unscorable> {
        let rows = Rows { units: &self.keys, ..self.rows_drawn() };
        self.read(&self.values, |truth, predicted| measure(self.metric, truth, predicted, rows, replicates))
    }

    /// The score of other values for the same rows.
    pub(crate) fn score(&self, values: &[f64]) -> Result<f64, Unscorable> {
        let (weights, folds) = (self.weights.as_deref(), self.folds.as_deref());
        self.read(values, |truth, predicted| score_in_folds(self.metric, truth, predicted, weights, folds))
    }

    /// The metric.
    pub(crate) fn metric(&self) -> Metric {
        self.metric
    }

    /// The class of each row; `None` for numbers.
    pub(crate) fn classes(&self) -> Option<&[u32]> {
        match &self.truth {
            OwnedTruth::Numbers(_) => None,
            OwnedTruth::Classes { rows, .. } => Some(rows),
        }
    }

    /// These rows, of which each counts so many times as much as before.
    pub(crate) fn weighted(mut self, times: &[f64]) -> Self {
        let own = self.weights.get_or_insert_with(|| vec![1.0; times.len()]);
        own.iter_mut().zip(times).for_each(|(own, times)| *own *= times);
        self
    }

    /// These predictions, to be scored by another metric.
    pub(crate) fn by(&self, metric: Metric) -> Self {
        Self { metric, ..self.clone() }
    }

    /// Whether the score is the mean over folds.
    pub(crate) fn averages(&self) -> bool {
        self.folds.is_some()
    }

    /// These predictions with other folds.
    pub(crate) fn in_folds(self, folds: Option<Vec<u32>>) -> Self {
        Self { folds, ..self }
    }

    /// The number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.keys.len()
    }

    /// The keys of the rows, in ascending order.
    pub(crate) fn keys(&self) -> &[u64] {
        &self.keys
    }

    /// What makes rows dependent, for each row: a hash of its cluster, or else its key.
    pub(crate) fn units(&self) -> &[u64] {
        &self.units
    }

    /// What is drawn, for each row: its cluster if there are enough of them, or else its key.
    pub(crate) fn drawn(&self) -> &[u64] {
        self.rows_drawn().drawn()
    }

    fn rows_drawn(&self) -> Rows<'_> {
        Rows {
            keys: &self.keys,
            units: &self.units,
            weights: self.weights.as_deref(),
            folds: self.folds.as_deref(),
        }
    }

    /// Whether the same rows and columns are predicted, and only known classes.
    pub(crate) fn matches(&self, other: &Self) -> bool {
        let is_known = |one: &Self| one.names.len() == one.known || !one.cells.have_names();
        self.keys == other.keys && self.cells == other.cells && is_known(self) && is_known(other)
    }

    /// The number of classes, if each value is a label.
    pub(crate) fn labels(&self) -> Option<usize> {
        self.cells.have_names().then_some(self.names.len())
    }

    /// These rows with other predicted values.
    pub(crate) fn with_values(&self, values: Vec<f64>) -> Self {
        Self { values, ..self.clone() }
    }

    /// These predictions with the labels of other rows, at these places.
    pub(crate) fn with_truth_of(&self, places: &[usize]) -> Self {
        Self { truth: self.truth.at(places), ..self.clone() }
    }

    /// The predictions of some rows.
    pub(crate) fn at(&self, places: &[usize]) -> Self {
        let pick = |all: &[u64]| places.iter().map(|place| all[*place]).collect();
        let row = |place: &usize| &self.values[place * self.width..(place + 1) * self.width];
        Self {
            keys: pick(&self.keys),
            units: pick(&self.units),
            weights: self.weights.as_ref().map(|all| places.iter().map(|place| all[*place]).collect()),
            folds: self.folds.as_ref().map(|all| places.iter().map(|place| all[*place]).collect()),
            truth: self.truth.at(places),
            values: places.iter().flat_map(row).copied().collect(),
            ..self.clone()
        }
    }

    fn read<T>(
        &self,
        values: &[f64],
        use_them: impl FnOnce(&Truth<'_>, &Predictions<'_>) -> Result<T, Unscorable>,
    ) -> Result<T, Unscorable> {
        match &self.truth {
            OwnedTruth::Numbers(truth) => match self.cells {
                Cells::Bounds(_) => use_them(&Truth::Numbers(truth), &Predictions::Intervals(values)),
                _ => use_them(&Truth::Numbers(truth), &Predictions::Numbers(values)),
            },
            OwnedTruth::Classes { rows, .. } => self.read_classes(rows, values, use_them),
        }
    }

    /// Classes that only the file names are sorted in between the known ones.
    fn read_classes<T>(
        &self,
        rows: &[u32],
        values: &[f64],
        use_them: impl FnOnce(&Truth<'_>, &Predictions<'_>) -> Result<T, Unscorable>,
    ) -> Result<T, Unscorable> {
        let (names, places) = in_order(&self.names);
        let rows: Vec<u32> = rows.iter().map(|class| places[*class as usize]).collect();
        let about = match self.cells {
            Cells::Positive { class, .. } => class,
            _ => positive(&self.names[..self.known], self.positive.as_deref()),
        };
        // Each class counts against the rest, also of two.
        let is_each = self.metric == Metric::ColumnRocAuc && matches!(self.cells, Cells::PerClass { .. });
        let positive = (self.known <= 2 && !is_each).then(|| places[about as usize]);
        let truth = Truth::Classes { rows: &rows, names: &names, positive };
        match self.cells {
            Cells::Number(_) | Cells::Positive { .. } => use_them(&truth, &Predictions::Numbers(values)),
            Cells::Bounds(_) => use_them(&truth, &Predictions::Intervals(values)),
            Cells::Guesses { .. } => {
                let guess = |class: &f64| if *class < 0.0 { NO_GUESS } else { places[*class as usize] };
                let values: Vec<u32> = values.iter().map(guess).collect();
                use_them(&truth, &Predictions::Guesses { values: &values, width: self.width })
            }
            Cells::Label(_) | Cells::Set(_) => {
                let labels: Vec<u32> = values.iter().map(|class| places[*class as usize]).collect();
                use_them(&truth, &Predictions::Labels(&labels))
            }
            Cells::PerClass { .. } => {
                let mut ordered = vec![0.0; values.len()];
                for (place, value) in values.iter().enumerate() {
                    let (row, class) = (place / self.width, place % self.width);
                    ordered[row * self.width + places[class] as usize] = *value;
                }
                use_them(&truth, &Predictions::Probabilities { values: &ordered, classes: self.width })
            }
        }
    }
}

/// A file of predictions while it is read.
struct File<R> {
    table: Table<R>,
    id: Option<usize>,
    cells: Cells,
    /// The places of the columns of predictions in a row.
    columns: Vec<usize>,
    /// The number of values of a row.
    width: usize,
    /// What is predicted for each labelled row. A label is its place in the names.
    values: Vec<f64>,
    is_present: Vec<bool>,
    /// The known classes, and then those that only the file names.
    names: Vec<String>,
    /// What is between the labels of known sets.
    separator: char,
    /// The first unknown IDs, and how many there are.
    unknown: (Vec<String>, usize),
}

impl<R: Read> File<R> {
    fn new(labels: &Labels, predictions: R, layout: &Layout<'_>) -> Result<Self, String> {
        let table = Table::open(predictions)?;
        let names = match &labels.known {
            OwnedTruth::Numbers(_) => Vec::new(),
            OwnedTruth::Classes { names, .. } => names.clone(),
        };
        let id = match layout.id_column {
            Some(id) => Some(table.columns(&[id])?[0]),
            None => None,
        };
        let wanted = predicted_columns(layout);
        table.columns(&wanted.iter().map(String::as_str).collect::<Vec<_>>())?;
        let cells = cells(labels.metric, &labels.target, &wanted, &names, labels.positive.as_deref())?;
        let (columns, names) = match &cells {
            Cells::PerClass { columns, names } => {
                (columns.iter().map(String::as_str).collect(), names.clone())
            }
            Cells::Bounds(columns) => (columns.iter().map(String::as_str).collect(), names),
            Cells::Number(column)
            | Cells::Label(column)
            | Cells::Set(column)
            | Cells::Guesses { column, .. }
            | Cells::Positive { column, .. } => (vec![column.as_str()], names),
        };
        let columns = table.columns(&columns)?;
        let width = match cells {
            Cells::Guesses { most, .. } => most,
            _ => columns.len(),
        };
        let rows = labels.rows();
        let (values, is_present) = (vec![0.0; width * rows], vec![false; rows]);
        let (separator, unknown) = (separator(&names), (Vec::new(), 0));
        Ok(Self { table, id, cells, columns, width, values, is_present, names, separator, unknown })
    }

    fn read(&mut self, labels: &Labels, others: Others) -> Result<(), String> {
        let mut places: HashMap<String, u32> = self.names.iter().cloned().zip(0..).collect();
        let known = self.names.len();
        let (mut row, mut number) = (StringRecord::new(), 0_u64);
        while self.table.read(&mut row)? {
            let id = match self.id {
                Some(id) => row.get(id).unwrap_or_default().trim().to_owned(),
                None => number.to_string(),
            };
            number += 1;
            let Ok(place) = labels.keys.binary_search(&key(&id)) else {
                self.unknown.1 += 1;
                if self.unknown.0.len() < MOST_UNKNOWN {
                    self.unknown.0.push(id);
                }
                continue;
            };
            if std::mem::replace(&mut self.is_present[place], true) {
                return Err(format!("the ID {} occurs more than once", shown(&id)));
            }
            self.read_row(labels, (&row, &id), place, &mut places)?;
        }
        if number == 0 {
            return Err("the file has no rows".to_owned());
        }
        if others == Others::Reject && self.unknown.1 > 0 {
            let (first, count) = &self.unknown;
            return Err(format!(
                "{count} rows have an ID that is not expected, for example {}",
                listed(first)
            ));
        }
        self.check_labels(known)
    }

    /// Reads the predictions of a labelled row.
    fn read_row(
        &mut self,
        labels: &Labels,
        (row, id): (&StringRecord, &str),
        place: usize,
        places: &mut HashMap<String, u32>,
    ) -> Result<(), String> {
        for (at, column) in self.columns.iter().enumerate() {
            let cell = row.get(*column).unwrap_or_default().trim();
            let wrong = |what: &str| {
                let name = self.table.name(*column);
                Err(format!(
                    "the row with ID {} has {} in column {}, {what}",
                    shown(id),
                    shown(cell),
                    shown(name)
                ))
            };
            let first = place * self.width + at;
            let value = match &self.cells {
                Cells::Guesses { most, .. } => {
                    let found = guesses(cell, *most, |label| places.contains_key(label));
                    if found.is_empty() || is_missing(cell) && !places.contains_key(cell) {
                        return wrong("which is no guess");
                    }
                    let guesses =
                        found.into_iter().map(|name| f64::from(class_of(&name, &mut self.names, places)));
                    let all = guesses.chain(std::iter::repeat(-1.0)).take(self.width);
                    self.values[first..first + self.width]
                        .iter_mut()
                        .zip(all)
                        .for_each(|(value, guess)| *value = guess);
                    continue;
                }
                Cells::Set(_) => {
                    let set = canonical_set(cell, self.separator);
                    f64::from(class_of(&set, &mut self.names, places))
                }
                Cells::Label(_) => {
                    let name = canonical(cell);
                    match places.get(name.as_ref()) {
                        Some(class) => f64::from(*class),
                        None if is_missing(cell) => return wrong("which is no label"),
                        None if is_fraction(&name) && self.names.iter().all(|name| is_whole(name)) => {
                            return wrong(&format!(
                                "which is no label; {} needs labels, not probabilities",
                                labels.metric
                            ));
                        }
                        None => f64::from(class_of(&name, &mut self.names, places)),
                    }
                }
                _ => match cell.parse::<f64>() {
                    Ok(number) if number.is_finite() => number,
                    _ => return wrong("which is not a finite number"),
                },
            };
            self.values[first] = value;
        }
        Ok(())
    }

    /// Labels of which none is known are certainly wrong.
    fn check_labels(&self, known: usize) -> Result<(), String> {
        let rows = self.is_present.iter().zip(self.values.chunks(self.width.max(1)));
        let mut values = rows.filter(|(is_present, _)| **is_present).flat_map(|(_, values)| values);
        // Sets are known by their labels, not as a whole.
        let is_label = matches!(self.cells, Cells::Label(_) | Cells::Guesses { .. });
        let is_unknown = |class: &f64| *class < 0.0 || *class as usize >= known;
        if is_label && self.names.len() > known && values.all(is_unknown) {
            let (known, found) = self.names.split_at(known);
            return Err(format!(
                "the predicted labels are {}, but the classes are {}",
                listed(found),
                listed(known)
            ));
        }
        Ok(())
    }

    /// The places of the labelled rows that have predictions.
    fn places(&self, labels: &Labels, others: Others) -> Result<Vec<usize>, String> {
        let places: Vec<usize> = (0..labels.rows()).filter(|place| self.is_present[*place]).collect();
        let (missing, rows) = (labels.rows() - places.len(), labels.rows());
        if places.is_empty() {
            let examples = listed(&self.unknown.0);
            return Err(format!("no row has the ID of a labelled row; the IDs in the file are {examples}"));
        }
        if others == Others::Ignore && missing > 0 {
            return Err(format!("{missing} of {rows} rows that need a prediction have none"));
        }
        Ok(places)
    }
}

/// The place of a class among the names, to which it is added if it is new.
fn class_of(name: &str, names: &mut Vec<String>, places: &mut HashMap<String, u32>) -> u32 {
    if let Some(class) = places.get(name) {
        return *class;
    }
    let class = names.len() as u32;
    names.push(name.to_owned());
    places.insert(name.to_owned(), class);
    class
}

/// The columns of the layout other than the ID.
pub(crate) fn predicted_columns(layout: &Layout<'_>) -> Vec<String> {
    let names = layout.header.iter().map(|name| name.trim());
    names.filter(|name| layout.id_column.map(str::trim) != Some(name)).map(str::to_owned).collect()
}

fn is_whole(name: &str) -> bool {
    name.parse::<f64>().is_ok_and(|number| number.fract() == 0.0)
}

fn is_fraction(name: &str) -> bool {
    name.parse::<f64>().is_ok_and(|number| number.fract() != 0.0)
}
