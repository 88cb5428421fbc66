//! What an agent may do with its tools: the answers to the permission requests of `claude`.

use std::ffi::OsString;
use std::path::{Component, Path};

use serde_json::{Value, json};

use crate::invocation::STRUCTURED_OUTPUT;
use crate::os::is_secret;
use crate::paths::resolve;
use crate::protocol::BEFORE_TOOL;
use crate::setup::ClaudeSetup;
use crate::shell;

/// Arguments that name a file or folder: that of `Read`, and those of similar tools.
const PATHS: [&str; 3] = ["file_path", "path", "notebook_path"];

/// What decides about the tools of one call.
pub(crate) struct Permissions<'a> {
    pub(crate) setup: &'a ClaudeSetup,
    pub(crate) tools: &'a [&'a str],
    /// The agent's working directory.
    pub(crate) folder: &'a Path,
}

/// The arguments to use if allowed, the reason for the agent if not.
type Decision = Result<Value, String>;

/// The answer to a request of `claude`; `None` if the request is unknown.
pub(crate) fn answer(permissions: &Permissions<'_>, asked: &Value) -> Option<Value> {
    let text = |name: &str| asked.get(name).and_then(Value::as_str);
    match text("subtype")? {
        "hook_callback" if text("callback_id") == Some(BEFORE_TOOL) => {
            let input = asked.get("input")?;
            let tool = input.get("tool_name").and_then(Value::as_str)?;
            Some(hook_answer(permissions.decide(tool, input.get("tool_input").unwrap_or(&Value::Null))))
        }
        "can_use_tool" => {
            let input = asked.get("input").unwrap_or(&Value::Null);
            Some(match permissions.decide(text("tool_name")?, input) {
                Ok(input) => json!({"behavior": "allow", "updatedInput": input}),
                Err(reason) => json!({"behavior": "deny", "message": reason}),
            })
        }
        _ => None,
    }
}

/// What to show of the use of a tool: its command, file, query or address.
pub(crate) fn about(input: &Value) -> String {
    let telling = ["command", "file_path", "path", "query", "url", "pattern"];
    telling.iter().find_map(|name| input.get(name).and_then(Value::as_str)).unwrap_or_default().to_owned()
}

fn hook_answer(decision: Decision) -> Value {
    let answer = match decision {
        Ok(input) => json!({
            "hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": input,
        }),
        Err(reason) => json!({
            "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": reason,
        }),
    };
    json!({"hookSpecificOutput": answer})
}

impl Permissions<'_> {
    fn decide(&self, tool: &str, input: &Value) -> Decision {
        let text = |name: &str| input.get(name).and_then(Value::as_str).unwrap_or_default();
        match tool {
            STRUCTURED_OUTPUT => Ok(input.clone()),
            _ if !self.tools.contains(&tool) => Err(format!("this agent may not use {tool}")),
            "Bash" => {
                let command = text("command");
                let objection = shell::objection(command, &self.setup.blocked_commands, self.folder);
                objection.map_or_else(|| Ok(without_secrets(input, command, std::env::vars_os())), Err)
            }
            "WebFetch" if mle_star_domain::search::is_blocked(text("url"), &self.setup.blocked_domains) => {
                Err("this site is blocked because it may contain solutions of this task".to_owned())
            }
            "WebSearch" => Ok(self.without_blocked_sites(input)),
            "WebFetch" => Ok(input.clone()),
            _ => self.within_reach(input),
        }
    }

    fn without_blocked_sites(&self, input: &Value) -> Value {
        let mut input = input.clone();
        if let (Value::Object(arguments), false) = (&mut input, self.setup.blocked_domains.is_empty()) {
            // The service refuses a search with both lists.
            arguments.remove("allowed_domains");
            arguments.insert("blocked_domains".to_owned(), json!(self.setup.blocked_domains));
        }
        input
    }

    /// Allows reading in the working directory and in the data folder.
    fn within_reach(&self, input: &Value) -> Decision {
        let paths = PATHS.iter().filter_map(|name| input.get(name).and_then(Value::as_str));
        let refusal = |path: &str| {
            let found = resolve(&self.folder.join(path));
            if found.starts_with(resolve(self.folder)) {
                return None;
            }
            let Ok(data) = found.strip_prefix(resolve(&self.setup.data_dir)) else {
                return Some(format!("{path} is outside the working directory"));
            };
            // They are not data but keys or version control.
            let is_hidden = |part: Component<'_>| part.as_os_str().to_string_lossy().starts_with('.');
            data.components().any(is_hidden).then(|| format!("{path} is a hidden file of the data folder"))
        };
        paths.into_iter().find_map(refusal).map_or(Ok(input.clone()), Err)
    }
}

