//! Server-sent events: the data of each event, from bytes that arrive in any pieces.
//!
//! Written here, because the length needs a limit. Names, IDs and retry times of events are not used.

/// The longest answer, or event of a stream, that is read, in bytes.
pub(crate) const MAX_EVENT: usize = 16 * 1024 * 1024;
/// The longest stream that is read, in bytes. Each token comes in an event of some hundred bytes.
pub(crate) const MAX_STREAM: usize = 16 * MAX_EVENT;

/// Reads a stream of events.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    /// The line that is not complete yet.
    line: Vec<u8>,
    /// The data of the event that is not complete yet.
    data: Option<String>,
    /// How many bytes were read.
    read: usize,
}

/// The stream, or an event of it, is longer than any answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

impl Reader {
    /// The data of the events that end with these bytes.
    ///
    /// # Errors
    /// The stream or an event of it is too long.
    pub(crate) fn push(&mut self, mut bytes: &[u8]) -> Result<Vec<String>, TooLong> {
        self.read += bytes.len();
        if self.read > MAX_STREAM {
            return Err(TooLong);
        }
        let mut events = Vec::new();
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            self.line.extend_from_slice(&bytes[..end]);
            bytes = &bytes[end + 1..];
            events.extend(self.end_line());
        }
        self.line.extend_from_slice(bytes);
        let event = self.line.len() + self.data.as_ref().map_or(0, String::len);
        if event > MAX_EVENT { Err(TooLong) } else { Ok(events) }
    }

    /// The data of an event that no blank line ended before the stream did.
    pub(crate) fn finish(&mut self) -> Option<String> {
        self.end_line().or_else(|| self.data.take())
    }

    fn end_line(&mut self) -> Option<String> {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        let line = line.strip_suffix('\r').unwrap_or(&line);
        if line.is_empty() {
            return self.data.take();
        }
        if let Some(data) = line.strip_prefix("data:") {
            let data = data.strip_prefix(' ').unwrap_or(data);
            match &mut self.data {
                Some(before) => {
                    before.push('\n');
                    before.push_str(data);
                }
                None => self.data = Some(data.to_owned()),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The events of a stream in pieces of this size.
    fn events(stream: &str, size: usize) -> Vec<String> {
        let mut reader = Reader::default();
        let mut events: Vec<String> =
            stream.as_bytes().chunks(size).flat_map(|piece| reader.push(piece).unwrap()).collect();
        events.extend(reader.finish());
        events
    }

    #[test]
    fn events_are_read_whatever_the_pieces() {
        let check = |stream: &str, expected: &[&str]| {
            for size in [1, 2, 3, 7, 1000] {
                assert_eq!(events(stream, size), expected, "{stream:?} by {size}");
            }
        };
        check("", &[]);
        check("data: a\n\ndata: b\n\n", &["a", "b"]);
        check("data:a\r\n\r\ndata: b\r\n\r\n", &["a", "b"]);
        check(": keep-alive\n\nevent: x\nid: 1\ndata: a\nretry: 3\n\n", &["a"]);
        check("data: a\ndata: b\n\n", &["a\nb"]);
        check("data: grüße 🦀\n\n", &["grüße 🦀"]);
        check("data: the end comes without a blank line\n", &["the end comes without a blank line"]);
        check("data: nor a line end", &["nor a line end"]);
    }

    #[test]
    fn a_stream_or_event_without_end_is_refused() {
        let refused_after = |piece: &[u8]| {
            let mut reader = Reader::default();
            (1..).find(|_| reader.push(piece) == Err(TooLong)).unwrap() * piece.len()
        };
        let lines = b": ping\n".repeat(100_000);
        assert!((MAX_STREAM..MAX_STREAM + 2 * lines.len()).contains(&refused_after(&lines)));
        let line = vec![b'x'; 1024 * 1024];
        assert_eq!(refused_after(&line), MAX_EVENT + line.len());
        let data = [b"data: ".as_slice(), &line, b"\n"].concat();
        assert!((MAX_EVENT..MAX_EVENT + 2 * data.len()).contains(&refused_after(&data)));
    }
}
