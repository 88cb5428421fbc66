//! Runs the tests: those of Rust with nextest, those of the Python packages and the laboratory with pytest.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs, thread};

use serde_json::Value;

use crate::command::{cargo, root, say, target, watched};
use crate::report::Count;
use crate::tools::{self, Needs};

/// The tests, without examples: clippy checks those, and linking them takes time.
const TESTS: &str = "--workspace --lib --bins --tests";
/// What a commit must pass. `.config/nextest.toml` says which tests these are.
pub const GATE: &str = "--profile default";
/// All tests.
pub const DEEP: &str = "--profile deep";
/// One whole run with the optimised program.
pub const REAL_RUN: &str = "--profile deep -E test(killed::a_run_killed_twice)";
/// The file with a line for each test that was skipped; tests get its name from the variable.
const SKIPPED: (&str, &str) = ("MLE_STAR_TESTS_SKIPPED", "target/tests-skipped.txt");

/// Builds the tests; the program with those of `mle-star-backends`, which other steps start.
///
/// # Errors
/// The build fails; in words.
pub fn build() -> Result<PathBuf, String> {
    let line = format!("test {TESTS} --no-run --message-format json-render-diagnostics");
    say(&format!("--- cargo {line}"));
    let output = cargo(&line).stderr(Stdio::inherit()).output().map_err(|error| format!("cargo: {error}"))?;
    if !output.status.success() {
        return Err("the tests cannot be built".to_owned());
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let mut messages = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let is_wanted = |message: &Value| {
        let source = message["target"]["src_path"].as_str().unwrap_or_default();
        message["executable"].is_string() && source.ends_with("mle-star-backends/tests/it/main.rs")
    };
    let found = messages.find(is_wanted).and_then(|found| found["executable"].as_str().map(PathBuf::from));
    found.ok_or_else(|| "mle-star-backends has no tests".to_owned())
}

/// Runs the tests of a selection. Those that cannot run here say so.
///
/// # Errors
/// nextest cannot be had.
pub fn run(needs: &Needs, selection: &str) -> Result<Count, String> {
    say("--- tests");
    let (variable, file) = (SKIPPED.0, root().join(SKIPPED.1));
    let _ = fs::remove_file(&file);
    let options =
        "--no-fail-fast --status-level slow --final-status-level fail --failure-output immediate-final";
    let mut command =
        cargo(&format!("nextest run {TESTS} {options} --test-threads {} {selection}", threads()));
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain([tools::nextest()?]);
    command.env("PATH", env::join_paths(folders).map_err(|error| error.to_string())?);
    for (name, file) in needs {
        match file {
            Ok(file) => drop(command.env(name, file)),
            Err(why) => say(why),
        }
    }
    command.env("CARGO_TERM_COLOR", "never").env(variable, &file).env_remove("INSTA_FORCE_PASS");
    // A snapshot that differs fails its test; none is written unasked.
    if env::var_os("INSTA_UPDATE").is_none() {
        command.env("INSTA_UPDATE", "no");
    }
    let (ok, text) = watched(command).map_err(|error| format!("nextest: {error}"))?;
    let is_summary = |line: &&str| line.trim_start().starts_with("Summary [") && line.contains(" run: ");
    let summary = text.lines().rfind(is_summary).and_then(|line| line.split_once(" run: "));
    // What nextest calls skipped was not selected.
    let count = Count { skipped: 0, ..Count::in_summary(summary.map_or("", |(_, counts)| counts), ok) };
    let skipped = fs::read_to_string(&file).unwrap_or_default();
    // A test that started itself again is one test.
    let skipped: BTreeMap<&str, &str> =
        skipped.lines().filter_map(|line| line.split_once(": skipped: ")).collect();
    for (test, why) in &skipped {
        say(&format!("skipped: {test} {why}"));
    }
    Ok(Count { passed: count.passed.saturating_sub(skipped.len()), skipped: skipped.len(), ..count })
}

/// Runs the tests of the Python packages and of the laboratory with the program of this build, and options of pytest.
///
/// # Errors
/// What they need cannot be had.
pub fn of_python(python: &Path, options: &[&str]) -> Result<Count, String> {
    say("--- tests of the Python packages");
    let mut pytest = Command::new(python);
    pytest.args(["-m", "pytest", "--quiet", "-p", "no:cacheprovider", "python/tests", "lab/tests"]);
    pytest.args(["--numprocesses", &threads().to_string()]).args(options);
    pytest.current_dir(root()).env("PYTHONDONTWRITEBYTECODE", "1");
    pytest.env("PYTHONPATH", root().join("python")).env("MLE_STAR_BIN", target().join("debug/mle-star"));
    let (ok, text) = watched(pytest).map_err(|error| format!("pytest: {error}"))?;
    let last = text.lines().rfind(|line| line.contains(" in ") && line.contains("passed"));
    Ok(Count::in_summary(last.unwrap_or_default(), ok))
}

/// Tests wait for processes half of their time.
fn threads() -> usize {
    2 * thread::available_parallelism().map_or(1, usize::from)
}
