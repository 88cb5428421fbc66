//! Sentences as words.

/// What a heading says about the text below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    /// How submissions are evaluated.
    Evaluation,
    /// Other work, baselines, prizes: what is said there does not decide.
    Aside,
    /// Literature, of which only the heading is a sentence.
    References,
    /// Anything else.
    Other,
}

/// A sentence with its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sentence {
    /// The text as people read it.
    pub(crate) text: String,
    /// Its words.
    pub(crate) words: Vec<Word>,
    /// What the heading above says.
    pub(crate) section: Section,
    /// Whether it is a heading.
    pub(crate) is_heading: bool,
}

/// A word of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    /// In lower case; a hyphen separates words, `@` is the word `at`, and a number keeps its point.
    pub(crate) text: String,
    /// As it is written.
    pub(crate) raw: String,
    /// What stands between it and the word before.
    pub(crate) before: String,
    /// Where it begins in the sentence, in bytes.
    pub(crate) at: usize,
}

/// Beginnings of words in headings about evaluation.
const EVALUATION: &str =
    "evalu évalu avali valutaz bewert auswert metri métri gütemaß оцен метрик 评价 评估 評価 指標 指标 평가";
/// Words which mean evaluation in a heading that says nothing else.
const WEAKLY: &str = "scoring score scored scores ranking ranked judging judged grading graded leaderboard goal objective \
    performance puntuación success";
const BESIDE: &str = "and the of how criteria criterion submission submissions are is we your you final measure function \
    rules method rule will be for";
/// A heading with a word that begins so is about other things, and so are those below that say nothing.
const ASIDE: &str = "related background baseline benchmark previous histor acknowledg paper prize timeline licen starter past";
/// Beginnings of words in headings about literature.
const REFERENCES: &str = "referenc citation literature bibliograph cite citing";

impl Section {
    /// What a heading says about the text below it; `None` if nothing.
    pub(crate) fn below(heading: &str) -> Option<Self> {
        let words = words(heading);
        let begins =
            |stems: &str| words.iter().any(|word| stems.split(' ').any(|stem| word.text.starts_with(stem)));
        let is = |list: &str, word: &Word| among(list, &word.text);
        let weakly = words.iter().any(|word| is(WEAKLY, word))
            && words.iter().all(|word| is(WEAKLY, word) || is(BESIDE, word));
        if begins(REFERENCES) {
            return Some(Self::References);
        }
        // "Evaluation and baseline" has both, "evaluation of the baseline" is about the latter.
        let is_first = words.first().is_some_and(|first| {
            EVALUATION.split(' ').any(|stem| first.text.starts_with(stem)) || is(WEAKLY, first)
        });
        let has_both = is_first
            && words
                .get(1)
                .is_some_and(|next| next.text == "and" || next.before.contains(['&', '/', ',', '+']));
        if begins(ASIDE) && !has_both {
            return Some(Self::Aside);
        }
        (begins(EVALUATION) || weakly || (has_both && begins(ASIDE))).then_some(Self::Evaluation)
    }
}

impl Sentence {
    pub(crate) fn new(text: String, section: Section, is_heading: bool) -> Self {
        Self { words: words(&text), text, section, is_heading }
    }

    /// Whether one of these words occurs.
    pub(crate) fn has(&self, list: &str) -> bool {
        self.words.iter().any(|word| among(list, &word.text))
    }
}

/// A name with blanks between the words of `camelCase` and `snake_case`.
pub(crate) fn spaced(name: &str) -> String {
    let mut spaced = String::new();
    let mut was_lower = false;
    for letter in name.chars() {
        if letter.is_uppercase() && was_lower {
            spaced.push(' ');
        }
        was_lower = letter.is_lowercase();
        spaced.push(if letter == '_' || letter == '-' { ' ' } else { letter });
    }
    spaced
}

/// Whether a list, its words separated by blanks, has this word.
pub(crate) fn among(list: &str, word: &str) -> bool {
    list.split(' ').any(|other| other == word)
}

/// The words of a text.
pub(crate) fn words(text: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut before = String::new();
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        if letter == '@' || letter == '%' {
            let word = if letter == '@' { "at" } else { "percent" };
            words.push(Word {
                text: word.to_owned(),
                raw: letter.to_string(),
                before: std::mem::take(&mut before),
                at,
            });
            continue;
        }
        if !is_letter(letter) {
            before.push(letter);
            continue;
        }
        let mut raw = String::from(letter);
        while let Some((at, next)) = letters.peek().copied() {
            let is_point = next == '.'
                && raw.chars().all(|c| c.is_ascii_digit())
                && text[at + 1..].starts_with(|c: char| c.is_ascii_digit());
            if !is_letter(next) && !is_point {
                break;
            }
            raw.push(next);
            letters.next();
        }
        let lower = raw.to_lowercase().replace('²', "2").replace('₁', "1");
        words.push(Word { text: lower, raw, before: std::mem::take(&mut before), at });
    }
    merged(words)
}

/// Joins `F_1` and `R^2`, and makes `n't` the word `not`.
fn merged(words: Vec<Word>) -> Vec<Word> {
    const CONTRACTED: &str = "don doesn didn isn aren wasn weren won can couldn shouldn wouldn";
    let mut merged: Vec<Word> = Vec::with_capacity(words.len());
    for mut word in words {
        if let Some(last) = merged.last_mut() {
            let is_near = word.before.chars().all(|c| "_^-{}$ ".contains(c));
            if is_near
                && matches!((last.text.as_str(), word.text.as_str()), ("f", "1" | "2" | "0.5") | ("r", "2"))
            {
                last.text.push_str(&word.text);
                continue;
            }
            let is_apostrophe = matches!(word.before.as_str(), "'" | "’");
            if is_apostrophe && word.text == "t" && among(CONTRACTED, &last.text) {
                "not".clone_into(&mut word.text);
            }
        }
        merged.push(word);
    }
    merged
}

fn is_letter(letter: char) -> bool {
    letter.is_alphanumeric()
}

/// Splits a paragraph into its sentences.
pub(crate) fn sentences(paragraph: &str) -> Vec<String> {
    const ABBREVIATIONS: &str = "e.g i.e vs cf approx no fig eq sec al dr mr st resp incl a.k.a";
    let text = super::formula::without(paragraph);
    let mut sentences = Vec::new();
    let mut start = 0;
    for (at, letter) in text.char_indices() {
        let end = at + letter.len_utf8();
        let rest = &text[end..];
        let ends = match letter {
            '。' | '！' | '？' => true,
            '.' | '!' | '?' => {
                let rest = rest.trim_start_matches(['"', '\'', ')', '*', '”', '’', '`']);
                let next = rest.trim_start().chars().next();
                let last = text[start..at]
                    .rsplit(|c: char| c.is_whitespace() || c == '(')
                    .next()
                    .unwrap_or_default();
                let is_answer = last == "no" && next.is_some_and(char::is_alphabetic);
                let is_short = !is_answer && among(ABBREVIATIONS, last.to_lowercase().as_str())
                    || last.chars().count() == 1 && last.chars().all(char::is_alphabetic);
                rest.starts_with(char::is_whitespace)
                    && !(letter == '.' && is_short)
                    && next.is_some_and(|next| !next.is_lowercase())
            }
            _ => false,
        };
        if ends {
            sentences.push(text[start..end].trim().to_owned());
            start = end;
        }
    }
    sentences.push(text[start..].trim().to_owned());
    sentences.retain(|sentence| sentence.chars().any(char::is_alphanumeric));
    sentences
}
