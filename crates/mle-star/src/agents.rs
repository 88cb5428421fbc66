//! The agents, one file each: typed input, a template, a typed answer.
//!
//! The result of each function tells a failed answer apart: `None` where the algorithm continues without one. What to do
//! with an unusable answer of one agent is decided beside its prompt, everything else by the algorithms. [`crate::reply`] parses the models' replies.

mod ablation;
mod attempts;
mod coder;
mod data;
mod debugger;
mod definitions;
mod ens_planner;
mod ensembler;
mod extractor;
mod init;
mod leakage;
mod merger;
mod planner;
mod retriever;
mod summarize;
mod test;

pub use self::definitions::definitions;
pub(crate) use self::{
    ablation::ablation,
    attempts::Repair,
    coder::coder,
    data::data,
    debugger::debugger,
    ens_planner::ens_planner,
    ensembler::ensembler,
    extractor::{Target, extractor},
    init::init,
    leakage::{Gain, correct_leakage, detect_leakage},
    merger::merger,
    planner::{Focus, planner},
    retriever::{Retrieved, retrieve},
    summarize::summarize,
    test::{Subsampling, compare, subsampling_extract, subsampling_remove, test},
};
