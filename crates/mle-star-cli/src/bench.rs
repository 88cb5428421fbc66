//! Many runs and one table: tasks, time limits and seeds.
//!
//! [`plan`] says which runs there are, from options or a bench [`mod@file`]. [`folder`] keeps the plan and what the program
//! must remember between calls; [`cell`] starts or resumes one run. [`grade`] grades a submission with hidden [`answers`] or
//! with a [`grader`] of the user. [`results`] makes rows and summaries (with [`statistics`]), and [`table`] shows them.

pub mod answers;
pub mod cell;
pub mod file;
pub mod folder;
pub mod grade;
mod grader;
pub mod plan;
pub mod results;
mod scale;
mod statistics;
pub mod table;
