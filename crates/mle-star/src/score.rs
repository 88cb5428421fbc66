//! Finds the score line in a stream of any length with a few kilobytes of memory.

use std::sync::LazyLock;

use regex::bytes::Regex;

static PATTERN: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"Final Validation Performance:\s*([0-9.eE+-]+)").ok());

/// Bytes kept between pieces. A longer match is not found.
const OVERLAP: usize = 4096;

/// Finds the last score line of a stream, which arrives in pieces.
#[derive(Debug, Default)]
pub struct ScoreScanner {
    recent: Vec<u8>,
    last: Option<f64>,
}

impl ScoreScanner {
    /// Takes the next piece of the stream.
    pub fn feed(&mut self, piece: &[u8]) {
        self.recent.extend_from_slice(piece);
        if let Some(found) = last_match(&self.recent) {
            self.last = found;
        }
        let surplus = self.recent.len().saturating_sub(OVERLAP);
        self.recent.drain(..surplus);
    }

    /// The value of the last score line; `None` without one, or if it is not a finite number.
    pub fn score(&self) -> Option<f64> {
        self.last
    }
}

/// The score in a complete text.
pub fn parse_score(stdout: &str) -> Option<f64> {
    last_match(stdout.as_bytes()).flatten()
}

/// Outer `None`: no line matches. Inner `None`: the last match is not a finite number.
fn last_match(text: &[u8]) -> Option<Option<f64>> {
    let found = PATTERN.as_ref()?.captures_iter(text).last()?;
    let number = std::str::from_utf8(found.get(1)?.as_bytes()).ok()?;
    Some(number.parse::<f64>().ok().filter(|value| value.is_finite()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_counts_however_the_stream_is_cut() {
        let check = |text: &str, expected: Option<f64>| {
            assert_eq!(parse_score(text), expected, "{text:?}");
            for size in [1, 3, 7, 1000] {
                let mut scanner = ScoreScanner::default();
                text.as_bytes().chunks(size).for_each(|piece| scanner.feed(piece));
                assert_eq!(scanner.score(), expected, "{text:?} in pieces of {size}");
            }
        };
        check("Final Validation Performance: 0.8196\n", Some(0.8196));
        check("Training complete.\n", None);
        check("Final Validation Performance: 0.5\nFinal Validation Performance: 0.8196\n", Some(0.8196));
        check("Final Validation Performance: 0.5\nFinal Validation Performance: 0.82.\n", None);
        check("Final Validation Performance: -1.5e-3 (mean)", Some(-0.0015));
        check("Final Validation Performance: nan", None);
        check("Final Validation Performance: 1e999", None);
        check("Final Validation Performance:\n  0.25\n", Some(0.25));
        check("Final Validation Performance: 0.3 é\u{1F600}", Some(0.3));
    }

    #[test]
    fn a_line_at_the_start_of_a_long_stream_is_kept() {
        let mut scanner = ScoreScanner::default();
        scanner.feed(b"Final Validation Performance: 0.75\n");
        for _ in 0..100 {
            scanner.feed(&[b'x'; 1000]);
        }
        assert_eq!(scanner.score(), Some(0.75));
        assert!(scanner.recent.len() <= OVERLAP + 1000);
    }
}
