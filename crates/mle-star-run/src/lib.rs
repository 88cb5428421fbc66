//! MLE-STAR as a library: from a folder with a machine-learning task to a checked submission.
//!
//! ```no_run
#![doc = include_str!("../examples/embed.rs")]
//! ```
//!
//! # Stages
//!
//! `find → configure → choose agents → read tables → infer → freeze → drive`
//!
//! [`prepare()`] goes through the first five: it takes a data folder or a task file, layers the settings (options, config
//! file, environment, defaults), chooses who answers as agents, and infers what the task leaves open; it makes output
//! folders and, for data that is not plain, a folder beside the runs. [`Prepared::freeze`] makes the run folder with all
//! inputs and a journal. [`drive()`] then works until there is a
//! result, and [`resume`] opens a run again that was interrupted. An [`Observer`] sees every event and changes nothing.
//!
//! Scripts run in a Python environment that the program makes for itself below the user's cache folder, unless the key
//! `python` names an interpreter. They are isolated as far as the system can do it.
//!
//! # Units
//!
//! Times are in seconds, memory is in MiB, money in US dollars. Scores are in the unit of the task's metric;
//! [`metric_direction`](mle_star_domain::task::Task::metric_direction) says which are better. Rows, steps and paths are counted from 0.
//!
//! # Errors
//!
//! A [`RunError`] has a kind for programs ([`ErrorKind`]), and for people a cause and a hint that says what to do. What an
//! agent or a script does wrong is no error: the run repairs it, or goes on without it. A result without a valid
//! submission is a result whose `submission_path` is empty.
//!
//! # Threads and processes
//!
//! [`prepare()`] and [`drive()`] block and must not be called from asynchronous code; [`drive::drive_with`] is
//! asynchronous, and lets several runs share a machine. A process that was started with `SIGCHLD` ignored must call
//! [`mle_star_process::handle_child_signals`] first.

pub mod columns;
mod data_folders;
pub mod data_plane;
pub mod drive;
pub mod error;
pub mod fork;
mod isolated;
mod model;
pub mod note;
mod observer;
pub mod open_run;
pub mod predict;
pub mod prepare;
pub mod protocol;
pub mod provider;
mod python_environment;
pub mod resume;
pub mod runs;
pub mod runtime;
pub mod settings;
mod version;

pub use drive::drive;
pub use error::{ErrorKind, RunError};
pub use mle_star_domain::nearest::nearest;
pub use mle_star_tables::metrics;
pub use observer::{NoObserver, Observer};
pub use open_run::OpenRun;
pub use prepare::{Prepared, RunOptions, prepare};
pub use version::VERSION;
