//! Integration tests of the outside.

mod offline;
