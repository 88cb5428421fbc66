//! MLE-STAR: search for models, then targeted refinement of code blocks, then ensembles.
//!
//! This crate implements the paper's algorithms. It has no processes, sockets or terminal: it reaches the outside
//! only through two effects ([`effects`]), and records every effect in a journal ([`journal`]).

pub mod agents;
pub mod answers;
pub mod attempts;
mod call;
mod composition;
pub mod config;
pub mod ctx;
pub mod diagnostics;
pub mod effects;
pub mod estimate;
mod evaluate;
mod evaluation;
pub mod event;
pub mod gate;
pub mod journal;
pub mod layout;
pub mod lessons;
mod limits;
pub mod measure;
pub mod metric;
pub mod money;
pub mod pipeline;
pub mod place;
mod prefetch;
pub mod prompts;
pub mod protocol;
mod python;
pub mod reply;
pub mod result;
pub mod role;
pub mod schema;
pub mod score;
pub mod search;
pub mod shell;
pub mod slots;
pub mod solution;
pub mod spending;
pub mod stop;
pub mod task;
#[cfg(feature = "testing")]
pub mod testing;
pub mod tokens;
mod traceback;
pub mod trust;
pub mod verdict;
