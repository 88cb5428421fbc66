//! The tests of the Python package `mle_star`: pytest runs them with the program of this build.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Instant;

use crate::command::{cargo, root, say, succeeds, target, watched};
use crate::environments;
use crate::report::{Count, Report};

/// What the tests need. The package itself needs nothing.
const PACKAGES: [&str; 15] = [
    "backports.zstd==1.2.0",
    "fastexcel==0.21.0",
    "ipykernel==7.4.0",
    "mypy==2.4.1",
    "nbclient==0.11.0",
    "nbformat==5.11.1",
    "openpyxl==3.1.5",
    "pandas==3.1.1",
    "pandas-stubs==3.1.0.261029",
    "polars==2.1.0",
    "pyarrow==26.0.1",
    "pytest==9.2.0",
    "pytest-xdist==3.8.0",
    "ruff==0.17.6",
    "scikit-learn==1.9.1",
];

/// An interpreter that has it.
///
/// # Errors
/// It cannot be had; in words.
pub fn prepare() -> Result<PathBuf, String> {
    environments::with("python-package", &PACKAGES)
}

/// `cargo xtask python`: builds the program and runs the tests, with more options of pytest; `true` if none failed.
pub fn test(options: &[&str]) -> bool {
    if !succeeds(cargo("build -p mle-star-cli")) {
        return false;
    }
    let (began, mut report) = (Instant::now(), Report::default());
    match prepare() {
        Ok(python) => run(&mut report, &python, options),
        Err(why) => report.skip(STEP, &why),
    }
    report.close(began)
}

/// The step of the gate.
pub fn run(report: &mut Report, python: &Path, options: &[&str]) {
    say("--- tests of the Python package");
    let began = Instant::now();
    let mut pytest = Command::new(python);
    pytest.args(["-m", "pytest", "--quiet", "-p", "no:cacheprovider", "python/tests"]);
    // Tests wait for runs most of their time.
    let workers = 2 * thread::available_parallelism().map_or(1, usize::from);
    pytest.args(["--numprocesses", &workers.to_string()]).args(options);
    pytest.current_dir(root()).env("PYTHONDONTWRITEBYTECODE", "1");
    pytest.env("PYTHONPATH", root().join("python")).env("MLE_STAR_BIN", target().join("debug/mle-star"));
    let count = match watched(pytest) {
        Ok((ok, text)) => {
            let count = counted(&text);
            Count { failed: count.failed.max(usize::from(!ok)), ..count }
        }
        Err(error) => {
            say(&format!("pytest cannot be started: {error}"));
            Count::check(false)
        }
    };
    report.add(STEP, began, count);
}

/// The name of the step.
pub const STEP: &str = "python";
/// The tests that a commit must pass.
pub const GATE: &[&str] = &["-m", "not deep"];
/// All tests.
pub const DEEP: &[&str] = &[];

/// The totals of pytest's last line.
fn counted(text: &str) -> Count {
    let last =
        text.lines().rev().find(|line| line.contains(" in ") && line.contains("passed")).unwrap_or_default();
    let of = |outcomes: &[&str]| -> usize {
        let words: Vec<&str> = last.split_whitespace().collect();
        let pairs = words.windows(2).filter(|pair| outcomes.contains(&pair[1].trim_end_matches(',')));
        pairs.filter_map(|pair| pair[0].parse::<usize>().ok()).sum()
    };
    // A test that is expected to fail has done what it should.
    Count {
        passed: of(&["passed", "xfailed"]),
        failed: of(&["failed", "error", "errors"]),
        skipped: of(&["skipped"]),
    }
}
