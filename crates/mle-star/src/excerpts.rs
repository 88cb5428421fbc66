//! Parts of scripts for agents that know the rest, so that a prompt says nothing twice.

use std::collections::{HashMap, HashSet};
use std::ops::{Range, RangeInclusive};

use crate::prompts::ordinal;
use crate::solution::CodeBlock;
use crate::statements::{Statement, show_imports, show_related, statements, with_marks};

/// The fewest lines with text that are left out because they stand elsewhere.
const LEAST: usize = 6;
/// The most places at which a line of a known script is looked for: empty lines and closing brackets are everywhere.
const PLACES: usize = 40;
/// The lines of a block that are shown at each end, if that is enough to find it.
const ENDS: usize = 3;
/// Lines that are shown before and after a block, and what stands before its first and after its last one.
const AROUND: usize = 3;
/// The most names that are told of lines that are left out: those that they define, and those in quotes.
const MOST_DEFINED: usize = 12;
const MOST_QUOTED: usize = 40;
const BEGIN: &str = "# >>> the block begins";
const END: &str = "# <<< the block ends";

/// `script` without what stands in the solutions `known`, which the reader has in this order: comments take the place of runs
/// of lines that are equal apart from their indentation. `None` if that saves less than a fifth.
pub(crate) fn beside(script: &str, known: &[&str]) -> Option<String> {
    let lines: Vec<&str> = script.lines().collect();
    let known: Vec<Vec<&str>> = known.iter().map(|text| text.lines().collect()).collect();
    let places = places(&known);
    let (mut told, mut at) = (Vec::new(), 0);
    while at < lines.len() {
        let run = longest_run(&lines[at..], &known, &places);
        match run.filter(|run| {
            lines[at..at + run.length].iter().filter(|line| !line.trim().is_empty()).count() >= LEAST
        }) {
            Some(run) => {
                told.push(run.words(lines[at], lines[at + run.length - 1]));
                at += run.length;
            }
            None => {
                told.push(lines[at].to_owned());
                at += 1;
            }
        }
    }
    let told = told.join("\n");
    (told.len() * 5 < script.len() * 4).then_some(told)
}

/// The first and the last lines of a block of `script`, as many as occur there once; `None` if the block is not much longer.
pub(crate) fn ends(block: &str, script: &str) -> Option<String> {
    let lines: Vec<&str> = block.trim_matches('\n').lines().collect();
    let is_single = |part: &[&str]| script.matches(&part.join("\n")).count() == 1;
    let first = (ENDS..lines.len()).find(|count| is_single(&lines[..*count]))?;
    let last = (ENDS..lines.len()).find(|count| is_single(&lines[lines.len() - count..]))?;
    let left = lines.len().checked_sub(first + last).filter(|left| *left >= LEAST)?;
    let mark = format!("# [… {left} lines, as they stand in the solution …]");
    Some([&lines[..first], &[&mark], &lines[lines.len() - last..]].concat().join("\n"))
}

/// A script around a block of whole lines: imports, the statements that use what the block defines or define what it uses, and
/// the neighbours of the block, which stands between two marks. `None` if that saves less than a quarter.
pub(crate) fn around(
    script: &str,
    block: &CodeBlock,
    first_and_last: &RangeInclusive<usize>,
) -> Option<String> {
    let lines: Vec<&str> = script.lines().collect();
    let (first, end) = (first_and_last.start().checked_sub(1)?, *first_and_last.end());
    if lines.get(first..end)?.join("\n") != block.as_str().trim_matches(['\n', '\r']) {
        return None;
    }
    let mut of_block = vec![false; lines.len()];
    of_block[first..end].fill(true);
    let mut shown = vec![false; lines.len()];
    shown[first.saturating_sub(AROUND)..(end + AROUND).min(lines.len())].fill(true);
    let statements = statements(script)?;
    let given: Vec<&Statement> = statements.iter().filter(|statement| statement.is_in(&of_block)).collect();
    show_imports(&mut shown, &statements);
    show_related(&mut shown, &given, &statements);
    let part = |range: Range<usize>| match range.is_empty() {
        true => None,
        false => Some(with_marks(&lines[range.clone()], &shown[range.clone()], |gap| {
            left_out(&lines, &statements, range.start + gap.start..range.start + gap.end)
        })),
    };
    let block = [BEGIN.to_owned(), lines[first..end].join("\n"), END.to_owned()].join("\n");
    let parts = [part(0..first), Some(block), part(end..lines.len())];
    let told = parts.into_iter().flatten().collect::<Vec<_>>().join("\n");
    (told.len() * 4 <= script.len() * 3).then_some(told)
}

/// What stands in lines that are left out: the names that they define, and those in quotes, such as of columns, which a new
/// block may want to use.
fn left_out(lines: &[&str], statements: &[Statement], gap: Range<usize>) -> String {
    let defined = statements.iter().flat_map(|statement| statement.defined_in(&gap));
    let quoted = lines[gap.clone()].iter().flat_map(|line| line.split(['"', '\'']).skip(1).step_by(2));
    let quoted = quoted.filter(|text| is_name(text));
    let mut told = "lines that define nothing that the block names".to_owned();
    for (what, names) in [("defined", few(defined, MOST_DEFINED)), ("in quotes", few(quoted, MOST_QUOTED))] {
        if !names.is_empty() {
            told.push_str(&format!("; {what}: {names}"));
        }
    }
    told
}

