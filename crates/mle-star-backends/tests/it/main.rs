//! Tests of what lies outside: real processes, real files.

#[cfg(test)]
mod scripts;
