//! The metric that a description says submissions are scored by.
//!
//! A sentence counts more the more clearly it says so ([`Level`]); of the sentences of the highest level, all must agree.
//! A metric counts with every word around it that changes it: `mean average precision at 3` is no average precision.

mod around;
mod contrast;
mod cue;
mod levels;
mod mention;
mod phrases;
mod vocabulary;

use mle_star_metrics::names::Metric;

use self::around::{Modifiers, around};
use self::cue::Cue;
use self::levels::Level;
use self::mention::{Mention, joined, mentions};
use super::sentence::{Section, Sentence, among};
use super::{Description, quoted};

/// What a description says about the metric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MetricReading {
    /// One metric with a formula.
    Known {
        /// The metric.
        metric: Metric,
        /// The sentence, in quotation marks.
        from: String,
    },
    /// One metric without a formula.
    Unknown {
        /// Its name with the words that change it.
        phrase: String,
        /// The sentence, in quotation marks.
        from: String,
    },
    /// One metric, named only by what it is not: `not by accuracy but by log loss`.
    Contrast {
        /// The words from `not` to the metric.
        phrase: String,
        /// The sentence, in quotation marks.
        from: String,
    },
    /// Several metrics, each with its sentence in quotation marks.
    Several(Vec<(String, String)>),
    /// Nothing.
    None,
}

/// A sentence says that a metric counts.
#[derive(Clone, Debug)]
struct Assertion {
    level: Level,
    /// The name without what changes it.
    name: String,
    metric: Option<Metric>,
    modifiers: Modifiers,
    /// The whole phrase, as written.
    phrase: String,
    sentence: usize,
    word: usize,
}

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

