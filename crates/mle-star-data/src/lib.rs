//! Reads data folders and infers the task from them.
//!
//! [`profile::read`] profiles a folder's tables, [`infer::infer`] infers the task from them, [`comparison::script`]
//! writes a script that compares training and test table, and [`unzip`] unpacks zipped tables for scripts.

pub mod agreement;
pub mod comparison;
mod dates;
pub mod digest;
mod folder;
pub mod infer;
pub mod input;
pub mod metric_names;
pub mod profile;
pub mod unzip;
pub mod walk;
