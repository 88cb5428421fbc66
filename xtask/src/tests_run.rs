//! Runs the tests with nextest, and counts them.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::thread;

use crate::browser::Browser;
use crate::command::{cargo, root, say, watched};
use crate::dist::tools;
use crate::programs::TESTS;
use crate::report::Count;

/// What a commit must pass. `.config/nextest.toml` says which tests these are.
pub const GATE: [&str; 2] = ["--profile", "default"];
/// All tests.
pub const DEEP: [&str; 2] = ["--profile", "deep"];
/// One whole run with the optimised program.
pub const REAL_RUN: [&str; 4] = ["--profile", "deep", "-E", "test(killed::a_run_killed_twice)"];

/// The file with a line for each test that was skipped; tests get its name from the variable.
const SKIPPED: (&str, &str) = ("MLE_STAR_TESTS_SKIPPED", "target/tests-skipped.txt");

/// What tests need beside the workspace. An error says why something is missing.
pub struct Needs {
    /// An interpreter with the libraries that scripts use.
    pub python: Result<PathBuf, String>,
    /// The browser that opens the web page.
    pub browser: Result<Browser, String>,
    /// The `claude` executable.
    pub claude: Result<PathBuf, String>,
    /// An interpreter with the client of the Model Context Protocol.
    pub mcp: Result<PathBuf, String>,
    /// The `codex` executable.
    pub codex: Result<PathBuf, String>,
    /// An interpreter with MLflow.
    pub mlflow: Result<PathBuf, String>,
    /// The program to test instead of that of the tests' own build.
    pub release: Result<PathBuf, String>,
}

impl Needs {
    /// Nothing: its tests run with `--deep`.
    pub fn none() -> Self {
        let none = || Err(ONLY_DEEP.to_owned());
        Self {
            python: none(),
            browser: Err(ONLY_DEEP.to_owned()),
            claude: none(),
            mcp: none(),
            codex: none(),
            mlflow: none(),
            release: none(),
        }
    }

    fn variables(&self) -> Vec<(&'static str, PathBuf)> {
        let single = [
            ("MLE_STAR_TEST_PYTHON", self.python.clone().ok()),
            ("MLE_STAR_DATA_PYTHON", self.python.clone().ok()),
            ("MLE_STAR_TEST_MCP", self.mcp.clone().ok()),
            ("MLE_STAR_TEST_CODEX", self.codex.clone().ok()),
            ("MLE_STAR_TEST_CLAUDE", self.claude.clone().ok()),
            ("MLE_STAR_TEST_MLFLOW", self.mlflow.clone().ok()),
            ("MLE_STAR_TEST_PROGRAM", self.release.clone().ok()),
            ("MLE_STAR_TEST_RAY", installed("ray")),
            ("MLE_STAR_TEST_MLEBENCH_PYTHON", installed("mle-bench")),
        ];
        let mut variables: Vec<_> =
            single.into_iter().filter_map(|(name, file)| Some((name, file?))).collect();
        if let Ok(Browser { chromium, driver, axe }) = &self.browser {
            variables.push(("MLE_STAR_TEST_CHROMIUM", chromium.clone()));
            variables.push(("MLE_STAR_TEST_CHROMEDRIVER", driver.clone()));
            variables.push(("MLE_STAR_TEST_AXE", axe.clone()));
        }
        variables
    }

    /// Why something is missing.
    fn reasons(&self) -> Vec<&String> {
        let files = [&self.python, &self.claude, &self.mcp, &self.codex, &self.mlflow];
        let reasons = files.into_iter().filter_map(|file| file.as_ref().err());
        reasons.chain(self.browser.as_ref().err()).filter(|why| *why != ONLY_DEEP).collect()
    }
}

const ONLY_DEEP: &str = "only with --deep";

/// The interpreter of an environment that a script `install.sh` of the tests makes.
fn installed(name: &str) -> Option<PathBuf> {
    Some(root().join("target").join(name).join("bin/python3")).filter(|python| python.exists())
}

/// The lines that are shown of a panic.
const SHOWN: usize = 40;

/// Runs the tests of a selection. Those that cannot run here say so. Returns the messages of failed tests as well.
///
/// # Errors
/// nextest cannot be installed or started.
pub fn run(needs: &Needs, selection: &[&str]) -> io::Result<(Count, Vec<String>)> {
    needs.reasons().into_iter().for_each(|why| say(why));
    let (variable, file) = (SKIPPED.0, root().join(SKIPPED.1));
    let _ = fs::remove_file(&file);
    // Tests wait for processes half of their time.
    let threads = 2 * thread::available_parallelism().map_or(1, usize::from);
    let options = "--no-fail-fast --status-level slow --final-status-level fail";
    let mut command = cargo(&format!("nextest run {TESTS} {options} --test-threads {threads}"));
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain([tools::nextest().map_err(io::Error::other)?]);
    command.args(selection).env("PATH", env::join_paths(folders).map_err(io::Error::other)?);
    command.envs(needs.variables()).env("CARGO_TERM_COLOR", "never").env(variable, &file);
    // A snapshot that differs fails its test; none is written unasked.
    if env::var_os("INSTA_UPDATE").is_none() {
        command.env("INSTA_UPDATE", "no");
    }
    command.env_remove("INSTA_FORCE_PASS");
    let (ok, text) = watched(command)?;
    let mut count = counted(&text);
    // A selection without a test is a mistake.
    count.failed += usize::from(count.failed == 0 && (!ok || count.passed == 0));
    let text_of_skipped = fs::read_to_string(&file).unwrap_or_default();
    let skipped = skipped(&text_of_skipped);
    for (why, count) in &skipped {
        say(&format!("{count} tests are skipped: {why}"));
    }
    count.skipped = skipped.values().sum();
    count.passed = count.passed.saturating_sub(count.skipped);
    Ok((count, panics(&text)))
}

/// The messages of the panics in an output, which has those of failed tests only.
fn panics(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let begins = lines.iter().enumerate().filter(|(_, line)| line.contains("panicked at "));
    let message = |(start, _): (usize, &&str)| {
        let ends = |line: &&&str| !line.trim_start().starts_with("note: ") && !line.is_empty();
        let shown: Vec<&str> = lines[start..].iter().take_while(ends).take(SHOWN).copied().collect();
        shown.join("\n")
    };
    begins.map(message).collect()
}

/// How many tests were skipped, by the reason. A test that started itself again is one test.
fn skipped(text: &str) -> BTreeMap<&str, usize> {
    let tests: BTreeMap<&str, &str> =
        text.lines().filter_map(|line| line.split_once(": skipped: ")).collect();
    let mut reasons = BTreeMap::new();
    tests.into_values().for_each(|why| *reasons.entry(why).or_default() += 1);
    reasons
}

/// The totals in nextest's summary.
fn counted(text: &str) -> Count {
    let is_summary = |line: &&str| line.trim_start().starts_with("Summary [") && line.contains(" run: ");
    let summary = text.lines().rfind(is_summary).unwrap_or_default();
    let number_before = |word: &str| {
        let before = summary.split(word).next().filter(|before| before.len() < summary.len())?;
        before.trim_end().rsplit([' ', ':']).next()?.parse::<usize>().ok()
    };
    let number = |word: &str| number_before(word).unwrap_or(0);
    Count { passed: number("passed"), failed: number("failed") + number("timed out"), skipped: 0 }
}
