//! The metric that a description says submissions are scored by.
//!
//! A sentence counts more the more clearly it says so ([`levels::Level`]); of the sentences of the highest level, all must agree.
//! A metric counts with every word around it that changes it: `mean average precision at 3` is no average precision.

mod agreement;
mod around;
mod assertion;
mod contrast;
pub(super) mod cue;
mod decide;
mod levels;
mod mention;
mod phrases;
mod reading;
mod vocabulary;

pub(super) use decide::is_about_the_metric;
pub use decide::metric;
pub use reading::MetricReading;

#[cfg(test)]
mod tests;
