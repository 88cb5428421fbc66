//! How much text the agents of a whole run read, by role. No model is asked.
//!
//!     cargo run --release -p mle-star --example prompt_tokens [KEY=VALUE ...]
//!
//! The run has the counts of the paper and scripts of 200 lines. A quarter of the attempts improves the solution, one in
//! eight scripts fails once, and nothing leaks. Settings such as `preset=paper` are those of a run. A token of such
//! text has about three and a half characters.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measures")]

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::error::Error;
use std::fmt::Write as _;

use mle_star::config::{Config, Preset};
use mle_star::effects::{Captured, ScriptOutcome};
use mle_star::journal::{Frozen, Journal};
use mle_star::protocol::{Holdout, Protocol, Split, SplitKind};
use mle_star::role::AgentType;
use mle_star::slots::Slots;
use mle_star::testing::{World, failed, frozen, measured, ran};
use serde_json::{Map, Value, json};

/// M, T, K, L and R of the paper.
const COUNTS: [(&str, u32); 5] = [
    ("num_retrieved_models", 4),
    ("outer_loop_steps", 4),
    ("inner_loop_steps", 4),
    ("num_parallel_solutions", 2),
    ("ensemble_rounds", 5),
];
const LINES: usize = 200;
const BLOCK: usize = 25;

/// What the agents of one role read, in characters.
#[derive(Clone, Copy, Default)]
struct Read {
    calls: usize,
    all: usize,
    /// The system prompts and shared beginnings that an earlier call of the same kind had. Claude's service reads them
    /// from its cache, if it is asked within minutes, and bills a tenth.
    cached: usize,
    /// The longest beginnings that any earlier call had: what services cache that look at prefixes alone.
    prefixes: usize,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut inputs = Frozen { protocol: Some(protocol()), ..frozen() };
    inputs.config = config(std::env::args().skip(1))?;
    inputs.task.description = "A sentence about the competition. ".repeat(60);
    inputs = with_data_summary(&inputs)?;
    let folder = tempfile::tempdir()?;
    let (world, journal) = (world(), Journal::create(folder.path(), &inputs)?);
    world.solve(&inputs, &journal, &Slots::new(1)).await.map_err(|stop| stop.to_string())?;
    let mut by_role: BTreeMap<&str, Read> = BTreeMap::new();
    let mut before: BTreeSet<String> = BTreeSet::new();
    let mut parts = HashSet::new();
    for request in world.trace().iter().filter_map(|place| world.request(place)) {
        let text = format!("{}\n{}", request.system, request.prompt);
        let role = by_role.entry(AgentType::name(request.agent)).or_default();
        role.calls += 1;
        role.all += text.len();
        role.prefixes += known(&before, &text);
        // Tools come before the system prompt.
        let system = (request.tools, request.schema.is_some(), request.system.clone());
        let shared = request.prompt[..request.shared].to_owned();
        if !parts.insert((system.clone(), String::new())) {
            role.cached += request.system.len();
        }
        if !shared.is_empty() && !parts.insert((system, shared)) {
            role.cached += request.shared;
        }
        before.insert(text);
    }
    print!("{}", table(&by_role));
    Ok(())
}

/// The length of the longest beginning that a text shares with an earlier one: with one of its neighbours in order.
fn known(before: &BTreeSet<String>, text: &String) -> usize {
    let shared = |other: &String| other.bytes().zip(text.bytes()).take_while(|(one, two)| one == two).count();
    let neighbours =
        [before.range::<String, _>(..=text).next_back(), before.range::<String, _>(text..).next()];
    neighbours.into_iter().flatten().map(shared).max().unwrap_or_default()
}

fn table(by_role: &BTreeMap<&str, Read>) -> String {
    let mut text =
        "| role | calls | characters | cached by claude | cached by prefix |\n|---|---:|---:|---:|---:|\n"
            .to_owned();
    let mut sum = Read::default();
    for (role, Read { calls, all, cached, prefixes }) in by_role {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {role} | {calls} | {all} | {cached} | {prefixes} |");
        let (calls, all) = (sum.calls + calls, sum.all + all);
        sum = Read { calls, all, cached: sum.cached + cached, prefixes: sum.prefixes + prefixes };
    }
    format!("{text}| all | {} | {} | {} | {} |\n", sum.calls, sum.all, sum.cached, sum.prefixes)
}

fn config(settings: impl Iterator<Item = String>) -> Result<Config, Box<dyn Error>> {
    let mut keys: Map<String, Value> =
        COUNTS.iter().map(|(key, count)| ((*key).to_owned(), json!(count))).collect();
    for setting in settings {
        let (key, value) = setting.split_once('=').ok_or("a setting is KEY=VALUE")?;
        if setting == "preset=paper" {
            keys.extend(Config::of_preset(Preset::Paper));
        } else {
            keys.insert(key.to_owned(), json!(value));
        }
    }
    Ok(Config::from_layer(keys)?)
}

