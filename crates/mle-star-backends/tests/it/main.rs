//! Tests of what lies outside: real processes, real files.

mod scripts;
