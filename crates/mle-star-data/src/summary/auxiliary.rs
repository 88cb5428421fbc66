//! The auxiliary tables, and how they join the training and the test table.

use std::collections::HashSet;
use std::io;
use std::path::Path;

use super::tables::{Keys, TableFacts};
use super::{AUXILIARY, Asked, columns, words};
use crate::folder::{Listing, Source};
use crate::keys::{self, Key};
use crate::profile::{self, Column, Profile, Table};
use crate::records;

/// Columns of a table that are shown.
const SHOWN: usize = 12;

/// An auxiliary table that joins the others.
pub(super) struct Join {
    /// The position among the auxiliary tables.
    table: usize,
    /// The key columns of the table.
    own: Vec<String>,
    /// The same columns in the training and the test table.
    pub(super) columns: Vec<String>,
    unique: bool,
}

/// How many keys an auxiliary table has.
struct Found {
    /// Keys of the other tables that it has.
    keys: HashSet<u64>,
    /// Its rows with one of them.
    rows: usize,
}

/// The joins of the auxiliary tables.
pub(super) fn joins(asked: &Asked<'_>, profile: &Profile) -> Vec<Join> {
    let tables = profile.auxiliary.iter().enumerate();
    tables.filter_map(|(at, table)| join(asked, profile, table, at)).collect()
}

fn join(asked: &Asked<'_>, profile: &Profile, table: &Table, at: usize) -> Option<Join> {
    let same = keys::key(profile, table, asked.target).map(|Key { columns, unique }| Join {
        table: at,
        own: columns.clone(),
        columns,
        unique,
    });
    // Several tables may call their IDs just `id`.
    let is_id = |join: &Join| join.columns.iter().eq(asked.id);
    match same {
        Some(join) if !is_id(&join) => Some(join),
        same => by_similar_names(profile, table, asked, at).or(same),
    }
}

/// A column that identifies the rows of the table, and one of the other tables whose name says the same.
fn by_similar_names(profile: &Profile, table: &Table, asked: &Asked<'_>, at: usize) -> Option<Join> {
    let is_key =
        |column: &&Column| keys::is_nameable(column) && column.missing == 0 && column.distinct == table.rows;
    let in_test = |column: &&Column| {
        profile.test.as_ref().is_none_or(|test| test.column(&column.name).is_some())
            && ![asked.target, asked.id].contains(&Some(column.name.as_str()))
    };
    table.columns.iter().filter(is_key).find_map(|own| {
        let is_twin = |column: &&Column| keys::same_type(own, column) && means_same(table, own, column);
        let twin = profile.train.columns.iter().filter(in_test).find(is_twin)?;
        let (own, columns) = (vec![own.name.clone()], vec![twin.name.clone()]);
        Some(Join { table: at, own, columns, unique: true })
    })
}

/// Whether the names differ in their spelling only, or the training table's name has the table's name before it, such as
/// `store_id` for `id` of `stores.csv`.
fn means_same(table: &Table, own: &Column, column: &Column) -> bool {
    let letters = |text: &str| -> String {
        text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let (own, name) = (letters(&own.name), letters(&column.name));
    let stem = letters(&table.file.file_stem().unwrap_or_default().to_string_lossy());
    let singular = stem.strip_suffix('s').unwrap_or(&stem);
    name == own
        || name == format!("{singular}{own}")
        || own == format!("{name}id")
        || name == format!("{own}id")
}

/// The section of the auxiliary tables.
pub(super) fn section(
    data_dir: &Path,
    profile: &Profile,
    listing: &Listing,
    (joins, facts): (&[Join], &TableFacts),
) -> String {
    let line = |source: &Source| {
        let file = words::path(&source.file);
        let Some(at) = profile.auxiliary.iter().position(|table| table.file == source.file) else {
            let why = profile::read_table(data_dir, source).err().map(|trouble| trouble.message);
            return format!("- {file} cannot be read: {}.", words::sentence(&why.unwrap_or_default()));
        };
        let table = &profile.auxiliary[at];
        let joined = joins.iter().enumerate().find(|(_, join)| join.table == at);
        let joined = joined.map(|(number, join)| how(data_dir, source, join, (number, facts)));
        format!(
            "- {file}: {}, {}; {}",
            words::counted(table.rows, "row"),
            joined.unwrap_or_else(|| "no column in common with both tables".to_owned()),
            columns_of(table)
        )
    };
    super::section("Auxiliary tables", &listing.auxiliary.iter().map(line).collect::<Vec<_>>(), AUXILIARY)
}

fn columns_of(table: &Table) -> String {
    let one = |column: &Column| format!("{} {}", words::name(&column.name), columns::kind(column.kind));
    let columns: Vec<String> = table.columns.iter().map(one).collect();
    words::list(&columns, SHOWN)
}

/// How a table joins, in a few words.
fn how(data_dir: &Path, source: &Source, join: &Join, (number, facts): (usize, &TableFacts)) -> String {
    let pair = |(own, column): (&String, &String)| match own == column {
        true => words::name(own),
        false => format!("{} = {} of the training table", words::name(own), words::name(column)),
    };
    let on: Vec<String> = join.own.iter().zip(&join.columns).map(pair).collect();
    let on = on.join(" and ");
    let sides = [Some(&facts.train), facts.test.as_ref()];
    let sides: Vec<&Keys> = sides.into_iter().flatten().filter_map(|side| side.keys.get(number)).collect();
    let Ok(found) = find(data_dir, source, &join.own, &sides) else {
        return format!("joins on {on}");
    };
    let share = |keys: &Keys| {
        let rows = keys.counts.iter().filter(|(key, _)| found.keys.contains(key)).map(|(_, rows)| rows).sum();
        words::share(rows, keys.rows)
    };
    let shares: Vec<String> = sides
        .iter()
        .zip(["train", "test"])
        .map(|(keys, side)| format!("{} of {side} rows", share(keys)))
        .collect();
    let per_key = match found.rows as f64 / found.keys.len().max(1) as f64 {
        _ if join.unique => "one row per key".to_owned(),
        rows => format!("{} rows per key on average", words::number((rows * 10.0).round() / 10.0)),
    };
    format!("joins on {on} (found for {}; {per_key})", shares.join(" and "))
}

/// Reads the auxiliary table for the keys of the other tables.
fn find(data_dir: &Path, source: &Source, own: &[String], sides: &[&Keys]) -> io::Result<Found> {
    let mut keys = Keys::new(own.to_vec());
    let mut found = Found { keys: HashSet::new(), rows: 0 };
    records::read(data_dir, source, |mut rows| {
        keys.find_in(&rows);
        while rows.next()? {
            let key = keys.of(rows.row());
            if let Some(key) = key.filter(|key| sides.iter().any(|side| side.counts.contains_key(key))) {
                found.keys.insert(key);
                found.rows += 1;
            }
        }
        Ok(())
    })?;
    Ok(found)
}
