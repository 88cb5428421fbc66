//! Checks whether rows of a data folder can be held out.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::copies::Copies;
use super::{Off, Roles};
use crate::profile::{Profile, Table};
use crate::records::digest;
use crate::table;
use crate::walk::walk;

/// Scripts are shown at most this many files and folders beside the tables. Each is made readable by itself, because
/// their folder has the whole training table.
const MOST_BESIDE: usize = 500;

/// The tables and the columns that holding rows out needs.
#[derive(Clone, Debug)]
pub(super) struct Tables<'a> {
    pub(super) train: &'a table::Table,
    pub(super) test: &'a table::Table,
    pub(super) sample: &'a table::Table,
    /// All columns with labels, and whether they hold numbers.
    pub(super) targets: Vec<(&'a str, bool)>,
    pub(super) id: &'a str,
    pub(super) test_rows: u64,
}

/// The reason as [`Off`].
pub(super) fn off<T>(why: impl Into<String>) -> Result<T, Off> {
    Err(Off(why.into()))
}

/// Names a table that cannot be read.
pub(super) fn unreadable(table: &table::Table, error: &io::Error) -> Off {
    Off(format!("{} cannot be read: {error}", table.source().on_disk.display()))
}

/// The tables, if their columns fit together.
pub(super) fn tables<'a>(profile: &'a Profile, roles: &Roles<'a>) -> Result<Tables<'a>, Off> {
    let read = &*profile.tables;
    let Some(train) = &read.train else { return off("there is no training table") };
    let (Some(test_table), Some(test)) = (&profile.test, &read.test) else {
        return off("there is no test table");
    };
    let (Some(sample_table), Some(sample)) = (&profile.sample, &read.sample) else {
        return off("there is no sample submission");
    };
    let Some(target) = roles.target.filter(|target| profile.train.column(target).is_some()) else {
        return off("the target is not known");
    };
    let all = [&profile.train, test_table, sample_table];
    let in_all = |id: &&str| *id != target && all.iter().all(|table| table.column(id).is_some());
    let Some(id) = roles.id.filter(in_all) else {
        let names = all.map(|table| table.file.display().to_string()).join(", ");
        return off(format!("no column with row IDs is common to {names}"));
    };
    let mut targets = profile.targets(target, Some(id));
    columns(&profile.train, test_table, sample_table, &targets, id)?;
    let is_number = |name: &str| profile.train.column(name).is_some_and(|column| column.kind.is_number());
    // The classes of the given target keep their shares.
    targets.sort_by_key(|name| *name != target);
    let targets = targets.into_iter().map(|name| (name, is_number(name))).collect();
    let test_rows = test_table.rows as u64;
    Ok(Tables { train, test, sample, targets, id, test_rows })
}

fn columns(train: &Table, test: &Table, sample: &Table, targets: &[&str], id: &str) -> Result<(), Off> {
    let names = |table: &'_ Table, wanted: &dyn Fn(&str) -> bool| {
        let names = table.columns.iter().map(|column| column.name.as_str()).filter(|name| wanted(name));
        names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    };
    let [train_name, test_name, sample_name] = [train, test, sample].map(|table| table.file.display());
    let further =
        names(sample, &|name| name != id && !targets.contains(&name) && train.column(name).is_some());
    if !further.is_empty() {
        return off(format!(
            "{sample_name} has further columns of {train_name} besides the target: {further}"
        ));
    }
    let lacking = names(test, &|name| !targets.contains(&name) && train.column(name).is_none());
    if !lacking.is_empty() {
        return off(format!("{test_name} has columns that {train_name} lacks: {lacking}"));
    }
    if test.rows != sample.rows {
        return off(format!("{test_name} has {} rows, but {sample_name} has {}", test.rows, sample.rows));
    }
    Ok(())
}

/// Checks that no other file has the labels of training rows as well, and that all can be shown without the table.
pub(super) fn files(read: &crate::tables::Tables, tables: &Tables<'_>) -> Result<(), Off> {
    let (data_dir, listing) = (read.data_dir.as_path(), &read.listing);
    let train_file = &tables.train.source().on_disk;
    let beside = beside(data_dir).map_err(|error| Off(format!("the data folder cannot be read: {error}")))?;
    if beside > MOST_BESIDE {
        let train = train_file.display();
        return off(format!(
            "{beside} files and folders lie beside {train}, more than {MOST_BESIDE}; move them to a folder"
        ));
    }
    let train = fs::metadata(data_dir.join(train_file)).ok();
    let is_train = |path: &&PathBuf| {
        let other = fs::metadata(data_dir.join(path)).ok();
        train
            .as_ref()
            .zip(other)
            .is_some_and(|(train, other)| (train.dev(), train.ino()) == (other.dev(), other.ino()))
    };
    let others = listing.other.iter().filter(|path| !listing.copies.contains(path));
    if let Some(name) = others.clone().find(is_train) {
        return off(format!("{} is another name of {}", name.display(), train_file.display()));
    }
    let mut copies = Copies::new(data_dir, tables);
    for path in others {
        // A file that cannot be read is no table.
        if copies.has_labels(path).unwrap_or_default() {
            return off(format!("{} may have the labels of the training rows as well", path.display()));
        }
    }
    for source in &listing.auxiliary {
        let file = source.on_disk.display();
        let has_labels = copies.has_rows_of(data_dir, source);
        if has_labels.map_err(|error| Off(format!("{file} cannot be read: {error}")))? {
            return off(format!("{file} has labels of training rows as well"));
        }
    }
    Ok(())
}

fn beside(data_dir: &Path) -> io::Result<usize> {
    Ok(walk(data_dir)?.entries(data_dir, |_| false)?.len())
}

/// Checks that IDs name rows: each names one row of the training or of the test table, and the sample submission has
/// those of the test table.
pub(super) fn ids(tables: &Tables<'_>) -> Result<(), Off> {
    let digests = |table: &table::Table| {
        let digests = table.digests(tables.id, |row| digest(row.value(0).unwrap_or_default()));
        digests.map_err(|error| unreadable(table, &error))
    };
    let name = |table: &table::Table| table.source().file.display().to_string();
    let (id, train, test, sample) = (tables.id, tables.train, tables.test, tables.sample);
    let in_test = digests(test)?;
    let in_train = digests(train)?;
    for (table, ids) in [(train, &in_train), (test, &in_test)] {
        if ids.binary_search(&digest("")).is_ok() {
            return off(format!("a value of `{id}` is missing in {}", name(table)));
        }
        if ids.windows(2).any(|pair| pair[0] == pair[1]) {
            return off(format!("a value of `{id}` occurs twice in {}", name(table)));
        }
    }
    if in_test.iter().any(|id| in_train.binary_search(id).is_ok()) {
        let (train, test) = (name(train), name(test));
        return off(format!(
            "a value of `{id}` occurs both in {train} and in {test}; give the rows of {test} and of the sample submission other IDs"
        ));
    }
    drop(in_train);
    if digests(sample)? != in_test {
        return off(format!("{} and {} have different values of `{id}`", name(test), name(sample)));
    }
    Ok(())
}
