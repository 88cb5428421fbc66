//! The formulas, each prepared once for its rows and then computed for any weights.

pub(crate) mod averages;
pub(crate) mod counts;
pub(crate) mod curves;
pub(crate) mod ranking;
pub(crate) mod relations;

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
