//! Finds the last traceback of a stream of any length.

const MARKER: &[u8] = b"Traceback (most recent call last):";
/// The longest traceback that is kept, in bytes; Python itself shortens deep recursions.
const MAX_TRACEBACK_BYTES: usize = 64 * 1024;

/// Finds the last traceback of a stream, which arrives in pieces.
#[derive(Debug, Default)]
pub(super) struct TracebackScanner {
    /// The last bytes of the stream so far, for a marker that spans two pieces.
    carry: Vec<u8>,
    /// The text from the last marker on.
    found: Option<Vec<u8>>,
}

impl TracebackScanner {
    /// Takes the next piece of the stream.
    pub(super) fn feed(&mut self, piece: &[u8]) {
        let old = self.carry.len();
        self.carry.extend_from_slice(piece);
        let position = memchr::memmem::rfind(&self.carry, MARKER);
        match (position, &mut self.found) {
            (Some(start), found) => *found = Some(self.carry[start..].to_vec()),
            (None, Some(found)) => found.extend_from_slice(&self.carry[old..]),
            (None, None) => {}
        }
        if let Some(found) = &mut self.found {
            found.truncate(MAX_TRACEBACK_BYTES);
        }
        let surplus = self.carry.len().saturating_sub(MARKER.len() - 1);
        self.carry.drain(..surplus);
    }

    /// From the last marker to the exception line; `None` without a marker.
    pub(super) fn traceback(&self) -> Option<String> {
        let text = String::from_utf8_lossy(self.found.as_deref()?);
        Some(up_to_exception(&text).to_owned())
    }
}

/// Truncates the text after the first line behind the marker that is neither empty nor indented.
fn up_to_exception(text: &str) -> &str {
    let mut end = 0;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        end += line.len();
        if index > 0 && !line.trim().is_empty() && !line.starts_with([' ', '\t']) {
            break;
        }
    }
    text[..end].trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_traceback_is_found_however_the_stream_is_cut() {
        let check = |text: &str, expected: Option<&str>| {
            for size in [1, 5, 33, 34, 4096] {
                let mut scanner = TracebackScanner::default();
                text.as_bytes().chunks(size).for_each(|piece| scanner.feed(piece));
                assert_eq!(scanner.traceback().as_deref(), expected, "{text:?} in pieces of {size}");
            }
        };
        let first =
            "Traceback (most recent call last):\n  File \"a.py\", line 1\n    1/0\n\nZeroDivisionError: x";
        let second = "Traceback (most recent call last):\n  File \"b.py\", line 2\nKeyError: 'k'";
        check("", None);
        check("warning: nothing\n", None);
        check(first, Some(first));
        check(&format!("before\n{first}\nafter\n"), Some(first));
        check(&format!("{first}\n\nDuring handling …\n\n{second}\ntail\n"), Some(second));
        check("Traceback (most recent call last):\n", Some("Traceback (most recent call last):"));
        check("Traceback (most recent call last)", None);
    }
}
