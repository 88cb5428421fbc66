//! `A_extractor` (Figure 14): picks the code block that matters most, with a first plan for it.

use serde_json::{Value, json};

use super::ablation::attention;
use super::attempts::outcomes;
use super::ensembler::run_of;
use crate::call::Call;
use crate::ctx::Ctx;
use crate::reply;
use crate::result::StepRecord;
use crate::solution::Scored;
use crate::stop::Stop;
use mle_star_domain::answers::RefinePlan;
use mle_star_domain::effects::{Answer, Limit};
use mle_star_domain::place::Name;
use mle_star_domain::role::AgentType;

/// The outcome of a call.
pub(crate) enum Extraction {
    /// The proposed plans.
    Plans(Vec<RefinePlan>),
    /// The reply cannot be read.
    Unreadable,
    /// The agent was not asked.
    Refused(Limit),
}

/// Call number `call` (from 1) of an outer step.
pub(crate) async fn extractor(
    ctx: &Ctx<'_>,
    call: u32,
    solution: &Scored,
    question: &Question<'_>,
) -> Result<Extraction, Stop> {
    let inputs = json!({
        "solution_script": solution.text(),
        "ablation_summary": question.summary,
        "previous_code_blocks": StepRecord::blocks(question.steps),
        "note": question.note,
    });
    let request = Call::new(AgentType::Extractor, "extractor.md", inputs)
        .telling("current", run_of(solution))
        .telling("studies", json!(StepRecord::summaries(question.steps)))
        .telling("attention", attention(ctx))
        .telling("refined", question.steps.iter().filter_map(refined).collect::<Value>());
    let again = |request: Call| request.named(Name::Again(AgentType::Extractor, call));
    let answer = ctx.ask(if call == 1 { request } else { again(request) }).await?;
    if let Answer::Refused { limit } = answer.answer {
        return Ok(Extraction::Refused(limit));
    }
    Ok(match reply::list(&answer, "plans").filter(|plans| !plans.items.is_empty()) {
        Some(plans) => Extraction::Plans(plans.items),
        None => {
            ctx.warn(format!("the extractor's reply cannot be read: {}", reply::excerpt(&answer)));
            Extraction::Unreadable
        }
    })
}

/// The input of the extractor besides the solution.
pub(crate) struct Question<'a> {
    pub summary: &'a str,
    /// The earlier steps of the path.
    pub steps: &'a [StepRecord],
    /// Why the previous call gave no usable block.
    pub note: &'a str,
}

/// Maximum length of a block that was refined before, in lines.
const LONGEST: usize = 12;

/// The beginning and the end of a long block: the extractor sees the solution that holds the rest.
fn abridged(block: &str) -> String {
    let lines: Vec<&str> = block.lines().collect();
    if lines.len() <= LONGEST {
        return block.to_owned();
    }
    let (first, last) = (&lines[..LONGEST / 2], &lines[lines.len() - LONGEST / 4..]);
    let more = format!("# [… {} more lines …]", lines.len() - first.len() - last.len());
    [first, &[&more], last].concat().join("\n")
}

/// A block that was refined, with the outcome of each plan.
fn refined(step: &StepRecord) -> Option<Value> {
    let attempts = outcomes(&step.inner_loop_attempts);
    let attempts = attempts.map(|(attempt, outcome)| json!({"plan": attempt.plan, "outcome": outcome}));
    let told = json!({"block": abridged(&step.code_block), "attempts": attempts.collect::<Value>()});
    (!step.code_block.is_empty()).then_some(told)
}
