//! Measures what the local runner adds to a script: the runner against a plain `python solution.py`.
//!
//! `cargo run --release -p mle-star-backends --example script_overhead [PYTHON] [ROUNDS]`; without PYTHON, the
//! program's own environment. The two are taken in turn, so that a noisy machine disturbs both alike.

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
use mle_star_backends::script::sandbox::{Isolation, Layers};

const SCRIPT: &str = "print('Final Validation Performance: 0.5')\n";

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "the measurement is what this program is for")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let python = arguments.next();
    let rounds: usize = arguments.next().map_or(Ok(50), |text| text.parse())?;
    let choice = python.map_or(EnvironmentChoice::Own, |path| EnvironmentChoice::Given(PathBuf::from(path)));
    let environment = python_environment(choice, &|line| println!("{line}")).await?;
    println!("Python {}, {} libraries", environment.version, environment.libraries.len());

    let folder = tempfile::tempdir()?;
    let data = folder.path().join("data");
    fs::create_dir(&data)?;
    fs::write(data.join("train.csv"), "id,y\n1,0\n".repeat(50_000))?;
    fs::write(folder.path().join("solution.py"), SCRIPT)?;
    let setup = LocalSetup {
        run_folder: folder.path().join("run"),
        data_dir: data,
        environment: environment.clone(),
        machine: machine().await,
        slots: 1,
        sample_submission: None,
        id_column: None,
        memory_limit_mib: None,
        isolation: Isolation::new(Switch::Off),
    };
    println!("isolation: {}", setup.isolation.line());
    let isolated = LocalRunner::new(setup.clone())?;
    let open = Isolation { layers: Layers::none(), ..setup.isolation.clone() };
    let open = LocalRunner::new(LocalSetup { isolation: open, ..setup })?;
    let (mut plain, mut through_open, mut through_isolated) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..rounds {
        plain.push(run_plain(&environment, folder.path()).await?);
        through_open.push(run_through(&open, round).await?);
        through_isolated.push(run_through(&isolated, round).await?);
    }
    let plain = median(plain);
    println!("plain python            {plain:>10.1?}   median of {rounds}, in turn");
    for (name, times) in [("runner, no layers", through_open), ("runner, isolated", through_isolated)] {
        let time = median(times);
        let (added, ratio) = (time.saturating_sub(plain), time.as_secs_f64() / plain.as_secs_f64());
        println!("{name:<23} {time:>10.1?}   added {added:.1?}, ratio {ratio:.2}");
    }
    Ok(())
}

async fn run_plain(environment: &Environment, folder: &Path) -> Result<Duration, Box<dyn Error>> {
    let started = Instant::now();
    let mut command = tokio::process::Command::new(&environment.python);
    command.arg("solution.py").current_dir(folder).stdin(Stdio::null());
    let output = command.output().await?;
    if !output.status.success() {
        return Err("plain python failed".into());
    }
    Ok(started.elapsed())
}

async fn run_through(runner: &LocalRunner, round: usize) -> Result<Duration, Box<dyn Error>> {
    let started = Instant::now();
    let place = Place::root().join("overhead").join(round);
    let (script, timeout) = (SCRIPT.to_owned(), Duration::from_secs(60));
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
