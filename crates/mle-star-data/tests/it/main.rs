//! The scripts that the program writes about data, run by a real Python.

#[cfg(test)]
mod comparison;
