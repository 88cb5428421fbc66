//! What may tell the test rows from the training rows, although the program does not split by it.

use std::io;

use super::groups;
use super::known::{Known, candidates, is_taken, name};
use super::new_groups;
use super::times::{self, Course};
use crate::column_names::has_part;
use crate::profile::{Column, ColumnKind, Profile, Table};

/// The parts of a date that columns of numbers may have, with their least and their largest number.
const PARTS: [(&str, f64, f64); 3] = [("year", 1_600.0, 2_199.0), ("month", 1.0, 12.0), ("day", 1.0, 31.0)];

/// Fewer times, or fewer rows of each, may be others by chance.
const FEWEST_TIMES: usize = 5;
const FEWEST_ROWS: usize = 3;

/// What may tell the rows of both tables apart, in one sentence with the option that decides; `None` if nothing does.
pub(super) fn sentence(profile: &Profile, known: &Known<'_>) -> Option<String> {
    let test = profile.test.as_ref()?;
    // A table that can no longer be read tells nothing.
    let courses = times::candidate_courses(profile, &candidates(profile, known)).ok()?;
    let files = (&name(&profile.train)[..], &name(test)[..]);
    let earlier = || courses.iter().find_map(|course| course.earlier(files));
    earlier()
        .or_else(|| other_values(profile, known, files))
        .or_else(|| later_dates(profile, test, files).ok().flatten())
        .or_else(|| other_times(profile, test, &courses))
        .or_else(|| new_groups(profile, known, files))
}

/// A column with other values in the test table.
fn other_values(profile: &Profile, known: &Known<'_>, (train, test): (&str, &str)) -> Option<String> {
    let found = groups::others(profile, |column| is_taken(profile, known, column));
    let column = &found.first()?.column;
    Some(format!(
        "at most 1 in 100 rows of {test} has a value of `{column}` that is in {train}, but whether `{column}` counts time or names \
         groups is unknown: name it with --time-column or --group-column"
    ))
}

/// A column of times whose values are others in the test table, but lie between those of the training table.
fn other_times(profile: &Profile, test: &Table, courses: &[Course]) -> Option<String> {
    let (train, file) = (&profile.train, name(test));
    let is_other = |course: &&Course| {
        let (column, twin) = (train.column(&course.column), test.column(&course.column));
        let (Some(column), Some(twin)) = (column, twin) else { return false };
        let repeats = column.distinct * FEWEST_ROWS <= train.rows && twin.distinct * FEWEST_ROWS <= test.rows;
        repeats && twin.distinct >= FEWEST_TIMES && twin.sketch.share_in(&column.sketch) == Some(0.0)
    };
    let column = &courses.iter().find(is_other)?.column;
    Some(format!(
        "no value of `{column}` in {file} is in {}: to validate on later rows, name it with --time-column, to validate on other \
         values, with --group-column",
        name(train)
    ))
}

/// A column that names groups, of which some test rows have other ones.
fn new_groups(profile: &Profile, known: &Known<'_>, (train, test): (&str, &str)) -> Option<String> {
    let found = new_groups::find(profile, known)?;
    Some(format!("{}: to validate on other values, name it with --group-column", found.words(train, test)))
}

/// Columns of numbers that are later dates together.
fn later_dates(profile: &Profile, test: &Table, (_, file): (&str, &str)) -> io::Result<Option<String>> {
    let part = |(word, least, largest): &(&str, f64, f64)| {
        let fits = |column: &&Column| {
            let within = column.range.is_some_and(|(low, high)| low >= *least && high <= *largest);
            column.kind == ColumnKind::Integer && within && has_part(&column.name, word)
        };
        let column = profile.train.columns.iter().find(fits)?;
        test.column(&column.name).filter(fits).map(|column| column.name.as_str())
    };
    let names: Vec<&str> = PARTS.iter().map_while(part).collect();
    if names.len() < 2 {
        return Ok(None);
    }
    let mut ranges = [(f64::INFINITY, f64::NEG_INFINITY); 2];
    for (table, range) in [profile.tables.train()?, profile.tables.test()?].into_iter().zip(&mut ranges) {
        table.each(&table.positions(names.iter().copied())?, |row| {
            let parts: Option<Vec<f64>> =
                (0..names.len()).map(|at| row.value(at).and_then(|part| part.parse().ok())).collect();
            if let Some(at) = parts.map(|parts| parts.iter().fold(0.0, |all, part| all * 100.0 + part)) {
                *range = (range.0.min(at), range.1.max(at));
            }
            true
        })?;
    }
    let columns = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" and ");
    Ok((ranges[1].0 > ranges[0].1 && ranges[1].0.is_finite()).then(|| {
        format!(
            "the rows of {file} are later by {columns} together: write them in one column, such as 2024-01, and name it with \
             --time-column"
        )
    }))
}

#[cfg(test)]
mod tests {
    use crate::split::tests::{Cells, KNOWN, of};
    use mle_star_domain::protocol::SplitKind;

    #[test]
    fn what_may_tell_rows_apart_is_told() {
        let check = |header: &str, train: Cells, test: Cells, expected: &str| {
            let found = of(header, [train, test], &KNOWN);
            assert_eq!((found.kind, found.column), (SplitKind::Stratified, None), "{}", found.why);
            assert!(found.why.starts_with(expected), "{}", found.why);
        };
        let earlier = "the rows of test.csv are earlier: `year` ends with 1998 there and begins with 2000";
        check("year", |id| (2000 + id % 9).to_string(), |id| (1990 + id % 9).to_string(), earlier);
        let apart: Cells = |id| format!("{},{},{}", id % 7, 2020 + id / 36, id / 3 % 12 + 1);
        let later = "the rows of test.csv are later by `Year` and `sale_month` together";
        check("x,Year,sale_month", apart, apart, later);
    }
}
