//! What the examples `trust` and `quality` share: tasks with hidden answers, runs of the program on them, and
//! statistics of scores.

use std::error::Error;

pub mod arguments;
pub mod record;
pub mod runs;
pub mod statistics;
pub mod tasks;

/// Why a command has no answer.
pub type Failure = Box<dyn Error>;
