//! `A_retriever` (Figure 9): models worth trying, each with example code.

use serde_json::json;

use super::{Call, reply};
use crate::answers::RetrievedModel;
use crate::ctx::Ctx;
use crate::effects::{AgentReply, Answer};
use crate::place::Name;
use crate::role::AgentType;
use crate::stop::Stop;

/// May the retriever search the web?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Search {
    Allowed,
    Forbidden,
}

/// What the retriever, asked at the place `name`, says. Without search it has no tools and is asked for what it
/// knows.
pub(crate) async fn retriever(ctx: &Ctx<'_>, name: Name, search: Search) -> Result<AgentReply, Stop> {
    let inputs = json!({
        "task_description": ctx.task().description,
        "num_models": ctx.config().num_retrieved_models,
        "search": search == Search::Allowed,
    });
    let call = Call::new(AgentType::Retriever, "retriever.md", inputs).named(name);
    let call = if search == Search::Allowed { call } else { call.tools(&[]) };
    ctx.ask(call).await
}

/// The valid models of a reply, in their order. `Err` says why there is none.
pub(crate) fn models_of(ctx: &Ctx<'_>, answer: &AgentReply) -> Result<Vec<RetrievedModel>, String> {
    let found = reply::list::<RetrievedModel>(answer, "models");
    let why = match &found {
        Some(_) => String::new(),
        None => format!(": {}", reply::first_characters(answer, 500)),
    };
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
    if models.is_empty() { Err(format!("A_retriever returned zero models{why}")) } else { Ok(models) }
}

/// Why the agent failed; `None` when it answered.
pub(crate) fn failure(answer: &AgentReply) -> Option<String> {
    matches!(answer.answer, Answer::Failed { .. }).then(|| reply::excerpt(answer))
}
