//! Measures the cost of starting scripts: a plain `python solution.py`; the local runner, cold, without and with
//! isolation; and the local runner, isolated, with its worker. They are taken in turn, so that a noisy machine
//! disturbs all alike, and each script is recorded in a journal.
//!
//! `cargo run --release -p mle-star-lab --example script_overhead [PYTHON] [ROUNDS] [SCRIPT]`; without
//! PYTHON, the program's own environment; without SCRIPT, all of them. Medians of total times; `own` is the time
//! that warm scripts measure themselves, from their first line to their last, and `added` is the rest. Scripts
//! whose libraries are missing are left out.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use mle_star::backend::ScriptRunner;
use mle_star::journal::{Entry, Journal, Kind};
use mle_star::testing::frozen;
use mle_star_backends::backend::{ScriptBackend, ScriptSetup};
use mle_star_backends::script::environment::{Environment, EnvironmentChoice, python_environment};
use mle_star_domain::effects::{DataView, Purpose, ScriptEnd, ScriptRequest};
use mle_star_domain::place::Place;
use mle_star_domain::slot::Slot;
use mle_star_process::machine::machine;
use mle_star_process::sandbox::{Isolation, Layers, Network};
use mle_star_process::warm::WarmStart;
use serde_json::json;

type Failure = Box<dyn Error>;

/// Name and text of each script. `DATA` is replaced by code that creates a table of 5,000 rows.
const SCRIPTS: [(&str, &str); 7] = [
    ("trivial", ""),
    ("imports only", "import numpy, pandas, sklearn.ensemble, lightgbm, xgboost, catboost"),
    (
        "RandomForest",
        "DATA\nfrom sklearn.ensemble import RandomForestClassifier as M\nM(50, n_jobs=-1, random_state=0).fit(x, y)",
    ),
    ("LightGBM", "DATA\nfrom lightgbm import LGBMClassifier as M\nM(n_estimators=50, verbose=-1).fit(x, y)"),
    ("XGBoost", "DATA\nfrom xgboost import XGBClassifier as M\nM(n_estimators=50).fit(x, y)"),
    (
        "CatBoost",
        "DATA\nfrom catboost import CatBoostClassifier as M\nM(iterations=50, verbose=False).fit(x, y)",
    ),
    (
        "torch",
        "DATA\nimport torch\nm = torch.nn.Linear(20, 1)\no = torch.optim.Adam(m.parameters())\nx, y = torch.tensor(x).float(), torch.tensor(y).float()\n\
         for _ in range(20):\n    o.zero_grad(); torch.nn.functional.mse_loss(m(x)[:, 0], y).backward(); o.step()",
    ),
];
const DATA: &str = "import numpy as np, pandas as pd\nrandom = np.random.default_rng(0)\nx = random.normal(size=(5000, 20))\n\
                    y = (x[:, 0] + random.normal(size=5000) > 0).astype(int)\n";

/// One of the ways to run a script, with its own journal.
struct Way {
    runner: ScriptBackend,
    journal: Journal,
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "the measurement is what this program is for")]
async fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let python = arguments.next();
    let rounds: usize = arguments.next().map_or(Ok(15), |text| text.parse())?;
    let only = arguments.next();
    let choice = python.map_or(EnvironmentChoice::Own, |path| EnvironmentChoice::Given(PathBuf::from(path)));
    let environment = python_environment(choice, &|line| println!("{line}")).await?;
    println!("Python {}, {} libraries, {rounds} rounds", environment.version, environment.libraries.len());
    let isolation = Isolation::new(Network::Denied);
    println!("isolation: {}", isolation.line());
    println!(
        "{:14}{:>10}{:>10}{:>10}{:>10}{:>12}{:>10}{:>10}  milliseconds",
        "", "plain", "open", "cold", "warm", "cold/warm", "own", "added"
    );
    let folder = tempfile::tempdir()?;
    let open = Isolation { layers: Layers::none(), ..isolation.clone() };
    let at = |name: &str| folder.path().join(name);
    let ways = [
        way(&environment, &at("open"), open, None).await?,
        way(&environment, &at("cold"), isolation.clone(), None).await?,
        way(&environment, &at("warm"), isolation, Some(WarmStart::default())).await?,
    ];
    for (name, text) in SCRIPTS.into_iter().filter(|(name, _)| only.as_ref().is_none_or(|only| only == name))
    {
        match measure(&environment, folder.path(), &ways, (name, text), rounds).await {
            Ok([plain, open, cold, warm, own, added]) => println!(
                "{name:14}{plain:>10.1}{open:>10.1}{cold:>10.1}{warm:>10.1}{:>12.1}{own:>10.1}{added:>10.1}",
                cold / warm
            ),
            Err(error) => println!("{name:14} left out: {error}"),
        }
    }
    Ok(())
}

