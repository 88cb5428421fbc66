//! `A_retriever` (Figure 9): models worth trying, each with example code.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{AgentType, Call, reply};
use crate::ctx::Ctx;
use crate::effects::Answer;
use crate::stop::Stop;

/// A model and code that shows how to use it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RetrievedModel {
    /// The model's name.
    pub model_name: String,
    /// Short, simple sample code.
    pub example_code: String,
}

/// The shape of the answer, for its schema.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used; answers are read item by item")]
struct RetrieverOutput {
    #[schemars(length(min = 1))]
    models: Vec<RetrievedModel>,
}

/// The first M valid models; fewer come with a warning. Without any, the run ends, and a resume asks again.
pub(crate) async fn retriever(ctx: &Ctx<'_>) -> Result<Vec<RetrievedModel>, Stop> {
    let wanted = ctx.config().num_retrieved_models as usize;
    let inputs = json!({"task_description": ctx.task().description, "num_models": wanted});
    let call = Call::new(AgentType::Retriever, "retriever.md", inputs).answered_by::<RetrieverOutput>();
    let answer = ctx.ask(call).await?;
    if let Answer::Refused { limit } = answer.answer {
        return Err(Stop::Limit(limit));
    }
    let found = reply::list::<RetrievedModel>(&answer, "models");
    let readable = found.is_some();
    if let Some(unreadable) = found.as_ref().map(|found| found.unreadable).filter(|count| *count > 0) {
        ctx.warn(format!("{unreadable} of the retriever's models cannot be read"));
    }
    let mut models = found.map(|found| found.items).unwrap_or_default();
    models.retain(|model| {
        let valid = !model.model_name.trim().is_empty() && !model.example_code.trim().is_empty();
        if !valid {
            ctx.warn(format!("the retriever named a model without name or code: {:?}", model.model_name));
        }
        valid
    });
    models.truncate(wanted);
    if models.is_empty() {
        ctx.forget(AgentType::Retriever.name())?;
        let why = if readable { String::new() } else { format!(": {}", reply::excerpt(&answer)) };
        return Err(Stop::NoSolution(format!("A_retriever returned zero models{why}")));
    }
    if models.len() < wanted {
        ctx.warn(format!("the retriever returned {} of {wanted} models", models.len()));
    }
    Ok(models)
}
