//! Runs scripts that do the ordinary work of libraries, as the scripts of a run: isolated, started cold and forked by a
//! worker. What fails there runs once more as plain `python solution.py`, which shows whose fault it is.
//!
//! `cargo run -p mle-star-lab --example compat PYTHON SCRIPT...` prints one line of JSON for each script.
//! `cargo xtask compat` installs the libraries, starts this and writes `docs/libraries.md`.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use mle_star::backend::ScriptRunner;
use mle_star_backends::backend::{ScriptBackend, ScriptSetup};
use mle_star_backends::script::environment::{Environment, EnvironmentChoice, python_environment};
use mle_star_domain::effects::{DataView, Purpose, ScriptOutcome, ScriptRequest};
use mle_star_domain::place::Place;
use mle_star_domain::slot::Slot;
use mle_star_process::machine::machine;
use mle_star_process::warm::WarmStart;
use serde::Serialize;
use tokio::process::Command;
use tokio::time::timeout;

type Failure = Box<dyn Error>;

/// The limit of each script.
const LIMIT: Duration = Duration::from_secs(300);
/// What a process that a worker forked prints at its end: the kernel shows the worker's environment, with its folder.
const HOW: &str = "\nprint('forked by a worker:', b'worker-' in open('/proc/self/environ', 'rb').read())\n";

/// How one script ended, each way.
#[derive(Debug, Serialize)]
struct Row {
    script: String,
    cold: Ended,
    warm: Ended,
    /// Without isolation; only if one of the others failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    plain: Option<Ended>,
}

#[derive(Debug, Serialize)]
struct Ended {
    works: bool,
    seconds: f64,
    /// Whether a worker forked it.
    forked: bool,
    /// What it said last, if it failed, and what was noted about it.
    says: String,
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "the table is what this program is for")]
async fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1).map(PathBuf::from);
    let python = arguments.next().ok_or("usage: compat PYTHON SCRIPT...")?;
    let environment = python_environment(EnvironmentChoice::Given(python), &|_| ()).await?;
    for script in arguments {
        println!("{}", serde_json::to_string(&row(&environment, &script).await?)?);
    }
    Ok(())
}

/// Runs one script in each way.
async fn row(environment: &Environment, script: &Path) -> Result<Row, Failure> {
    let text = fs::read_to_string(script)? + HOW;
    // Not below `/tmp`, as runs seldom are; some programs refuse files below folders whose name begins with a dot.
    let folder = tempfile::Builder::new().prefix("compat-").tempdir_in("/var/tmp")?;
    let data = folder.path().join("data");
    fs::create_dir(&data)?;
    fs::write(data.join("train.csv"), table())?;
    let cold = backend(environment, &folder.path().join("cold"), &data, None).await?;
    let cold = run(&cold, &text).await?;
    let warm =
        backend(environment, &folder.path().join("warm"), &data, Some(WarmStart::on(&machine().await)))
            .await?;
    // The worker learns from the first what to import for the second.
    warm.warmed_up(0).await;
    run(&warm, &text).await?;
    warm.warmed_up(0).await;
    let warm = run(&warm, &text).await?;
    let plain = match cold.works && warm.works {
        true => None,
        false => Some(plain(environment, &folder.path().join("plain"), &data, &text).await?),
    };
    let script = script.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Row { script, cold, warm, plain })
}

async fn backend(
    environment: &Environment,
    folder: &Path,
    data: &Path,
    warm_start: Option<WarmStart>,
) -> Result<ScriptBackend, Failure> {
    Ok(ScriptBackend::new(ScriptSetup {
        warm_start,
        ..ScriptSetup::new(folder.to_owned(), data.to_owned(), environment.clone(), machine().await)
    })?)
}

async fn run(backend: &ScriptBackend, script: &str) -> Result<Ended, Failure> {
    let request = ScriptRequest {
        place: Place::from("phase1/candidate-0/run"),
        script: script.to_owned(),
        purpose: Purpose::Score,
        timeout: LIMIT,
        time_left: LIMIT,
        slot: Slot::here(0),
        data: DataView::Search,
    };
    let outcome = backend.run(&request).await?;
    let works = !outcome.is_error() && outcome.score.is_some();
    let forked = outcome.stdout.text().contains("forked by a worker: True");
    let says = if works { String::new() } else { says(&outcome) };
    Ok(Ended { works, seconds: outcome.duration_seconds, forked, says })
}

fn says(outcome: &ScriptOutcome) -> String {
    let errors = outcome.stderr.text();
    let last =
        outcome.traceback.as_deref().unwrap_or(&errors).trim().lines().last().unwrap_or_default().to_owned();
    outcome.notes.iter().fold(last, |mut text, note| {
        // Writing to a string cannot fail.
        let _ = write!(text, " [{note}]");
        text
    })
}

/// Runs a script as its user would, by itself.
async fn plain(
    environment: &Environment,
    folder: &Path,
    data: &Path,
    script: &str,
) -> Result<Ended, Failure> {
    fs::create_dir_all(folder.join("final"))?;
    std::os::unix::fs::symlink(data, folder.join("input"))?;
    fs::write(folder.join("solution.py"), script)?;
    let mut command = Command::new(&environment.python);
    command.arg("solution.py").current_dir(folder).stdin(Stdio::null()).kill_on_drop(true);
    let began = Instant::now();
    let ended = timeout(LIMIT, command.output()).await;
    let seconds = began.elapsed().as_secs_f64();
    let (works, says) = match ended {
        Ok(output) => {
            let output = output?;
            let errors = String::from_utf8_lossy(&output.stderr);
            (output.status.success(), errors.trim().lines().last().unwrap_or_default().to_owned())
        }
        Err(_) => (false, "it does not end".to_owned()),
    };
    Ok(Ended { works, seconds, forked: false, says: if works { String::new() } else { says } })
}

/// 2,000 rows of numbers, a color and a label that follows from both.
fn table() -> String {
    let mut random = fastrand::Rng::with_seed(0);
    let mut text = "id,x0,x1,x2,x3,x4,color,y\n".to_owned();
    for id in 0..2000 {
        let x: [f64; 5] = std::array::from_fn(|_| random.f64() * 2.0 - 1.0);
        let color = random.choice(["red", "green", "blue"]).unwrap_or("red");
        let y =
            u8::from(2.0 * x[0] - x[1] + random.f64() - 0.5 + if color == "red" { 0.3 } else { 0.0 } > 0.0);
        let numbers = x.map(|number| format!("{number:.4}")).join(",");
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{id},{numbers},{color},{y}");
    }
    text
}
