//! Questions to the data plane outside a run.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mle_star_backends::script::executor::{Executor, ExecutorSetup};
use mle_star_backends::script::network;
use mle_star_backends::script::plane::Plane;
use mle_star_domain::config::{Config, Switch};
use mle_star_domain::trouble::Trouble;
use mle_star_process::machine::machine;
use mle_star_process::sandbox::Isolation;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tempfile::TempDir;

use crate::error::RunError;
use crate::python_environment::environment;

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
    let folder = TempDir::new().map_err(|error| Trouble::io("write in", &std::env::temp_dir(), &error))?;
    let environment = environment(config.python.as_ref(), &|_| ()).await?;
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
