//! Runs the tests, with nextest where it is installed, and counts them.

use std::env;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::thread;

use crate::browser::Browser;
use crate::claude::networks_can_be_closed;
use crate::command::{cargo, has, root, say, watched};
use crate::programs::TESTS;
use crate::report::Count;

/// Tests that are never run here: programs that other tests start, and tests of the virtual machine.
const NEVER: [&str; 2] = ["::program_", "cgroups::"];

/// What tests need beside the workspace. An error says why something is missing.
pub struct Needs {
    /// An interpreter with the libraries that scripts use.
    pub python: PathBuf,
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
    /// Parts of the names of tests that cannot be run here, and why.
    fn missing(&self) -> Vec<(&'static str, &str)> {
        let is_root = fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0);
        let torch = env::var_os("MLE_STAR_TEST_TORCH");
        let missing = [
            ("browser::", self.browser.as_ref().err().map(String::as_str)),
            ("python_client_of_mcp", self.mcp.as_ref().err().map(String::as_str)),
            ("real_claude", self.claude.as_ref().err().map(String::as_str)),
            ("real_codex", self.codex.as_ref().err().map(String::as_str)),
            // Too large to be installed for one test.
            ("with_torch", torch.is_none().then_some("MLE_STAR_TEST_TORCH names no interpreter")),
            (
                "without_a_network",
                (!networks_can_be_closed()).then_some("network namespaces are not permitted"),
            ),
            ("as_root", (!is_root).then_some("not root")),
            ("behind_ssh", world(is_root, "sshd")),
            ("on_slurm", world(is_root, "slurmctld")),
            ("on_ray", world(is_root, "unshare").or(ray().err())),
            ("mle_bench::", mle_bench().err()),
        ];
        missing.into_iter().filter_map(|(part, why)| Some((part, why?))).collect()
    }

    fn variables(&self) -> Vec<(&'static str, PathBuf)> {
        let mut variables = vec![("MLE_STAR_TEST_PYTHON", self.python.clone())];
        variables.extend(ray().ok().map(|ray| ("MLE_STAR_TEST_RAY", ray)));
        variables.extend(mle_bench().ok().map(|python| ("MLE_STAR_TEST_MLEBENCH_PYTHON", python)));
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

/// Why the tests in a world of `crates/mle-star-cli/tests/worlds` cannot be run, if they cannot.
fn world(is_root: bool, program: &str) -> Option<&'static str> {
    let path = env::var("PATH").unwrap_or_default();
    let mut folders = path.split(':').chain(["/usr/sbin", "/sbin"]);
    match (is_root, folders.any(|folder| Path::new(folder).join(program).exists())) {
        (false, _) => Some("not root"),
        (true, false) => Some("crates/mle-star-cli/tests/worlds/install.sh was not run"),
        (true, true) => None,
    }
}

/// The interpreter for the code of MLE-bench, if a checkout of it is there.
fn mle_bench() -> Result<PathBuf, &'static str> {
    env::var_os("MLE_STAR_TEST_MLEBENCH").ok_or("MLE_STAR_TEST_MLEBENCH names no checkout of MLE-bench")?;
    let given = env::var_os("MLE_STAR_TEST_MLEBENCH_PYTHON").map(PathBuf::from);
    let python = given.unwrap_or_else(|| root().join("target/mle-bench/bin/python3"));
    python.exists().then_some(python).ok_or("crates/mle-star-cli/tests/mle_bench/install.sh was not run")
}

/// The interpreter that has Ray.
fn ray() -> Result<PathBuf, &'static str> {
    let given = env::var_os("MLE_STAR_TEST_RAY").map(PathBuf::from);
    let python = given.unwrap_or_else(|| root().join("target/ray/bin/python3"));
    let missing =
        "crates/mle-star-cli/tests/worlds/install.sh was not run, and MLE_STAR_TEST_RAY names no interpreter";
    python.exists().then_some(python).ok_or(missing)
}

/// Runs every test of the workspace that can be run here.
///
/// # Errors
/// Cargo cannot be started.
pub fn run(needs: &Needs, doc_tests: bool) -> io::Result<Count> {
    let (missing, names) = (needs.missing(), names()?);
    let mut total = Count::default();
    for (part, why) in &missing {
        let count = names.iter().filter(|name| name.contains(part)).count();
        say(&format!("{count} tests with {part} in their name are skipped: {why}"));
        total.skipped += count;
    }
    let left_out: Vec<&str> = NEVER.into_iter().chain(missing.iter().map(|(part, _)| *part)).collect();
    let doc_tests = doc_tests.then(|| "test --workspace --doc".to_owned());
    for line in [command_line(&left_out)].into_iter().chain(doc_tests) {
        let mut command = cargo(&line);
        command.envs(needs.variables()).env("CARGO_TERM_COLOR", "never");
        // A snapshot that differs fails its test; none is written.
        command.env("INSTA_UPDATE", "no").env_remove("INSTA_FORCE_PASS");
        let (ok, text) = watched(command)?;
        let count = counted(&text);
        let failed_otherwise = usize::from(!ok && count.failed == 0);
        total.add(Count { failed: count.failed + failed_otherwise, ..count });
    }
    Ok(total)
}

/// All tests except these, including those that need the things prepared here.
fn command_line(left_out: &[&str]) -> String {
    if has("nextest --version") {
        let names: Vec<String> = left_out.iter().map(|name| format!("test({name})")).collect();
        let options = "--no-fail-fast --status-level slow --final-status-level fail --run-ignored all";
        // Tests wait for processes half of their time.
        let threads = 2 * thread::available_parallelism().map_or(1, usize::from);
        format!("nextest run {TESTS} {options} --test-threads {threads} --filterset not({})", names.join("|"))
    } else {
        let skips: Vec<String> = left_out.iter().map(|name| format!("--skip {name}")).collect();
        format!("test {TESTS} --no-fail-fast -- --include-ignored {}", skips.join(" "))
    }
}

/// The names of all tests.
fn names() -> io::Result<Vec<String>> {
    let output = cargo(&format!("test {TESTS} --quiet -- --list")).output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
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
