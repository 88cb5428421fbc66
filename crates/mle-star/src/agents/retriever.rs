//! `A_retriever` (Figure 9): finds models worth trying, each with example code. They are found on the web, known to the
//! retriever, or provided by the user.

use serde_json::json;

use crate::abilities::Abilities;
use crate::call::Call;
use crate::ctx::Ctx;
use crate::reply;
use crate::stop::Stop;
use mle_star_domain::answers::{Retrieval, RetrievedModel};
use mle_star_domain::config::Switch;
use mle_star_domain::effects::{AgentReply, Answer, Lookup};
use mle_star_domain::place::Name;
use mle_star_domain::role::AgentType;

/// The names of the retriever's places: the first call, and the second one without search.
const FIRST: Name = Name::Agent(AgentType::Retriever);
const AGAIN: Name = Name::Again(AgentType::Retriever, 2);

/// The models and their source.
#[derive(Default)]
pub(crate) struct Retrieved {
    /// At least one, at most M.
    pub models: Vec<RetrievedModel>,
    /// More models, to try after refinement. Only agents whose calls are free name them.
    pub others: Vec<RetrievedModel>,
    pub retrieval: Retrieval,
    /// The web searches and fetches made for them.
    pub lookups: Vec<Lookup>,
}

/// The models that the user provided, otherwise the retriever's. Without any model the run ends, and a resume asks
/// again.
pub(crate) async fn retrieve(ctx: &Ctx<'_>) -> Result<Retrieved, Stop> {
    if let Some(models) = &ctx.run.frozen.retrieved_models {
        let models = first_models(ctx, models.clone(), "retrieved_models holds");
        return Ok(Retrieved { models, others: Vec::new(), retrieval: Retrieval::File, lookups: Vec::new() });
    }
    let asked = ask(ctx).await?;
    match models_of(ctx, &asked.answer) {
        Ok(mut models) => {
            let wanted = ctx.config().num_retrieved_models as usize;
            let others = match Abilities::of(ctx.config()).name_more_models {
                true => models.split_off(wanted.min(models.len())),
                false => Vec::new(),
            };
            let models = first_models(ctx, models, "the retriever returned");
            Ok(Retrieved { models, others, retrieval: asked.retrieval, lookups: asked.lookups })
        }
        Err(why) => {
            asked.at.iter().try_for_each(|name| ctx.run.journal.void(&ctx.place().named(*name)))?;
            Err(Stop::NoSolution(why))
        }
    }
}

/// The outcome of one or two calls of the retriever.
struct Asked {
    /// The reply with the models.
    answer: AgentReply,
    retrieval: Retrieval,
    lookups: Vec<Lookup>,
    /// The places of the calls, last one first. Discarding them in this order ensures that a resume always asks
    /// again.
    at: &'static [Name],
}

async fn ask(ctx: &Ctx<'_>) -> Result<Asked, Stop> {
    let search = if ctx.config().search == Switch::On { Search::Allowed } else { Search::Forbidden };
    let answer = unless_refused(retriever(ctx, FIRST, search).await?)?;
    let (lookups, at) = (answer.lookups.clone(), &[FIRST]);
    let asked = |retrieval| Asked { answer, retrieval, lookups, at };
    if !Abilities::of(ctx.config()).search {
        return Ok(asked(Retrieval::Rules));
    }
    let asked = asked(Retrieval::Knowledge);
    if search == Search::Forbidden {
        return Ok(asked);
    }
    if let Some(reason) = failure(&asked.answer) {
        ctx.warn(format!("the retriever failed with web search ({reason}); it is asked again without"));
        let answer = unless_refused(retriever(ctx, AGAIN, Search::Forbidden).await?)?;
        return Ok(Asked { answer, at: &[AGAIN, FIRST], ..asked });
    }
    if asked.lookups.iter().any(|lookup| lookup.failure.is_none()) {
        return Ok(Asked { retrieval: Retrieval::Web, ..asked });
    }
    ctx.warn(format!("{}; the models come from what the retriever knows", no_search(&asked.lookups)));
    Ok(asked)
}

fn no_search(lookups: &[Lookup]) -> String {
    match lookups.iter().find_map(|lookup| lookup.failure.as_ref()) {
        Some(failure) => format!("every web search failed: {failure}"),
        None => "no web search by the retriever is known".to_owned(),
    }
}

fn unless_refused(answer: AgentReply) -> Result<AgentReply, Stop> {
    match answer.answer {
        Answer::Refused { limit } => Err(Stop::Limit(limit)),
        Answer::Text { .. } | Answer::Failed { .. } => Ok(answer),
    }
}

/// Keeps at most M models and warns about any other number.
fn first_models(ctx: &Ctx<'_>, mut models: Vec<RetrievedModel>, who: &str) -> Vec<RetrievedModel> {
    let (count, wanted) = (models.len(), ctx.config().num_retrieved_models as usize);
    models.truncate(wanted);
    let names: Vec<&str> = models.iter().map(|model| model.model_name.as_str()).collect();
    ctx.info(format!("{count} models: {}", names.join(", ")));
    if count < wanted {
        ctx.warn(format!("{who} {count} of {wanted} models"));
    } else if count > wanted {
        ctx.warn(format!("{who} {count} models; the first {wanted} are tried"));
    }
    models
}

/// Whether the retriever may search the web.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Search {
    Allowed,
    Forbidden,
}

/// The reply of the retriever, called at the place `name`. Without search it has no tools and answers from its own
/// knowledge.
async fn retriever(ctx: &Ctx<'_>, name: Name, search: Search) -> Result<AgentReply, Stop> {
    let mut inputs = json!({
        "task_description": ctx.task().description,
        "num_models": ctx.config().num_retrieved_models,
        "search": search == Search::Allowed,
    });
    if Abilities::of(ctx.config()).name_more_models && ctx.config().ensemble_selection == Switch::On {
        // Models beyond M are tried after refinement.
        inputs["portfolio"] = json!(true);
    }
    let call = Call::new(AgentType::Retriever, "retriever.md", inputs).named(name);
    let call = if search == Search::Allowed { call } else { call.tools(&[]) };
    ctx.ask(call).await
}

/// The valid models of a reply, in order. `Err` says why there is none.
fn models_of(ctx: &Ctx<'_>, answer: &AgentReply) -> Result<Vec<RetrievedModel>, String> {
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
fn failure(answer: &AgentReply) -> Option<String> {
    matches!(answer.answer, Answer::Failed { .. }).then(|| reply::excerpt(answer))
}
