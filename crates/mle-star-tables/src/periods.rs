//! The training time in periods like that of the test table: as long, and as far from the rows that models learn from.
//!
//! [`Timeline::read`] reads the times of both tables. A model that is validated on such a period solves the task of the test
//! table, only earlier.

mod bounds;
mod ends;
pub(crate) mod left_out;
mod shape;
pub(crate) mod words;

use std::collections::HashMap;
use std::{io, iter};

use mle_star_domain::protocol::{Period, Periods, Split};

use super::dates::DAY;
use super::labelled::{Labelled, Parts, RowTimes};
use super::profile::Profile;
use super::records::digest;
use super::split::times::{self, Clock};
use super::table::Table;
pub(crate) use bounds::Bounds;
use ends::OwnEnds;
use left_out::{LeftOut, Series};
use shape::{Shape, Stretch};

/// Periods that are at least so long, in seconds, have whole days: nights without rows do not shift them.
const SHORTEST_OF_DAYS: f64 = 5.0 * DAY;

/// The times of the training rows and of the test rows.
#[derive(Clone, Debug)]
pub struct Timeline {
    by: Parts,
    clock: Clock,
    shape: Shape,
    test: Period,
    rows: RowTimes,
    /// The times of the labelled rows that are not later than the test table, in ascending order.
    times: Vec<f64>,
    /// The number of further ones that are later than the test table.
    later: usize,
    /// The days of these times where periods have whole days, else nothing.
    days: Vec<f64>,
    /// The rows that are left out beside a held-out period, so that its series and those of earlier periods are new as often as in
    /// the test table.
    left_out: Option<LeftOut>,
    /// The series that each end at a time of their own, if they do. Times are places in their stretches then.
    own: Option<OwnEnds>,
}

impl Timeline {
    /// Reads the times of a task that is split by time.
    ///
    /// # Errors
    /// Why there are no periods, in one sentence: no times that can be read, none in the test table, only one, or too short a
    /// training time.
    pub fn read(profile: &Profile, target: &str, id: Option<&str>, split: &Split) -> Result<Self, String> {
        let column = split.column.clone().unwrap_or_default();
        let unreadable = |error: io::Error| format!("the times cannot be read: {error}");
        let Some(clock) = times::clock(profile, &column).map_err(unreadable)? else {
            return Err(format!("the values of `{column}` have no order of time"));
        };
        let clock = times::written_dates(profile, &column).map_err(unreadable)?.unwrap_or(clock);
        let by = Parts { column: Some(column.clone()), groups: split.groups.clone() };
        let labelled = Labelled::of(profile, target, id).map_err(unreadable)?;
        if split.has_own_ends() {
            return Self::of_series(profile, &labelled, (by, clock), split);
        }
        let rows = labelled.times(&by, clock).map_err(unreadable)?;
        let mut times = rows.sorted();
        if times.is_empty() {
            return Err(format!("no labelled row has a value of `{column}`"));
        }
        let test = profile.tables.test.as_ref().filter(|test| test.find(&column).is_some());
        let test = test.ok_or_else(|| format!("the test table has no `{column}`"))?;
        let test_times = test_times(test, &by, clock).map_err(unreadable)?;
        let Some(end) = test_times.iter().copied().reduce(f64::max) else {
            return Err(format!("no row of the test table has a value of `{column}`"));
        };
        // What is later than the test table is in no period before it.
        let later = times.len() - times.partition_point(|time| *time <= end);
        times.truncate(times.len() - later);
        let earlier =
            || format!("the rows of the test table are earlier in `{column}` than all labelled rows");
        let last = times.last().ok_or_else(earlier)?;
        let (first, end) = span(&test_times, *last).ok_or_else(earlier)?;
        let one = || format!("all labelled rows have the same value of `{column}`");
        let mut shape = Shape::of(&times, first, end).ok_or_else(one)?;
        let mut days = Vec::new();
        if clock != Clock::Number && shape.step < DAY && shape.span >= SHORTEST_OF_DAYS {
            days.extend(times.iter().copied().map(day));
            shape = Shape::of(&days, day(first), last_day(&test_times, first, end)).ok_or_else(one)?;
        }
        let texts = texts(test, &column, clock, &[first, end]).map_err(unreadable)?;
        let test = Period { rows: test.rows(), ..period(&texts, first, end) };
        let timeline = Self { by, clock, shape, test, rows, times, days, later, left_out: None, own: None };
        match timeline.stretches(false).is_empty() {
            true => {
                let length = timeline.length();
                Err(format!("the training time is too short for periods of {length} as in the test table"))
            }
            false => Ok(timeline),
        }
    }

