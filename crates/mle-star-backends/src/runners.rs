//! Runners: copies of this program on other machines, which run scripts for it.
//!
//! A *runner* is `mle-star runner` somewhere else: a process whose standard input and output an engine, `ssh` or a
//! container hands through. [`protocol`] is what both sides say, [`serve`] is the runner, and `fleet` starts runners,
//! gives them scripts and notices when they are gone. Nothing is listened on. The program asks the agents and keeps the
//! journal; a runner sees scripts and data.

mod cache;
mod connection;
pub mod entry;
pub mod fleet;
pub mod manifest;
pub mod protocol;
pub mod serve;
mod wire;

pub use connection::{Received, Source};
