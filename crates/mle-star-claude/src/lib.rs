//! Agents behind the `claude` command line, driven over stream-json on its standard streams.
//!
//! [`ClaudeAgents`] implements [`AgentBackend`]: one process and one conversation per call. A call goes
//! through `patience` (what passes is waited out) to `conversation` (one process, one prompt, its messages
//! in the words of `protocol`), whose end `verdict` puts into one of five kinds. `command` says how the
//! process is started, `process` starts it, `ahead` starts the next ones early, and `permission` answers
//! what an agent may do with its tools: `shell` looks at commands, `own_tools` are the program's.

mod ahead;
mod command;
mod conversation;
mod own_tools;
mod patience;
mod permission;
mod process;
mod protocol;
mod shell;
mod verdict;

pub use verdict::OLDEST;

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use mle_star::effects::{AgentBackend, AgentReply, AgentRequest};
use mle_star::event::EventSink;
use mle_star::role::AgentType;
use mle_star::stop::{Stop, Trouble};

use ahead::Ahead;
use command::Invocation;
use mle_star_data::input::Data;
use mle_star_process::variables::is_secret;
use mle_star_process::{Ending, ProcessTree, Streams};
use process::{NotStarted, Process, Workshop};

/// What [`ClaudeAgents`] need to know.
#[derive(Clone, Debug)]
pub struct ClaudeSetup {
    /// The `claude` executable.
    pub executable: PathBuf,
    /// Does the login survive `--bare`? A stored or subscription login does not.
    pub bare: bool,
    /// The run's name, for the agents' environment.
    pub run_id: String,
    /// A folder for the agents' throw-away work; made, and removed when the agents are dropped.
    pub folder: PathBuf,
    /// The data, shown to agents that may read.
    pub data_dir: PathBuf,
    /// `permission_mode` of the configuration. `bypassPermissions` means that nobody is asked: the program
    /// itself answers each request for a tool, which also works for root.
    pub permission_mode: String,
    /// How long a busy service is waited for, per call.
    pub patience: Duration,
    /// Sites that may not be read.
    pub blocked_domains: Vec<String>,
    /// Commands that may not be run, as parts of a command line.
    pub blocked_commands: Vec<String>,
    /// Offer the program's own tools: parsing a score, listing the data.
    pub own_tools: bool,
    /// How many processes may wait for calls that are likely to come; 0 starts none early.
    pub started_ahead: usize,
}

/// Agents that ask a language model.
pub struct ClaudeAgents {
    setup: ClaudeSetup,
    // Processes end before the folders they work in go.
    ahead: Ahead,
    workshop: Workshop,
    /// Failures in a row of each agent's tools.
    tool_failures: Mutex<HashMap<AgentType, u32>>,
}

impl ClaudeAgents {
    /// Agents for one run.
    ///
    /// # Errors
    /// The data cannot be read, or the folder cannot be made.
    pub fn new(mut setup: ClaudeSetup) -> Result<Self, Trouble> {
        let cannot = |doing: &'static str, path: &PathBuf| {
            let path = path.clone();
            move |error: io::Error| Trouble::io(doing, &path, &error)
        };
        // Agents work elsewhere, where a relative path leads nowhere.
        setup.data_dir = std::path::absolute(&setup.data_dir).map_err(cannot("read", &setup.data_dir))?;
        let data = Data::new(setup.data_dir.clone()).map_err(cannot("read", &setup.data_dir))?;
        let workshop = Workshop::new(&setup.folder, data).map_err(cannot("make", &setup.folder))?;
        let ahead = Ahead::new(setup.started_ahead);
        Ok(Self { setup, workshop, ahead, tool_failures: Mutex::default() })
    }

    /// The process for a call: one that was started early, else a new one.
    fn process(&self, request: &AgentRequest) -> Result<Process, NotStarted> {
        let invocation = Invocation::new(&self.setup, request);
        match self.ahead.take(&invocation) {
            Some(process) => Ok(process),
            None => self.start(invocation, request),
        }
    }

    fn start(&self, invocation: Invocation, request: &AgentRequest) -> Result<Process, NotStarted> {
        Process::start(&self.setup.executable, invocation, &self.workshop, &request.system)
    }

    /// Counts the failures in a row of an agent's tools.
    fn count_tool(&self, agent: AgentType, failed: bool) -> u32 {
        let mut failures = self.tool_failures.lock().unwrap_or_else(PoisonError::into_inner);
        let count = failures.entry(agent).or_insert(0);
        *count = if failed { *count + 1 } else { 0 };
        *count
    }
}

#[async_trait]
impl AgentBackend for ClaudeAgents {
    async fn ask(&self, request: &AgentRequest, events: &dyn EventSink) -> Result<AgentReply, Stop> {
        patience::ask(self, request, events).await
    }

    fn expect(&self, likely: &[AgentRequest]) {
        if self.setup.own_tools {
            // Their server is asked at the start, when nobody listens yet.
            return;
        }
        for request in likely.iter().take(self.setup.started_ahead) {
            let invocation = Invocation::new(&self.setup, request);
            // A process that cannot be started now is started, or found missing, when it is needed.
            self.ahead.prepare(invocation, |invocation| self.start(invocation, request).ok());
        }
    }
}

/// A setup for tests.
#[cfg(test)]
fn example(data_dir: &std::path::Path) -> ClaudeSetup {
    ClaudeSetup {
        executable: PathBuf::from("claude"),
        bare: true,
        run_id: "run".to_owned(),
        folder: PathBuf::new(),
        data_dir: data_dir.to_owned(),
        permission_mode: "bypassPermissions".to_owned(),
        patience: Duration::ZERO,
        blocked_domains: Vec::new(),
        blocked_commands: mle_star::config::Config::default().blocked_commands,
        own_tools: false,
        started_ahead: 0,
    }
}
