//! Solution scripts, the blocks in them, and the score that belongs to exactly one text.

use serde::{Deserialize, Serialize};

use crate::metric::Score;
use crate::place::Place;

/// What produced a solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SolutionPhase {
    /// A candidate for one model.
    Init,
    /// Candidates merged.
    Merged,
    /// A code block refined.
    Refined,
    /// Several solutions combined.
    Ensemble,
    /// The submission script.
    Final,
}

/// A Python script without a score: any edit makes a new one of these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solution {
    /// The whole script.
    pub text: String,
    /// What produced it.
    pub phase: SolutionPhase,
    /// The retrieved model it was written for (Phase 1 candidates only).
    pub source_model: Option<String>,
}

/// A solution with the score of exactly that text.
///
/// Only [`evaluate`](crate::evaluate::evaluate) makes one, and nothing changes its text afterwards.
#[derive(Clone, Debug, PartialEq)]
pub struct Scored {
    solution: Solution,
    score: Score,
    evidence: Evidence,
}

/// The run that a score comes from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Evidence {
    /// The place of the run.
    pub place: Place,
    /// When it ended.
    pub ran_at: jiff::Timestamp,
    /// It left a valid submission.
    pub wrote_submission: bool,
    /// A leak was found in the text that could not be corrected.
    pub leaks: bool,
}

/// A piece of a solution that can be replaced: its text occurs there exactly once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeBlock(String);

/// Why a text is no code block of a solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BlockError {
    /// Nothing but white space.
    #[error("the code block is empty")]
    Empty,
    /// It does not occur in the solution.
    #[error("the code block is not in the solution")]
    Absent,
    /// It occurs more than once, so an edit would be ambiguous.
    #[error("the code block occurs more than once in the solution")]
    Repeated,
}

impl Solution {
    /// A script fresh from an agent.
    pub fn new(text: String, phase: SolutionPhase) -> Self {
        Self { text, phase, source_model: None }
    }

    /// Finds the block meant by `quoted`: exact text first, then lines compared without trailing white
    /// space. The result is the solution's own text.
    ///
    /// # Errors
    /// When the block is empty, absent, or occurs more than once.
    pub fn find_block(&self, quoted: &str) -> Result<CodeBlock, BlockError> {
        if quoted.trim().is_empty() {
            return Err(BlockError::Empty);
        }
        // Without the line ends around it, so that a replacement without them does not glue lines together.
        for part in [quoted.trim_matches(['\n', '\r']), quoted] {
            if occurrences(&self.text, part) == 1 {
                return Ok(CodeBlock(part.to_owned()));
            }
        }
        if self.text.contains(quoted) { Err(BlockError::Repeated) } else { self.find_block_by_lines(quoted) }
    }

    /// This solution with `block` replaced by `replacement`; everything outside the block is untouched.
    ///
    /// # Errors
    /// When the block does not occur exactly once.
    pub fn replace_block(&self, block: &CodeBlock, replacement: &str) -> Result<Self, BlockError> {
        match occurrences(&self.text, &block.0) {
            0 => Err(BlockError::Absent),
            1 => Ok(self.with_text(self.text.replacen(&block.0, replacement, 1))),
            _ => Err(BlockError::Repeated),
        }
    }

    /// The same solution with another text.
    #[must_use]
    pub fn with_text(&self, text: String) -> Self {
        Self { text, ..self.clone() }
    }

    fn find_block_by_lines(&self, quoted: &str) -> Result<CodeBlock, BlockError> {
        let wanted: Vec<&str> = quoted.trim_matches('\n').lines().map(str::trim_end).collect();
        let lines: Vec<&str> = self.text.split_inclusive('\n').collect();
        let mut found = None;
        for (start, window) in lines.windows(wanted.len()).enumerate() {
            if window.iter().zip(&wanted).any(|(line, want)| line.trim_end() != *want) {
                continue;
            }
            if found.replace(start).is_some() {
                return Err(BlockError::Repeated);
            }
        }
        let start = found.ok_or(BlockError::Absent)?;
        let text = lines[start..start + wanted.len()].concat();
        let block = CodeBlock(text.trim_end_matches(['\n', '\r']).to_owned());
        // Equal lines can still make the text itself occur twice, as a part of longer lines.
        if occurrences(&self.text, &block.0) == 1 { Ok(block) } else { Err(BlockError::Repeated) }
    }
}

impl CodeBlock {
    /// The block's text, as it stands in the solution.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Scored {
    /// For [`evaluate`](crate::evaluate::evaluate) alone.
    pub(crate) fn new(solution: Solution, score: Score, evidence: Evidence) -> Self {
        Self { solution, score, evidence }
    }

    /// The script.
    pub fn solution(&self) -> &Solution {
        &self.solution
    }

    /// The script's text.
    pub fn text(&self) -> &str {
        &self.solution.text
    }

    /// Its score.
    pub fn score(&self) -> Score {
        self.score
    }

    /// The place of the run that gave the score.
    pub fn place(&self) -> &Place {
        &self.evidence.place
    }

    /// The step of the algorithm that made it: the place without its run and repairs.
    pub fn step(&self) -> Place {
        let step = self.evidence.place.parent();
        if step.last().starts_with("debug-") { step.parent() } else { step }
    }

    /// Did that run leave a valid submission?
    pub fn wrote_submission(&self) -> bool {
        self.evidence.wrote_submission
    }

    /// Was a leak found in it that could not be corrected?
    pub fn leaks(&self) -> bool {
        self.evidence.leaks
    }

    /// When that run ended.
    pub fn ran_at(&self) -> jiff::Timestamp {
        self.evidence.ran_at
    }
}

fn occurrences(text: &str, part: &str) -> usize {
    // Overlapping occurrences count too: each of them could be meant.
    let mut count = 0;
    let mut from = 0;
    while let Some(at) = text[from..].find(part) {
        count += 1;
        let step = text[from + at..].chars().next().map_or(1, char::len_utf8);
        from += at + step;
    }
    count
}
