//! Findings: leaks and doubts in the source of a script, as journals store them.

use serde::{Deserialize, Serialize};

use crate::journal::Outcome;
use mle_star_domain::place::Place;
use mle_star_domain::protocol::{Split, SplitKind};
use mle_star_domain::trust::{Finding, Severity};

/// The findings in a script.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Findings {
    /// The findings in the order of their lines.
    pub found: Vec<CodeFinding>,
}

/// A finding in a script.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeFinding {
    /// The name of the rule.
    pub rule: String,
    /// The severity of the finding.
    pub severity: Severity,
    /// The line of the script, from 1.
    pub line: u64,
    /// What leaks, and how it reaches the score.
    pub text: String,
    /// The advice for a correction.
    pub instead: String,
    /// The source text of the statements to correct.
    pub block: String,
}

impl Outcome for Findings {}

impl CodeFinding {
    /// The finding in the script that runs at this place.
    pub(crate) fn at(&self, run: &Place) -> Finding {
        let (rule, text) = (self.rule.clone(), self.text.clone());
        Finding { rule, severity: self.severity, place: run.clone(), line: self.line, text }
    }
}

/// The split as the checker of leaks needs it; `None` if test rows differ from training rows by chance alone.
#[must_use]
pub fn split_for_checker(split: &Split) -> Option<mle_star_leakage::Split> {
    let column = split.column.clone();
    match split.kind {
        SplitKind::Rows | SplitKind::Stratified => None,
        SplitKind::Groups => Some(mle_star_leakage::Split::Groups(column)),
        SplitKind::Time => Some(mle_star_leakage::Split::Time(column)),
    }
}
