//! Which columns of the test table are known in advance, and what their values depend on: the time alone, the series
//! alone, or both.

use std::collections::HashMap;
use std::io;

use super::super::columns::is_feature;
use super::super::{Asked, words};
use super::{Course, Part, series_of};
use crate::profile::{Column, ColumnKind, Profile};
use crate::records::digest;

/// The most columns that are looked at, and the most names that are listed of each kind.
const COLUMNS: usize = 40;
const NAMES: usize = 12;

/// What the values of a column depend on.
struct Moves<'a> {
    column: &'a Column,
    /// The digest of the value of each series; `None` once a series has two values.
    of_series: Option<HashMap<u64, u64>>,
    /// The same for each time.
    of_times: Option<HashMap<u64, u64>>,
}

/// A line with the columns that both tables have, by what they depend on, and one with those that only the training
/// table has.
///
/// # Errors
/// The training table cannot be read.
pub(super) fn lines(asked: &Asked<'_>, profile: &Profile, course: &Course) -> io::Result<Vec<String>> {
    let Some(test) = &profile.test else { return Ok(Vec::new()) };
    let targets = asked.targets(profile);
    let is_asked = |column: &&Column| {
        let free =
            targets.iter().all(|target| target.name != column.name) && !course.names.contains(&column.name);
        free && column.kind != ColumnKind::Empty && is_feature(asked, profile, column)
    };
    let (in_test, only): (Vec<&Column>, Vec<&Column>) =
        profile.train.columns.iter().filter(is_asked).partition(|column| test.column(&column.name).is_some());
    let moves = read(profile, course, &in_test[..in_test.len().min(COLUMNS)])?;
    let has_series = !course.names.is_empty();
    let repeats = has_series || course.times_of_one().0 < course.moments.len();
    let named = |is: &dyn Fn(&Moves<'_>) -> bool| {
        let names = moves.iter().filter(|moves| is(moves)).map(|moves| words::name(&moves.column.name));
        let names: Vec<String> = names.collect();
        (!names.is_empty()).then(|| words::list(&names, NAMES))
    };
    let is_of_time = |moves: &Moves<'_>| repeats && moves.of_times.is_some() && moves.of_series.is_none();
    let parts = [
        named(&is_of_time).map(|names| format!("{names} (one value at a time for all rows)")),
        named(&|moves| has_series && moves.of_series.is_some())
            .map(|names| format!("{names} (one value for each series)")),
        named(&|moves| !(is_of_time(moves) || has_series && moves.of_series.is_some()))
            .map(|names| if has_series { format!("{names} (by series and time)") } else { names }),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let known = (!parts.is_empty())
        .then(|| format!("- Known in advance, because the test table has them: {}", parts.join("; ")));
    let only: Vec<String> = only.iter().map(|column| words::name(&column.name)).collect();
    let unknown = (!only.is_empty())
        .then(|| format!("- Not known in advance, only in the past: {}", words::list(&only, NAMES)));
    Ok(known.into_iter().chain(unknown).collect())
}

fn read<'a>(profile: &Profile, course: &Course, columns: &[&'a Column]) -> io::Result<Vec<Moves<'a>>> {
    let mut moves: Vec<Moves<'a>> = columns
        .iter()
        .map(|column| Moves { column, of_series: Some(HashMap::new()), of_times: Some(HashMap::new()) })
        .collect();
    let train = profile.tables.train()?;
    let count = course.names.len();
    let names = [course.column.as_str()].into_iter().chain(course.names.iter().map(String::as_str));
    let positions = train.positions(names.chain(columns.iter().map(|column| column.name.as_str())))?;
    let mut part = Part::of(train.rows(), count > 0);
    train.each(&positions, |row| {
        let series = series_of(row, 1, count);
        if part.has(row.number, series)
            && let Some(time) = row.value(0)
        {
            let time = digest(&time);
            moves.iter_mut().zip(1 + count..).for_each(|(moves, at)| {
                if let Some(value) = row.value(at) {
                    moves.take(series, time, digest(&value));
                }
            });
        }
        moves.iter().any(|moves| moves.of_series.is_some() || moves.of_times.is_some())
    })?;
    Ok(moves)
}

impl Moves<'_> {
    fn take(&mut self, series: u64, time: u64, value: u64) {
        for (kept, key) in [(&mut self.of_series, series), (&mut self.of_times, time)] {
            if kept.as_mut().is_some_and(|kept| *kept.entry(key).or_insert(value) != value) {
                *kept = None;
            }
        }
    }
}
