//! Finds columns that identify groups of rows, if the test table's rows belong to other groups.
//!
//! If rows had been split at random, values that occur in several training rows would also occur in the test
//! table. If none of a column's repeated values does, whole groups were held out. [`find`] returns each such
//! column as a [`GroupColumn`]. It goes through the test table, and through the training table until no candidate is left.

use std::collections::{HashMap, HashSet};

use super::{Column, ColumnKind, GroupColumn, ROWS_LOOKED_AT, Table};
use crate::records::digest;
use crate::table;

/// Fewer groups are too few for folds.
const FEWEST_GROUPS: usize = 3;
/// With fewer rows, unseen values may be chance.
const FEWEST_TEST_ROWS: usize = 10;

/// A table and its profile.
pub(super) type Side<'a> = (&'a table::Table, &'a Table);

/// Training rows whose values can refute that a column groups rows, before all rows are looked at.
const REFUTING: u64 = 25_000;

/// The numbers in a value, which define its order: `[2024, 5]` for `2024-W05`.
type Order = Vec<i64>;

/// A candidate column.
struct Trial {
    name: String,
    /// Positions among the columns of the two tables.
    in_train: usize,
    in_test: usize,
    /// Rows and order of the test table's values that have not occurred in the training table so far.
    unknown: HashMap<u64, (usize, Order)>,
    test_rows: usize,
    /// Test rows whose value also occurs in the training table.
    known_rows: usize,
    /// The number of rows of each training value.
    counts: HashMap<u64, usize>,
    range: Option<(Order, Order)>,
    failed: bool,
}

/// The columns that group the training rows and whose groups are absent, or nearly absent, from the test table.
pub(super) fn find(train: Side<'_>, test: Side<'_>) -> Vec<GroupColumn> {
    let mut trials = trials(train.1, test.1);
    refute(train.0, test.0, &mut trials);
    trials.retain(|trial| !trial.failed);
    for_each_value(test.0, &mut trials, |trial| trial.in_test, |_, trial, value| trial.take_test(value));
    trials.retain(|trial| !trial.failed && trial.test_rows >= FEWEST_TEST_ROWS);
    for_each_value(train.0, &mut trials, |trial| trial.in_train, |_, trial, value| trial.take_train(value));
    trials.into_iter().filter_map(|trial| trial.verdict(train.1.rows)).collect()
}

/// Lets candidates fail of which more than a few test rows have a value of one of the first training rows.
fn refute(train: &table::Table, test: &table::Table, trials: &mut [Trial]) {
    let mut known: Vec<HashSet<u64>> = vec![HashSet::new(); trials.len()];
    let values = train.each(&positions(trials, |trial| trial.in_train), |row| {
        let columns = known.iter_mut().enumerate();
        columns.for_each(|(at, known)| known.extend(row.value(at).map(digest)));
        row.number < REFUTING
    });
    if values.is_err() {
        return;
    }
    let all = usize::try_from(test.rows()).unwrap_or(usize::MAX);
    let mut rows = vec![0; trials.len()];
    for_each_value(
        test,
        trials,
        |trial| trial.in_test,
        |at, trial, value| {
            rows[at] += usize::from(value.is_some_and(|value| known[at].contains(&digest(value))));
            trial.failed = !is_hardly_any(rows[at], all);
        },
    );
}

fn positions(trials: &[Trial], position: impl Fn(&Trial) -> usize) -> Vec<usize> {
    trials.iter().map(position).collect()
}

/// The candidate columns, for which every row is read.
fn trials(train: &Table, test: &Table) -> Vec<Trial> {
    let trial = |(in_train, column): (usize, &Column)| {
        let in_test = test.columns.iter().position(|twin| twin.name == column.name)?;
        may_group(column, train, &test.columns[in_test], test)
            .then(|| Trial::new(column.name.clone(), in_train, in_test))
    };
    train.columns.iter().enumerate().filter_map(trial).collect()
}

