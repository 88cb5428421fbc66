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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_may_be_labels_are_counted() {
        let check = |names: &[&str], expected: Option<&str>| {
            let files: Vec<Cow<'_, Path>> =
                names.iter().map(|name| Cow::Borrowed(Path::new(*name))).collect();
            assert_eq!(of(&files).as_deref(), expected, "{names:?}");
        };
        let pets = ["cat.0.jpg", "cat.1.jpg", "cat.2.jpg", "cat.3.jpg", "dog.0.jpg", "dog.1.jpg"];
        check(&pets, Some("names begin with `cat.` (4) or `dog.` (2)"));
        let calls = ["x/a1_0.aif", "x/b2_1.aif", "x/c3_1.aif", "x/d4_1.aif", "x/e5_0.aif", "x/f6_0.aif"];
        check(&calls, Some("names end with `_0` (3) or `_1` (3) before the ending"));
        check(&["a_1.png", "b_2.png", "c_3.png"], None);
        check(&["1.png", "2.png"], None);
        check(&[], None);
    }
}
