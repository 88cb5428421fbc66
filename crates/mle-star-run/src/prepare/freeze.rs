//! The last stage of preparing a run: freezes its inputs in a new run folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mle_star::journal::{Frozen, Journal};
use mle_star_domain::config::Context;
use mle_star_domain::protocol::{Protocol, Split};
use mle_star_domain::trouble::Trouble;
use mle_star_offline::OfflineAgents;
use mle_star_tables::digest::digest;
use serde_json::{Value, json};

use super::intake::Intake;
use super::metric_trial::try_own_metric;
use super::{Data, Prepared, RunSettings};
use crate::data_folders::DataFolders;
use crate::error::RunError;
use crate::open_run::{OpenRun, first_opening};
use crate::provider;
use crate::python_environment::Say;
use crate::runs::{self, absolute, inputs};

/// Writes the inputs into a new run folder and creates its journal.
pub fn freeze(prepared: Prepared, say: Say<'_>) -> Result<OpenRun, RunError> {
    let rules = prepared.rules()?;
    let Prepared { mut task, configured, chosen, data, mut protocol, intake, guesses, mut opening } =
        prepared;
    let RunSettings { config, invocation, prompts, retrieved_models, learned, .. } = configured;
    let profile = data.profile.as_ref();
    let own = provider::baseline_agents(&task, &config, profile, protocol.as_ref());
    let tried = try_own_metric(&mut task, profile, protocol.as_ref(), &intake.plane)?;
    let data_id = digest(&task.data_dir)?;
    // Before the run has a folder: others take a folder with a lock for a run that goes on.
    let metric_source = source_of_metric(rules.as_ref().or(own.as_ref()), &intake)?;
    let rules = rules.map(|agents| agents.with_metric(metric_source.clone()));
    if let (Some(protocol), Some(own), Some(_)) = (&mut protocol, own, &metric_source) {
        protocol.baselines = own.with_metric(metric_source.clone()).baselines()?;
    }
    let features = rules.as_ref().and_then(OfflineAgents::features);
    opening.said.extend(tried);
    opening.details.extend(features.into_iter().chain(guesses.iter().map(|guess| format!("  {guess}"))));
    let runs_dir = invocation.runs_dir.clone().unwrap_or_else(|| PathBuf::from(runs::DEFAULT_DIR));
    let now = jiff::Zoned::now();
    let claimed = runs::claim(&runs_dir, invocation.run_id.as_deref(), &task.competition_id, &now)?;
    let folder = claimed.hold.folder().to_owned();
    let mut frozen = Frozen {
        run_id: claimed.id,
        task,
        config,
        prompts: prompts.texts().clone(),
        retrieved_models,
        learned,
        data_id,
        protocol,
        data_summary: None,
        linked_tables: profile.is_some_and(|profile| !profile.relations.links.is_empty()),
        metric_source,
        opening,
    };
    let runners = invocation.runners;
    frozen.data_summary = make_folders(&folder, &mut frozen, (&data, &intake), say)?;
    inputs::write_facts(&folder, &data.facts).map_err(RunError::failed)?;
    inputs::write(&folder, &frozen).map_err(RunError::failed)?;
    inputs::write_runners(&folder, &runners).map_err(RunError::failed)?;
    let journal = Journal::create_in(claimed.hold, &frozen).map_err(|error| RunError::journal(&error))?;
    let opening = first_opening(&folder, &frozen);
    Ok(OpenRun { folder, frozen, prompts, journal, chosen, rules, data, runners, opening })
}

/// Moves the data that was made into the folder of the run, and makes what scripts see of it. Returns what agents are told of that.
fn make_folders(
    folder: &Path,
    frozen: &mut Frozen,
    (data, intake): (&Data, &Intake),
    say: Say<'_>,
) -> Result<Option<String>, RunError> {
    let is_full = frozen.config.context == Context::Full;
    let described =
        is_full.then(|| description_question(&data.facts, frozen.protocol.as_ref(), intake.instead()));
    let question = described.as_ref().filter(|_| DataFolders { folder, frozen }.is_given());
    let summary = question.map(|described| describe(described, intake)).transpose()?.flatten();
    let kept = intake.keep(folder);
    let kept = kept.map_err(|error| RunError::failed(inputs::unwritable(folder, &error)))?;
    // What was moved, the process cannot read.
    let plane = Some(&intake.plane).filter(|_| kept.is_none());
    if let Some(data_dir) = kept {
        frozen.task.data_dir = data_dir;
    }
    let made = DataFolders { folder, frozen }.make(&data.facts, plane, described.as_ref(), say)?;
    Ok(summary.or(made))
}

/// The text that scripts of these agents compute the metric with.
fn source_of_metric(agents: Option<&OfflineAgents>, intake: &Intake) -> Result<Option<String>, RunError> {
    let Some(agents) = agents else { return Ok(None) };
    let hint = "name another metric with --metric, or another interpreter with --python";
    let unknown = |why| Trouble::new(format!("scripts cannot compute the metric: {why}"), hint);
    let mut answer: BTreeMap<String, String> =
        intake.plane.try_ask(agents.question_of_metric())?.map_err(unknown)?;
    Ok(answer.remove("source"))
}

/// What agents are told of data that scripts see as it was given.
fn describe(described: &Value, intake: &Intake) -> Result<Option<String>, RunError> {
    let mut question = described.clone();
    (question["question"], question["folder"]) = (json!("describe"), json!(absolute(&intake.folder())?));
    Ok(intake.plane.ask::<BTreeMap<String, String>>(question)?.remove("text"))
}

/// What a description of the data, as scripts of the search see it, depends on.
fn description_question(
    facts: &Value,
    protocol: Option<&Protocol>,
    instead: Vec<(PathBuf, PathBuf)>,
) -> Value {
    // Where series end at times of their own, periods count in stretches and say nothing about a length of time.
    let is_common = |protocol: &&Protocol| !protocol.split.as_ref().is_some_and(Split::has_own_ends);
    let periods = protocol.filter(is_common).and_then(|protocol| protocol.periods.as_ref());
    let period = periods.map(|periods| periods.held_out.as_ref().unwrap_or(&periods.test).at);
    let mut facts = facts.clone();
    facts["period"] = json!(period);
    let instead: BTreeMap<PathBuf, PathBuf> = instead.into_iter().collect();
    json!({ "facts": facts, "instead": instead })
}
