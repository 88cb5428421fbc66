//! Finds series of the test table that the training table does not have, such as new products, although earlier periods have
//! few of them.
//!
//! [`find`] compares the share of such rows with that of earlier periods: where new series come all the time, earlier periods have
//! as many. [`leave_out`] makes the periods of the search like the test table.

use std::io;

use mle_star_domain::protocol::NewSeries;

use super::column_names::{says_code, says_key};
use super::keys::names_things;
use super::periods::Timeline;
use super::periods::left_out::Series;
use super::profile::{ColumnKind, Profile};
use super::seeded::Seeded;
use super::series;
use super::unseen::{Unseen, columns, unseen};

/// With a smaller share of the test rows, new series matter little.
const SMALLEST: f64 = 0.03;
/// A share is clearly larger than an earlier one if it exceeds it by this difference, and by this factor.
const BY: f64 = 0.02;
const FACTOR: f64 = 1.5;
/// A share counts as large as the largest one if it is at least this part of it.
const AS_LARGE: f64 = 0.9;
/// With fewer series, too few are known once some are left out.
const FEWEST_SERIES: usize = 10;

/// Columns that may name series together, with what is known of them.
struct Candidate {
    columns: Vec<String>,
    /// Whether the values name things: texts, or numbers in a column whose name says so.
    is_name: bool,
    /// The number of series in the training table.
    series: usize,
    /// The share of the test rows whose series are new, from 0 to 1.
    test: f64,
}

/// The columns whose series are new in clearly more rows of the test table than in earlier periods; `None` if there are none.
/// `taken` columns have another role; what the user named for groups goes first.
///
/// # Errors
/// A table cannot be read.
pub fn find(
    profile: &Profile,
    timeline: &Timeline,
    named: Option<&str>,
    taken: impl Fn(&str) -> bool,
) -> io::Result<Option<NewSeries>> {
    let mut found = candidates(profile, timeline.column(), &taken)?;
    if found.is_empty() {
        found = together(profile, timeline.column(), &taken)?;
    }
    let largest = found.iter().map(|candidate| candidate.test).fold(0.0, f64::max);
    found.retain(|candidate| candidate.test >= AS_LARGE * largest);
    // Rows of a product are rows of its brand, so the column with the fewest series is the widest.
    found.sort_by_key(|one| {
        let is_named = named == one.columns.first().map(String::as_str);
        (!is_named, one.series < FEWEST_SERIES, !one.is_name, one.series)
    });
    for Candidate { columns, series, test, .. } in found {
        let before = timeline.share_of_new(&numbers(profile, &columns, 0)?);
        if test >= before + BY && test >= before * FACTOR {
            let why = match series < FEWEST_SERIES {
                true => {
                    format!(
                        "training rows have only {series} of them; {FEWEST_SERIES} are needed to leave some out"
                    )
                }
                false => String::new(),
            };
            return Ok(Some(NewSeries { columns, test, before, search: None, why }));
        }
    }
    Ok(None)
}

/// Leaves series out of the history of the held-out period and of those before it, so that about as many of their rows are of
/// new series as in the test table. Returns what was found with the share that they then have.
///
/// # Errors
/// The training table cannot be read.
pub fn leave_out(
    profile: &Profile,
    timeline: &mut Timeline,
    found: &NewSeries,
    seed: u64,
) -> io::Result<NewSeries> {
    let search = timeline.leave_out(&numbers(profile, &found.columns, seed)?, found.test);
    Ok(NewSeries { search: Some(search), why: String::new(), ..found.clone() })
}

/// The series of all training rows, as numbers that depend on the seed.
fn numbers(profile: &Profile, columns: &[String], seed: u64) -> io::Result<Series> {
    let train = profile.tables.train()?;
    let positions = train.positions(columns.iter().map(String::as_str))?;
    let seeded = Seeded::new(seed, "series");
    let (mut series, mut text) = (Vec::new(), String::new());
    train.each(&positions, |row| {
        text.clear();
        let is_whole = (0..columns.len()).all(|at| {
            let value = row.value(at);
            text.extend(value);
            text.push('\0');
            value.is_some()
        });
        series.push(is_whole.then(|| seeded.of(text.as_bytes())));
        true
    })?;
    Ok(series)
}

/// Single columns of both tables that name series, of which the test table has new ones.
fn candidates(profile: &Profile, time: &str, taken: impl Fn(&str) -> bool) -> io::Result<Vec<Candidate>> {
    let Some(test) = &profile.tables.test else { return Ok(Vec::new()) };
    let columns = columns(profile, |name| name == time || taken(name));
    let sets: Vec<Vec<&str>> = columns.iter().map(|column| vec![column.name.as_str()]).collect();
    let mut found = Vec::new();
    for (column, Unseen { share, known, .. }) in
        columns.into_iter().zip(unseen(profile.tables.train()?, test, &sets)?)
    {
        let is_name = says_code(&column.name)
            || names_things(column, profile.train.rows)
            || column.kind == ColumnKind::Category && known >= FEWEST_SERIES;
        if share >= SMALLEST && (is_name || series::names_series(profile, time, &column.name)?) {
            found.push(Candidate { columns: vec![column.name.clone()], is_name, series: known, test: share });
        }
    }
    Ok(found)
}

/// Columns that name series together, of which the test table has new ones.
fn together(profile: &Profile, time: &str, taken: impl Fn(&str) -> bool) -> io::Result<Vec<Candidate>> {
    let Some(test) = &profile.tables.test else { return Ok(Vec::new()) };
    let columns = series::columns(profile, time, taken);
    let set: Vec<&str> = columns.iter().map(String::as_str).collect();
    let found = if set.len() > 1 { unseen(profile.tables.train()?, test, &[set])? } else { Vec::new() };
    let candidate = |Unseen { share, known, .. }: Unseen| Candidate {
        is_name: columns.iter().all(|name| says_key(name)),
        columns: columns.clone(),
        series: known,
        test: share,
    };
    Ok(found.into_iter().map(candidate).filter(|candidate| candidate.test >= SMALLEST).collect())
}
