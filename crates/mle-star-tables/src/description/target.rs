//! Which column a description asks to predict.

use super::sentence::{Section, Sentence, among, spaced, words};
use super::{Description, quoted};

/// Beginnings of verbs that ask for a prediction.
const VERBS: [&str; 8] =
    ["predict", "forecast", "estimat", "classify", "vorhers", "predic", "prédi", "prever"];

/// The place of the column that sentences ask to predict, with one of them in quotation marks; `None` if none is named or
/// several are.
///
/// The first name behind `predict` counts, up to words such as `based on`, which features follow, and a name beside `target`.
pub(crate) fn target(description: &Description, columns: &[&str]) -> Option<(usize, String)> {
    let names: Vec<Vec<String>> =
        columns.iter().map(|name| words(&spaced(name)).into_iter().map(|word| word.text).collect()).collect();
    let asked = |sentence: &Sentence| {
        let found = as_target(sentence, &names).or_else(|| behind_verb(sentence, &names))?;
        Some((found.0, quoted(sentence, found.1)))
    };
    let sentences = description.sentences().iter().filter(|sentence| sentence.section != Section::Aside);
    let found: Vec<(usize, String)> = sentences.filter_map(asked).collect();
    let (first, others) = found.split_first()?;
    others.iter().all(|(column, _)| *column == first.0).then(|| first.clone())
}

/// The first name behind a verb, and its place; before one such as `is to be predicted`.
fn behind_verb(sentence: &Sentence, names: &[Vec<String>]) -> Option<(usize, usize)> {
    const STOPS: &str = "based basis from given using with by depending according";
    // "Predictors" and "predictive" ask for nothing, "the prediction of" does.
    const NOUNS: [&str; 4] = ["predictor", "predictive", "prediction", "estimator"];
    let text = |at: usize| sentence.words.get(at).map_or("", |word| word.text.as_str());
    let is_noun = |at: usize| NOUNS.iter().any(|noun| text(at).starts_with(noun));
    let is_verb = |at: &usize| {
        VERBS.iter().any(|verb| text(*at).starts_with(verb))
            && (!is_noun(*at) || text(*at) == "prediction" && text(at + 1) == "of")
            && !text(*at).ends_with("ions")
    };
    let verb = (0..sentence.words.len()).find(is_verb)?;
    let named = |at: usize| named_at(sentence, names, at).map(|column| (column, at));
    let is_passive = verb > 0 && among("be is are", &sentence.words[verb - 1].text);
    let ahead = || is_passive.then(|| (0..verb).rev().find_map(named)).flatten();
    let behind =
        || (verb + 1..sentence.words.len()).take_while(|at| !among(STOPS, text(*at))).find_map(named);
    ahead().or_else(behind)
}

/// The name in `the target is X`, `target column X`, `X is the target`.
fn as_target(sentence: &Sentence, names: &[Vec<String>]) -> Option<(usize, usize)> {
    const NEAR: usize = 5;
    let is_target = |text: &str| among("target targets label labels outcome response zielvariable", text);
    let at = sentence.words.iter().position(|word| is_target(&word.text))?;
    let end = sentence.words.len();
    let mut near = (at + 1..end.min(at + NEAR)).chain((at.saturating_sub(NEAR)..at).rev());
    near.find_map(|at| named_at(sentence, names, at).map(|column| (column, at)))
}

/// The column, the longest of several, that is named at this place.
fn named_at(sentence: &Sentence, names: &[Vec<String>], at: usize) -> Option<usize> {
    let words = &sentence.words[at..];
    let fits = |name: &&Vec<String>| {
        let is_long = name.iter().map(String::len).sum::<usize>() > 1;
        // A name of one letter is a word of the text unless it is marked.
        let is_marked = words[0].before.ends_with(['`', '"', '\'', '“', '*', '_']);
        !name.is_empty()
            && (is_long || is_marked)
            && name.len() <= words.len()
            && name.iter().zip(words).all(|(name, word)| *name == word.text)
    };
    let longest = names.iter().filter(fits).max_by_key(|name| name.len())?;
    names.iter().position(|name| name == longest)
}
