//! Benchmarks: runs a grid of tasks, time limits and seeds, and tabulates the scores.
//!
//! [`plan`] says which runs there are. [`folder`] keeps the plan and the state between invocations; [`mod@run`]
//! starts or resumes one run. [`answers`] grades a submission with hidden answers. [`results`] makes rows and summaries, and
//! [`table`] shows them.

pub mod answers;
pub mod folder;
pub mod plan;
pub mod results;
pub mod run;
pub mod table;
