//! The findings as SARIF 2.1.0, the format of code scanning.

use std::path::Path;

use mle_star_leakage::{Finding, Rule};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use super::{CheckedFile, Findings};

/// What is not encoded in a path of a URI. A colon is: it would end a scheme.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'-').remove(b'_').remove(b'~');
/// The name of the folder that relative paths start from.
const ROOT: &str = "SRCROOT";

/// The log of one run of the checker in the folder `root`.
pub fn log(all: &[CheckedFile], root: &Path) -> Value {
    let results: Vec<Value> = all.iter().flat_map(|checked| results(checked, root)).collect();
    let notes: Vec<Value> = all.iter().flat_map(|checked| notifications(checked, root)).collect();
    json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "mle-star",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": Rule::ALL.map(rule),
            } },
            "columnKind": "unicodeCodePoints",
            "originalUriBaseIds": { ROOT: { "uri": format!("{}/", address(root).trim_end_matches('/')) } },
            "invocations": [{
                "executionSuccessful": all.iter().all(|checked| checked.outcome.is_ok()),
                "toolExecutionNotifications": notes,
            }],
            "results": results,
        }],
    })
}

fn rule(rule: Rule) -> Value {
    json!({
        "id": rule.id(),
        "shortDescription": { "text": rule.description() },
        "help": { "text": rule.instead(), "markdown": rule.explanation() },
        "defaultConfiguration": { "level": level(rule) },
    })
}

fn level(rule: Rule) -> &'static str {
    if rule.blocks() { "error" } else { "warning" }
}

fn results(checked: &CheckedFile, root: &Path) -> Vec<Value> {
    let Ok(findings) = &checked.outcome else { return Vec::new() };
    findings.found.iter().map(|found| result(found, findings, &artifact(&checked.name, root))).collect()
}

fn result(found: &Finding, findings: &Findings, artifact: &Value) -> Value {
    let text = sentence(&findings.code.in_cells(&found.text));
    json!({
        "ruleId": found.rule.id(),
        "ruleIndex": Rule::ALL.iter().position(|rule| *rule == found.rule),
        "level": level(found.rule),
        "message": { "text": format!("{text} {}", found.instead) },
        "locations": [location(found, findings, artifact)],
    })
}

/// A place in a script, or a cell of a notebook: lines of its JSON would tell nobody anything.
fn location(found: &Finding, findings: &Findings, artifact: &Value) -> Value {
    let span = findings.code.span(found);
    let region = json!({
        "startLine": span.line,
        "startColumn": found.column,
        "endLine": span.end_line,
        "endColumn": found.end_column,
    });
    let cell = |cell| json!([{ "name": format!("cell {cell}"), "kind": "module" }]);
    match span.cell.map(cell) {
        Some(cell) => {
            json!({ "physicalLocation": { "artifactLocation": artifact }, "logicalLocations": cell })
        }
        None => json!({ "physicalLocation": { "artifactLocation": artifact, "region": region } }),
    }
}

/// What says that a file, or cells of a notebook, could not be checked, or that there was nothing to check.
fn notifications(checked: &CheckedFile, root: &Path) -> Vec<Value> {
    let note = |level: &str, text: String| {
        json!({
            "level": level,
            "message": { "text": text },
            "locations": [{ "physicalLocation": { "artifactLocation": artifact(&checked.name, root) } }],
        })
    };
    match &checked.outcome {
        Err(trouble) => {
            vec![note("error", format!("{} {}", sentence(&trouble.message), sentence(&trouble.hint)))]
        }
        Ok(findings) => {
            let left_out = findings.code.unparsable_cells().iter();
            let left_out =
                left_out.map(|(cell, why)| ("warning", format!("Cell {cell} is left out: {why}.")));
            let nothing = ("note", "No score was found, so there was nothing to check.".to_owned());
            let nothing = checked.is_without_score().then_some(nothing);
            left_out.chain(nothing).map(|(level, text)| note(level, text)).collect()
        }
    }
}

/// Where a file is: below the root if it is there.
fn artifact(name: &str, root: &Path) -> Value {
    let path = Path::new(name);
    let inside = path.strip_prefix(root).unwrap_or(path);
    let goes_up = inside.components().any(|part| part == std::path::Component::ParentDir);
    if inside.is_absolute() || goes_up {
        return json!({ "uri": address(&root.join(inside)) });
    }
    let plain: std::path::PathBuf =
        inside.components().filter(|part| *part != std::path::Component::CurDir).collect();
    json!({ "uri": encoded(&plain), "uriBaseId": ROOT })
}

fn address(path: &Path) -> String {
    format!("file://{}", encoded(path))
}

fn encoded(path: &Path) -> String {
    utf8_percent_encode(&path.to_string_lossy(), ENCODED).to_string()
}

/// The text with a capital letter, and a full stop at the end.
fn sentence(text: &str) -> String {
    let mut letters = text.trim_end_matches('.').chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}
