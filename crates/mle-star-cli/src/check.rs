//! Leaks in scripts and notebooks, for people and for other programs.
//!
//! [`files::inputs`] finds the files, [`source`] reads them, and [`check_all`] checks them with the crate
//! `mle-star-leakage`. [`pyproject`] says what a project sets, [`data`] what is known of the data, [`baseline`] which findings are known. [`screen`], [`json`]
//! and [`sarif`] show the others.

pub mod baseline;
pub mod data;
mod excerpt;
pub mod files;
pub mod json;
pub mod pyproject;
pub mod rules;
pub mod sarif;
pub mod screen;
pub mod source;

use std::io;
use std::num::NonZero;
use std::thread::{self, ScopedJoinHandle};

use mle_star_domain::trouble::Trouble;
use mle_star_leakage::{Allowed, Facts, Finding, Reviewed};

use crate::args::CheckArgs;
use files::Input;
use source::Code;

/// The stack of a thread that checks, in bytes: the source may be nested deeply.
const STACK: usize = 64 << 20;

/// An input, and what was found in it.
#[derive(Debug)]
pub struct CheckedFile {
    /// The input's name, for people.
    pub name: String,
    /// Its code with the findings, or why it cannot be checked.
    pub outcome: Result<Findings, Trouble>,
}

/// What was found in a script or notebook.
#[derive(Debug)]
pub struct Findings {
    /// The code.
    pub code: Code,
    /// The findings in the order of their lines.
    pub found: Vec<Finding>,
    /// Findings that comments allow.
    pub allowed: Vec<Allowed>,
    /// How many findings a baseline knows.
    pub known: usize,
    /// Whether there is a score that may leak.
    pub has_score: bool,
}

impl CheckedFile {
    /// Whether the file has no score, so that there was nothing to check.
    pub fn is_without_score(&self) -> bool {
        self.outcome.as_ref().is_ok_and(|findings| !findings.has_score && findings.found.is_empty())
    }
}

/// How much was found in several files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Files that were checked.
    pub files: usize,
    /// Files that could not be checked.
    pub unreadable: usize,
    /// Cells of notebooks that could not be parsed.
    pub left_out: usize,
    /// Findings with which the score does not count.
    pub leaks: usize,
    /// Other findings.
    pub warnings: usize,
    /// Findings that comments allow.
    pub allowed: usize,
    /// Findings that a baseline knows.
    pub known: usize,
}

/// Checks all inputs, several at once. The order of the results is that of the inputs.
pub fn check_all(inputs: &[Input], facts: &Facts, args: &CheckArgs) -> Vec<CheckedFile> {
    let all = |part: &[Input]| part.iter().map(|input| checked(input, facts, args)).collect::<Vec<_>>();
    let workers = thread::available_parallelism().map_or(1, NonZero::get);
    let parts = inputs.chunks(inputs.len().div_ceil(workers).max(1));
    thread::scope(|scope| {
        let spawn = |part| {
            let thread = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, move || all(part));
            (part, thread)
        };
        let threads: Vec<_> = parts.map(spawn).collect();
        // What a thread that could not start has left, this one does.
        let done = |(part, thread): (_, io::Result<ScopedJoinHandle<'_, Vec<CheckedFile>>>)| {
            thread.ok().and_then(|thread| thread.join().ok()).unwrap_or_else(|| all(part))
        };
        threads.into_iter().flat_map(done).collect()
    })
}

impl Counts {
    /// Counts the findings.
    pub fn of(all: &[CheckedFile]) -> Self {
        all.iter().fold(Self::default(), |counts, checked| match &checked.outcome {
            Err(_) => Self { unreadable: counts.unreadable + 1, ..counts },
            Ok(findings) => {
                let leaks = findings.found.iter().filter(|found| found.rule.blocks()).count();
                Self {
                    files: counts.files + 1,
                    left_out: counts.left_out + findings.code.unparsable_cells().len(),
                    leaks: counts.leaks + leaks,
                    warnings: counts.warnings + findings.found.len() - leaks,
                    allowed: counts.allowed + findings.allowed.len(),
                    known: counts.known + findings.known,
                    ..counts
                }
            }
        })
    }
}

fn checked(input: &Input, facts: &Facts, args: &CheckArgs) -> CheckedFile {
    CheckedFile { name: input.to_string(), outcome: findings(input, facts, args) }
}

fn findings(input: &Input, facts: &Facts, args: &CheckArgs) -> Result<Findings, Trouble> {
    let code = source::read(input)?;
    let Reviewed { findings: mut found, allowed, has_score } = mle_star_leakage::review(&code.source, facts)
        .map_err(|error| {
            Trouble::new(
                format!("cannot check {input}: {}", code.in_cells(&error.to_string())),
                source::hint(&error),
            )
        })?;
    found.retain(|finding| args.looks_for(finding.rule));
    Ok(Findings { code, found: one_for_each_cause(found), allowed, known: 0, has_score })
}

/// The first finding of each rule in a line, and the strongest one at an expression: the others have the same cause.
fn one_for_each_cause(found: Vec<Finding>) -> Vec<Finding> {
    let expression = |found: &Finding| (found.column, found.end_line, found.end_column);
    let is_same = |one: &Finding, other: &Finding| {
        one.line == other.line && (one.rule == other.rule || expression(one) == expression(other))
    };
    found.into_iter().fold(Vec::new(), |mut kept, found| {
        if !kept.iter().any(|told| is_same(told, &found)) {
            kept.push(found);
        }
        kept
    })
}
