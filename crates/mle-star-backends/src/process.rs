//! Child processes that never outlive the program: `guard` stands between the program and each child,
//! `tree` is a child with everything it started, `confine` and `mounts` are what keeps a child from doing
//! harm.

mod confine;
mod guard;
mod mounts;
mod tree;

pub(crate) use confine::{Confinement, FIRST_TO_GO, Namespaces, Rules, landlock_version};
pub(crate) use mounts::{Mounts, Shown};
pub(crate) use tree::{Ending, Ends, Streams, Tree, only_child, trial};
