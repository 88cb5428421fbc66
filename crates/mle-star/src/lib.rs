//! MLE-STAR: search for models, then targeted refinement of code blocks, then ensembles.
//!
//! This crate is the paper. It knows no process, no socket and no terminal: everything outside is reached
//! through two effects ([`effects`]), and every effect is remembered in a journal ([`journal`]).

pub mod agents;
pub mod config;
pub mod effects;
pub mod event;
pub mod journal;
pub mod metric;
pub mod place;
pub mod score;
pub mod solution;
pub mod stop;
pub mod task;
