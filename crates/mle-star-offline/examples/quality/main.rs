//! Scores of the offline agents on held-out rows: `cargo run --release -p mle-star-offline --example quality [TASK...]`.
//!
//! Needs `MLE_STAR_TEST_PYTHON`, an interpreter with the libraries. The whole pipeline solves every task with small
//! counts; only the final scoring sees the labels of the held-out rows.

#![expect(clippy::print_stdout, reason = "a table on standard output is what this program is for")]

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

use mle_star::config::Config;
use mle_star::ctx::Outside;
use mle_star::event::NoEvents;
use mle_star::journal::{Frozen, Journal};
use mle_star::metric::Direction;
use mle_star::pipeline;
use mle_star::prompts::Prompts;
use mle_star::slots::Slots;
use mle_star::task::{DataModality, Task, TaskType};
use mle_star_backends::script::environment::{EnvironmentChoice, python_environment};
use mle_star_backends::script::local::{LocalRunner, LocalSetup};
use mle_star_data::profile;
use mle_star_offline::OfflineAgents;
use mle_star_process::machine::machine;
use mle_star_process::sandbox::{Isolation, Network};
use tokio::process::Command;

const TOOL: &str = include_str!("tasks.py");
const NAMES: [&str; 8] =
    ["trips", "reviews", "claims", "patients", "diabetes", "wine", "breast_cancer", "digits"];

/// The scores of one task.
struct Row {
    name: String,
    metric: String,
    direction: Direction,
    constant: f64,
    boosted: f64,
    initial: f64,
    refined: f64,
    seconds: f64,
}

/// The interpreter and the working folder.
struct Bench {
    python: PathBuf,
    folder: PathBuf,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let python =
        std::env::var_os("MLE_STAR_TEST_PYTHON").ok_or("set MLE_STAR_TEST_PYTHON to an interpreter")?;
    let folder = tempfile::tempdir()?;
    let bench = Bench { python: python.into(), folder: folder.path().to_owned() };
    std::fs::write(bench.folder.join("tasks.py"), TOOL)?;
    bench.tool(&["make", &bench.folder.display().to_string()]).await?;
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    println!("| task | metric | constant | default LightGBM | initial | refined and ensembled | seconds |");
    println!("|---|---|---|---|---|---|---|");
    let mut rows = Vec::new();
    for name in NAMES.into_iter().filter(|name| wanted.is_empty() || wanted.iter().any(|one| one == name)) {
        let row = bench.solve(name).await?;
        println!(
            "| {} | {} ({}) | {:.4} | {:.4} | {:.4} | {:.4} | {:.0} |",
            row.name,
            row.metric,
            row.direction.name(),
            row.constant,
            row.boosted,
            row.initial,
            row.refined,
            row.seconds
        );
        rows.push(row);
    }
    println!("{}", verdict(&rows));
    Ok(())
}

/// Checks the table against the three targets.
fn verdict(rows: &[Row]) -> String {
    let gain = |row: &Row, score: f64, than: f64| match row.direction {
        Direction::Maximize => score - than,
        Direction::Minimize => than - score,
    };
    // As shares of LightGBM's gain over the constant, gains are comparable across metrics.
    let share = |row: &Row, score: f64| {
        gain(row, score, row.boosted) / gain(row, row.boosted, row.constant).abs().max(1e-9)
    };
    let mean = |score: fn(&Row) -> f64| {
        rows.iter().map(|row| share(row, score(row))).sum::<f64>() / rows.len() as f64
    };
    let count = |holds: &dyn Fn(&Row) -> bool| rows.iter().filter(|row| holds(row)).count();
    format!(
        "\nAbove the constant: {} of {}. Mean gain over default LightGBM, as a share of its own gain over the \
         constant: initial {:+.1} %, refined {:+.1} %. Refinement no worse than the initial solution: {} of {}.",
        count(&|row| gain(row, row.refined, row.constant) > 0.0 && gain(row, row.initial, row.constant) > 0.0),
        rows.len(),
        100.0 * mean(|row| row.initial),
        100.0 * mean(|row| row.refined),
        count(&|row| gain(row, row.refined, row.initial) >= 0.0),
        rows.len(),
    )
}

