//! Child processes that never outlive the program: `guard` stands between the program and each child,
//! `tree` is a child with everything it started.

mod guard;
mod tree;

pub(crate) use tree::{Ending, Ends, Streams, Tree};
