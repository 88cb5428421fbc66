//! All tests, with nextest where it is installed, and how many there were.

use std::env;
use std::io;
use std::path::PathBuf;

use crate::browser::Browser;
use crate::command::{cargo, has, watched};

/// Programs that other tests start; they are no tests.
const PROGRAMS: [&str; 2] = ["scripts::environment::maker", "scripts::runner::orchestrator"];
/// Tests that run in the virtual machine.
const OF_KERNEL: &str = "scripts::cgroups::";
/// Part of the name of every test that drives the real `claude`.
const REAL_CLAUDE: &str = "real_claude";
/// Part of the name of every test that needs torch, which is too large to be installed for it.
const TORCH: &str = "with_torch";

/// Tests that passed, failed, and were not run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Passed.
    pub passed: usize,
    /// Failed; one for a build that failed.
    pub failed: usize,
    /// Not run, since this machine lacks what they need.
    pub skipped: usize,
}

/// What tests need beside the workspace.
pub struct Needs {
    /// An interpreter with the libraries that scripts use.
    pub python: PathBuf,
    /// What opens the web page.
    pub browser: Browser,
    /// The `claude` executable, where it and a closed network can be had.
    pub claude: Option<PathBuf>,
}

/// Runs every test of the workspace.
///
/// # Errors
/// Cargo cannot be started.
pub fn run(needs: &Needs, doc_tests: bool) -> io::Result<Count> {
    let mut left_out = PROGRAMS.to_vec();
    left_out.push(OF_KERNEL);
    let mut total = Count::default();
    if needs.claude.is_none() {
        left_out.push(REAL_CLAUDE);
        total.skipped = listed(REAL_CLAUDE)?;
    }
    if env::var_os("MLE_STAR_TEST_TORCH").is_none() {
        left_out.push(TORCH);
        total.skipped += listed(TORCH)?;
    }
    let mut lines = vec![command_line(&left_out)];
    if doc_tests {
        lines.push("test --workspace --doc".to_owned());
    }
    for line in lines {
        let mut command = cargo(&line);
        command.env("MLE_STAR_TEST_PYTHON", &needs.python).env("CARGO_TERM_COLOR", "never");
        let Browser { chromium, driver, axe } = &needs.browser;
        command.env("MLE_STAR_TEST_CHROMIUM", chromium).env("MLE_STAR_TEST_CHROMEDRIVER", driver);
        command.env("MLE_STAR_TEST_AXE", axe);
        if let Some(claude) = &needs.claude {
            command.env("MLE_STAR_TEST_CLAUDE", claude);
        }
        let (ok, text) = watched(command)?;
        let mut count = counted(&text);
        if !ok && count.failed == 0 {
            count.failed = 1;
        }
        total.passed += count.passed;
        total.failed += count.failed;
    }
    Ok(total)
}

/// All tests, those included that need what is prepared here.
fn command_line(left_out: &[&str]) -> String {
    if has("nextest --version") {
        let names: Vec<String> = left_out.iter().map(|name| format!("test({name})")).collect();
        let options = "--no-fail-fast --status-level slow --final-status-level fail --run-ignored all";
        format!("nextest run --workspace {options} --filterset not({})", names.join("|"))
    } else {
        let skips: Vec<String> = left_out.iter().map(|name| format!("--skip {name}")).collect();
        let options = "--no-fail-fast --lib --bins --tests -- --include-ignored";
        format!("test --workspace {options} {}", skips.join(" "))
    }
}

/// How many tests have this in their name.
fn listed(name: &str) -> io::Result<usize> {
    let list = format!("test --workspace --quiet --lib --bins --tests -- --list {name}");
    let output = cargo(&list).output()?;
    Ok(String::from_utf8_lossy(&output.stdout).lines().filter(|line| line.ends_with(": test")).count())
}

/// The totals of nextest's summary, or of every `test result` line of cargo's own runner.
fn counted(text: &str) -> Count {
    let summary = |line: &&str| line.trim_start().starts_with("Summary [") && line.contains("tests run:");
    let of_nextest: Vec<&str> = text.lines().filter(summary).collect();
    // Below nextest, `test result` is what a test that failed had printed.
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
