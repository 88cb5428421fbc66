//! `A_test` (Figures 25 to 28): writes the submission script, finds and removes subsampling, and compares with
//! known solutions.

use serde_json::json;

use crate::call::Call;
use crate::ctx::{Ctx, TimePlan};
use crate::reply;
use crate::solution::{CodeBlock, Solution, SolutionPhase};
use crate::stop::Stop;
use mle_star_domain::answers::{Contamination, DataContaminationResult};
use mle_star_domain::place::Name;
use mle_star_domain::role::{AgentType, Variant};

/// The submission script; its text is empty if the reply had no code, and an empty script fails when it runs.
pub(crate) async fn test(ctx: &Ctx<'_>, solution: &Solution) -> Result<Solution, Stop> {
    let inputs = json!({"task_description": ctx.task().description, "final_solution": solution.text()});
    let answer = ctx.ask(Call::new(AgentType::Test, "test.md", inputs)).await?;
    let code = reply::code(&answer);
    if code.is_none() {
        ctx.warn(format!("the reply holds no submission script: {}", reply::excerpt(&answer)));
    }
    Ok(Solution::new(code.unwrap_or_default(), SolutionPhase::Final))
}

/// Whether a solution subsamples.
pub(crate) enum Subsampling {
    /// It does not.
    None,
    /// It does so in this block.
    Block(CodeBlock),
    /// The agent did not tell.
    Unknown,
}

/// The block that subsamples, exactly as in the solution.
pub(crate) async fn subsampling_extract(ctx: &Ctx<'_>, solution: &Solution) -> Result<Subsampling, Stop> {
    let inputs = json!({"final_solution": solution.text()});
    let call = Call::new(AgentType::Test, "test_subsampling_extract.md", inputs);
    let answer = ctx
        .ask(call.variant(Variant::SubsamplingExtract).named(Name::Task(Variant::SubsamplingExtract)))
        .await?;
    let Some(quoted) = reply::code(&answer) else {
        if reply::text(&answer).is_some_and(denies_subsampling) {
            return Ok(Subsampling::None);
        }
        let excerpt = reply::excerpt(&answer);
        ctx.warn(format!("subsampling is left as it is: no code in the reply: {excerpt}"));
        return Ok(Subsampling::Unknown);
    };
    Ok(match solution.find_first_block(&quoted) {
        Ok(block) => Subsampling::Block(block),
        // The sentence as a block of code.
        Err(_) if quoted.trim().lines().count() == 1 && denies_subsampling(&quoted) => Subsampling::None,
        Err(error) => {
            ctx.warn(format!("subsampling is left as it is: {error}: {}", reply::excerpt(&answer)));
            Subsampling::Unknown
        }
    })
}

/// Whether a reply says that nothing is subsampled.
fn denies_subsampling(reply: &str) -> bool {
    reply.to_lowercase().contains("no subsampling")
}

/// The block without its subsampling, or with a larger sample if not all rows fit into the time; `None` if the reply had
/// no code.
pub(crate) async fn subsampling_remove(
    ctx: &Ctx<'_>,
    block: &CodeBlock,
    time: Option<TimePlan>,
) -> Result<Option<String>, Stop> {
    let mut inputs = json!({"code_block_with_subsampling": block.as_str()});
    if let Some(TimePlan { seconds, allowed }) = time {
        let tenths = |seconds: f64| json!((seconds * 10.0).round() / 10.0);
        (inputs["seconds"], inputs["allowed_seconds"]) = (tenths(seconds), tenths(allowed));
    }
    let call = Call::new(AgentType::Test, "test_subsampling_remove.md", inputs);
    let answer = ctx
        .ask(call.variant(Variant::SubsamplingRemove).named(Name::Task(Variant::SubsamplingRemove)))
        .await?;
    let code = reply::code(&answer);
    if code.is_none() {
        ctx.warn(format!("subsampling is left as it is: {}", reply::excerpt(&answer)));
    }
    Ok(code)
}

/// The comparison with reference number `count` (from 0); `None` if the reply cannot be parsed.
pub(crate) async fn contamination(
    ctx: &Ctx<'_>,
    count: u32,
    solution: &Solution,
    reference: &str,
) -> Result<Option<Contamination>, Stop> {
    let inputs = json!({"reference_discussion": reference, "final_solution": solution.text()});
    let call = Call::new(AgentType::Test, "test_contamination.md", inputs);
    let call = call.variant(Variant::Contamination).named(Name::Comparison(count));
    let answer = ctx.ask(call).await?;
    let verdict = reply::object::<DataContaminationResult>(&answer).map(|result| result.verdict);
    let verdict = verdict.or_else(|| match reply::prose(&answer)?.trim_matches(['\'', '"', '.', '`']) {
        "Novel" => Some(Contamination::Novel),
        "Same" => Some(Contamination::Same),
        _ => None,
    });
    if verdict.is_none() {
        ctx.warn(format!("the comparison's verdict cannot be read: {}", reply::excerpt(&answer)));
    }
    Ok(verdict)
}