/// Medians in milliseconds: plain, the three ways, the time that the warm script measures itself, and the rest.
async fn measure(
    environment: &Environment,
    folder: &Path,
    ways: &[Way; 3],
    (name, text): (&str, &str),
    rounds: usize,
) -> Result<[f64; 6], Failure> {
    let text = text.replace("DATA\n", DATA);
    let script = format!(
        "import time\nbegan = time.perf_counter()\n{text}\n\
         print('Final Validation Performance:', time.perf_counter() - began)\n"
    );
    let mut times = [const { Vec::new() }; 6];
    // A warm-up round: files are read into memory, and the worker learns what to import.
    for round in 0..=rounds {
        let mut row = vec![run_plain(environment, folder, &script).await?];
        let mut own = Duration::ZERO;
        for way in ways {
            way.runner.warmed_up(0).await;
            let place = Place::from(format!("{name}/round-{round}").as_str());
            let (whole, itself) = run_through(way, place, &script).await?;
            row.push(whole);
            own = itself;
        }
        let added = row.last().map_or(Duration::ZERO, |warm| warm.saturating_sub(own));
        row.extend([own, added]);
        if round > 0 {
            times.iter_mut().zip(row).for_each(|(times, time)| times.push(time));
        }
    }
    Ok(times.map(|times| median(times).as_secs_f64() * 1000.0))
}

async fn way(
    environment: &Environment,
    folder: &Path,
    isolation: Isolation,
    warm_start: Option<WarmStart>,
) -> Result<Way, Failure> {
    let data = folder.join("data");
    fs::create_dir_all(&data)?;
    fs::write(data.join("train.csv"), "id,y\n1,0\n".repeat(50_000))?;
    fs::create_dir_all(folder.join("run"))?;
    let journal = Journal::create(&folder.join("run"), &frozen())?;
    let runner = ScriptBackend::new(ScriptSetup {
        isolation,
        warm_start,
        ..ScriptSetup::new(folder.join("run"), data, environment.clone(), machine().await)
    })?;
    Ok(Way { runner, journal })
}

async fn run_plain(environment: &Environment, folder: &Path, script: &str) -> Result<Duration, Failure> {
    fs::write(folder.join("solution.py"), script)?;
    let started = Instant::now();
    let mut command = tokio::process::Command::new(&environment.python);
    command.arg("solution.py").current_dir(folder).stdin(Stdio::null());
    let output = command.output().await?;
    if !output.status.success() {
        return Err("plain python failed, a library may be missing".into());
    }
    Ok(started.elapsed())
}

/// How long it took, and how long the script itself says it did.
async fn run_through(way: &Way, place: Place, script: &str) -> Result<(Duration, Duration), Failure> {
    let started = Instant::now();
    let (input, timeout) = (json!({ "script": script }), Duration::from_secs(120));
    let entry = Entry::new(&place, Kind::Script, &input, &input)?;
    let script = script.to_owned();
    let request = ScriptRequest {
        place: place.clone(),
        script,
        purpose: Purpose::Score,
        timeout,
        time_left: timeout,
        slot: Slot::here(0),
        data: DataView::Search,
    };
    let outcome = way.journal.once(entry, way.runner.run(&request)).await?.value;
    let whole = started.elapsed();
    let own = outcome.score.filter(|_| outcome.end == (ScriptEnd::Exited { code: 0 }));
    let own = own.ok_or_else(|| format!("the script failed: {}", outcome.stderr.text()))?;
    Ok((whole, Duration::from_secs_f64(own)))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
