//! The refinement strategies that planners propose and coders carry out: each has a name, a reason and an edit of one
//! block.
//!
//! A plan names its strategies after the word `Strategy:`, since the coder sees only the block and the plan. An edit
//! that does not fit a block returns `None`.

mod endings;
mod features;
mod time_series;
mod training;

use std::borrow::Cow;

use crate::families::Family;
use crate::portfolio::Model;
use crate::problem::Problem;
use crate::sections::{heading, kind};

pub(crate) use training::{few_trees, parameter, set as with_parameter};

/// A block of a script, with its kind and model.
#[derive(Clone, Debug)]
pub(crate) struct Block<'a> {
    pub(crate) problem: Cow<'a, Problem>,
    pub(crate) text: &'a str,
    /// The heading before the colon, `Model` for example; empty for a block without a heading.
    pub(crate) kind: &'a str,
    /// The model's name in identifiers; empty for blocks without a model.
    pub(crate) slug: &'a str,
}

/// One change to try.
#[derive(Clone, Copy)]
pub(crate) struct Strategy {
    /// Unique, and not part of another name.
    pub(crate) name: &'static str,
    /// The kind of block it changes.
    pub(crate) part: &'static str,
    /// Why it may help: one sentence.
    pub(crate) reason: &'static str,
    /// What to do: one sentence.
    pub(crate) how: &'static str,
    /// The new block; `None` if the edit does not fit or has been made.
    pub(crate) edit: fn(&Block<'_>) -> Option<String>,
}

impl<'a> Block<'a> {
    /// A block by its heading.
    pub(crate) fn read(problem: &'a Problem, text: &'a str) -> Self {
        let heading = text.lines().find_map(heading).unwrap_or_default();
        let slug = ["def features_", "def encode_", "def fit_"].into_iter().find_map(|start| {
            let at = text.find(start)? + start.len();
            text[at..].split('(').next()
        });
        Self { problem: problem.seen_by(text), text, kind: kind(heading), slug: slug.unwrap_or_default() }
    }

    /// The model family, from the function's name.
    pub(crate) fn family(&self) -> Option<Family> {
        Model::by_slug(self.slug).map(|model| model.family)
    }

    /// The block with lines inserted before its last `return`, or before its columns are put together.
    pub(crate) fn before_return(&self, lines: &str) -> Option<String> {
        let ends = ["\n    known, makers = ", "\n    whole = ", "\n    return "];
        let at = ends.iter().find_map(|end| self.text.rfind(end))?;
        Some(format!("{}\n{}{}", &self.text[..at], lines.trim_matches('\n'), &self.text[at..]))
    }
}

/// The block with an import below its heading, unless it has it.
pub(crate) fn with_import(text: &str, import: &str) -> String {
    if text.lines().any(|line| line == import) {
        return text.to_owned();
    }
    let (heading, rest) = text.split_once('\n').unwrap_or((text, ""));
    let gap = if rest.starts_with("from ") || rest.starts_with("import ") { "" } else { "\n\n" };
    format!("{heading}\n{import}\n{gap}{rest}")
}

impl Strategy {
    /// The plan for this strategy alone.
    pub(crate) fn plan(&self) -> String {
        format!(
            "Strategy: {}. {} {} Everything else in the block stays as it is.",
            self.name, self.reason, self.how
        )
    }
}

/// Every strategy, the most promising of each part first.
fn all() -> impl Iterator<Item = &'static Strategy> {
    features::FEATURES
        .iter()
        .chain(time_series::TIME_SERIES_STRATEGIES)
        .chain(features::ENCODINGS)
        .chain(training::MODELS)
        .chain(endings::ENDINGS)
}

/// The block after the strategy of this name; `None` if it does not fit the block.
pub(crate) fn carried_out(name: &str, block: &Block<'_>) -> Option<String> {
    let strategy = all().find(|strategy| strategy.name == name && strategy.part == block.kind)?;
    (strategy.edit)(block)
}

/// The strategies that change this block, the most promising first. Of two paths, one begins with every other of them and
/// one with the rest, so that they try the same ones last; further paths begin farther back.
pub(crate) fn applicable(block: &Block<'_>, path: usize) -> Vec<&'static Strategy> {
    let fits = |strategy: &&Strategy| {
        strategy.part == block.kind && (strategy.edit)(block).is_some_and(|text| text != block.text)
    };
    let mut strategies: Vec<_> = all().filter(fits).enumerate().collect();
    if !strategies.is_empty() {
        let farther = (path - path % 2) % strategies.len();
        strategies.rotate_left(farther);
    }
    strategies.sort_by_key(|(place, _)| (place + path) % 2);
    strategies.into_iter().map(|(_, strategy)| strategy).collect()
}

/// The strategies that a plan names, in its order.
pub(crate) fn named(plan: &str) -> Vec<&'static Strategy> {
    let mut found: Vec<(usize, &Strategy)> = all()
        .filter_map(|strategy| plan.find(&format!("Strategy: {}.", strategy.name)).map(|at| (at, strategy)))
        .collect();
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, strategy)| strategy).collect()
}
