//! The data of a task, as the data plane (the Python process that reads tables) describes it, and what scripts see of it.
//!
//! [`task_inference`] is the task that a folder is, [`profile`] its tables and columns, [`relations`] how they relate, [`intake`]
//! what is said of the files that people give. [`comparison::script`] writes a script that compares training and test table, and [`input`] makes
//! the folder that scripts read.

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
