//! Puts the values of a column in order of time.

use std::io;

use crate::column_names::{says_counter, says_key};
use crate::dates::calendar::Unit;
use crate::dates::{DAY, Reading, days, seconds};
use crate::profile::{Column, ColumnKind, Profile};
use crate::table::Table;
use crate::tables::Tables;

/// With fewer values in the test table, later values may be chance.
const FEWEST_VALUES: u64 = 5;

/// The orders of dates: the day may come first.
pub(crate) const DATES: [Clock; 2] = [Clock::Date(Reading::MonthFirst), Clock::Date(Reading::DayFirst)];

/// The orders of parts of a year, such as `2021-W44`.
const PARTS_OF_YEARS: [Clock; 6] = {
    let [a, b, c, d, e, f] = Unit::ALL;
    [Clock::Part(a), Clock::Part(b), Clock::Part(c), Clock::Part(d), Clock::Part(e), Clock::Part(f)]
};

/// The orders of numbers that may be written dates.
const WRITTEN: [Clock; 4] = [Clock::YearAndMonth, Clock::YearAndWeek, Clock::YearMonthDay, Clock::Number];

/// How the values of a column are put in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    Number,
    Date(Reading),
    /// Texts that name a part of a year.
    Part(Unit),
    /// Whole numbers such as 202401 for January of 2024.
    YearAndMonth,
    /// Whole numbers such as 202452 for the last week of 2024.
    YearAndWeek,
    /// Whole numbers such as 20240131.
    YearMonthDay,
}

/// The values of a column in training and test table, in order of time.
#[derive(Debug)]
pub(crate) struct Course {
    pub(crate) column: String,
    pub(crate) clock: Clock,
    /// The last value of the training table, and the first of the test table.
    train: Option<f64>,
    test: Option<f64>,
    /// Values in the test table.
    values: u64,
    /// Those that are later than all values in the training table.
    later: u64,
    /// A value has no place in this order.
    failed: bool,
}

/// The part of a year that the most frequent values of a column of texts name; `None` if they are other texts.
pub(super) fn unit(column: &Column) -> Option<Unit> {
    let values = &column.top_values;
    let fits = |unit: &Unit| values.iter().all(|(text, _)| unit.seconds(text).is_some());
    Unit::ALL.into_iter().find(fits).filter(|_| is_text(column.kind) && !values.is_empty())
}

/// The courses of these columns, without those that have no order of time. A column of dates may have two. There may be no
/// test table.
///
/// # Errors
/// A table cannot be read.
pub(crate) fn courses(tables: &Tables, columns: &[&Column]) -> io::Result<Vec<Course>> {
    let mut courses: Vec<Course> = columns
        .iter()
        .flat_map(|column| clocks(column).iter().map(|clock| Course::new(column, *clock)))
        .collect();
    if !courses.is_empty() {
        each(tables.train()?, &mut courses, Course::take_train)?;
        // A column that the user named need not be in the test table.
        let test = tables.test.as_ref();
        let is_in_test = |course: &Course| test.is_some_and(|test| test.find(&course.column).is_some());
        if let Some(test) = test.filter(|_| courses.iter().all(is_in_test)) {
            each(test, &mut courses, Course::take_test)?;
        }
    }
    courses.retain(|course| !course.failed);
    Ok(courses)
}

/// The order of the column's values; of several, the one in which the test table is later.
///
/// # Errors
/// A table cannot be read.
pub(crate) fn clock(profile: &Profile, column: &str) -> io::Result<Option<Clock>> {
    let courses = courses(&profile.tables, profile.train.column(column).as_slice())?;
    let later = courses.iter().find(|course| course.is_later());
    Ok(later.or(courses.first()).map(|course| course.clock))
}

/// The orders of time that the values of this column may have; none if they are neither numbers nor dates.
pub(crate) fn clocks(column: &Column) -> &'static [Clock] {
    match column.kind {
        ColumnKind::Date => &DATES,
        _ if is_written(column) => &WRITTEN,
        kind if is_number(kind) => &[Clock::Number],
        _ if unit(column).is_some() => &PARTS_OF_YEARS,
        _ => &[],
    }
}

