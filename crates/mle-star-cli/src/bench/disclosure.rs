//! What benchmarks ask to disclose about their runs: hardware, time, tokens, network, looks at held-out rows, versions,
//! configuration and digests, as JSON and as text. It holds no paths of this machine and no keys.

mod answers;
mod markdown;

use std::collections::BTreeMap;
use std::path::Path;

use mle_star::journal::{self, EffectRecord, MadeWith, Snapshot};
use mle_star::spending::{Calls, was_made};
use mle_star_domain::config::{AgentsChoice, Config, Switch};
use mle_star_domain::effects::Usage;
use mle_star_domain::layout;
use mle_star_domain::protocol::Holdout;
use mle_star_report::usage;
use mle_star_run::VERSION;
use serde::Serialize;
use serde_json::{Map, Value};

use super::folder::{Folder, Hardware, Record};
use super::grade::Kept;
use super::plan::{Cell, Plan};
use super::results::{Results, RunRow};
use super::scale::digest_of;
use crate::args::BenchPreset;
use crate::exit::Failure;
use answers::{HiddenAnswers, RunExposure};

/// The folder in that of the bench.
const FOLDER: &str = "disclosure";
/// Keys of a configuration with paths, addresses and commands of this machine.
const PRIVATE: [&str; 9] = [
    "agents_dir",
    "claude_path",
    "codex_path",
    "log_file",
    "openai",
    "prompts",
    "python",
    "retrieved_models",
    "search_command",
];
/// Keys in which the runs of a task differ, or that follow from the task's name.
const OF_RUN: [&str; 3] = ["seed", "time_limit_seconds", "search_blocked_domains"];
/// The files of a run whose digests are given.
const FILES: [&str; 7] = [
    "journal.db",
    "logs/events.jsonl",
    "logs/mle-star.log",
    "final/solution.py",
    "final/submission.csv",
    "result.json",
    "config.json",
];

/// The disclosure, as in `disclosure.json`.
#[derive(Clone, Debug, Serialize)]
pub struct Disclosure {
    /// The format of this document.
    format: u32,
    /// When it was written, RFC 3339.
    made_at: String,
    /// The version of `mle-star` that wrote it.
    program: String,
    /// Whether every run has ended.
    complete: bool,
    preset: Option<BenchPreset>,
    agents: String,
    seeds: Vec<u32>,
    budgets_seconds: Vec<Option<u64>>,
    tasks: Vec<Task>,
    /// The machines; runs refer to them by number, from 0.
    hardware: Vec<Hardware>,
    /// The configurations by digest, without what differs between the runs of a task.
    configurations: BTreeMap<String, Map<String, Value>>,
    /// The libraries of scripts by digest.
    libraries: BTreeMap<String, Vec<String>>,
    /// What all runs used, by model.
    models: BTreeMap<String, Calls>,
    hidden_answers: HiddenAnswers,
    runs: Vec<DisclosedRun>,
}

/// A task.
#[derive(Clone, Debug, Serialize)]
struct Task {
    name: String,
    /// A digest of its data.
    data: Option<String>,
    /// `answers`, `grader`, or null.
    graded_by: Option<&'static str>,
    /// The digest of the hidden answers.
    answers: Option<String>,
}

/// A run.
#[derive(Clone, Debug, Serialize)]
struct DisclosedRun {
    run: String,
    task: String,
    seed: u32,
    exit: Option<u8>,
    valid: bool,
    #[serde(flatten)]
    spent: Spent,
    network: Network,
    #[serde(flatten)]
    labels: Labels,
    #[serde(flatten)]
    made_of: MadeOf,
}

/// The machines, time and money of a run.
#[derive(Clone, Debug, Serialize)]
struct Spent {
    limit_seconds: u64,
    seconds: f64,
    /// The machines of the processes that worked on it.
    hardware: Vec<usize>,
    /// How many runs were made at once, at most.
    side_by_side: usize,
    max_budget_usd: Option<f64>,
    /// What its agents used, by model; empty for agents without a language model.
    models: BTreeMap<String, Calls>,
    /// Calls that were interrupted, whose usage is unknown.
    interrupted_calls: u64,
}

/// How often labels that scripts do not see were used.
#[derive(Clone, Debug, Serialize)]
struct Labels {
    holdout: Option<Holdout>,
    /// How often predictions for held-out rows were scored.
    holdout_looks: u64,
    /// How often a submission was graded with the hidden answers.
    gradings: u64,
}

/// The inputs and versions of a run, by digest.
#[derive(Clone, Debug, Serialize)]
struct MadeOf {
    versions: Vec<Versions>,
    /// The digest of its configuration.
    configuration: String,
    /// The digest of its prompt templates.
    prompts: String,
    /// The digest of its libraries.
    libraries: Option<String>,
    /// BLAKE3 digests of its files.
    digests: BTreeMap<&'static str, String>,
}

