//! `A_extractor` of the MLE-STAR paper (Figure 14): picks the code block that matters most, with a first plan for it. It
//! is called at most three times for a block that occurs in the solution exactly once.

use serde_json::{Value, json};

use super::ablation::search_number;
use super::attempts::outcomes;
use super::ensembler::run_of;
use super::variants::summaries;
use crate::about::beginning;
use crate::call::Call;
use crate::ctx::Ctx;
use crate::reply;
use crate::result::StepRecord;
use crate::scored::Scored;
use crate::solution::{CodeBlock, Solution};
use crate::stop::Stop;
use mle_star_domain::answers::RefinePlan;
use mle_star_domain::effects::{Answer, Limit};
use mle_star_domain::place::Name;
use mle_star_domain::role::AgentType;

/// Maximum number of calls for a block that occurs in the solution exactly once.
const CALLS: u32 = 3;

/// The outcome of the calls.
pub(crate) enum Target {
    /// c_t, and p_0 for it.
    Block(CodeBlock, RefinePlan),
    /// No reply names a usable block; the limit that ended the calls, if one did.
    Missing(Option<Limit>),
}

/// The block to refine and its first plan: those of the first plan of a reply, if it is usable. If not, the extractor is called
/// again with the reason; after the last call, the other plans of its replies count too.
pub(crate) async fn extractor(
    ctx: &Ctx<'_>,
    current: &Scored,
    summary: &str,
    steps: &[StepRecord],
) -> Result<Target, Stop> {
    let request = |call: u32, note: &str| {
        let inputs = json!({
            "solution_script": current.text(), "ablation_summary": summary,
            "previous_code_blocks": StepRecord::blocks(steps), "note": note,
        });
        let request = Call::new(AgentType::Extractor, "extractor.md", inputs)
            .telling("current", run_of(current))
            .telling("studies", json!(summaries(steps)))
            .telling("search_number", search_number(ctx, steps))
            .telling("refined", steps.iter().filter_map(refined).collect::<Value>());
        if call == 1 { request } else { request.named(Name::Again(AgentType::Extractor, call)) }
    };
    // Why the previous call gave no usable block.
    let mut note = String::new();
    let (mut seen, solution) = (Vec::new(), current.solution());
    for call in 1..=CALLS {
        let answer = ctx.ask(request(call, &note)).await?;
        if let Answer::Refused { limit } = answer.answer {
            ctx.warn(format!("no block is refined: {}", limit.name()));
            return Ok(Target::Missing(Some(limit)));
        }
        let plans = reply::list::<RefinePlan>(&answer, "plans").map(|plans| plans.items).unwrap_or_default();
        let Some(first) = plans.first() else {
            ctx.warn(format!("the extractor's reply cannot be read: {}", reply::excerpt(&answer)));
            continue;
        };
        match usable(solution, first) {
            Ok(block) => {
                let is_exact = block.as_str().trim() == first.code_block.trim();
                let how = if is_exact { "exactly" } else { "by its lines" };
                let (count, characters, plan) =
                    (plans.len(), block.as_str().chars().count(), beginning(&first.plan, 200));
                ctx.info(format!(
                    "{count} plans, block of {characters} characters found {how}, plan: {plan}"
                ));
                return Ok(Target::Block(block, first.clone()));
            }
            Err(error) => {
                note = format!(
                    "Your last answer cannot be used: {error}. Copy a part of the solution exactly \
                     as it stands there, with enough lines that it occurs only once."
                );
                let quoted = beginning(&first.code_block, 100);
                ctx.warn(format!("extractor, call {call} of {CALLS}: {error}: {quoted}"));
            }
        }
        seen.extend(plans);
    }
    ctx.warn(format!("none of {CALLS} answers names a block that can be refined first"));
    let other = seen.into_iter().find_map(|plan| Some((usable(solution, &plan).ok()?, plan)));
    Ok(other.map_or(Target::Missing(None), |(block, plan)| Target::Block(block, plan)))
}

/// Finds the block that a plan is for.
fn usable(solution: &Solution, plan: &RefinePlan) -> Result<CodeBlock, String> {
    if plan.plan.trim().is_empty() {
        return Err("the plan is empty".to_owned());
    }
    solution.find_block(&plan.code_block).map_err(|error| error.to_string())
}

/// A block that was refined, with the outcome of each plan.
fn refined(step: &StepRecord) -> Option<Value> {
    let attempts: Value = outcomes(&step.inner_loop_attempts).collect();
    (!step.code_block.is_empty()).then(|| json!({"block": step.code_block, "attempts": attempts}))
}