/// The command, run without the secrets in the environment of `claude`.
fn without_secrets(
    input: &Value,
    command: &str,
    environment: impl Iterator<Item = (OsString, OsString)>,
) -> Value {
    let is_name = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let mut secrets: Vec<String> = environment
        .filter_map(|(name, _)| name.into_string().ok())
        .filter(|name| is_secret(name) && is_name(name))
        .collect();
    if secrets.is_empty() {
        return input.clone();
    }
    secrets.sort();
    let mut input = input.clone();
    if let Value::Object(arguments) = &mut input {
        arguments.insert("command".to_owned(), format!("unset {}\n{command}", secrets.join(" ")).into());
    }
    input
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::example;

    #[test]
    fn commands_run_without_secrets() {
        let check = |names: &[&str], expected: &str| {
            let environment = names.iter().map(|name| (OsString::from(name), OsString::from("x")));
            let input = json!({"command": "env", "description": "d"});
            let expected = json!({"command": expected, "description": "d"});
            assert_eq!(without_secrets(&input, "env", environment), expected);
        };
        check(&["PATH", "HOME"], "env");
        check(&["PATH", "MY_TOKEN", "ANTHROPIC_API_KEY"], "unset ANTHROPIC_API_KEY MY_TOKEN\nenv");
        check(&["BASH_FUNC_x%%_TOKEN"], "env");
    }

    #[test]
    fn tools_reach_the_working_directory_and_the_data() {
        let (work, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(data.path().join("train.csv"), "x").unwrap();
        std::os::unix::fs::symlink(data.path(), work.path().join("input")).unwrap();
        std::os::unix::fs::symlink("/etc", work.path().join("elsewhere")).unwrap();
        let setup = ClaudeSetup {
            blocked_domains: vec!["kaggle.com/competitions/toy/code".to_owned()],
            ..example(data.path())
        };
        let check = |tools: &[&str], tool: &str, input: Value, expected: Result<Value, &str>| {
            let permissions = Permissions { setup: &setup, tools, folder: work.path() };
            let decision = permissions.decide(tool, &input);
            match expected {
                Ok(expected) => assert_eq!(decision, Ok(expected), "{tool} {input}"),
                Err(part) => {
                    assert!(decision.as_ref().unwrap_err().contains(part), "{tool} {input}: {decision:?}");
                }
            }
        };
        let same = |tools: &[&str], tool: &str, input: Value| check(tools, tool, input.clone(), Ok(input));
        same(&["Read"], "Read", json!({"file_path": "input/train.csv"}));
        same(&["Read"], "Read", json!({"file_path": data.path().join("train.csv")}));
        same(&[], "StructuredOutput", json!({"a": 1}));
        check(&["Read"], "Read", json!({"file_path": "/etc/passwd"}), Err("outside"));
        check(&["Read"], "Read", json!({"file_path": data.path().join(".env")}), Err("hidden"));
        check(&["Read"], "Read", json!({"file_path": "missing/../../x"}), Err("outside"));
        check(&["Read"], "Read", json!({"file_path": "elsewhere/passwd"}), Err("outside"));
        check(&["Read"], "Bash", json!({"command": "ls"}), Err("may not use Bash"));
        check(&["Bash"], "Bash", json!({"command": "rm -rf /"}), Err("rm -rf /"));
        let runs = Permissions { setup: &setup, tools: &["Bash"], folder: work.path() };
        assert!(runs.decide("Bash", &json!({"command": "ls input"})).is_ok());
        let web = ["WebSearch", "WebFetch"];
        check(
            &web,
            "WebFetch",
            json!({"url": "https://www.kaggle.com/competitions/toy/code/x"}),
            Err("blocked"),
        );
        same(&web, "WebFetch", json!({"url": "https://example.org"}));
        let query = json!({"query": "q", "allowed_domains": ["a.org"]});
        let blocked = json!({"query": "q", "blocked_domains": ["kaggle.com/competitions/toy/code"]});
        check(&web, "WebSearch", query, Ok(blocked));
    }
}
