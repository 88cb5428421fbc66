//! The stages that the program adds to the MLE-STAR paper, one a file: each says why it exists and what it may change.
//!
//! The stages stand before, between and after the algorithms (`paper`), in the order that `pipeline` gives them.

pub(crate) mod baseline;
pub(crate) mod choice;
pub(crate) mod earlier_answer;
pub(crate) mod fallback;
pub(crate) mod further_models;
mod held_out;
mod holdout_run;
mod importance;
pub(crate) mod like_rows;
pub(crate) mod model;
pub(crate) mod probes;
pub(crate) mod provisional;
mod ranking;
pub(crate) mod selection;
pub(crate) mod submission;

/// Why nothing is known that needs predictions.
const UNVERIFIED: &str = "the program does not compute scores from predictions in this run";
