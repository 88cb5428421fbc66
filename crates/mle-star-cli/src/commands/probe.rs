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
use mle_star_run::provider::{Choice, Chosen, Workplace, ask_claude, ask_codex, ask_openai, choose, name};
use mle_star_run::runtime::wait_for;
use mle_star_run::settings::process_environment;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::exit::{Exit, Failure};
use crate::output;
use crate::watch::{Show, Terminal, TerminalStyle, Watchers};

/// Long enough for any model.
const TIMEOUT: Duration = Duration::from_secs(120);

/// The result.
#[derive(Debug, Serialize)]
struct Probe {
    model: String,
    /// How the agents are reached.
    login: String,
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
    let (agents, login) = reach(config, at)?;
    output::talk(&format!("asking {} ({login})", config.model));
    // One question needs no status lines.
    let terminal = Terminal::new(Show::Everything, TerminalStyle::plain());
    let run = terminal.only_run();
    let events = Watchers::new("probe", vec![&run]);
    let started = Instant::now();
    let request = question(config);
    let reply = wait_for(agents.ask(&request, &events))?.map_err(|stop| Failure::failed(trouble(stop)))?;
    let seconds = started.elapsed().as_secs_f64();
    terminal.finish();
    let answer = structured(&reply).map_err(Failure::failed)?;
    let probe = Probe { model: config.model.clone(), login, seconds, usage: reply.usage, answer };
    if as_json {
        output::json(&probe)?;
    } else {
        output::shown(&probe.line());
    }
    Ok(Exit::Done)
}

/// The agents of the settings, or else those of `claude`, with how they are reached.
fn reach(config: &Config, at: Workplace<'_>) -> Result<(Box<dyn AgentBackend>, String), Failure> {
    let agents = if config.agents == AgentsChoice::Auto { AgentsChoice::Claude } else { config.agents };
    let config = &Config { agents, ..config.clone() };
    let Choice { chosen, reason } = wait_for(choose(config, &process_environment))??;
    let agents = match chosen {
        Chosen::OpenAi(endpoint) => ask_openai(&endpoint, config).map(|agents| Box::new(agents) as _),
        Chosen::Codex(codex) => ask_codex(&codex, config, at.folder).map(|agents| Box::new(agents) as _),
        Chosen::Claude(claude) => {
            ask_claude(&claude, config, &BTreeMap::new(), at).map(|agents| Box::new(agents) as _)
        }
        Chosen::Offline | Chosen::Files => {
            let message = format!("agents: {} asks no language model", name(agents));
            return Err(Trouble::new(message, "name others with --set agents=claude").into());
        }
    };
    Ok((agents.map_err(Failure::failed)?, reason))
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

impl Probe {
    fn line(&self) -> String {
        let answer = match &self.answer {
            Some(answer) => format!("structured answer {answer}"),
            None => "an answer in text only; runs parse structured answers from the text".to_owned(),
        };
        let (model, time, usage) = (&self.model, duration(self.seconds), money::usage(&self.usage));
        format!("{model} answered in {time} ({usage}): {answer}")
    }
}
