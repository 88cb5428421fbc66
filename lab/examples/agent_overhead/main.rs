//! Measures the overhead of an agent call, with and without prefetched processes.
//!
//! `cargo run --release -p mle-star-lab --example agent_overhead [CLAUDE [ROUNDS]]`
//!
//! First it times single calls, cold and prefetched in turn, with the given `claude` and a service on loopback that
//! answers at once; `unshare -rn` rules out any other network. Then it times a run with the paper's counts and a fake
//! `claude` that takes 0.3 s to answer: one that starts at once, and one that takes 0.4 s to start.

mod service;
mod stand_in;

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mle_star::agents::definitions;
use mle_star::backend::AgentBackend;
use mle_star::ctx::Outside;
use mle_star::event::NoEvents;
use mle_star::journal::{Frozen, Journal, Kind};
use mle_star::pipeline;
use mle_star::prompts::Prompts;
use mle_star::slots::Slots;
use mle_star::testing::frozen;
use mle_star_backends::backend::{ScriptBackend, ScriptSetup};
use mle_star_backends::script::environment::{EnvironmentChoice, python_environment};
use mle_star_claude::{ClaudeAgents, ClaudeSetup};
use mle_star_domain::config::{AgentsChoice, Config};
use mle_star_domain::effects::{AgentRequest, Answer};
use mle_star_domain::place::Place;
use mle_star_domain::role::AgentType;
use mle_star_domain::task::Task;
use mle_star_process::machine::machine;

/// Times of the fake, in seconds.
const START: f64 = 0.4;
const ANSWER: f64 = 0.3;

type Failure = Box<dyn Error>;

#[tokio::main]
#[expect(clippy::print_stdout, reason = "the measurement is what this program is for")]
async fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    if let Some(claude) = arguments.next() {
        let rounds: usize = arguments.next().map_or(Ok(15), |text| text.parse())?;
        let ([cold, ahead], each) = single_calls(Path::new(&claude), rounds).await?;
        println!("one call, {rounds} rounds in turn, medians");
        println!("  cold           {cold:>8.0?}   {:>5.1} calls a second", 1.0 / cold.as_secs_f64());
        println!("  prefetched  {ahead:>8.0?}   {:>5.1} calls a second", 1.0 / ahead.as_secs_f64());
        println!("  ratio          {:>8.2}", ahead.as_secs_f64() / cold.as_secs_f64());
        println!("  8 at once      {each:>8.0?} a call");
    }
    let config = Config { agents: AgentsChoice::Claude, ..Config::default() };
    println!("whole run, by the time that a process takes to start");
    let mut at_once = None;
    for (name, start, prefetch) in [("at once", 0.0, 0), ("cold", START, 0), ("prefetched", START, 4)] {
        let (took, calls, scripts) = whole_run(&config, start, prefetch).await?;
        let ratio = took.as_secs_f64() / at_once.get_or_insert(took).as_secs_f64();
        println!("  {name:<14} {took:>8.1?}   {ratio:.2} times, {calls} calls, {scripts} scripts");
    }
    Ok(())
}

/// Medians of single calls, cold and prefetched, and the time per call of eight at once.
async fn single_calls(claude: &Path, rounds: usize) -> Result<([Duration; 2], Duration), Failure> {
    let address = service::answer_at_once().await?;
    let folder = tempfile::tempdir()?;
    let wrapper = stand_in::wrapper(folder.path(), claude, &address)?;
    let agents = ClaudeAgents::new(setup(&wrapper, folder.path(), 1)?)?;
    let (mut cold, mut ahead) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        cold.push(call(&agents).await?);
        agents.prefetch(&[request()]);
        tokio::time::sleep(Duration::from_secs(2)).await;
        ahead.push(call(&agents).await?);
    }
    let started = Instant::now();
    tokio::try_join!(
        call(&agents),
        call(&agents),
        call(&agents),
        call(&agents),
        call(&agents),
        call(&agents),
        call(&agents),
        call(&agents)
    )?;
    Ok(([median(cold), median(ahead)], started.elapsed() / 8))
}