/// The use of networks.
#[derive(Clone, Debug, Serialize)]
struct Network {
    /// Whether scripts could use the network.
    scripts: Switch,
    /// How scripts were isolated.
    isolation: Vec<String>,
    /// Whether the retriever could search the web.
    search: Switch,
    /// The requests that it made.
    lookups: usize,
}

/// The versions that a run used.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Versions {
    mle_star: String,
    python: String,
    platform: String,
    claude: Option<String>,
    codex: Option<String>,
}

/// Everything that is known about a run.
struct RunRecords {
    record: Record,
    snapshot: Snapshot,
    lookups: usize,
    looks: u64,
    kept: Option<Kept>,
}

/// Writes the disclosure.
///
/// # Errors
/// The folder cannot be written.
pub fn write(folder: &Folder, plan: &Plan, results: &Results) -> Result<(), Failure> {
    let disclosure = disclosure(folder, plan, results);
    folder.write_json(&format!("{FOLDER}/disclosure.json"), &disclosure)?;
    folder.write_text(&format!("{FOLDER}/disclosure.md"), &markdown::text(&disclosure))
}

fn disclosure(folder: &Folder, plan: &Plan, results: &Results) -> Disclosure {
    let mut made = Disclosure {
        format: 1,
        made_at: jiff::Timestamp::now().to_string(),
        program: VERSION.to_owned(),
        complete: results.complete,
        preset: plan.preset,
        agents: plan.agents.clone(),
        seeds: plan.seeds.clone(),
        budgets_seconds: plan.budgets.clone(),
        tasks: plan.tasks.iter().map(Task::from).collect(),
        hardware: Vec::new(),
        configurations: BTreeMap::new(),
        libraries: BTreeMap::new(),
        models: BTreeMap::new(),
        hidden_answers: HiddenAnswers::default(),
        runs: Vec::new(),
    };
    let mut known = Vec::new();
    for (cell, row) in plan.cells().iter().zip(&results.runs) {
        if let Some(of_run) = RunRecords::read(folder, cell) {
            let run = made.run(&folder.run(cell), row, &of_run);
            made.runs.push(run);
            known.push(of_run);
        }
    }
    let facts: Vec<RunExposure<'_>> = known.iter().map(RunRecords::facts).collect();
    made.hidden_answers = HiddenAnswers::of(&facts);
    made
}

impl RunRecords {
    /// `None` for a run that has no journal.
    fn read(folder: &Folder, cell: &Cell<'_>) -> Option<Self> {
        let run = folder.run(cell);
        let snapshot = journal::read(&run).ok()?;
        let result = mle_star_report::run_view::read_result(&run);
        let submission = run.join(layout::FINAL).join(layout::SUBMISSION);
        let trust = result.as_ref().and_then(|result| result.trust.as_ref());
        Some(Self {
            record: folder.record(cell),
            lookups: lookups(&snapshot),
            looks: trust.map_or(0, |trust| trust.holdout_looks),
            kept: folder.kept(cell, &submission),
            snapshot,
        })
    }

    fn facts(&self) -> RunExposure<'_> {
        let Config { agents, network, .. } = self.snapshot.frozen.config;
        let (processes, kept) = (self.record.processes.as_slice(), self.kept.as_ref());
        RunExposure { agents, network, lookups: self.lookups, processes, kept }
    }
}

/// The web searches and fetches of a run, failed ones included.
fn lookups(snapshot: &Snapshot) -> usize {
    let of_call = |effect: &EffectRecord| {
        let lookups = effect.outcome.as_ref()?.get("lookups")?.as_array()?.len();
        Some(lookups)
    };
    snapshot.effects.iter().filter(|effect| was_made(effect)).filter_map(of_call).sum()
}

impl Disclosure {
    fn run(&mut self, folder: &Path, row: &RunRow, known: &RunRecords) -> DisclosedRun {
        let frozen = &known.snapshot.frozen;
        let mut isolation: Vec<String> =
            known.record.processes.iter().map(|process| process.isolation.clone()).collect();
        isolation.dedup();
        DisclosedRun {
            run: row.run.clone(),
            task: row.task.clone(),
            seed: row.seed,
            exit: row.exit,
            valid: row.valid,
            spent: self.spent(row, known),
            network: Network {
                scripts: frozen.config.network,
                isolation,
                search: search(&frozen.config),
                lookups: known.lookups,
            },
            labels: Labels {
                holdout: frozen.protocol.as_ref().map(|protocol| protocol.holdout.clone()),
                holdout_looks: known.looks,
                gradings: known.kept.as_ref().map_or(0, |kept| kept.times),
            },
            made_of: self.made_of(folder, &known.snapshot),
        }
    }