/// Each of the names once, in their order, and at most so many.
fn few<'a>(names: impl Iterator<Item = &'a str>, most: usize) -> String {
    let mut known = HashSet::new();
    let mut names: Vec<&str> = names.filter(|name| known.insert(*name)).collect();
    let more = names.len().saturating_sub(most);
    names.truncate(most);
    let told = names.join(", ");
    if more > 0 { format!("{told} and {more} more") } else { told }
}

fn is_name(text: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.len() > 1
        && text.chars().count() <= 40
        && text.chars().all(is_part)
        && !text.starts_with(|c: char| c.is_ascii_digit())
}

/// Lines of a known script that stand in another one.
struct Run {
    /// The number of the script, and of its first line.
    of: usize,
    from: usize,
    length: usize,
}

impl Run {
    /// The comment in place of the lines from `first` to `last`.
    fn words(&self, first: &str, last: &str) -> String {
        let indent = &first[..first.len() - first.trim_start().len()];
        let (number, end) = (u32::try_from(self.of + 1).unwrap_or(u32::MAX), self.from + self.length);
        let (first, last, of) = (first.trim(), last.trim(), ordinal(number));
        format!(
            "{indent}# [… as in the {of} solution, lines {} to {end}, from `{first}` to `{last}` …]",
            self.from + 1
        )
    }
}

/// Where each line stands in the scripts.
fn places<'a>(known: &[Vec<&'a str>]) -> HashMap<&'a str, Vec<(usize, usize)>> {
    let mut places: HashMap<&str, Vec<(usize, usize)>> = HashMap::new();
    for (of, lines) in known.iter().enumerate() {
        for (from, line) in lines.iter().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let of_line = places.entry(line.trim()).or_default();
            if of_line.len() < PLACES {
                of_line.push((of, from));
            }
        }
    }
    places
}

/// The longest run of known lines that these begin with.
fn longest_run(
    lines: &[&str],
    known: &[Vec<&str>],
    places: &HashMap<&str, Vec<(usize, usize)>>,
) -> Option<Run> {
    let run = |(of, from): (usize, usize)| {
        let pairs = lines.iter().zip(&known[of][from..]);
        Run { of, from, length: pairs.take_while(|(one, two)| one.trim() == two.trim()).count() }
    };
    let found = places.get(lines.first()?.trim())?.iter().copied().map(run);
    // The first of equals.
    found.reduce(|best, other| if other.length > best.length { other } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(name: &str, count: usize) -> String {
        (0..count).map(|n| format!("{name}_{n} = load({n})\n")).collect()
    }

    #[test]
    fn what_known_solutions_say_is_left_out() {
        let (one, two) = (lines("a", 30), format!("{}{}", lines("a", 10), lines("b", 20)));
        let indented: String = lines("b", 20).lines().map(|line| format!("    {line}\n")).collect();
        let ensemble = format!("import numpy\n{one}def second():\n{indented}    return b_0\n");
        let expected = "import numpy\n# [… as in the 1st solution, lines 1 to 30, from `a_0 = load(0)` to `a_29 = load(29)` …]\n\
                        def second():\n    # [… as in the 2nd solution, lines 11 to 30, from `b_0 = load(0)` to `b_19 = load(19)` …]\n    return b_0";
        assert_eq!(beside(&ensemble, &[&one, &two]).unwrap(), expected);
        // Short runs stay, and so does what is mostly new.
        assert_eq!(beside(&format!("{}{}", lines("c", 30), lines("a", 5)), &[&one]), None);
        assert_eq!(beside("", &[&one]), None);
        assert_eq!(beside(&"\n".repeat(100), &["\n\n\n\n\n\n\n\n"]), None);
    }

    #[test]
    fn a_long_block_is_shown_by_its_ends_if_they_occur_once() {
        let block = lines("b", 20);
        let script = format!("import x\n{block}print(1)\n");
        let expected = "b_0 = load(0)\nb_1 = load(1)\nb_2 = load(2)\n\
                        # [… 14 lines, as they stand in the solution …]\n\
                        b_17 = load(17)\nb_18 = load(18)\nb_19 = load(19)";
        assert_eq!(ends(&block, &script).unwrap(), expected);
        // Three lines that occur twice are not enough.
        let repeated = format!("{script}{}", lines("b", 4));
        let told = ends(&block, &repeated).unwrap();
        assert!(
            told.starts_with(
                "b_0 = load(0)\nb_1 = load(1)\nb_2 = load(2)\nb_3 = load(3)\nb_4 = load(4)\n# [… 12"
            ),
            "{told}"
        );
        assert_eq!(ends(&lines("b", 11), &script), None);
        assert_eq!(ends("", &script), None);
    }
}
