//! Checks whether rows of a data folder can be held out.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::copies::Copies;
use super::off::{Off, off, unreadable};
use super::tables::Tables;
use crate::records::digest;
use crate::table;
use crate::walk::walk;

/// Scripts are shown at most this many files and folders beside the tables. Each is made readable by itself, because
/// their folder has the whole training table.
const MOST_BESIDE: usize = 500;

/// Checks that no other file has the labels of training rows as well, and that all can be shown without the table.
pub(super) fn files(read: &crate::tables::Tables, tables: &Tables<'_>) -> Result<(), Off> {
    let (data_dir, listing) = (read.data_dir.as_path(), &read.listing);
    let train_file = &tables.train.source().file;
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
        let file = source.file.display();
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
