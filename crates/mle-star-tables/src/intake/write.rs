//! Writes plain tables.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use csv::{ByteRecord, StringRecord, Writer};
use mle_star_domain::trouble::Trouble;
use mle_star_formats::{Table, write_csv};

use super::columns::{Cells, Columns};
use super::{Look, Taken, opened};
use crate::walk;

/// The bytes that are written at once.
const WRITTEN: usize = 1 << 18;

pub(super) fn write(look: &Look, folder: &Path) -> Result<(), Trouble> {
    let files = &look.files;
    link_others(look, folder).map_err(|error| unwritable(folder, &error))?;
    for taken in &look.tables {
        let (path, into) = (files.path(&taken.found), folder.join(&taken.found.plain));
        match &taken.table {
            Some(table) => write_table(table, &taken.columns, &into)?,
            None if taken.columns.are_changed() => {
                write_table(&opened(&path, &Default::default(), None)?, &taken.columns, &into)?;
            }
            None if !files.is_folder() => {
                let real = path.canonicalize().map_err(|error| unwritable(&path, &error))?;
                std::os::unix::fs::symlink(real, &into).map_err(|error| unwritable(&into, &error))?;
            }
            None => {}
        }
    }
    for (found, table) in &look.further {
        let into = folder.join(&found.plain);
        let mut file = create(&into)?;
        write_csv(table, &mut file)?;
        file.flush().map_err(|error| unwritable(&into, &error))?;
    }
    Ok(())
}

/// Links everything that is not written.
fn link_others(look: &Look, folder: &Path) -> io::Result<()> {
    let files = &look.files;
    if !files.is_folder() {
        return Ok(());
    }
    let is_written = |taken: &&Taken| taken.table.is_some() || taken.columns.are_changed();
    let written = look.tables.iter().filter(is_written).map(|taken| &taken.found);
    let written: Vec<&Path> = written
        .chain(look.further.iter().map(|(found, _)| found))
        .filter_map(|found| found.file.components().next().map(|part| Path::new(part.as_os_str())))
        .chain(files.copies.iter().map(AsRef::as_ref))
        .collect();
    walk::link(&files.folder, folder, |name| written.contains(&name)).map(drop)
}

/// Writes a table with its columns as scripts see them, without rows that have no content.
fn write_table(table: &Table, columns: &Columns, into: &Path) -> Result<(), Trouble> {
    let trouble = |error: csv::Error| unwritable(into, &io::Error::other(error.to_string()));
    let mut out = Writer::from_writer(create(into)?);
    out.write_record(columns.all.iter().map(|column| &column.name)).map_err(trouble)?;
    let (mut made, mut number) = (ByteRecord::new(), 0);
    table.each_row(&mut |row: &StringRecord| {
        made.clear();
        for column in &columns.all {
            match &column.cells {
                Cells::Own(place) => made.push_field(row.get(*place).unwrap_or_default().as_bytes()),
                Cells::Joined(places, between) => {
                    let cells: Vec<&str> =
                        places.iter().map(|place| row.get(*place).unwrap_or_default()).collect();
                    made.push_field(cells.join(between).as_bytes());
                }
                Cells::Count(from) => made.push_field((from + number).to_string().as_bytes()),
            }
        }
        number += 1;
        out.write_byte_record(&made).map_err(trouble)
    })?;
    out.flush().map_err(|error| unwritable(into, &error))
}

fn create(path: &Path) -> Result<BufWriter<File>, Trouble> {
    let file = File::create(path).map_err(|error| unwritable(path, &error))?;
    Ok(BufWriter::with_capacity(WRITTEN, file))
}

fn unwritable(path: &Path, error: &io::Error) -> Trouble {
    let message = format!("cannot write {}: {error}", path.display());
    Trouble::new(message, "check that the disk is not full and that the data did not change")
}
