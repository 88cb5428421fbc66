//! Line 1 of Algorithm 1: the models to try, found on the web, known to the retriever, or provided by the user.

use crate::agents::{self, Search};
use crate::ctx::Ctx;
use crate::stop::Stop;
use mle_star_domain::answers::{Retrieval, RetrievedModel};
use mle_star_domain::config::{AgentsChoice, Switch};
use mle_star_domain::effects::{AgentReply, Answer, Lookup};
use mle_star_domain::place::Name;
use mle_star_domain::role::AgentType;

/// The names of the retriever's places: the first call, and the second one without search.
const FIRST: Name = Name::Agent(AgentType::Retriever);
const AGAIN: Name = Name::Again(AgentType::Retriever, 2);

/// The models and their source.
pub(super) struct Retrieved {
    /// At least one, at most M.
    pub models: Vec<RetrievedModel>,
    /// More models, to try after refinement. Only offline agents name them.
    pub others: Vec<RetrievedModel>,
    pub retrieval: Retrieval,
    /// The web searches and fetches made for them.
    pub lookups: Vec<Lookup>,
}

/// The models that the user provided, otherwise the retriever's. Without any model the run ends, and a resume asks
/// again.
pub(super) async fn retrieve(ctx: &Ctx<'_>) -> Result<Retrieved, Stop> {
    if let Some(models) = ctx.models_by_hand() {
        let models = first_models(ctx, models.to_vec(), "retrieved_models holds");
        return Ok(Retrieved { models, others: Vec::new(), retrieval: Retrieval::File, lookups: Vec::new() });
    }
    let asked = ask(ctx).await?;
    match agents::models_of(ctx, &asked.answer) {
        Ok(mut models) => {
            let wanted = ctx.config().num_retrieved_models as usize;
            let others = match ctx.config().agents {
                AgentsChoice::Offline => models.split_off(wanted.min(models.len())),
                _ => Vec::new(),
            };
            let models = first_models(ctx, models, "the retriever returned");
            Ok(Retrieved { models, others, retrieval: asked.retrieval, lookups: asked.lookups })
        }
        Err(why) => {
            asked.at.iter().try_for_each(|name| ctx.forget(*name))?;
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
    let answer = unless_refused(agents::retriever(ctx, FIRST, search).await?)?;
    let (lookups, at) = (answer.lookups.clone(), &[FIRST]);
    let asked = |retrieval| Asked { answer, retrieval, lookups, at };
    if ctx.config().agents == AgentsChoice::Offline {
        return Ok(asked(Retrieval::Rules));
    }
    let asked = asked(Retrieval::Knowledge);
    if search == Search::Forbidden {
        return Ok(asked);
    }
    if let Some(reason) = agents::failure(&asked.answer) {
        ctx.warn(format!("the retriever failed with web search ({reason}); it is asked again without"));
        let answer = unless_refused(agents::retriever(ctx, AGAIN, Search::Forbidden).await?)?;
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
        None => "the retriever searched nothing on the web".to_owned(),
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
