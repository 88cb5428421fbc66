//! Runs on disk.

pub use mle_star_report::run_view;
pub use mle_star_run::runs::*;
