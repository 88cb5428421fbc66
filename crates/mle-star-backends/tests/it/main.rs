//! Tests of what lies outside: real processes, real files.

mod offline;
mod scripts;
