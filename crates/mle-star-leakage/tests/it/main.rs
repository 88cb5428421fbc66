//! The tests of the crate.

mod corpus;
mod fuzz;
mod notebooks;
mod unreadable;
