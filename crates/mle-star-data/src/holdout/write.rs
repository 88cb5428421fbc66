//! Writes the data folder that scripts see, and the labels that they do not see.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use csv::ByteRecord;
use mle_star_domain::trouble::Trouble;

use super::Plan;
use super::seeded::{Seeded, Turns};
use crate::folder::{self, Listing, Source};
use crate::records::{self, Records, add_row};
use crate::{unzip, walk};

/// Rows of the sample submission whose values held-out rows get.
const DONORS: usize = 1_000;
const HINT: &str = "check that the disk is not full and that the data folder did not change";

/// The training table, and the table that gets its held-out rows.
struct Tables<'a> {
    data_dir: &'a Path,
    train: &'a Source,
    other: &'a Source,
    plan: &'a Plan,
}

/// Makes a row of another table from a row of the training table.
struct Template {
    /// For each column, its position in the training table.
    cells: Vec<Option<usize>>,
    /// Rows of the other table, whose cells fill the columns that do not come from the training table.
    donors: Vec<ByteRecord>,
    seeded: Seeded,
}

/// Makes `into` the data folder that scripts see. The training table lacks the held-out rows; the test table and the
/// sample submission have them without labels. Packed tables are unpacked, and everything else is linked. Replaces an
/// earlier folder; `into` is complete whenever it exists.
///
/// # Errors
/// A table cannot be read or is another one than when the rows were chosen, or the folder cannot be written.
pub fn write(data_dir: &Path, plan: &Plan, into: &Path) -> Result<(), Trouble> {
    let partial = beside(into);
    let listing = folder::list(data_dir)?;
    let written = fill(data_dir, &listing, plan, &partial);
    replace(written, &partial, into).map_err(|error| {
        Trouble::new(format!("cannot write the data without the held-out rows: {error}"), HINT)
    })
}

/// Writes the IDs and the labels of the held-out rows as a CSV table, which only this user may read.
///
/// # Errors
/// The training table cannot be read or is another one than when the rows were chosen, or the file cannot be written.
pub fn labels(data_dir: &Path, plan: &Plan, into: &Path) -> Result<(), Trouble> {
    let listing = folder::list(data_dir)?;
    let partial = beside(into);
    let written = write_labels(data_dir, &listing, plan, &partial);
    replace(written, &partial, into)
        .map_err(|error| Trouble::new(format!("cannot write {}: {error}", into.display()), HINT))
}

fn write_labels(data_dir: &Path, listing: &Listing, plan: &Plan, into: &Path) -> io::Result<()> {
    remove(into)?;
    let mut file = BufWriter::new(OpenOptions::new().write(true).create_new(true).mode(0o600).open(into)?);
    let train = listing.train.as_ref().ok_or_else(changed)?;
    records::read(data_dir, train, |mut rows| {
        // With the column of the split, whose rows depend on each other.
        let names: Vec<&String> = std::iter::once(&plan.id).chain(&plan.targets).chain(&plan.by).collect();
        let columns: Vec<usize> = names.iter().map(|name| rows.position(name)).collect::<io::Result<_>>()?;
        let mut lines = Vec::new();
        add_row(names.iter().map(|name| name.as_bytes()), &mut lines)?;
        while next_held(&mut rows, plan)? {
            lines.push(b'\n');
            add_row(columns.iter().map(|column| &rows.row()[*column]), &mut lines)?;
            file.write_all(&lines)?;
            lines.clear();
        }
        file.write_all(b"\n")
    })?;
    file.flush()
}

fn fill(data_dir: &Path, listing: &Listing, plan: &Plan, into: &Path) -> io::Result<()> {
    let (Some(train), Some(test), Some(sample)) = (&listing.train, &listing.test, &listing.sample) else {
        return Err(changed());
    };
    remove(into)?;
    fs::create_dir_all(into)?;
    let unpacked: Vec<&Source> = listing.auxiliary.iter().filter(|source| source.is_packed()).collect();
    let own = [train, test, sample].into_iter().chain(unpacked.iter().copied());
    let left_out: Vec<&PathBuf> = own.map(|source| &source.on_disk).chain(&listing.copies).collect();
    walk::link(data_dir, into, |name| left_out.iter().any(|path| *path == name))?;
    for source in unpacked {
        unzip::extract(data_dir, source, into)?;
    }
    reduce(data_dir, train, plan, into)?;
    Tables { data_dir, train, other: test, plan }.extend(into, Vec::new())?;
    let donors = donors(data_dir, sample, plan)?;
    Tables { data_dir, train, other: sample, plan }.extend(into, donors)
}

