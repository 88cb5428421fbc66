//! Reads data folders and infers the task from them.
//!
//! [`profile::read`] profiles a folder's tables, [`media`] counts its images and sounds, [`facts`] is the task that the data plane
//! infers, and [`intake`] what it says of the files that people give. [`split`] finds times and groups, [`comparison::script`]
//! writes a script that compares training and test table, [`series`] finds rows of the same series, [`determinants`] finds columns
//! that tell the target, [`places`] finds coordinates, [`links`] finds how further tables join, [`cutoff`] finds those whose rows
//! are known too early, and [`summary`] tells agents what the data holds.

mod archives;
mod column_names;
pub mod comparison;
pub mod cutoff;
mod dates;
pub mod determinants;
pub mod digest;
pub mod facts;
pub mod folder;
pub mod input;
pub mod intake;
pub mod keys;
pub mod labelled_cells;
pub mod links;
pub mod media;
pub mod metrics;
pub mod missing;
pub mod other_rows;
pub mod places;
pub mod profile;
pub mod reading;
mod records;
pub mod series;
pub mod spellings;
pub mod split;
pub mod summary;
mod table;
pub mod tables;
#[cfg(test)]
mod testing;
pub mod walk;
