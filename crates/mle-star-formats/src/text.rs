//! Text files as UTF-8: byte order marks, UTF-16 and Windows-1252.

use std::io::{self, Read};

use encoding_rs::{Decoder, DecoderResult, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use crate::notation::{Encoding, LineEnd};

/// Bytes read at a time.
const CHUNK: usize = 64 << 10;
/// From the beginning of a file, the bytes that say how it is encoded.
const HEAD: usize = 4_096;

/// The room that the decoder gets at least: into less than one character it writes nothing.
const ROOM: usize = 16;

/// A file's bytes as UTF-8, without byte order mark. All carriage returns become line feeds where they end lines. Bytes that
/// are called UTF-8 pass unchanged, whatever they are.
pub(crate) struct Utf8<R> {
    input: R,
    decoder: Option<Decoder>,
    /// What was read, but not decoded.
    bytes: Vec<u8>,
    used: usize,
    /// What was decoded, but had no room.
    left: Vec<u8>,
    is_at_end: bool,
    /// Whether the decoder has seen the end.
    is_done: bool,
    /// Bytes of the byte order mark that are still to be skipped.
    skip: usize,
    line_end: LineEnd,
}

/// What a whole pass says about bytes that are not all UTF-8.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Survey {
    /// Characters of several bytes.
    pub(crate) wide: u64,
    /// Bytes that belong to no character.
    pub(crate) invalid: u64,
    /// The line of the first of these, from 1.
    pub(crate) line: u64,
}

impl<R: Read> Utf8<R> {
    /// The text of a file that is encoded like this.
    pub(crate) fn new(input: R, encoding: Encoding, line_end: LineEnd) -> Self {
        let decoder = match encoding {
            Encoding::Utf8 | Encoding::Utf8Mark => None,
            Encoding::Utf16Le => Some(UTF_16LE.new_decoder_with_bom_removal()),
            Encoding::Utf16Be => Some(UTF_16BE.new_decoder_with_bom_removal()),
            Encoding::Windows1252 => Some(WINDOWS_1252.new_decoder_without_bom_handling()),
        };
        let skip = if encoding == Encoding::Utf8Mark { 3 } else { 0 };
        let (bytes, left) = (Vec::new(), Vec::new());
        Self { input, decoder, bytes, used: 0, left, is_at_end: false, is_done: false, skip, line_end }
    }

    fn fill(&mut self) -> io::Result<()> {
        self.bytes.drain(..self.used);
        self.used = 0;
        let before = self.bytes.len();
        self.bytes.resize(before + CHUNK, 0);
        let count = loop {
            match self.input.read(&mut self.bytes[before..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        self.bytes.truncate(before + count);
        self.is_at_end = count == 0;
        Ok(())
    }

    fn decode(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.left.is_empty() && into.len() >= ROOM {
            return self.decode_into(into);
        }
        if self.left.is_empty() {
            let mut room = [0; ROOM];
            let count = self.decode_into(&mut room)?;
            self.left.extend_from_slice(&room[..count]);
        }
        let count = into.len().min(self.left.len());
        into[..count].copy_from_slice(&self.left[..count]);
        self.left.drain(..count);
        Ok(count)
    }

    /// There must be [`ROOM`].
    fn decode_into(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while !self.is_done {
            if self.used == self.bytes.len() && !self.is_at_end {
                self.fill()?;
            }
            let Some(decoder) = &mut self.decoder else { return Ok(0) };
            let rest = &self.bytes[self.used..];
            let (result, used, written) =
                decoder.decode_to_utf8_without_replacement(rest, into, self.is_at_end);
            self.used += used;
            if let DecoderResult::Malformed(..) = result {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "a character is damaged or cut off"));
            }
            self.is_done = self.is_at_end && result == DecoderResult::InputEmpty;
            if written > 0 {
                return Ok(written);
            }
        }
        Ok(0)
    }
}

impl<R: Read> Read for Utf8<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.skip > 0 {
            let mut mark = [0; 3];
            let count = self.input.read(&mut mark[..self.skip])?;
            self.skip = if count == 0 { 0 } else { self.skip - count };
        }
        let count = if self.decoder.is_some() { self.decode(into)? } else { self.input.read(into)? };
        if self.line_end == LineEnd::Cr {
            into[..count].iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
        }
        Ok(count)
    }
}

