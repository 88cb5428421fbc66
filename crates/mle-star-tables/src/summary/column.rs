//! One column of a table while the table is read, and what it holds.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};

use csv::ByteRecord;

use crate::dates::{Reading, seconds};
use crate::missing::Words;
use crate::profile::{Column, ColumnKind, ROWS_LOOKED_AT, Table, Values};
use crate::records::{digest, value};
use crate::table;

/// Digests of values, and in how many rows each occurs.
pub(super) type Counts = HashMap<u64, usize, BuildHasherDefault<DefaultHasher>>;

/// The shares of the quantiles.
const QUARTERS: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// A column while its table is read.
pub(super) struct Watched {
    name: String,
    kind: ColumnKind,
    is_there: bool,
    at: Option<usize>,
    values: Values,
    words: Words,
    numbers: Vec<f64>,
    times: [Times; 2],
    /// The values of the test table, to compare with those of the training table; `None` for columns without levels.
    pub(super) levels: Option<Counts>,
}

/// What a column holds.
pub(super) struct Facts {
    pub(super) column: Column,
    /// Least value, quartiles, greatest value.
    pub(super) quantiles: Option<[f64; 5]>,
    /// The first and the last date, as texts.
    pub(super) dates: Option<(String, String)>,
}

/// The first and the last date in one reading.
struct Times {
    reading: Reading,
    range: Option<[(f64, String); 2]>,
    failed: bool,
}

/// The values at these shares of the numbers, which get sorted.
pub(super) fn quantiles<const N: usize>(numbers: &mut [f64], shares: [f64; N]) -> Option<[f64; N]> {
    numbers.sort_unstable_by(f64::total_cmp);
    let last = numbers.len().checked_sub(1)?;
    Some(shares.map(|share| numbers[place(share, last)]))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a length")]
fn place(share: f64, last: usize) -> usize {
    ((share * last as f64).round() as usize).min(last)
}

/// Whether values of this training column repeat enough to be levels that another table can lack.
fn has_levels(column: &Column, rows: usize) -> bool {
    let filled = rows.min(ROWS_LOOKED_AT).saturating_sub(column.missing);
    match column.kind {
        ColumnKind::Category | ColumnKind::Boolean => column.distinct * 2 <= filled,
        ColumnKind::Integer => column.distinct * 3 <= filled,
        _ => false,
    }
}

impl Watched {
    /// A column of the training table.
    pub(super) fn new(column: &Column) -> Self {
        let times = [Reading::MonthFirst, Reading::DayFirst].map(Times::new);
        Self {
            name: column.name.clone(),
            kind: column.kind,
            is_there: true,
            at: None,
            values: Values::new(column.name.clone()).keeping(column.words),
            words: column.words,
            numbers: Vec::new(),
            times,
            levels: None,
        }
    }

    /// The same column of the test table.
    pub(super) fn in_test(column: &Column, (train, test): (&Table, &Table)) -> Self {
        let is_there = test.column(&column.name).is_some();
        let levels = (is_there && has_levels(column, train.rows)).then(Counts::default);
        Self { is_there, levels, ..Self::new(column) }
    }

    pub(super) fn find_in(&mut self, table: &table::Table) {
        self.at = table.find(&self.name).filter(|_| self.is_there);
    }

    /// Adds a row.
    pub(super) fn take(&mut self, row: &ByteRecord) {
        let Some(at) = self.at else { return };
        self.values.take(row.get(at).and_then(|cell| str::from_utf8(cell).ok()).unwrap_or_default());
        let Some(value) = value(row, at, self.words) else { return };
        if self.kind.is_number() {
            self.numbers.extend(value.parse::<f64>().ok().filter(|number| number.is_finite()));
        }
        if self.kind == ColumnKind::Date {
            self.times.iter_mut().for_each(|times| times.take(value));
        }
        if let Some(levels) = &mut self.levels {
            *levels.entry(digest(value)).or_default() += 1;
        }
    }

    /// What the column holds; `None` if the table lacks it.
    pub(super) fn facts(mut self) -> Option<Facts> {
        let quantiles = quantiles(&mut self.numbers, QUARTERS);
        let dates = self.times.into_iter().find(|times| !times.failed).and_then(|times| times.range);
        let dates = dates.map(|[first, last]| (first.1, last.1));
        self.is_there.then(|| Facts { column: self.values.finish(), quantiles, dates })
    }
}

impl Times {
    fn new(reading: Reading) -> Self {
        Self { reading, range: None, failed: false }
    }

    fn take(&mut self, text: &str) {
        if self.failed {
            return;
        }
        let Some(at) = seconds(text, self.reading) else {
            self.failed = true;
            return;
        };
        let moment = || (at, text.to_owned());
        match &mut self.range {
            None => self.range = Some([moment(), moment()]),
            Some([first, _]) if at < first.0 => *first = moment(),
            Some([_, last]) if at > last.0 => *last = moment(),
            Some(_) => {}
        }
    }
}
