//! What runs cost.

pub mod history;

pub use mle_star_report::figures::count as counted;
pub use mle_star_report::money;
pub use mle_star_report::usage::*;
