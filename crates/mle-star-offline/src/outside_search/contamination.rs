//! The contamination check: whether a solution is copied from a reference.

use std::collections::HashSet;

use serde_json::json;

use crate::inputs::Inputs;

/// Whether the solution is copied from a reference, judged by shared runs of words.
pub(crate) fn check(inputs: Inputs<'_>) -> String {
    let reference = shingles(inputs.text("reference_discussion"));
    let solution = shingles(inputs.text("final_solution"));
    let shared = reference.intersection(&solution).count();
    let smaller = reference.len().min(solution.len());
    // Both have at least 20 runs of words, and more than half of the shorter one's are shared.
    let same = smaller >= 20 && shared * 2 > smaller;
    json!({ "verdict": if same { "Same" } else { "Novel" } }).to_string()
}

/// Runs of six words without punctuation.
fn shingles(text: &str) -> HashSet<String> {
    let words: Vec<String> = text
        .split(|letter: char| !letter.is_alphanumeric() && letter != '_')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    words.windows(6).map(|run| run.join(" ")).collect()
}
