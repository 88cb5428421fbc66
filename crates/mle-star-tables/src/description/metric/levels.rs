//! How clearly a sentence says which metric counts, and what sentences without a metric add.

use crate::metrics::Metric;

use super::super::sentence::{Section, Sentence, Word, among};
use super::cue::{self, Cue};
use super::vocabulary::{ELSEWHERE, SECONDARY};

/// How clearly a sentence says that a metric counts; the clearest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// Submissions are scored by it, or it is the metric.
    Stated,
    /// Another sentence about the evaluation of submissions names it.
    Said,
    /// It stands below a heading about evaluation.
    Below,
    /// Something is scored by it.
    Cue,
    /// It is named.
    Named,
}

impl Level {
    /// Every level, the clearest first.
    pub(super) const ALL: [Self; 5] = [Self::Stated, Self::Said, Self::Below, Self::Cue, Self::Named];
}

pub(super) fn level(sentence: &Sentence, cue: Option<&Cue>) -> Level {
    let is_evaluation = sentence.section == Section::Evaluation;
    let is_ours = is_evaluation || cue::is_about_submissions(sentence);
    let begins = sentence.words.first().map_or("", |word| word.text.as_str());
    // "This metric is defined as …" explains one that was named.
    let is_definition =
        sentence.words.windows(2).any(|pair| pair[0].text == "defined" && pair[1].text == "as")
            || matches!(begins, "this" | "it")
                && sentence.words.get(1).is_some_and(|word| word.text.starts_with("metric"));
    match cue {
        _ if matches!(sentence.section, Section::Aside | Section::References) || begins == "where" => {
            Level::Named
        }
        Some(_) if is_evaluation && sentence.is_heading => Level::Stated,
        Some(cue) if cue.has_object && (cue.is_metric || is_ours || cue.at <= 3) && !is_definition => {
            Level::Stated
        }
        Some(cue) if is_ours || cue.is_metric && sentence.words.len() <= 12 => Level::Said,
        Some(_) => Level::Cue,
        None if is_evaluation => Level::Below,
        None => Level::Named,
    }
}

/// What a sentence without a metric says about how scores are computed: on logarithms, with weights, averaged over groups.
pub(super) fn said_apart(sentence: &Sentence, metric: Option<Metric>) -> Vec<String> {
    let words = &sentence.words;
    let has = |list: &str| sentence.has(list);
    let is_other = has("not no never without if may can could nor neither")
        || has(ELSEWHERE) && !has("baseline trained")
        || has(SECONDARY)
        || !super::mention::mentions(sentence).is_empty();
    if is_other {
        return Vec::new();
    }
    let mut said = Vec::new();
    let logs = has("log logs logarithm logarithms logarithmic log1p log10 log2");
    let begins = words.first().map_or("", |word| word.text.as_str());
    // "Where y is the natural logarithm of the price" defines the symbols of a formula.
    let taken =
        has("transformed taken taking before scale first applied apply computed calculated logarithms")
            || sentence.section == Section::Evaluation && (begins == "where" || has("natural"));
    if logs
        && taken
        && !matches!(metric, Some(Metric::LogLoss | Metric::Rmsle))
        && metric.is_none_or(Metric::is_for_regression)
    {
        said.push(if has("log10 log2") { "log10" } else { "log" }.to_owned());
    }
    let weighted = words.iter().enumerate().any(|(at, word)| {
        let next = words.get(at + 1).map_or("", |word| word.text.as_str());
        word.text == "weighted" && next != "equally"
            || word.text == "weights" && has("scores errors metric score error evaluation multiplied losses")
    });
    let has_own = matches!(metric, Some(Metric::QuadraticKappa | Metric::WeightedF1));
    if weighted && !has_own && !has("equally equal") {
        said.push("weighted".to_owned());
    }
    said
}

/// Whether what one sentence says around a metric holds where another sentence names it.
pub(super) fn is_kept(modifier: &str) -> bool {
    const KEPT: [&str; 12] = [
        "log",
        "log10",
        "weighted",
        "macro",
        "micro",
        "sample averaged",
        "column wise",
        "partial",
        "top",
        "normalized",
        "skill",
        "quadratic",
    ];
    KEPT.contains(&modifier) || modifier.starts_with("at ") || modifier.starts_with("per ")
}

/// What a letter such as `k` is, from `k = 3` or `where k is 3`.
pub(super) fn value_of(letter: &str, sentences: &[Sentence]) -> Option<u32> {
    let value = |words: &[Word], at: usize| {
        let next = words.get(at + 1)?;
        let is_equal = next.before.contains(['=', ':']) || matches!(next.text.as_str(), "is" | "equals");
        let is_number = |word: &Word| word.text.parse::<u32>().is_ok();
        let at = if is_number(next) { at + 1 } else { at + 2 };
        let number = words.get(at)?.text.parse().ok().filter(|_| is_equal);
        // "1..5" and "1, 3 and 5" are several.
        let is_list = |near: usize| {
            words.get(at + near).is_some_and(|word| is_number(word) && !word.before.contains(['(', ';']))
        };
        let has_link = words.get(at + 1).is_some_and(|word| among("and or to", &word.text));
        number.filter(|_| !(is_list(1) || has_link && is_list(2)))
    };
    sentences.iter().take(4).find_map(|sentence| {
        let words = &sentence.words;
        (0..words.len()).filter(|at| words[*at].text == letter).find_map(|at| value(words, at))
    })
}