fn protocol() -> Protocol {
    let split = Split { kind: SplitKind::Stratified, column: None, why: String::new() };
    let holdout = Holdout::Off { why: String::new() };
    Protocol { split: Some(split), holdout, verifies: true, comparison: String::new() }
}

/// Adds a summary of a table with 30 columns, where the program has one.
fn with_data_summary(inputs: &Frozen) -> Result<Frozen, Box<dyn Error>> {
    let mut value = serde_json::to_value(inputs)?;
    value["data_summary"] = json!("| column | number | 0.02 | 4512 | 0.1, 0.4, 0.9 | 0 |\n".repeat(70));
    Ok(serde_json::from_value(value)?)
}

/// Lines as long as those of scripts: forty characters on average.
fn lines(name: &str, count: usize) -> String {
    (0..count).fold(String::new(), |mut text, n| {
        let _ = writeln!(text, "x['{name}_{n}'] = frame['raw_{n}'].rank()");
        text
    })
}

fn fenced(script: &str) -> String {
    format!("```python\n{script}```")
}

/// The block that step `t` refines.
fn block(t: u32) -> String {
    lines(&format!("block_{t}"), BLOCK)
}

/// The block of step `t` after an attempt that changed a quarter of it.
fn changed(t: u32, attempt: &str) -> String {
    let (first, rest) = (lines(attempt, BLOCK / 4), block(t));
    let kept: String = rest.split_inclusive('\n').skip(BLOCK / 4).collect();
    format!("{first}{kept}")
}

/// A script with the blocks of all steps.
fn script(name: &str) -> String {
    let blocks: String = (0..4).map(block).collect();
    format!("{}{blocks}", lines(name, LINES - 4 * BLOCK))
}

/// A score with its bootstrap replicates, and the output of the script.
fn scored(score: f64) -> ScriptOutcome {
    let folds: String =
        (1..=5).map(|fold| format!("Fold {fold}: {:.4}\n", score + 0.001 * f64::from(fold))).collect();
    let mut outcome = measured(&[score, score - 0.01, score + 0.01]);
    outcome.stdout = Captured::whole(format!("{folds}Final Validation Performance: {score}\n"));
    outcome
}

fn world() -> World {
    let plan = "A sentence about what to change and why. ".repeat(8);
    let models: Vec<Value> = (0..4)
        .map(|model| json!({"model_name": format!("model-{model}"), "example_code": lines("example", 12)}))
        .collect();
    let mut world = World::new().agent("phase1/retriever", &json!({"models": models}).to_string());
    for candidate in 0..4 {
        let at = format!("phase1/candidate-{candidate}");
        world = world.agent(&format!("{at}/init"), &fenced(&script(&format!("c{candidate}"))));
        world = world.script(&format!("{at}/run"), scored(0.70 - 0.01 * f64::from(candidate)));
    }
    world = world.script("phase1/candidate-1/run", failed("KeyError: 'x'"));
    for (merge, score) in [(1, 0.71), (2, 0.72), (3, 0.70)] {
        let merged = script(&format!("m{merge}"));
        world = world.agent(&format!("phase1/merge-{merge}/merger"), &fenced(&merged));
        world = world.script(&format!("phase1/merge-{merge}/run"), scored(score));
    }
    for (path, t) in (0..2_u32).flat_map(|path| (0..4_u32).map(move |t| (path, t))) {
        let step = format!("phase2/path-{path}/t{t}");
        let study = lines(&format!("study_{path}_{t}"), LINES);
        world = world.agent(&format!("{step}/ablation"), &fenced(&study));
        let printed = "without a part: 0.7123 (-0.0101), folds -0.01 -0.02 -0.01 -0.00 -0.01\n".repeat(4);
        let printed = Captured::whole(printed);
        world = world.script(&format!("{step}/run"), ScriptOutcome { stdout: printed, ..ran(None) });
        world = world.agent(&format!("{step}/summarize"), &plan.repeat(2));
        let plans = json!({"plans": [{"code_block": block(t), "plan": plan}]});
        world = world.agent(&format!("{step}/extractor"), &plans.to_string());
        for k in 0..4_u32 {
            let code = changed(t, &format!("attempt_{path}_{k}"));
            let score = if k == 1 { 0.73 + 0.01 * f64::from(t) } else { 0.6 };
            let run = if k == 2 && t % 2 == 0 { failed("KeyError: 'x'") } else { scored(score) };
            world = world
                .agent(&format!("{step}/k{k}/planner"), &plan)
                .agent(&format!("{step}/k{k}/coder"), &fenced(&code))
                .script(&format!("{step}/k{k}/run"), run);
        }
    }
    for round in 0..5_u32 {
        let at = format!("phase3/r{round}");
        let score = if round == 0 || round == 2 { 0.78 + 0.01 * f64::from(round) } else { 0.7 };
        world = world
            .agent(&format!("{at}/ens_planner"), &plan)
            .agent(&format!("{at}/ensembler"), &fenced(&lines(&format!("r{round}"), 2 * LINES)))
            .script(&format!("{at}/run"), scored(score));
    }
    world
}
