//! Solution scripts, and code blocks in them.

use std::cmp::Reverse;
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

/// A replaceable piece of a solution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeBlock {
    text: String,
    /// Where it begins, in bytes.
    at: usize,
}

/// Why a text is not a code block of a solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BlockError {
    /// The block is only white space.
    #[error("the code block is empty")]
    Empty,
    /// The block does not occur in the solution.
    #[error("the code block is not in the solution")]
    Absent,
    /// The block occurs more than once, so an edit would be ambiguous.
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

    /// What decides between scripts whose scores chance can explain, the larger first: whether the script averages several models,
    /// which a comment `# mean of N` says, and how few lines of code it has.
    pub(crate) fn simplicity(&self) -> (bool, Reverse<usize>) {
        let code = self.text.lines().map(str::trim);
        let code = code.filter(|line| !line.is_empty() && !line.starts_with('#'));
        (self.text.contains("# mean of "), Reverse(code.count()))
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
            if let [at] = occurrences(&self.text, part)[..] {
                return Ok(CodeBlock { text: part.to_owned(), at });
            }
        }
        if self.text.contains(quoted) { Err(BlockError::Repeated) } else { self.find_block_by_lines(quoted) }
    }

    /// Finds the first occurrence of the block meant by `quoted`, compared as in [`Solution::find_block`]. Those that fill
    /// their lines come before parts of longer lines.
    ///
    /// # Errors
    /// The block is empty or absent.
    pub fn find_first_block(&self, quoted: &str) -> Result<CodeBlock, BlockError> {
        self.find_block_near(quoted, 0)
    }

    /// Like [`Solution::find_first_block`], but finds the occurrence nearest to a line, counted from 1.
    ///
    /// # Errors
    /// The block is empty or absent.
    pub fn find_block_near(&self, quoted: &str, line: usize) -> Result<CodeBlock, BlockError> {
        match self.find_block(quoted) {
            Err(BlockError::Repeated) => {
                let exact = quoted.trim_matches(['\n', '\r']);
                let lines: Vec<&str> = exact.lines().map(str::trim_end).collect();
                let distance = |at: usize| (1 + breaks(&self.text[..at])).abs_diff(line);
                let places = self.text.match_indices(exact).map(|(at, _)| at);
                let nearest = places.min_by_key(|at| (!self.fills_lines(*at, exact), distance(*at)));
                let exact = nearest.map(|at| CodeBlock { text: exact.to_owned(), at });
                let alike = || self.windows_like(&lines).min_by_key(|block| distance(block.at));
                exact.or_else(alike).ok_or(BlockError::Absent)
            }
            found => found,
        }
    }

    /// Whether nothing but blanks and a comment stands beside the text at this place.
    fn fills_lines(&self, at: usize, text: &str) -> bool {
        let before = self.text[..at].rsplit('\n').next().unwrap_or_default();
        let after = self.text[at + text.len()..].split('\n').next().unwrap_or_default().trim_start();
        before.trim_start().is_empty() && (after.is_empty() || after.starts_with('#'))
    }

    /// The solution with `block` replaced by `replacement`; everything else is untouched.
    ///
    /// # Errors
    /// The block does not occur.
    pub fn replace_block(&self, block: &CodeBlock, replacement: &str) -> Result<Self, BlockError> {
        let at = self.place_of(block).ok_or(BlockError::Absent)?;
        let (before, after) = (&self.text[..at], &self.text[at + block.text.len()..]);
        Ok(self.with_text([before, replacement, after].concat()))
    }

    /// The lines that [`Solution::replace_block`] replaces, counted from 1; `None` if there are none.
    pub fn lines_of(&self, block: &CodeBlock) -> Option<RangeInclusive<usize>> {
        let text = block.text.trim_matches(['\n', '\r']);
        let margin = block.text.len() - block.text.trim_start_matches(['\n', '\r']).len();
        let first = 1 + breaks(&self.text[..self.place_of(block)? + margin]);
        Some(first..=first + breaks(text))
    }

    /// Where a block begins: in another solution than its own, the first place with its text.
    fn place_of(&self, block: &CodeBlock) -> Option<usize> {
        let is_there = self.text.get(block.at..).is_some_and(|rest| rest.starts_with(&block.text));
        if is_there { Some(block.at) } else { self.text.find(&block.text) }
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
        if found.next().is_some() || occurrences(&self.text, &block.text).len() != 1 {
            return Err(BlockError::Repeated);
        }
        Ok(block)
    }

    /// The pieces whose lines equal `wanted` apart from trailing white space, first to last.
    fn windows_like(&self, wanted: &[&str]) -> impl Iterator<Item = CodeBlock> {
        let lines: Vec<&str> = self.text.split_inclusive('\n').collect();
        let is_like =
            |window: &[&str]| window.iter().zip(wanted).all(|(line, want)| line.trim_end() == *want);
        let mut begin = 0;
        let mut found = Vec::new();
        for (index, window) in lines.windows(wanted.len().max(1)).enumerate() {
            if is_like(window) {
                let text = window.concat().trim_end_matches(['\n', '\r']).to_owned();
                found.push(CodeBlock { text, at: begin });
            }
            begin += lines[index].len();
        }
        found.into_iter()
    }
}

impl CodeBlock {
    /// The block's text, exactly as in the solution.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// How many line ends a text has.
fn breaks(text: &str) -> usize {
    text.matches('\n').count()
}

/// Where a part occurs in a text. Overlapping occurrences count too: each of them could be meant.
fn occurrences(text: &str, part: &str) -> Vec<usize> {
    let first = part.chars().next().map_or(1, char::len_utf8);
    let next = |from: usize| Some(from + text.get(from..)?.find(part)?);
    std::iter::successors(next(0), |at| next(at + first)).collect()
}
