//! Reads data folders and infers the task from them.
//!
//! [`profile::read`] profiles a folder's tables, [`media`] counts its images and sounds, [`facts`] is the task that the data plane
//! infers, [`relations`] how columns and tables relate, and [`intake`] what is said of the files that people give.
//! [`comparison::script`] writes a script that compares training and test table.

mod archives;
mod column_names;
pub mod comparison;
mod dates;
pub mod digest;
pub mod facts;
pub mod folder;
pub mod input;
pub mod intake;
pub mod keys;
pub mod labelled_cells;
pub mod media;
pub mod metrics;
pub mod missing;
pub mod places;
pub mod profile;
pub mod reading;
mod records;
pub mod relations;
pub mod split;
mod table;
pub mod tables;
#[cfg(test)]
mod testing;
pub mod walk;
