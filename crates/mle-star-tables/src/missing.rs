//! The words that look missing, and which of them are values of a column.

use serde::Deserialize;

/// Cells that pandas reads as missing, in exactly this spelling.
pub(crate) const MISSING: [&str; 19] = [
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A",
    "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
];

/// Some of the words that pandas reads as missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "Vec<String>")]
pub struct Words(u32);

impl From<Vec<String>> for Words {
    fn from(words: Vec<String>) -> Self {
        Self::of(words.iter().map(String::as_str))
    }
}

/// Whether a cell is missing where these words are values.
pub(crate) fn is_missing(value: &str, kept: Words) -> bool {
    place(value).is_some_and(|at| kept.0 >> at & 1 == 0)
}

/// The place of a word that looks missing among all of them; `None` for other cells.
pub(crate) fn place(value: &str) -> Option<usize> {
    // Most values begin with none of these letters.
    let may_be = value.bytes().next().is_none_or(|first| b"#-1<Nn".contains(&first));
    (may_be && value.len() <= 8).then(|| MISSING.iter().position(|word| *word == value)).flatten()
}

impl Words {
    /// All of them: every cell is a value but the empty one.
    pub(crate) const ALL: Self = Self(!1);

    /// These words; others do not look missing.
    pub fn of<'a>(words: impl IntoIterator<Item = &'a str>) -> Self {
        Self(words.into_iter().filter_map(place).fold(0, |words, at| words | 1 << at))
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The words.
    pub fn texts(self) -> impl Iterator<Item = &'static str> {
        let is_in = move |(at, _): &(usize, &'static str)| self.0 >> at & 1 == 1;
        MISSING.into_iter().enumerate().filter(is_in).map(|(_, word)| word)
    }

    /// These words and the others.
    #[must_use]
    pub(crate) fn with(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }
}
