//! What the examples `trust` and `quality` share: tasks with hidden answers, runs of the program on them, and
//! statistics of scores.

use std::error::Error;
use std::process::ExitCode;

pub mod arguments;
pub mod record;
pub mod results;
pub mod runs;
pub mod statistics;
pub mod tasks;

/// Why a command has no answer.
pub type Failure = Box<dyn Error>;

/// Prints the answer to a command line, or why there is none.
pub fn show(answer: Result<String, Failure>) -> ExitCode {
    match answer {
        Ok(text) => println!("{text}"),
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
