//! The final script, its requirements, and the inputs of the run.

use mle_star::journal::in_words;
use mle_star_domain::layout;
use serde_json::{Value, json};

use super::{Context, RunReport};
use crate::cut::{CODE, cut};
use crate::files;

/// The largest list of versions that is read, in bytes.
const MAX_REQUIREMENTS_BYTES: u64 = 1 << 20;

/// The final script, or the best one so far if the run has no result, and what repeats the run.
pub fn script(context: &Context<'_>, _: &RunReport) -> Option<Value> {
    let (frozen, result) = (&context.run.snapshot.frozen, context.result());
    let best = context.descent.best;
    let so_far = || best.and_then(|best| context.steps.at(best)?.text()).map(str::to_owned);
    let code = result.map(|result| result.final_solution.content.clone()).or_else(so_far);
    let name = format!("{}/{}", layout::FINAL, layout::REQUIREMENTS);
    let requirements = files::read(&context.run.folder, &name, MAX_REQUIREMENTS_BYTES).ok();
    Some(json!({
        "code": code.map(|code| cut(&code, CODE)),
        "is_final": result.is_some(),
        "origin": best,
        "contamination": result.and_then(|result| result.contamination),
        "requirements": requirements.filter(|_| result.is_some()),
        "agents": agents(context),
        "description": frozen.task.description,
        "task": serde_json::to_string_pretty(&frozen.task).unwrap_or_default(),
        "config": serde_json::to_string_pretty(&frozen.config).unwrap_or_default(),
        "own_prompts": own_prompts(context),
        "data_id": frozen.data_id,
        "made_with": in_words(&context.run.snapshot.made_with),
    }))
}

/// `claude` or `offline`, with the model.
fn agents(context: &Context<'_>) -> String {
    let config = &context.run.snapshot.frozen.config;
    let choice = serde_json::to_value(config.agents).ok();
    let name = choice.as_ref().and_then(|name| name.as_str()).unwrap_or_default().to_owned();
    let model = &config.model;
    if ["offline", "files"].contains(&name.as_str()) || model.is_empty() {
        name
    } else {
        format!("{name}, {model}")
    }
}

/// The templates that are not those of this version of the program.
fn own_prompts(context: &Context<'_>) -> Vec<String> {
    let frozen = context.run.snapshot.frozen.prompts.iter();
    let own = frozen.filter(|(name, text)| !mle_star::prompts::is_built_in(name, text));
    own.map(|(name, _)| name.clone()).collect()
}
