//! What a script changes of one that was checked, with the statements around it that matter, so that the change can be judged
//! without the whole.

use similar::{DiffTag, TextDiff};

use crate::statements::{Statement, show_related, statements, with_marks};

/// Lines that are shown before and after each change.
const AROUND: usize = 3;
/// The largest part of a script, in hundredths of its characters, that is shown instead of the whole.
const LARGEST: usize = 60;

/// What a script changes.
pub(crate) struct Changes<'a> {
    lines: Vec<&'a str>,
    /// Which lines are new, and which of all are shown.
    new: Vec<bool>,
    shown: Vec<bool>,
    /// The lines that are gone.
    gone: Vec<&'a str>,
}

impl<'a> Changes<'a> {
    /// What `after` changes of `before`: the new lines with their neighbours, the statements that use what the changed ones
    /// define, and those that define what the changed ones use. `None` if nothing changed, if that is most of the script, or
    /// if one of the two does not parse.
    pub fn of(before: &'a str, after: &'a str) -> Option<Self> {
        let (old_lines, lines): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
        let diff = TextDiff::from_slices(&old_lines, &lines);
        let (mut old, mut new) = (vec![false; old_lines.len()], vec![false; lines.len()]);
        let mut near = new.clone();
        for change in diff.ops().iter().filter(|op| op.tag() != DiffTag::Equal) {
            change.old_range().for_each(|line| old[line] = true);
            change.new_range().for_each(|line| new[line] = true);
            let around = change.new_range();
            let end = (around.end + AROUND).min(near.len());
            near[around.start.saturating_sub(AROUND)..end].fill(true);
        }
        let gone: Vec<&str> = old_lines
            .iter()
            .zip(&old)
            .filter(|(line, gone)| **gone && is_code(line))
            .map(|(line, _)| *line)
            .collect();
        if gone.is_empty() && !new.contains(&true) {
            return None;
        }
        let mut shown = near;
        let (old_statements, statements) = (statements(before)?, statements(after)?);
        let changed: Vec<&Statement> = of(&old_statements, &old).chain(of(&statements, &new)).collect();
        show_related(&mut shown, &changed, &statements);
        let characters = |which: &dyn Fn(usize) -> bool| -> usize {
            lines.iter().enumerate().filter(|(line, _)| which(*line)).map(|(_, text)| text.len() + 1).sum()
        };
        let is_small = characters(&|line| shown[line]) * 100 <= characters(&|_| true) * LARGEST;
        is_small.then_some(Self { lines, new, shown, gone })
    }

    /// The lines that are shown, in their order; comments take the place of others.
    pub fn parts(&self) -> String {
        with_marks(&self.lines, &self.shown, |_| "lines as they were checked".to_owned())
    }

    /// The lines of the checked script that are gone.
    pub fn gone(&self) -> String {
        self.gone.iter().map(|line| format!("-{line}")).collect::<Vec<_>>().join("\n")
    }

    /// An excerpt of the whole script for one of the parts: the same text if it occurs once, else the occurrence among the
    /// changes with as many neighbouring lines as it takes to occur once. A blank text is no part of a script.
    pub fn excerpt(&self, quoted: &str) -> String {
        if quoted.trim().is_empty() {
            return String::new();
        }
        let wanted: Vec<&str> = quoted.trim_matches(['\n', '\r']).lines().map(str::trim_end).collect();
        let is_like =
            |window: &[&str]| window.iter().zip(&wanted).all(|(line, want)| line.trim_end() == *want);
        let windows = self.lines.windows(wanted.len()).enumerate();
        let found: Vec<usize> = windows.filter(|(_, window)| is_like(window)).map(|(at, _)| at).collect();
        if found.len() < 2 {
            return quoted.to_owned();
        }
        let count = |which: &[bool], at: usize| which[at..at + wanted.len()].iter().filter(|is| **is).count();
        let best = found.iter().copied().max_by_key(|at| (count(&self.new, *at), count(&self.shown, *at)));
        let (mut from, mut to) = best.map_or((0, 0), |at| (at, at + wanted.len()));
        let occurs = |from: usize, to: usize| {
            let part = &self.lines[from..to];
            self.lines.windows(part.len()).filter(|window| *window == part).count()
        };
        while occurs(from, to) > 1 {
            (from, to) = (from.saturating_sub(1), (to + 1).min(self.lines.len()));
        }
        self.lines[from..to].join("\n")
    }
}

