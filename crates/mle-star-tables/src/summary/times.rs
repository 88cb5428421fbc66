//! What the training rows tell about time, where the test rows are later: the series, their step and gaps, how strong week and
//! year are, how the level moves from period to period, and what is known of later rows.
//!
//! Only training rows of the search are looked at. In a large table, whole series are left out, or stretches of rows if there are no
//! series.

mod drift;
mod known;
mod season;
mod size;

use std::collections::{HashMap, HashSet};
use std::io;

use super::relations::positive;
use super::tables::Sample;
use super::target::{Labels, Meaning};
use super::{Asked, section, words};
use crate::profile::Profile;
use crate::records::digest;
use crate::series;
use crate::split::times::{Clock, clock, written_dates};
use crate::table::Row;
use size::size;

/// About so many rows are looked at; more or fewer if series are long.
const ROWS: u64 = 300_000;
/// Rows without series are looked at or left out in stretches of this length, so that neighbours stay neighbours.
const STRETCH: u64 = 1_000;
/// A test table without a known period counts as long as this part of the training time.
const OF_TIME: f64 = 8.0;

/// A labelled row.
#[derive(Clone, Copy, Debug)]
struct Moment {
    /// The number of its series, from 0.
    series: usize,
    at: f64,
    /// The number to predict; for a class, whether it is the one that is told.
    value: f64,
}

/// The rows of a table with times, by series and time.
struct Course {
    column: String,
    clock: Clock,
    /// The columns that name the series; none if there are none.
    names: Vec<String>,
    /// Those that are looked at.
    moments: Vec<Moment>,
    /// All series, whether they are looked at or not.
    series: usize,
    /// Rows that have a time and a label, whether they are looked at or not.
    rows: u64,
    /// The usual difference of times of a series.
    step: f64,
    /// How long the test table is.
    period: f64,
}

/// The facts about time in a section with at most `room` characters; empty if the test rows are not later.
///
/// # Errors
/// A table cannot be read.
pub(super) fn times(
    asked: &Asked<'_>,
    profile: &Profile,
    labels: Option<&Labels>,
    room: usize,
) -> io::Result<String> {
    let Some(column) = asked.later_in() else { return Ok(String::new()) };
    let Some((labels, meaning)) = labels.and_then(|labels| Some((labels, labels.meaning()?))) else {
        return Ok(String::new());
    };
    let Some(course) = Course::read(asked, profile, column, (labels.column(), &meaning))? else {
        return Ok(String::new());
    };
    let target = match &meaning {
        Meaning::Classes(classes) if classes.len() == 2 => {
            format!(
                "the share of {} = {}",
                words::name(labels.column()),
                words::value(&classes[positive(classes)])
            )
        }
        Meaning::Classes(_) => String::new(),
        Meaning::Number => words::name(labels.column()),
    };
    let mut lines = course.told();
    if !target.is_empty() {
        lines.extend(season::line(&course, &target));
        lines.extend(drift::line(&course, &target));
    }
    lines.extend(known::lines(asked, profile, &course)?);
    Ok(section("Time", &lines, room))
}

/// Which rows of a table are looked at: those of some series, or stretches of rows.
struct Part {
    sample: Sample,
    by_series: bool,
    /// The first series, which is always looked at.
    first: Option<u64>,
}

impl Part {
    /// About [`ROWS`] of `rows` rows.
    fn of(rows: u64, by_series: bool) -> Self {
        Self { sample: Sample::of(rows, ROWS), by_series, first: None }
    }

    /// Whether a row is looked at, by its number among all and its series.
    fn has(&mut self, row: u64, series: u64) -> bool {
        match self.by_series {
            true => *self.first.get_or_insert(series) == series || self.sample.has(series),
            false => self.sample.has(row / STRETCH),
        }
    }
}

/// The series of a row, whose name is in the cells from `first` on: a digest.
fn series_of(row: Row<'_>, first: usize, count: usize) -> u64 {
    digest(&(first..first + count).map(|at| row.value(at)).collect::<Vec<_>>())
}

impl Course {
    /// The rows with a time and a label; `None` if there are too few, or if times have no order.
    fn read(
        asked: &Asked<'_>,
        profile: &Profile,
        column: &str,
        (target, meaning): (&str, &Meaning),
    ) -> io::Result<Option<Self>> {
        let Some(clock) = clock(profile, column)? else { return Ok(None) };
        let clock = written_dates(profile, column)?.unwrap_or(clock);
        let targets = asked.targets(profile);
        let taken = |name: &str| Some(name) == asked.id || targets.iter().any(|target| target.name == name);
        let names = series::columns(profile, column, taken);
        let train = profile.tables.train()?;
        let all = [column, target].into_iter().chain(names.iter().map(String::as_str));
        let columns = train.positions(all)?;
        let mut part = Part::of(train.rows(), !names.is_empty());
        let (mut numbers, mut all_series) = (HashMap::<u64, usize>::new(), HashSet::new());
        let (mut moments, mut rows) = (Vec::new(), 0);
        train.each(&columns, |row| {
            let at = || row.value(0).and_then(|text| clock.read(text));
            let value = || row.value(1).and_then(|label| number_of(label, meaning));
            if let (Some(value), Some(at)) = (value(), at()) {
                let key = series_of(row, 2, names.len());
                all_series.insert(key);
                if part.has(rows, key) {
                    let next = numbers.len();
                    moments.push(Moment { series: *numbers.entry(key).or_insert(next), at, value });
                }
                rows += 1;
            }
            true
        })?;
        moments.sort_by(|a, b| a.series.cmp(&b.series).then(a.at.total_cmp(&b.at)));
        let Some(step) = step(&moments) else { return Ok(None) };
        let span = last(&moments) - first(&moments) + step;
        let period = asked.period.map_or(span / OF_TIME, |[from, to]| to - from + step);
        let (column, series) = (column.to_owned(), all_series.len());
        Ok(Some(Self { column, clock, names, moments, series, rows, step, period }))
    }

