//! The tests of the crate.

mod corpus;
