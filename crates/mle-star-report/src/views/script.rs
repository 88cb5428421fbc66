//! The final script, its requirements, and the inputs of the run.

use mle_star::journal::in_words;
use mle_star_domain::answers::Contamination;
use mle_star_domain::layout;
use serde::Serialize;

use super::context::Context;
use crate::cut::{CODE, PROSE, cut};
use crate::files;

/// The largest list of versions that is read, in bytes.
const LARGEST_REQUIREMENTS: u64 = 1 << 20;

/// The last part of a run's page.
#[derive(Clone, Debug, Serialize)]
pub struct Script {
    /// The final script; the best one so far if the run has no result.
    pub code: Option<String>,
    /// Whether it is the script of the result.
    pub is_final: bool,
    /// Its step, for people.
    pub origin: Option<String>,
    /// Whether it is a copy of a reference, if that was checked.
    pub contamination: Option<&'static str>,
    /// Exact versions of the libraries it imports.
    pub requirements: Option<String>,
    /// The command that repeats the run from its folder.
    pub command: String,
    /// The agents: `claude` or `offline`, with the model.
    pub agents: String,
    /// The frozen task.
    pub task: String,
    /// The frozen configuration.
    pub config: String,
    /// The templates that are not those of this version of the program.
    pub own_prompts: Vec<String>,
    /// A digest of the data folder.
    pub data_id: String,
    /// The program versions of the run and its resumes.
    pub made_with: String,
}

/// Creates the view of a run.
pub fn script(context: &Context<'_>) -> Script {
    let frozen = &context.run.snapshot.frozen;
    let result = context.result();
    let best = context.descent.best;
    let code = last(context);
    let contamination = result.and_then(|result| result.contamination).map(|verdict| match verdict {
        Contamination::Novel => "not a copy of any of the given discussions",
        Contamination::Same => "the same as one of the given discussions",
    });
    let name = format!("{}/{}", layout::FINAL, layout::REQUIREMENTS);
    let requirements = files::read(&context.run.folder, &name, LARGEST_REQUIREMENTS).ok();
    Script {
        code: code.map(|code| cut(&code, CODE)),
        is_final: result.is_some(),
        origin: best.map(|best| crate::words::place_name(&best.place())),
        contamination,
        requirements: requirements.filter(|_| result.is_some()).map(|text| cut(&text, PROSE)),
        command: command(context),
        agents: agents(context),
        task: cut(&serde_json::to_string_pretty(&frozen.task).unwrap_or_default(), PROSE),
        config: cut(&serde_json::to_string_pretty(&frozen.config).unwrap_or_default(), PROSE),
        own_prompts: own_prompts(context),
        data_id: frozen.data_id.clone(),
        made_with: in_words(&context.run.snapshot.made_with),
    }
}

/// The complete final script; the best one so far if the run has no result.
pub(super) fn last(context: &Context<'_>) -> Option<String> {
    let best = context.descent.best;
    let so_far = best.and_then(|best| context.steps.at(best)?.text()).map(str::to_owned);
    context.result().map(|result| result.final_solution.content.clone()).or(so_far)
}

fn command(context: &Context<'_>) -> String {
    let prompts = if own_prompts(context).is_empty() { "" } else { " --prompts prompts" };
    format!("mle-star run task.json --config config.json{prompts}")
}

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

fn own_prompts(context: &Context<'_>) -> Vec<String> {
    let frozen = context.run.snapshot.frozen.prompts.iter();
    let own = frozen.filter(|(name, text)| !mle_star::prompts::is_built_in(name, text));
    own.map(|(name, _)| name.clone()).collect()
}
