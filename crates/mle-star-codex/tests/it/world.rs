//! The agents of one scenario: the `codex` they start, and a request to them.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mle_star::config::Price;
use mle_star::effects::{AgentBackend, AgentReply, AgentRequest, Answer};
use mle_star::event::{Event, EventSink};
use mle_star::place::Place;
use mle_star::role::AgentType;
use mle_star::stop::{Stop, Trouble};
use mle_star_codex::{CodexAgents, CodexSetup};
use serde_json::{Map, json};

/// The key of all scenarios. It must not be seen anywhere.
pub const KEY: &str = "sk-very-secret";
/// Text that a command line might act on.
pub const PROMPT: &str = "/clear @/etc/hostname $HOME {braces}\n\nWhat is the answer?";

/// A folder, and a `codex` in an isolated environment.
pub struct World {
    folder: tempfile::TempDir,
    pub setup: CodexSetup,
}

/// The outcome of a call.
#[derive(Debug)]
pub struct Called {
    pub reply: Result<AgentReply, Stop>,
    pub events: Vec<Event>,
}

/// Keeps every event.
#[derive(Default)]
struct Events(Mutex<Vec<Event>>);

impl EventSink for Events {
    fn emit(&self, event: Event) {
        self.0.lock().unwrap().push(event);
    }
}

impl World {
    /// `codex` is the executable, `url` the base address of the service.
    pub fn new(codex: &Path, url: &str) -> Self {
        let provider = format!(
            "model_providers.loopback={{name=\"loopback\",base_url=\"{url}\",env_key=\"CODEX_API_KEY\"}}"
        );
        let quoted = codex.display();
        Self::through(&format!("exec '{quoted}' \"$@\" -c 'model_provider=\"loopback\"' -c '{provider}'"))
    }

    /// A script in the place of `codex`.
    pub fn through(script: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let executable = launcher(folder.path(), script);
        let price = Price { input: 2.0, output: 10.0, cached_input: Some(0.5) };
        let setup = CodexSetup {
            executable,
            key: Some(KEY.to_owned()),
            folder: folder.path().join("agents"),
            max_wait: Duration::from_secs(2),
            prices: BTreeMap::from([("m".to_owned(), price)]),
            blocked_domains: vec!["blocked.org".to_owned()],
        };
        Self { folder, setup }
    }

    /// Asks new agents once.
    pub async fn ask(&self, request: &AgentRequest) -> Called {
        let agents = CodexAgents::new(self.setup.clone()).unwrap();
        self.ask_again(&agents, request).await
    }

    /// Asks agents that may have been asked before.
    pub async fn ask_again(&self, agents: &CodexAgents, request: &AgentRequest) -> Called {
        let events = Events::default();
        let reply = agents.ask(request, &events).await;
        let called = Called { reply, events: events.0.into_inner().unwrap() };
        let all = format!("{called:?}");
        assert!(!all.contains("very-secret"), "{all}");
        called
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Command lines of scripts in the place of `codex`, and of what they started.
    pub fn alive(&self) -> Vec<String> {
        let mark = mark(self.folder.path());
        let of_world = |process: &PathBuf| {
            let environment = fs::read(process.join("environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
        };
        let command_line = |process: PathBuf| {
            let words = fs::read(process.join("cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&words).replace('\0', " ")
        };
        processes().filter(of_world).map(command_line).collect()
    }
}

fn processes() -> impl Iterator<Item = PathBuf> {
    fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path())
}

/// The names of running processes below this one.
pub fn descendants() -> Vec<String> {
    let field = |status: &str, name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        line.trim().to_owned()
    };
    let all: Vec<[String; 4]> = processes()
        .filter_map(|process| fs::read_to_string(process.join("status")).ok())
        .map(|status| ["Pid:", "PPid:", "State:", "Name:"].map(|name| field(&status, name)))
        .filter(|[_, _, state, _]| !state.starts_with('Z'))
        .collect();
    let mut found = vec![std::process::id().to_string()];
    let mut names = Vec::new();
    let mut next = 0;
    while let Some(parent) = found.get(next).cloned() {
        for [process, _, _, name] in all.iter().filter(|[_, above, ..]| *above == parent) {
            found.push(process.clone());
            names.push(name.clone());
        }
        next += 1;
    }
    names
}

impl Called {
    /// The answer's text, `failed: ` with the reason, or `stop: ` with the error.
    pub fn said(&self) -> String {
        match &self.reply {
            Ok(AgentReply { answer: Answer::Text { text, .. }, .. }) => text.clone(),
            Ok(AgentReply { answer: Answer::Failed { reason }, .. }) => format!("failed: {reason}"),
            Ok(reply) => panic!("{reply:?}"),
            Err(Stop::Agents { trouble: Trouble { message, .. }, .. }) => format!("stop: {message}"),
            Err(stop) => panic!("{stop:?}"),
        }
    }

    /// The reasons of all waits.
    pub fn waits(&self) -> Vec<&str> {
        let waits = self.events.iter().filter_map(|event| match event {
            Event::AgentWaits { reason, .. } => Some(reason.as_str()),
            _ => None,
        });
        waits.collect()
    }
}

/// A request with these tools.
pub fn request(tools: &'static [&'static str]) -> AgentRequest {
    AgentRequest {
        place: Place::from("phase1/candidate-0/init"),
        agent: AgentType::Init,
        variant: None,
        system: "You solve a \"toy\" task.".to_owned(),
        prompt: PROMPT.to_owned(),
        shared: Vec::new(),
        inputs: Map::new(),
        tools,
        schema: None,
        model: "m".to_owned(),
        timeout: Duration::from_secs(60),
        time_left: Duration::from_secs(60),
    }
}

/// The same request with a schema for the answer.
pub fn structured(request: AgentRequest) -> AgentRequest {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object", "properties": {"answer": {"type": "number"}, "note": {"type": "string"}},
        "required": ["answer"],
    });
    AgentRequest { schema: Some(Arc::new(schema)), ..request }
}

/// A script with none of this process's variables except those that the client sets.
fn launcher(folder: &Path, script: &str) -> PathBuf {
    let home = folder.join("home");
    fs::create_dir(&home).unwrap();
    let variables = [
        format!("PATH={}", env::var("PATH").unwrap()),
        format!("HOME={}", home.display()),
        mark(folder),
        format!("CODEX_API_KEY={KEY}"),
    ];
    let without = env::vars().map(|(name, _)| format!("-u '{name}' ")).collect::<String>();
    let with = variables.iter().map(|variable| format!("'{variable}' ")).collect::<String>();
    let inner = executable(&folder.join("inner"), script);
    executable(&folder.join("codex"), &format!("exec env {without}{with}'{}' \"$@\"", inner.display()))
}

fn executable(path: &Path, script: &str) -> PathBuf {
    fs::write(path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_owned()
}

/// A variable in the environment of everything that the world's `codex` starts.
fn mark(folder: &Path) -> String {
    format!("MLE_STAR_TEST_WORLD={}", folder.display())
}
