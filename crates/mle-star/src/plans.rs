//! What a plan says that earlier plans do not, and the few lines that a change consists of: short texts for later agents.

use std::collections::{BTreeMap, BTreeSet};

/// The share of a sentence's words that a known one has, at least.
const ALIKE: f64 = 0.8;
/// Words that turn a sentence into its opposite.
const TURNING: [&str; 9] = ["not", "no", "never", "without", "instead", "less", "more", "lower", "higher"];

/// The sentences of `plan` that no plan of `earlier` says, in their order and in about `most` characters at most. If it says
/// nothing new, its beginning.
///
/// Numbers count: a sentence with other numbers is new.
pub(crate) fn news<'a>(plan: &str, earlier: impl IntoIterator<Item = &'a str>, most: usize) -> String {
    let known: Vec<Words> =
        earlier.into_iter().flat_map(sentences).map(|sentence| Words::of(&sentence)).collect();
    let all = sentences(plan);
    let is_new = |sentence: &&String| {
        let words = Words::of(sentence);
        !known.iter().any(|known| words.is_said_by(known))
    };
    let new: Vec<String> = all.iter().filter(is_new).cloned().collect();
    let told = if new.is_empty() { all } else { new };
    fitting(&told, most)
}

/// The beginning of a text in one line, whole words in at most `most` characters and a mark.
pub(crate) fn cut(text: &str, most: usize) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let Some((end, _)) = text.char_indices().nth(most) else { return text };
    let whole = text[..end].rfind(' ').filter(|at| *at * 2 > end).unwrap_or(end);
    format!("{}…", text[..whole].trim_end_matches([' ', ',', ';', ':']))
}

/// The first changed lines of a unified diff, as code in one line: at most `most` characters of them. Of a long line, the part
/// that differs from the line in whose place it stands.
pub(crate) fn changed_lines(diff: &str, most: usize) -> String {
    let says = |line: &&str| line[1..].trim_start().len() > 1 && !line[1..].trim_start().starts_with('#');
    let changes: Vec<&str> = diff.lines().filter(|line| line.starts_with(['+', '-'])).filter(says).collect();
    let runs: Vec<&[&str]> = changes.chunk_by(|one, two| one[..1] == two[..1]).collect();
    let (mut told, mut length, mut left) = (Vec::new(), 0, 0);
    for (index, run) in runs.iter().enumerate() {
        // What is gone stands before what is new in its place.
        let other = match run[0].starts_with('-') {
            true => runs.get(index + 1),
            false => index.checked_sub(1).and_then(|before| runs.get(before)),
        };
        for (at, line) in run.iter().enumerate() {
            let partner = other.and_then(|other| other.get(at)).map_or("", |other| &other[1..]);
            let text = format!("`{}{}`", &line[..1], differing(&line[1..], partner));
            length += text.chars().count() + 1;
            if length <= most { told.push(text) } else { left += 1 }
        }
    }
    match (told.is_empty(), left) {
        (true, _) => String::new(),
        (false, 0) => told.join(" "),
        (false, left) => format!("{} and {left} more", told.join(" ")),
    }
}

/// A line; if it is long, from shortly before its first difference to the other line.
fn differing(line: &str, other: &str) -> String {
    const LONGEST: usize = 80;
    const BEFORE: usize = 24;
    let (line, other) = (line.trim(), other.trim());
    let same = line.chars().zip(other.chars()).take_while(|(one, two)| one == two).count();
    let begin = if line.chars().count() > LONGEST { same.saturating_sub(BEFORE) } else { 0 };
    let rest: String = line.chars().skip(begin).collect();
    format!("{}{}", if begin > 0 { "…" } else { "" }, cut(&rest, LONGEST))
}

/// As many of the sentences as fit: first the one that says what is done, then those with settings, and those that only keep what
/// was there last. If half of the room is left, the beginning of the first of those that do not fit.
fn fitting(sentences: &[String], most: usize) -> String {
    let length = |texts: &[String]| texts.iter().map(|text| text.chars().count() + 1).sum::<usize>();
    if length(sentences) <= most + 1 {
        return sentences.join(" ");
    }
    let mut order: Vec<usize> = (0..sentences.len()).collect();
    let gist = sentences.iter().position(|sentence| !keeps(sentence));
    order.sort_by_key(|index| {
        let sentence = &sentences[*index];
        (keeps(sentence), Some(*index) != gist, !names_settings(sentence), *index)
    });
    let (mut taken, mut left) = (BTreeMap::new(), most);
    for index in &order {
        let own = sentences[*index].chars().count() + 3;
        if own <= left {
            taken.insert(*index, sentences[*index].clone());
            left -= own;
        }
    }
    if let Some(index) = order.iter().find(|index| !taken.contains_key(index)).filter(|_| left > most / 2) {
        taken.insert(*index, cut(&sentences[*index], left - 3));
    }
    let mut text = String::new();
    let mut next = 0;
    for (index, sentence) in &taken {
        text.push_str(if *index == next { " " } else { " … " });
        text.push_str(sentence);
        next = index + 1;
    }
    let ends = next == sentences.len() || text.ends_with('…');
    format!("{}{}", text.trim_start(), if ends { "" } else { " …" })
}

