//! Isolated scripts outside a run, such as those that predict new rows.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mle_star::traceback::fails_while_saving;
use mle_star_backends::backend::{KEEPS_MODEL, MAX_MODEL_BYTES};
use mle_star_backends::script::environment::Environment;
use mle_star_backends::script::executor::{Execution, Executor, ExecutorSetup, Job, Workplace};
use mle_star_backends::script::network;
use mle_star_domain::config::Config;
use mle_star_domain::layout;
use mle_star_domain::trouble::Trouble;
use mle_star_process::machine::machine;
use mle_star_process::sandbox::Isolation;

use crate::error::RunError;

/// Nobody waits longer; who does not want to wait presses Ctrl-C.
pub const MAX_TIMEOUT: Duration = Duration::from_secs(30 * 24 * 3600);

/// Runs scripts with the settings of a run.
pub struct IsolatedScripts {
    executor: Executor,
    folder: PathBuf,
    closed: Vec<PathBuf>,
}

impl IsolatedScripts {
    /// Scripts run below `folder`, and cannot read the `closed` folders.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub async fn new(
        folder: &Path,
        config: &Config,
        closed: &[PathBuf],
        environment: Environment,
    ) -> Result<Self, RunError> {
        let isolation = Isolation::new(network(config.network));
        let setup = ExecutorSetup::single(folder.to_owned(), environment, machine().await, isolation);
        let setup = ExecutorSetup { memory_limit_mib: config.memory_limit_mb, ..setup };
        let executor = Executor::new(setup, closed).map_err(RunError::failed)?;
        Ok(Self { executor, folder: folder.to_owned(), closed: closed.to_vec() })
    }

    /// Runs a script with this data, and returns a copy of its submission, and what it printed. With `may_fail_later`, the
    /// submission counts if the script fails while it saves its model.
    ///
    /// # Errors
    /// The script failed, or wrote no submission.
    pub async fn submission(
        &self,
        script: &str,
        data: &Path,
        longest: Duration,
        may_fail_later: bool,
    ) -> Result<(PathBuf, String), RunError> {
        let (executed, workplace) = self.execute(script, data, longest, false).await?;
        let saves = |traceback: &String| may_fail_later && fails_while_saving(script, traceback);
        if executed.outcome.is_error() && !executed.outcome.traceback.as_ref().is_some_and(saves) {
            return Err(cannot_predict(&executed.outcome.headline()));
        }
        let written = workplace.output(layout::SUBMISSION);
        let written = written.map_err(|error| RunError::failed(Trouble::io("read", data, &error)))?;
        let written = written.map_err(|why| cannot_predict(&why))?;
        let mut written =
            written.ok_or_else(|| cannot_predict(&format!("it wrote no {}", layout::SUBMISSION)))?;
        let kept = self.folder.join("written.csv");
        let copied = File::create(&kept).and_then(|mut file| io::copy(&mut written, &mut file));
        copied.map_err(|error| RunError::failed(Trouble::io("write", &kept, &error)))?;
        Ok((kept, executed.outcome.stdout.text()))
    }

    /// Runs a script with this data, and returns a copy of the fitted model that it kept.
    ///
    /// # Errors
    /// The script failed, or kept none.
    pub async fn model(&self, script: &str, data: &Path, longest: Duration) -> Result<PathBuf, RunError> {
        let (executed, workplace) = self.execute(script, data, longest, script.contains(KEEPS_MODEL)).await?;
        if executed.outcome.is_error() {
            return Err(no_model(&executed.outcome.headline()));
        }
        let kept = self.folder.join("model");
        let taken = workplace.take_model(&kept, MAX_MODEL_BYTES);
        let taken = taken.map_err(|error| no_model(&error.to_string()))?;
        taken.map(|_| kept).ok_or_else(|| no_model("it kept none"))
    }

    async fn execute(
        &self,
        script: &str,
        data: &Path,
        longest: Duration,
        keeps_model: bool,
    ) -> Result<(Execution, Workplace), RunError> {
        let shown = self.executor.prepare_input(data, &self.closed).map_err(RunError::failed)?;
        let job = Job {
            stem: "predict".to_owned(),
            script: script.to_owned(),
            timeout: longest,
            slot: 0,
            may_be_warm: false,
            modules: Vec::new(),
            keeps_model,
            heard: None,
        };
        self.executor.execute(&job, Arc::new(shown)).await.map_err(RunError::failed)
    }
}

fn cannot_predict(why: &str) -> RunError {
    let why = why.trim_end_matches('.');
    let message = format!("the script of the run does not predict these rows: {why}");
    RunError::failed(Trouble::new(message, "compare the rows with those of the run's test table"))
}

fn no_model(why: &str) -> RunError {
    let message = format!("the script ran once more for its model: {}", why.trim_end_matches('.'));
    RunError::failed(Trouble::new(message, "the solution fits again for other rows"))
}
