//! The tests of the crate.

#[cfg(test)]
mod allow;
#[cfg(test)]
mod composed;
#[cfg(test)]
mod corpus;
#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod notebooks;
#[cfg(test)]
mod scripts;
#[cfg(test)]
mod unreadable;