/// Whether all numbers may be written dates of at least two years, and the name does not say that they are keys or running numbers.
fn is_written(column: &Column) -> bool {
    let Some((low, high)) = column.range.filter(|_| column.kind == ColumnKind::Integer) else { return false };
    let is_within = |least: f64, largest: f64, digits: f64| {
        low >= least && high <= largest && (low / digits).floor() < (high / digits).floor()
    };
    let is_like = is_within(190_001.0, 209_953.0, 100.0) || is_within(19_000_101.0, 20_991_231.0, 10_000.0);
    is_like && is_no_key(&column.name)
}

/// Whether the name does not say that numbers or codes are keys or running numbers.
fn is_no_key(name: &str) -> bool {
    !says_key(name) && !says_counter(name)
}

fn is_text(kind: ColumnKind) -> bool {
    matches!(kind, ColumnKind::Category | ColumnKind::Text)
}

fn is_number(kind: ColumnKind) -> bool {
    matches!(kind, ColumnKind::Integer | ColumnKind::Float)
}

fn each(table: &Table, courses: &mut [Course], take: fn(&mut Course, f64)) -> io::Result<()> {
    let columns = table.positions(courses.iter().map(|course| course.column.as_str()))?;
    table.each(&columns, |row| {
        for (at, course) in courses.iter_mut().enumerate().filter(|(_, course)| !course.failed) {
            let Some(text) = row.value(at) else { continue };
            match course.clock.read(text) {
                Some(at) => take(course, at),
                None => course.failed = true,
            }
        }
        courses.iter().any(|course| !course.failed)
    })
}

impl Clock {
    /// The place of a value in time; `None` if it has none.
    pub(crate) fn read(self, value: &str) -> Option<f64> {
        match self {
            Self::Number => value.parse().ok().filter(|number: &f64| number.is_finite()),
            Self::Date(reading) => seconds(value, reading),
            Self::Part(unit) => unit.seconds(value),
            Self::YearAndMonth => written(value, 100, |year, month| days(year, month, 1)),
            Self::YearAndWeek => written(value, 100, |year, week| {
                let of_year = (1..=53).contains(&week).then(|| i32::try_from(week - 1).ok());
                Some(days(year, 1, 1)? + 7 * of_year.flatten()?)
            }),
            Self::YearMonthDay => written(value, 10_000, |year, day| days(year, day / 100, day % 100)),
        }
    }
}

/// The seconds from the beginning of 1970 to a date that is one number: a year, and what the last digits tell.
fn written(value: &str, digits: u32, days: impl Fn(u32, u32) -> Option<i32>) -> Option<f64> {
    let number: u32 = value.parse().ok()?;
    days(number / digits, number % digits).map(|days| f64::from(days) * DAY)
}

impl Course {
    fn new(column: &Column, clock: Clock) -> Self {
        let column = column.name.clone();
        Self { column, clock, train: None, test: None, values: 0, later: 0, failed: false }
    }

    fn take_train(&mut self, at: f64) {
        self.train = Some(self.train.map_or(at, |last| last.max(at)));
    }

    fn take_test(&mut self, at: f64) {
        self.test = Some(self.test.map_or(at, |first| first.min(at)));
        self.values += 1;
        self.later += u64::from(self.train.is_some_and(|last| at > last));
    }

    /// Whether the test table is later: nearly all of its values are, or all but those of the boundary day.
    pub(crate) fn is_later(&self) -> bool {
        let (Some(last), Some(first)) = (self.train, self.test) else { return false };
        let day = |at: f64| (at / DAY).floor();
        let touches = self.clock != Clock::Number && day(first) >= day(last);
        let enough =
            if touches { self.later * 2 > self.values } else { self.later * 100 >= self.values * 99 };
        self.values >= FEWEST_VALUES && enough
    }
}
