//! Line 8 of Algorithm 2: finds the block to refine and its first plan with at most three calls of `A_extractor`.

use crate::agents::{self, Extraction, Question};
use crate::ctx::Ctx;
use crate::result::StepRecord;
use crate::solution::{CodeBlock, Scored, Solution};
use crate::stop::Stop;
use mle_star_domain::answers::RefinePlan;
use mle_star_domain::effects::Limit;

/// Maximum number of calls for a block that occurs in the solution exactly once.
const CALLS: u32 = 3;

/// The outcome of the calls.
pub(super) enum Target {
    /// c_t, and p_0 for it.
    Found(CodeBlock, RefinePlan),
    /// No reply names a usable block; the limit that ended the calls, if one did.
    Missing(Option<Limit>),
}

/// The block of the first usable plan. If there is none, the extractor is called again with the reason; after the
/// last call, the other plans of its replies count too.
pub(super) async fn target(
    ctx: &Ctx<'_>,
    current: &Scored,
    summary: &str,
    steps: &[StepRecord],
) -> Result<Target, Stop> {
    let (mut note, solution) = (String::new(), current.solution());
    let mut seen = Vec::new();
    for call in 1..=CALLS {
        let question = Question { summary, steps, note: &note };
        let plans = match agents::extractor(ctx, call, current, &question).await? {
            Extraction::Plans(plans) => plans,
            Extraction::Unreadable => continue,
            Extraction::Refused(limit) => {
                ctx.warn(format!("no block is refined: {}", limit.name()));
                return Ok(Target::Missing(Some(limit)));
            }
        };
        let Some(first) = plans.first() else { continue };
        match usable(solution, first) {
            Ok(block) => {
                report(ctx, &plans, &block, first);
                return Ok(Target::Found(block, first.clone()));
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
    Ok(other.map_or(Target::Missing(None), |(block, plan)| Target::Found(block, plan)))
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
