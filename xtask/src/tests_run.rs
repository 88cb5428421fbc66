//! Runs the tests, with nextest where it is installed, and counts them.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::thread;

use crate::browser::Browser;
use crate::command::{cargo, has, root, say, watched};
use crate::programs::TESTS;
use crate::report::Count;

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
}

impl Needs {
    fn variables(&self) -> Vec<(&'static str, PathBuf)> {
        let mut variables = Vec::new();
        variables.extend(self.python.iter().map(|python| ("MLE_STAR_TEST_PYTHON", python.clone())));
        variables.extend(ray().map(|ray| ("MLE_STAR_TEST_RAY", ray)));
        variables.extend(mle_bench().map(|python| ("MLE_STAR_TEST_MLEBENCH_PYTHON", python)));
        variables.extend(mlflow().map(|python| ("MLE_STAR_TEST_MLFLOW", python)));
        if let Ok(Browser { chromium, driver, axe }) = &self.browser {
            variables.push(("MLE_STAR_TEST_CHROMIUM", chromium.clone()));
            variables.push(("MLE_STAR_TEST_CHROMEDRIVER", driver.clone()));
            variables.push(("MLE_STAR_TEST_AXE", axe.clone()));
        }
        variables.extend(self.mcp.iter().map(|python| ("MLE_STAR_TEST_MCP", python.clone())));
        variables.extend(self.codex.iter().map(|codex| ("MLE_STAR_TEST_CODEX", codex.clone())));
        variables.extend(self.claude.iter().map(|claude| ("MLE_STAR_TEST_CLAUDE", claude.clone())));
        variables
    }
}

/// The interpreter for the code of MLE-bench, where `crates/mle-star-cli/tests/mle_bench/install.sh` was run.
fn mle_bench() -> Option<PathBuf> {
    let given = env::var_os("MLE_STAR_TEST_MLEBENCH_PYTHON").map(PathBuf::from);
    given.or_else(|| Some(root().join("target/mle-bench/bin/python3")).filter(|python| python.exists()))
}

/// The interpreter that has MLflow, where somebody installed it.
fn mlflow() -> Option<PathBuf> {
    let given = env::var_os("MLE_STAR_TEST_MLFLOW").map(PathBuf::from);
    given.or_else(|| Some(root().join("target/mlflow/bin/python3")).filter(|python| python.exists()))
}

/// The interpreter that has Ray, where `crates/mle-star-cli/tests/worlds/install.sh` was run.
fn ray() -> Option<PathBuf> {
    let given = env::var_os("MLE_STAR_TEST_RAY").map(PathBuf::from);
    given.or_else(|| Some(root().join("target/ray/bin/python3")).filter(|python| python.exists()))
}

/// The lines that are shown of a panic.
const SHOWN: usize = 40;