/// The encoding that the first bytes of a file say; UTF-8 if they say none.
pub(crate) fn encoding(head: &[u8]) -> Encoding {
    match head {
        [0xEF, 0xBB, 0xBF, ..] => return Encoding::Utf8Mark,
        [0xFF, 0xFE, ..] => return Encoding::Utf16Le,
        [0xFE, 0xFF, ..] => return Encoding::Utf16Be,
        _ => {}
    }
    // Most characters of a table are ASCII, whose high byte is zero.
    let head = &head[..head.len().min(HEAD)];
    let zeros = |first: usize| head.iter().skip(first).step_by(2).filter(|byte| **byte == 0).count();
    let (even, odd) = (zeros(0), zeros(1));
    let half = head.len() / 4;
    match (even > half && odd <= even / 8, odd > half && even <= odd / 8) {
        (true, _) if head.len() > 3 => Encoding::Utf16Be,
        (_, true) if head.len() > 3 => Encoding::Utf16Le,
        _ => Encoding::Utf8,
    }
}

/// What ends the lines of this text, the first part of a file.
pub(crate) fn line_end(head: &[u8]) -> LineEnd {
    let feeds = memchr::memchr_iter(b'\n', head).count();
    let pairs = memchr::memmem::find_iter(head, b"\r\n").count();
    match (feeds, pairs) {
        (0, _) if head.contains(&b'\r') => LineEnd::Cr,
        (feeds, pairs) if pairs > 0 && pairs * 2 >= feeds => LineEnd::CrLf,
        _ => LineEnd::Lf,
    }
}

/// Counts the characters of several bytes and the bytes that are not UTF-8.
pub(crate) fn survey(input: &mut dyn Read) -> io::Result<Survey> {
    let mut survey = Survey::default();
    let mut decoder = UTF_8.new_decoder_without_bom_handling();
    let mut bytes = vec![0; CHUNK];
    let mut text = vec![0; CHUNK * 4];
    let mut line = 1;
    loop {
        let count = input.read(&mut bytes)?;
        let mut used = 0;
        loop {
            let last = count == 0;
            let (result, read, written) =
                decoder.decode_to_utf8_without_replacement(&bytes[used..count], &mut text, last);
            used += read;
            let found = &text[..written];
            survey.wide += found.iter().filter(|byte| **byte >= 0xC0).count() as u64;
            line += memchr::memchr_iter(b'\n', found).count() as u64;
            match result {
                DecoderResult::Malformed(..) => {
                    survey.line = if survey.invalid == 0 { line } else { survey.line };
                    survey.invalid += 1;
                }
                DecoderResult::InputEmpty => break,
                DecoderResult::OutputFull => {}
            }
        }
        if count == 0 {
            return Ok(survey);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_room_holds_parts_of_characters() {
        let text = "id,naïve\n1,ü\n2,\u{1F600}\n".repeat(3);
        let units = "\u{feff}".encode_utf16().chain(text.encode_utf16());
        let bytes: Vec<u8> = units.flat_map(u16::to_le_bytes).collect();
        for room in 1..20 {
            let mut input = Utf8::new(bytes.as_slice(), Encoding::Utf16Le, LineEnd::Lf);
            let (mut found, mut part) = (Vec::new(), vec![0; room]);
            loop {
                match input.read(&mut part).unwrap() {
                    0 => break,
                    count => found.extend_from_slice(&part[..count]),
                }
            }
            assert_eq!(String::from_utf8(found).unwrap(), text, "{room}");
        }
    }
}
