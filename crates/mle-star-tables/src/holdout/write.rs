//! Writes the data folder that scripts see, and the labels that they do not see.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use csv::ByteRecord;
use mle_star_domain::trouble::Trouble;

use super::Plan;
use crate::profile::Profile;
use crate::records::add_row;
use crate::seeded::{Seeded, Turns};
use crate::table::{PickedRows, RowTexts, Table};
use crate::tables::Tables;
use crate::walk;

/// Rows of the sample submission whose values held-out rows get.
const DONORS: usize = 1_000;
/// The bytes that are written at once.
const WRITTEN: usize = 1 << 18;
const HINT: &str = "check that the disk is not full and that the data folder did not change";

/// Makes a row of another table from a row of the training table.
struct Template {
    /// For each column, its position in the training table.
    cells: Vec<Option<usize>>,
    /// Rows of the other table, whose cells fill the columns that do not come from the training table.
    donors: Vec<ByteRecord>,
    seeded: Seeded,
}

/// Makes `into` the data folder that scripts see. The training table lacks the held-out rows; the test table and the
/// sample submission have them without labels: beside their own rows or, if the held-out rows are a period, instead of them.
/// Everything else is linked. Replaces an earlier folder; `into` is complete whenever it exists.
///
/// # Errors
/// A table cannot be read or is another one than when the rows were chosen, or the folder cannot be written.
pub fn write(profile: &Profile, plan: &Plan, into: &Path) -> Result<(), Trouble> {
    write_with(profile, plan, into, |_| Ok(()))
}

/// As [`write()`], and `further` adds to the folder before it has its name.
///
/// # Errors
/// A table cannot be read or is another one than when the rows were chosen, or the folder cannot be written.
pub fn write_with(
    profile: &Profile,
    plan: &Plan,
    into: &Path,
    further: impl FnOnce(&Path) -> io::Result<()>,
) -> Result<(), Trouble> {
    let partial = beside(into);
    let written = fill(&profile.tables, plan, &partial).and_then(|()| further(&partial));
    replace(written, &partial, into).map_err(|error| {
        Trouble::new(format!("cannot write the data without the held-out rows: {error}"), HINT)
    })
}

/// Writes the IDs and the labels of the held-out rows as a CSV table, which only this user may read.
///
/// # Errors
/// The training table cannot be read or is another one than when the rows were chosen, or the file cannot be written.
pub fn labels(profile: &Profile, plan: &Plan, into: &Path) -> Result<(), Trouble> {
    let partial = beside(into);
    let written = write_labels(&profile.tables, plan, &partial);
    replace(written, &partial, into)
        .map_err(|error| Trouble::new(format!("cannot write {}: {error}", into.display()), HINT))
}

fn write_labels(tables: &Tables, plan: &Plan, into: &Path) -> io::Result<()> {
    remove(into)?;
    let mut file = BufWriter::new(OpenOptions::new().write(true).create_new(true).mode(0o600).open(into)?);
    let train = tables.train.as_ref().ok_or_else(changed)?;
    // With the column whose equal values make rows dependent.
    let names = std::iter::once(&plan.id).chain(&plan.targets).chain(&plan.by).chain(&plan.weight);
    let names: Vec<&str> = names.map(String::as_str).collect();
    let columns = train.positions(names.iter().copied())?;
    let mut lines = Vec::new();
    add_row(names.iter().map(|name| name.as_bytes()), &mut lines)?;
    train.picked(plan.held_rows(), |held| {
        while let Some((_, row)) = held.next()? {
            lines.push(b'\n');
            add_row(columns.iter().map(|column| &row[*column]), &mut lines)?;
            file.write_all(&lines)?;
            lines.clear();
        }
        file.write_all(b"\n")
    })?;
    file.flush()
}

fn fill(tables: &Tables, plan: &Plan, into: &Path) -> io::Result<()> {
    let Tables { data_dir, listing, .. } = tables;
    let (Some(train), Some(test), Some(sample)) = (&tables.train, &tables.test, &tables.sample) else {
        return Err(changed());
    };
    remove(into)?;
    fs::create_dir_all(into)?;
    let own = [train, test, sample].into_iter().map(Table::source);
    let left_out: Vec<&PathBuf> = own.map(|source| &source.file).chain(&listing.copies).collect();
    walk::link(data_dir, into, |name| left_out.iter().any(|path| *path == name))?;
    reduce(train, plan, into)?;
    extend(train, test, plan, Vec::new(), into)?;
    extend(train, sample, plan, donors(sample, plan)?, into)
}

