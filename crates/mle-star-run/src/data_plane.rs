//! Clients of the data plane outside a run: a Python process that opens tables and answers questions about them.

use std::io;
use std::path::{self, Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use mle_star_backends::script::executor::{Executor, ExecutorSetup};
use mle_star_backends::script::plane::{Plane, PlaneError};
use mle_star_domain::config::Config;
use mle_star_domain::trouble::Trouble;
use mle_star_process::machine::machine;
use mle_star_process::sandbox::{Isolation, Network};
use mle_star_tables::walk::walk;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

use crate::error::RunError;
use crate::python_environment::{Say, environment_of_plane};
use crate::runtime::cannot_start;

/// The most time that an answer may take.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(900);

/// A client of the data plane, whose process starts with the first question.
#[derive(Debug)]
pub struct PlaneClient {
    plane: Plane,
}

impl PlaneClient {
    /// A client whose process works in `folder` and may read these files, too, with the settings of a run.
    ///
    /// # Errors
    /// There is no usable Python.
    pub async fn open(
        config: &Config,
        folder: &Path,
        files: impl IntoIterator<Item = PathBuf>,
        say: Say<'_>,
    ) -> Result<Self, RunError> {
        let environment = environment_of_plane(config.python.as_ref(), say).await?;
        let isolation = Isolation::new(Network::Denied);
        let setup = ExecutorSetup::single(folder.to_owned(), environment.clone(), machine().await, isolation);
        let setup = ExecutorSetup { memory_limit_mib: config.memory_limit_mb, ..setup };
        let executor = Arc::new(Executor::new(setup, &[]).map_err(RunError::failed)?);
        let plane = Plane::new(executor, environment, folder, files).map_err(RunError::failed)?;
        Ok(Self { plane })
    }

    /// Asks one question. The inner error says why there is no answer.
    ///
    /// # Errors
    /// The data is wrong in the way that the answer says.
    pub async fn try_ask<T: DeserializeOwned>(&self, question: Value) -> Result<Result<T, String>, RunError> {
        match self.plane.ask(question, ends()).await {
            Ok(answer) => Ok(Ok(answer)),
            Err(PlaneError::Refused(trouble)) => Err(trouble.into()),
            Err(unanswered) => Ok(Err(unanswered.reason()?)),
        }
    }

    /// Asks one question.
    ///
    /// # Errors
    /// What was asked about is wrong, or there is no answer.
    pub async fn ask<T: DeserializeOwned>(&self, question: Value) -> Result<T, RunError> {
        self.plane.ask(question, ends()).await.map_err(plane_error)
    }

    /// As [`PlaneClient::ask`], for a question whose answer is also a file or a folder, which is moved to `into`, on the file system of
    /// the folder.
    ///
    /// # Errors
    /// As [`PlaneClient::ask`], or `into` cannot be written.
    pub async fn ask_for<T: DeserializeOwned>(&self, question: Value, into: &Path) -> Result<T, RunError> {
        self.plane.ask_for(question, into, ends()).await.map_err(plane_error)
    }
}

fn ends() -> Instant {
    Instant::now() + ANSWER_TIMEOUT
}

fn plane_error(unanswered: PlaneError) -> RunError {
    if let PlaneError::Refused(trouble) = unanswered {
        return trouble.into();
    }
    let why = unanswered.reason();
    why.map_or_else(Into::into, |why| {
        Trouble::new(why, "check the files, or report a defect of mle-star").into()
    })
}

/// A [`PlaneClient`] for synchronous code.
#[derive(Debug)]
pub struct BlockingPlaneClient {
    plane: PlaneClient,
    runtime: Runtime,
}

impl BlockingPlaneClient {
    /// As [`PlaneClient::open`].
    ///
    /// # Errors
    /// There is no usable Python.
    pub fn open(
        config: &Config,
        folder: &Path,
        files: impl IntoIterator<Item = PathBuf>,
        say: Say<'_>,
    ) -> Result<Self, RunError> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| cannot_start(&error))?;
        let plane = runtime.block_on(PlaneClient::open(config, folder, files, say))?;
        Ok(Self { plane, runtime })
    }

    /// As [`PlaneClient::ask`].
    ///
    /// # Errors
    /// What was asked about is wrong, or there is no answer.
    pub fn ask<T: DeserializeOwned>(&self, question: Value) -> Result<T, RunError> {
        self.runtime.block_on(self.plane.ask(question))
    }

    /// As [`PlaneClient::try_ask`].
    ///
    /// # Errors
    /// As [`PlaneClient::try_ask`].
    pub fn try_ask<T: DeserializeOwned>(&self, question: Value) -> Result<Result<T, String>, RunError> {
        self.runtime.block_on(self.plane.try_ask(question))
    }

    /// As [`PlaneClient::ask_for`].
    ///
    /// # Errors
    /// As [`PlaneClient::ask_for`].
    pub fn ask_for<T: DeserializeOwned>(&self, question: Value, into: &Path) -> Result<T, RunError> {
        self.runtime.block_on(self.plane.ask_for(question, into))
    }
}

/// Asks one question about these files, with the settings of a run. The inner error says why there is no answer.
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
    PlaneClient::open(config, folder.path(), files, say).await?.try_ask(question).await
}

/// A table file or a folder, and what links in it lead to.
///
/// # Errors
/// The data cannot be read.
pub fn readable(data: &Path) -> Result<Vec<PathBuf>, Trouble> {
    let read = || -> io::Result<Vec<PathBuf>> {
        // The path itself may lead through a link.
        let mut files = vec![path::absolute(data)?, data.canonicalize()?];
        if data.is_dir() {
            files.extend(walk(data)?.linked(&[]).iter().filter_map(|link| link.canonicalize().ok()));
        }
        Ok(files)
    };
    read().map_err(|error| Trouble::io("read", data, &error))
}
