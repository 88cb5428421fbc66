//! Child processes that never outlive the program: `guard` stands between the program and each child,
//! `tree` is a child with everything it started, `confine` and `mounts` are what keeps a child from doing harm.
//! `session` is for the one kind that shall outlive it.

mod confine;
mod guard;
mod mounts;
mod session;
mod tree;

pub(crate) use confine::{Confinement, FIRST_TO_GO, Namespaces, Rules, landlock_version};
pub(crate) use mounts::{Mounts, Shown};
pub use session::in_own_session;
pub(crate) use tree::{Ending, Ends, Streams, Tree, only_child, trial};
