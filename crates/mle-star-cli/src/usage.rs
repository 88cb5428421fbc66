//! What runs cost.

pub use mle_star_report::money;
pub use mle_star_report::usage::*;
