//! How `claude` is started for a call: everything but the prompt.

use mle_star::effects::AgentRequest;
use serde_json::{Value, json};

use crate::ClaudeSetup;

/// The tool that `--json-schema` adds to the conversation.
pub(crate) const STRUCTURED_OUTPUT: &str = "StructuredOutput";
/// The name of the program's own tool server.
pub(crate) const OWN_SERVER: &str = "mle_star";

/// Variables that would make `claude` believe it runs inside another agent.
const REMOVED: [&str; 2] = ["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT"];
/// Set unless the user has set them: no telemetry, no self-update during a run.
const QUIET: [(&str, &str); 2] =
    [("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"), ("DISABLE_AUTOUPDATER", "1")];

/// A process as it is started. Two calls with the same invocation and system prompt could use the same one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Invocation {
    /// Arguments but for the system prompt's file.
    pub(crate) arguments: Vec<String>,
    /// Variables to set, or to remove where the value is `None`.
    pub(crate) variables: Vec<(&'static str, Option<String>)>,
    /// Digest of the system prompt, which names its file.
    pub(crate) system: String,
    /// What the process may do.
    pub(crate) hands: Hands,
}

/// What an agent can touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hands {
    /// Nothing: it answers from its prompt.
    None,
    /// It may look at files, or at the web.
    Reads,
    /// It may run commands.
    Writes,
}

impl Invocation {
    pub(crate) fn new(setup: &ClaudeSetup, request: &AgentRequest) -> Self {
        Self {
            arguments: arguments(setup, request),
            variables: variables(setup, request),
            system: blake3::hash(request.system.as_bytes()).to_hex().to_string(),
            hands: Hands::of(request.tools),
        }
    }
}

impl Hands {
    fn of(tools: &[&str]) -> Self {
        match tools {
            [] => Self::None,
            tools if tools.contains(&"Bash") => Self::Writes,
            _ => Self::Reads,
        }
    }
}

fn arguments(setup: &ClaudeSetup, request: &AgentRequest) -> Vec<String> {
    let mut arguments: Vec<String> = [
        "-p",
        "--input-format",
        "stream-json",
        "--output-format",
        "stream-json",
        "--verbose",
        "--no-session-persistence",
        "--strict-mcp-config",
        "--setting-sources",
        "",
    ]
    .map(str::to_owned)
    .into();
    let mut add = |name: &str, value: String| arguments.extend([name.to_owned(), value]);
    add("--model", request.model.clone());
    add("--tools", request.tools.join(","));
    if let Some(schema) = &request.schema {
        add("--json-schema", undated(schema).to_string());
    }
    if !request.tools.is_empty() {
        add("--permission-mode", permission_mode(setup).to_owned());
        add("--permission-prompt-tool", "stdio".to_owned());
        add("--add-dir", setup.data_dir.display().to_string());
    }
    if setup.own_tools && !request.tools.is_empty() {
        let server = json!({"mcpServers": {OWN_SERVER: {"type": "sdk", "name": OWN_SERVER}}});
        add("--mcp-config", server.to_string());
        add("--allowedTools", crate::own_tools::names());
    }
    if setup.bare && is_bare(request.tools) {
        arguments.push("--bare".to_owned());
    }
    arguments
}

/// A schema that does not name its edition: `claude` refuses to read any but an old one.
fn undated(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Some(fields) = schema.as_object_mut() {
        fields.remove("$schema");
    }
    schema
}

/// Under `--bare` there is no web search, and a command runs without anybody being asked.
fn is_bare(tools: &[&str]) -> bool {
    !tools.iter().any(|tool| ["Bash", "WebSearch", "WebFetch"].contains(tool))
}

fn permission_mode(setup: &ClaudeSetup) -> &str {
    match setup.permission_mode.as_str() {
        "bypassPermissions" => "default",
        other => other,
    }
}

fn variables(setup: &ClaudeSetup, request: &AgentRequest) -> Vec<(&'static str, Option<String>)> {
    let quiet = QUIET.into_iter().filter(|(name, _)| std::env::var_os(name).is_none());
    let own = [
        ("MLE_STAR_AGENT", Some(request.agent.name().to_owned())),
        ("MLE_STAR_VARIANT", request.variant.map(|variant| variant.name().to_owned())),
        ("MLE_STAR_RUN_ID", Some(setup.run_id.clone())),
        ("MLE_STAR_PLACE", Some(request.place.to_string())),
        ("MLE_STAR_SESSION", Some(request.place.session())),
    ];
    let removed = REMOVED.into_iter().map(|name| (name, None));
    own.into_iter().chain(quiet.map(|(name, value)| (name, Some(value.to_owned())))).chain(removed).collect()
}

