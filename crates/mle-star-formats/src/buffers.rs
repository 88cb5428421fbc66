//! What `arrow-ipc` does not look at in an Arrow file.
//!
//! Parts may claim to be longer than the file, and compressed buffers to be any length when they are unpacked. `arrow-ipc`
//! allocates what they claim, and a program whose allocation fails ends. And Arrow 0.17 wrote compressed buffers in its own
//! way, which `arrow-ipc` takes for uncompressed ones.

use std::fs::File as Opened;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

use arrow_ipc::{Block, Message, root_as_footer, root_as_message};

use crate::formats::Format;

/// Buffers are not compressed better than this, apart from small ones.
const MOST_TIMES: u64 = 65_536;
const SMALL: u64 = 1 << 20;
/// The longest message without its body.
const MOST_METADATA: u64 = 256 << 20;
const MAGIC: u64 = 6;
/// Columns of more bytes than this may not have cells of that many bytes on average.
const MOST_MEMORY: u64 = 512 << 20;
const LARGE_CELL: u64 = 1 << 20;
/// How Arrow 0.17 says that buffers are compressed.
const OLD_COMPRESSION: &str = "ARROW:experimental_compression";

/// What the lengths in a file say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Readable,
    /// Cut off, or with lengths that cannot be.
    Damaged,
    /// Written by Arrow 0.17.
    Old,
    /// Cells of a megabyte and more.
    TooLarge,
}

/// Whether the parts of a file can be read: none is longer than the file, none claims to be unpacked more than its compressed
/// length can hold, and none was written by Arrow 0.17. Other faults are left to the reader.
pub(crate) fn are_readable(opened: Opened, format: Format) -> io::Result<Verdict> {
    let mut file = BufReader::new(opened);
    let length = file.seek(SeekFrom::End(0))?;
    if format == Format::ArrowStream { of_stream(&mut file, length) } else { of_file(&mut file, length) }
}

/// A file ends with a footer that says where its messages are, the footer's length, and a mark.
fn of_file(file: &mut BufReader<Opened>, length: u64) -> io::Result<Verdict> {
    let Some(at) = length.checked_sub(MAGIC + 4) else { return Ok(Verdict::Readable) };
    let footer_length = u64::from(u32::from_le_bytes(bytes_at(file, at)?));
    let Some(begin) = at.checked_sub(footer_length) else { return Ok(Verdict::Damaged) };
    let footer = part(file, begin, footer_length)?;
    let Ok(footer) = root_as_footer(&footer) else { return Ok(Verdict::Damaged) };
    let blocks = footer.recordBatches().into_iter().chain(footer.dictionaries()).flatten();
    let place = |block: &Block| -> Option<(u64, u64, u64)> {
        let (offset, metadata) = (block.offset().try_into().ok()?, block.metaDataLength().try_into().ok()?);
        Some((offset, metadata, block.bodyLength().try_into().ok()?))
    };
    let places: Option<Vec<(u64, u64, u64)>> = blocks.map(place).collect();
    let Some(places) = places else { return Ok(Verdict::Damaged) };
    for (offset, metadata, body) in places {
        if offset.saturating_add(metadata).saturating_add(body) > length || metadata > MOST_METADATA {
            return Ok(Verdict::Damaged);
        }
        let message = part(file, offset, metadata)?;
        let prefix = if message.starts_with(&[0xFF; 4]) { 8 } else { 4 };
        // The reader looks for the message in the body, too.
        let Some(Ok(message)) = message.get(prefix..).map(root_as_message) else {
            return Ok(Verdict::Damaged);
        };
        let verdict = are_readable_in(file, &message, offset + metadata)?;
        if verdict != Verdict::Readable {
            return Ok(verdict);
        }
    }
    Ok(Verdict::Readable)
}

/// A stream is a list of messages, each with a mark, its length and its body.
fn of_stream(file: &mut BufReader<Opened>, length: u64) -> io::Result<Verdict> {
    let mut at = 0;
    while at + 8 <= length {
        let [_, _, _, _, size @ ..] = bytes_at::<8>(file, at)?;
        let metadata = u64::from(u32::from_le_bytes(size));
        if metadata == 0 {
            return Ok(Verdict::Readable);
        }
        if at + 8 + metadata > length || metadata > MOST_METADATA {
            return Ok(Verdict::Damaged);
        }
        let message = part(file, at + 8, metadata)?;
        let Ok(message) = root_as_message(&message) else { return Ok(Verdict::Damaged) };
        let body = at + 8 + metadata;
        let verdict = are_readable_in(file, &message, body)?;
        if verdict != Verdict::Readable {
            return Ok(verdict);
        }
        let Ok(size) = u64::try_from(message.bodyLength()) else { return Ok(Verdict::Damaged) };
        at = body.saturating_add(size);
        if at > length {
            return Ok(Verdict::Damaged);
        }
    }
    Ok(Verdict::Readable)
}

fn are_readable_in(file: &mut BufReader<Opened>, message: &Message<'_>, body: u64) -> io::Result<Verdict> {
    if message.custom_metadata().into_iter().flatten().any(|entry| entry.key() == Some(OLD_COMPRESSION)) {
        return Ok(Verdict::Old);
    }
    let dictionary = || message.header_as_dictionary_batch().and_then(|dictionary| dictionary.data());
    let Some(batch) = message.header_as_record_batch().or_else(dictionary) else {
        return Ok(Verdict::Readable);
    };
    if batch.compression().is_none() {
        return Ok(Verdict::Readable);
    }
    for buffer in batch.buffers().into_iter().flatten() {
        let (Ok(offset), Ok(length)) = (u64::try_from(buffer.offset()), u64::try_from(buffer.length()))
        else {
            return Ok(Verdict::Damaged);
        };
        if length < 8 {
            continue;
        }
        // -1 says that the buffer is not compressed.
        let unpacked = i64::from_le_bytes(bytes_at(file, body.saturating_add(offset))?);
        let most = length.saturating_mul(MOST_TIMES).max(SMALL);
        let unpacked = u64::try_from(unpacked).unwrap_or_default();
        if unpacked > most {
            return Ok(Verdict::Damaged);
        }
        if are_too_large(unpacked, u64::try_from(batch.length()).unwrap_or_default()) {
            return Ok(Verdict::TooLarge);
        }
    }
    Ok(Verdict::Readable)
}

/// Whether so many bytes of so few cells are no column of a table. They would be in memory at once.
pub(crate) fn are_too_large(bytes: u64, cells: u64) -> bool {
    bytes > MOST_MEMORY && bytes / cells.max(1) > LARGE_CELL
}

fn bytes_at<const COUNT: usize>(file: &mut BufReader<Opened>, at: u64) -> io::Result<[u8; COUNT]> {
    let mut bytes = [0; COUNT];
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn part(file: &mut BufReader<Opened>, at: u64, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(at))?;
    file.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}
