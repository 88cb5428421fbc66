//! `A_retriever` (Figure 9): finds models worth trying, each with example code.

use serde_json::json;

use crate::call::Call;
use crate::ctx::Ctx;
use crate::reply;
use crate::stop::Stop;
use mle_star_domain::answers::RetrievedModel;
use mle_star_domain::config::{AgentsChoice, Switch};
use mle_star_domain::effects::{AgentReply, Answer};
use mle_star_domain::place::Name;
use mle_star_domain::role::AgentType;

/// Whether the retriever may search the web.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Search {
    Allowed,
    Forbidden,
}

/// The reply of the retriever, called at the place `name`. Without search it has no tools and answers from its own
/// knowledge.
pub(crate) async fn retriever(ctx: &Ctx<'_>, name: Name, search: Search) -> Result<AgentReply, Stop> {
    let mut inputs = json!({
        "task_description": ctx.task().description,
        "num_models": ctx.config().num_retrieved_models,
        "search": search == Search::Allowed,
    });
    if ctx.config().agents == AgentsChoice::Offline && ctx.config().ensemble_selection == Switch::On {
        // Models beyond M are tried after refinement.
        inputs["portfolio"] = json!(true);
    }
    let call = Call::new(AgentType::Retriever, "retriever.md", inputs).named(name);
    let call = if search == Search::Allowed { call } else { call.tools(&[]) };
    ctx.ask(call).await
}

/// The valid models of a reply, in order. `Err` says why there is none.
pub(crate) fn models_of(ctx: &Ctx<'_>, answer: &AgentReply) -> Result<Vec<RetrievedModel>, String> {
    let found = reply::list::<RetrievedModel>(answer, "models");
    let why = if found.is_some() { String::new() } else { format!(": {}", reply::excerpt_of(answer, 500)) };
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

/// Why the agent failed; `None` if it answered.
pub(crate) fn failure(answer: &AgentReply) -> Option<String> {
    matches!(answer.answer, Answer::Failed { .. }).then(|| reply::excerpt(answer))
}
