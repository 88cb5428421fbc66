//! Tests with real processes and files.

#[cfg(test)]
mod scripts;
