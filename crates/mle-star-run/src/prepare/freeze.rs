//! The last stage of preparing a run: freezes its inputs in a new run folder.

use std::collections::BTreeMap;
use std::path::PathBuf;

use mle_star::journal::{Frozen, Journal, Opening};
use mle_star_domain::config::Context;
use mle_star_domain::trouble::Trouble;
use mle_star_offline::OfflineAgents;
use mle_star_tables::digest::digest;
use serde_json::{Value, json};

use super::Prepared;
use super::intake::Intake;
use super::metric_trial::try_own_metric;
use super::summary::described;
use crate::error::RunError;
use crate::open_run::{OpenRun, first_opening};
use crate::provider;
use crate::python_environment::Say;
use crate::runs::{self, absolute, inputs};
use crate::seen::Seen;

/// Writes the inputs into a new run folder and creates its journal.
#[expect(clippy::too_many_lines, reason = "the inputs, one after another")]
pub fn freeze(mut prepared: Prepared, say: Say<'_>) -> Result<OpenRun, RunError> {
    let rules = prepared.rules()?;
    let (profile, protocol) = (prepared.profile.as_ref(), prepared.protocol.as_ref());
    let own = provider::own_rules(&prepared.task, &prepared.config, profile, protocol);
    let tried = try_own_metric(&mut prepared.task, profile, protocol, &prepared.intake.questions)?;
    let Prepared { mut task, config, invocation, prompts, retrieved_models, learned, chosen, .. } = prepared;
    let (mut protocol, guesses, sources) = (prepared.protocol, prepared.guesses, prepared.sources);
    let linked_tables = prepared.profile.as_ref().is_some_and(|profile| !profile.relations.links.is_empty());
    let data_id = digest(&task.data_dir)?;
    // Before the run has a folder: others take a folder with a lock for a run that goes on.
    let source = source_of_metric(rules.as_ref().or(own.as_ref()), &prepared.intake)?;
    let runs_dir = invocation.runs_dir.clone().unwrap_or_else(|| PathBuf::from(runs::DEFAULT_DIR));
    let now = jiff::Zoned::now();
    let claimed = runs::claim(&runs_dir, invocation.run_id.as_deref(), &task.competition_id, &now)?;
    let rules = rules.map(|agents| agents.with_metric(source.clone()));
    if let (Some(protocol), Some(own), Some(_)) = (&mut protocol, own, &source) {
        protocol.baselines = own.with_metric(source.clone()).baselines()?;
    }
    let run_id = claimed.id;
    let (intake, profile) = (prepared.intake, prepared.profile);
    let folder = claimed.hold.folder().to_owned();
    let facts = prepared.facts.unwrap_or_default();
    let is_full = config.context == Context::Full;
    let described = is_full.then(|| described(&facts, protocol.as_ref(), intake.instead()));
    let seen = Seen { folder: &folder, task: &task, config: &config, protocol: protocol.as_ref() };
    let of_given = described.as_ref().filter(|_| seen.is_given());
    let summary = of_given.map(|described| description(described, &intake)).transpose()?.flatten();
    let kept = intake.keep(&folder);
    let kept = kept.map_err(|error| RunError::failed(inputs::unwritable(&folder, &error)))?;
    let own = kept.is_some();
    if let Some(data) = kept {
        task.data_dir = data;
    }
    let seen = Seen { folder: &folder, task: &task, config: &config, protocol: protocol.as_ref() };
    let made = seen.make(&facts, Some(&intake.questions).filter(|_| !own), described.as_ref(), say)?;
    let data_summary = summary.or(made);
    let prompts_of_run = prompts.texts().clone();
    let features = rules.as_ref().and_then(OfflineAgents::features);
    let guessed = guesses.iter().map(|guess| format!("  {guess}"));
    let opening = Opening {
        said: sources.into_iter().chain(tried).collect(),
        details: prepared.details.into_iter().chain(features).chain(guessed).collect(),
    };
    let frozen = Frozen {
        run_id,
        task,
        config,
        prompts: prompts_of_run,
        retrieved_models,
        learned,
        data_id,
        protocol,
        data_summary,
        linked_tables,
        metric_source: source,
        opening,
    };
    inputs::write_facts(&folder, &facts).map_err(RunError::failed)?;
    inputs::write(&folder, &frozen).map_err(RunError::failed)?;
    inputs::write_runners(&folder, &invocation.runners).map_err(RunError::failed)?;
    let journal = Journal::create_in(claimed.hold, &frozen).map_err(|error| RunError::journal(&error))?;
    let opening = first_opening(&folder, &frozen);
    let runners = invocation.runners;
    Ok(OpenRun {
        folder,
        frozen,
        prompts,
        journal,
        chosen,
        rules,
        profile,
        facts: Some(facts),
        runners,
        opening,
    })
}

/// The text that scripts of these agents compute the metric with.
fn source_of_metric(agents: Option<&OfflineAgents>, intake: &Intake) -> Result<Option<String>, RunError> {
    let Some(agents) = agents else { return Ok(None) };
    let hint = "name another metric with --metric, or another interpreter with --python";
    let unknown = |why| Trouble::new(format!("scripts cannot compute the metric: {why}"), hint);
    let mut answer: BTreeMap<String, String> =
        intake.questions.try_ask(agents.question_of_metric())?.map_err(unknown)?;
    Ok(answer.remove("source"))
}

/// What agents are told of data that scripts see as it was given.
fn description(described: &Value, intake: &Intake) -> Result<Option<String>, RunError> {
    let mut question = described.clone();
    (question["question"], question["folder"]) = (json!("describe"), json!(absolute(&intake.folder())?));
    Ok(intake.questions.ask::<BTreeMap<String, String>>(question)?.remove("text"))
}