async fn call(agents: &ClaudeAgents) -> Result<Duration, Failure> {
    let started = Instant::now();
    match agents.ask(&request(), &NoEvents).await?.answer {
        Answer::Text { .. } => Ok(started.elapsed()),
        other => Err(format!("{other:?}").into()),
    }
}

fn request() -> AgentRequest {
    AgentRequest {
        place: Place::from("phase2/path-0/t0/k0/coder"),
        agent: AgentType::Coder,
        variant: None,
        system: "You write code.".to_owned(),
        prompt: "Write some.".to_owned(),
        shared: Vec::new(),
        inputs: serde_json::Map::new(),
        told: serde_json::Map::new(),
        tools: &[],
        schema: None,
        model: "sonnet".to_owned(),
        timeout: Duration::from_secs(60),
        time_left: Duration::from_secs(60),
        max_usd: None,
    }
}

/// The time of a run, and its numbers of calls and scripts.
async fn whole_run(
    config: &Config,
    start: f64,
    prefetch: usize,
) -> Result<(Duration, usize, usize), Failure> {
    let folder = tempfile::tempdir()?;
    let claude = stand_in::stand_in(folder.path(), start, ANSWER)?;
    let setup = setup(&claude, folder.path(), prefetch)?;
    let frozen = inputs(config, &setup.data_dir)?;
    let run = folder.path().join("run");
    fs::create_dir(&run)?;
    let python = python_environment(EnvironmentChoice::Given(PathBuf::from("python3")), &|_| ()).await?;
    let scripts =
        ScriptBackend::new(ScriptSetup::new(run.clone(), setup.data_dir.clone(), python, machine().await))?;
    let agents = ClaudeAgents::new(setup)?;
    let (journal, prompts) = (Journal::create(&run, &frozen)?, Prompts::new(BTreeMap::new())?);
    let (_keep, cancel) = tokio::sync::watch::channel(false);
    let outside = Outside {
        agents: &agents,
        scripts: &scripts,
        events: &NoEvents,
        cancel: &cancel,
        environment: "",
        script_slots: &Slots::new(1),
        agent_slots: &Slots::new(8),
    };
    let started = Instant::now();
    let finished = pipeline::run(&frozen, &prompts, &journal, outside).await?;
    let took = started.elapsed();
    if finished.submission.is_none() {
        return Err("the run ended without a submission".into());
    }
    let effects = journal.effects()?;
    let count = |kind: Kind| effects.iter().filter(|effect| effect.kind == kind).count();
    Ok((took, count(Kind::Agent), count(Kind::Script)))
}

fn setup(claude: &Path, folder: &Path, prefetch: usize) -> Result<ClaudeSetup, Failure> {
    let data_dir = folder.join("data");
    fs::create_dir_all(&data_dir)?;
    fs::write(data_dir.join("train.csv"), "id,y\n1,0\n")?;
    Ok(ClaudeSetup {
        executable: claude.to_owned(),
        bare: true,
        run_id: "overhead".to_owned(),
        folder: folder.join("agents"),
        data_dir,
        permission_mode: "default".to_owned(),
        max_wait: Duration::ZERO,
        blocked_domains: Vec::new(),
        blocked_commands: Vec::new(),
        definitions: definitions(&Config::default(), &BTreeMap::new()),
        prefetch,
    })
}

fn inputs(config: &Config, data_dir: &Path) -> Result<Frozen, Failure> {
    let frozen = frozen();
    let task = Task { data_dir: data_dir.to_owned(), target_column: None, ..frozen.task };
    let prompts = Prompts::new(BTreeMap::new())?.texts().clone();
    Ok(Frozen { task, config: config.clone(), prompts, ..frozen })
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
