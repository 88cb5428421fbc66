//! Whether a file is plain CSV, from a few parts of it.

use std::fs::File as Opened;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use mle_star_domain::trouble::Trouble;

use crate::detect::detect;
use crate::dialect::Dialect;
use crate::formats::Format;
use crate::notation::{Encoding, LineEnd, decide};
use crate::numbers::Tally;
use crate::packing::{Packing, read_full};
use crate::records::Records;
use crate::shape::{self, is_line_of_blanks};
use crate::text;
use crate::trouble::File;

/// The bytes that are looked at in the beginning of a file, and in each of the places after it.
const HEAD: usize = 1 << 20;
const PART: usize = 128 << 10;
/// The places after the beginning, the end included.
const PARTS: u64 = 16;

/// Whether a file already is what scripts read: comma-separated UTF-8 without a byte order mark, with lines that end with
/// `\n` or `\r\n`, and without anything that [`open`](crate::open) would translate or leave out. All bytes are looked at for
/// being UTF-8, which is as fast as reading; numbers and rows only in the first megabyte and sixteen further places, the end
/// among them, so what only stands elsewhere is not seen. `false` means that [`open`](crate::open) must be asked.
///
/// # Errors
/// As [`detect()`].
pub fn is_plain(path: &Path) -> Result<bool, Trouble> {
    let detected = detect(path)?;
    if (detected.format, detected.packing) != (Format::Delimited, Packing::None) {
        return Ok(false);
    }
    let plain = looks_plain(path).and_then(|plain| Ok(plain && is_utf8(&mut Opened::open(path)?)?));
    plain.map_err(|error| File(path).io(&error))
}

/// Whether all bytes are UTF-8, and none is NUL.
fn is_utf8(input: &mut dyn Read) -> io::Result<bool> {
    let (mut bytes, mut kept) = (vec![0; HEAD], 0);
    loop {
        let count = read_full(input, &mut bytes[kept..])?;
        let found = &bytes[..kept + count];
        let valid = match std::str::from_utf8(found) {
            Ok(_) => found.len(),
            // The part may end within a character.
            Err(error) if error.error_len().is_none() && count > 0 => error.valid_up_to(),
            Err(_) => return Ok(false),
        };
        if memchr::memchr(0, found).is_some() {
            return Ok(false);
        }
        let end = found.len();
        bytes.copy_within(valid..end, 0);
        kept = end - valid;
        if count == 0 {
            return Ok(true);
        }
    }
}

fn looks_plain(path: &Path) -> io::Result<bool> {
    let mut file = Opened::open(path)?;
    let length = file.metadata()?.len();
    let head = part(&mut file, 0, HEAD)?;
    let is_whole = head.len() as u64 == length;
    let whole_lines = if is_whole { &head[..] } else { up_to_line_end(&head) };
    let is_comma = Dialect::of(&head, is_whole, None) == Dialect { delimiter: b',', names_itself: false };
    if text::encoding(&head) != Encoding::Utf8 || text::line_end(&head) == LineEnd::Cr || !is_comma {
        return Ok(false);
    }
    let Some((names, mut tallies)) = header(whole_lines) else { return Ok(false) };
    if names.last().is_some_and(|name| name.trim().is_empty())
        || !are_plain(whole_lines, true, &mut tallies, true)
    {
        return Ok(false);
    }
    let ends = if is_whole { 0 } else { PARTS };
    for at in 1..=ends {
        let from = (length - HEAD as u64) / PARTS * at + HEAD as u64;
        let from = if at == PARTS { length.saturating_sub(PART as u64) } else { from.min(length) };
        let bytes = part(&mut file, from, PART)?;
        let rows = bytes.iter().position(|byte| *byte == b'\n').map_or(&[][..], |feed| &bytes[feed + 1..]);
        let rows = if at == PARTS { rows } else { up_to_line_end(rows) };
        if !are_plain(rows, false, &mut tallies, at == PARTS) {
            return Ok(false);
        }
    }
    let notation = decide(&names, &tallies, ',', None);
    Ok(notation.translated().next().is_none() && notation.ambiguous.is_empty())
}

fn part(file: &mut Opened, from: u64, length: usize) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::with_capacity(length);
    file.take(length as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn up_to_line_end(bytes: &[u8]) -> &[u8] {
    &bytes[..memchr::memrchr(b'\n', bytes).map_or(0, |feed| feed + 1)]
}

fn header(bytes: &[u8]) -> Option<(Vec<String>, Vec<Tally>)> {
    let mut records = Records::new(bytes, b',');
    records.next().ok()??;
    let names: Option<Vec<String>> =
        records.cells().map(|cell| std::str::from_utf8(cell).ok().map(ToOwned::to_owned)).collect();
    let names = names?;
    let tallies = vec![Tally::default(); names.len()];
    Some((names, tallies))
}

/// Whether these rows have the header's width, no NUL, and content in the last one. Parts may begin within a quoted cell:
/// then they look irregular, which costs a pass over the file, but is no error.
fn are_plain(rows: &[u8], has_header: bool, tallies: &mut [Tally], is_end: bool) -> bool {
    if std::str::from_utf8(rows).is_err() || memchr::memchr(0, rows).is_some() {
        return false;
    }
    let mut records = Records::new(rows, b',');
    let mut skip = has_header;
    let mut is_blank = false;
    loop {
        match records.next() {
            Err(_) => return false,
            Ok(None) => return !(is_end && is_blank),
            Ok(Some(_)) if std::mem::take(&mut skip) => continue,
            Ok(Some(_)) if records.cells().len() != tallies.len() => return false,
            Ok(Some(_)) => {}
        }
        let only = (tallies.len() == 1).then(|| records.cells().next()).flatten();
        if only.and_then(|cell| std::str::from_utf8(cell).ok()).is_some_and(is_line_of_blanks) {
            return false;
        }
        is_blank = true;
        for (tally, cell) in tallies.iter_mut().zip(records.cells()) {
            let cell = std::str::from_utf8(cell).unwrap_or_default();
            is_blank &= shape::is_blank(cell);
            tally.add(cell);
        }
    }
}
