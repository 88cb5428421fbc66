//! `doctor --probe-agents`: one real question through the client of runs.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mle_star::backend::AgentBackend;
use mle_star::stop::Stop;
use mle_star_domain::config::{AgentsChoice, Config};
use mle_star_domain::effects::{AgentReply, AgentRequest, Answer, Usage};
use mle_star_domain::place::Place;
use mle_star_domain::role::AgentType;
use mle_star_domain::trouble::Trouble;
use mle_star_report::figures::duration;
use mle_star_report::money;
use mle_star_run::provider::{Workplace, ask_claude, ask_codex, ask_openai, claude, codex, openai};
use mle_star_run::runtime::wait_for;
use mle_star_run::settings::process_environment;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::exit::{Exit, Failure};
use crate::output;
use crate::watch::{Look, Show, Terminal, Watchers};

/// Long enough for any model.
const TIMEOUT: Duration = Duration::from_secs(120);

/// The result.
#[derive(Debug, Serialize)]
struct Probe {
    model: String,
    /// How the agents are reached.
    login: String,
    /// The version of `claude`, if it was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    claude: Option<String>,
    /// The version of `codex`, if it was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    codex: Option<String>,
    seconds: f64,
    usage: Usage,
    /// The structured answer; `None`: the model answered in text only.
    answer: Option<Value>,
}

/// Asks one question and prints the result.
///
/// # Errors
/// The agents cannot be used, or there is no answer.
pub fn probe(config: &Config, as_json: bool) -> Result<Exit, Failure> {
    let cannot = |error: std::io::Error| {
        let hint = "free disk space, or set TMPDIR to a writable folder";
        Failure::failed(Trouble::new(format!("cannot create a folder: {error}"), hint))
    };
    let folder = tempfile::Builder::new().prefix("mle-star-probe-").tempdir().map_err(cannot)?;
    let (work, data) = (folder.path().join("agents"), folder.path().join("empty"));
    std::fs::create_dir(&data).map_err(cannot)?;
    let at = Workplace { run_id: "probe", folder: &work, data_dir: &data };
    let Reached { agents, login, claude, codex } = reach(config, at)?;
    let with = [("claude", &claude), ("codex", &codex)]
        .map(|(name, version)| version.as_ref().map(|version| format!(" with {name} {version}")));
    let with: String = with.into_iter().flatten().collect();
    output::talk(&format!("asking {}{with} ({login})", config.model));
    // One question needs no status lines.
    let terminal = Terminal::new(Show::Everything, Look::plain());
    let run = terminal.only_run();
    let events = Watchers::new("probe", vec![&run]);
    let started = Instant::now();
    let request = question(config);
    let reply = wait_for(agents.ask(&request, &events))?.map_err(|stop| Failure::failed(trouble(stop)))?;
    let seconds = started.elapsed().as_secs_f64();
    terminal.finish();
    let answer = structured(&reply).map_err(Failure::failed)?;
    let probe =
        Probe { model: config.model.clone(), login, claude, codex, seconds, usage: reply.usage, answer };
    let show = if as_json { output::data } else { output::shown };
    show(&shown(&probe, as_json));
    Ok(Exit::Done)
}

/// Agents that can be asked.
struct Reached {
    agents: Box<dyn AgentBackend>,
    login: String,
    claude: Option<String>,
    codex: Option<String>,
}

/// The endpoint or `codex` if the settings choose it, else `claude`.
fn reach(config: &Config, at: Workplace<'_>) -> Result<Reached, Failure> {
    if config.agents == AgentsChoice::OpenAi {
        let endpoint = openai::endpoint(config, &process_environment)?;
        let agents = Box::new(ask_openai(&endpoint, config).map_err(Failure::failed)?);
        return Ok(Reached { agents, login: openai::reason(&endpoint, config), claude: None, codex: None });
    }
    if config.agents == AgentsChoice::Codex {
        let codex = wait_for(codex::find(config, &process_environment, true))??;
        let agents = Box::new(ask_codex(&codex, config, at.folder).map_err(Failure::failed)?);
        let version = Some(codex.executable.version.to_string());
        return Ok(Reached { agents, login: codex.login.reason(), claude: None, codex: version });
    }
    let claude = wait_for(claude(config, &process_environment, true))??;
    let agents = ask_claude(&claude, config, &BTreeMap::new(), at).map_err(Failure::failed)?;
    let version = Some(claude.executable.version.to_string());
    Ok(Reached { agents: Box::new(agents), login: claude.login.reason(), claude: version, codex: None })
}

fn question(config: &Config) -> AgentRequest {
    AgentRequest {
        place: Place::from("probe"),
        agent: AgentType::Summarize,
        variant: None,
        system: "You answer briefly and in the format that is asked for.".to_owned(),
        prompt: "What is 6 times 7? Give the number as `answer`.".to_owned(),
        shared: Vec::new(),
        inputs: Map::new(),
        told: Map::new(),
        tools: &[],
        schema: Some(Arc::new(json!({
            "type": "object", "properties": {"answer": {"type": "integer"}},
            "required": ["answer"], "additionalProperties": false,
        }))),
        model: config.model.clone(),
        timeout: TIMEOUT,
        time_left: TIMEOUT,
        max_usd: None,
    }
}

fn structured(reply: &AgentReply) -> Result<Option<Value>, Trouble> {
    let hint = "check that the login is valid and the model exists; `mle-star doctor` shows the login in use";
    match &reply.answer {
        Answer::Text { structured, .. } => Ok(structured.clone()),
        Answer::Failed { reason } => Err(Trouble::new(format!("no answer: {reason}"), hint)),
        Answer::Refused { limit } => Err(Trouble::new(format!("no answer: {}", limit.name()), hint)),
    }
}

fn trouble(stop: Stop) -> Trouble {
    match stop {
        Stop::Outside(trouble) => trouble,
        Stop::Agents { trouble, .. } => *trouble,
        other => Trouble::new(other.to_string(), "try again"),
    }
}

fn shown(probe: &Probe, as_json: bool) -> String {
    if as_json {
        return serde_json::to_string_pretty(probe).unwrap_or_default();
    }
    let answer = match &probe.answer {
        Some(answer) => format!("structured answer {answer}"),
        None => "an answer in text only; runs parse structured answers from the text".to_owned(),
    };
    let (model, time, usage) = (&probe.model, duration(probe.seconds), money::usage(&probe.usage));
    format!("{model} answered in {time} ({usage}): {answer}")
}
