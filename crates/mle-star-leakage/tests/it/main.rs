//! The tests of the crate.

#[cfg(test)]
mod corpus;
#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod notebooks;
mod scripts;
#[cfg(test)]
mod unreadable;
