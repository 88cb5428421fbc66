//! Questions to the data plane outside a run.

use std::collections::HashMap;
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
use serde::de::DeserializeOwned;
use serde_json::Value;
use tempfile::TempDir;

use crate::error::RunError;
use crate::python_environment::{Say, environment};
use crate::runtime::wait_for;

/// The text that scripts of these agents compute the metric with. Must not be called from asynchronous code.
///
/// # Errors
/// There is no usable Python.
pub fn source_of_metric(
    config: &Config,
    agents: Option<&OfflineAgents>,
    say: Say<'_>,
) -> Result<Option<String>, RunError> {
    let Some(agents) = agents else { return Ok(None) };
    let answer = wait_for(ask::<HashMap<String, String>>(config, [], agents.question_of_metric(), say))??;
    let hint = "name another metric with --metric, or another interpreter with --python";
    let unknown = |why| Trouble::new(format!("scripts cannot compute the metric: {why}"), hint);
    Ok(answer.map_err(unknown)?.remove("source"))
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
    say: Say<'_>,
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
