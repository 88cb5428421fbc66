//! `A_init` of the MLE-STAR paper (Figure 10): writes a first, simple solution for one model.

use serde_json::json;

use crate::call::Call;
use crate::ctx::Ctx;
use crate::evaluation::Failure;
use crate::event::Event;
use crate::reply;
use crate::solution::{Solution, SolutionPhase};
use crate::stop::Stop;
use mle_star_domain::answers::RetrievedModel;
use mle_star_domain::role::AgentType;

/// The candidate for `model`; its text is empty if the reply had no code, and an empty script fails when it runs. `Err` is why
/// the call was refused or failed.
pub(crate) async fn init(ctx: &Ctx<'_>, model: &RetrievedModel) -> Result<Result<Solution, Failure>, Stop> {
    let mut inputs = json!({
        "task_description": ctx.task().description,
        "model_name": model.model_name,
        "example_code": model.example_code,
    });
    super::name_suspicious_columns(ctx, &mut inputs);
    ctx.emit(Event::Model { place: ctx.current_step()?, name: model.model_name.clone() });
    let answer = ctx.ask(Call::new(AgentType::Init, "init.md", inputs)).await?;
    let text = reply::code(&answer).unwrap_or_default();
    let solution = Solution::new(text, SolutionPhase::Init).of_model(&model.model_name);
    Ok(Failure::of_agent(&answer).map_or(Ok(solution), Err))
}
