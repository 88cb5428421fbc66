//! What the leakage agent is shown of a script that was made from a checked one: the changes that can leak.

use std::collections::HashSet;
use std::ops::RangeInclusive;

use similar::{DiffOp, TextDiff};

use super::settings::may_leak;
use crate::agents::Excerpt;

/// Of a script, the largest share of the lines that is shown in parts.
const MOST: f64 = 0.7;
/// A script with fewer lines is shown whole.
const SHORT: usize = 40;

/// The changes that can leak, with what surrounds, defines and uses them; the whole script if that is most of it, or if a
/// statement of this kind is gone; `None` if no change can leak.
pub(super) fn excerpt(before: &str, after: &str) -> Option<Excerpt> {
    let diff = TextDiff::from_lines(before, after);
    let (mut added, mut gone, mut replaced) = (Vec::new(), Vec::new(), Vec::new());
    for op in diff.ops().iter().filter(|op| !matches!(op, DiffOp::Equal { .. })) {
        let lines = |range: std::ops::Range<usize>| (!range.is_empty()).then(|| range.start + 1..=range.end);
        let (old, new) = (lines(op.old_range()), lines(op.new_range()));
        (if new.is_some() { &mut replaced } else { &mut gone }).extend(old);
        added.extend(new);
    }
    let places = may_leak(after, &added);
    // What stands elsewhere may run more or less often.
    let texts = |of: &str, lines: &[RangeInclusive<usize>]| -> HashSet<String> {
        let is_there = |number: usize| lines.iter().any(|range| range.contains(&number));
        let found =
            (1..).zip(of.lines()).filter(|(number, line)| is_there(*number) && !line.trim().is_empty());
        found.map(|(_, line)| line.trim().to_owned()).collect()
    };
    let taken = [gone.as_slice(), &replaced].concat();
    let moves = !texts(after, &added).is_disjoint(&texts(before, &taken));
    let is_cut = !may_leak(before, &gone).is_empty();
    if places.is_empty() && !is_cut && may_leak(before, &replaced).is_empty() && !moves {
        return None;
    }
    let whole = || Excerpt::whole(after);
    Some(if places.is_empty() || is_cut { whole() } else { parts(after, &places).unwrap_or_else(whole) })
}

/// These lines of a script (from 1), the headers of the blocks that they stand in, and all lines with their variables; `None`
/// if that is most of it.
fn parts(script: &str, places: &[RangeInclusive<usize>]) -> Option<Excerpt> {
    let lines: Vec<&str> = script.lines().collect();
    let is_place = |index: usize| places.iter().any(|place| place.contains(&(index + 1)));
    let mut shown = vec![false; lines.len()];
    let defined: HashSet<&str> = lines.iter().flat_map(|line| targets(line)).collect();
    let mut names: HashSet<&str> = HashSet::new();
    for at in (0..lines.len()).filter(|at| is_place(*at)) {
        names.extend(words(lines[at]).filter(|word| defined.contains(word)));
        let around = headers(&lines, at).filter(|at| lines[*at].trim_start().starts_with("def "));
        names.extend(around.flat_map(|at| targets(lines[at])));
    }
    for (at, line) in lines.iter().enumerate() {
        if is_place(at) || words(line).any(|word| names.contains(word)) {
            shown[at] = true;
            headers(&lines, at).for_each(|above| shown[above] = true);
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "lines of a script")]
    let share = shown.iter().filter(|shown| **shown).count() as f64 / lines.len().max(1) as f64;
    if share > MOST || lines.len() < SHORT {
        return None;
    }
    let mut code = String::new();
    for part in (0..lines.len()).collect::<Vec<_>>().chunk_by(|one, two| shown[*one] == shown[*two]) {
        match part {
            [first, ..] if shown[*first] => part.iter().for_each(|at| code.extend([lines[*at], "\n"])),
            [.., last] if lines[part[0]..=*last].iter().all(|line| line.trim().is_empty()) => code.push('\n'),
            [_] => code += "# … 1 line\n",
            _ => code += &format!("# … {} lines\n", part.len()),
        }
    }
    Some(Excerpt { code, is_part: true, notes: Vec::new() })
}

/// The numbers of the lines that begin the blocks around a line, innermost first.
fn headers<'a>(lines: &'a [&str], at: usize) -> impl Iterator<Item = usize> + 'a {
    let mut depth = indent(lines[at]);
    (0..at).rev().filter(move |above| {
        let is_header = !lines[*above].trim().is_empty() && indent(lines[*above]) < depth;
        if is_header {
            depth = indent(lines[*above]);
        }
        is_header
    })
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    let parts = line.split(|next: char| !next.is_alphanumeric() && next != '_');
    parts.filter(|word| word.starts_with(|first: char| first.is_alphabetic() || first == '_'))
}

