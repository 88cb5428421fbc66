//! SQLite's write-ahead log: checked before SQLite reads it, and read without SQLite.
//!
//! SQLite stops at the first frame whose checksum is wrong and reports nothing. That is right for an interrupted
//! write, but wrong for a byte that changed on the disk: every later record would be lost silently. In addition,
//! SQLite reads a log only through a shared-memory file, which it creates; [`apply`] needs none. The format is
//! described at <https://www.sqlite.org/fileformat2.html#walformat>.

#![expect(clippy::disallowed_methods, reason = "the log belongs to the journal")]

use std::path::Path;

use super::JournalError;

const HEADER: usize = 32;
const FRAME_HEADER: usize = 24;
const MAGIC: u32 = 0x377f_0682;
const SMALLEST_PAGE: usize = 512;

/// Checks the log at `path`. An invalid last frame is not an error: an interrupted write leaves one.
///
/// # Errors
/// The header is invalid, or an invalid frame is followed by the last one of a transaction.
pub(super) fn check(path: &Path) -> Result<(), JournalError> {
    let bytes = match std::fs::read(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        read => read?,
    };
    damage(path, &bytes).map_or(Ok(()), Err)
}

/// The damage in the bytes of the log at `path`, if any.
pub(super) fn damage(path: &Path, bytes: &[u8]) -> Option<JournalError> {
    let Scan { good, wrong } = scan(bytes);
    wrong.map(|Wrong { frame, offset }| JournalError::LogDamaged { path: path.into(), frame, offset, good })
}

/// Writes the pages of every complete transaction of a log into its database, as SQLite would. Stops at a page
/// that would make the database larger than `most` bytes.
pub(super) fn apply(log: &[u8], database: &mut Vec<u8>, most: usize) {
    let page = page_size(log);
    let whole = log.get(HEADER..scan(log).good).unwrap_or_default();
    for frame in whole.chunks_exact(FRAME_HEADER + page) {
        let pages = word(frame, 0).max(word(frame, 4)) as usize;
        if pages.saturating_mul(page) > most {
            return;
        }
        let end = word(frame, 0) as usize * page;
        if database.len() < end {
            database.resize(end, 0);
        }
        database[end - page..end].copy_from_slice(&frame[FRAME_HEADER..]);
        // The last frame of a transaction says how many pages the database has after it.
        match word(frame, 4) as usize {
            0 => {}
            pages => database.resize(pages * page, 0),
        }
    }
}

/// How much of a log is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Scan {
    /// Bytes up to the end of the last complete transaction.
    good: usize,
    wrong: Option<Wrong>,
}

/// The first invalid frame of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wrong {
    /// The frame, counted from 1; 0 is the header.
    frame: usize,
    /// Its offset in bytes.
    offset: usize,
}

fn scan(bytes: &[u8]) -> Scan {
    let Some(header) = bytes.get(..HEADER) else { return Scan { good: 0, wrong: None } };
    let Some(mut sum) = Sum::of_header(header) else {
        return Scan { good: 0, wrong: Some(Wrong { frame: 0, offset: 0 }) };
    };
    let (salts, mut good) = (&header[16..24], HEADER);
    let mut frames = bytes[HEADER..].chunks_exact(FRAME_HEADER + page_size(bytes)).enumerate();
    let of_this_log = |frame: &[u8]| &frame[8..16] == salts;
    for (index, frame) in frames.by_ref() {
        let offset = HEADER + index * frame.len();
        sum.add(&frame[..8]);
        sum.add(&frame[FRAME_HEADER..]);
        if !of_this_log(frame) || !sum.is(frame, 16) || word(frame, 0) == 0 {
            // A restarted log is followed by frames of the previous log, which have other salts. A transaction that
            // found the disk full is followed by its own frames behind those that overwrote its beginning; it has no
            // last frame.
            let is_inside = frames.any(|(_, later)| of_this_log(later) && word(later, 4) != 0);
            return Scan { good, wrong: is_inside.then_some(Wrong { frame: index + 1, offset }) };
        }
        if word(frame, 4) != 0 {
            good = offset + frame.len();
        }
    }
    Scan { good, wrong: None }
}

fn page_size(log: &[u8]) -> usize {
    match word(log, 8) {
        1 => 65_536,
        size => size as usize,
    }
}

/// The running checksum.
struct Sum {
    big_endian: bool,
    sum: [u32; 2],
}

impl Sum {
    /// `None` if `header` is not that of a log.
    fn of_header(header: &[u8]) -> Option<Self> {
        let magic = word(header, 0);
        let mut sum = Self { big_endian: magic & 1 == 1, sum: [0; 2] };
        sum.add(&header[..24]);
        (magic & !1 == MAGIC && page_size(header) >= SMALLEST_PAGE && sum.is(header, 24)).then_some(sum)
    }

    fn add(&mut self, bytes: &[u8]) {
        let read =
            |word: [u8; 4]| if self.big_endian { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) };
        let [mut one, mut other] = self.sum;
        for pair in bytes.as_chunks::<8>().0 {
            let [a, b, c, d, e, f, g, h] = *pair;
            one = one.wrapping_add(read([a, b, c, d])).wrapping_add(other);
            other = other.wrapping_add(read([e, f, g, h])).wrapping_add(one);
        }
        self.sum = [one, other];
    }

    fn is(&self, bytes: &[u8], at: usize) -> bool {
        self.sum == [word(bytes, at), word(bytes, at + 4)]
    }
}

/// The big-endian number at an offset; 0 past the end.
pub(super) fn word(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |bytes| u32::from_be_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: u32 = 512;

    /// A log without frames, and its checksum.
    fn empty() -> (Vec<u8>, Sum) {
        let mut log: Vec<u8> =
            [MAGIC, 3_007_000, PAGE, 0, 7, 9].into_iter().flat_map(u32::to_be_bytes).collect();
        let mut sum = Sum { big_endian: false, sum: [0; 2] };
        sum.add(&log);
        log.extend(sum.sum.into_iter().flat_map(u32::to_be_bytes));
        (log, sum)
    }

    /// Appends a frame; `pages` is 0 unless it is the last one of a transaction.
    fn append(log: &mut Vec<u8>, sum: &mut Sum, pages: u32, fill: u8) {
        let head: Vec<u8> = [1, pages].into_iter().flat_map(u32::to_be_bytes).collect();
        let page = vec![fill; PAGE as usize];
        sum.add(&head);
        sum.add(&page);
        log.extend(&head);
        log.extend([7_u32, 9].into_iter().chain(sum.sum).flat_map(u32::to_be_bytes));
        log.extend(page);
    }

    /// The frames of a transaction of three pages, of which the first is overwritten by a transaction of one.
    fn overwritten(last: u32) -> Vec<u8> {
        let (mut log, sum) = empty();
        let (mut failed, mut at) = (log.clone(), Sum { ..sum });
        for pages in [0, 0, last] {
            append(&mut failed, &mut at, pages, 1);
        }
        let mut at = Sum { ..sum };
        append(&mut log, &mut at, 5, 2);
        log.extend(&failed[log.len()..]);
        log
    }

    #[test]
    fn frames_of_a_transaction_that_found_the_disk_full_are_no_damage() {
        let good = HEADER + FRAME_HEADER + PAGE as usize;
        assert_eq!(scan(&overwritten(0)), Scan { good, wrong: None });
        let wrong = Some(Wrong { frame: 2, offset: good });
        assert_eq!(scan(&overwritten(5)), Scan { good, wrong });
    }
}
