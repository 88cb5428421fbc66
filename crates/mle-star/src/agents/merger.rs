//! `A_merger` of the MLE-STAR paper (Figure 11): merges a reference solution into the base solution.

use serde_json::{Value, json};

use super::ensembler::run_of;
use crate::call::Call;
use crate::ctx::Ctx;
use crate::evaluation::Failure;
use crate::lessons::gain_text;
use crate::reply;
use crate::scored::Scored;
use crate::solution::{Solution, SolutionPhase};
use crate::stop::Stop;
use mle_star_domain::role::AgentType;

/// The merged solution; its text is empty if the reply had no code, and an empty script fails when it runs. `Err` is why the
/// call was refused or failed.
pub(crate) async fn merger(
    ctx: &Ctx<'_>,
    base: &Scored,
    reference: &Scored,
) -> Result<Result<Solution, Failure>, Stop> {
    let mut inputs = json!({"base_code": base.text(), "reference_code": reference.text()});
    super::name_suspicious_columns(ctx, &mut inputs);
    let call = Call::new(AgentType::Merger, "merger.md", inputs)
        .telling("base", run_of(base))
        .telling("reference", run_of(reference))
        .telling("difference", difference(base, reference));
    let answer = ctx.ask(call).await?;
    let solution = Solution::new(reply::code(&answer).unwrap_or_default(), SolutionPhase::Merged);
    Ok(Failure::of_agent(&answer).map_or(Ok(solution), Err))
}

/// How much better or worse the reference scores, with the standard error; `null` if that is not known.
fn difference(base: &Scored, reference: &Scored) -> Value {
    let gain = reference.score().gain_over(base.score());
    reference.difference(base).map_or(Value::Null, |found| json!(gain_text(gain, Some(found.standard_error))))
}
