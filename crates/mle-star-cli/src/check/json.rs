//! The findings as JSON (`docs/check.md`).

use mle_star_leakage::Finding;
use serde_json::{Value, json};

use super::data::DataFacts;
use super::{CheckedFile, Counts, Findings};

/// The version of the format.
const VERSION: u32 = 1;

/// All that was checked.
pub fn document(all: &[CheckedFile], known: Option<&DataFacts>) -> Value {
    let counts = Counts::of(all);
    let mut document = json!({
        "version": VERSION,
        "files": all.iter().map(file).collect::<Vec<_>>(),
        "blocked": counts.leaks,
        "warnings": counts.warnings,
        "known": counts.known,
    });
    if let Some(known) = known {
        document["data"] = json!(known);
    }
    document
}

fn file(checked: &CheckedFile) -> Value {
    let findings = match &checked.outcome {
        Ok(findings) => findings,
        Err(trouble) => return json!({ "path": checked.name, "findings": [], "error": trouble.message }),
    };
    let found: Vec<Value> = findings.found.iter().map(|found| finding(findings, found)).collect();
    let mut file = json!({ "path": checked.name, "findings": found });
    if checked.is_without_score() {
        file["without_score"] = json!(true);
    }
    let left_out = findings.code.unparsable_cells().iter();
    let left_out: Vec<Value> =
        left_out.map(|(cell, why)| json!({ "cell": cell, "error": why.to_string() })).collect();
    if !left_out.is_empty() {
        file["left_out"] = json!(left_out);
    }
    let suppressed = findings.allowed.iter().map(|allowed| {
        let mut shown = finding(findings, &allowed.finding);
        shown["reason"] = json!(allowed.reason);
        shown
    });
    let allowed: Vec<Value> = suppressed.collect();
    if !allowed.is_empty() {
        file["allowed"] = json!(allowed);
    }
    file
}

/// A finding; in a notebook, its lines count from the beginning of their cell.
fn finding(findings: &Findings, found: &Finding) -> Value {
    let span = findings.code.span(found);
    let mut shown = json!({
        "rule": found.rule,
        "severity": if found.rule.blocks() { "block" } else { "warn" },
        "line": span.line,
        "column": found.column,
        "end_line": span.end_line,
        "end_column": found.end_column,
        "text": findings.code.in_cells(&found.text),
        "instead": found.instead,
    });
    if let Some(cell) = span.cell {
        shown["cell"] = json!(cell);
    }
    shown
}
