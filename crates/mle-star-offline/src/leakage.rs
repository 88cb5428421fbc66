//! The answer about leaks in a script: what the checker of the program finds.

use mle_star_leakage::{Facts, check};
use serde_json::json;

use crate::inputs::Inputs;

/// The findings as JSON.
pub(crate) fn detection(targets: Vec<String>, inputs: Inputs<'_>) -> String {
    let code = inputs.text("code");
    let facts = Facts { targets, ..Facts::default() };
    let findings = check(code, &facts).unwrap_or_default();
    let blocking = findings.iter().filter(|finding| finding.rule.blocks());
    let blocks = blocking.filter_map(|finding| code.get(finding.block.clone()));
    let mut answers: Vec<_> = blocks
        .filter(|block| code.matches(block).count() == 1)
        .map(|block| json!({ "leakage_status": "Yes Data Leakage", "code_block": block }))
        .collect();
    if answers.is_empty() {
        let block = code.lines().next().unwrap_or_default();
        answers.push(json!({ "leakage_status": "No Data Leakage", "code_block": block }));
    }
    json!({ "answers": answers }).to_string()
}
