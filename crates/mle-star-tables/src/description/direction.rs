//! Which scores win, from an explicit sentence.

use mle_star_domain::metric::Direction;

use super::sentence::{Section, Sentence, Word, among, words};
use super::{Description, quoted};

/// What a description says about which scores win.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DirectionReading {
    /// One of them, with the sentence in quotation marks.
    Said(Direction, String),
    /// Both, each with its sentence.
    Both(String, String),
    /// Nothing.
    None,
}

const SMALL: &str =
    "lower smaller lowest smallest low small less least fewer fewest minimal minimum niedriger kleiner menor";
const LARGE: &str =
    "higher larger highest largest high large greater greatest bigger maximal maximum höher mayor";
const GOOD: &str =
    "better best wins win winner winning preferred good preferable desirable besser mejor melhor";
const BAD: &str = "worse worst bad";
/// How far the two words of a comparison are apart.
const REACH: usize = 6;

/// Which values of the metric win, if a sentence about the evaluation, or one beside it, says so. `metric` is its name.
pub fn direction(description: &Description, metric: &str) -> DirectionReading {
    let sentences = description.sentences();
    let name: Vec<String> = words(metric).into_iter().map(|word| word.text).collect();
    let names_it = |sentence: &Sentence| {
        !name.is_empty()
            && sentence
                .words
                .windows(name.len())
                .any(|window| window.iter().zip(&name).all(|(word, name)| word.text == *name))
    };
    let is_about = |at: usize| {
        let sentence = &sentences[at];
        let is_evaluation = |sentence: &Sentence| {
            sentence.section == Section::Evaluation
                || super::metric::is_about_the_metric(sentence)
                || names_it(sentence)
        };
        sentence.section != Section::Aside
            && (is_evaluation(sentence)
                || at > 0 && is_evaluation(&sentences[at - 1])
                || sentences.get(at + 1).is_some_and(is_evaluation))
    };
    let found = sentences.iter().enumerate().filter(|(at, _)| is_about(*at)).filter_map(|(_, sentence)| {
        said(sentence, names_it(sentence)).map(|(direction, at)| (direction, quoted(sentence, at)))
    });
    let found: Vec<(Direction, String)> = found.collect();
    match found.split_first() {
        None => DirectionReading::None,
        Some(((first, from), others)) => match others.iter().find(|(direction, _)| direction != first) {
            Some((_, other)) => DirectionReading::Both(from.clone(), other.clone()),
            None => DirectionReading::Said(*first, from.clone()),
        },
    }
}

/// What one sentence says, and where. What is compared is a score, or the sentence names the metric, or nothing is said of it.
fn said(sentence: &Sentence, names_it: bool) -> Option<(Direction, usize)> {
    let words = &sentence.words;
    (0..words.len()).find_map(|at| {
        let direction = by_verb(words, at)
            .filter(|_| is_of_a_score(words, at))
            .or_else(|| {
                let (direction, near) = by_comparison(words, at)?;
                (names_it || is_of_values(words, at) || is_of_amounts(words, at) || is_bare(words, at, near))
                    .then_some(direction)
            })
            .or_else(|| by_order(words, at))?;
        (!is_negated(words, at)).then_some((direction, at))
    })
}

fn by_verb(words: &[Word], at: usize) -> Option<Direction> {
    let word = words[at].text.as_str();
    let stem =
        |stem: &str| word.starts_with(stem) && !word.starts_with("minimum") && !word.starts_with("maximum");
    if stem("minimiz") || stem("minimis") {
        return Some(Direction::Minimize);
    }
    (stem("maximiz") || stem("maximis")).then_some(Direction::Maximize)
}

/// Whether a score, an error or the like is minimised, not anything else.
fn is_of_a_score(words: &[Word], at: usize) -> bool {
    is_of_values(words, at)
        || words[at.saturating_sub(8)..words.len().min(at + 6)].iter().any(|word| word.text == "it")
}

/// Whether a word is near for what a score may be an amount of.
fn is_of_amounts(words: &[Word], at: usize) -> bool {
    const AMOUNTS: &str = "cost costs profit profits points number numbers result results";
    words[at.saturating_sub(2)..words.len().min(at + 3)].iter().any(|word| among(AMOUNTS, &word.text))
}

