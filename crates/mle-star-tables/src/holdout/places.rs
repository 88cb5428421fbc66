//! Where the files of rows lie, such as the image of each row.
//!
//! A held-out row becomes a row of the test table, but its files stay where they are. A script that looks for them where the
//! files of test rows are would not find them.

use std::collections::{BTreeSet, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use super::off::{Off, off, unreadable};
use super::tables::Tables;
use crate::archives;
use crate::profile::{ColumnKind, Profile};
use crate::table::Table;

/// Rows whose files are looked for.
const ROWS: usize = 20;
/// Fewer rows with a file may be chance.
const FEWEST: usize = 2;

/// Checks that the files of training rows and those of test rows lie in the same folders.
pub(super) fn check(profile: &Profile, tables: &Tables<'_>) -> Result<(), Off> {
    let (data_dir, listing) = (&profile.tables.data_dir, &profile.tables.listing);
    if listing.other.is_empty() {
        return Ok(());
    }
    let values = |table: &Table| values(table, profile).map_err(|error| unreadable(table, &error));
    let (train, test) = (values(tables.train)?, values(tables.test)?);
    let mut found = [Places::of(&train), Places::of(&test)];
    for file in &listing.other {
        found.iter_mut().for_each(|places| places.take(file, Path::new("")));
        if archives::is_archive(file) {
            for member in archives::members(&data_dir.join(file)).unwrap_or_default() {
                found.iter_mut().for_each(|places| places.take(&member, file));
            }
        }
    }
    let [train, test] = found.map(Places::folders);
    match (train.first(), test.first()) {
        (Some(of_train), Some(of_test)) if train != test => off(format!(
            "files of training rows lie in {}, those of test rows in {}",
            of_train.display(),
            of_test.display()
        )),
        _ => Ok(()),
    }
}

/// The values of the first rows that may name files.
fn values(table: &Table, profile: &Profile) -> io::Result<HashSet<String>> {
    let may_name = |kind| matches!(kind, ColumnKind::Category | ColumnKind::Integer);
    let columns = profile.train.columns.iter().filter(|column| may_name(column.kind));
    let columns = columns.filter(|column| column.distinct * 2 > profile.train.rows.min(ROWS));
    let columns: Vec<usize> = columns.filter_map(|column| table.find(&column.name)).collect();
    let (mut values, mut seen) = (HashSet::new(), 0);
    table.each(&columns, |row| {
        seen += 1;
        values.extend((0..columns.len()).filter_map(|at| row.value(at)).map(str::to_owned));
        seen < ROWS
    })?;
    Ok(values)
}

/// The folders with files that these values name.
struct Places<'a> {
    values: &'a HashSet<String>,
    named: HashSet<&'a str>,
    folders: BTreeSet<PathBuf>,
}

impl<'a> Places<'a> {
    fn of(values: &'a HashSet<String>) -> Self {
        Self { values, named: HashSet::new(), folders: BTreeSet::new() }
    }

    /// Notes a file, which may lie in an archive: its name or its folder's name may be a value.
    fn take(&mut self, file: &Path, archive: &Path) {
        let folder = file.parent();
        let above = folder.and_then(Path::parent);
        let forms = [
            (file.file_stem(), folder),
            (file.file_name(), folder),
            (folder.and_then(Path::file_name), above),
        ];
        for (name, place) in forms {
            let known = name.and_then(|name| self.values.get(name.to_str()?));
            if let (Some(value), Some(place)) = (known, place) {
                self.named.insert(value);
                self.folders.insert(archive.join(place));
            }
        }
    }

    fn folders(self) -> BTreeSet<PathBuf> {
        if self.named.len() < FEWEST { BTreeSet::new() } else { self.folders }
    }
}