/// The one share that a sentence or the next names, a quantile or the coverage of intervals.
pub(super) fn share(sentences: &[Sentence]) -> Option<String> {
    let near = sentences.iter().take(2).map(|sentence| shares(&sentence.words));
    let mut near = near.filter(|found| found.iter().any(|(_, is_level)| *is_level));
    match near.next()?.as_slice() {
        [(only, _)] => Some(only.clone()),
        _ => None,
    }
}

/// The shares in a sentence, each with whether it is called a quantile or the like.
fn shares(words: &[Word]) -> Vec<(String, bool)> {
    let mut found = Vec::new();
    for at in 0..words.len() {
        let next = words.get(at + 1).map_or("", |word| word.text.as_str());
        let Ok(number) = words[at].text.trim_end_matches("th").parse::<f64>() else { continue };
        let is_alpha = at > 0 && words[at - 1].text == "alpha" || at > 1 && words[at - 2].text == "alpha";
        let name = if is_alpha { "alpha " } else { "" };
        if number > 0.0 && number < 1.0 {
            found.push((format!("{name}{number}"), is_level(words, at)));
        } else if number < 100.0
            && (matches!(next, "percent" | "percentile") || words[at].text.ends_with("th"))
        {
            found.push((format!("{name}{number}%"), is_level(words, at)));
        }
    }
    found.dedup_by(|next, last| {
        let is_same = next.0 == last.0;
        last.1 |= is_same && next.1;
        is_same
    });
    found
}

/// Whether a number is called a level: `the 0.9 quantile`, `a coverage of 90%`, `pinball loss at 0.9`.
fn is_level(words: &[Word], at: usize) -> bool {
    const LEVELS: &str = "quantile quantiles percentile percentiles alpha α tau τ q level levels coverage cover interval intervals confidence";
    const NEAR: usize = 3;
    let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
    // "Quantile loss" is the name of a metric.
    let is_name = |at: usize| among("loss losses score error", text(at + 1));
    let is_behind_name = |back: usize| {
        at.checked_sub(back)
            .is_some_and(|at| among("pinball quantile interval winkler", text(at)) && is_name(at))
    };
    words[at].text.ends_with("th")
        || is_behind_name(2) && text(at + 1) != "percent"
        || is_behind_name(3) && among("at for with of", text(at - 1))
        || (at.saturating_sub(NEAR)..=at + NEAR).any(|near| among(LEVELS, text(near)) && !is_name(near))
}

/// The metric of a name with what changes it; `None` without a formula for all of it.
pub(super) fn spelled(name: &str, metric: Option<Metric>, modifiers: &[String]) -> Option<Metric> {
    // `parse` leaves weights to its caller.
    let parse = |name: &str| Metric::parse(name).filter(|_| !Metric::is_weighted(name));
    if modifiers.len() > 1 && modifiers.iter().any(|modifier| modifier == "mean") {
        let others: Vec<String> = modifiers.iter().filter(|modifier| *modifier != "mean").cloned().collect();
        return spelled(name, metric, &others);
    }
    let Some((last, rest)) = modifiers.split_last() else { return metric };
    // Scores of several targets are means over them in any case.
    let others = |left: &str| -> Vec<String> {
        modifiers.iter().filter(|modifier| *modifier != left).cloned().collect()
    };
    if modifiers.iter().any(|modifier| modifier == "column wise") {
        let mean = format!("mean column wise {name}");
        return Some(&others("column wise"))
            .filter(|others| others.is_empty())
            .and_then(|_| parse(&mean))
            .or_else(|| spelled(name, metric, &others("column wise")));
    }
    if !rest.is_empty() {
        let all = modifiers.join(" ");
        return parse(&format!("{all} {name}"));
    }
    let by_mean = matches!(metric, Some(Metric::RocAuc | Metric::AveragePrecision | Metric::MacroF1))
        && last == "macro";
    // What the mean F1 is a mean of is open: of rows, of classes.
    let is_open = metric == Some(Metric::F1);
    if last == "mean" {
        return metric.filter(|_| !is_open);
    }
    if by_mean || last == "micro" && metric == Some(Metric::MicroF1) {
        return metric;
    }
    if metric == Some(Metric::Mse) && last.ends_with("root of") {
        return Some(Metric::Rmse);
    }
    parse(&format!("{last} {name}")).or_else(|| parse(&format!("{name} {last}")))
}
