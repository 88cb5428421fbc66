//! Data folders: what is in them, and what they say about the task.
//!
//! [`profile::read`] reads a folder's tables; [`unzip`] makes the plain files that scripts expect where a
//! table is zipped.

mod dates;
mod folder;
pub mod profile;
pub mod unzip;
