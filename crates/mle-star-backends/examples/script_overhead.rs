//! Measures what starting scripts costs: a plain `python solution.py`, the local runner cold, and the local runner
//! with its worker, taken in turn, so that a noisy machine disturbs all alike.
//!
//! `cargo run --release -p mle-star-backends --example script_overhead [PYTHON] [ROUNDS]`; without PYTHON, the
//! program's own environment. Medians; scripts whose libraries are missing are left out.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use mle_star::config::Switch;
use mle_star::effects::{Purpose, ScriptEnd, ScriptRequest, ScriptRunner};
use mle_star::place::Place;
use mle_star_backends::script::environment::{Environment, EnvironmentChoice, python_environment};
use mle_star_backends::script::local::{LocalRunner, LocalSetup};
use mle_star_backends::script::machine::machine;
use mle_star_backends::script::sandbox::Isolation;
use mle_star_backends::script::warm::WarmStart;

/// Name and text of each script; all print a score. `DATA` stands for making a table of 20,000 rows.
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

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "the measurement is what this program is for")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let python = arguments.next();
    let rounds: usize = arguments.next().map_or(Ok(15), |text| text.parse())?;
    let choice = python.map_or(EnvironmentChoice::Own, |path| EnvironmentChoice::Given(PathBuf::from(path)));
    let environment = python_environment(choice, &|line| println!("{line}")).await?;
    println!("Python {}, {} libraries, {rounds} rounds", environment.version, environment.libraries.len());
    println!(
        "{:14} {:>10} {:>10} {:>10} {:>11} {:>11}",
        "", "plain", "cold", "warm", "plain/warm", "added cold"
    );
    let folder = tempfile::tempdir()?;
    let cold = runner(&environment, &folder.path().join("cold"), None).await?;
    let warm = runner(&environment, &folder.path().join("warm"), Some(WarmStart::default())).await?;
    for (name, text) in SCRIPTS {
        let script =
            format!("{}\nprint('Final Validation Performance: 0.5')\n", text.replace("DATA\n", DATA));
        // Two rounds for nothing: files are read into memory, and the worker learns what to import.
        let mut times = [Vec::new(), Vec::new(), Vec::new()];
        let round = async || -> Result<[Duration; 3], Box<dyn Error>> {
            let plain = run_plain(&environment, folder.path(), &script).await?;
            Ok([plain, run_through(&cold, &script).await?, run_through(&warm, &script).await?])
        };
        if round().await.is_err() {
            println!("{name:14} left out: a library is missing");
            continue;
        }
        round().await?;
        for _ in 0..rounds {
            for (times, time) in times.iter_mut().zip(round().await?) {
                times.push(time);
            }
        }
        let [plain, cold, warm] = times.map(median).map(|time| time.as_secs_f64() * 1000.0);
        let (ratio, added) = (plain / warm, cold - plain);
        println!("{name:14} {plain:>7.0} ms {cold:>7.0} ms {warm:>7.0} ms {ratio:>11.1} {added:>8.0} ms");
    }
    Ok(())
}

async fn runner(
    environment: &Environment,
    folder: &Path,
    warm_start: Option<WarmStart>,
) -> Result<LocalRunner, Box<dyn Error>> {
    let data = folder.join("data");
    fs::create_dir_all(&data)?;
    fs::write(data.join("train.csv"), "id,y\n1,0\n".repeat(50_000))?;
    Ok(LocalRunner::new(LocalSetup {
        run_folder: folder.join("run"),
        data_dir: data,
        environment: environment.clone(),
        machine: machine().await,
        slots: 1,
        sample_submission: None,
        id_column: None,
        memory_limit_mib: None,
        isolation: Isolation::new(Switch::Off),
        warm_start,
    })?)
}

async fn run_plain(
    environment: &Environment,
    folder: &Path,
    script: &str,
) -> Result<Duration, Box<dyn Error>> {
    fs::write(folder.join("solution.py"), script)?;
    let started = Instant::now();
    let mut command = tokio::process::Command::new(&environment.python);
    command.arg("solution.py").current_dir(folder).stdin(Stdio::null());
    let output = command.output().await?;
    if !output.status.success() {
        return Err("plain python failed".into());
    }
    Ok(started.elapsed())
}

async fn run_through(runner: &LocalRunner, script: &str) -> Result<Duration, Box<dyn Error>> {
    let started = Instant::now();
    let (place, timeout) = (Place::root().join("overhead"), Duration::from_secs(120));
    let script = script.to_owned();
    let outcome =
        runner.run(&ScriptRequest { place, script, purpose: Purpose::Score, timeout, slot: 0 }).await?;
    if outcome.end != (ScriptEnd::Exited { code: 0 }) || outcome.score != Some(0.5) {
        return Err(format!("the script failed: {}", outcome.stderr.text()).into());
    }
    Ok(started.elapsed())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