/// Writes the training table without the held-out rows.
fn reduce(data_dir: &Path, train: &Source, plan: &Plan, into: &Path) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(into.join(&train.file))?);
    records::read(data_dir, train, |mut rows| {
        file.write_all(rows.header_text())?;
        file.write_all(rows.line_end())?;
        while rows.next()? {
            if !plan.held.contains(rows.number()) {
                file.write_all(rows.text())?;
                file.write_all(rows.line_end())?;
            }
        }
        Ok(())
    })?;
    file.flush()
}

/// Some rows of the sample submission, drawn at random.
fn donors(data_dir: &Path, sample: &Source, plan: &Plan) -> io::Result<Vec<ByteRecord>> {
    let seeded = Seeded::new(plan.seed, "donors");
    records::read(data_dir, sample, |mut rows| {
        let mut donors = Vec::new();
        while rows.next()? {
            if donors.len() < DONORS {
                donors.push(rows.row().clone());
                continue;
            }
            let place = usize::try_from(seeded.below(rows.number() + 1, rows.number())).unwrap_or(DONORS);
            if let Some(donor) = donors.get_mut(place) {
                donor.clone_from(rows.row());
            }
        }
        Ok(donors)
    })
}

impl Tables<'_> {
    /// Writes the other table with the held-out rows of the training table.
    fn extend(&self, into: &Path, donors: Vec<ByteRecord>) -> io::Result<()> {
        let mut file = BufWriter::new(File::create(into.join(&self.other.file))?);
        records::read(self.data_dir, self.train, |mut train| {
            records::read(self.data_dir, self.other, |mut other| {
                let template = Template::new(&train, &other, self.plan, donors);
                self.merge(&mut train, &mut other, &template, &mut file)
            })
        })?;
        file.flush()
    }

    fn merge(
        &self,
        train: &mut Records<'_>,
        other: &mut Records<'_>,
        template: &Template,
        file: &mut impl Write,
    ) -> io::Result<()> {
        let plan = self.plan;
        file.write_all(other.header_text())?;
        file.write_all(other.line_end())?;
        let mut line = Vec::new();
        // The test table and the sample submission have the same turns, so that their orders agree as before.
        for is_held in Turns::new(plan.seed, plan.rows, plan.test_rows, plan.come_first) {
            let is_there = if is_held { next_held(train, plan)? } else { other.next()? };
            if !is_there {
                return Err(changed());
            }
            if is_held {
                line.clear();
                add_row(template.cells(train), &mut line)?;
            }
            file.write_all(if is_held { &line } else { other.text() })?;
            file.write_all(other.line_end())?;
        }
        if next_held(train, plan)? || other.next()? { Err(changed()) } else { Ok(()) }
    }
}

impl Template {
    fn new(train: &Records<'_>, other: &Records<'_>, plan: &Plan, donors: Vec<ByteRecord>) -> Self {
        // Labels have no place in either table.
        let from_train = |name: &String| if plan.targets.contains(name) { None } else { train.find(name) };
        let cells = other.names().iter().map(from_train).collect();
        Self { cells, donors, seeded: Seeded::new(plan.seed, "fill") }
    }

    /// The cells of the row that the current row of the training table becomes.
    fn cells<'a>(&'a self, train: &'a Records<'_>) -> impl Iterator<Item = &'a [u8]> {
        let drawn = self.seeded.below(self.donors.len() as u64, train.number());
        let donor = usize::try_from(drawn).ok().and_then(|drawn| self.donors.get(drawn));
        let fill = move |at: usize| donor.and_then(|donor| donor.get(at)).unwrap_or_default();
        let cell = move |(at, from): (usize, &Option<usize>)| match from {
            Some(position) => train.row().get(*position).unwrap_or_default(),
            None => fill(at),
        };
        self.cells.iter().enumerate().map(cell)
    }
}

/// Goes to the next held-out row. Returns whether there is one.
fn next_held(train: &mut Records<'_>, plan: &Plan) -> io::Result<bool> {
    while train.next()? {
        if plan.held.contains(train.number()) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The temporary name of a file or folder, in the same folder.
pub(super) fn beside(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".part");
    path.with_file_name(name)
}

/// Gives what was written its name, or removes it if it is not complete.
pub(super) fn replace(written: io::Result<()>, partial: &Path, into: &Path) -> io::Result<()> {
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
