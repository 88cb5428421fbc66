//! `export --mlflow`: a Python file logs the run with the MLflow of the user.

use std::env;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use mle_star::result::FinalResult;
use mle_star_domain::layout;
use mle_star_domain::trouble::Trouble;
use mle_star_report::export::{MlflowExport, mlflow};
use mle_star_report::run_report::RunReport;
use mle_star_report::run_view::RunView;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::exit::Failure;
use crate::output;

/// The program that logs.
const SCRIPT: &str = include_str!("../../../python/mlflow_export.py");
/// The variable that names an interpreter with MLflow.
const PYTHON: &str = "MLE_STAR_MLFLOW_PYTHON";
/// Ends well if MLflow is installed.
const HAS_MLFLOW: &str = "import importlib.util, sys; sys.path[:] = [p for p in sys.path if p]; \
                          sys.exit(importlib.util.find_spec('mlflow') is None)";

/// What the Python file reads.
#[derive(Serialize)]
struct Input<'a> {
    uri: &'a str,
    /// The SHA-256 digest of the result: what was logged before is recognised by it.
    digest: String,
    #[serde(flatten)]
    export: &'a MlflowExport,
}

/// What it prints.
#[derive(Deserialize)]
#[serde(untagged)]
enum Reply {
    Logged { logged: bool, experiment: String, run: String },
    Refused { error: String, hint: String },
}

/// Logs a finished run, unless it is there already.
///
/// # Errors
/// No interpreter has MLflow, or MLflow cannot log there.
pub fn log(view: &RunView, result: &FinalResult, report: &RunReport, uri: &str) -> Result<(), Failure> {
    let python = python()?;
    let folder = tempfile::tempdir().map_err(|error| Trouble::io("write in", &env::temp_dir(), &error))?;
    let export = mlflow(view, result, report);
    let file = view.folder.join(layout::RESULT);
    let text = fs::read(&file).map_err(|error| Trouble::io("read", &file, &error))?;
    let digest = Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect();
    let input = serde_json::to_vec(&Input { uri, digest, export: &export }).unwrap_or_default();
    let script = folder.path().join("mlflow_export.py");
    fs::write(&script, SCRIPT).map_err(|error| Trouble::io("write", &script, &error))?;
    let output = call(&python, &script, &input).map_err(|error| Trouble::io("run", &python, &error))?;
    match reply_of(&output)? {
        Reply::Logged { logged, experiment, run } => {
            let id = &report.summary.run.run_id;
            output::talk(&match logged {
                true => {
                    let model = if export.model.is_some() { ", with its model" } else { "" };
                    let scripts = export.scripts.len();
                    format!(
                        "logged {id} in the experiment {experiment} as {run}: {scripts} scored scripts{model}"
                    )
                }
                false => format!("{id} is already in the experiment {experiment}, as {run}"),
            });
            Ok(())
        }
        Reply::Refused { error, hint } => Err(Trouble::new(error, hint).into()),
    }
}

fn reply_of(output: &Output) -> Result<Reply, Trouble> {
    let printed = String::from_utf8_lossy(&output.stdout);
    let reply = printed.lines().next_back().and_then(|line| serde_json::from_str(line).ok());
    reply.ok_or_else(|| {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
        let message = format!("MLflow ended without an answer: {}", last.trim());
        Trouble::new(message, "try `import mlflow` with the same interpreter")
    })
}

/// Runs the Python file with this text on its stdin: an address with a password is then in no list of processes.
fn call(python: &Path, script: &Path, input: &[u8]) -> std::io::Result<Output> {
    let mut command = Command::new(python);
    command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // If it ends early, it says why.
        let _ = stdin.write_all(input);
    }
    child.wait_with_output()
}

/// The interpreter that the environment names, else the first `python3` on PATH that has MLflow.
fn python() -> Result<PathBuf, Failure> {
    const HINT: &str = "install it with `python3 -m pip install mlflow`, or name an interpreter that has it in MLE_STAR_MLFLOW_PYTHON";
    if let Some(named) = env::var_os(PYTHON).filter(|named| !named.is_empty()) {
        let named = PathBuf::from(named);
        let message = format!("{} has no MLflow", named.display());
        return if has_mlflow(&named) { Ok(named) } else { Err(Trouble::new(message, HINT).into()) };
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let mut on_path =
        env::split_paths(&path).map(|folder| folder.join("python3")).filter(|file| file.is_file());
    let found = on_path.find(|python| has_mlflow(python));
    found.ok_or_else(|| Trouble::new("no python3 on PATH has MLflow", HINT).into())
}

fn has_mlflow(python: &Path) -> bool {
    let mut command = Command::new(python);
    command.args(["-c", HAS_MLFLOW]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