    /// Whether periods begin and end at the same times for all rows, which keep their own.
    pub(crate) fn is_common(&self) -> bool {
        self.own.is_none() && self.by.groups.is_none()
    }

    /// How the values of the column are times.
    pub(crate) fn clock(&self) -> Clock {
        self.clock
    }

    /// The column of the times.
    pub(crate) fn column(&self) -> &str {
        self.by.column.as_deref().unwrap_or_default()
    }

    /// The share of the rows of all periods whose series have no row that models learn from.
    pub(crate) fn share_of_new(&self, series: &Series) -> f64 {
        left_out::natural(series, &self.rows, &self.folds(false))
    }

    /// Leaves series out before the held-out period and those before it, so that about this share of their rows is of new ones.
    /// Returns the share that they then have.
    pub(crate) fn leave_out(&mut self, series: &Series, share: f64) -> f64 {
        let held_out = self.last().map(|last| self.bounds(last));
        let periods: Vec<Bounds> = self.folds(true).into_iter().chain(held_out).collect();
        let left_out = LeftOut::of(series, &self.rows, &periods, share);
        self.left_out.insert(left_out).share
    }

    /// The rows that are left out beside a held-out period.
    pub(crate) fn left_out(&self) -> Option<&LeftOut> {
        self.left_out.as_ref()
    }

    /// The times of series that each end at a time of their own.
    fn of_series(
        profile: &Profile,
        labelled: &Labelled<'_>,
        (by, clock): (Parts, Clock),
        split: &Split,
    ) -> Result<Self, String> {
        let unreadable = |error: io::Error| format!("the times cannot be read: {error}");
        let column = split.column.as_deref().unwrap_or_default();
        let test = profile.tables.test().map_err(unreadable)?;
        let own = OwnEnds::read(labelled, test, (column, clock), &split.series).map_err(unreadable)?;
        let short = || "the series are too short for periods".to_owned();
        let own = own.ok_or_else(short)?;
        let times = own.places.sorted();
        let texts = texts(test, column, clock, &own.test).map_err(unreadable)?;
        let rows = RowTimes { rows: own.places.rows.clone(), labelled: own.places.labelled.clone() };
        let [first, end] = own.test;
        let at = [own.begin(1.0), 1.0];
        let test = Period { rows: test.rows(), at, ..period(&texts, first, end) };
        // Places are numbers of stretches.
        let shape = Shape { span: 0.0, step: 1.0, gap: 0.0 };
        let timeline = Self {
            by,
            clock,
            shape,
            test,
            rows,
            times,
            days: Vec::new(),
            later: 0,
            left_out: None,
            own: Some(own),
        };
        if timeline.stretches(false).is_empty() { Err(short()) } else { Ok(timeline) }
    }

    /// What is odd about the times, in one sentence; `None` if nothing is.
    pub fn note(&self) -> Option<String> {
        if self.own.as_ref().is_some_and(|own| own.shortened) {
            return Some(
                "most series are too short for periods as long as their test rows, so periods are at most half as long as their \
                 series"
                    .to_owned(),
            );
        }
        (self.later > 0).then(|| match self.later {
            1 => "1 labelled row is later than the test table and in no period".to_owned(),
            later => format!("{later} labelled rows are later than the test table and in no period"),
        })
    }

    /// The period that ends with the last labelled row, if one is left to validate before it.
    ///
    /// # Errors
    /// Why there is none, in one sentence.
    pub(crate) fn held_out(&self) -> Result<Bounds, String> {
        self.last().map(|stretch| self.bounds(stretch)).ok_or_else(|| {
            if self.own.is_some() {
                return "the series are too short for a held-out period beside a validated one".to_owned();
            }
            format!(
                "the training time is too short for a held-out period of {} beside a validated one",
                self.length()
            )
        })
    }

    /// The periods that are validated, the earliest first. Beside a held-out period, they are earlier.
    pub(crate) fn folds(&self, beside_held_out: bool) -> Vec<Bounds> {
        self.stretches(beside_held_out).into_iter().map(|stretch| self.bounds(stretch)).collect()
    }

