//! How `codex` is started for a call, and the files that it reads.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use mle_star_domain::effects::AgentRequest;
use mle_star_process::remove::remove_tree;
use serde_json::Value;
use tokio::process::Command;

use crate::setup::CodexSettings;

/// The tool that stands for the web search of `codex`.
pub(crate) const WEB_SEARCH: &str = "WebSearch";

const OPTIONS: [&str; 11] = [
    "exec",
    "--json",
    "--ephemeral",
    "--ignore-user-config",
    "--ignore-rules",
    "--skip-git-repo-check",
    "--sandbox",
    "read-only",
    "--color",
    "never",
    "--model",
];
/// Parts of `codex` that would give agents tools, or reach other services. A version that lacks one notes that and goes on.
const SWITCHED_OFF: [&str; 15] = [
    "apps",
    "browser_use",
    "computer_use",
    "goals",
    "hooks",
    "image_generation",
    "in_app_browser",
    "multi_agent",
    "plugins",
    "remote_plugin",
    "shell_snapshot",
    "shell_tool",
    "tool_suggest",
    "unified_exec",
    "view_image",
];
/// No text of its own in prompts, and no requests besides the question.
const SETTINGS: [&str; 10] = [
    "skills.bundled.enabled=false",
    "skills.include_instructions=false",
    "include_permissions_instructions=false",
    "include_environment_context=false",
    "include_apps_instructions=false",
    "include_collaboration_mode_instructions=false",
    "project_doc_max_bytes=0",
    "check_for_update_on_startup=false",
    "analytics.enabled=false",
    "feedback.enabled=false",
];

/// The scratch folder of a run's agents; removed when dropped.
pub(crate) struct Files {
    folder: PathBuf,
    /// Whether `codex` gets a home of its own, without anything that the user has set up there.
    own_home: bool,
}

impl Files {
    /// Creates the folder, empty.
    pub(crate) fn new(folder: &Path, own_home: bool) -> io::Result<Self> {
        remove_tree(folder)?;
        for part in ["empty", "home", "texts"] {
            fs::create_dir_all(folder.join(part))?;
        }
        // Processes start in a folder below this one, so the path must be absolute.
        Ok(Self { folder: folder.canonicalize()?, own_home })
    }

    /// The command that asks a question; the prompt goes to its standard input. `schema` is that of the answer.
    ///
    /// # Errors
    /// A file cannot be written.
    pub(crate) fn command(
        &self,
        setup: &CodexSettings,
        request: &AgentRequest,
        schema: Option<&Value>,
    ) -> io::Result<Command> {
        let mut command = Command::new(&setup.executable);
        command.args(OPTIONS).arg(&request.model).current_dir(self.folder.join("empty"));
        let switched_off = SWITCHED_OFF.map(|name| format!("features.{name}=false"));
        let search = if request.tools.contains(&WEB_SEARCH) { "live" } else { "disabled" };
        // It may be too long for a command line, and command lines are public.
        let system = self.text(&request.system)?.display().to_string();
        let own = [
            format!("web_search={}", quoted(search)),
            format!("model_instructions_file={}", quoted(&system)),
        ];
        for setting in switched_off.iter().chain(&own).map(String::as_str).chain(SETTINGS) {
            command.args(["--config", setting]);
        }
        if let Some(schema) = schema {
            command.arg("--output-schema").arg(self.text(&schema.to_string())?);
        }
        if self.own_home {
            command.env("CODEX_HOME", self.folder.join("home"));
        }
        command.arg("-");
        Ok(command)
    }

    /// A file with a text.
    fn text(&self, text: &str) -> io::Result<PathBuf> {
        let folder = self.folder.join("texts");
        let file = folder.join(blake3::hash(text.as_bytes()).to_hex().as_str());
        if !file.exists() {
            let whole = tempfile::NamedTempFile::new_in(&folder)?;
            fs::write(whole.path(), text)?;
            whole.persist(&file).map_err(|failed| failed.error)?;
        }
        Ok(file)
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        // A resume removes what is left.
        let _ = remove_tree(&self.folder);
    }
}

/// A text in TOML: its basic strings have the form of JSON's.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}
