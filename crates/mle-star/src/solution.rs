//! Solution scripts, code blocks in them, and scores that belong to exactly one text.

use std::ops::RangeInclusive;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The step that produced a solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SolutionPhase {
    /// A candidate for one model.
    Init,
    /// A merge of candidates.
    Merged,
    /// The refinement of a code block.
    Refined,
    /// An ensemble of several solutions.
    Ensemble,
    /// The submission script.
    Final,
}

/// A Python script without a score. Any edit creates a new one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solution {
    /// The whole script.
    text: String,
    /// What produced it.
    phase: SolutionPhase,
    /// The retrieved model it was written for (Phase 1 candidates only).
    source_model: Option<String>,
}

/// A replaceable piece of a solution, whose text occurs there exactly once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeBlock(String);

/// Why a text is not a code block of a solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BlockError {
    /// It is only white space.
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
    /// A script from an agent.
    pub fn new(text: String, phase: SolutionPhase) -> Self {
        Self { text, phase, source_model: None }
    }

    /// The whole script.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What produced it.
    pub fn phase(&self) -> SolutionPhase {
        self.phase
    }

    /// The retrieved model it was written for (Phase 1 candidates only).
    pub fn source_model(&self) -> Option<&str> {
        self.source_model.as_deref()
    }

    /// The same text as what `phase` produced.
    #[must_use]
    pub(crate) fn in_phase(self, phase: SolutionPhase) -> Self {
        Self { phase, source_model: None, ..self }
    }

    /// The same script, written for this model.
    #[must_use]
    pub(crate) fn of_model(self, model: &str) -> Self {
        Self { source_model: Some(model.to_owned()), ..self }
    }

    /// Finds the block meant by `quoted`: exact text first, then lines compared without trailing white
    /// space. The result is the solution's own text.
    ///
    /// # Errors
    /// The block is empty or absent, or it occurs more than once.
    pub fn find_block(&self, quoted: &str) -> Result<CodeBlock, BlockError> {
        if quoted.trim().is_empty() {
            return Err(BlockError::Empty);
        }
        // Without the line ends around it, so that a replacement without them does not join lines.
        for part in [quoted.trim_matches(['\n', '\r']), quoted] {
            if occurrences(&self.text, part) == 1 {
                return Ok(CodeBlock(part.to_owned()));
            }
        }
        if self.text.contains(quoted) { Err(BlockError::Repeated) } else { self.find_block_by_lines(quoted) }
    }

    /// Finds the first occurrence of the block meant by `quoted`, compared as in [`Solution::find_block`].
    ///
    /// # Errors
    /// The block is empty or absent.
    pub fn find_first_block(&self, quoted: &str) -> Result<CodeBlock, BlockError> {
        match self.find_block(quoted) {
            Err(BlockError::Repeated) => {
                let exact = quoted.trim_matches(['\n', '\r']);
                let lines: Vec<&str> = exact.lines().map(str::trim_end).collect();
                let exact = self.text.contains(exact).then(|| CodeBlock(exact.to_owned()));
                exact.or_else(|| self.windows_like(&lines).next()).ok_or(BlockError::Absent)
            }
            found => found,
        }
    }

    /// This solution with the first occurrence of `block` replaced by `replacement`; everything else is untouched.
    ///
    /// # Errors
    /// The block does not occur.
    pub fn replace_block(&self, block: &CodeBlock, replacement: &str) -> Result<Self, BlockError> {
        if !self.text.contains(&block.0) {
            return Err(BlockError::Absent);
        }
        Ok(self.with_text(self.text.replacen(&block.0, replacement, 1)))
    }

    /// The lines of the occurrence that [`Solution::replace_block`] replaces, counted from 1; `None` if there is none.
    pub fn lines_of(&self, block: &CodeBlock) -> Option<RangeInclusive<usize>> {
        let text = block.0.trim_matches(['\n', '\r']);
        let margin = block.0.len() - block.0.trim_start_matches(['\n', '\r']).len();
        let begin = self.text.find(&block.0)? + margin;
        let breaks = |text: &str| text.matches('\n').count();
        let first = 1 + breaks(&self.text[..begin]);
        Some(first..=first + breaks(text))
    }

    /// The same solution with another text.
    #[must_use]
    pub fn with_text(&self, text: String) -> Self {
        Self { text, ..self.clone() }
    }

    fn find_block_by_lines(&self, quoted: &str) -> Result<CodeBlock, BlockError> {
        let wanted: Vec<&str> = quoted.trim_matches('\n').lines().map(str::trim_end).collect();
        let mut found = self.windows_like(&wanted);
        let block = found.next().ok_or(BlockError::Absent)?;
        // Equal lines can still make the text itself occur twice, as a part of longer lines.
        if found.next().is_some() || occurrences(&self.text, &block.0) != 1 {
            return Err(BlockError::Repeated);
        }
        Ok(block)
    }

    /// The pieces whose lines equal `wanted` apart from trailing white space, first to last.
    fn windows_like(&self, wanted: &[&str]) -> impl Iterator<Item = CodeBlock> {
        let lines: Vec<&str> = self.text.split_inclusive('\n').collect();
        let is_like =
            |window: &[&str]| window.iter().zip(wanted).all(|(line, want)| line.trim_end() == *want);
        let found: Vec<CodeBlock> = lines
            .windows(wanted.len().max(1))
            .filter(|window| is_like(window))
            .map(|window| CodeBlock(window.concat().trim_end_matches(['\n', '\r']).to_owned()))
            .collect();
        found.into_iter()
    }
}

impl CodeBlock {
    /// The block's text, exactly as in the solution.
    pub fn as_str(&self) -> &str {
        &self.0
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
