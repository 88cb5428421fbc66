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
pub(crate) mod test_agent;
mod variants;

use serde_json::{Value, json};

use crate::ctx::Ctx;
use crate::reply;
use crate::stop::Stop;
use mle_star_domain::effects::AgentReply;

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
    leakage::{Excerpt, ScoreComparison, correct_leakage, detect_leakage},
    merger::merger,
    planner::{Focus, planner},
    retriever::{Retrieved, retrieve},
    summarize::summarize,
    variants::with_variants,
};

/// Adds the columns that scripts must not use to an agent's inputs, if there are any.
fn name_suspicious_columns(ctx: &Ctx<'_>, inputs: &mut Value) {
    let suspicious = ctx.run.shift.get().map(|shift| shift.suspicious.as_slice()).unwrap_or_default();
    if !suspicious.is_empty() {
        let names: Vec<&str> = suspicious.iter().map(|found| found.column.as_str()).collect();
        inputs["suspicious_columns"] = json!(names);
    }
}

/// The code of a reply. Without one, a warning says what it `lacks`.
fn code_or_warn(ctx: &Ctx<'_>, answer: &AgentReply, lacks: &str) -> Option<String> {
    let code = reply::code(answer);
    if code.is_none() {
        ctx.warn(format!("{lacks}: {}", reply::excerpt(answer)));
    }
    code
}

/// Fails with the specification's message if the input of an agent would be meaningless.
fn require(ctx: &Ctx<'_>, holds: bool, otherwise: &str) -> Result<(), Stop> {
    let bug = || Stop::Bug { place: ctx.place().clone(), what: otherwise.to_owned() };
    holds.then_some(()).ok_or_else(bug)
}
