//! The models that were tried, where they come from, and what was looked up for them.
//!
//! Everything here was written by others, pages of the web among them: it is shown as text, and only plain
//! `http` and `https` addresses become links.

use mle_star::agents::Retrieval;
use mle_star::effects::Lookup;
use mle_star::result::Phase1Result;
use mle_star::search::is_link;
use serde::Serialize;

use crate::watch::number;

/// What the report says of retrieval.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Models {
    /// Where the models come from, in words.
    origin: &'static str,
    models: Vec<Model>,
    lookups: Vec<Looked>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct Model {
    name: String,
    /// That of the candidate written for it; empty when it has none.
    score: String,
    sources: Vec<Source>,
}

/// A page that the agent named for a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Source {
    text: String,
    is_link: bool,
    /// Was it opened in this run?
    was_read: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Looked {
    tool: String,
    what: String,
    is_link: bool,
    /// What went wrong; empty when nothing did.
    failure: String,
}

/// Of Phase 1's result.
pub fn models(phase1: &Phase1Result) -> Models {
    let scores = phase1.candidate_scores.iter().copied().chain(std::iter::repeat(None));
    let models = phase1.retrieved_models.iter().zip(scores).map(|(model, score)| Model {
        name: model.model_name.clone(),
        score: score.map(number).unwrap_or_default(),
        sources: model.sources.iter().map(|source| self::source(source, &phase1.lookups)).collect(),
    });
    Models {
        origin: origin(phase1.retrieval),
        models: models.collect(),
        lookups: phase1.lookups.iter().map(looked).collect(),
    }
}

fn origin(retrieval: Retrieval) -> &'static str {
    match retrieval {
        Retrieval::Web => "Found by the retriever on the web.",
        Retrieval::Knowledge => "From what the language model knows; nothing on the web went into them.",
        Retrieval::File => "Given by hand; the retriever was not asked.",
        Retrieval::Rules => "Picked by the rules of the offline agents.",
    }
}

fn source(text: &str, lookups: &[Lookup]) -> Source {
    let was_read = lookups.iter().any(|lookup| lookup.what == text && lookup.failure.is_none());
    Source { text: text.to_owned(), is_link: is_link(text), was_read }
}

fn looked(lookup: &Lookup) -> Looked {
    Looked {
        tool: lookup.tool.clone(),
        what: lookup.what.clone(),
        is_link: is_link(&lookup.what),
        failure: lookup.failure.clone().unwrap_or_default(),
    }
}
