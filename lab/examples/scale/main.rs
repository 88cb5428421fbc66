//! Measures many runs in one process, and long journals.
//!
//! `cargo run --release -p mle-star-lab --example scale -- runs [RUNS] [AGENTS AT ONCE]`: concurrent runs whose agents
//! take 50 ms, against the ideal schedule of calls that take what one takes alone, and of calls of exactly 50 ms; the
//! agents keep no record of their calls. `paths`: one run of eight paths. `transitions`: the time from the last effect of
//! a phase to the first of the next, at most 100 ms. `journal [RECORDS]`: appending to a journal of that many records.
//! Each measurement needs a fresh process, because it reads the peak memory.

#![expect(clippy::print_stdout, reason = "a benchmark is read on the terminal")]

mod appends;
mod transitions;

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mle_star::ctx::Outside;
use mle_star::event::{EventSink, NoEvents};
use mle_star::journal::{Frozen, Journal};
use mle_star::pipeline;
use mle_star::prompts::Prompts;
use mle_star::slots::Slots;
use mle_star::testing::{World, frozen};

/// Whatever goes wrong in a benchmark ends it.
type Failure = Box<dyn Error + Send + Sync>;

/// How long each agent takes.
const AGENT: Duration = Duration::from_millis(50);

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number =
        |index: usize, usual: usize| arguments.get(index).map_or(Ok(usual), |text| text.parse::<usize>());
    match arguments.first().map(String::as_str) {
        Some("runs") => {
            let count = number(1, 200)?;
            runs(count, number(2, count)?, frozen()).await?;
        }
        Some("paths") => {
            let mut inputs = frozen();
            inputs.config.num_parallel_solutions = 8;
            inputs.config.num_retrieved_models = 4;
            inputs.config.outer_loop_steps = 4;
            inputs.config.inner_loop_steps = 4;
            inputs.config.max_concurrent_scripts = Some(8);
            runs(1, 8, inputs).await?;
        }
        Some("transitions") => transitions::transitions().await?,
        Some("journal") => appends::appends(number(1, 100_000)?).await?,
        _ => return Err("say runs, paths, transitions or journal".into()),
    }
    println!("peak memory of the process: {:.0} MB", peak_mb()?);
    Ok(())
}

/// So many runs at once.
async fn runs(count: usize, agents: usize, inputs: Frozen) -> Result<(), Failure> {
    let folder = tempfile::tempdir()?;
    let (script_slots, agent_slots) = (Slots::new(8), Slots::new(agents));
    let inputs = Arc::new(inputs);
    let agent = agent_takes().await;
    let began = Instant::now();
    let all: Vec<_> = (0..count)
        .map(|index| {
            let folder = folder.path().join(index.to_string());
            let (inputs, script_slots, agent_slots) =
                (Arc::clone(&inputs), script_slots.clone(), agent_slots.clone());
            tokio::spawn(async move {
                std::fs::create_dir(&folder)?;
                run(&folder, &inputs, &script_slots, &agent_slots).await
            })
        })
        .collect();
    let mut calls = 0;
    let mut longest = 0;
    for run in all {
        let (asked, chain) = run.await??;
        calls += asked;
        longest = longest.max(chain);
    }
    let took = began.elapsed();
    let (calls, at_once) = (u32::try_from(calls)?, u32::try_from(agents)?);
    let took = took.as_secs_f64();
    let ideal = |agent: Duration| (agent * longest).max(agent * calls / at_once).as_secs_f64();
    println!(
        "{count} runs, {agents} agents at once, {calls} calls of {:.1} ms: {took:.2} s, ideally {:.2} s, ratio {:.2} \
         ({:.2} of calls of {AGENT:?})",
        agent.as_secs_f64() * 1e3,
        ideal(agent),
        took / ideal(agent),
        took / ideal(AGENT),
    );
    Ok(())
}

/// What an agent of 50 ms takes when it is alone: the runtime's timers go by whole milliseconds, upwards.
async fn agent_takes() -> Duration {
    let mut times = Vec::new();
    for _ in 0..21 {
        let began = Instant::now();
        tokio::time::sleep(AGENT).await;
        times.push(began.elapsed());
    }
    times.sort();
    times[times.len() / 2]
}

/// One run: the number of agent calls, and the length of the longest chain of dependent calls.
async fn run(
    folder: &std::path::Path,
    inputs: &Frozen,
    script_slots: &Slots,
    agent_slots: &Slots,
) -> Result<(usize, u32), Failure> {
    let world = World::new().agents_take(AGENT).only_traces();
    let journal = Journal::create(folder, inputs)?;
    run_in(&world, inputs, &journal, &NoEvents, script_slots, agent_slots).await?;
    let asked: Vec<String> = world.trace().into_iter().filter(|place| !place.ends_with("/run")).collect();
    Ok((asked.len(), chain(&asked)))
}

async fn run_in(
    world: &World,
    inputs: &Frozen,
    journal: &Journal,
    events: &dyn EventSink,
    script_slots: &Slots,
    agent_slots: &Slots,
) -> Result<(), Failure> {
    let (_keep, cancel) = tokio::sync::watch::channel(false);
    let prompts = Prompts::new(BTreeMap::new())?;
    let outside = Outside {
        agents: world,
        scripts: world,
        events,
        cancel: &cancel,
        environment: "Python 3",
        script_slots,
        agent_slots,
    };
    pipeline::run(inputs, &prompts, journal, outside).await?;
    Ok(())
}

/// Candidates and paths run in parallel; everything else is sequential.
fn chain(asked: &[String]) -> u32 {
    let below = |prefix: &str| {
        let mut branches: BTreeMap<&str, u32> = BTreeMap::new();
        for place in asked.iter().filter_map(|place| place.strip_prefix(prefix)) {
            *branches.entry(place.split('/').next().unwrap_or_default()).or_default() += 1;
        }
        branches
    };
    let (candidates, paths) = (below("phase1/candidate-"), below("phase2/path-"));
    let beside = [&candidates, &paths].map(|all| all.values().sum::<u32>());
    let longest = [&candidates, &paths].map(|all| all.values().max().copied().unwrap_or_default());
    let all = u32::try_from(asked.len()).unwrap_or(u32::MAX);
    all - beside.iter().sum::<u32>() + longest.iter().sum::<u32>()
}

/// The most memory that this process had at once, in MB.
fn peak_mb() -> Result<f64, Failure> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM")?;
    let kib: f64 = line.split_whitespace().next().ok_or("no figure")?.parse()?;
    Ok(kib * 1024.0 / 1e6)
}