/// What a sentence says to count.
fn assertions(sentence: &Sentence, at: usize) -> Vec<Assertion> {
    let found = mentions(sentence);
    let cue = cue::cue(sentence, &found);
    let level = levels::level(sentence, cue.as_ref());
    let counted: Vec<(usize, &Mention)> =
        found.iter().enumerate().filter(|(_, mention)| !contrast::is_dismissed(sentence, mention)).collect();
    let is_governed = |mention: &Mention| {
        mention.metric.is_some()
            || mention.end - mention.start > 1
            || mention.name == "map"
            || cue::governs(sentence, cue.as_ref(), mention.start)
    };
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
    let has_object = !assertions.is_empty() || !found.is_empty();
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

/// The assertions that differ. A later mention of a metric without the words that change it is the same metric.
fn agreed(found: &[Assertion]) -> Vec<Assertion> {
    let mut agreed: Vec<Assertion> = Vec::new();
    let is_full = |one: &&Assertion| !found.iter().any(|full| is_short_for(one, full));
    for one in found.iter().filter(is_full) {
        let same = agreed.iter_mut().find(|other| is_same(other, one));
        match same {
            Some(other) if other.modifiers.iter().all(|modifier| one.modifiers.contains(modifier)) => {
                other.modifiers.clone_from(&one.modifiers);
                if one.modifiers.len() > other.modifiers.len() {
                    *other = one.clone();
                }
            }
            Some(other) if one.modifiers.iter().all(|modifier| other.modifiers.contains(modifier)) => {}
            _ => agreed.push(one.clone()),
        }
    }
    agreed
}

fn is_same(one: &Assertion, other: &Assertion) -> bool {
    match (one.metric, other.metric) {
        (Some(one), Some(other)) => one == other,
        (None, None) => one.name.contains(&other.name) || other.name.contains(&one.name),
        _ => false,
    }
}

/// Whether a name is short for a metric: `F1` for macro F1, `AUC` for the mean of columns.
fn is_short_for(short: &Assertion, full: &Assertion) -> bool {
    let Some(metric) = full.metric else { return false };
    match short.metric {
        Some(Metric::F1) => matches!(
            metric,
            Metric::MacroF1
                | Metric::MicroF1
                | Metric::WeightedF1
                | Metric::SampleF1
                | Metric::SetMacroF1
                | Metric::SetMicroF1
        ),
        Some(Metric::RocAuc) => {
            let is_bare = matches!(short.name.as_str(), "auc" | "auc score" | "area under the curve");
            metric == Metric::ColumnRocAuc
                || metric == Metric::AveragePrecision && full.name.contains("au") && is_bare
        }
        Some(Metric::Rmse) => matches!(metric, Metric::Rmsle | Metric::ColumnRmse),
        Some(Metric::Accuracy) => matches!(metric, Metric::BalancedAccuracy | Metric::TopAccuracy(_)),
        Some(Metric::LogLoss) => metric == Metric::ColumnLogLoss,
        Some(Metric::AveragePrecision) => matches!(metric, Metric::MapAt(_)),
        Some(_) => false,
        None => match short.name.as_str() {
            "kappa" | "cohen s kappa" | "cohen kappa" | "kappa score" => metric == Metric::QuadraticKappa,
            "map" | "mean average precision" | "precision" => matches!(metric, Metric::MapAt(_)),
            "correlation" | "correlation coefficient" => {
                matches!(metric, Metric::Pearson | Metric::Spearman | Metric::Mcc)
            }
            "f score" | "f measure" => full.name.contains("f1"),
            "squared error" => matches!(metric, Metric::Rmse | Metric::Mse),
            "absolute error" => metric == Metric::Mae,
            _ => false,
        },
    }
}

/// Adds what other sentences about the evaluation say of the same metric.
fn refined(mut one: Assertion, all: &[Assertion], sentences: &[Sentence]) -> Assertion {
    let is_about = |other: &&Assertion| {
        let near =
            other.sentence.abs_diff(one.sentence) <= 2 && sentences[other.sentence].section != Section::Aside;
        (near || other.level <= Level::Below)
            && !sentences[other.sentence].text.starts_with('(')
            && is_same(&one, other)
            && one.modifiers.iter().all(|own| other.modifiers.contains(own))
    };
    let more: Vec<&String> = all
        .iter()
        .filter(is_about)
        .flat_map(|other| &other.modifiers)
        .filter(|word| levels::is_kept(word))
        .collect();
    one.modifiers.extend(more.into_iter().cloned());
    // Another sentence says which F1 it is.
    let is_full = |full: &&Assertion| {
        full.sentence.abs_diff(one.sentence) <= 2
            && sentences[full.sentence].section != Section::Aside
            && is_short_for(&one, full)
    };
    if one.metric == Some(Metric::F1)
        && let Some(full) = all.iter().find(is_full)
    {
        one = full.clone();
    }
    for (at, sentence) in sentences.iter().enumerate() {
        let is_near = at > one.sentence && at - one.sentence <= 3;
        if at != one.sentence && (is_near || sentence.section == Section::Evaluation) {
            one.modifiers.extend(levels::said_apart(sentence, one.metric));
        }
    }
    one.modifiers.sort();
    one.modifiers.dedup();
    one
}

/// The metric of an assertion with all that changes it, or its phrase.
fn resolved(one: &Assertion, sentences: &[Sentence], has_weights: bool) -> Result<Metric, String> {
    let mut modifiers = one.modifiers.clone();
    if has_weights {
        modifiers.retain(|modifier| modifier != "weighted");
    }
    for modifier in &mut modifiers {
        if matches!(modifier.as_str(), "at k" | "at n")
            && let Some(number) = levels::value_of_k(&sentences[one.sentence..])
        {
            *modifier = format!("at {number}");
        }
    }
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

/// The phrase as written, or the name with what other sentences add.
fn phrase_of(one: &Assertion, modifiers: &[String]) -> String {
    let phrase = one.phrase.to_lowercase();
    let missing: Vec<&str> = modifiers
        .iter()
        .map(String::as_str)
        .filter(|modifier| {
            !modifier
                .split(' ')
                .next()
                .is_some_and(|word| phrase.contains(&word.chars().take(5).collect::<String>()))
        })
        .collect();
    if missing.is_empty() { one.phrase.clone() } else { format!("{} ({})", one.phrase, missing.join(", ")) }
}

/// Words from one place to another as they are written.
fn joined_raw(sentence: &Sentence, start: usize, end: usize) -> String {
    let words = &sentence.words;
    let (Some(first), Some(last)) = (words.get(start), words.get(end.saturating_sub(1).max(start))) else {
        return String::new();
    };
    sentence.text[first.at..(last.at + last.raw.len()).min(sentence.text.len())]
        .replace('`', "")
        .replace("**", "")
}

/// Accuracy in other words: the share of correct predictions.
fn in_words(sentences: &[Sentence]) -> MetricReading {
    let is_share =
        |word: &str| matches!(word, "share" | "percentage" | "fraction" | "proportion" | "percent");
    let says = |sentence: &&Sentence| {
        let at = sentence.words.iter().position(|word| is_share(&word.text));
        let rest = at.map(|at| &sentence.words[at..(at + 9).min(sentence.words.len())]).unwrap_or_default();
        let is_right = rest.iter().any(|word| matches!(word.text.as_str(), "correct" | "correctly"));
        is_right && (cue::cue(sentence, &[]).is_some() || sentence.section == Section::Evaluation)
    };
    match sentences.iter().find(says) {
        Some(sentence) => MetricReading::Known { metric: Metric::Accuracy, from: quoted(sentence, 0) },
        None => MetricReading::None,
    }
}

/// Whether a sentence speaks of the evaluation metric.
pub(super) fn is_about_the_metric(sentence: &Sentence) -> bool {
    cue::cue(sentence, &mentions(sentence))
        .is_some_and(|cue| levels::level(sentence, Some(&cue)) <= Level::Said)
}

#[cfg(test)]
mod tests;
