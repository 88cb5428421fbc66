//! Labels that are limits of an amount, such as `<=50K` and `>50K`, and the words that mean them.

use super::sentence::{Word, among, spaced, words};

/// The words of a label; a limit of an amount is one word, for example `>50000`.
pub(super) fn label_words(label: &str) -> Vec<String> {
    let found = words(&spaced(label));
    match sign_of(label).zip(amount(&found, 0)) {
        Some((sign, (value, until))) if until == found.len() => vec![format!("{sign}{value}")],
        _ => found.into_iter().map(|word| word.text).collect(),
    }
}

/// The words with each amount behind `more than`, `at most` or a sign as one word such as `>50000`. As many words remain,
/// so that their places stay the same.
pub(super) fn with_limits(words: &[Word]) -> Vec<Word> {
    let mut marked = words.to_vec();
    for at in 0..words.len() {
        if let Some((sign, (value, until))) = sign_before(words, at).zip(amount(words, at)) {
            marked[at].text = format!("{sign}{value}");
            for word in &mut marked[at + 1..until] {
                word.text.clear();
            }
        }
    }
    marked
}

/// `>50K`, `>= 50K`, `50K+` are above, `<=50K` and `- 50K` below.
fn sign_of(label: &str) -> Option<char> {
    let label = label.trim();
    match label.chars().next()? {
        '>' | '≥' => Some('>'),
        '<' | '≤' | '-' => Some('<'),
        _ => label.trim_end_matches('.').ends_with('+').then_some('>'),
    }
}

/// On which side of the amount at this place the words before it look.
fn sign_before(words: &[Word], at: usize) -> Option<char> {
    const MORE: &str = "more greater higher larger";
    const LESS: &str = "less fewer lower smaller";
    const ABOVE: &str = "over above exceeds exceed exceeding exceeded beyond";
    const BELOW: &str = "under below";
    let text = |back: usize| at.checked_sub(back).map_or("", |at| words[at].text.as_str());
    let side = |more: &str, less: &str, word: &str| {
        among(more, word).then_some('>').or_else(|| among(less, word).then_some('<'))
    };
    // An arrow is no sign.
    let before = words.get(at)?.before.replace("->", "").replace("=>", "");
    if before.contains(['>', '≥']) {
        return Some('>');
    }
    if before.contains(['<', '≤']) {
        return Some('<');
    }
    match (text(2), text(1)) {
        (_, "than") => side(MORE, LESS, text(2)),
        ("at", "least") => Some('>'),
        ("at", "most") | ("up", "to") => Some('<'),
        (_, word) => side(ABOVE, BELOW, word),
    }
}

/// The amount that begins at this word and the word after it: `50K`, `50,000`, `50000`.
fn amount(words: &[Word], at: usize) -> Option<(String, usize)> {
    let first = words.get(at)?.text.as_str();
    let digits = first.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(first.len());
    let (number, unit) = first.split_at(digits);
    let factor = match unit {
        "" => 1.0,
        "k" => 1e3,
        "m" => 1e6,
        _ => return None,
    };
    let mut value = number.parse::<f64>().ok()? * factor;
    let mut until = at + 1;
    let is_group = |word: &&Word| word.before == "," && word.text.len() == 3 && unit.is_empty();
    while let Some(group) = words.get(until).filter(is_group) {
        let Ok(group) = group.text.parse::<u16>() else { break };
        value = value * 1e3 + f64::from(group);
        until += 1;
    }
    Some((value.to_string(), until))
}
