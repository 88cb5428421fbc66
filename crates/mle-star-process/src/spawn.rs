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

#[cfg_attr(not(target_os = "linux"), path = "spawn/elsewhere/confine.rs")]
#[cfg_attr(
    not(target_os = "linux"),
    expect(dead_code, reason = "what confines a child on Linux has no effect there")
)]
mod confine;
#[cfg(target_os = "linux")]
mod descriptors;
#[cfg(target_os = "linux")]
mod mounts;
mod session;
#[cfg_attr(not(target_os = "linux"), path = "spawn/elsewhere/supervisor.rs")]
mod supervisor;
#[cfg(all(test, target_os = "linux"))]
#[path = "spawn/elsewhere/supervisor.rs"]
mod supervisor_elsewhere;

pub(crate) use confine::Rules;
pub use confine::{Confinement, Namespaces};
#[cfg(target_os = "linux")]
pub(crate) use confine::{OOM_SCORE_ADJ, landlock_version};
#[cfg(target_os = "linux")]
pub(crate) use mounts::{Mounts, Shown, TMP};
pub use session::{handle_child_signals, in_own_session};
pub(crate) use supervisor::{REPORT, TERMINATE, arrange};
#[cfg(all(test, target_os = "linux"))]
pub(crate) use supervisor_elsewhere::arrange as arrange_elsewhere;

/// How long helpers that clean up after a child (the resource trackers of multiprocessing and joblib) may take to end.
/// They compute for milliseconds, but other processes may keep them from it.
const TIDY_UP: Duration = Duration::from_secs(2);
