//! The words of `mle-star`: places and steps, metrics and measured scores, the task, the protocol of its evaluation,
//! the configuration, requests and outcomes of the three effects, and errors for people.
//!
//! Everything here is a value: the crate knows of no file, process, socket, clock or journal. Scores are in the metric's
//! unit, times in seconds, memory in MiB and money in US dollars, unless a name says otherwise.

pub mod answers;
pub mod config;
pub mod diagnostics;
pub mod effects;
pub mod layout;
pub mod measure;
pub mod metric;
pub mod nearest;
pub mod place;
pub mod protocol;
pub mod question;
pub mod role;
pub mod score;
pub mod search;
pub mod slot;
pub mod task;
pub mod trouble;
pub mod trust;
