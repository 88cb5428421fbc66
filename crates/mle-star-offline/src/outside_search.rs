//! Rule-based answers for the steps outside the search: the use of unused tables, the removal of subsampling, the
//! submission script and the contamination check.

pub(crate) mod contamination;
pub(crate) mod submission_script;
pub(crate) mod subsampling;
pub(crate) mod unused_tables;
