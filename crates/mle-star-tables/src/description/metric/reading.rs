//! What a description says about the metric.

use crate::metrics::Metric;

/// What a description says about the metric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MetricReading {
    /// One metric with a formula.
    Known {
        /// The metric.
        metric: Metric,
        /// The sentence, in quotation marks.
        from: String,
    },
    /// One metric without a formula.
    Unknown {
        /// Its name with the words that change it.
        phrase: String,
        /// The sentence, in quotation marks.
        from: String,
    },
    /// One metric, named only by what it is not: `not by accuracy but by log loss`.
    Contrast {
        /// The words from `not` to the metric.
        phrase: String,
        /// The sentence, in quotation marks.
        from: String,
    },
    /// Several metrics, each with its sentence in quotation marks.
    Several(Vec<(String, String)>),
    /// Nothing.
    None,
}