/// Whether a word for scores is near.
fn is_of_values(words: &[Word], at: usize) -> bool {
    const SCORES: &str = "score scores metric error errors loss losses value values index coefficient rate rates distance distances \
        measure wert werte valor valores";
    words[at.saturating_sub(8)..words.len().min(at + 6)].iter().any(|word| among(SCORES, &word.text))
}

/// Whether only small words stand between a size and its verdict, as in `lower is better`.
fn is_bare(words: &[Word], at: usize, near: usize) -> bool {
    const SMALL: &str = "is are the means mean generally usually always ist es é";
    let (low, high) = (near.min(at), near.max(at));
    words.get(low + 1..high).is_some_and(|between| between.iter().all(|word| among(SMALL, &word.text)))
}

/// `lower is better`, `the smallest wins`, `better forecasts have lower scores`, `as small as possible`, and where the verdict
/// stands.
fn by_comparison(words: &[Word], at: usize) -> Option<(Direction, usize)> {
    let size = |word: &str| match word {
        word if among(SMALL, word) => Some(Direction::Minimize),
        word if among(LARGE, word) => Some(Direction::Maximize),
        _ => None,
    };
    let found = size(&words[at].text)?;
    let opposite = match found {
        Direction::Minimize => Direction::Maximize,
        Direction::Maximize => Direction::Minimize,
    };
    let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
    if at > 0 && text(at - 1) == "as" && text(at + 1) == "as" && text(at + 2) == "possible" {
        return Some((found, usize::MAX));
    }
    let from = at.saturating_sub(REACH);
    let until = words.len().min(at + REACH + 1);
    // Another comparison in between has its own verdict.
    let behind = (at + 1..until).take_while(|near| size(text(*near)).is_none());
    let ahead = (from..at).rev().take_while(|near| size(text(*near)).is_none());
    let cut = |near: usize| {
        let (low, high) = (near.min(at), near.max(at));
        words[low + 1..=high].iter().any(|word| word.before.contains([';', '(', ')']))
            || near < at && words[low + 1..=high].iter().any(|word| word.before.contains(','))
    };
    let verdict = |near: usize| match text(near) {
        word if among(GOOD, word) => Some(found),
        word if among(BAD, word) => Some(opposite),
        _ => None,
    };
    let verdict = |near: usize| verdict(near).map(|direction| (direction, near));
    behind.chain(ahead).filter(|near| !cut(*near)).find_map(verdict)
}

/// `ranked in ascending order`.
fn by_order(words: &[Word], at: usize) -> Option<Direction> {
    let is_ranking = words.iter().any(|word| {
        matches!(word.text.as_str(), "ranked" | "ranking" | "sorted" | "leaderboard" | "ordered")
    });
    match words[at].text.as_str() {
        "ascending" | "increasing" if is_ranking => Some(Direction::Minimize),
        "descending" | "decreasing" if is_ranking => Some(Direction::Maximize),
        _ => None,
    }
}

fn is_negated(words: &[Word], at: usize) -> bool {
    let near = &words[at.saturating_sub(4)..words.len().min(at + 5)];
    near.iter().any(|word| matches!(word.text.as_str(), "not" | "never" | "neither" | "nor" | "without"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_tells_which_scores_win() {
        let check = |text: &str, expected: Option<Direction>| {
            let found = match direction(&Description::read(text), "energy score") {
                DirectionReading::Said(direction, from) => {
                    assert!(!from.is_empty());
                    Some(direction)
                }
                _ => None,
            };
            assert_eq!(found, expected, "{text}");
        };
        let (least, most) = (Some(Direction::Minimize), Some(Direction::Maximize));
        check("Forecasts are compared by the energy score.", None);
        check("Forecasts are compared by the energy score. Smaller values are better.", least);
        check("# Evaluation\nThe highest score wins.", most);
        check("The metric is the expected cost of maintenance. The lowest cost wins.", least);
        check("The energy score is to be minimised.", least);
        check("Your task is to maximize the energy score.", most);
        check("Submissions are ranked by the energy score in ascending order.", least);
        check("Lower is not better for the energy score.", None);
        check("# Data\nQuality: higher is better.\n\nOther columns are numbers.", None);
        check("# Evaluation\nLower is better. In the second round, higher is better.", None);
        check("We minimise costs of the plant. Forecasts are compared by the energy score.", None);
        for other in ["The winner gets a large prize.", "Models should be as small as possible."] {
            check(&format!("# Evaluation\nForecasts are compared by the energy score. {other}"), None);
        }
    }
}