/// The lines that open a conversation: what the program wants to be asked, then the prompt as it is.
pub(crate) fn opening(request: &AgentRequest) -> Vec<Value> {
    let matches_all = |callback: &str| json!([{"matcher": null, "hookCallbackIds": [callback]}]);
    let hooks = json!({"PreToolUse": matches_all(crate::protocol::BEFORE_TOOL)});
    let initialize = json!({
        "type": "control_request", "request_id": "initialize",
        "request": {"subtype": "initialize", "hooks": hooks},
    });
    let prompt = json!({
        "type": "user", "client_composed": true,
        "message": {"role": "user", "content": request.prompt},
    });
    if request.tools.is_empty() { vec![prompt] } else { vec![initialize, prompt] }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;
    use std::time::Duration;

    use mle_star::place::Place;
    use mle_star::role::{AgentType, Variant};

    use super::*;
    use crate::example;

    fn request(agent: AgentType, tools: &'static [&'static str]) -> AgentRequest {
        AgentRequest {
            place: Place::from("phase2/path-1/t0/k0/coder"),
            agent,
            variant: None,
            system: "system".to_owned(),
            prompt: "/clear @file {x}".to_owned(),
            inputs: serde_json::Map::new(),
            tools,
            schema: None,
            model: "haiku".to_owned(),
            timeout: Duration::ZERO,
            time_left: Duration::ZERO,
        }
    }

    /// What is new against a call without tools.
    fn added(setup: &ClaudeSetup, request: &AgentRequest) -> String {
        let arguments = arguments(setup, request);
        let from = arguments.iter().position(|argument| argument == "--tools").unwrap();
        arguments[from..].join(" ")
    }

    #[test]
    fn each_agent_gets_its_tools_and_none_is_none() {
        let setup = example(Path::new("/data"));
        let check = |tools: &'static [&'static str], expected: &str| {
            assert_eq!(added(&setup, &request(AgentType::Coder, tools)), expected);
        };
        let asks = "--permission-mode default --permission-prompt-tool stdio --add-dir /data";
        check(&[], "--tools  --bare");
        check(&["Read"], &format!("--tools Read {asks} --bare"));
        check(&["Read", "Bash"], &format!("--tools Read,Bash {asks}"));
        check(&["WebSearch", "WebFetch"], &format!("--tools WebSearch,WebFetch {asks}"));
    }

    #[test]
    fn options_follow_the_setup() {
        let check =
            |change: fn(&mut ClaudeSetup), tools: &'static [&'static str], part: &str, is_there: bool| {
                let mut setup = example(Path::new("/data"));
                change(&mut setup);
                let added = added(&setup, &request(AgentType::Init, tools));
                assert_eq!(added.contains(part), is_there, "{part}: {added}");
            };
        check(|setup| setup.bare = false, &[], "--bare", false);
        check(
            |setup| setup.permission_mode = "acceptEdits".to_owned(),
            &["Read"],
            "--permission-mode acceptEdits",
            true,
        );
        check(|setup| setup.own_tools = true, &["Read"], "mcp__mle_star__parse_score", true);
        check(|setup| setup.own_tools = true, &[], "mcp", false);
    }

    #[test]
    fn a_structured_answer_is_asked_for_by_its_schema() {
        let setup = example(Path::new("/data"));
        let edition = "https://json-schema.org/draft/2020-12/schema";
        let schema = Some(Arc::new(json!({"$schema": edition, "type": "object"})));
        let arguments = arguments(&setup, &AgentRequest { schema, ..request(AgentType::Extractor, &[]) });
        let position = arguments.iter().position(|argument| argument == "--json-schema").unwrap();
        assert_eq!(arguments[position + 1], r#"{"type":"object"}"#);
    }

    #[test]
    fn the_environment_tells_who_is_asked_and_where() {
        let setup = example(Path::new("/data"));
        let variant = Some(Variant::Detection);
        let variables = variables(&setup, &AgentRequest { variant, ..request(AgentType::Leakage, &[]) });
        let value =
            |name: &str| variables.iter().find(|(other, _)| *other == name).and_then(|(_, v)| v.as_deref());
        assert_eq!(value("MLE_STAR_AGENT"), Some("leakage"));
        assert_eq!(value("MLE_STAR_VARIANT"), Some("detection"));
        assert_eq!(value("MLE_STAR_RUN_ID"), Some("run"));
        assert_eq!(value("MLE_STAR_PLACE"), Some("phase2/path-1/t0/k0/coder"));
        assert_eq!(value("MLE_STAR_SESSION"), Some("path-1"));
        assert!(variables.contains(&("CLAUDECODE", None)));
    }

    #[test]
    fn the_prompt_goes_in_as_it_is() {
        let check = |tools, lines: usize| {
            let opening = opening(&request(AgentType::Coder, tools));
            assert_eq!(opening.len(), lines);
            let prompt = opening.last().unwrap();
            assert_eq!(prompt["message"]["content"], "/clear @file {x}");
            assert_eq!(prompt["client_composed"], true);
        };
        check(&[], 1);
        check(&["Read"], 2);
    }
}
