//! The auxiliary tables, and how they join the training and the test table.

use std::collections::HashSet;
use std::io;

use mle_star_domain::protocol::SplitKind;

use super::tables::{Keys, TableFacts, digest_of_key};
use super::{AUXILIARY, Asked, words};
use crate::cutoff::{Cutoff, cutoffs};
use crate::folder::{Listing, Source};
use crate::links::Link;
use crate::profile::{self, Column, Profile, Table};
use crate::table;

/// Columns of a table that are shown.
const SHOWN: usize = 12;

/// The keys of the training and the test table that an auxiliary table has.
struct KeyMatches {
    /// Keys of the other tables that it has.
    keys: HashSet<u64>,
    /// Its rows with one of them.
    rows: usize,
}

/// The section of the auxiliary tables.
pub(super) fn section(
    asked: &Asked<'_>,
    profile: &Profile,
    listing: &Listing,
    (links, facts): (&[Link], &TableFacts),
) -> String {
    let data_dir = asked.data_dir;
    let time =
        asked.split.filter(|split| split.kind == SplitKind::Time).and_then(|split| split.column.as_deref());
    let line = |source: &Source| {
        let file = words::path(&source.file);
        let Some(at) = profile.auxiliary.iter().position(|table| table.file == source.file) else {
            let why = profile::read_table(data_dir, source).err().map(|trouble| trouble.message);
            return format!("- {file} cannot be read: {}.", words::sentence(&why.unwrap_or_default()));
        };
        let table = &profile.auxiliary[at];
        let early = |link: &Link| {
            let cutoffs = cutoffs(profile, links, link, time);
            cutoffs.iter().map(not_later).collect::<String>()
        };
        let number =
            |link: &Link| links.iter().filter(|link| link.to.is_none()).position(|other| other == link);
        let way = |link: &Link| match link.to {
            Some(to) => how_indirectly(link, &profile.auxiliary[to]),
            None => how(profile, source, link, (number(link).unwrap_or_default(), facts)),
        };
        let own = links.iter().filter(|link| link.table == at);
        let ways: Vec<String> = own.map(|link| way(link) + &early(link)).collect();
        let joined = if ways.is_empty() {
            "no link to another table was found".to_owned()
        } else {
            ways.join(", and ")
        };
        format!("- {file}: {}, {}; {}", words::counted(table.rows, "row"), joined, columns_of(table))
    };
    super::section("Auxiliary tables", &listing.auxiliary.iter().map(line).collect::<Vec<_>>(), AUXILIARY)
}

fn columns_of(table: &Table) -> String {
    let one = |column: &Column| format!("{} {}", words::name(&column.name), column.kind.name());
    let columns: Vec<String> = table.columns.iter().map(one).collect();
    words::list(&columns, SHOWN)
}

/// How a table joins, in a few words.
fn how(profile: &Profile, source: &Source, link: &Link, (number, facts): (usize, &TableFacts)) -> String {
    let on = keys_of(link, |name| format!("{name} of the training table"));
    let sides = [Some(&facts.train), facts.test.as_ref()];
    let sides: Vec<&Keys> = sides.into_iter().flatten().filter_map(|side| side.keys.get(number)).collect();
    let table = profile.tables.auxiliary(&source.file);
    let Ok(found) = table.and_then(|table| find(table, &link.own, &sides)) else {
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
        _ if link.unique => "one row per key".to_owned(),
        rows => format!("{} rows per key on average", words::number((rows * 10.0).round() / 10.0)),
    };
    format!("joins on {on} (found for {}; {per_key})", shares.join(" and "))
}

/// How a table joins another auxiliary one, in a few words.
fn how_indirectly(link: &Link, to: &Table) -> String {
    let per_key = if link.unique { "one row per key" } else { "several rows per key" };
    let on = keys_of(link, |name| format!("its {name}"));
    format!("joins {} on {on} ({per_key})", words::path(&to.file))
}

/// What not to join, in a few words.
fn not_later(cutoff: &Cutoff) -> String {
    let keys: Vec<String> = cutoff.columns.iter().map(|name| words::name(name)).collect();
    let lag = match cutoff.lag.round() {
        days if days >= 1.0 => format!(
            "; the table ends {} days before most test rows, so leave out as many days before each training row",
            words::number(days)
        ),
        _ => String::new(),
    };
    format!(
        "; of the rows with the same {}, summarise only those before the {} of the row, since later ones are not known for \
         the test rows as they are for the training rows{lag}",
        keys.join(" and "),
        words::name(&cutoff.date.column)
    )
}

/// The key columns, with those of the other table if their names differ.
fn keys_of(link: &Link, other: impl Fn(String) -> String) -> String {
    let pair = |(own, column): (&String, &String)| match own == column {
        true => words::name(own),
        false => format!("{} = {}", words::name(own), other(words::name(column))),
    };
    link.own.iter().zip(&link.columns).map(pair).collect::<Vec<_>>().join(" and ")
}

/// Looks in the auxiliary table for the keys of the other tables.
fn find(table: &table::Table, own: &[String], sides: &[&Keys]) -> io::Result<KeyMatches> {
    let mut found = KeyMatches { keys: HashSet::new(), rows: 0 };
    let columns: Vec<usize> = own.iter().filter_map(|column| table.find(column)).collect();
    if columns.len() < own.len() {
        return Ok(found);
    }
    table.each(&columns, |row| {
        let key = digest_of_key((0..columns.len()).map(|at| row.value(at)));
        if let Some(key) = key.filter(|key| sides.iter().any(|side| side.counts.contains_key(key))) {
            found.keys.insert(key);
            found.rows += 1;
        }
        true
    })?;
    Ok(found)
}
