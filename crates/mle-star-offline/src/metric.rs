//! The metric as scripts compute it, and the predictions that it needs.

use mle_star_tables::metrics::{Kind, Metric as Known};
use serde::Serialize;

/// A metric as the templates need it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Metric {
    /// The metric.
    #[serde(skip)]
    pub(crate) id: Known,
    /// The data plane's function as a Python text that defines `score(truth, predicted, weight=None)`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) source: Option<String>,
    /// Whether it compares class labels, not probabilities.
    pub(crate) labels: bool,
    /// Whether it uses the order of classes.
    pub(crate) ordinal: bool,
    /// Whether it depends on the order of predictions alone.
    pub(crate) by_order: bool,
    /// Whether it uses absolute errors, so that models should predict medians.
    pub(crate) absolute: bool,
    /// The quantile that models should predict, if it is about one.
    pub(crate) quantile: Option<f64>,
    /// The quantiles that are the lower and the upper bound, if it is about both.
    pub(crate) bounds: Option<[f64; 2]>,
    /// How many guesses of a row count, if it is about several.
    pub(crate) guesses: Option<u8>,
    /// Whether it is undefined where all labels are equal.
    pub(crate) needs_differences: bool,
    /// Whether negative predictions are invalid.
    pub(crate) positive: bool,
}

impl Metric {
    /// The metric as templates need it, but for its source.
    pub(crate) fn new(id: Known) -> Self {
        Self {
            id,
            source: None,
            labels: id.kind() == Kind::Labels,
            ordinal: id == Known::QuadraticKappa,
            by_order: id.is_by_order(),
            absolute: matches!(id, Known::Mae | Known::MedianAbsoluteError | Known::Mape | Known::Smape)
                || id.kind() == Kind::Intervals,
            quantile: match id {
                Known::Pinball(quantile) => Some(quantile.share()),
                _ => None,
            },
            bounds: match id {
                Known::IntervalScore(covered) => {
                    let outside = covered.rest().share() / 2.0;
                    Some([outside, 1.0 - outside])
                }
                _ => None,
            },
            guesses: match id {
                Known::MapAt(guesses) | Known::TopAccuracy(guesses) => Some(guesses),
                _ => None,
            },
            needs_differences: id.is_by_order() || matches!(id, Known::R2 | Known::Pearson),
            positive: id == Known::Rmsle,
        }
    }
}
