//! Questions to the data plane outside a run.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mle_star_backends::script::environment::Environment;
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

use crate::error::{ErrorKind, RunError};
use crate::python_environment::{Say, environment};

/// The text that scripts of these agents compute the metric with; `None` if there are none, or the interpreter cannot be used, which
/// is said when scripts are to run. If a Python environment has to be created first, `say` is told.
///
/// # Errors
/// The environment cannot be created, or lacks what scores are computed with.
pub async fn source_of_metric(
    config: &Config,
    agents: Option<&OfflineAgents>,
    say: Say<'_>,
) -> Result<Option<String>, RunError> {
    let Some(agents) = agents else { return Ok(None) };
    let environment = match environment(config.python.as_ref(), say).await {
        Err(RunError { kind: ErrorKind::Input, .. }) => return Ok(None),
        found => found?,
    };
    let answer = asked(config, environment, [], agents.question_of_metric()).await?;
    let hint = "name another metric with --metric, or another interpreter with --python";
    let unknown = |why| Trouble::new(format!("scripts cannot compute the metric: {why}"), hint);
    let mut answer: HashMap<String, String> = answer.map_err(unknown)?;
    Ok(answer.remove("source"))
}

/// How long an answer may take.
const ANSWERING: Duration = Duration::from_secs(900);

/// Asks one question about these files, with the settings of a run. The inner error says why there is no answer.
///
/// # Errors
/// There is no usable Python.
pub async fn ask<T: DeserializeOwned>(
    config: &Config,
    files: impl IntoIterator<Item = PathBuf>,
    question: Value,
) -> Result<Result<T, String>, RunError> {
    asked(config, environment(config.python.as_ref(), &|_| ()).await?, files, question).await
}

async fn asked<T: DeserializeOwned>(
    config: &Config,
    environment: Environment,
    files: impl IntoIterator<Item = PathBuf>,
    question: Value,
) -> Result<Result<T, String>, RunError> {
    let folder = TempDir::new().map_err(|error| Trouble::io("write in", &std::env::temp_dir(), &error))?;
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
    let answered = plane.map_err(RunError::failed)?.ask(question, Instant::now() + ANSWERING).await;
    answered.map(Ok).or_else(|unanswered| Ok(Err(unanswered.reason()?)))
}
