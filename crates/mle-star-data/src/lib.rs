//! Data folders: what is in them, and what they say about the task.
//!
//! [`profile::read`] reads a folder's tables, [`infer::infer`] finds out what they are for, and
//! [`unzip`] makes the plain files that scripts expect where a table is zipped.

pub mod agreement;
mod dates;
pub mod digest;
mod folder;
pub mod infer;
pub mod metric_names;
pub mod profile;
pub mod removal;
pub mod tree;
pub mod unzip;
pub mod view;
