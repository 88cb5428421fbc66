//! How `claude` is started for a call, and its first messages.

use mle_star_domain::effects::AgentRequest;
use serde_json::{Value, json};

use crate::cache::CacheLifetime;
use crate::protocol::BEFORE_TOOL;
use crate::setup::ClaudeSetup;

/// The tool that `--json-schema` adds to the conversation.
pub(crate) const STRUCTURED_OUTPUT: &str = "StructuredOutput";

/// The smallest budget that is passed, in US dollars, because `claude` rejects 0.
const MIN_BUDGET_USD: f64 = 0.0001;
/// Variables that would make `claude` believe it runs inside another agent.
const REMOVED: [&str; 2] = ["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT"];
/// Set unless the user has set them: no telemetry, no self-update during a run.
const QUIET: [(&str, &str); 2] =
    [("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"), ("DISABLE_AUTOUPDATER", "1")];

/// How a process is started for a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Invocation {
    /// The arguments except the system prompt's file.
    pub(crate) arguments: Vec<String>,
    /// Variables to set, or to remove where the value is `None`.
    pub(crate) variables: Vec<(&'static str, Option<String>)>,
    /// Digest of the system prompt, which names its file.
    pub(crate) system: String,
    pub(crate) access: Access,
    /// The lifetime in the service's prompt cache of all blocks that are marked for it, by `claude` and by this client.
    pub(crate) cache_lifetime: CacheLifetime,
}

/// What an agent can reach with its tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Nothing: it answers from its prompt.
    None,
    /// Files and the web, read-only.
    Read,
    /// It may run commands.
    Execute,
}

impl Invocation {
    pub(crate) fn new(setup: &ClaudeSetup, request: &AgentRequest, cache_lifetime: CacheLifetime) -> Self {
        let mut arguments = arguments(setup, request);
        // `claude` sends no further request after that.
        if let Some(usd) = request.max_usd {
            arguments.extend(["--max-budget-usd".to_owned(), format!("{:.4}", usd.max(MIN_BUDGET_USD))]);
        }
        Self {
            arguments,
            variables: variables(setup, request, cache_lifetime),
            system: blake3::hash(request.system.as_bytes()).to_hex().to_string(),
            access: Access::of(request.tools),
            cache_lifetime,
        }
    }
}

