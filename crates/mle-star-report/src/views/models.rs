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
use mle_star_domain::metric::Score;
use mle_star_domain::place::Step;
use mle_star_domain::role::AgentType;
use serde_json::{Value, json};

use super::steps::reply;
use super::{Context, RunReport};

/// The most web searches that are shown.
const LOOKUPS: usize = 500;

/// Models with the scores of their candidates, and web searches; `None` before the first model.
pub fn models(context: &Context<'_>, _: &RunReport) -> Option<Value> {
    let tried = tried_models(context);
    if tried.is_empty() {
        return None;
    }
    let mut lookups = match context.result() {
        Some(result) => result.phase1.lookups.clone(),
        None => retrievals(context).into_iter().flat_map(|reply| reply.lookups).collect(),
    };
    let opened: Vec<String> =
        lookups.iter().filter(|lookup| lookup.failure.is_none()).map(|lookup| lookup.what.clone()).collect();
    let retrieval = retrieval(context, &lookups);
    lookups.truncate(LOOKUPS);
    let model = |(index, model): (u32, RetrievedModel)| {
        let candidate = context.steps.at(Step::Candidate(index));
        let score = candidate.and_then(super::steps::Step::score).map(Score::value);
        json!({"model": model, "place": candidate.map(|step| &step.place), "score": score})
    };
    Some(json!({
        "retrieval": retrieval,
        "agents": context.run.snapshot.frozen.config.agents,
        "models": (0..).zip(tried).map(model).collect::<Vec<_>>(),
        "lookups": lookups,
        "opened": opened,
    }))
}

/// The models that are tried: those of the result, else those of the user, else those of the last reply with any.
fn tried_models(context: &Context<'_>) -> Vec<RetrievedModel> {
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

/// The source of the models.
fn retrieval(context: &Context<'_>, lookups: &[Lookup]) -> Retrieval {
    let frozen = &context.run.snapshot.frozen;
    context.result().map(|result| result.phase1.retrieval).unwrap_or_else(|| {
        match (&frozen.retrieved_models, frozen.config.agents) {
            (Some(_), _) => Retrieval::File,
            (None, AgentsChoice::Offline) => Retrieval::Rules,
            (None, _) if lookups.iter().any(|lookup| lookup.failure.is_none()) => Retrieval::Web,
            (None, _) => Retrieval::Knowledge,
        }
    })
}