    /// The time of a row of the training table; `None` if it has none.
    pub(crate) fn time(&self, row: u64) -> Option<f64> {
        self.rows.of(row)
    }

    /// Whether a row is too late for models of a period with these bounds.
    pub(crate) fn is_too_late(&self, row: u64, bounds: &Bounds) -> bool {
        let is_between = self.own.as_ref().is_some_and(|own| own.is_between(row));
        is_between || self.time(row).is_some_and(|time| time > bounds.learn)
    }

    /// Whether a row of the training table has labels.
    pub(crate) fn is_labelled(&self, row: u64) -> bool {
        self.rows.labelled.contains(row)
    }

    /// The number of labelled rows with a time.
    pub(crate) fn labelled(&self) -> u64 {
        self.times.len() as u64
    }

    /// The periods for people, with the number of held-out rows if the last period is held out.
    ///
    /// # Errors
    /// The training table cannot be read.
    pub fn periods(&self, profile: &Profile, held_out: Option<u64>) -> io::Result<Periods> {
        let folds = self.stretches(held_out.is_some());
        let last = self.last().filter(|_| held_out.is_some());
        let all = || folds.iter().chain(&last);
        let whole = Stretch { learn: 0, from: 0, to: self.times.len() };
        let learnt = all().map(|stretch| self.bounds(*stretch).learn).filter(|_| self.own.is_none());
        let moments = |stretch: &Stretch| self.moments(*stretch);
        let ends = all().chain([&whole]).flat_map(moments).chain(learnt).collect::<Vec<f64>>();
        let column = self.by.column.as_deref().unwrap_or_default();
        let texts = texts(profile.tables.train()?, column, self.clock, &ends)?;
        let told = |stretch: &Stretch| {
            let [from, to] = self.moments(*stretch);
            let told = period(&texts, from, to);
            let at = self.own.as_ref().map_or(told.at, |own| own.at(self.ends(*stretch)));
            Period { rows: (stretch.to - stretch.from) as u64, at, ..told }
        };
        let scored = self.left_out.iter().filter(|_| held_out.is_some()).flat_map(|left| &left.scored);
        let scored = scored.map(Some).chain(iter::repeat(None));
        let fold = |(fold, scored): (&Stretch, Option<&u64>)| {
            let told = told(fold);
            Period { rows: scored.copied().unwrap_or(told.rows), ..told }
        };
        let gap = self.gap();
        let gap_size = if gap > 0.0 { self.gap_in_column(gap, all(), &texts) } else { 0.0 };
        Ok(Periods {
            train: told(&whole),
            test: self.test.clone(),
            held_out: last.as_ref().zip(held_out).map(|(last, rows)| Period { rows, ..told(last) }),
            folds: folds.iter().zip(scored).map(fold).collect(),
            length: self.length(),
            gap: if gap > 0.0 { self.words(gap) } else { String::new() },
            gap_size,
            new_series: None,
        })
    }

