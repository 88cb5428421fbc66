//! What sentences say to count.

use crate::metrics::Metric;

use super::super::sentence::{Sentence, among};
use super::around::{Modifiers, around};
use super::contrast;
use super::cue::{self, Cue};
use super::levels::{self, Level};
use super::mention::{Mention, joined, joined_raw, mentions};

/// A sentence says that a metric counts.
#[derive(Clone, Debug)]
pub(super) struct Assertion {
    pub(super) level: Level,
    /// The name without what changes it.
    pub(super) name: String,
    pub(super) metric: Option<Metric>,
    pub(super) modifiers: Modifiers,
    /// The whole phrase, as written.
    pub(super) phrase: String,
    pub(super) sentence: usize,
    pub(super) word: usize,
}

/// What a sentence says to count.
pub(super) fn assertions(sentence: &Sentence, at: usize) -> Vec<Assertion> {
    let found = mentions(sentence);
    let cue = cue::cue(sentence, &found);
    let level = levels::level(sentence, cue.as_ref());
    let counted: Vec<(usize, &Mention)> = found
        .iter()
        .enumerate()
        .filter(|(_, mention)| !contrast::is_dismissed(sentence, cue.as_ref(), mention, &found))
        .collect();
    let is_governed = |mention: &Mention| {
        mention.metric.is_some()
            || mention.end - mention.start > 1
            || mention.name == "map"
            || cue::governs(sentence, cue.as_ref(), mention.start)
    };
    // "The scaled error (RMSSE)" is named in its own words, with a name that is known beside it.
    let has_object = counted.len() < found.len() || counted.iter().any(|(_, mention)| is_governed(mention));
    let counted = counted.into_iter().filter(|(_, mention)| is_governed(mention)).collect();
    let counted = governed(sentence, cue.as_ref(), counted);
    let mut assertions: Vec<Assertion> = Vec::new();
    for (place, mention) in counted {
        let stop = found.get(place + 1).map_or(usize::MAX, |next| next.start);
        // A name in brackets belongs to the one before, and so do the words behind it.
        let alias = found.get(place + 1).filter(|next| is_alias(sentence, mention, next));
        let stop = alias.map_or(stop, |_| found.get(place + 2).map_or(usize::MAX, |next| next.start));
        let around = around(sentence, mention, alias, stop);
        let phrase = joined_raw(sentence, around.start, around.end);
        // What stands far from "scored by" is not said to count.
        let is_far = level == Level::Stated
            && assertions.is_empty()
            && cue.as_ref().is_some_and(|cue| cue.has_object && mention.start >= cue.at)
            && !cue::governs(sentence, cue.as_ref(), around.start.max(cue.as_ref().map_or(0, |cue| cue.at)));
        let level =
            if is_far { Level::Said } else { assertions.last().map_or(level, |last: &Assertion| last.level) };
        let one = Assertion {
            level,
            name: mention.name.clone(),
            metric: mention.metric,
            modifiers: with_weights(around.modifiers, mention),
            phrase,
            sentence: at,
            word: mention.start,
        };
        match assertions.last_mut() {
            Some(last) if explains(sentence, last, &one) => combine(last, one),
            _ => assertions.push(one),
        }
    }
    if let (false, Some(cue), true) = (has_object, &cue, level == Level::Stated) {
        assertions.extend(cue::unnamed(sentence, cue).map(|(start, end)| Assertion {
            level,
            name: joined(&sentence.words[start..end]),
            metric: None,
            modifiers: Vec::new(),
            phrase: joined_raw(sentence, start, end),
            sentence: at,
            word: start,
        }));
    }
    assertions
}

/// A name such as `weighted MAE` asks for weights.
fn with_weights(mut modifiers: Modifiers, mention: &Mention) -> Modifiers {
    if Metric::is_weighted(&mention.name) && !modifiers.iter().any(|modifier| modifier == "weighted") {
        modifiers.push("weighted".to_owned());
        modifiers.sort();
    }
    modifiers
}

/// The mentions that the cue is about: those behind `scored by`, else all.
fn governed<'a>(
    sentence: &Sentence,
    cue: Option<&Cue>,
    mentions: Vec<(usize, &'a Mention)>,
) -> Vec<(usize, &'a Mention)> {
    let Some(cue) = cue.filter(|cue| cue.has_object) else { return mentions };
    let behind: Vec<(usize, &Mention)> =
        mentions.iter().filter(|(_, mention)| mention.start >= cue.at).copied().collect();
    if behind.is_empty() {
        return mentions;
    }
    // "…, because accuracy would hide it" is no second metric.
    let first = behind[0].1.end;
    let words = &sentence.words;
    let turn = (first..words.len()).find(|at| matches!(words[*at].text.as_str(), "because" | "since"));
    behind.into_iter().filter(|(_, mention)| turn.is_none_or(|turn| mention.start < turn)).collect()
}

/// Whether the second name stands in brackets behind the first: `root mean squared error (RMSE)`.
fn is_alias(sentence: &Sentence, first: &Mention, second: &Mention) -> bool {
    let between = &sentence.words[first.end..second.start];
    between.iter().chain(sentence.words.get(second.start)).any(|word| word.before.contains(['(', '[']))
        && between.len() <= 3
}

/// Whether the second metric of a sentence explains the first: in brackets, or behind `which`, `that is`, `i.e.`.
fn explains(sentence: &Sentence, first: &Assertion, second: &Assertion) -> bool {
    const LINKS: &str = "which aka i called equals equivalent defined where because since known meaning namely like \
        similar derived related variant named";
    let between = &sentence.words[first.word..second.word];
    let last = sentence.words.get(second.word);
    let has_opened = between.iter().skip(1).chain(last).any(|word| word.before.contains(['(', '[', '=']));
    let has_and = between.iter().any(|word| matches!(word.text.as_str(), "and" | "or" | "plus"));
    let links = between.iter().any(|word| among(LINKS, &word.text))
        || between.windows(2).any(|pair| pair[0].text == "that" && pair[1].text == "is");
    (has_opened && !has_and) || links || first.name == second.name && first.modifiers == second.modifiers
}

/// Adds what an explanation says to a metric: `AUC (area under the precision-recall curve)`, `F1 (macro)`.
fn combine(first: &mut Assertion, second: Assertion) {
    let is_general = first.metric.is_none()
        || matches!(first.metric, Some(Metric::RocAuc | Metric::F1 | Metric::Accuracy))
            && first.name.split(' ').count() == 1;
    let is_same = first.metric == second.metric || second.metric.is_none();
    if is_general && !is_same && first.modifiers.is_empty() {
        first.metric = second.metric;
        first.name.clone_from(&second.name);
    }
    if first.metric == second.metric {
        first.modifiers.extend(second.modifiers);
        first.modifiers.sort();
        first.modifiers.dedup();
    }
}
