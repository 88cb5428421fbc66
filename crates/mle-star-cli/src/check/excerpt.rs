//! The lines of a source that show a finding.

use std::ops::{Range, RangeInclusive};

use mle_star_leakage::Finding;
use mle_star_report::sanitize::{plain, width};

use super::text::{Code, lines_named};

/// The columns of a tab on the screen.
const TAB: usize = 4;

/// Some lines of a source, cut to the screen, without anything that could act on a terminal.
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

/// A character as it is shown.
struct Letter {
    text: String,
    columns: usize,
}

impl Excerpt {
    /// The lines that show a finding: those of its cause and those that its text names, with all between them. Each is
    /// cut to this many columns, around what is marked.
    pub fn of(code: &Code, found: &Finding, columns: usize) -> Self {
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
            let letters: Vec<Letter> = line.chars().map(Letter::of).collect();
            let marked = marked(found, number..=last_marked, letters.len());
            let at = excerpt.text.len();
            let marked = excerpt.add(&letters, marked, columns);
            if number == found.line {
                excerpt.marked.start = marked.start;
            }
            if number == last_marked {
                excerpt.marked.end = marked.end;
            }
            if named.contains(&number) {
                excerpt.visible.push(at..at);
            }
        }
        excerpt.text.pop();
        excerpt.settle();
        excerpt
    }

    /// The columns of its line numbers.
    pub fn digits(&self) -> usize {
        self.last.to_string().len()
    }

    /// Adds a line; returns where the text of `marked` is now.
    fn add(&mut self, letters: &[Letter], marked: Range<usize>, columns: usize) -> Range<usize> {
        let kept = kept(letters, &marked, columns);
        let push = |text: &mut String, range: Range<usize>| {
            letters[range].iter().for_each(|letter| text.push_str(&letter.text));
        };
        if kept.start > 0 {
            self.text.push('…');
        }
        let (from, to) = (marked.start.clamp(kept.start, kept.end), marked.end.clamp(kept.start, kept.end));
        push(&mut self.text, kept.start..from);
        let begin = self.text.len();
        push(&mut self.text, from..to);
        let end = self.text.len();
        push(&mut self.text, to..kept.end);
        self.text.push_str(if kept.end < letters.len() { "…\n" } else { "\n" });
        begin..end
    }

    /// At least one character is marked, and no line feed alone.
    fn settle(&mut self) {
        let start = self.marked.start.min(self.text.len());
        let next = self.text[start..].chars().next().map_or(0, char::len_utf8);
        self.marked = start..self.marked.end.clamp(start + next, self.text.len());
    }
}

impl Letter {
    fn of(letter: char) -> Self {
        let text = plain(letter.encode_utf8(&mut [0; 4]));
        let columns = if letter == '\t' { TAB } else { width(&text) };
        Self { text, columns }
    }
}

/// The part of a line that is shown: from its beginning if what is marked is visible then, else around it.
fn kept(letters: &[Letter], marked: &Range<usize>, columns: usize) -> Range<usize> {
    let wide = |range: Range<usize>| letters[range].iter().map(|letter| letter.columns).sum::<usize>();
    if wide(0..letters.len()) <= columns {
        return 0..letters.len();
    }
    // Two columns are for what says that the line is cut.
    let columns = columns.saturating_sub(2);
    let from_start = wide(0..marked.end) <= columns || marked.start == 0;
    let before = if from_start { 0 } else { columns.saturating_sub(wide(marked.clone())) / 2 };
    let start =
        if from_start { 0 } else { marked.start - fitting(letters[..marked.start].iter().rev(), before) };
    start..start + fitting(letters[start..].iter(), columns)
}

/// What is marked of a line with this many letters; `lines` are the line and the last one with a mark.
fn marked(found: &Finding, lines: RangeInclusive<u32>, letters: usize) -> Range<usize> {
    let (line, last) = lines.into_inner();
    let from = if line == found.line { index(found.column).min(letters) } else { 0 };
    let ends = line == last && found.end_line == last;
    let to = if ends { index(found.end_column).min(letters) } else { letters };
    from..to.max(from)
}

/// The number of letters that fit into these columns.
fn fitting<'a>(letters: impl Iterator<Item = &'a Letter>, columns: usize) -> usize {
    let mut taken = 0;
    let fits = |letter: &&Letter| {
        taken += letter.columns;
        taken <= columns
    };
    letters.take_while(fits).count()
}

/// A line or column, which counts from 1, as an index.
fn index(number: u32) -> usize {
    (number as usize).saturating_sub(1)
}
