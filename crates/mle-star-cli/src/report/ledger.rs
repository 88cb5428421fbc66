//! What was changed on the way to the result, and by how much it helped.

use mle_star::result::FinalResult;
use serde::Serialize;
use similar::{ChangeTag, TextDiff};

use crate::watch::number;

/// One accepted change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Entry {
    /// Where, in words.
    place: String,
    /// What was planned, or built in.
    plan: String,
    /// The score with it.
    score: String,
    /// Line by line.
    diff: Vec<Line>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Line {
    /// `+`, `-` or a blank.
    sign: &'static str,
    text: String,
}

/// Every merge and every refinement that was accepted, in the order of the algorithms.
pub fn entries(result: &FinalResult) -> Vec<Entry> {
    let merges = result.phase1.merges.iter().enumerate().filter(|(_, merge)| merge.accepted);
    let merges = merges.map(|(number, merge)| Entry {
        place: format!("merge {}", number + 1),
        plan: format!("built in: {}", merge.reference_model),
        score: merge.score.map(self::number).unwrap_or_default(),
        diff: Vec::new(),
    });
    merges.chain(refinements(result)).collect()
}

fn refinements(result: &FinalResult) -> impl Iterator<Item = Entry> {
    let steps = result.phase2_results.iter().enumerate();
    let steps = steps.flat_map(|(path, refined)| refined.step_history.iter().map(move |step| (path, step)));
    steps.flat_map(|(path, step)| {
        let accepted =
            step.inner_loop_attempts.iter().enumerate().filter(|(_, attempt)| attempt.was_improvement);
        accepted.map(move |(inner, attempt)| Entry {
            place: format!("path {}, step {}, attempt {}", path + 1, step.outer_step + 1, inner + 1),
            plan: attempt.plan.clone(),
            score: attempt.score.map(number).unwrap_or_default(),
            diff: diff(&step.code_block, &attempt.code_block),
        })
    })
}

fn diff(before: &str, after: &str) -> Vec<Line> {
    let diff = TextDiff::from_lines(before, after);
    let sign = |tag| match tag {
        ChangeTag::Delete => "-",
        ChangeTag::Insert => "+",
        ChangeTag::Equal => " ",
    };
    let changes = diff.iter_all_changes();
    changes
        .map(|change| Line { sign: sign(change.tag()), text: change.value().trim_end().to_owned() })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diffs_are_line_by_line() {
        let signs = |before, after| diff(before, after).iter().map(|line| line.sign).collect::<String>();
        assert_eq!(signs("a\nb\nc\n", "a\nx\nc\n"), " -+ ");
        assert_eq!(signs("", "a\n"), "+");
        assert_eq!(signs("a\n", "a\n"), " ");
    }
}
