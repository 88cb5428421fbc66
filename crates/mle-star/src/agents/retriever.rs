//! `A_retriever` of the MLE-STAR paper (Figure 9): finds models worth trying, each with example code. They are found on
//! the web, known to the retriever, or provided by the user.

use serde_json::json;

use crate::abilities::are_rules;
use crate::call::Call;
use crate::ctx::Ctx;
use crate::record::{EffectRecord, Kind};
use crate::reply;
use crate::stop::Stop;
use mle_star_domain::answers::{Retrieval, RetrievedModel};
use mle_star_domain::config::Switch;
use mle_star_domain::effects::{AgentReply, Answer, Lookup};
use mle_star_domain::place::{Name, Step};
use mle_star_domain::role::AgentType;

/// The names of the retriever's places: the first call, and the second one without search.
const FIRST_CALL: Name = Name::Agent(AgentType::Retriever);
const SECOND_CALL: Name = Name::Again(AgentType::Retriever, 2);

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
    let are_rules = are_rules(ctx.config());
    let search = ctx.config().search;
    let searches = !are_rules && search == Switch::On;
    let mut answer = retriever(ctx, FIRST_CALL, search).await?;
    let (lookups, mut asked) = (answer.lookups.clone(), vec![FIRST_CALL]);
    if searches && matches!(answer.answer, Answer::Failed { .. }) {
        let reason = reply::excerpt(&answer);
        ctx.warn(format!("the retriever failed with web search ({reason}); it is asked again without"));
        answer = retriever(ctx, SECOND_CALL, Switch::Off).await?;
        asked.push(SECOND_CALL);
    }
    let retrieval = match lookups.iter().any(|lookup| lookup.failure.is_none()) {
        _ if are_rules => Retrieval::Rules,
        true if searches && asked.len() == 1 => Retrieval::Web,
        _ => Retrieval::Knowledge,
    };
    if searches && asked.len() == 1 && retrieval == Retrieval::Knowledge {
        let failure = lookups.iter().find_map(|lookup| lookup.failure.as_ref());
        let failed = failure.map(|failure| format!("every web search failed: {failure}"));
        let why = failed.as_deref().unwrap_or("no web search by the retriever is known");
        ctx.warn(format!("{why}; the models come from what the retriever knows"));
    }
    match models_of(ctx, &answer) {
        Ok(mut models) => {
            let wanted = ctx.config().num_retrieved_models as usize;
            let others = match are_rules {
                true => models.split_off(wanted.min(models.len())),
                false => Vec::new(),
            };
            let models = first_models(ctx, models, "the retriever returned");
            Ok(Retrieved { models, others, retrieval, lookups })
        }
        Err(why) => {
            // The last one first, so that a resume asks again, whatever happens meanwhile.
            asked.iter().rev().try_for_each(|name| ctx.run.journal.void(&ctx.place().named(*name)))?;
            Err(Stop::NoSolution(why))
        }
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

/// The reply of the retriever, called at the place `name`. Without search it has no tools and answers from its own
/// knowledge. A refused call ends the run.
async fn retriever(ctx: &Ctx<'_>, name: Name, search: Switch) -> Result<AgentReply, Stop> {
    let mut inputs = json!({
        "task_description": ctx.task().description,
        "num_models": ctx.config().num_retrieved_models,
        "search": search == Switch::On,
    });
    if are_rules(ctx.config()) && ctx.config().ensemble_selection == Switch::On {
        // Models beyond M are tried after refinement.
        inputs["portfolio"] = json!(true);
    }
    let call = Call::new(AgentType::Retriever, "retriever.md", inputs)
        .named(name)
        .telling("time_limit", ctx.config().time_limit_seconds)
        .telling("baseline_seconds", baseline_seconds(ctx)?);
    let call = if search == Switch::On { call } else { Call { tools: &[], ..call } };
    let answer = ctx.ask(call).await?;
    match answer.answer {
        Answer::Refused { limit } => Err(Stop::Limit(limit)),
        Answer::Text { .. } | Answer::Failed { .. } => Ok(answer),
    }
}

/// The seconds that the scripts of the baseline took, as the journal has them.
fn baseline_seconds(ctx: &Ctx<'_>) -> Result<Vec<f64>, Stop> {
    let is_one = |run: &EffectRecord| matches!(run.place.step(), Some(Step::Baseline(_)));
    let runs = ctx.run.journal.ledger()?.into_iter();
    let runs = runs.filter(|run| run.kind == Kind::Script && run.counts() && is_one(run));
    Ok(runs.filter_map(|run| Some(run.elapsed_ended? - run.elapsed_begun)).collect())
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
