//! How much text the agents of a whole run read, by role. No model is asked.
//!
//!     cargo run --release -p mle-star-lab --example prompt_tokens [KEY=VALUE ...]
//!
//! The run has the counts of the paper and scripts of 200 lines. A quarter of the attempts improves the solution, one in
//! eight scripts fails once, and nothing leaks. An ensemble holds both solutions and 40 lines of its own; half of a plan
//! stands in other plans too. Settings such as `preset=paper` are those of a run. Five more say what to assume: `helps=4`
//! of the attempts at a block improve the solution (default 1); a script runs for `script=SECONDS` (default 1), and the service keeps a beginning for `kept=SECONDS` after
//! each use (default 300), or for `longer=SECONDS` if the agent has no tools (default: as `kept`), if it has `least=TOKENS`
//! (default 1024). A token of such text has about three and a half characters.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measures")]

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::error::Error;
use std::fmt::Write as _;

use mle_star::journal::{Frozen, Journal};
use mle_star::slots::Slots;
use mle_star::testing::{World, failed, frozen, measured, protocol, ran};
use mle_star_domain::config::{Config, Preset};
use mle_star_domain::effects::{AgentRequest, Captured, ScriptOutcome};
use mle_star_domain::role::AgentType;
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

/// How long an agent takes to answer, in seconds.
const ANSWER: f64 = 30.0;
/// The characters of a token.
const TOKEN: f64 = 3.5;
/// What `claude` says about tools before the system prompt, in characters.
const TOOLS: usize = 2000;

/// What the agents of one role read, in characters.
#[derive(Clone, Copy, Default)]
struct Read {
    calls: usize,
    all: usize,
    /// What claude's service reads from its cache, and bills at a tenth.
    cached: usize,
    /// The longest beginnings that any earlier call had: what services cache that look at prefixes alone.
    prefixes: usize,
}

/// What does not depend on the run.
struct Assumptions {
    /// How long a script runs, in seconds.
    script: f64,
    /// The least length of a beginning that the service keeps, in tokens.
    least: f64,
    /// How long it keeps one after each use, in seconds.
    kept: f64,
    /// The same for agents without tools.
    longer: Option<f64>,
    /// How many attempts at each block improve the solution: the second one, or all.
    helps: u32,
}

/// The cache of claude's service, as it is used by `claude`: a request marks the end of its system prompt, and the first
/// of the parts that it shares which is not in the cache, else the last. It reads the longest of its own parts that an
/// earlier request with the same tools has marked.
#[derive(Default)]
struct Cache {
    /// Beginnings, and when they were last used.
    kept: HashMap<String, f64>,
}

impl Cache {
    /// The length of what a request reads from the cache.
    fn read(&mut self, request: &AgentRequest, now: f64, assumed: &Assumptions) -> usize {
        let AgentRequest { system, prompt, shared, tools, schema, .. } = request;
        let tools = schema.as_ref().map_or_else(String::new, ToString::to_string)
            + &if tools.is_empty() { String::new() } else { format!("{tools:?}{}", " ".repeat(TOOLS)) };
        let longer = assumed.longer.filter(|_| request.tools.is_empty());
        let lasts = longer.unwrap_or(assumed.kept);
        let beginning = |end: usize| format!("{tools}{system}\n{}", &prompt[..end]);
        let ends: Vec<usize> = std::iter::once(0).chain(shared.iter().copied()).collect();
        let is_kept = |end: &usize| self.kept.get(&beginning(*end)).is_some_and(|used| now - used <= lasts);
        let hit = ends.iter().copied().rev().find(is_kept);
        let marked = ends.iter().skip(1).find(|end| !is_kept(end)).or(ends.last()).copied();
        for end in [Some(0), hit, marked].into_iter().flatten() {
            let text = beginning(end);
            #[expect(clippy::cast_precision_loss, reason = "a length")]
            if text.len() as f64 >= assumed.least * TOKEN {
                self.kept.insert(text, now);
            }
        }
        hit.map_or(0, |end| system.len() + end)
    }
}

/// The time at each place: paths run side by side, the rest one after the other.
#[derive(Default)]
struct Clock {
    main: f64,
    paths: BTreeMap<String, f64>,
}

impl Clock {
    fn of(&mut self, place: &str) -> &mut f64 {
        let path = place.strip_prefix("phase2/").and_then(|rest| rest.split('/').next());
        match path {
            Some(path) => self.paths.entry(path.to_owned()).or_insert(self.main),
            None => {
                self.main = self.paths.values().copied().fold(self.main, f64::max);
                &mut self.main
            }
        }
    }

    fn now(&mut self, place: &str) -> f64 {
        *self.of(place)
    }

