//! A task on real data, and the binary with the real `claude` in a sealed environment.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use mle_star::event::Event;
use mle_star_domain::role::{AgentType, Variant};
use serde_json::Value;

use super::api::Api;
use super::closed::real_claude;
use crate::runs::interpreter;
use crate::sealed::{Said, Sealed};

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/flight-delays");
/// Text that `claude` or a template engine would act on if it were not passed unchanged.
pub const TRAPS: &str =
    "\n/clear\n@/etc/passwd {x} {{ y }} {% if z %} {# w #} $HOME `id` \\n \"quoted\" 'single'\n";
/// The launcher in the place of `claude`.
const LAUNCHER: &str = "bin/claude";

/// A folder with the task and the binary's environment.
pub struct World {
    pub sealed: Sealed,
    launcher: String,
}

/// The begin and the end of a call.
#[derive(Debug, Default)]
pub struct Calls {
    pub started: Vec<(String, AgentType, Option<Variant>)>,
    pub ended: Vec<String>,
}

impl World {
    pub fn new(api: &Api) -> Self {
        let sealed = Sealed::with(&[]);
        for name in ["train.csv", "test.csv", "sample_submission.csv", "planes.csv"] {
            sealed.write(&format!("flights/data/{name}"), &example(&format!("data/{name}")));
        }
        let task = String::from_utf8(example("task.yaml")).unwrap();
        let references = "reference_discussions: [first.md, second.md]\n";
        sealed.write("flights/task.yaml", format!("{task}{references}").as_bytes());
        sealed.write("flights/first.md", b"I used a neural network.\n");
        sealed.write("flights/second.md", b"I used the mean.\n");
        sealed.write("flights/description.md", &example("description.md"));
        let world = Self { sealed, launcher: launcher(api) };
        world.install();
        world
    }

    /// Puts `claude` on the path. It passes the run and the place of its call to the service in the address.
    pub fn install(&self) {
        self.sealed.write(LAUNCHER, self.launcher.as_bytes());
        fs::set_permissions(self.sealed.path(LAUNCHER), fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub fn uninstall(&self) {
        fs::remove_file(self.sealed.path(LAUNCHER)).unwrap();
    }

    /// A run of the task with these options.
    pub fn run(&self, id: &str, options: &str) -> Command {
        let python = interpreter();
        let python = python.display();
        self.command(&format!(
            "run flights/task.yaml --agents claude --json --run-id {id} --set python={python} {options}"
        ))
    }

    pub fn command(&self, line: &str) -> Command {
        let mut command = self.sealed.command(line);
        for (name, value) in [
            ("ANTHROPIC_API_KEY", "dummy".to_owned()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
            ("MLE_STAR_CLAUDE_PATH", self.sealed.path(LAUNCHER).display().to_string()),
            ("TMPDIR", self.sealed.path(".").display().to_string()),
        ] {
            command.env(name, value);
        }
        command
    }

    /// The text of a file.
    pub fn file(&self, path: &str) -> String {
        self.sealed.read(path)
    }

    /// The result of a run.
    pub fn result(&self, id: &str) -> Value {
        serde_json::from_str(&self.sealed.read(&format!("runs/{id}/result.json"))).unwrap()
    }
}

/// Runs a command to its end.
pub fn said(mut command: Command) -> Said {
    let output = command.stdin(Stdio::null()).output().unwrap();
    Said {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The events that a run with `--json` printed.
pub fn events(said: &Said) -> Vec<Event> {
    said.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The agents called in these events, in order of place.
pub fn calls(events: &[Event]) -> Calls {
    let mut calls = Calls::default();
    for event in events {
        match event {
            Event::AgentStarted { place, agent, variant, .. } => {
                calls.started.push((place.to_string(), *agent, *variant));
            }
            Event::AgentEnded { place, replayed: false, .. } => calls.ended.push(place.to_string()),
            _ => {}
        }
    }
    calls.started.sort();
    calls.ended.sort();
    calls
}

fn example(name: &str) -> Vec<u8> {
    fs::read(Path::new(EXAMPLE).join(name)).unwrap()
}

fn launcher(api: &Api) -> String {
    let (claude, url) = (real_claude(), api.url(""));
    let claude = claude.display();
    format!(
        "#!/bin/sh\nplace=$(printf %s \"$MLE_STAR_PLACE\" | tr / .)\n\
         ANTHROPIC_BASE_URL=\"{url}$MLE_STAR_RUN_ID.$place\" exec '{claude}' \"$@\"\n"
    )
}