/// Whether a line is more than a comment.
fn is_code(line: &str) -> bool {
    !line.trim().is_empty() && !line.trim_start().starts_with('#')
}

/// The statements that stand in these lines.
fn of<'s>(statements: &'s [Statement], lines: &'s [bool]) -> impl Iterator<Item = &'s Statement> {
    statements.iter().filter(|statement| statement.is_in(lines))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A script whose parts do not depend on each other, except for what is named.
    const SCRIPT: &str = "import numpy as np
train = read('train')
a_0 = 0
a_1 = 1
a_2 = 2
a_3 = 3
a_4 = 4
params = {'depth': 6}
b_0 = 0
b_1 = 1
b_2 = 2
b_3 = 3
b_4 = 4
b_5 = 5
b_6 = 6
for fold in folds:
    c_0 = 0
    c_1 = 1
    c_2 = 2
    c_3 = 3
    c_4 = 4
    model = fit(params, train)
    d_0 = 0
    d_1 = 1
    d_2 = 2
print('done')
e_0 = 0
e_1 = 1
e_2 = 2
e_3 = 3
e_4 = 4
e_5 = 5
e_6 = 6
";

    fn parts(before: &str, after: &str) -> Option<(String, String)> {
        Changes::of(before, after).map(|changes| (changes.parts(), changes.gone()))
    }

    #[test]
    fn what_a_change_depends_on_is_shown_and_lines_that_are_gone_count() {
        let check = |after: &str, says: &[&str], not: &[&str], gone: &str| {
            let (told, told_gone) = parts(SCRIPT, after).unwrap();
            assert!(
                says.iter().all(|text| told.contains(text)) && !not.iter().any(|text| told.contains(text)),
                "{told}"
            );
            assert_eq!(told_gone, gone);
        };
        // A new line changes what the model is trained on.
        let scaled = SCRIPT.replace("b_3 = 3\n", "train['x'] = scale(train['x'], b_5)\nb_3 = 3\n");
        check(&scaled, &["train = read", "b_5 = 5", "fit(params, train)"], &["a_2", "c_2", "e_2"], "");
        // Other columns are not what it depends on.
        let column = SCRIPT.replace("b_3 = 3\n", "train['x'] = 3\nb_3 = 3\n");
        let column = column.replace("e_2 = 2\n", "train['e'] = 2\ne_2 = 2\n");
        let (told, _) = parts(&column.replace("train['x'] = 3\n", ""), &column).unwrap();
        assert!(told.contains("fit(params, train)") && !told.contains("train['e']"), "{told}");
        // A line that is gone defined what the model is trained with.
        let without = SCRIPT.replace("params = {'depth': 6}\n", "");
        check(&without, &["fit(params, train)", "a_4 = 4", "b_0 = 0"], &["e_2"], "-params = {'depth': 6}");
    }

    #[test]
    fn without_a_checked_part_the_whole_is_judged() {
        let check = |before: &str, after: &str| assert!(Changes::of(before, after).is_none(), "{after}");
        check(SCRIPT, SCRIPT);
        check(SCRIPT, &format!("{SCRIPT}x = = 1\n"));
        check("x = = 1\n", SCRIPT);
        check("import numpy as np\n", SCRIPT);
        check("", "");
        check(SCRIPT, &SCRIPT.replace(" = ", " = 1 + "));
    }
}
