//! Citations of literature, whose titles may name metrics.

use super::sentence::{among, words};

/// The sentences without those of citations: authors, title, journal, year and pages.
pub(super) fn without_citations(sentences: &[String]) -> Vec<String> {
    let mut kept = Vec::with_capacity(sentences.len());
    let mut at = 0;
    while at < sentences.len() {
        match length(&sentences[at..]) {
            0 => {
                kept.push(sentences[at].clone());
                at += 1;
            }
            length => at += length,
        }
    }
    kept
}

/// Whether a line begins with authors, as that of a citation.
pub(super) fn begins_citation(line: &str) -> bool {
    let line = unnumbered(line);
    let tokens: Vec<&str> = line.split_whitespace().take(4).collect();
    let token = |at: usize| tokens.get(at).copied().unwrap_or_default();
    let is_surname = is_capitalized(token(0).trim_end_matches(','));
    let has_initials = is_surname && is_initials(token(1), token(0).ends_with(','));
    let begins_with_initials = token(0).ends_with('.')
        && is_initials(token(0), true)
        && is_capitalized(token(1).trim_end_matches([',', '.']));
    let are_others = is_surname && token(1) == "et" && token(2).starts_with("al");
    let are_full_names = token(1).ends_with(',')
        && [token(0), token(1), token(2), token(3)]
            .iter()
            .all(|name| is_capitalized(name.trim_end_matches([',', '.'])));
    has_initials || begins_with_initials || are_others || are_full_names
}

/// How many of these sentences, from the first, are one citation.
fn length(sentences: &[String]) -> usize {
    const LONGEST: usize = 4;
    let near = &sentences[..sentences.len().min(LONGEST)];
    if !begins_citation(&sentences[0]) {
        let is_one = has_year(&sentences[0]) && marks(&sentences[0]) >= 2 && !is_about_scores(&sentences[0]);
        return usize::from(is_one);
    }
    let Some(year) = near.iter().position(|sentence| has_year(sentence)) else { return 0 };
    if near[..=year].iter().any(|sentence| is_about_scores(sentence)) {
        return 0;
    }
    let mut end = year + 1;
    // "Davis, J. (2006)." The title follows.
    let ends_with_year =
        near[year].trim_end_matches(['.', ')', ':', ',', ' ']).ends_with(|c: char| c.is_ascii_digit());
    if year == 0 && ends_with_year && near.get(1).is_some_and(|title| !is_about_scores(title)) {
        end += 1;
    }
    while near.get(end).is_some_and(|next| marks(next) > 0 && !is_about_scores(next)) {
        end += 1;
    }
    end
}

/// A line without `[1]`, `1.`, `Reference:` and the like.
fn unnumbered(line: &str) -> &str {
    let line = line.trim_start_matches(|c: char| !c.is_alphabetic());
    match line.split_once(':') {
        Some((key, rest)) if among("reference references citation source cite see", &key.to_lowercase()) => {
            rest.trim_start()
        }
        _ => line,
    }
}

fn is_capitalized(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(char::is_uppercase)
        && letters.clone().next().is_some()
        && letters.clone().any(char::is_lowercase)
        && letters.all(|letter| letter.is_alphabetic() || "-'’".contains(letter))
}

/// `J.`, `J.A.`, `JA,`; without points only two letters at most.
fn is_initials(token: &str, may_be_bare: bool) -> bool {
    let letters: Vec<char> = token.chars().filter(|c| c.is_alphabetic()).collect();
    let has_mark = token.ends_with(['.', ',', ';', ':']);
    (1..=2).contains(&letters.len())
        && letters.iter().all(|letter| letter.is_uppercase())
        && token.chars().all(|c| c.is_uppercase() || ".,;:-".contains(c))
        && (may_be_bare || has_mark)
}

fn has_year(text: &str) -> bool {
    words(text).iter().any(|word| {
        let year = word.text.trim_end_matches(char::is_alphabetic);
        year.len() == 4 && year.parse::<u16>().is_ok_and(|year| (1800..2100).contains(&year))
    })
}

/// How many signs of a publication a text has.
fn marks(text: &str) -> usize {
    const MARKS: &str = "journal proceedings proc conference workshop vol volume pp pages doi arxiv transactions trans \
        press springer elsevier ieee acm publisher isbn preprint et";
    let found = words(text);
    let named = found.iter().filter(|word| among(MARKS, &word.text)).count();
    // "143:29-36", "12(3)".
    let pages = found.windows(2).filter(|pair| {
        let are_numbers = pair.iter().all(|word| word.text.chars().all(|c| c.is_ascii_digit()));
        are_numbers && matches!(pair[1].before.as_str(), "-" | "–" | "--" | "(" | ":")
    });
    named + pages.count()
}

fn is_about_scores(text: &str) -> bool {
    const SCORES: &str = "submissions submission evaluated scored ranked judged metric we your you";
    words(text).iter().any(|word| among(SCORES, &word.text))
}
