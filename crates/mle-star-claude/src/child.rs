//! One running `claude`, from its start to the end of everything it started.

use std::io;
use std::path::Path;

use serde_json::Value;
use tokio::process::Command;

use crate::invocation::{Access, Invocation};
use crate::os::{Ending, Talk};
use crate::work_dir::{WorkDir, WorkDirs};

/// A `claude` that waits for a prompt or answers one. Dropping it ends everything it started.
pub(crate) struct Child {
    pub(crate) invocation: Invocation,
    // Fields drop in order: processes end before their folder is removed.
    talk: Talk,
    pub(crate) work_dir: WorkDir,
}

/// Why there is no process.
#[derive(Debug)]
pub(crate) enum StartError {
    /// Its folder or its system prompt cannot be created.
    WorkDir(io::Error),
    /// The system cannot start it.
    Spawn(io::Error),
}

impl Child {
    /// Starts `claude`, which then waits for its prompt. `system` is the text of the system prompt.
    ///
    /// # Errors
    /// Its folder cannot be created, or it cannot be started.
    pub(crate) fn start(
        executable: &Path,
        invocation: Invocation,
        work_dirs: &WorkDirs,
        system: &str,
    ) -> Result<Self, StartError> {
        let work_dir = work_dirs.for_access(invocation.access).map_err(StartError::WorkDir)?;
        let system = work_dirs.system_prompt(&invocation.system, system).map_err(StartError::WorkDir)?;
        let mut command = Command::new(executable);
        command.args(&invocation.arguments).current_dir(&work_dir.folder);
        command.arg("--system-prompt-file").arg(system);
        for (name, value) in &invocation.variables {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let talk = Talk::start(command).map_err(StartError::Spawn)?;
        Ok(Self { invocation, talk, work_dir })
    }

    /// Sends one message. If the process is gone, the end of its messages will show it.
    pub(crate) fn send(&self, message: &Value) {
        self.talk.send(format!("{message}\n").into_bytes());
    }

    /// The next line of standard output, or `None` at its end. Cancel safe.
    ///
    /// # Errors
    /// The line cannot be read.
    pub(crate) async fn next_line(&mut self) -> io::Result<Option<String>> {
        self.talk.next_line().await
    }

    /// Ends the process with everything it started; returns how it ended and the tail of standard error.
    pub(crate) async fn end(mut self) -> (Option<Ending>, String) {
        // Only an agent with tools can have started something that needs an orderly end.
        if self.invocation.access != Access::None {
            self.talk.terminate().await;
        }
        self.talk.end().await
    }
}
