//! Takes the predictions for the held-out rows out of a submission.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

use mle_star_domain::trouble::Trouble;

use super::write::{beside, replace};
use crate::folder::Source;
use crate::missing::Words;
use crate::records::{self, Records, value, without_line_ends};
use crate::seeded::Seeded;

/// Where the row of an ID is: the ID's digest, the beginning and the end of the row.
type Place = (u64, u64, u64);

/// Writes the rows of a submission whose IDs the original sample submission has, in its order.
///
/// # Errors
/// A file cannot be read or written, or the submission has no row for an ID. The message names the ID.
pub fn trim(submission: &Path, original_sample: &Path, id_column: &str, into: &Path) -> Result<(), Trouble> {
    let partial = beside(into);
    let written = write(submission, original_sample, id_column, &partial);
    replace(written, &partial, into).map_err(|error| {
        let message =
            format!("cannot take the rows of the sample submission from {}: {error}", submission.display());
        Trouble::new(message, "check that the submission has a row for each row of the sample submission")
    })
}

fn write(submission: &Path, sample: &Path, id: &str, into: &Path) -> io::Result<()> {
    let (folder, submission) = plain(submission);
    let (sample_folder, sample) = plain(sample);
    records::read(sample_folder, &sample, |mut asked| {
        let position = asked.position(id)?;
        let in_order = records::read(folder, &submission, |mut given| {
            in_order(&mut asked, position, &mut given, id, into)
        })?;
        if in_order { Ok(()) } else { any_order(sample_folder, &sample, (folder, &submission), id, into) }
    })
}

/// The folder of a file, and the file as a plain table.
fn plain(path: &Path) -> (&Path, Source) {
    let name = path.file_name().unwrap_or_default();
    (path.parent().unwrap_or(Path::new("")), Source { file: name.into() })
}

/// Writes the rows while each ID comes after the one before it. Returns whether all did.
fn in_order(
    asked: &mut Records<'_>,
    position: usize,
    given: &mut Records<'_>,
    id: &str,
    into: &Path,
) -> io::Result<bool> {
    let given_position = given.position(id)?;
    let mut file = BufWriter::new(File::create(into)?);
    start(&mut file, given)?;
    while asked.next()? {
        let wanted = value(asked.row(), position, Words::ALL);
        loop {
            if !given.next()? {
                return Ok(false);
            }
            if value(given.row(), given_position, Words::ALL) == wanted {
                break;
            }
        }
        file.write_all(given.text())?;
        file.write_all(given.line_end())?;
    }
    file.flush()?;
    Ok(true)
}

fn start(file: &mut impl Write, given: &Records<'_>) -> io::Result<()> {
    file.write_all(given.header_text())?;
    file.write_all(given.line_end())
}

/// Writes the rows by an index of the submission.
fn any_order(
    sample_folder: &Path,
    sample: &Source,
    (folder, submission): (&Path, &Source),
    id: &str,
    into: &Path,
) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(into)?);
    let seeded = Seeded::new(0, "ids");
    let (places, line_end) = records::read(folder, submission, |mut given| {
        start(&mut file, &given)?;
        Ok((index(&mut given, id, seeded)?, given.line_end()))
    })?;
    let text = submission.open(folder)?;
    let mut row = Vec::new();
    records::read(sample_folder, sample, |mut asked| {
        let position = asked.position(id)?;
        while asked.next()? {
            let wanted = value(asked.row(), position, Words::ALL).unwrap_or_default();
            let digest = seeded.of(wanted.as_bytes());
            let at = places.partition_point(|place| place.0 < digest);
            let Some((_, start, end)) = places.get(at).filter(|place| place.0 == digest) else {
                return Err(io::Error::other(format!("it has no row with {id} {wanted}")));
            };
            row.resize(usize::try_from(end - start).map_err(io::Error::other)?, 0);
            text.read_exact_at(&mut row, *start)?;
            file.write_all(without_line_ends(&row))?;
            file.write_all(line_end)?;
        }
        Ok(())
    })?;
    file.flush()
}

/// The places of all rows, by the digests of their IDs.
fn index(given: &mut Records<'_>, id: &str, seeded: Seeded) -> io::Result<Vec<Place>> {
    let position = given.position(id)?;
    let mut places = Vec::new();
    while given.next()? {
        let (start, end) = given.span();
        places.push((
            seeded.of(value(given.row(), position, Words::ALL).unwrap_or_default().as_bytes()),
            start,
            end,
        ));
    }
    places.sort_unstable();
    Ok(places)
}
