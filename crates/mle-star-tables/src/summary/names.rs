//! What the names of many files have in common: a first or a last word that may be a label.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use super::words;

/// Words that are listed at most.
const MOST: usize = 12;
/// Files for each of the words at least, on average.
const FEWEST: usize = 3;
/// Letters between the words of a name.
const BETWEEN: [char; 4] = ['.', '_', '-', ' '];

/// The first and the last words of the names, if they are few; `None` otherwise.
pub(super) fn of(files: &[Cow<'_, Path>]) -> Option<String> {
    let stems: Vec<&str> = files.iter().filter_map(|file| file.file_stem()?.to_str()).collect();
    let first = |stem: &&str| stem.find(BETWEEN).filter(|at| *at > 0).map(|at| stem[..=at].to_owned());
    let last =
        |stem: &&str| stem.rfind(BETWEEN).filter(|at| at + 1 < stem.len()).map(|at| stem[at..].to_owned());
    let begin = few(stems.iter().map(first)).map(|words| format!("names begin with {words}"));
    let end = few(stems.iter().map(last)).map(|words| format!("names end with {words} before the ending"));
    let parts: Vec<String> = begin.into_iter().chain(end).collect();
    (!parts.is_empty()).then(|| parts.join(", and "))
}

/// Two words or a few more, with the number of names that have them; `None` if a name lacks one, or if they are one or many.
fn few(found: impl Iterator<Item = Option<String>>) -> Option<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut all = 0;
    for word in found {
        *counts.entry(word?).or_default() += 1;
        all += 1;
        if counts.len() > MOST {
            return None;
        }
    }
    let listed = counts.len() > 1 && all >= counts.len() * FEWEST;
    let one = |(word, count): (&String, &usize)| {
        format!("{} ({})", words::value(word), words::count(*count as u64))
    };
    listed.then(|| counts.iter().map(one).collect::<Vec<_>>().join(" or "))
}
