//! What happens between fork and exec. All `unsafe` code of the crate is in here.
//!
//! `supervisor` stands between the program and each child and ends everything the child started; `confine` and
//! `mounts` keep the child from doing harm; `session` is what any child inherits, the one included that is meant to
//! outlive the program.

#![expect(
    unsafe_code,
    reason = "fork, clone and what may run between fork and exec is beyond what Rust checks"
)]

use std::time::Duration;

mod confine;
mod descriptors;
mod mounts;
mod session;
mod supervisor;

pub use confine::{Confinement, Namespaces};
pub(crate) use confine::{OOM_SCORE_ADJ, Rules, landlock_version};
pub(crate) use mounts::{Mounts, ShownPath, TMP};
pub use session::{handle_child_signals, in_own_session};
pub(crate) use supervisor::{REPORT, TERMINATE, arrange};

/// How long helpers that clean up after a child (the resource trackers of multiprocessing and joblib) may take to end.
/// They compute for milliseconds, but other processes may keep them from it.
const TIDY_UP: Duration = Duration::from_secs(2);
