//! Runs on disk.

pub mod run_view;

pub use mle_star_run::runs::*;
