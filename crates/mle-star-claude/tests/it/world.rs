//! Agents of one scenario: which `claude` they start, in which environment, and what is left of it.

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mle_star::effects::{AgentBackend, AgentReply, AgentRequest};
use mle_star::event::{Event, EventSink};
use mle_star::place::Place;
use mle_star::role::AgentType;
use mle_star::stop::Stop;
use mle_star_claude::{ClaudeAgents, ClaudeSetup};
use serde_json::{Map, json};

/// Words that `claude` would act on if it did not take them as they are.
pub const PROMPT: &str = "/clear @/etc/hostname {braces}\n\nWhat is the answer?";

/// A folder with data, and a `claude` in a sealed environment.
pub struct World {
    folder: tempfile::TempDir,
    pub setup: ClaudeSetup,
}

/// What a call came to.
pub struct Called {
    pub reply: Result<AgentReply, Stop>,
    pub events: Vec<Event>,
}

/// Remembers every event.
#[derive(Default)]
struct Events(Mutex<Vec<Event>>);

impl World {
    /// `claude` is the executable, `url` its service.
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
            patience: Duration::from_secs(2),
            blocked_domains: vec!["kaggle.com".to_owned()],
            blocked_commands: mle_star::config::Config::default().blocked_commands,
            own_tools: false,
            started_ahead: 0,
        };
        Self { folder, setup }
    }

    /// Asks one agent, until it has answered.
    pub async fn ask(&self, request: &AgentRequest) -> Called {
        let agents = ClaudeAgents::new(self.setup.clone()).unwrap();
        let events = Events::default();
        let reply = agents.ask(request, &events).await;
        Called { reply, events: events.0.into_inner().unwrap() }
    }

    /// Waits until nothing runs any more.
    pub async fn is_silent(&self) {
        let ends = Instant::now() + Duration::from_secs(20);
        while !self.alive().is_empty() {
            assert!(Instant::now() < ends, "left alive: {:?}", self.alive());
            tokio::task::yield_now().await;
        }
    }

    /// Command lines of processes that the world's `claude` started and that still run.
    pub fn alive(&self) -> Vec<String> {
        let mark = self.mark();
        let processes = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
        let of_world = |process: &PathBuf| {
            let environment = fs::read(process.join("environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
        };
        let told = |process: PathBuf| {
            let words = fs::read(process.join("cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&words).replace('\0', " ")
        };
        processes.filter(of_world).map(told).collect()
    }

    /// From now on, what the first `claude` hears and says is kept.
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

    /// From now on, `claude` is started by a script, which is made from the command line to start.
    #[must_use]
    pub fn through(mut self, script: impl Fn(&str) -> String) -> Self {
        let command = format!("'{}' \"$@\"", self.setup.executable.display());
        self.setup.executable = self.folder.path().join("wrapper");
        executable(&self.setup.executable, &script(&command));
        self
    }

    /// What it heard and said.
    pub fn kept(&self) -> [String; 2] {
        let file = |name: &str| fs::read_to_string(self.folder.path().join("kept").join(name));
        ["heard", "said"].map(|name| file(name).unwrap())
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    fn mark(&self) -> String {
        mark(self.folder.path())
    }
}

impl EventSink for Events {
    fn emit(&self, event: Event) {
        self.0.lock().unwrap().push(event);
    }
}

/// A question to an agent with these tools.
pub fn request(tools: &'static [&'static str]) -> AgentRequest {
    AgentRequest {
        place: Place::from("phase1/candidate-0/init"),
        agent: AgentType::Init,
        variant: None,
        system: "You solve a toy task.".to_owned(),
        prompt: PROMPT.to_owned(),
        inputs: Map::new(),
        tools,
        schema: None,
        model: "opus".to_owned(),
        timeout: Duration::from_secs(60),
        time_left: Duration::from_secs(60),
    }
}

/// The same question, to be answered in a form.
pub fn structured(request: AgentRequest) -> AgentRequest {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object", "properties": {"answer": {"type": "number"}}, "required": ["answer"],
    });
    AgentRequest { schema: Some(Arc::new(schema)), ..request }
}

/// A script that starts `claude` with nothing of this process's environment but what agents are told.
fn launcher(folder: &Path, claude: &Path, url: &str) -> PathBuf {
    let home = folder.join("home").display().to_string();
    let variables = [
        format!("PATH={}", env::var("PATH").unwrap()),
        format!("HOME={home}"),
        format!("TMPDIR={home}"),
        mark(folder),
        format!("ANTHROPIC_BASE_URL={url}"),
        "ANTHROPIC_API_KEY=dummy".to_owned(),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1".to_owned(),
        "CLAUDE_CODE_MAX_RETRIES=1".to_owned(),
    ];
    let without = env::vars().map(|(name, _)| format!("-u '{name}' ")).collect::<String>();
    let with = variables.iter().map(|variable| format!("'{variable}' ")).collect::<String>();
    let command = format!("env {without}{with}'{}' \"$@\"", claude.display());
    let path = folder.join("claude");
    executable(&path, &format!("exec {command}"));
    path
}

fn executable(path: &Path, script: &str) {
    fs::write(path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// In the environment of everything that the world's `claude` starts.
fn mark(folder: &Path) -> String {
    format!("MLE_STAR_TEST_WORLD={}", folder.display())
}