    /// The rows of each series.
    fn each(&self) -> impl Iterator<Item = &[Moment]> {
        self.moments.chunk_by(|a, b| a.series == b.series)
    }

    fn last(&self) -> f64 {
        last(&self.moments)
    }

    fn span(&self) -> f64 {
        self.last() - first(&self.moments) + self.step
    }

    /// A length of time in words.
    fn words(&self, length: f64) -> String {
        size(self.clock, &self.column, self.step, length)
    }

    /// Whether times are dates.
    fn has_dates(&self) -> bool {
        self.clock != Clock::Number
    }

    /// The series and their step.
    fn told(&self) -> Vec<String> {
        let step = self.words(self.step);
        if self.names.is_empty() {
            let (times, looked) = self.times_of_one();
            let sampled = match looked as u64 {
                looked if looked < self.rows => {
                    format!(" (all that follows: of {} of them)", words::count(looked))
                }
                _ => String::new(),
            };
            return vec![format!(
                "- No columns name series: {} rows{sampled} at {} different times over {}, usually {step} apart",
                words::count(self.rows),
                words::count(times as u64),
                self.words(self.span())
            )];
        }
        let mut rows: Vec<usize> = self.each().map(<[Moment]>::len).collect();
        rows.sort_unstable();
        let (least, middle, most) = (rows[0], rows[rows.len() / 2], rows[rows.len() - 1]);
        let names: Vec<String> = self.names.iter().map(|name| words::name(name)).collect();
        let looked = self.moments.len() as u64;
        let sampled = if looked < self.rows { " (all that follows: of a sample of the series)" } else { "" };
        let size = match least == most {
            true => format!("{} rows each", words::count(most as u64)),
            false => format!(
                "{} rows each in the median ({} to {})",
                words::count(middle as u64),
                words::count(least as u64),
                words::count(most as u64)
            ),
        };
        let mut lines = vec![format!(
            "- {} series by {}{sampled}: {size}, a step of {step}; {}",
            words::count(self.series as u64),
            names.join(" and "),
            self.gaps()
        )];
        lines.extend(self.ends());
        lines
    }

    /// The number of different times, and of rows, of rows without series.
    fn times_of_one(&self) -> (usize, usize) {
        let times = self.moments.chunk_by(|a, b| a.at.total_cmp(&b.at).is_eq()).count();
        (times, self.moments.len())
    }

    /// Steps without a row between the first and the last row of a series.
    fn gaps(&self) -> String {
        let (mut steps, mut gaps, mut with) = (0.0, 0.0, 0_usize);
        for rows in self.each() {
            let of_series: f64 = rows
                .windows(2)
                .map(|pair| ((pair[1].at - pair[0].at) / self.step).round())
                .filter(|steps| *steps > 1.0)
                .map(|steps| steps - 1.0)
                .sum();
            let span = rows[rows.len() - 1].at - rows[0].at;
            (steps, gaps) = (steps + (span / self.step).round() + 1.0, gaps + of_series);
            with += usize::from(of_series > 0.0);
        }
        if gaps == 0.0 {
            return "no gaps".to_owned();
        }
        let share = words::percent(gaps / steps);
        format!("gaps in {} of them, {share} of all steps", words::count(with as u64))
    }

    /// The series that begin later or end earlier than others.
    fn ends(&self) -> Option<String> {
        let (first, last) = (first(&self.moments), self.last());
        let count = |is: &dyn Fn(&[Moment]) -> bool| self.each().filter(|rows| is(rows)).count();
        let late = count(&|rows| rows[0].at > first + self.step / 2.0);
        let early = count(&|rows| rows[rows.len() - 1].at < last - self.step / 2.0);
        (late + early > 0).then(|| {
            let [late, early] = [late, early].map(|count| words::count(count as u64));
            format!(
                "- Series that begin later than the first: {late}; that end earlier than the last: {early}"
            )
        })
    }
}

/// The number that a label stands for.
fn number_of(label: &str, meaning: &Meaning) -> Option<f64> {
    match meaning {
        Meaning::Number => label.parse().ok().filter(|number: &f64| number.is_finite()),
        Meaning::Classes(classes) => {
            let class = classes.iter().position(|class| class == label)?;
            Some(f64::from(u8::from(class == positive(classes))))
        }
    }
}

/// The median difference between times of a series; `None` without one.
fn step(moments: &[Moment]) -> Option<f64> {
    let pairs = moments.windows(2).filter(|pair| pair[0].series == pair[1].series);
    let mut steps: Vec<f64> = pairs.map(|pair| pair[1].at - pair[0].at).filter(|step| *step > 0.0).collect();
    steps.sort_unstable_by(f64::total_cmp);
    steps.get(steps.len() / 2).copied()
}

fn first(moments: &[Moment]) -> f64 {
    moments.iter().map(|moment| moment.at).fold(f64::INFINITY, f64::min)
}

fn last(moments: &[Moment]) -> f64 {
    moments.iter().map(|moment| moment.at).fold(f64::NEG_INFINITY, f64::max)
}
