//! All tests, with nextest where it is installed, and how many there were.

use std::io;
use std::path::Path;

use crate::command::{cargo, has, watched};

/// Tests that passed and failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Passed.
    pub passed: usize,
    /// Failed; one for a build that failed.
    pub failed: usize,
}

/// Runs every test of the workspace; `python` is for those that need libraries.
///
/// # Errors
/// Cargo cannot be started.
pub fn run(python: &Path, doc_tests: bool) -> io::Result<Count> {
    // Ignored are tests that need what is prepared here, and two programs that other tests start.
    let mut lines = match has("nextest --version") {
        true => vec![
            "nextest run --workspace --no-fail-fast --status-level slow --final-status-level fail --run-ignored all \
             --filterset not(test(=scripts::environment::maker)|test(=scripts::runner::orchestrator))",
        ],
        false => vec![
            "test --workspace --no-fail-fast --lib --bins --tests -- --include-ignored \
             --skip scripts::environment::maker --skip scripts::runner::orchestrator",
        ],
    };
    if doc_tests {
        lines.push("test --workspace --doc");
    }
    let mut total = Count::default();
    for line in lines {
        let mut command = cargo(line);
        command.env("MLE_STAR_TEST_PYTHON", python).env("CARGO_TERM_COLOR", "never");
        let (ok, text) = watched(command)?;
        let mut count = counted(&text);
        if !ok && count.failed == 0 {
            count.failed = 1;
        }
        total = Count { passed: total.passed + count.passed, failed: total.failed + count.failed };
    }
    Ok(total)
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
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_read_from_both_runners() {
        let check =
            |text: &str, passed, failed| assert_eq!(counted(text), Count { passed, failed }, "{text}");
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
