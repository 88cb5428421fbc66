//! `A_init` (Figure 10): writes a first, simple solution for one model.

use serde_json::{Value, json};

use crate::answers::RetrievedModel;
use crate::call::Call;
use crate::ctx::Ctx;
use crate::reply;
use crate::role::AgentType;
use crate::solution::{Scored, Solution, SolutionPhase};
use crate::stop::Stop;

/// The candidate for `model`; its text is empty if the reply had no code, and an empty script fails when it runs.
pub(crate) async fn init(ctx: &Ctx<'_>, model: &RetrievedModel) -> Result<Solution, Stop> {
    let mut inputs = json!({
        "task_description": ctx.task().description,
        "model_name": model.model_name,
        "example_code": model.example_code,
    });
    ctx.name_suspicious_columns(&mut inputs);
    ask(ctx, inputs, &model.model_name).await
}

/// The solution with another seed and, if it chooses its folds, more of them. Only offline agents know how.
pub(crate) async fn repeat(ctx: &Ctx<'_>, solution: &Scored, repetition: u32) -> Result<Solution, Stop> {
    let model = solution.solution().source_model().unwrap_or("unknown");
    let inputs = json!({
        "task_description": ctx.task().description,
        "model_name": model,
        "example_code": solution.text(),
        "repetition": repetition,
    });
    ask(ctx, inputs, model).await
}

async fn ask(ctx: &Ctx<'_>, inputs: Value, model: &str) -> Result<Solution, Stop> {
    let answer = ctx.ask(Call::new(AgentType::Init, "init.md", inputs)).await?;
    let text = reply::code(&answer).unwrap_or_default();
    Ok(Solution::new(text, SolutionPhase::Init).of_model(model))
}