    fn spent(&mut self, row: &RunRow, known: &RunRecords) -> Spent {
        let (config, processes) = (&known.snapshot.frozen.config, &known.record.processes);
        let models = models(&known.snapshot);
        for (model, calls) in &models {
            let all = self.models.entry(model.clone()).or_default();
            all.calls += calls.calls;
            all.usage = all.usage + calls.usage;
        }
        let mut hardware: Vec<usize> =
            processes.iter().map(|process| self.machine(&process.hardware)).collect();
        hardware.dedup();
        Spent {
            limit_seconds: config.time_limit_seconds,
            seconds: row.seconds.unwrap_or_default(),
            hardware,
            side_by_side: processes.iter().map(|process| process.side_by_side).max().unwrap_or(1),
            max_budget_usd: config.max_budget_usd,
            models,
            interrupted_calls: usage::of_run(&known.snapshot, false).interrupted_calls,
        }
    }

    fn made_of(&mut self, folder: &Path, snapshot: &Snapshot) -> MadeOf {
        let mut versions: Vec<Versions> = snapshot.made_with.iter().map(Versions::from).collect();
        versions.dedup();
        let prompts = serde_json::to_string(&snapshot.frozen.prompts).unwrap_or_default();
        MadeOf {
            versions,
            configuration: self.configuration(&snapshot.frozen.config),
            prompts: digest_of_text(&prompts),
            libraries: self.libraries(&folder.join(layout::FINAL).join(layout::REQUIREMENTS)),
            digests: digests(folder),
        }
    }

    fn machine(&mut self, hardware: &Hardware) -> usize {
        let known = self.hardware.iter().position(|other| other == hardware);
        known.unwrap_or_else(|| {
            self.hardware.push(hardware.clone());
            self.hardware.len() - 1
        })
    }

    fn configuration(&mut self, config: &Config) -> String {
        let keys = public(config);
        let digest = digest_of_text(&serde_json::to_string(&keys).unwrap_or_default());
        self.configurations.insert(digest.clone(), keys);
        digest
    }

    fn libraries(&mut self, requirements: &Path) -> Option<String> {
        let text = std::fs::read_to_string(requirements).ok()?;
        let digest = digest_of_text(&text);
        let is_library = |line: &&str| line.contains("==") && !line.contains('/');
        let libraries = text.lines().filter(is_library).map(str::to_owned).collect();
        self.libraries.insert(digest.clone(), libraries);
        Some(digest)
    }
}

/// Whether the retriever could search: agents without a language model never do.
fn search(config: &Config) -> Switch {
    match config.agents {
        AgentsChoice::Offline | AgentsChoice::Files => Switch::Off,
        _ => config.search,
    }
}

/// The usage of a run's calls by model.
fn models(snapshot: &Snapshot) -> BTreeMap<String, Calls> {
    let mut models: BTreeMap<String, Calls> = BTreeMap::new();
    let made = snapshot.effects.iter().filter(|effect| was_made(effect) && effect.usage != Usage::free());
    for effect in made {
        let model = effect.request.get("model").and_then(Value::as_str).unwrap_or("unknown");
        let calls = models.entry(model.to_owned()).or_default();
        calls.calls += 1;
        calls.usage = calls.usage + effect.usage;
    }
    models
}

/// A configuration without what differs between the runs of a task. What is private is only marked as set.
fn public(config: &Config) -> Map<String, Value> {
    let object = |config: &Config| match serde_json::to_value(config) {
        Ok(Value::Object(keys)) => keys,
        _ => Map::new(),
    };
    let (mut keys, defaults) = (object(config), object(&Config::default()));
    keys.retain(|key, _| !OF_RUN.contains(&key.as_str()));
    for key in PRIVATE {
        if keys.get(key) != defaults.get(key) {
            keys.insert(key.to_owned(), Value::from("(set)"));
        }
    }
    keys
}

fn digests(folder: &Path) -> BTreeMap<&'static str, String> {
    FILES.into_iter().filter_map(|name| Some((name, digest_of(&folder.join(name)).ok()?))).collect()
}

fn digest_of_text(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

impl From<&MadeWith> for Versions {
    fn from(made: &MadeWith) -> Self {
        let MadeWith { mle_star, python, platform, claude, codex, .. } = made.clone();
        Self { mle_star, python, platform, claude, codex }
    }
}

impl From<&super::plan::PlannedTask> for Task {
    fn from(task: &super::plan::PlannedTask) -> Self {
        let grading = &task.grading;
        let graded_by = match (&grading.answers, grading.grader.is_empty()) {
            (Some(_), _) => Some("answers"),
            (None, false) => Some("grader"),
            (None, true) => None,
        };
        let answers = grading.answers.as_ref().map(|answers| answers.digest.clone());
        Self { name: task.name.clone(), data: task.data.clone(), graded_by, answers }
    }
}
