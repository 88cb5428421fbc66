//! The findings as JSON (`docs/check.md`).

use mle_star_leakage::Rule;
use serde::Serialize;

use super::data::Known;
use super::{Checked, Counts, Findings};

/// The version of the format.
const VERSION: u32 = 1;

/// All that was checked.
#[derive(Debug, Serialize)]
pub struct Document<'a> {
    version: u32,
    /// What `--data` says of the data.
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'a Known>,
    files: Vec<File<'a>>,
    /// Findings with which the score does not count.
    blocked: usize,
    /// Other findings.
    warnings: usize,
    /// Findings of the baseline, which are not among these.
    known: usize,
}

#[derive(Debug, Serialize)]
struct File<'a> {
    path: &'a str,
    findings: Vec<Finding<'a>>,
    /// Findings that comments allow.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    allowed: Vec<Allowed<'a>>,
    /// Why the file cannot be checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct Allowed<'a> {
    reason: &'a str,
    #[serde(flatten)]
    finding: Finding<'a>,
}

#[derive(Debug, Serialize)]
struct Finding<'a> {
    rule: Rule,
    /// `block` for a leak, `warn` for a warning.
    severity: &'static str,
    /// In a notebook, lines count from the beginning of their cell.
    line: u32,
    column: u32,
    end_line: u32,
    end_column: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    cell: Option<u32>,
    text: String,
    instead: &'a str,
}

/// The document; `counts` may be those of more than is shown.
pub fn document<'a>(all: &'a [Checked], known: Option<&'a Known>, counts: Counts) -> Document<'a> {
    let files = all.iter().map(file).collect();
    let Counts { leaks: blocked, warnings, known: of_baseline, .. } = counts;
    Document { version: VERSION, data: known, files, blocked, warnings, known: of_baseline }
}

fn file(checked: &Checked) -> File<'_> {
    let (path, error) =
        (&checked.name, checked.outcome.as_ref().err().map(|trouble| trouble.message.as_str()));
    let (findings, allowed) = checked.outcome.as_ref().map(findings_of).unwrap_or_default();
    File { path, findings, allowed, error }
}

fn findings_of(findings: &Findings) -> (Vec<Finding<'_>>, Vec<Allowed<'_>>) {
    let found = findings.found.iter().map(|found| finding(findings, found)).collect();
    let of_comment = findings
        .allowed
        .iter()
        .map(|allowed| Allowed { reason: &allowed.reason, finding: finding(findings, &allowed.finding) });
    (found, of_comment.collect())
}

fn finding<'a>(findings: &'a Findings, found: &'a mle_star_leakage::Finding) -> Finding<'a> {
    let span = findings.code.span(found);
    Finding {
        rule: found.rule,
        severity: if found.rule.blocks() { "block" } else { "warn" },
        line: span.line,
        column: found.column,
        end_line: span.end_line,
        end_column: found.end_column,
        cell: span.cell,
        text: findings.code.in_cells(&found.text),
        instead: &found.instead,
    }
}
