//! The metrics that the program knows by name: how they are spelled, which scores win, and what they compare. The data plane
//! computes them (`python/mle_star_data/metrics.py`).

mod bounds;
mod classes;
mod names;

pub use bounds::bounds;
pub use classes::places_of_columns;
pub use names::{Kind, Level, Metric};