fn may_group(column: &Column, train: &Table, twin: &Column, test: &Table) -> bool {
    let looked = train.rows.min(ROWS_LOOKED_AT);
    let nameable = matches!(column.kind, ColumnKind::Integer | ColumnKind::Category);
    let repeats = column.distinct >= FEWEST_GROUPS && column.distinct < looked;
    let is_known = |value: &String| column.top_values.iter().any(|(known, _)| known == value);
    let shared: usize =
        twin.top_values.iter().filter(|(value, _)| is_known(value)).map(|(_, rows)| rows).sum();
    nameable && repeats && column.missing == 0 && is_hardly_any(shared, test.rows.min(ROWS_LOOKED_AT))
}

/// At most one in a hundred.
fn is_hardly_any(part: usize, whole: usize) -> bool {
    part * 100 <= whole
}

/// Passes the values of a table to the candidates until none is left.
fn for_each_value(
    table: &table::Table,
    trials: &mut [Trial],
    position: impl Fn(&Trial) -> usize,
    mut take: impl FnMut(usize, &mut Trial, Option<&str>),
) {
    let columns = positions(trials, position);
    let read = table.each(&columns, |row| {
        for (at, trial) in trials.iter_mut().enumerate().filter(|(_, trial)| !trial.failed) {
            take(at, trial, row.value(at));
        }
        trials.iter().any(|trial| !trial.failed)
    });
    // If a table can no longer be read, nothing is known about it.
    if read.is_err() {
        trials.iter_mut().for_each(|trial| trial.failed = true);
    }
}

impl Trial {
    fn new(name: String, in_train: usize, in_test: usize) -> Self {
        Self {
            name,
            in_train,
            in_test,
            unknown: HashMap::new(),
            test_rows: 0,
            known_rows: 0,
            counts: HashMap::new(),
            range: None,
            failed: false,
        }
    }

    fn take_test(&mut self, value: Option<&str>) {
        let Some(value) = value else { return };
        if is_fraction(value) {
            self.failed = true;
            return;
        }
        self.test_rows += 1;
        self.unknown.entry(digest(value)).or_insert_with(|| (0, order(value))).0 += 1;
    }

    fn take_train(&mut self, value: Option<&str>) {
        let Some(value) = value.filter(|value| !is_fraction(value)) else {
            self.failed = true;
            return;
        };
        let digest = digest(value);
        let rows = self.counts.entry(digest).or_insert(0);
        *rows += 1;
        if *rows > 1 {
            return;
        }
        if let Some((rows, _)) = self.unknown.remove(&digest) {
            self.known_rows += rows;
            self.failed |= !is_hardly_any(self.known_rows, self.test_rows);
        }
        self.widen(order(value));
    }

    fn widen(&mut self, order: Order) {
        match &mut self.range {
            None => self.range = Some((order.clone(), order)),
            Some((first, _)) if order < *first => *first = order,
            Some((_, last)) if order > *last => *last = order,
            Some(_) => {}
        }
    }

    /// Whether most rows share their value with others and no group has most of the rows.
    fn verdict(self, rows: usize) -> Option<GroupColumn> {
        let single = self.counts.values().filter(|count| **count == 1).count();
        let largest = self.counts.values().max().copied().unwrap_or(0);
        let groups = self.counts.len();
        let fits = !self.failed && groups >= FEWEST_GROUPS && single * 2 <= rows && largest * 2 <= rows;
        fits.then(|| GroupColumn { ordered: self.is_ordered(), groups, column: self.name })
    }

    /// Whether hardly any test value lies between the first and the last value of the training table.
    fn is_ordered(&self) -> bool {
        let Some((first, last)) = &self.range else { return false };
        let between = |order: &Order| order > first && order < last;
        let rows: usize =
            self.unknown.values().filter(|(_, order)| between(order)).map(|(rows, _)| rows).sum();
        !first.is_empty() && is_hardly_any(rows, self.test_rows)
    }
}

fn is_fraction(value: &str) -> bool {
    value.contains('.') && value.parse::<f64>().is_ok()
}

fn order(value: &str) -> Order {
    if let Ok(number) = value.parse() {
        return vec![number];
    }
    let runs = value.split(|letter: char| !letter.is_ascii_digit()).filter(|run| !run.is_empty());
    runs.map(|run| run.parse().unwrap_or(i64::MAX)).collect()
}
