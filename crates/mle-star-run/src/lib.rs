//! MLE-STAR as a library.
//!
//! The stages are `find → configure → choose agents → read tables → infer → freeze → drive`.

pub mod drive;
pub mod error;
mod nearest;
mod observer;
pub mod open_run;
pub mod prepare;
pub mod protocol;
pub mod provider;
pub mod resume;
pub mod runs;
pub mod runtime;
pub mod settings;
mod version;

pub use error::{ErrorKind, RunError};
pub use nearest::nearest;
pub use observer::{Observer, Unobserved};
pub use open_run::OpenRun;
pub use prepare::{Prepared, RunOptions, prepare};
pub use version::VERSION;
