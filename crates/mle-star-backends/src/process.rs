//! Child processes that never outlive the program: `guard` stands between the program and each child,
//! `tree` is a child with everything it started. `session` is for the one kind that shall outlive it.

mod guard;
mod session;
mod tree;

pub use session::in_own_session;
pub(crate) use tree::{Ending, Streams, Tree};
