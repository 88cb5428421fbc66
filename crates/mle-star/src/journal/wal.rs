//! SQLite's write-ahead log, looked through before SQLite reads it.
//!
//! SQLite stops reading at the first frame whose checksum is wrong and says nothing: right for a write that was
//! cut short, wrong for a byte that changed on the disk, since every record behind it would be lost in silence.
//! The format is described at <https://www.sqlite.org/fileformat2.html#walformat>.

#![expect(clippy::disallowed_methods, reason = "the log belongs to the journal")]

use std::path::Path;

use super::JournalError;

const HEADER: usize = 32;
const FRAME_HEADER: usize = 24;
const MAGIC: u32 = 0x377f_0682;

/// Checks the log at `path`. One frame that is wrong at the end is what a write that was cut short leaves.
///
/// # Errors
/// Its header is wrong, or a frame is that others follow.
pub(super) fn check(path: &Path) -> Result<(), JournalError> {
    let bytes = match std::fs::read(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        read => read?,
    };
    match damage(&bytes) {
        Some(Damage { frame, offset, good }) => {
            Err(JournalError::LogDamaged { path: path.into(), frame, offset, good })
        }
        None => Ok(()),
    }
}

/// Where a log is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Damage {
    /// The frame, counted from 1; 0 is the header.
    frame: usize,
    /// Where it begins, in bytes.
    offset: usize,
    /// Bytes up to the end of the last transaction before it.
    good: usize,
}

fn damage(bytes: &[u8]) -> Option<Damage> {
    let header = bytes.get(..HEADER)?;
    let Some(mut sum) = Sum::of_header(header) else {
        return Some(Damage { frame: 0, offset: 0, good: 0 });
    };
    let page = match word(header, 8) {
        1 => 65_536,
        size => size as usize,
    };
    let (salts, mut good) = (&header[16..24], HEADER);
    let mut frames = bytes[HEADER..].chunks_exact(FRAME_HEADER + page).enumerate();
    let of_this_log = |frame: &[u8]| &frame[8..16] == salts;
    for (index, frame) in frames.by_ref() {
        let offset = HEADER + index * frame.len();
        sum.add(&frame[..8]);
        sum.add(&frame[FRAME_HEADER..]);
        if !of_this_log(frame) || !sum.is(frame, 16) {
            // Behind the end of a log that was begun anew lie frames of the one before it.
            let is_inside = frames.any(|(_, later)| of_this_log(later));
            return is_inside.then_some(Damage { frame: index + 1, offset, good });
        }
        if word(frame, 4) != 0 {
            good = offset + frame.len();
        }
    }
    None
}

/// The running checksum.
struct Sum {
    big_endian: bool,
    sum: [u32; 2],
}

impl Sum {
    /// `None` for a header that is not one.
    fn of_header(header: &[u8]) -> Option<Self> {
        let magic = word(header, 0);
        let mut sum = Self { big_endian: magic & 1 == 1, sum: [0; 2] };
        sum.add(&header[..24]);
        (magic & !1 == MAGIC && sum.is(header, 24)).then_some(sum)
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

/// The big-endian number at a place that is there.
fn word(bytes: &[u8], at: usize) -> u32 {
    bytes[at..].first_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes))
}