/// The names that a line assigns, defines or loops with.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    let line = line.trim_start();
    let targets = match line.split_once(' ').unwrap_or_default() {
        ("def" | "class", rest) => rest.split(['(', ':']).next(),
        ("for", rest) => rest.split(" in ").next(),
        _ => line.split_once(" = ").map(|(targets, _)| targets),
    };
    let roots = targets.into_iter().flat_map(|targets| targets.split(','));
    roots.filter_map(|target| words(target).next())
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the corpus is in files")]
mod tests {
    use super::*;

    /// A script with so many more lines that it is shown in parts.
    fn long(script: &str) -> String {
        (0..100).fold(script.to_owned(), |text, line| text + &format!("pad_{line} = 0\n"))
    }

    const SCRIPT: &str = "\
import pandas as pd
from sklearn.linear_model import Ridge
train = pd.read_csv('input/train.csv')
rate = 0.1


def encoded(rows):
    means = rows.groupby('city')['y'].mean()
    return rows['city'].map(means)


size = 3
depth = 4
leaves = 5
for fit, held in folds.split(train):
    x = encoded(train)
    model = Ridge(alpha=rate)
    model.fit(x.iloc[fit], y[fit])
    print(size, depth)
    print(leaves, size)
    print(depth)
";

    #[test]
    fn a_constant_cannot_leak() {
        assert!(excerpt(SCRIPT, &SCRIPT.replace("rate = 0.1", "rate = 0.2")).is_none());
    }

    #[test]
    fn a_change_stands_with_its_block_its_names_and_its_calls() {
        let before = SCRIPT.replace("rows.groupby('city')['y'].mean()", "rows.groupby('city')['x'].mean()");
        let shown = excerpt(&long(&before), &long(SCRIPT)).unwrap();
        assert!(shown.is_part);
        for line in ["def encoded(rows):", "['y'].mean()", "    x = encoded(train)", "for fit, held in"] {
            assert!(shown.code.contains(line), "{}", shown.code);
        }
        assert!(!shown.code.contains("leaves = 5") && shown.code.contains("# … "), "{}", shown.code);
    }

    #[test]
    fn a_split_that_is_gone_shows_the_whole_script() {
        let before = SCRIPT.replace("rate = 0.1", "rate = 0.1\ntrain = train[train['fold'] != 0]");
        let shown = excerpt(&before, SCRIPT).unwrap();
        assert!(!shown.is_part && shown.code == SCRIPT);
    }

    /// What a pair of the corpus changes in its leaking script is asked about, and nearly always with the lines that its
    /// findings name.
    #[test]
    fn no_leak_of_the_corpus_is_left_out() {
        let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../mle-star-leakage/corpus");
        let files = std::fs::read_dir(corpus).unwrap().map(|entry| entry.unwrap().path());
        let (mut pairs, mut parts, mut without_line) = (0, 0, Vec::new());
        for file in files.filter(|file| file.extension().is_some_and(|name| name == "pair")) {
            let pair = std::fs::read_to_string(&file).unwrap();
            let script = |own: char, other: char| {
                let lines = pair.lines().filter(|line| !line.starts_with(other));
                let lines = lines.map(|line| line.strip_prefix(own).unwrap_or(line));
                lines.fold(String::new(), |text, line| text + line + "\n")
            };
            let (leaking, mended) = (script('-', '+'), script('+', '-'));
            let shown = excerpt(&long(&mended), &long(&leaking));
            let shown = shown.unwrap_or_else(|| panic!("{} is not asked about", file.display()));
            let expected = leaking.lines().filter_map(|line| line.strip_prefix("# expect: "));
            let mut numbers = expected.filter_map(|text| text.split(' ').next_back()?.parse::<usize>().ok());
            let has_line =
                |number: usize| leaking.lines().nth(number - 1).is_some_and(|line| shown.code.contains(line));
            (pairs, parts) = (pairs + 1, parts + usize::from(shown.is_part));
            if !numbers.all(has_line) {
                without_line.push(file);
            }
        }
        assert!(pairs > 200 && parts > 150, "{parts} of {pairs}");
        assert!(without_line.len() * 10 < pairs, "{} of {pairs}: {without_line:#?}", without_line.len());
    }
}
