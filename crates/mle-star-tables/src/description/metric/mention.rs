//! Metrics that a sentence mentions.

use crate::metrics::Metric;

use super::super::sentence::{Sentence, Word, among};
use super::vocabulary::{BOUNDARIES, LOGS, NAMED, NOT_LOGS};

/// The longest name of a metric, in words.
const LONGEST: usize = 9;
/// Names that mean something else in most sentences.
const AMBIGUOUS: [&str; 5] = ["acc", "f score", "f measure", "pearson", "spearman"];

/// A metric's name in a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mention {
    /// The first word.
    pub(super) start: usize,
    /// The word after the last one.
    pub(super) end: usize,
    /// The name, as [`Metric::parse`] reads it.
    pub(super) name: String,
    /// The metric; `None` without a formula.
    pub(super) metric: Option<Metric>,
}

/// The names in a sentence, in order; of those that overlap, the first and longest.
pub(super) fn mentions(sentence: &Sentence) -> Vec<Mention> {
    let words = &sentence.words;
    let mut found: Vec<Mention> = Vec::new();
    let mut start = 0;
    while start < words.len() {
        let longest = if begins_no_name(&words[start]) { 0 } else { LONGEST.min(words.len() - start) };
        let whole = |length: &usize| {
            let next = words.get(start + length).map_or("", |word| word.text.as_str());
            let is_log = among(LOGS, &words[start + length - 1].text) && among(NOT_LOGS, next);
            !is_log && !ends_no_name(&words[start + length - 1]) && is_one_name(&words[start..start + length])
        };
        let mention = (1..=longest).rev().filter(whole).find_map(|length| {
            let name = joined(&words[start..start + length]);
            let is_map = name != "map" || words[start].raw.chars().filter(|c| c.is_uppercase()).count() > 1;
            let may_be = words[start..start + length]
                .iter()
                .all(|word| Metric::may_have(&word.text) || word.text == "percent");
            let metric = may_be
                .then(|| Metric::parse(&name))
                .flatten()
                .filter(|_| !AMBIGUOUS.contains(&name.as_str()) || length > 1);
            let is_named = metric.is_some() || NAMED.contains(&name.as_str());
            // `parse` takes words before a name that belong to its noun phrase.
            let is_bare = !matches!(words[start].text.as_str(), "mean" | "average")
                || NAMED.contains(&name.as_str())
                || exactly(&name);
            (is_map && is_named && is_bare).then_some(Mention { start, end: start + length, name, metric })
        });
        match mention {
            Some(mention) => {
                start = mention.end;
                let follows = |last: &&mut Mention| {
                    last.end == mention.start
                        && last.metric.is_none()
                        && mention.metric.is_none()
                        && is_one_name(&words[mention.start - 1..=mention.start])
                };
                match found.last_mut().filter(follows) {
                    Some(last) => {
                        last.end = mention.end;
                        last.name = joined(&words[last.start..last.end]);
                    }
                    None => found.push(mention),
                }
            }
            None => start += 1,
        }
    }
    found
}

/// Whether no name begins with this word; that saves most of the work.
fn begins_no_name(word: &Word) -> bool {
    word.text != "mean" && among(BOUNDARIES, &word.text)
}

fn ends_no_name(word: &Word) -> bool {
    !matches!(word.text.as_str(), "score" | "measure" | "metric" | "mean") && among(BOUNDARIES, &word.text)
}

/// Whether a name that begins with `mean` or `average` needs that word.
fn exactly(name: &str) -> bool {
    let rest = name.split_once(' ').map_or("", |(_, rest)| rest);
    Metric::parse(rest) != Metric::parse(name)
}

/// Whether no punctuation but hyphens and the like stands between the words.
pub(super) fn is_one_name(words: &[Word]) -> bool {
    words.iter().skip(1).all(|word| {
        word.before.chars().all(|c| " -‐‑–_'’/*`\"\n@^".contains(c)) && !word.before.contains(" – ")
    })
}

/// The words as names of metrics are written, with blanks between them.
pub(super) fn joined(words: &[Word]) -> String {
    let text = |word: &'_ Word| if word.text == "percent" { "%".to_owned() } else { word.text.clone() };
    words.iter().map(text).collect::<Vec<_>>().join(" ")
}

/// Words from one place to another as they are written.
pub(super) fn joined_raw(sentence: &Sentence, start: usize, end: usize) -> String {
    let words = &sentence.words;
    let (Some(first), Some(last)) = (words.get(start), words.get(end.saturating_sub(1).max(start))) else {
        return String::new();
    };
    sentence.text[first.at..(last.at + last.raw.len()).min(sentence.text.len())]
        .replace('`', "")
        .replace("**", "")
}
