//! The reasons why a worker, a process with imported libraries, cannot be used.

use std::io;

/// Why a worker cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The interpreter did not introduce itself as a worker in time.
    #[error("the interpreter did not start the worker")]
    NoIntroduction,
    /// The imports took too long.
    #[error("the imports took more than {0} s")]
    SlowImports(u64),
    /// It did not fork the next process in time.
    #[error("the worker did not fork a process")]
    NoFork,
    /// It ended, or closed its channel.
    #[error("the worker ended before it was ready")]
    Ended,
    /// It reported this.
    #[error("{0}")]
    Reported(String),
    /// Its process or channel failed.
    #[error("{0}")]
    System(#[from] io::Error),
    /// The task that starts it failed.
    #[error("{0}")]
    Task(#[from] tokio::task::JoinError),
}
