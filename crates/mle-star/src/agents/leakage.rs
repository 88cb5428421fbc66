//! `A_leakage` of the MLE-STAR paper (Figures 20 and 21): finds leakage, then corrects it block by block.

use std::collections::HashSet;

use serde_json::json;

use super::ensembler::beside_simple_ones;
use crate::call::Call;
use crate::ctx::Ctx;
use crate::evaluation::Failure;
use crate::findings::CodeFinding;
use crate::lessons::number;
use crate::reply;
use crate::scored::Scored;
use crate::solution::{CodeBlock, Solution};
use crate::stop::Stop;
use mle_star_domain::answers::{LeakageAnswer, LeakageStatus};
use mle_star_domain::place::Name;
use mle_star_domain::role::{AgentType, Variant};

/// A script that has run, and the solution that it would replace.
pub(crate) struct ScoreComparison<'a> {
    pub scored: &'a Scored,
    pub rival: Option<&'a Scored>,
    /// The checked solution that it was made from by a change; `None` if it is new.
    pub before: Option<&'a Scored>,
}

/// What the agent is shown of a script.
pub(crate) struct Excerpt {
    /// The code, whole or in parts.
    pub code: String,
    /// Whether it is in parts: what changed and can leak, with what surrounds and uses it.
    pub is_part: bool,
    /// What the program's own checker doubts, one line each.
    pub notes: Vec<String>,
}

impl Excerpt {
    /// All of a script.
    pub(crate) fn whole(script: &str) -> Self {
        Self { code: script.to_owned(), is_part: false, notes: Vec::new() }
    }
}

/// The blocks that leak, as the agent quotes them; none if the reply cannot be parsed. `Err` is why the call was refused or
/// failed.
pub(crate) async fn detect_leakage(
    ctx: &Ctx<'_>,
    shown: &Excerpt,
    gain: Option<&ScoreComparison<'_>>,
) -> Result<Result<Vec<String>, Failure>, Stop> {
    let inputs = json!({"code": shown.code});
    let question = inputs.to_string();
    let run = gain.map(|ScoreComparison { scored, rival, .. }| {
        let before = rival.map(|rival| number(rival.score().value()));
        json!({"score": beside_simple_ones(scored), "before": before})
    });
    let call = Call::new(AgentType::Leakage, "leakage_detection.md", inputs);
    let call = call
        .variant(Variant::Detection)
        .telling("run", run)
        .telling("is_part", shown.is_part)
        .telling("notes", shown.notes.clone());
    let call = Call { reads_back: true, ..call };
    let answer = ctx.ask(call).await?;
    if let Some(failure) = Failure::of_agent(&answer) {
        return Ok(Err(failure));
    }
    let found = reply::list::<LeakageAnswer>(&answer, "answers");
    if found.as_ref().is_none_or(|found| found.unreadable > 0) {
        ctx.warn(format!("the leakage check's reply cannot be read: {}", reply::excerpt(&answer)));
    } else {
        ctx.history().remember_answer(question, &answer);
    }
    let mut answers = found.map(|found| found.items).unwrap_or_default();
    let mut known = HashSet::new();
    answers.retain(|answer| {
        answer.leakage_status == LeakageStatus::Yes && known.insert(answer.code_block.clone())
    });
    Ok(Ok(answers.into_iter().map(|answer| answer.code_block).collect()))
}

/// The correction at this place: the block without the leak; `None` if the reply had no code or the same block. The
/// finding is the program's own, if it found the leak.
pub(crate) async fn correct_leakage(
    ctx: &Ctx<'_>,
    name: Name,
    solution: &Solution,
    block: &CodeBlock,
    finding: Option<&CodeFinding>,
) -> Result<Option<String>, Stop> {
    let mut inputs = json!({"code": solution.text(), "code_block": block.as_str()});
    if let Some(CodeFinding { line, text, instead, .. }) = finding {
        inputs["finding"] = json!({"line": line, "text": text, "instead": instead});
    }
    let call = Call::new(AgentType::Leakage, "leakage_correction.md", inputs);
    let answer = ctx.ask(call.variant(Variant::Correction).named(name)).await?;
    Ok(reply::code(&answer).filter(|code| code.trim() != block.as_str().trim()))
}