/// Runs the tests of the workspace, with these campaigns. Those that cannot run here say so. Returns the messages of
/// failed tests as well.
///
/// # Errors
/// Cargo cannot be started.
pub fn run(needs: &Needs, campaigns: &[&str], doc_tests: bool) -> io::Result<(Count, Vec<String>)> {
    let (variable, file) = (SKIPPED.0, root().join(SKIPPED.1));
    let _ = fs::remove_file(&file);
    let (mut total, mut messages) = (Count::default(), Vec::new());
    let doc_tests = doc_tests.then(|| "test --workspace --doc".to_owned());
    for line in [command_line()].into_iter().chain(doc_tests) {
        let mut command = cargo(&line);
        command.envs(needs.variables()).env("CARGO_TERM_COLOR", "never");
        command.env(variable, &file).env("MLE_STAR_TEST_CAMPAIGNS", campaigns.join(","));
        // A snapshot that differs fails its test; none is written unasked.
        if env::var_os("INSTA_UPDATE").is_none() {
            command.env("INSTA_UPDATE", "no");
        }
        command.env_remove("INSTA_FORCE_PASS");
        let (ok, text) = watched(command)?;
        let count = counted(&text);
        messages.extend(panics(&text));
        let failed_otherwise = usize::from(!ok && count.failed == 0);
        total.add(Count { failed: count.failed + failed_otherwise, ..count });
    }
    let text = fs::read_to_string(&file).unwrap_or_default();
    let skipped = skipped(&text);
    for (why, count) in &skipped {
        say(&format!("{count} tests are skipped: {why}"));
    }
    total.skipped = skipped.values().sum();
    total.passed = total.passed.saturating_sub(total.skipped);
    Ok((total, messages))
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

fn command_line() -> String {
    if has("nextest --version") {
        // Tests wait for processes half of their time.
        let threads = 2 * thread::available_parallelism().map_or(1, usize::from);
        let options = "--no-fail-fast --status-level slow --final-status-level fail";
        format!("nextest run {TESTS} {options} --test-threads {threads}")
    } else {
        format!("test {TESTS} --no-fail-fast")
    }
}

/// The totals of nextest's summary, or of every `test result` line of cargo's own runner.
fn counted(text: &str) -> Count {
    let summary = |line: &&str| line.trim_start().starts_with("Summary [") && line.contains("tests run:");
    let of_nextest: Vec<&str> = text.lines().filter(summary).collect();
    // Under nextest, `test result` is part of a failed test's output.
    let of_cargo = || text.lines().filter(|line| line.starts_with("test result:")).collect();
    let totals = if of_nextest.is_empty() { of_cargo() } else { of_nextest };
    let number_before = |line: &str, word: &str| {
        let before = line.split(word).next().filter(|before| before.len() < line.len())?;
        before.trim_end().rsplit([' ', ':']).next()?.parse::<usize>().ok()
    };
    totals.into_iter().fold(Count::default(), |total, line| {
        let bad = ["failed", "timed out", "exec failed"].map(|word| number_before(line, word).unwrap_or(0));
        Count {
            passed: total.passed + number_before(line, "passed").unwrap_or(0),
            failed: total.failed + bad[0] + bad[1],
            skipped: 0,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipped_tests_are_counted_once_by_their_reason() {
        let text =
            "a::b: skipped: needs root\nc: skipped: needs root\nc: skipped: needs root\nd: skipped: no\n";
        assert_eq!(skipped(text), BTreeMap::from([("needs root", 2), ("no", 1)]));
    }

    #[test]
    fn the_messages_of_failed_tests_are_found() {
        let text = "--- STDERR: it a ---\n\n  thread 'a' (7) panicked at a.rs:1:2:\n  left: 1\n  right: 2\n  note: run with\n\
                    other\nthread 'b' panicked at b.rs:1:2:\nno file\n\nFAIL";
        let found = [
            "  thread 'a' (7) panicked at a.rs:1:2:\n  left: 1\n  right: 2",
            "thread 'b' panicked at b.rs:1:2:\nno file",
        ];
        assert_eq!(panics(text), found);
        let long = "thread 'c' panicked at c.rs:1:2:\n".to_owned() + &"line\n".repeat(90);
        assert_eq!(panics(&long)[0].lines().count(), SHOWN);
    }

    #[test]
    fn totals_are_read_from_both_runners() {
        let check = |text: &str, passed, failed| {
            assert_eq!(counted(text), Count { passed, failed, skipped: 0 }, "{text}");
        };
        check("     Summary [   0.297s] 29 tests run: 29 passed, 10 skipped\n", 29, 0);
        check(
            "     Summary [   0.2s] 29 tests run: 25 passed (1 slow), 3 failed, 1 timed out, 2 skipped\n",
            25,
            4,
        );
        check(
            "test result: ok. 5 passed; 0 failed; 1 ignored\ntest result: FAILED. 3 passed; 2 failed;\n",
            8,
            2,
        );
        let nested = "test result: FAILED. 0 passed; 1 failed;\n  Summary [ 1s] 2 tests run: 1 passed, 1 failed, 0 skipped\n";
        check(nested, 1, 1);
        check("error: could not compile\n", 0, 0);
    }
}
