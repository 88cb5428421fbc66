//! What the program finds in the source of a script, as journals store it.

use serde::{Deserialize, Serialize};

use crate::journal::Outcome;
use mle_star_domain::trust::Severity;

/// What the program finds in a script.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Findings {
    /// The findings in the order of their lines.
    pub found: Vec<CodeFinding>,
}

/// A finding in a script.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeFinding {
    /// The rule.
    pub rule: String,
    /// Its severity.
    pub severity: Severity,
    /// The line, from 1.
    pub line: u64,
    /// What leaks, and how it reaches the score.
    pub text: String,
    /// What would be right.
    pub instead: String,
    /// The statements to correct.
    pub block: String,
}

impl Outcome for Findings {}
