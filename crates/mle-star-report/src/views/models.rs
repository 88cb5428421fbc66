//! The models that Phase 1 tried, their sources, and the web searches for them.
//!
//! All of this is untrusted, including text from web pages. It is shown as text, and only plain `http` and `https`
//! addresses become links.

use mle_star::journal::EffectRecord;
use mle_star::reply as read;
use mle_star::spending::role;
use mle_star_domain::answers::{Retrieval, RetrievedModel};
use mle_star_domain::config::AgentsChoice;
use mle_star_domain::effects::{AgentReply, Lookup};
use mle_star_domain::place::Step;
use mle_star_domain::role::AgentType;
use mle_star_domain::search::is_link;
use serde::Serialize;

use super::context::Context;
use super::steps::{node_id, reply};
use crate::cut::{OUTPUT, cut};
use crate::figures::number;
use crate::sanitize::first_line;

/// Models and web searches.
#[derive(Clone, Debug, Serialize)]
pub struct Models {
    /// The source of the models, for people; empty before there are any.
    pub origin: Option<&'static str>,
    /// The models in the order of the reply.
    pub models: Vec<Model>,
    /// The web searches and fetches.
    pub lookups: Vec<Looked>,
}

/// A model and its candidate.
#[derive(Clone, Debug, Serialize)]
pub struct Model {
    /// Its name.
    pub name: String,
    /// The ID of its candidate's node.
    pub node: String,
    /// The score of its candidate.
    pub score: Option<String>,
    /// Pages that the agent named for it.
    pub sources: Vec<Source>,
    /// The code that came with it.
    pub example: String,
}

/// A page that the agent named for a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Source {
    /// The address as the agent gave it.
    pub text: String,
    /// Whether it is an address that can be opened.
    pub is_link: bool,
    /// Whether it was opened in this run.
    pub was_read: bool,
}

/// One web search or fetch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Looked {
    /// `WebSearch` or `WebFetch`.
    pub tool: String,
    /// The query or address.
    pub what: String,
    /// Whether it is an address that can be opened.
    pub is_link: bool,
    /// The error.
    pub failure: Option<String>,
}

/// Creates the view of a run.
pub fn models(context: &Context<'_>) -> Models {
    let lookups = match context.result() {
        Some(result) => result.phase1.lookups.clone(),
        None => retrievals(context).into_iter().flat_map(|reply| reply.lookups).collect(),
    };
    let models = known(context);
    let model = |(index, model): (u32, &RetrievedModel)| {
        let candidate = Step::Candidate(index);
        let score = context.steps.at(candidate).and_then(super::steps::Step::score);
        Model {
            name: first_line(&model.model_name, 200),
            node: context.steps.at(candidate).map(|_| node_id(&candidate.place())).unwrap_or_default(),
            score: score.map(|score| number(score.value())),
            sources: model.sources.iter().take(30).map(|source| self::source(source, &lookups)).collect(),
            example: cut(&model.example_code, OUTPUT),
        }
    };
    Models {
        origin: (!models.is_empty()).then(|| origin(context, &lookups)),
        models: (0..).zip(&models).map(model).collect(),
        lookups: lookups.iter().take(500).map(looked).collect(),
    }
}

/// The models that are tried: those of the result, else those of the user, else those of the last reply with any.
fn known(context: &Context<'_>) -> Vec<RetrievedModel> {
    if let Some(result) = context.result() {
        return result.phase1.retrieved_models.clone();
    }
    let frozen = &context.run.snapshot.frozen;
    let named = || {
        let lists = retrievals(context).into_iter().rev();
        let found = lists.filter_map(|reply| read::list::<RetrievedModel>(&reply, "models"));
        let mut models = found.map(|found| found.items).find(|models| !models.is_empty()).unwrap_or_default();
        models.retain(|model| !model.model_name.trim().is_empty() && !model.example_code.trim().is_empty());
        models
    };
    let mut models = frozen.retrieved_models.clone().unwrap_or_else(named);
    models.truncate(frozen.config.num_retrieved_models as usize);
    models
}

/// The replies of the retriever, one or two.
fn retrievals(context: &Context<'_>) -> Vec<AgentReply> {
    let of = |record: &&EffectRecord| record.counts() && role(record) == Some(AgentType::Retriever);
    context.run.snapshot.effects.iter().filter(of).filter_map(reply).collect()
}

fn origin(context: &Context<'_>, lookups: &[Lookup]) -> &'static str {
    let frozen = &context.run.snapshot.frozen;
    let retrieval = context.result().map(|result| result.phase1.retrieval).unwrap_or_else(|| {
        match (&frozen.retrieved_models, frozen.config.agents) {
            (Some(_), _) => Retrieval::File,
            (None, AgentsChoice::Offline) => Retrieval::Rules,
            (None, _) if lookups.iter().any(|lookup| lookup.failure.is_none()) => Retrieval::Web,
            (None, _) => Retrieval::Knowledge,
        }
    });
    match retrieval {
        Retrieval::Web => "Found by the retriever on the web.",
        Retrieval::Knowledge if frozen.config.agents == AgentsChoice::Files => {
            "Named by those who answered the prompts."
        }
        Retrieval::Knowledge => "From the knowledge of the language model, without a web search.",
        Retrieval::File => "Given by hand; the retriever was not asked.",
        Retrieval::Rules => "Picked by the rules of the offline agents.",
    }
}

fn source(text: &str, lookups: &[Lookup]) -> Source {
    let was_read = lookups.iter().any(|lookup| lookup.what == text && lookup.failure.is_none());
    Source { text: first_line(text, 300), is_link: text.len() <= 300 && is_link(text), was_read }
}

fn looked(lookup: &Lookup) -> Looked {
    Looked {
        tool: lookup.tool.clone(),
        what: first_line(&lookup.what, 300),
        is_link: lookup.what.len() <= 300 && is_link(&lookup.what),
        failure: lookup.failure.as_ref().map(|why| first_line(why, 300)),
    }
}
