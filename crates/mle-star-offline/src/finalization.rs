//! The steps around the search, one file each.

pub(crate) mod contamination;
pub(crate) mod submission_script;
pub(crate) mod subsampling;
pub(crate) mod unused_tables;
