//! Child processes that never outlive the program: `guard` stands between the program and each child,
//! `tree` is a child with everything it started, `confine` and `mounts` are what keeps a child from doing harm.
//! `session` is what they have from whoever started them, for the one kind, too, that shall outlive the program.
//!
//! Linux has all of it. What other systems have is in the folder `elsewhere`.

#[cfg_attr(not(target_os = "linux"), path = "process/elsewhere/confine.rs")]
#[cfg_attr(
    not(target_os = "linux"),
    expect(dead_code, reason = "what binds a child on Linux has no effect there")
)]
mod confine;
#[cfg_attr(not(target_os = "linux"), path = "process/elsewhere/guard.rs")]
mod guard;
#[cfg(all(test, target_os = "linux"))]
#[path = "process/elsewhere/guard.rs"]
mod guard_elsewhere;
#[cfg(target_os = "linux")]
mod mounts;
mod session;
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "no workers and no trials there"))]
mod tree;

pub(crate) use confine::{Confinement, Namespaces, Rules};
#[cfg(target_os = "linux")]
pub(crate) use confine::{FIRST_TO_GO, landlock_version};
#[cfg(all(test, target_os = "linux"))]
pub(crate) use guard_elsewhere::arrange as arrange_elsewhere;
#[cfg(target_os = "linux")]
pub(crate) use mounts::{KERNEL_SETTINGS, Mounts, Shown};
pub use session::{hear_of_children, in_own_session};
pub use tree::{Ending, Streams, Tree};
#[cfg(target_os = "linux")]
pub(crate) use tree::{Ends, only_child, trial};
