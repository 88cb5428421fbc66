//! The description of a task as sentences, and what they say about it.
//!
//! [`Description::read`] turns Markdown, HTML or plain text into sentences that know the heading above them. Rules read
//! whole sentences, since descriptions wrap their lines, and words around a metric change what it means.

mod amount;
mod citation;
mod direction;
mod formula;
mod markup;
mod metric;
mod positive;
mod sentence;
mod target;

pub use direction::{DirectionReading, direction};
pub use metric::{MetricReading, metric};
pub use positive::{PositiveReading, named_in, positive};
use sentence::Section;
pub(crate) use sentence::{Sentence, spaced, words};
pub(crate) use target::target;

/// The sentences of a description, in order.
#[derive(Clone, Debug, Default)]
pub struct Description {
    sentences: Vec<Sentence>,
}

impl Description {
    /// The sentences of a text in Markdown, HTML or neither.
    pub fn read(text: &str) -> Self {
        let mut sentences = Vec::new();
        let is_own = |block: &markup::Block| block.section != Section::References || block.is_heading;
        for block in markup::blocks(&formula::with_name(text)).into_iter().filter(is_own) {
            let new = citation::without_citations(&sentence::sentences(&block.text));
            sentences
                .extend(new.into_iter().map(|text| Sentence::new(text, block.section, block.is_heading)));
        }
        Self { sentences }
    }

    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.sentences.is_empty()
    }

    /// Whether it says anything about scores, clear or not.
    pub fn speaks_of_scores(&self) -> bool {
        const STEMS: &str = "scor leaderboard rank graded grading";
        let speaks = |word: &str| {
            STEMS.split(' ').chain(metric::cue::STEMS.split(' ')).any(|stem| word.starts_with(stem))
        };
        self.sentences.iter().flat_map(|sentence| &sentence.words).any(|word| speaks(&word.text))
    }

    pub(crate) fn sentences(&self) -> &[Sentence] {
        &self.sentences
    }
}

/// A sentence as it is quoted: not much longer than two lines, with the word at this place in it.
pub(crate) fn quoted(sentence: &Sentence, word: usize) -> String {
    const LONGEST: usize = 240;
    let text = sentence.text.trim();
    let letters: Vec<char> = text.chars().collect();
    if letters.len() <= LONGEST {
        return format!("\"{text}\"");
    }
    let at = sentence.words.get(word).map_or(0, |word| text[..word.at.min(text.len())].chars().count());
    let start = if at + 80 < LONGEST { 0 } else { at.saturating_sub(LONGEST / 2) };
    let end = (start + LONGEST).min(letters.len());
    let part: String = letters[start..end].iter().collect();
    let (before, after) = (if start > 0 { "…" } else { "" }, if end < letters.len() { "…" } else { "" });
    format!("\"{before}{}{after}\"", part.trim())
}

#[cfg(test)]
mod mutations;
