//! An ID of the sample submission that is made of two columns of the test table.

use super::words;
use crate::profile::Profile;
use crate::table::Table;

/// Rows that are looked at.
const ROWS: u64 = 20;
/// What stands between the two values.
const BETWEEN: &str = "_";

/// How the first column of the sample submission is made, if no other table has it.
pub(super) fn id(profile: &Profile) -> Option<String> {
    let (sample, test) = (profile.sample.as_ref()?, profile.test.as_ref()?);
    let id = &sample.columns.first()?.name;
    if test.column(id).is_some() || profile.train.column(id).is_some() {
        return None;
    }
    let (sample, rows) =
        (first_rows(profile.tables.sample.as_ref()?), first_rows(profile.tables.test.as_ref()?));
    let is_made_of = |one: usize, other: usize| {
        let made = |(sample, row): (&Vec<String>, &Vec<String>)| {
            let parts = sample.first()?.strip_prefix(row.get(one)?)?.strip_suffix(row.get(other)?)?;
            Some(parts == BETWEEN)
        };
        !sample.is_empty() && sample.iter().zip(&rows).all(|pair| made(pair) == Some(true))
    };
    let places = || 0..test.columns.len();
    let pairs = places().flat_map(|one| places().map(move |other| (one, other)));
    let (one, other) =
        pairs.filter(|(one, other)| one != other).find(|(one, other)| is_made_of(*one, *other))?;
    let [id, one, other] =
        [id, &test.columns[one].name, &test.columns[other].name].map(|name| words::name(name));
    Some(format!("- No table has {id}: it is {one} and {other} of the test table, joined by `{BETWEEN}`"))
}

/// The first rows of a table; none if it cannot be read.
fn first_rows(table: &Table) -> Vec<Vec<String>> {
    let read = table.picked((0..table.rows().min(ROWS)).collect(), |picked| {
        let mut texts = Vec::new();
        while let Some((_, row)) = picked.next()? {
            texts.push(row.iter().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect());
        }
        Ok(texts)
    });
    read.unwrap_or_default()
}
