//! The metric that the sentences of a description name together.

use crate::metrics::Metric;

use super::super::sentence::{Section, Sentence};
use super::super::{Description, quoted};
use super::agreement::{agreed, is_same, refined};
use super::assertion::{Assertion, assertions};
use super::levels::{self, Level};
use super::mention::{joined_raw, mentions};
use super::reading::MetricReading;
use super::{contrast, cue, phrases};

/// The metric that a description names. With `has_weights`, rows have weights, which every score takes into account.
pub fn metric(description: &Description, has_weights: bool) -> MetricReading {
    let sentences = description.sentences();
    let all: Vec<Assertion> =
        sentences.iter().enumerate().flat_map(|(at, sentence)| assertions(sentence, at)).collect();
    let decisive = Level::ALL
        .into_iter()
        .map(|level| all.iter().filter(|one| one.level == level).cloned().collect::<Vec<_>>());
    let Some(decisive) = decisive.into_iter().find(|found| !found.is_empty()) else {
        return match in_words(sentences) {
            MetricReading::None => phrases::described(sentences).unwrap_or(MetricReading::None),
            reading => reading,
        };
    };
    // "The metric is the profit" counts more than a metric that is only named.
    if decisive.iter().all(|one| one.level == Level::Named)
        && let Some(unknown) = phrases::stated(sentences)
    {
        return unknown;
    }
    let agreed = agreed(&decisive);
    if let [one] = agreed.as_slice()
        && let Some(contrast) = by_contrast(one, &decisive, sentences)
    {
        return contrast;
    }
    let readings: Vec<(Assertion, Result<Metric, String>)> = agreed
        .into_iter()
        .map(|one| refined(one, &all, sentences))
        .map(|one| (one.clone(), resolved(&one, sentences, has_weights)))
        .collect();
    match readings.as_slice() {
        [] => MetricReading::None,
        [(one, Ok(metric))] => {
            MetricReading::Known { metric: *metric, from: quoted(&sentences[one.sentence], one.word) }
        }
        [(one, Err(phrase))] => MetricReading::Unknown {
            phrase: phrase.clone(),
            from: quoted(&sentences[one.sentence], one.word),
        },
        several => different(several, sentences),
    }
}

/// A metric that every decisive sentence names as `not by A but by B`.
fn by_contrast(one: &Assertion, decisive: &[Assertion], sentences: &[Sentence]) -> Option<MetricReading> {
    let contrast = |one: &Assertion| contrast::contrasted(&sentences[one.sentence], one.word);
    let (start, end) = contrast(one)?;
    let sentence = &sentences[one.sentence];
    let phrase = joined_raw(sentence, start, end);
    decisive
        .iter()
        .filter(|other| is_same(one, other))
        .all(|other| contrast(other).is_some())
        .then(|| MetricReading::Contrast { phrase, from: quoted(sentence, one.word) })
}

/// Several readings, unless they are the same metric under several names.
fn different(readings: &[(Assertion, Result<Metric, String>)], sentences: &[Sentence]) -> MetricReading {
    let from = |one: &Assertion| quoted(&sentences[one.sentence], one.word);
    if let (first, Ok(metric)) = &readings[0]
        && readings.iter().all(|(_, other)| other.as_ref() == Ok(metric))
    {
        return MetricReading::Known { metric: *metric, from: from(first) };
    }
    let name = |metric: &Result<Metric, String>| match metric {
        Ok(metric) => metric.name().into_owned(),
        Err(phrase) => phrase.clone(),
    };
    MetricReading::Several(readings.iter().map(|(one, metric)| (name(metric), from(one))).collect())
}

/// The metric of an assertion with all that changes it, or its phrase.
fn resolved(one: &Assertion, sentences: &[Sentence], has_weights: bool) -> Result<Metric, String> {
    let mut modifiers = one.modifiers.clone();
    if has_weights {
        modifiers.retain(|modifier| modifier != "weighted");
    }
    for modifier in &mut modifiers {
        if let "at k" | "at n" = modifier.as_str()
            && let Some(number) = levels::value_of(&modifier[3..], &sentences[one.sentence..])
        {
            *modifier = format!("at {number}");
        }
    }
    // Some metrics need a share that another sentence may give, such as the quantile of a pinball loss.
    let lacks = one.metric.is_none() && Metric::lacks(&one.name).is_some();
    let level = lacks.then(|| levels::share(&sentences[one.sentence..])).flatten();
    let known = match level {
        Some(level) => levels::spelled(
            &format!("{} {level}", one.name),
            Metric::parse(&format!("{} {level}", one.name)),
            &modifiers,
        ),
        None => levels::spelled(&one.name, one.metric, &modifiers),
    };
    known.ok_or_else(|| phrase_of(one, &modifiers))
}

/// The phrase as written, followed in brackets by what other sentences add.
fn phrase_of(one: &Assertion, modifiers: &[String]) -> String {
    let phrase = one.phrase.to_lowercase();
    let missing: Vec<&str> = modifiers
        .iter()
        .map(String::as_str)
        .filter(|modifier| {
            !modifier
                .split(' ')
                .next()
                .is_some_and(|word| phrase.contains(&word.chars().take(STEM).collect::<String>()))
        })
        .collect();
    if missing.is_empty() { one.phrase.clone() } else { format!("{} ({})", one.phrase, missing.join(", ")) }
}

/// So many letters tell a word in all its forms.
const STEM: usize = 5;
/// From the word for a share to that for what is correct, there are at most so many words, both included.
const REACH: usize = 9;

/// Accuracy in other words: the share of correct predictions.
fn in_words(sentences: &[Sentence]) -> MetricReading {
    let is_share =
        |word: &str| matches!(word, "share" | "percentage" | "fraction" | "proportion" | "percent");
    let says = |sentence: &&Sentence| {
        let at = sentence.words.iter().position(|word| is_share(&word.text));
        let rest =
            at.map(|at| &sentence.words[at..(at + REACH).min(sentence.words.len())]).unwrap_or_default();
        let is_right = rest.iter().any(|word| matches!(word.text.as_str(), "correct" | "correctly"));
        is_right && (cue::cue(sentence, &[]).is_some() || sentence.section == Section::Evaluation)
    };
    match sentences.iter().find(says) {
        Some(sentence) => MetricReading::Known { metric: Metric::Accuracy, from: quoted(sentence, 0) },
        None => MetricReading::None,
    }
}

/// Whether a sentence speaks of the evaluation metric.
pub(in crate::description) fn is_about_the_metric(sentence: &Sentence) -> bool {
    cue::cue(sentence, &mentions(sentence))
        .is_some_and(|cue| levels::level(sentence, Some(&cue)) <= Level::Said)
}
