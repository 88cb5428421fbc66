//! Many runs and one table: tasks, time limits and seeds.
//!
//! [`plan`] says which runs there are. [`folder`] keeps the plan and what the program must remember between calls; [`mod@run`]
//! starts or resumes one run. [`answers`] grades a submission with hidden answers. [`results`] makes rows and summaries, and
//! [`table`] shows them.

pub mod answers;
pub mod folder;
pub mod plan;
pub mod results;
pub mod run;
pub mod table;
