//! The data of a task, as the data plane (the Python process that reads tables) describes it, and what scripts see of it.
//!
//! The data plane answers questions as JSON; these modules are the values that it is read into, and what the program makes of
//! them without reading a cell itself:
//!
//! - facts: [`profile`] of tables and columns, [`relations`] between them, [`task_inference`] (target, metric and ID of a folder,
//!   with what only the user can decide), [`intake`] (the plain tables that were made of the user's files), [`read_options`]
//!   (how such a file is parsed), [`metrics`] (their names), [`places`] (pairs of coordinates);
//! - files: [`input`] makes the folder that scripts read, [`walk`] lists a folder, [`digest`] is its checksum;
//! - [`comparison`] writes the script that compares training and test table.

pub mod comparison;
pub mod digest;
pub mod input;
pub mod intake;
pub mod metrics;
pub mod places;
pub mod profile;
pub mod read_options;
pub mod relations;
pub mod task_inference;
pub mod walk;
