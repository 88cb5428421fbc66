//! The agents of one scenario: the `claude` they start, its environment, and the processes it leaves.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mle_star::agents::definitions;
use mle_star::testing::called::{self, Called};
use mle_star_claude::{ClaudeAgents, ClaudeSetup};
use mle_star_domain::config::Config;
use mle_star_domain::effects::AgentRequest;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;
use tokio::time::timeout;

use super::isolated;

/// Text that `claude` would act on if it did not take it literally.
pub const PROMPT: &str = "/clear @/etc/hostname {braces}\n\nWhat is the answer?";

/// A folder with data, and a `claude` in an isolated environment.
pub struct World {
    folder: tempfile::TempDir,
    pub setup: ClaudeSetup,
}

/// Where every `claude` of a world waits after its start.
pub struct Gate {
    starts: pipe::Receiver,
    releases: pipe::Sender,
}

impl World {
    /// `claude` is the executable, `url` the service.
    pub fn new(claude: &Path, url: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["data", "home"] {
            fs::create_dir(at(name)).unwrap();
        }
        fs::write(at("data/train.csv"), "id,y\n1,0\n").unwrap();
        let executable = launcher(folder.path(), claude, url);
        let setup = ClaudeSetup {
            executable,
            bare: true,
            run_id: "toy-run".to_owned(),
            folder: at("agents"),
            data_dir: at("data"),
            permission_mode: "default".to_owned(),
            max_wait: Duration::from_secs(2),
            blocked_domains: vec!["kaggle.com".to_owned()],
            blocked_commands: Config::default().blocked_commands,
            definitions: definitions(&Config::default(), &BTreeMap::new()),
        };
        Self { folder, setup }
    }

    /// Asks an agent.
    pub async fn ask(&self, request: &AgentRequest) -> Called {
        let agents = ClaudeAgents::new(self.setup.clone()).unwrap();
        called::ask(&agents, request).await
    }

    /// Checks that nothing is left of `claude` and what it started.
    pub fn assert_nothing_alive(&self) {
        let alive = self.alive();
        assert!(alive.is_empty(), "left alive: {alive:?}");
    }

    /// Command lines of the running `claude` and of what it started.
    pub fn alive(&self) -> Vec<String> {
        isolated::alive(self.path())
    }

    /// Keeps the input and output of the first `claude`.
    #[must_use]
    pub fn keeping(self) -> Self {
        let kept = self.folder.path().join("kept");
        let kept = kept.display();
        self.through(|claude| {
            format!(
                "if mkdir '{kept}' 2>/dev/null; then\n\
                 tee '{kept}/heard' | {claude} | tee /dev/fd/3 3>&1 >'{kept}/said'\n\
                 else exec {claude}; fi"
            )
        })
    }

    /// Starts `claude` by a script, which `script` makes from the command to run.
    #[must_use]
    pub fn through(mut self, script: impl Fn(&str) -> String) -> Self {
        let command = format!("'{}' \"$@\"", self.setup.executable.display());
        self.setup.executable = self.folder.path().join("wrapper");
        isolated::script(&self.setup.executable, &script(&command));
        self
    }

    /// The input and output that were kept.
    pub fn kept(&self) -> [String; 2] {
        let file = |name: &str| fs::read_to_string(self.folder.path().join("kept").join(name));
        ["heard", "said"].map(|name| file(name).unwrap())
    }

    /// A world in which every `claude` waits at its start until the gate releases it.
    pub fn gated(claude: &Path, url: &str) -> (Self, Gate) {
        let mut world = Self::new(claude, url);
        let at = |name: &str| world.folder.path().join(name);
        let [started, released] = ["started", "released"].map(|name| {
            mkfifo(&at(name), Mode::S_IRWXU).unwrap();
            at(name)
        });
        let (gated, claude) = (at("gated"), claude.display());
        let wait = format!("echo >'{}'; read -r _ <'{}'", started.display(), released.display());
        isolated::script(&gated, &format!("{wait}\nexec '{claude}' \"$@\""));
        // Opened for both, a FIFO has no end and opening it does not wait.
        let mut both = pipe::OpenOptions::new();
        both.read_write(true);
        let starts = both.open_receiver(&started).unwrap();
        let releases = both.open_sender(&released).unwrap();
        world.setup.executable = launcher(world.folder.path(), &gated, url);
        (world, Gate { starts, releases })
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Gate {
    /// Waits for this many starts.
    pub async fn started(&mut self, count: usize) {
        let mut lines = vec![0; count];
        let read = timeout(Duration::from_secs(60), self.starts.read_exact(&mut lines)).await;
        read.expect("too few processes were started").unwrap();
    }

    /// Releases this many processes.
    pub async fn release(&mut self, count: usize) {
        self.releases.write_all(&vec![b'\n'; count]).await.unwrap();
    }
}

/// A request to an agent with these tools.
pub fn request(tools: &'static [&'static str]) -> AgentRequest {
    AgentRequest { tools, model: "opus".to_owned(), ..called::request(PROMPT) }
}

/// The same request with a schema for the answer.
pub fn structured(request: AgentRequest) -> AgentRequest {
    called::structured(request, &json!({"answer": {"type": "number"}}))
}

/// A script that starts `claude` with none of this process's variables except those that the client sets.
fn launcher(folder: &Path, claude: &Path, url: &str) -> PathBuf {
    let home = folder.join("home").display().to_string();
    let variables = [
        ("TMPDIR", home.as_str()),
        ("ANTHROPIC_BASE_URL", url),
        ("ANTHROPIC_API_KEY", "dummy"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("CLAUDE_CODE_MAX_RETRIES", "1"),
    ];
    let command = isolated::command(folder, &variables, claude);
    isolated::script(&folder.join("claude"), &format!("exec {command}"))
}