/// Writes the training table without the held-out rows.
fn reduce(train: &Table, plan: &Plan, into: &Path) -> io::Result<()> {
    let mut file = BufWriter::with_capacity(WRITTEN, File::create(into.join(&train.source().file))?);
    let mut line = |text: &[u8]| file.write_all(text).and_then(|()| file.write_all(train.line_end()));
    train.texts(|mut rows| {
        line(train.header_text())?;
        for number in 0.. {
            let Some(text) = rows.next()? else { break };
            if plan.leaves(number) {
                line(text)?;
            }
        }
        Ok(())
    })?;
    file.flush()
}

/// Some rows of the sample submission, drawn at random.
fn donors(sample: &Table, plan: &Plan) -> io::Result<Vec<ByteRecord>> {
    let seeded = Seeded::new(plan.seed, "donors");
    let mut donors: Vec<u64> = Vec::new();
    for row in 0..sample.rows() {
        if donors.len() < DONORS {
            donors.push(row);
            continue;
        }
        let place = usize::try_from(seeded.below(row + 1, row)).unwrap_or(DONORS);
        if let Some(donor) = donors.get_mut(place) {
            *donor = row;
        }
    }
    let mut places: Vec<usize> = (0..donors.len()).collect();
    places.sort_unstable_by_key(|place| donors[*place]);
    let mut records = vec![ByteRecord::new(); donors.len()];
    sample.picked(places.iter().map(|place| donors[*place]).collect(), |picked| {
        for place in &places {
            let (_, row) = picked.next()?.ok_or_else(changed)?;
            records[*place].clone_from(row);
        }
        Ok(())
    })?;
    Ok(records)
}

/// Writes another table with the held-out rows of the training table.
fn extend(train: &Table, other: &Table, plan: &Plan, donors: Vec<ByteRecord>, into: &Path) -> io::Result<()> {
    if other.rows() != plan.test_rows {
        return Err(changed());
    }
    let mut file = BufWriter::with_capacity(WRITTEN, File::create(into.join(&other.source().file))?);
    let template = Template::new(train, other, plan, donors);
    let mut line = |text: &[u8]| file.write_all(text).and_then(|()| file.write_all(other.line_end()));
    line(other.header_text())?;
    train
        .picked(plan.held_rows(), |held| other.texts(|others| merge(held, others, plan, &template, line)))?;
    file.flush()
}

fn merge(
    held: &mut PickedRows<'_>,
    mut others: RowTexts<'_>,
    plan: &Plan,
    template: &Template,
    mut line: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let mut made = Vec::new();
    // The test table and the sample submission have the same turns, so that their orders agree as before.
    let own = if plan.is_period { 0 } else { plan.test_rows };
    for is_held in Turns::new(plan.seed, plan.rows, own, plan.come_first) {
        if is_held {
            let (number, row) = held.next()?.ok_or_else(changed)?;
            made.clear();
            add_row(template.cells(number, row), &mut made)?;
            line(&made)?;
        } else {
            line(others.next()?.ok_or_else(changed)?)?;
        }
    }
    Ok(())
}

impl Template {
    fn new(train: &Table, other: &Table, plan: &Plan, donors: Vec<ByteRecord>) -> Self {
        // Labels have no place in either table.
        let from_train = |name: &String| if plan.targets.contains(name) { None } else { train.find(name) };
        let cells = other.names().iter().map(from_train).collect();
        Self { cells, donors, seeded: Seeded::new(plan.seed, "fill") }
    }

    /// The cells of the row that this row of the training table becomes.
    fn cells<'a>(&'a self, number: u64, train: &'a ByteRecord) -> impl Iterator<Item = &'a [u8]> {
        let drawn = self.seeded.below(self.donors.len() as u64, number);
        let donor = usize::try_from(drawn).ok().and_then(|drawn| self.donors.get(drawn));
        let fill = move |at: usize| donor.and_then(|donor| donor.get(at)).unwrap_or_default();
        let cell = move |(at, from): (usize, &Option<usize>)| match from {
            Some(position) => train.get(*position).unwrap_or_default(),
            None => fill(at),
        };
        self.cells.iter().enumerate().map(cell)
    }
}

/// The temporary name of a file or folder, in the same folder.
pub(crate) fn beside(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".part");
    path.with_file_name(name)
}

/// Gives what was written its name, or removes it if it is not complete.
pub(crate) fn replace(written: io::Result<()>, partial: &Path, into: &Path) -> io::Result<()> {
    if written.is_err() {
        // The first error is the one to report.
        let _ = remove(partial);
        return written;
    }
    if into.is_dir() {
        remove(into)?;
    }
    fs::rename(partial, into)
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(_) => Ok(()),
    }
}

fn changed() -> io::Error {
    io::Error::other("the tables are not those from which the rows were chosen")
}
