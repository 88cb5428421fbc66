//! Runs one script as a run does, outside a run.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mle_star::traceback::fails_while_saving;
use mle_star_backends::backend::{KEEPS_MODEL, MOST_OF_A_MODEL};
use mle_star_backends::script::environment::Environment;
use mle_star_backends::script::executor::{Executed, Executor, ExecutorSetup, Job, Workplace};
use mle_star_backends::script::network;
use mle_star_domain::config::Config;
use mle_star_domain::layout;
use mle_star_domain::trouble::Trouble;
use mle_star_process::machine::machine;
use mle_star_process::sandbox::Isolation;

use crate::error::RunError;
use crate::python_environment::environment;

/// Nobody waits longer; who does not want to wait presses Ctrl-C.
pub const LONGEST: Duration = Duration::from_secs(30 * 24 * 3600);

/// Runs scripts with the settings of a run.
pub struct Isolated {
    executor: Executor,
    folder: PathBuf,
    closed: Vec<PathBuf>,
}

impl Isolated {
    /// Scripts run below `folder`, and cannot read the `closed` folders.
    ///
    /// # Errors
    /// There is no usable Python, or the folder cannot be written.
    pub async fn new(
        folder: &Path,
        config: &Config,
        closed: &[PathBuf],
        say: &(dyn Fn(&str) + Sync),
    ) -> Result<Self, RunError> {
        let environment = environment(config.python.as_ref(), say).await?;
        Self::with(folder, config, closed, environment).await
    }

    /// As [`Isolated::new`], with an interpreter that is known.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub async fn with(
        folder: &Path,
        config: &Config,
        closed: &[PathBuf],
        environment: Environment,
    ) -> Result<Self, RunError> {
        let setup = ExecutorSetup {
            folder: folder.to_owned(),
            environment,
            machine: machine().await,
            slots: 1,
            memory_limit_mib: config.memory_limit_mb,
            isolation: Isolation::new(network(config.network)),
            warm_start: None,
        };
        let executor = Executor::new(setup, closed).map_err(RunError::failed)?;
        Ok(Self { executor, folder: folder.to_owned(), closed: closed.to_vec() })
    }

    /// Runs a script with this data, and returns a copy of the file that it wrote in `./final`, and what it printed.
    ///
    /// # Errors
    /// The script failed, or wrote no such file.
    pub async fn run(
        &self,
        script: &str,
        data: &Path,
        wanted: &str,
        longest: Duration,
    ) -> Result<(PathBuf, String), RunError> {
        let (executed, workplace) = self.execute(script, data, longest, false).await?;
        if executed.outcome.is_error() {
            return Err(cannot_predict(&executed.outcome.headline()));
        }
        let kept = self.written(&workplace, data, wanted)?;
        Ok((kept, executed.outcome.stdout.text()))
    }

    /// Runs a submission script with this data, and returns a copy of its submission. That counts if the script fails later,
    /// while it saves its model.
    ///
    /// # Errors
    /// The script failed, or wrote no submission.
    pub async fn submission(
        &self,
        script: &str,
        data: &Path,
        longest: Duration,
    ) -> Result<PathBuf, RunError> {
        let (executed, workplace) = self.execute(script, data, longest, false).await?;
        let saves = |traceback: &String| fails_while_saving(script, traceback);
        if executed.outcome.is_error() && !executed.outcome.traceback.as_ref().is_some_and(saves) {
            return Err(cannot_predict(&executed.outcome.headline()));
        }
        self.written(&workplace, data, layout::SUBMISSION)
    }

    fn written(&self, workplace: &Workplace, data: &Path, wanted: &str) -> Result<PathBuf, RunError> {
        let written = workplace.output(wanted);
        let written = written.map_err(|error| RunError::failed(Trouble::io("read", data, &error)))?;
        let written = written.map_err(|why| cannot_predict(&why))?;
        let written = written.ok_or_else(|| cannot_predict(&format!("it wrote no {wanted}")))?;
        let kept = self.kept(written, wanted);
        kept.map_err(|error| RunError::failed(Trouble::io("write", data, &error)))
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
        let taken = workplace.take_model(&kept, MOST_OF_A_MODEL);
        let taken = taken.map_err(|error| no_model(&error.to_string()))?;
        taken.map(|_| kept).ok_or_else(|| no_model("it kept none"))
    }

    async fn execute(
        &self,
        script: &str,
        data: &Path,
        longest: Duration,
        keeps_model: bool,
    ) -> Result<(Executed, Workplace), RunError> {
        let shown = self.executor.show(data, &self.closed).map_err(RunError::failed)?;
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

    fn kept(&self, mut written: File, name: &str) -> io::Result<PathBuf> {
        let kept = self.folder.join(format!("written-{name}"));
        io::copy(&mut written, &mut fs::File::create(&kept)?)?;
        Ok(kept)
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