impl Access {
    fn of(tools: &[&str]) -> Self {
        match tools {
            [] => Self::None,
            tools if tools.contains(&"Bash") => Self::Execute,
            _ => Self::Read,
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
        add("--json-schema", without_schema_version(schema).to_string());
    }
    if !request.tools.is_empty() {
        add("--permission-mode", permission_mode(setup).to_owned());
        add("--permission-prompt-tool", "stdio".to_owned());
        add("--add-dir", setup.data_dir.display().to_string());
    }
    if setup.bare && works_bare(request.tools) {
        arguments.push("--bare".to_owned());
    }
    arguments
}

/// The schema without its `$schema` key: `claude` rejects every JSON Schema version except an old one.
fn without_schema_version(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Some(fields) = schema.as_object_mut() {
        fields.remove("$schema");
    }
    schema
}

/// Whether a call with these tools can run under `--bare`, which has no web search and runs commands without a
/// permission request.
fn works_bare(tools: &[&str]) -> bool {
    !tools.iter().any(|tool| ["Bash", "WebSearch", "WebFetch"].contains(tool))
}

fn permission_mode(setup: &ClaudeSetup) -> &str {
    match setup.permission_mode.as_str() {
        "bypassPermissions" => "default",
        other => other,
    }
}

fn variables(
    setup: &ClaudeSetup,
    request: &AgentRequest,
    cache_lifetime: CacheLifetime,
) -> Vec<(&'static str, Option<String>)> {
    let quiet = QUIET.into_iter().filter(|(name, _)| std::env::var_os(name).is_none());
    let own = [
        ("MLE_STAR_AGENT", Some(request.agent.name().to_owned())),
        ("MLE_STAR_VARIANT", request.variant.map(|variant| variant.name().to_owned())),
        ("MLE_STAR_RUN_ID", Some(setup.run_id.clone())),
        ("MLE_STAR_PLACE", Some(request.place.to_string())),
        ("MLE_STAR_SESSION", Some(request.place.session())),
    ];
    let fixed = REMOVED.into_iter().map(|name| (name, None)).chain([cache_lifetime_variable(cache_lifetime)]);
    let fixed = fixed.map(|(name, value)| (name, value.map(str::to_owned)));
    own.into_iter().chain(quiet.map(|(name, value)| (name, Some(value.to_owned())))).chain(fixed).collect()
}

/// The environment variable that makes `claude` use this cache lifetime. Without it, a logged-in `claude` may choose an
/// hour.
fn cache_lifetime_variable(cache_lifetime: CacheLifetime) -> (&'static str, Option<&'static str>) {
    let name = match cache_lifetime {
        CacheLifetime::FiveMinutes => "FORCE_PROMPT_CACHING_5M",
        CacheLifetime::Hour => "ENABLE_PROMPT_CACHING_1H",
    };
    (name, Some("1"))
}

/// The first message to a process: the agents to register and, for an agent with tools, the hook to call.
pub(crate) fn initialize(setup: &ClaudeSetup, tools: &[&str]) -> Value {
    let mut request = json!({"subtype": "initialize", "agents": setup.definitions});
    if !tools.is_empty() {
        request["hooks"] = json!({"PreToolUse": [{"matcher": null, "hookCallbackIds": [BEFORE_TOOL]}]});
    }
    json!({"type": "control_request", "request_id": "initialize", "request": request})
}

/// The message with the prompt. As composed by the client, it is not searched for `@file` and `/command`.
pub(crate) fn prompt(content: &Value) -> Value {
    json!({
        "type": "user", "client_composed": true,
        "message": {"role": "user", "content": content},
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use std::path::Path;
    use std::sync::Arc;
    use std::time::Duration;

    use mle_star_domain::place::Place;
    use mle_star_domain::role::AgentType;

    use super::*;
    use crate::setup::example;

    pub(crate) fn request(agent: AgentType, tools: &'static [&'static str]) -> AgentRequest {
        AgentRequest {
            place: Place::from("phase2/path-1/t0/k0/coder"),
            agent,
            variant: None,
            system: "system".to_owned(),
            prompt: "/clear @file {x}".to_owned(),
            shared: Vec::new(),
            inputs: serde_json::Map::new(),
            told: serde_json::Map::new(),
            tools,
            schema: None,
            model: "haiku".to_owned(),
            timeout: Duration::ZERO,
            time_left: Duration::ZERO,
            max_usd: None,
        }
    }

    #[test]
    fn a_process_has_the_budget_of_its_call() {
        let setup = example(Path::new("/data"));
        let of = |max_usd| {
            let request = AgentRequest { max_usd, ..request(AgentType::Coder, &[]) };
            Invocation::new(&setup, &request, CacheLifetime::Hour)
        };
        let check = |max_usd: Option<f64>, expected: &[&str]| {
            let arguments = of(max_usd).arguments;
            let from = arguments.iter().position(|argument| argument == "--max-budget-usd");
            assert_eq!(from.map_or(&[][..], |from| &arguments[from..]), expected, "{max_usd:?}");
        };
        check(None, &[]);
        check(Some(1.25), &["--max-budget-usd", "1.2500"]);
        check(Some(0.0), &["--max-budget-usd", "0.0001"]);
    }

    #[test]
    fn options_follow_the_setup() {
        let edition = "https://json-schema.org/draft/2020-12/schema";
        let schema = Some(Arc::new(json!({"$schema": edition, "type": "object"})));
        let check = |change: fn(&mut ClaudeSetup), tools: &'static [&'static str], expected: &str| {
            let mut setup = example(Path::new("/data"));
            change(&mut setup);
            let request = AgentRequest { schema: schema.clone(), ..request(AgentType::Coder, tools) };
            let arguments = arguments(&setup, &request).join(" ");
            let of_tools = arguments.split_once("--tools ").unwrap().1;
            assert_eq!(of_tools.replace(r#" --json-schema {"type":"object"}"#, " S"), expected);
        };
        let asks = "--permission-mode default --permission-prompt-tool stdio --add-dir /data";
        check(|_| (), &[], " S --bare");
        check(|_| (), &["Read"], &format!("Read S {asks} --bare"));
        check(|_| (), &["Read", "Bash"], &format!("Read,Bash S {asks}"));
        check(|_| (), &["WebSearch", "WebFetch"], &format!("WebSearch,WebFetch S {asks}"));
        check(|setup| setup.bare = false, &[], " S");
        let edits = asks.replace("default", "acceptEdits");
        let accepts = |setup: &mut ClaudeSetup| setup.permission_mode = "acceptEdits".to_owned();
        check(accepts, &["Read"], &format!("Read S {edits} --bare"));
    }

    #[test]
    fn every_process_knows_the_agents_and_those_with_tools_a_hook() {
        let mut setup = example(Path::new("/data"));
        setup.definitions.insert("coder".to_owned(), json!({"description": "Writes code"}));
        let check = |tools: &[&str], is_hooked: bool| {
            let initialize = initialize(&setup, tools);
            assert_eq!(initialize["request"]["agents"]["coder"]["description"], "Writes code");
            assert_eq!(initialize["request"]["hooks"]["PreToolUse"].is_array(), is_hooked);
        };
        check(&[], false);
        check(&["Read"], true);
    }
}
