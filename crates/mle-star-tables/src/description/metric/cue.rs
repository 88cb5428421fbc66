//! Words which say that a sentence is about the evaluation.

use super::super::sentence::{Sentence, among};
use super::mention::{Mention, is_one_name};
use super::vocabulary::{
    BOUNDARIES, HARMLESS, HEADS, METRIC_WORDS, OPTIMIZED, PREPOSITIONS, SUBMISSIONS, VERBS,
};

/// What makes a sentence one about the evaluation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cue {
    /// The word behind `scored by`, or behind `the metric is`; without an object, the cue itself.
    pub(super) at: usize,
    /// Whether what follows is the metric.
    pub(super) has_object: bool,
    /// Whether it speaks of a metric.
    pub(super) is_metric: bool,
}

/// Beginnings of words about evaluation in other languages.
pub(in crate::description) const STEMS: &str =
    "evalu évalu avali valuta bewert auswert metri métri gemess puntua pontua метри оцен";

/// The clearest cue of a sentence.
pub(super) fn cue(sentence: &Sentence, mentions: &[Mention]) -> Option<Cue> {
    let words = &sentence.words;
    let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
    let metric = (0..words.len()).filter(|at| !is_in_name(*at, mentions)).find(|at| {
        among(METRIC_WORDS, text(*at))
            || STEMS.split(' ').any(|stem| text(*at).starts_with(stem)) && !text(*at).starts_with("evaluat")
    });
    let object = by_noun(sentence, mentions);
    let verb = by_verb(sentence, mentions);
    match (object, verb) {
        (Some(object), Some(verb)) => {
            Some(if verb.at <= object.at { Cue { is_metric: true, ..verb } } else { object })
        }
        (Some(one), None) => Some(one),
        (None, Some(one)) => Some(Cue { is_metric: metric.is_some(), ..one }),
        (None, None) => {
            if let Some(at) = metric {
                return Some(Cue { at, has_object: false, is_metric: true });
            }
            let optimized = (0..words.len()).find(|at| among(OPTIMIZED, text(*at)));
            let used = (0..words.len()).find(|at| {
                matches!(text(*at), "use" | "uses" | "used")
                    && sentence.has("we competition challenge leaderboard evaluation")
            });
            let evaluated = (0..words.len()).find(|at| among(VERBS, text(*at)));
            let at = optimized.or(used).or(evaluated)?;
            Some(Cue { at, has_object: false, is_metric: false })
        }
    }
}

/// `scored by`, `evaluation uses`.
fn by_verb(sentence: &Sentence, mentions: &[Mention]) -> Option<Cue> {
    let words = &sentence.words;
    let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
    (0..words.len()).filter(|at| among(VERBS, text(*at)) && !is_in_name(*at, mentions)).find_map(|at| {
        let preposition = (at + 1..words.len().min(at + 6)).find(|at| among(PREPOSITIONS, text(*at)))?;
        let object = (preposition + 1..words.len())
            .find(|at| !among(PREPOSITIONS, text(*at)) && !matches!(text(*at), "to" | "of"));
        (!is_cut(sentence, at, preposition)).then_some(Cue {
            at: object?,
            has_object: true,
            is_metric: false,
        })
    })
}

/// `the metric is`, `Metric:`.
fn by_noun(sentence: &Sentence, mentions: &[Mention]) -> Option<Cue> {
    const COPULAS: &str = "is are be ist es est é è will equals uses used";
    let words = &sentence.words;
    let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
    let is_noun = |at: &usize| {
        among(METRIC_WORDS, text(*at))
            || text(*at) == "evaluation"
            || text(*at) == "ranking"
            || STEMS.split(' ').any(|stem| text(*at).starts_with(stem)) && !text(*at).starts_with("evaluat")
    };
    (0..words.len()).filter(is_noun).filter(|at| !is_in_name(*at, mentions)).find_map(|at| {
        let next = words.get(at + 1)?;
        let is_apposition = next.before.contains(',') && matches!(text(at), "metric" | "criterion");
        if next.before.contains([':', '=', '—', '–', '|']) || is_apposition {
            return Some(Cue { at: at + 1, has_object: true, is_metric: true });
        }
        let copula = (at + 1..words.len().min(at + 7)).find(|at| among(COPULAS, text(*at)))?;
        let object = (copula + 1..words.len()).find(|at| {
            !among("be calculated computed as by using based on with the a defined measured", text(*at))
        })?;
        (!is_cut(sentence, at, copula)).then_some(Cue { at: object, has_object: true, is_metric: true })
    })
}

/// Whether a word is part of a metric's name, such as `score` in `F1 score`.
fn is_in_name(at: usize, mentions: &[Mention]) -> bool {
    mentions.iter().any(|mention| (mention.start..mention.end).contains(&at))
}

/// Whether a bracket or a semicolon stands between these words.
fn is_cut(sentence: &Sentence, from: usize, to: usize) -> bool {
    sentence.words[from + 1..=to].iter().any(|word| word.before.contains([';', '(', ')']))
}

/// Whether the sentence speaks of this task's submissions.
pub(super) fn is_about_submissions(sentence: &Sentence) -> bool {
    sentence.has(SUBMISSIONS)
}

/// The words of a metric that no table names: the noun phrase at the cue, if it ends in a word for metrics, such as `a custom
/// score`.
pub(super) fn unnamed(sentence: &Sentence, cue: &Cue) -> Option<(usize, usize)> {
    if !cue.has_object {
        return None;
    }
    let words = &sentence.words;
    let start = (cue.at..words.len())
        .find(|at| !among(BOUNDARIES, words[*at].text.as_str()) || among(HEADS, words[*at].text.as_str()))?;
    if start > cue.at + 4 {
        return None;
    }
    let mut end = start;
    while end < words.len()
        && (end == start || is_one_name(&words[end - 1..=end]))
        && (words[end].text == "mean"
            || among(HEADS, words[end].text.as_str())
            || !among(BOUNDARIES, words[end].text.as_str()))
    {
        end += 1;
    }
    let head = (start..end).rev().find(|at| among(HEADS, words[*at].text.as_str()))?;
    let tells = |word: &str| {
        !among(HARMLESS, word)
            && !among(SUBMISSIONS, word)
            && word.chars().all(|c| c.is_alphanumeric() || c == '.')
    };
    words[start..head].iter().any(|word| tells(&word.text)).then_some((start, head + 1))
}

/// Whether a mention is what the cue is about: only small words and its own noun phrase stand between them.
pub(super) fn governs(sentence: &Sentence, cue: Option<&Cue>, start: usize) -> bool {
    let Some(cue) = cue.filter(|cue| cue.has_object && cue.at <= start) else { return false };
    let near = &sentence.words[cue.at.max(start.saturating_sub(4))..start];
    if near.iter().any(|word| matches!(word.text.as_str(), "by" | "using" | "via")) {
        return true;
    }
    let words = &sentence.words[cue.at..start];
    words.len() <= 6
        && words.iter().all(|word| !word.before.contains([';', '(']))
        && !words
            .iter()
            .any(|word| matches!(word.text.as_str(), "and" | "than" | "where" | "which" | "that" | "for"))
}
