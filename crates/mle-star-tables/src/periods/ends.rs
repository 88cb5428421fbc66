//! Periods of series that each end at a time of their own: the last stretch of each series, the stretch before it, and so on.
//!
//! A stretch of a series is like its test rows: as many times, or as long, and after the same gap. Where test rows of a series lie
//! between its training rows, as many are drawn from these instead. Rows have a place instead of a time:
//! 0 in the last stretches, -1 in those before, and so on. So the same rules choose periods as where series end together.

use std::collections::HashMap;
use std::io;

use super::shape::MOST_FOLDS;
use super::words;
use crate::labelled::{Labelled, Parts, RowTimes};
use crate::seeded::{RowSet, Seeded};
use crate::split::times::Clock;
use crate::table::Table;

/// The place of rows that are in no stretch, or have no series: models of all periods learn from them.
const EARLIEST: f64 = -100.0;
/// The place of rows without labels that are later than their series.
const AFTER: f64 = 0.5;
/// As many stretches are validated, beside a held-out one.
const MOST: usize = MOST_FOLDS + 1;
/// Stretches count times, unless the training rows have so many times more or fewer of them than the test rows in the same time.
const DENSER: f64 = 1.5;
/// A gap before the test rows counts if it is longer than so many times what this share of steps is below.
const LONGER: f64 = 1.5;
const USUAL_STEPS: f64 = 0.95;

/// The rows of series that each end at a time of their own.
#[derive(Clone, Debug)]
pub(super) struct OwnEnds {
    /// The places of rows with a time.
    pub(super) places: RowTimes,
    /// The first and the last time of the test rows.
    pub(super) test: [f64; 2],
    /// How long the test stretches are, in words.
    pub(super) length: String,
    /// The gap beyond the usual step.
    pub(super) gap: f64,
    /// The usual step.
    pub(super) step: f64,
    /// Most series are too short for stretches as long as their test rows, so stretches are at most half as long as their series.
    pub(super) shortened: bool,
    /// The times of rows; not a number if they have none.
    times: Vec<f64>,
    /// The rows in the gap before the last stretches.
    between: RowSet,
}

/// A series of both tables, or of the training table alone.
#[derive(Debug, Default)]
struct Series {
    /// The times of labelled rows, each once, in ascending order.
    known: Vec<f64>,
    /// The later times of the test table, each once, in ascending order.
    asked: Vec<f64>,
    /// The other times of the test table, each once, in ascending order.
    within: Vec<f64>,
    /// The last one comes first.
    stretches: Vec<Stretch>,
    /// The numbers of times that are drawn like those between labelled ones, those for the last place first.
    drawn: Vec<usize>,
    /// How many are drawn for a place.
    each: usize,
}

/// The times of a stretch by their numbers.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    /// The number of times that models learn from.
    learn: usize,
    from: usize,
    to: usize,
}

/// What stretches have in common.
#[derive(Clone, Copy, Debug)]
struct Rule {
    /// They are as long as the test rows, rather than have as many times.
    by_length: bool,
    gap: f64,
    step: f64,
    /// They are at most half as long as their series.
    shortened: bool,
}

impl OwnEnds {
    /// Reads the series that these columns name.
    ///
    /// # Errors
    /// A table cannot be read.
    pub(super) fn read(
        labelled: &Labelled<'_>,
        test: &Table,
        (time, clock): (&str, Clock),
        series: &[String],
    ) -> io::Result<Option<Self>> {
        let by = Parts { column: Some(time.to_owned()), groups: None };
        let mut rows = labelled.times(&by, clock)?;
        let names = keys(labelled.train, (time, clock), series)?.0;
        let (asked_names, asked) = keys(test, (time, clock), series)?;
        let mut all: HashMap<u64, Series> = HashMap::new();
        for (row, (name, at)) in (0..).zip(names.iter().zip(&rows.rows)) {
            if let Some(name) = name.filter(|_| rows.labelled.contains(row) && !at.is_nan()) {
                all.entry(name).or_default().known.push(*at);
            }
        }
        all.values_mut().for_each(|series| in_order(&mut series.known));
        for (name, at) in asked_names.iter().zip(&asked) {
            let series = name.filter(|_| !at.is_nan()).and_then(|name| all.get_mut(&name));
            if let Some(series) = series {
                let is_later = series.known.last().is_some_and(|last| at > last);
                if is_later { &mut series.asked } else { &mut series.within }.push(*at);
            }
        }
        all.values_mut().for_each(|series| {
            in_order(&mut series.asked);
            in_order(&mut series.within);
        });
        let ends = asked.iter().copied().filter(|at| !at.is_nan());
        let test = [ends.clone().fold(f64::INFINITY, f64::min), ends.fold(f64::NEG_INFINITY, f64::max)];
        let Some((rule, deepest)) = rule(&mut all) else { return Ok(None) };
        let length = length(&all, rule.step, (time, clock));
        let mut between = RowSet::default();
        let times = rows.rows.clone();
        for ((row, at), name) in (0..).zip(&mut rows.rows).zip(&names) {
            if at.is_nan() {
                continue;
            }
            let Some(series) = name.and_then(|name| all.get(&name)) else {
                *at = EARLIEST;
                continue;
            };
            if series.is_between(*at) {
                between.insert(row);
            }
            *at = series.place(*at, deepest);
        }
        Ok(Some(Self {
            places: rows,
            test,
            length,
            gap: (rule.gap - rule.step).max(0.0),
            step: rule.step,
            shortened: rule.shortened,
            times,
            between,
        }))
    }

