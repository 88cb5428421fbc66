//! Metrics that are described or named in words that no table has.

use crate::metrics::Metric;

use super::super::quoted;
use super::super::sentence::{Section, Sentence, among};
use super::cue;
use super::levels::{self, Level};
use super::mention::{Mention, is_one_name, joined_raw, mentions};
use super::reading::MetricReading;
use super::vocabulary::{BOUNDARIES, ELSEWHERE, HARMLESS, SECONDARY, SUBMISSIONS};

/// Words that name no metric after "scored by".
const OTHERS: &str = "expert experts people panel jury judges humans test set data script leaderboard comparing comparison \
    following same follows defined described given explained below above official truth organizers organisers see \
    rows answers grader code hand us one it";

/// A name of this many words is not continued.
const LONGEST_NAME: usize = 8;
/// A name begins with one of this many words after the cue.
const REACH: usize = 3;

/// The error of logarithms as a formula, or the name of an unknown metric.
pub(super) fn described(sentences: &[Sentence]) -> Option<MetricReading> {
    sentences.iter().filter(|sentence| is_own(sentence)).find_map(formula).or_else(|| stated(sentences))
}

/// The name of an unknown metric, where a sentence says that submissions are scored by it.
pub(super) fn stated(sentences: &[Sentence]) -> Option<MetricReading> {
    sentences.iter().filter(|sentence| is_own(sentence)).find_map(unknown)
}

fn is_own(sentence: &Sentence) -> bool {
    let is_aside = matches!(sentence.section, Section::Aside | Section::References);
    !is_aside && !sentence.is_heading && !sentence.has(ELSEWHERE) && !sentence.has(SECONDARY)
}

/// `the square root of the mean of (log(p + 1) - log(a + 1))^2` is RMSLE; without `+ 1` it is unknown, and quoted whole.
fn formula(sentence: &Sentence) -> Option<MetricReading> {
    let words = &sentence.words;
    let cue = cue::cue(sentence, &mentions(sentence));
    if cue.is_none() && sentence.section != Section::Evaluation {
        return None;
    }
    let root = words.iter().position(|word| matches!(word.text.as_str(), "root" | "sqrt"))?;
    let has_mean = sentence.has("mean average averaged");
    let logs: Vec<usize> = (root..words.len()).filter(|at| among("log ln log1p", &words[*at].text)).collect();
    if !has_mean || logs.is_empty() {
        return None;
    }
    let adds_one = |at: usize| {
        words[at].text == "log1p"
            || words[at + 1..words.len().min(at + 4)]
                .windows(2)
                .any(|pair| pair.iter().any(|word| word.text == "1") && pair[1].before.contains('+'))
    };
    let is_squared = words[root + 1..].iter().any(|word| {
        among("squared squares square", &word.text) || word.text == "2" && word.before.contains('^')
    }) || sentence.text.contains('²');
    let start = if root > 0 && words[root - 1].text == "square" { root - 1 } else { root };
    let from = quoted(sentence, *logs.first()?);
    if logs.len() == 2
        && is_squared
        && logs.iter().all(|at| adds_one(*at))
        && !sentence.has("weighted weights")
    {
        return Some(MetricReading::Known { metric: Metric::Rmsle, from });
    }
    let phrase = sentence.text[words[start].at..].trim_end_matches(['.', ' ']).to_owned();
    Some(MetricReading::Unknown { phrase, from })
}

/// `the evaluation metric is the approximate median significance (AMS)`.
fn unknown(sentence: &Sentence) -> Option<MetricReading> {
    let words = &sentence.words;
    let found = mentions(sentence);
    let is_word = |mention: &Mention| mention.metric.is_none() && mention.end - mention.start == 1;
    let cue = cue::cue(sentence, &found).filter(|cue| cue.has_object && found.iter().all(is_word))?;
    if levels::level(sentence, Some(&cue)) != Level::Stated {
        return None;
    }
    let is_small = |at: usize| among(BOUNDARIES, &words[at].text) && words[at].text != "mean";
    let start = (cue.at..words.len().min(cue.at + REACH)).find(|at| !is_small(*at))?;
    let mut end = start + 1;
    let goes_on = |end: usize| is_one_name(&words[end - 1..=end]) && !is_small(end);
    while end < words.len() && end < start + LONGEST_NAME {
        let is_of = words[end].text == "of" && end + 1 < words.len() && goes_on(end + 1);
        if !goes_on(end) && !is_of {
            break;
        }
        end += 1 + usize::from(is_of);
    }
    let is_other = |at: usize| among(OTHERS, &words[at].text) || among(SUBMISSIONS, &words[at].text);
    let tells = (start..end).any(|at| !among(HARMLESS, &words[at].text) && words[at].text.len() > 1);
    let is_article = start > 0 && among("the a an", &words[start - 1].text);
    let is_noun =
        is_article || words[start].before.contains(':') || words[start].raw.starts_with(char::is_uppercase);
    if !tells || !is_noun || (start..end).any(is_other) {
        return None;
    }
    // "(AMS)" belongs to the name.
    let alias = words.get(end).filter(|word| {
        word.before.contains('(') && word.raw.chars().filter(|letter| letter.is_uppercase()).count() > 1
    });
    let mut phrase = joined_raw(sentence, start, end + usize::from(alias.is_some()));
    if alias.is_some() {
        phrase.push(')');
    }
    Some(MetricReading::Unknown { phrase, from: quoted(sentence, start) })
}
