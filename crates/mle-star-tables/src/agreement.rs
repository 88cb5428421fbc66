//! Checks that the test table and the sample submission have the same rows.

use std::io;

use mle_star_domain::trouble::Trouble;

use super::profile::Profile;
use super::records::digest;
use super::table::{Row, Table};

const HINT: &str = "check that both files belong to the same data set";

/// Checks that test and sample have the same number of rows, and the same IDs if both have an ID column.
///
/// # Errors
/// They differ. The message gives the counts or the first ID that only one of them has.
pub fn check(profile: &Profile, id: Option<&str>) -> Result<(), Trouble> {
    let (Some(test), Some(sample)) = (&profile.test, &profile.sample) else { return Ok(()) };
    let (test_name, sample_name) = (test.file.display(), sample.file.display());
    if test.rows != sample.rows {
        let message = format!(
            "{sample_name} has {} rows and {test_name} has {}: they disagree",
            sample.rows, test.rows
        );
        return Err(Trouble::new(message, HINT));
    }
    let Some(id) = id.filter(|id| test.column(id).is_some() && sample.column(id).is_some()) else {
        return Ok(());
    };
    let (Some(in_test), Some(in_sample)) = (&profile.tables.test, &profile.tables.sample) else {
        return Ok(());
    };
    let failed = |error: io::Error| Trouble::new(format!("cannot read the tables: {error}"), HINT);
    let [of_test, of_sample] = [in_test, in_sample].map(|table| ids(table, id));
    let (of_test, of_sample) = (of_test.map_err(failed)?, of_sample.map_err(failed)?);
    let sides = [(in_sample, &of_test, &sample_name), (in_test, &of_sample, &test_name)];
    for (table, known, name) in sides.into_iter().filter(|_| of_test != of_sample) {
        if let Some(only) = only_in(table, known, id).map_err(failed)? {
            let message = format!("{sample_name} and {test_name} disagree: {id} {only} is only in {name}");
            return Err(Trouble::new(message, HINT));
        }
    }
    Ok(())
}

/// The digests of all IDs, in ascending order.
fn ids(table: &Table, id: &str) -> io::Result<Vec<u64>> {
    table.digests(id, |row| digest(text(row)))
}

/// The ID: `1.0` is `1`, as where rows are held out.
fn text(row: Row<'_>) -> &str {
    row.value(0).unwrap_or_default()
}

/// The first ID of a table in the order of texts that is not known.
fn only_in(table: &Table, known: &[u64], id: &str) -> io::Result<Option<String>> {
    let mut only: Option<String> = None;
    table.each(&[table.position(id)?], |row| {
        let id = text(row);
        if known.binary_search(&digest(id)).is_err() && only.as_deref().is_none_or(|only| id < only) {
            only = Some(id.to_owned());
        }
        true
    })?;
    Ok(only)
}
