//! `A_extractor` of the MLE-STAR paper (Figure 14): picks the code block that matters most, with a first plan for it. It
//! is called at most three times for a block that occurs in the solution exactly once.

use serde_json::{Value, json};

use super::ablation::search_number;
use super::attempts::outcomes;
use super::ensembler::run_of;
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
    let (mut note, solution) = (String::new(), current.solution());
    let mut seen = Vec::new();
    for call in 1..=CALLS {
        let question = Question { summary, steps, note: &note };
        let answer = ctx.ask(call_number(ctx, call, current, &question)).await?;
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
                report(ctx, &plans, &block, first);
                return Ok(Target::Block(block, first.clone()));
            }
            Err(error) => {
                note = format!(
                    "Your last answer cannot be used: {error}. Copy a part of the solution exactly \
                     as it stands there, with enough lines that it occurs only once."
                );
                let quoted: String = first.code_block.chars().take(100).collect();
                ctx.warn(format!("extractor, call {call} of {CALLS}: {error}: {quoted}"));
            }
        }
        seen.extend(plans);
    }
    ctx.warn(format!("none of {CALLS} answers names a block that can be refined first"));
    let other = seen.into_iter().find_map(|plan| Some((usable(solution, &plan).ok()?, plan)));
    Ok(other.map_or(Target::Missing(None), |(block, plan)| Target::Block(block, plan)))
}

fn report(ctx: &Ctx<'_>, plans: &[RefinePlan], block: &CodeBlock, plan: &RefinePlan) {
    let how = if block.as_str().trim() == plan.code_block.trim() { "exactly" } else { "by its lines" };
    let (count, characters) = (plans.len(), block.as_str().chars().count());
    let plan: String = plan.plan.chars().take(200).collect();
    ctx.info(format!("{count} plans, block of {characters} characters found {how}, plan: {plan}"));
}

/// Finds the block that a plan is for.
fn usable(solution: &Solution, plan: &RefinePlan) -> Result<CodeBlock, String> {
    if plan.plan.trim().is_empty() {
        return Err("the plan is empty".to_owned());
    }
    solution.find_block(&plan.code_block).map_err(|error| error.to_string())
}

/// Call number `call` (from 1) of an outer step.
fn call_number(ctx: &Ctx<'_>, call: u32, solution: &Scored, question: &Question<'_>) -> Call {
    let inputs = json!({
        "solution_script": solution.text(),
        "ablation_summary": question.summary,
        "previous_code_blocks": StepRecord::blocks(question.steps),
        "note": question.note,
    });
    let request = Call::new(AgentType::Extractor, "extractor.md", inputs)
        .telling("current", run_of(solution))
        .telling("studies", json!(StepRecord::summaries(question.steps)))
        .telling("search_number", search_number(ctx, question.steps))
        .telling("refined", question.steps.iter().filter_map(refined).collect::<Value>());
    if call == 1 { request } else { request.named(Name::Again(AgentType::Extractor, call)) }
}

/// The input of the extractor besides the solution.
struct Question<'a> {
    summary: &'a str,
    /// The earlier steps of the path.
    steps: &'a [StepRecord],
    /// Why the previous call gave no usable block.
    note: &'a str,
}

/// Maximum length of what is told of a plan, in characters.
const MAX_PLAN_CHARS: usize = 400;

/// A block that was refined, with the outcome of each plan.
fn refined(step: &StepRecord) -> Option<Value> {
    let attempts = outcomes(&step.inner_loop_attempts, MAX_PLAN_CHARS);
    let attempts = attempts.map(|(plan, outcome)| json!({"plan": plan, "outcome": outcome}));
    let told = json!({"block": step.code_block, "attempts": attempts.collect::<Value>()});
    (!step.code_block.is_empty()).then_some(told)
}