    fn pass(&mut self, place: &str, seconds: f64) {
        *self.of(place) += seconds;
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut inputs = Frozen { protocol: Some(protocol()), ..frozen() };
    let (keys, assumptions) = settings(std::env::args().skip(1))?;
    inputs.config = Config::from_layer(keys)?;
    inputs.task.description = "A sentence about the competition. ".repeat(60);
    inputs = with_data_summary(&inputs)?;
    let folder = tempfile::tempdir()?;
    let (world, journal) = (world(assumptions.helps), Journal::create(folder.path(), &inputs)?);
    world.solve(&inputs, &journal, &Slots::new(1)).await.map_err(|stop| stop.to_string())?;
    let mut by_role: BTreeMap<&str, Read> = BTreeMap::new();
    let mut before: BTreeSet<String> = BTreeSet::new();
    let (mut cache, mut clock) = (Cache::default(), Clock::default());
    for place in world.trace() {
        let Some(request) = world.request(&place) else {
            clock.pass(&place, assumptions.script);
            continue;
        };
        let text = format!("{}\n{}", request.system, request.prompt);
        let role = by_role.entry(AgentType::name(request.agent)).or_default();
        role.calls += 1;
        role.all += text.len();
        role.prefixes += known(&before, &text);
        role.cached += cache.read(&request, clock.now(&place), &assumptions);
        clock.pass(&place, ANSWER);
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

fn settings(
    settings: impl Iterator<Item = String>,
) -> Result<(Map<String, Value>, Assumptions), Box<dyn Error>> {
    let mut keys: Map<String, Value> =
        COUNTS.iter().map(|(key, count)| ((*key).to_owned(), json!(count))).collect();
    let mut assumptions = Assumptions { script: 1.0, least: 1024.0, kept: 300.0, longer: None, helps: 1 };
    for setting in settings {
        match setting.split_once('=').ok_or("a setting is KEY=VALUE")? {
            ("preset", "paper") => keys.extend(Config::of_preset(Preset::Paper)),
            ("script", seconds) => assumptions.script = seconds.parse()?,
            ("least", tokens) => assumptions.least = tokens.parse()?,
            ("kept", seconds) => assumptions.kept = seconds.parse()?,
            ("helps", count) => assumptions.helps = count.parse()?,
            ("longer", seconds) => assumptions.longer = Some(seconds.parse()?),
            (key, value) => {
                let number = value.parse::<u32>().map(Value::from);
                keys.insert(key.to_owned(), number.unwrap_or_else(|_| json!(value)));
            }
        }
    }
    Ok((keys, assumptions))
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

/// How a script ends.
const END: &str = "for fit, held in folds.split(x):
    model = LGBMClassifier(**params)
    model.fit(x.iloc[fit], y.iloc[fit])
    oof[held] = model.predict_proba(x.iloc[held])[:, 1]
print(roc_auc_score(y, oof))
";

/// A script with the blocks of all steps.
fn script(name: &str) -> String {
    let blocks: String = (0..4).map(block).collect();
    format!("{}{blocks}{END}", lines(name, LINES - 4 * BLOCK))
}

/// A score with its bootstrap replicates, and the output of the script.
fn scored(score: f64) -> ScriptOutcome {
    let folds: String =
        (1..=5).map(|fold| format!("Fold {fold}: {:.4}\n", score + 0.001 * f64::from(fold))).collect();
    let mut outcome = measured(&[score, score - 0.01, score + 0.01]);
    outcome.stdout = Captured::whole(format!("{folds}Final Validation Performance: {score}\n"));
    outcome
}

/// A plan of eight sentences, of which four stand in all plans.
fn plan(name: &str) -> String {
    let of_all = (0..4).map(|n| format!("Keep part {n} of the block as it is, because it helped before. "));
    let own = (0..4).map(|n| format!("Set the {name} of part {n} to {n}.5 and see why. "));
    of_all.chain(own).collect()
}

/// The summary of a study with six variants.
fn summary(path: u32, t: u32) -> String {
    let variant = |n: u32| {
        format!(
            "- without part {n} of block {t}: 0.71{n}{path} (-0.0{n}01), every fold is worse than the baseline\n"
        )
    };
    (1..=6).map(variant).collect()
}

/// An ensemble of the solutions of both paths, with lines of its own.
fn together(round: u32) -> String {
    format!("{}{}{}", member(0), member(1), lines(&format!("r{round}"), 40))
}

/// The best solution of a path, if the second attempt at each block is kept.
fn member(path: u32) -> String {
    let blocks: String = (0..4).map(|t| changed(t, &format!("attempt_{path}_1"))).collect();
    format!("{}{blocks}{END}", lines("m2", LINES - 4 * BLOCK))
}

fn world(helps: u32) -> World {
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
        let variants = "without a part: 0.7123 (-0.0101), folds -0.01 -0.02 -0.01 -0.00 -0.01\n".repeat(5);
        let printed = Captured::whole(format!("baseline: 0.7224\n{variants}"));
        world = world.script(&format!("{step}/run"), ScriptOutcome { stdout: printed, ..ran(None) });
        world = world.agent(&format!("{step}/summarize"), &summary(path, t));
        let first = plan(&format!("rate {path}{t}0"));
        let plans = json!({"plans": [{"code_block": block(t), "plan": first}]});
        world = world.agent(&format!("{step}/extractor"), &plans.to_string());
        for k in 0..4_u32 {
            let code = changed(t, &format!("attempt_{path}_{k}"));
            let is_better = k == 1 || helps > 1;
            let score = if is_better { 0.73 + 0.01 * f64::from(t) + 0.001 * f64::from(k) } else { 0.6 };
            let run =
                if k == 2 && t % 2 == 0 && helps == 1 { failed("KeyError: 'x'") } else { scored(score) };
            world = world
                .agent(&format!("{step}/k{k}/planner"), &plan(&format!("rate {path}{t}{k}")))
                .agent(&format!("{step}/k{k}/coder"), &fenced(&code))
                .script(&format!("{step}/k{k}/run"), run);
        }
    }
    for round in 0..5_u32 {
        let at = format!("phase3/r{round}");
        let score = if round == 0 || round == 2 { 0.78 + 0.01 * f64::from(round) } else { 0.7 };
        world = world
            .agent(&format!("{at}/ens_planner"), &plan(&format!("weight {round}")))
            .agent(&format!("{at}/ensembler"), &fenced(&together(round)))
            .script(&format!("{at}/run"), scored(score));
    }
    world
}
