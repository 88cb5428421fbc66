//! Questions to the data plane outside a run.

use std::path::PathBuf;
use std::sync::Arc;

use mle_star_backends::script::executor::{Executor, ExecutorSetup};
use mle_star_backends::script::network;
use mle_star_backends::script::plane::Plane;
use mle_star_domain::config::{Config, Switch};
use mle_star_domain::trouble::Trouble;
use mle_star_offline::OfflineAgents;
use mle_star_process::machine::machine;
use mle_star_process::sandbox::Isolation;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tempfile::TempDir;

use crate::error::RunError;
use crate::python_environment::environment;

/// The answer to [`OfflineAgents::question_of_metric`].
#[derive(Deserialize)]
struct Source {
    source: String,
}

/// The text that scripts of the offline agents compute the metric with.
///
/// # Errors
/// There is no usable Python.
pub async fn source_of_metric(
    config: &Config,
    agents: &OfflineAgents,
    say: &(dyn Fn(&str) + Sync),
) -> Result<String, RunError> {
    let answer = ask(config, [], agents.question_of_metric(), say).await?;
    let why = "the text that scripts compute the metric with is unknown";
    let hint = "name another metric with --metric, or another interpreter with --python";
    answer
        .map(|Source { source }| source)
        .map_err(|error| Trouble::new(format!("{why}: {error}"), hint).into())
}

/// Asks one question about these files, with the settings of a run. The inner error says why there is no answer. If a Python
/// environment has to be created first, `say` is told.
///
/// # Errors
/// There is no usable Python.
pub async fn ask<T: DeserializeOwned>(
    config: &Config,
    files: impl IntoIterator<Item = PathBuf>,
    question: Value,
    say: &(dyn Fn(&str) + Sync),
) -> Result<Result<T, String>, RunError> {
    let folder = TempDir::new().map_err(|error| Trouble::io("write in", &std::env::temp_dir(), &error))?;
    let environment = environment(config.python.as_ref(), say).await?;
    let setup = ExecutorSetup {
        folder: folder.path().to_owned(),
        environment: environment.clone(),
        machine: machine().await,
        slots: 1,
        memory_limit_mib: config.memory_limit_mb,
        isolation: Isolation::new(network(Switch::Off)),
        warm_start: None,
    };
    let executor = Executor::new(setup, &[]).map_err(RunError::failed)?;
    let plane = Plane::new(Arc::new(executor), environment, folder.path(), files);
    match plane.map_err(RunError::failed)?.ask(question).await {
        Ok(answer) => Ok(Ok(answer)),
        Err(unanswered) => Ok(Err(unanswered.reason()?)),
    }
}