    /// A gap in the unit of the column. Numbers that are written dates have none: there it is the largest difference.
    fn gap_in_column<'a>(
        &self,
        gap: f64,
        periods: impl Iterator<Item = &'a Stretch>,
        texts: &HashMap<u64, String>,
    ) -> f64 {
        if matches!(self.clock, Clock::Number | Clock::Date(_) | Clock::Part(_)) {
            return gap;
        }
        let number = |time: f64| texts.get(&time.to_bits()).and_then(|text| text.parse::<f64>().ok());
        let difference = |stretch: &Stretch| {
            let Bounds { learn, from, .. } = self.bounds(*stretch);
            Some(number(from)? - number(learn)? - 0.5)
        };
        periods.filter_map(difference).fold(0.0, f64::max)
    }

    fn length(&self) -> String {
        match &self.own {
            Some(own) => own.length.clone(),
            None => self.words(self.shape.length()),
        }
    }

    fn gap(&self) -> f64 {
        self.own.as_ref().map_or_else(|| self.shape.gap_beyond_step(), |own| own.gap)
    }

    fn words(&self, size: f64) -> String {
        let step = self.own.as_ref().map_or(self.shape.step, |own| own.step);
        words::size(self.clock, self.by.column.as_deref().unwrap_or_default(), step, size)
    }

    /// The first and the last time of the rows of a stretch.
    fn moments(&self, stretch: Stretch) -> [f64; 2] {
        let ends = self.ends(stretch);
        self.own.as_ref().map_or(ends, |own| own.span(ends))
    }

    /// The period that ends with the last labelled row, if another one is left before it.
    fn last(&self) -> Option<Stretch> {
        let last = self.shape.before(self.ordered())?;
        (!self.shape.folds(&self.ordered()[..last.learn]).is_empty()).then_some(last)
    }

    fn stretches(&self, beside_held_out: bool) -> Vec<Stretch> {
        let end = match self.last().filter(|_| beside_held_out) {
            Some(held_out) => held_out.learn,
            None => self.times.len(),
        };
        self.shape.folds(&self.ordered()[..end])
    }

    /// The times of the labelled rows as periods count them.
    fn ordered(&self) -> &[f64] {
        if self.days.is_empty() { &self.times } else { &self.days }
    }

    fn bounds(&self, stretch: Stretch) -> Bounds {
        let [from, to] = self.ends(stretch);
        Bounds { learn: self.times[stretch.learn - 1], from, to }
    }

    fn ends(&self, stretch: Stretch) -> [f64; 2] {
        [self.times[stretch.from], self.times[stretch.to - 1]]
    }
}

/// The beginning of the day of a date.
fn day(time: f64) -> f64 {
    (time / DAY).floor() * DAY
}

/// The last day of a test table. One with less than a quarter of the usual rows, such as the first hour after midnight, does not
/// count.
fn last_day(times: &[f64], first: f64, end: f64) -> f64 {
    let days = (day(end) - day(first)) / DAY + 1.0;
    let on_last = times.iter().filter(|time| **time >= day(end)).count();
    let is_short = (on_last * 4) as f64 * days < times.len() as f64;
    if is_short { day(end) - DAY } else { day(end) }
}

/// The first and the last time of the test table. If nearly all of its rows are later than the training rows, those few that
/// are not do not count.
fn span(times: &[f64], last: f64) -> Option<(f64, f64)> {
    let later = times.iter().filter(|time| **time > last).count();
    let counts = |time: &&f64| later * 100 < times.len() * 99 || **time > last;
    let counted = times.iter().filter(counts).copied();
    counted.fold(None, |span, time| {
        let (first, end) = span.unwrap_or((time, time));
        Some((time.min(first), time.max(end)))
    })
}

/// The times of the rows of a test table that have one, or those of the first rows of their groups.
fn test_times(test: &Table, by: &Parts, clock: Clock) -> io::Result<Vec<f64>> {
    let group = by.groups.as_deref().and_then(|group| test.find(group));
    let columns: Vec<usize> =
        by.column.as_deref().and_then(|column| test.find(column)).into_iter().chain(group).collect();
    let (mut times, mut firsts) = (Vec::new(), HashMap::<u64, f64>::new());
    test.each(&columns, |row| {
        if let Some(time) = row.value(0).and_then(|time| clock.read(time)) {
            match group.and_then(|_| row.value(1)) {
                Some(group) => {
                    let first = firsts.entry(digest(group)).or_insert(time);
                    *first = time.min(*first);
                }
                None => times.push(time),
            }
        }
        true
    })?;
    times.extend(firsts.into_values());
    Ok(times)
}

/// The texts of these times in a column.
fn texts(table: &Table, column: &str, clock: Clock, times: &[f64]) -> io::Result<HashMap<u64, String>> {
    let mut open: Vec<u64> = times.iter().map(|time| time.to_bits()).collect();
    let mut texts = HashMap::new();
    table.each(&[table.position(column)?], |row| {
        if let Some(text) = row.value(0)
            && let Some(time) = clock.read(text).map(f64::to_bits)
            && open.contains(&time)
        {
            texts.insert(time, text.to_owned());
            open.retain(|other| *other != time);
        }
        !open.is_empty()
    })?;
    Ok(texts)
}

fn period(texts: &HashMap<u64, String>, from: f64, to: f64) -> Period {
    let text = |time: f64| texts.get(&time.to_bits()).cloned().unwrap_or_default();
    Period { from: text(from), to: text(to), at: [from, to], rows: 0 }
}
