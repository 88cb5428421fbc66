//! MLE-STAR: search for models, then targeted refinement of code blocks, then ensembles.
//!
//! This crate implements the paper's algorithms. It has no processes, sockets or terminal: it reaches the outside
//! only through three effects ([`backend`]), and records every effect in a journal ([`journal`]).

mod abilities;
mod about;
pub mod agents;
pub mod attempts;
pub mod backend;
mod beyond;
mod call;
mod closing;
pub mod composition;
pub mod ctx;
pub mod diagnostics;
pub mod estimate;
mod evaluate;
mod evaluation;
pub mod event;
pub mod findings;
mod forked;
mod history;
pub mod journal;
mod late_solutions;
pub mod lessons;
mod library;
mod limits;
mod made_with;
pub mod money;
mod notes;
mod outcomes;
mod paper;
pub mod pipeline;
pub mod prompts;
pub mod python;
mod record;
pub mod reply;
pub mod result;
pub mod schema;
pub mod scored;
pub mod shell;
pub mod slots;
pub mod solution;
pub mod spending;
pub mod stop;
#[cfg(feature = "testing")]
pub mod testing;
mod time_plan;
pub mod tokens;
pub mod traceback;
pub mod verdict;