/// Whether a sentence names a number or something in code.
fn names_settings(sentence: &str) -> bool {
    sentence.contains(|c: char| c.is_ascii_digit() || c == '`' || c == '=')
}

/// Whether a sentence says what stays as it was.
fn keeps(sentence: &str) -> bool {
    ["keep ", "leave "].iter().any(|verb| sentence.to_lowercase().starts_with(verb))
}

/// The sentences of a text, each in one line and without the mark of a list.
fn sentences(text: &str) -> Vec<String> {
    text.lines().flat_map(of_line).filter(|sentence| !sentence.is_empty()).collect()
}

fn of_line(line: &str) -> Vec<String> {
    let line = line.trim().trim_start_matches(['-', '*', '#']).trim_start();
    let (mut found, mut begin) = (Vec::new(), 0);
    let characters: Vec<(usize, char)> = line.char_indices().collect();
    for (index, (at, character)) in characters.iter().enumerate() {
        let next = characters.get(index + 1).map(|(_, next)| *next);
        let after = characters.get(index + 2).map(|(_, after)| *after);
        // Not in numbers, and not after an abbreviation within a sentence.
        let ends = match character {
            '.' | '!' | '?' => after.is_none_or(|after| !after.is_lowercase()),
            ';' => true,
            _ => false,
        };
        if ends && next.is_none_or(char::is_whitespace) {
            found.push(line[begin..=*at].trim().to_owned());
            begin = at + character.len_utf8();
        }
    }
    found.push(line[begin..].trim().to_owned());
    found.into_iter().map(|text| text.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// What a sentence is compared by.
struct Words {
    words: BTreeSet<String>,
    numbers: BTreeSet<String>,
    turning: BTreeSet<String>,
}

impl Words {
    fn of(sentence: &str) -> Self {
        let words = sentence.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '-')));
        let words = words.map(|word| word.trim_matches(['.', '-']).to_lowercase());
        let words: BTreeSet<String> = words.filter(|word| !word.is_empty()).collect();
        let numbers = words.iter().filter(|word| word.contains(|c: char| c.is_ascii_digit())).cloned();
        let turning = words.iter().filter(|word| TURNING.contains(&word.as_str())).cloned();
        Self { numbers: numbers.collect(), turning: turning.collect(), words }
    }

    /// Whether a known sentence says the same: most of the words, all of the numbers, and no other direction.
    fn is_said_by(&self, known: &Self) -> bool {
        #[expect(clippy::cast_precision_loss, reason = "words of a sentence")]
        let share = || self.words.intersection(&known.words).count() as f64 / self.words.len() as f64;
        self.numbers.is_subset(&known.numbers)
            && self.turning == known.turning
            && (self.words.is_empty() || share() >= ALIKE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_told_by_what_earlier_ones_do_not_say() {
        const FIRST: &str = "Keep the target encoding of geography. Train LightGBM with depth 6 and 3 seeds.";
        let check = |plan: &str, earlier: &[&str], most: usize, expected: &str| {
            assert_eq!(news(plan, earlier.iter().copied(), most), expected, "{plan}");
        };
        check(FIRST, &[], 200, FIRST);
        let second = "Keep the target encoding of geography. Train LightGBM with depth 8 and 3 seeds.";
        check(second, &[FIRST], 200, "Train LightGBM with depth 8 and 3 seeds.");
        check(
            "Do not keep the target encoding of geography.",
            &[FIRST],
            200,
            "Do not keep the target encoding of geography.",
        );
        check("Keep the target encoding of the geography; add weights.", &[FIRST], 200, "add weights.");
        // Nothing new: its beginning.
        check(FIRST, &[FIRST], 40, "… Train LightGBM with depth 6 and 3…");
        // What is too long loses words, not settings, and what is kept before what is new.
        let long = "Rewrite the block so that it is more robust than before in many ways. Use 5 classes. Then clean up.";
        check(long, &[], 40, "… Use 5 classes. Then clean up.");
        let kept = "Keep attempt 1 in full: C = 0.06, 0.1 and 0.16, without `delinq`. Blend in 500 extra trees with weight 2.";
        check(kept, &[], 80, "… Blend in 500 extra trees with weight 2.");
        check(kept, &[], 30, "… Blend in 500 extra trees…");
        let first =
            "Blend in 500 extra trees with weight 2, so that the linear model is not alone. Clean up.";
        check(first, &[], 60, "Blend in 500 extra trees with weight 2, so… Clean up.");
        check(
            "Rewrite it robustly. Use 5 classes. Set C to 0.1 and a to 2.",
            &[],
            40,
            "Rewrite it robustly. Use 5 classes. …",
        );
        check("- one e.g. two\n- three 0.5 four. Five", &["Five"], 200, "one e.g. two three 0.5 four.");
        check("", &[], 10, "");
    }

    #[test]
    fn texts_are_cut_between_words() {
        let check = |text: &str, most: usize, expected: &str| assert_eq!(cut(text, most), expected);
        check("a  b\nc", 10, "a b c");
        check("one two, three", 10, "one two…");
        check("abcdefghijk", 4, "abcd…");
        check("äöü äöü äöü", 8, "äöü äöü…");
    }
}
