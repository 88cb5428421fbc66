//! The formulas, each prepared once for its rows and then computed for any weights.

use thiserror::Error;

pub(crate) mod averages;
pub(crate) mod counts;
pub(crate) mod curves;
pub(crate) mod guesses;
pub(crate) mod ranking;
pub(crate) mod relations;
pub(crate) mod sets;

/// A score as a function of the rows' weights.
pub(crate) trait Formula {
    /// The score with these weights, one for each row.
    ///
    /// # Errors
    /// The metric is undefined for them; the text says why.
    fn score(&self, weights: &[f64]) -> Result<f64, &'static str>;
}

/// Why nothing can be said without weight.
const NO_ROWS: &str = "no row has any weight";

/// Predictions that have no score, and why.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct Unscorable(String);

impl Unscorable {
    pub(crate) fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

/// The classes of rows, after checks.
#[derive(Clone, Copy)]
pub(crate) struct Classes<'a> {
    pub(crate) rows: &'a [u32],
    pub(crate) count: usize,
    pub(crate) positive: Option<u32>,
}
