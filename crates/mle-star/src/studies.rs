//! What the ablation studies of all paths found: a short common list for the agents.
//!
//! The lines are those of the studies' summaries that name a number, so no model reads them. They are the same for agents of
//! all paths, except for studies that an agent is told whole.

use crate::plans::cut;
use mle_star_domain::place::Step;

/// Maximum number of lines in all, of one study, and those of it that are about its smallest effects.
const MOST: usize = 8;
const OF_STUDY: usize = 4;
const SMALLEST: usize = 1;
/// Maximum length of a line, in characters.
const LONGEST: usize = 300;

/// The summaries of the studies of a run, in the order in which they became known.
#[derive(Default)]
pub(crate) struct Studies(Vec<((u32, u32), String)>);

impl Studies {
    /// Adds the summary of a study in an outer step.
    pub fn add(&mut self, step: Step, summary: &str) {
        if let Step::Outer { path, outer } = step {
            self.0.push(((path, outer), summary.to_owned()));
        }
    }

    /// One line for each effect, those of the newest study first, and in a study the largest first. The studies that the
    /// agents of step `at` are told whole are left out.
    pub fn lines(&self, at: Option<Step>) -> Vec<String> {
        let is_whole = |step: (u32, u32)| match at {
            Some(Step::Outer { path, .. }) => step.0 == path,
            Some(Step::Attempt { path, outer, .. }) => step == (path, outer),
            _ => false,
        };
        let told = self.0.iter().rev().filter(|(step, _)| !is_whole(*step));
        let lines = told.flat_map(|((path, outer), summary)| {
            // Texts count from one, folders from zero.
            let study = format!("path {} (path-{path}), study {}", path + 1, outer + 1);
            effects(summary).into_iter().map(move |effect| format!("{study}: {effect}"))
        });
        lines.take(MOST).collect()
    }
}

/// The lines of a summary that name an effect, the largest first; of many, the largest and the smallest.
fn effects(summary: &str) -> Vec<String> {
    let lines: Vec<&str> = summary.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let single = |line: &&str| line.split(". ").map(str::to_owned).collect();
    let lines: Vec<String> = match lines.as_slice() {
        [line] => single(line),
        lines => lines.iter().map(|line| (*line).to_owned()).collect(),
    };
    let mut found: Vec<(f64, String)> = lines
        .iter()
        .filter_map(|line| Some((effect(line)?.abs(), cut(without_mark(line), LONGEST))))
        .collect();
    found.sort_by(|one, two| two.0.total_cmp(&one.0));
    if found.len() > OF_STUDY {
        found.drain(OF_STUDY - SMALLEST..found.len() - SMALLEST);
    }
    found.into_iter().map(|(_, line)| line).collect()
}

/// A line without the mark of a list.
fn without_mark(line: &str) -> &str {
    let line = line.trim_start_matches(['-', '*', '#', ' ']);
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    if number.len() < line.len() { number.strip_prefix(". ").unwrap_or(line) } else { line }
}

/// The difference that a line names: its first number with a sign, else the first one after a word for a difference. `None` if
/// there is none.
fn effect(line: &str) -> Option<f64> {
    const WORDS: [&str; 7] = ["by", "difference", "change", "effect", "gain", "loss", "delta"];
    let line = line.replace('\u{2212}', "-").to_lowercase();
    let signs = line.match_indices(['+', '-']).filter(|(at, _)| {
        // A minus within a word or between two numbers is no sign.
        line[..*at].chars().next_back().is_none_or(|before| !before.is_alphanumeric())
    });
    let signed = signs.filter_map(|(at, _)| number_at(&line[at + 1..])).next();
    signed.or_else(|| {
        let words: Vec<&str> =
            line.split([' ', ':', '=', '(', ')']).filter(|word| !word.is_empty()).collect();
        let named = words.windows(3).chain(words.windows(2)).filter(|words| WORDS.contains(&words[0]));
        named.filter_map(|words| words[1..].iter().find_map(|word| number_at(word))).next()
    })
}

/// The number at the beginning of a text, such as `0.5`, `12,345` or `1.2e-05`.
fn number_at(text: &str) -> Option<f64> {
    let is_digit = |at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    // A comma stands before three digits of a whole number.
    let is_mark = |at: usize| (1..4).all(|next| is_digit(at + next)) && !is_digit(at + 4);
    let (mut end, mut has_point) = (0, false);
    while let Some(letter) = text.as_bytes().get(end) {
        match letter {
            b'0'..=b'9' => {}
            b'.' if !has_point => has_point = true,
            b',' if !has_point && end > 0 && is_mark(end) => {}
            _ => break,
        }
        end += 1;
    }
    let (digits, rest) = (text[..end].trim_end_matches('.'), &text[end..]);
    let exponent = rest.strip_prefix('e').filter(|_| digits.len() == end).and_then(|rest| {
        let sign = rest.len() - rest.trim_start_matches(['+', '-']).len();
        let end = rest[sign..].find(|c: char| !c.is_ascii_digit()).map_or(rest.len(), |end| sign + end);
        rest[..end].parse::<i32>().ok()
    });
    format!("{}e{}", digits.replace(',', ""), exponent.unwrap_or(0)).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_effects_of_a_study_are_the_lines_with_differences_the_largest_first() {
        let check = |summary: &str, expected: &[&str]| assert_eq!(effects(summary), expected, "{summary}");
        check("", &[]);
        check("Ablation study failed for this step", &[]);
        check(
            "Baseline: 0.72\n- without geography: 0.7201 (+0.0001), noise\n1. without weather: 0.69 (\u{2212}0.03)\nmost: weather",
            &["without weather: 0.69 (\u{2212}0.03)", "without geography: 0.7201 (+0.0001), noise"],
        );
        check(
            "Without weather it falls (-0.0322). Without week-days 3-4 nothing changes (+0.0).",
            &["Without weather it falls (-0.0322)", "Without week-days 3-4 nothing changes (+0.0)."],
        );
        check(
            "Weather matters most: ROC-AUC falls by 0.0322. Geography: 0.71, difference of 0.0001.",
            &["Weather matters most: ROC-AUC falls by 0.0322", "Geography: 0.71, difference of 0.0001."],
        );
        let many: String = (1..=9).map(|n| format!("part {n}: -0.{n}\n")).collect();
        check(&many, &["part 9: -0.9", "part 8: -0.8", "part 7: -0.7", "part 1: -0.1"]);
        check(
            "A: 0.7201 (-1.2e-05)\nB: 0.69 (-0.03)\nC: 5 (+12,345)\nD: (-1.5, or less)",
            &["C: 5 (+12,345)", "D: (-1.5, or less)", "B: 0.69 (-0.03)", "A: 0.7201 (-1.2e-05)"],
        );
        let long = format!("part: -0.5 {}", "word ".repeat(100));
        assert!(effects(&long)[0].chars().count() <= LONGEST + 1);
    }
}
