//! The lines of a source that show a finding.

use std::ops::Range;

use mle_star_leakage::Finding;
use mle_star_report::sanitize::escape;

use super::source::{Code, lines_named};

/// Some lines of a source, without anything that could act on a terminal.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Excerpt {
    /// The lines.
    pub text: String,
    /// The number of the first line; in a notebook, in its cell.
    pub first: u32,
    /// The number of the last line.
    pub last: u32,
    /// What is marked, as bytes of the text.
    pub marked: Range<usize>,
    /// An empty range at the start of each line that the finding names, as bytes of the text, so that the line is shown.
    pub visible: Vec<Range<usize>>,
}

impl Excerpt {
    /// The lines that show a finding: those of its cause and those that its text names, with all between them.
    pub fn of(code: &Code, found: &Finding) -> Self {
        let span = code.span(found);
        let last_marked = found.line + (span.end_line - span.line);
        let in_same_cell = |line: &u32| code.position(*line).map(|at| at.cell) == span.cell;
        let named: Vec<u32> = lines_named(&found.text).filter(in_same_cell).collect();
        let begin = named.iter().copied().fold(found.line, u32::min).max(1);
        let end = named.iter().copied().fold(last_marked, u32::max);
        let first = span.line - (found.line - begin);
        let mut excerpt = Self { first, last: first + (end - begin), ..Self::default() };
        let lines = code.source.split('\n').zip(1..).skip(begin as usize - 1);
        for (line, number) in lines.take_while(|(_, number)| *number <= end) {
            let at = excerpt.text.len();
            if named.contains(&number) {
                excerpt.visible.push(at..at);
            }
            if number == found.line {
                excerpt.marked.start = at + offset(line, found.column);
            }
            if number == last_marked {
                // A notebook's cell may end before the finding does.
                let is_whole = found.end_line > last_marked;
                excerpt.marked.end = at + offset(line, if is_whole { u32::MAX } else { found.end_column });
            }
            excerpt.text.push_str(&escape(line));
            excerpt.text.push('\n');
        }
        excerpt.text.pop();
        excerpt.clamp_mark();
        excerpt
    }

    /// The columns of its line numbers.
    pub fn digits(&self) -> usize {
        self.last.to_string().len()
    }

    /// At least one character is marked, and no line feed alone.
    fn clamp_mark(&mut self) {
        let start = self.marked.start.min(self.text.len());
        let next = self.text[start..].chars().next().map_or(0, char::len_utf8);
        self.marked = start..self.marked.end.clamp(start + next, self.text.len());
    }
}

/// Where a column, which counts from 1, begins in a line as it is shown.
fn offset(line: &str, column: u32) -> usize {
    let before: String = line.chars().take((column as usize).saturating_sub(1)).collect();
    escape(&before).len()
}
