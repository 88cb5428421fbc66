//! The answers of the rule-based agents about subsampling: the block of a script that trains on a part of the rows, and its
//! replacement for the final script, which may be a larger sample.

use crate::inputs::{Inputs, fenced};
use crate::problem::Problem;

/// The block that subsamples rows, or the statement that there is none.
pub(crate) fn extract_block(inputs: Inputs<'_>) -> String {
    let code = inputs.text("final_solution");
    subsampling_block(code)
        .map_or_else(|| "There is no subsampling in this script.".to_owned(), |block| fenced(&block))
}

fn subsampling_block(code: &str) -> Option<String> {
    let lines: Vec<&str> = code.lines().collect();
    let is_sampling_line = |line: &&str| {
        let line = line.trim_start();
        !line.starts_with('#') && (line.contains(".sample(n=") || line.contains(".sample(frac="))
    };
    let at = lines.iter().position(is_sampling_line)?;
    let is_guard = |line: &str| line.trim_start().starts_with("if len(") && line.trim_end().ends_with(':');
    let start = if at > 0 && is_guard(lines[at - 1]) { at - 1 } else { at };
    // Below a condition, the rest of its block uses the sample.
    let indent = |line: &str| line.len() - line.trim_start().len();
    let guarded = |line: &&&str| start < at && indent(line) > indent(lines[start]);
    let end = at + lines[at + 1..].iter().take_while(guarded).count();
    let block = lines[start..=end].join("\n");
    (code.matches(&block).count() == 1).then_some(block)
}

/// The replacement of a block that subsamples rows: none, or a sample of as many rows as fit into the time.
pub(crate) fn replacement_block(problem: &Problem, inputs: Inputs<'_>) -> String {
    let block = inputs.text("code_block_with_subsampling");
    if !block.contains(".sample(") {
        return fenced(block);
    }
    match sample_that_fits(problem, inputs) {
        // Nothing else in the block has these digits.
        Some((before, rows)) => fenced(&block.replace(&before.to_string(), &rows.to_string())),
        None => {
            let indent: String = block.chars().take_while(|letter| *letter == ' ').collect();
            fenced(&format!("{indent}# Every training row is used."))
        }
    }
}

/// The rows of the search's sample and of the largest one that fits into the time; `None` if all rows fit. All time counts
/// as if it grew with the rows. Part of it does not, such as that of imports, so a larger sample may fit, too.
fn sample_that_fits(problem: &Problem, inputs: Inputs<'_>) -> Option<(usize, usize)> {
    let before = problem.subsample? as usize;
    let (seconds, allowed) = (inputs.number("seconds")?, inputs.number("allowed_seconds")?);
    let rows = (before as f64 * allowed / seconds.max(0.1)).floor() as usize;
    (rows < problem.rows).then_some((before, rows.max(before)))
}