    /// The first and the last time of the labelled rows with a place from `first` to `last`.
    pub(super) fn span(&self, [first, last]: [f64; 2]) -> [f64; 2] {
        let rows = (0..).zip(self.places.rows.iter().zip(&self.times));
        let is_within = |(row, (place, _)): &(u64, (&f64, &f64))| {
            first <= **place && **place <= last && self.places.labelled.contains(*row)
        };
        let times = rows.filter(is_within).map(|(_, (_, time))| *time);
        times.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], time| [low.min(time), high.max(time)])
    }

    /// Where rows with places from `first` to `last` are in a picture, in stretches.
    pub(super) fn at(&self, [first, last]: [f64; 2]) -> [f64; 2] {
        [self.begin(first.max(-(MOST as f64) - 1.0)), last]
    }

    /// Where a stretch with this place begins in a picture.
    pub(super) fn begin(&self, place: f64) -> f64 {
        place - if self.gap > 0.0 { 0.9 } else { 1.0 }
    }

    /// Whether a row is in the gap before the last stretch of its series.
    pub(super) fn is_between(&self, row: u64) -> bool {
        self.between.contains(row)
    }
}

/// The series and the times of a table's rows.
fn keys(
    table: &Table,
    (time, clock): (&str, Clock),
    series: &[String],
) -> io::Result<(Vec<Option<u64>>, Vec<f64>)> {
    let columns = table.positions([time].into_iter().chain(series.iter().map(String::as_str)))?;
    let names_of = Seeded::new(0, "series");
    let (mut names, mut times) = (Vec::new(), Vec::new());
    table.each(&columns, |row| {
        let values: Option<Vec<&str>> = (1..columns.len()).map(|at| row.value(at)).collect();
        names.push(values.map(|values| names_of.of(values.join("\u{1f}").as_bytes())));
        times.push(row.value(0).and_then(|text| clock.read(text)).unwrap_or(f64::NAN));
        true
    })?;
    Ok((names, times))
}

fn in_order(times: &mut Vec<f64>) {
    times.sort_unstable_by(f64::total_cmp);
    times.dedup();
}

/// Cuts all series into stretches. What these have in common, and the number of stretches that at least half of the series with a
/// stretch have; `None` if no series has one.
fn rule(all: &mut HashMap<u64, Series>) -> Option<(Rule, usize)> {
    let asked = || all.values().filter(|series| !series.asked.is_empty());
    let count = all.values().filter(|series| series.asked.len() + series.within.len() > 0).count();
    let mut steps: Vec<f64> =
        all.values().flat_map(|series| series.known.windows(2)).map(|pair| pair[1] - pair[0]).collect();
    steps.sort_unstable_by(f64::total_cmp);
    let (step, usual) = (of_share(&steps, 0.5)?, of_share(&steps, USUAL_STEPS)?);
    let gap = median(asked().filter_map(Series::gap))?;
    let gap = if gap > LONGER * usual { gap } else { 0.0 };
    let density = median(asked().filter_map(|series| series.density(step))).unwrap_or(1.0);
    let by_length = !(1.0 / DENSER..=DENSER).contains(&density);
    let mut rule = Rule { by_length, gap, step, shortened: false };
    let mut with = cut(all, rule);
    if with.first().is_none_or(|series| series * 2 < count) {
        rule.shortened = true;
        with = cut(all, rule);
    }
    let most = with.first()?;
    let deepest = with.iter().take_while(|series| **series * 2 >= *most).count();
    Some((rule, deepest))
}

/// Cuts all series; the number of series that have a first stretch, a second one, and so on.
fn cut(all: &mut HashMap<u64, Series>, rule: Rule) -> Vec<usize> {
    let mut with = vec![0; MOST];
    for (name, series) in all {
        series.cut(rule);
        series.draw(*name, rule);
        with[..series.places()].iter_mut().for_each(|count| *count += 1);
    }
    with.retain(|count| *count > 0);
    with
}

