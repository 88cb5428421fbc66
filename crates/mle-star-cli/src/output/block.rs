//! Lines that stay at the bottom of a terminal while others scroll above them.
//!
//! Every line of the block ends with a line feed, so that output after a killed program starts on a new line. The
//! cursor is never hidden and no terminal mode is changed, so there is nothing to restore.

/// A line with its colours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawnLine {
    /// The text, without a line feed.
    pub text: String,
    /// Columns that it takes.
    pub width: usize,
}

/// The bytes that replace `before`, which ends just above the cursor, with the lines of `above` and then `after`.
pub fn replaced(before: &[DrawnLine], above: Option<&str>, after: &[DrawnLine], columns: usize) -> String {
    let mut bytes = String::new();
    let rows: usize = before.iter().map(|line| rows(line, columns)).sum();
    if rows > 0 {
        bytes.push_str(&format!("\r\x1b[{rows}A"));
    }
    // The rest of each line that is written over, and in the end the rest of the screen.
    let (end_of_line, end_of_screen) = if before.is_empty() { ("\n", "") } else { ("\x1b[K\n", "\x1b[J") };
    let lines = above.into_iter().flat_map(|text| text.split('\n'));
    for line in lines.chain(after.iter().map(|line| line.text.as_str())) {
        bytes.push_str(line);
        bytes.push_str(end_of_line);
    }
    bytes.push_str(end_of_screen);
    bytes
}

/// Rows that a line takes: a terminal that has become narrower since it was drawn has wrapped it.
fn rows(line: &DrawnLine, columns: usize) -> usize {
    line.width.div_ceil(columns.max(1)).max(1)
}