impl Bench {
    async fn tool(&self, arguments: &[&str]) -> Result<String, Box<dyn Error>> {
        let output =
            Command::new(&self.python).arg(self.folder.join("tasks.py")).args(arguments).output().await?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    async fn score(&self, place: &Path, submission: &Path) -> Result<f64, Box<dyn Error>> {
        let printed =
            self.tool(&["score", &place.display().to_string(), &submission.display().to_string()]).await?;
        Ok(printed.parse()?)
    }

    async fn solve(&self, name: &str) -> Result<Row, Box<dyn Error>> {
        let place = self.folder.join(name);
        let given: BTreeMap<String, String> =
            serde_json::from_str(&std::fs::read_to_string(place.join("task.json"))?)?;
        let get = |key: &str| given.get(key).cloned().unwrap_or_default();
        let direction =
            if get("direction") == "maximize" { Direction::Maximize } else { Direction::Minimize };
        let baselines = self.tool(&["baselines", &place.display().to_string()]).await?;
        let (constant, boosted) = baselines.split_once(' ').ok_or("two baselines")?;
        let frozen = frozen(name, &get("metric"), direction, &place.join("input"))?;
        let (began, run) = (Instant::now(), place.join("run"));
        let (initial, refined) = self.run(&frozen, &run).await?;
        let seconds = began.elapsed().as_secs_f64();
        let initial = self.submit(&place, &initial).await?;
        Ok(Row {
            name: name.to_owned(),
            metric: get("metric"),
            direction,
            constant: constant.parse()?,
            boosted: boosted.parse()?,
            initial: self.score(&place, &initial).await?,
            refined: self.score(&place, &refined).await?,
            seconds,
        })
    }

    /// Runs the pipeline; returns the initial solution and the submission.
    async fn run(&self, frozen: &Frozen, run: &Path) -> Result<(String, PathBuf), Box<dyn Error>> {
        std::fs::create_dir_all(run)?;
        let folder = profile::read(&frozen.task.data_dir)?;
        let sample = folder.sample.as_ref().map(|table| frozen.task.data_dir.join(&table.file));
        let agents = OfflineAgents::new(&frozen.task, folder, frozen.config.subsample_limit, None)?;
        let environment = python_environment(EnvironmentChoice::Given(self.python.clone()), &|_| ()).await?;
        let runner = LocalRunner::new(LocalSetup {
            run_folder: run.to_owned(),
            data_dir: frozen.task.data_dir.clone(),
            environment,
            machine: machine().await,
            slots: 1,
            sample_submission: sample,
            id_column: frozen.task.id_column.clone(),
            memory_limit_mib: None,
            evaluation: None,
            warm_start: None,
            isolation: Isolation::new(Network::Denied),
        })?;
        let (journal, prompts) = (Journal::create(run, frozen)?, Prompts::new(BTreeMap::new())?);
        let (_keep, cancel) = tokio::sync::watch::channel(false);
        let outside = Outside {
            agents: &agents,
            scripts: &runner,
            events: &NoEvents,
            cancel: &cancel,
            environment: "",
            script_slots: &Slots::new(1),
            agent_slots: &Slots::new(8),
        };
        let finished = pipeline::run(frozen, &prompts, &journal, outside).await?;
        let submission = finished
            .submission
            .as_ref()
            .and_then(|place| runner.submission(&place.file_stem(), &finished.result.final_solution.content));
        Ok((finished.result.phase1.initial_solution.content, submission.ok_or("no valid submission")?))
    }

    /// Runs a script next to its `input/` and returns its submission.
    async fn submit(&self, place: &Path, script: &str) -> Result<PathBuf, Box<dyn Error>> {
        std::fs::write(place.join("solution.py"), script)?;
        let output = Command::new(&self.python).arg("solution.py").current_dir(place).output().await?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
        }
        Ok(place.join("final/submission.csv"))
    }
}

fn frozen(name: &str, metric: &str, direction: Direction, data: &Path) -> Result<Frozen, Box<dyn Error>> {
    let regression = metric.starts_with("RMS");
    let task = Task {
        competition_id: name.to_owned(),
        task_type: if regression { TaskType::Regression } else { TaskType::Classification },
        data_modality: DataModality::Tabular,
        evaluation_metric: metric.to_owned(),
        metric_direction: direction,
        description: format!("Predict the target; submissions are scored by {metric}."),
        data_dir: data.to_owned(),
        output_dir: None,
        target_column: Some("target".to_owned()),
        id_column: Some("id".to_owned()),
        reference_discussions: Vec::new(),
        baseline_solution: None,
    };
    let config = Config {
        num_retrieved_models: 3,
        outer_loop_steps: 2,
        inner_loop_steps: 2,
        num_parallel_solutions: 2,
        ensemble_rounds: 2,
        ..Config::default()
    };
    let prompts = Prompts::new(BTreeMap::new())?.texts().clone();
    Ok(Frozen {
        run_id: name.to_owned(),
        task,
        config,
        prompts,
        data_id: name.to_owned(),
        retrieved_models: None,
        learned: Vec::new(),
        data_summary: None,
        protocol: None,
    })
}