/// How long the test rows of series are, in words.
fn length(all: &HashMap<u64, Series>, step: f64, (time, clock): (&str, Clock)) -> String {
    let asked = || all.values().filter(|series| !series.asked.is_empty());
    let ends = |values: &mut dyn Iterator<Item = f64>| {
        values
            .fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], value| [low.min(value), high.max(value)])
    };
    let [shortest, longest] = ends(&mut asked().map(Series::span));
    let [fewest, most] = ends(&mut asked().map(|series| series.asked.len() as f64));
    if longest - shortest <= step / 2.0 {
        return words::size(clock, time, step, longest + step);
    }
    match fewest < most {
        true => format!("{fewest} to {most} times"),
        false => format!("{most} time{}", if most > 1.0 { "s" } else { "" }),
    }
}

/// The value below which this share of sorted ones is.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a number of values is not negative and not larger"
)]
fn of_share(sorted: &[f64], share: f64) -> Option<f64> {
    sorted.get(((sorted.len() as f64 * share) as usize).min(sorted.len().saturating_sub(1))).copied()
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    of_share(&values, 0.5)
}

impl Series {
    /// From its first to its last test time.
    fn span(&self) -> f64 {
        self.asked.last().zip(self.asked.first()).map_or(0.0, |(last, first)| last - first)
    }

    /// From its last labelled row to its first test row.
    fn gap(&self) -> Option<f64> {
        Some(self.asked.first()? - self.known.last()?)
    }

    /// How many times as many times the training rows have in a stretch as long as the test rows; `None` if nothing is so long.
    fn density(&self, step: f64) -> Option<f64> {
        let (first, last) = (self.known.first()?, self.known.last()?);
        let start = last - self.span() - step / 2.0;
        let times = self.known.len() - self.known.partition_point(|time| *time < start);
        (self.asked.len() > 1 && *first <= start).then(|| times as f64 / self.asked.len() as f64)
    }

    /// Cuts the labelled rows into stretches, as long as a quarter of them are left to learn from.
    fn cut(&mut self, rule: Rule) {
        self.stretches.clear();
        let known = &self.known;
        let (mut count, mut span, mut to) = (self.asked.len(), self.span(), known.len());
        if rule.shortened
            && let Some((first, last)) = known.first().zip(known.last())
        {
            count = count.min((to / 2).max(1));
            span = span.min((last - first) / 2.0);
        }
        while self.stretches.len() < MOST && count > 0 && to > 0 {
            let from = match rule.by_length {
                true => {
                    let start = known[to - 1] - span - rule.step / 2.0;
                    known.partition_point(|time| *time < start)
                }
                false => to.saturating_sub(count),
            };
            let learn = match rule.gap > 0.0 {
                true => known.partition_point(|time| *time < known[from] - rule.gap + rule.step / 2.0),
                false => from,
            };
            if learn == 0 || learn * 4 < known.len() {
                break;
            }
            self.stretches.push(Stretch { learn, from, to });
            to = learn;
        }
    }

    /// Draws times like those of the test table between labelled ones, from those before all stretches, as long as a quarter of
    /// them are left to learn from.
    fn draw(&mut self, name: u64, rule: Rule) {
        let before = self.stretches.last().map_or(self.known.len(), |stretch| stretch.learn);
        let mut times: Vec<usize> = (0..before).collect();
        let seeded = Seeded::new(name, "times");
        times.sort_by_key(|at| seeded.of(&self.known[*at].to_le_bytes()));
        let most = if rule.shortened { (self.known.len() / 2).max(1) } else { usize::MAX };
        self.each = self.within.len().min(most);
        let places = (before * 3 / 4).checked_div(self.each).unwrap_or(0).min(MOST);
        times.truncate(places * self.each);
        self.drawn = times;
    }

    /// The number of places that its rows have.
    fn places(&self) -> usize {
        match self.stretches.len() {
            0 => self.drawn.len().checked_div(self.each).unwrap_or(0),
            stretches => stretches,
        }
    }

    /// The place of a row with this time, if so many places count.
    fn place(&self, time: f64, deepest: usize) -> f64 {
        let at = self.known.partition_point(|known| *known < time);
        if at == self.known.len() && self.places() > 0 {
            return AFTER;
        }
        let stretch = self.stretches.iter().position(|stretch| (stretch.from..stretch.to).contains(&at));
        let drawn = || self.drawn.iter().position(|drawn| *drawn == at)?.checked_div(self.each);
        let place = stretch.or_else(drawn).filter(|place| *place < deepest);
        place.map_or(EARLIEST, |place| -(place as f64))
    }

    /// Whether a time is in the gap before the last stretch.
    fn is_between(&self, time: f64) -> bool {
        let at = self.known.partition_point(|known| *known < time);
        self.stretches.first().is_some_and(|stretch| (stretch.learn..stretch.from).contains(&at))
    }
}
