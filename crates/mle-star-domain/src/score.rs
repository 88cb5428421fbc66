//! Finds the score line in a stream of any length with a few kilobytes of memory.

use memchr::memmem;
use serde::{Deserialize, Serialize};

/// What stands before the score; blanks and line ends may follow.
pub const LABEL: &str = "Final Validation Performance:";

/// Bytes kept between pieces. A longer match is not found.
const OVERLAP: usize = 4096;

/// Finds the last score line of a stream, which arrives in pieces.
#[derive(Debug, Default)]
pub struct ScoreScanner {
    recent: Vec<u8>,
    last: Option<Printed>,
}

/// A printed number.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Printed {
    /// Its value.
    pub value: f64,
    /// Half a unit of its last digit.
    pub rounding: f64,
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
        self.last.map(|printed| printed.value)
    }

    /// The number in the last score line; `None` as for [`ScoreScanner::score`].
    pub fn printed(&self) -> Option<Printed> {
        self.last
    }
}

impl Printed {
    /// Whether the number is `computed` up to rounding: half a unit of its last digit, or a relative 1e-6.
    pub fn agrees_with(self, computed: f64) -> bool {
        let tolerance = self.rounding.max(1e-6 * computed.abs());
        // The difference of two decimal numbers is rarely exact.
        (self.value - computed).abs() <= tolerance * (1.0 + 1e-9)
    }

    fn parse(number: &str) -> Option<Self> {
        let value = number.parse::<f64>().ok().filter(|value| value.is_finite())?;
        let (digits, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
        let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let exponent: i32 = exponent.parse().ok()?;
        let rounding = 0.5 * 10f64.powi(exponent.checked_sub(i32::try_from(decimals).ok()?)?);
        Some(Self { value, rounding })
    }
}

/// The score in a complete text.
pub fn parse_score(stdout: &str) -> Option<f64> {
    last_match(stdout.as_bytes()).flatten().map(|printed| printed.value)
}

/// Outer `None`: no line matches. Inner `None`: the last match is not a finite number.
fn last_match(text: &[u8]) -> Option<Option<Printed>> {
    let mut before = text;
    while let Some(at) = memmem::rfind(before, LABEL.as_bytes()) {
        if let Some(number) = number(&text[at + LABEL.len()..]) {
            return Some(Printed::parse(number));
        }
        before = &text[..at];
    }
    None
}

/// The characters of a number at the start of a text, after blanks; `None` if there are none.
fn number(text: &[u8]) -> Option<&str> {
    let text = text.trim_ascii_start();
    // Python prints these. They are no scores, but what the script said last.
    let letters = text.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let is_word = |word: &&[u8]| text[..letters].eq_ignore_ascii_case(word);
    if [&b"nan"[..], b"inf", b"infinity"].iter().any(is_word) {
        return Some("nan");
    }
    let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-');
    let length = text.iter().take_while(|byte| is_part(byte)).count();
    std::str::from_utf8(&text[..length]).ok().filter(|number| !number.is_empty())
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
        check("Final Validation Performance: 0.4\nFinal Validation Performance: nan\n", None);
        check("Final Validation Performance: 0.4\nFinal Validation Performance: Infinity\n", None);
        check("Final Validation Performance: 0.4\nFinal Validation Performance: information\n", Some(0.4));
        check("Final Validation Performance: 0.5\nFinal Validation Performance: 0.8196\n", Some(0.8196));
        check("Final Validation Performance: 0.5\nFinal Validation Performance: 0.82.\n", None);
        check("Final Validation Performance: -1.5e-3 (mean)", Some(-0.0015));
        check("Final Validation Performance: nan", None);
        check("Final Validation Performance: 1e999", None);
        check("Final Validation Performance:\n  0.25\n", Some(0.25));
        check("Final Validation Performance: 0.4\nFinal Validation Performance: none\n", Some(0.4));
        check("Final Validation Performance: 0.3 é\u{1F600}", Some(0.3));
    }

    #[test]
    fn printed_numbers_agree_up_to_their_last_digit() {
        let check = |printed: &str, computed: f64, expected: bool| {
            let printed = Printed::parse(printed).unwrap();
            assert_eq!(printed.agrees_with(computed), expected, "{printed:?} {computed}");
        };
        check("0.82", 0.8196, true);
        check("0.82", 0.815, true);
        check("0.82", 0.8149, false);
        check("0.8196", 0.8197, false);
        check("0.81960000001", 0.8196, true);
        check("16", 16.4, true);
        check("16.", 16.6, false);
        check("1.5e-3", 0.00154, true);
        check("1.5e-3", 0.00156, false);
        check("123456.7890123", 123_456.80, true);
        check("-0.5", 0.5, false);
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
