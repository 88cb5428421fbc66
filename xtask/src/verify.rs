//! The gate: every step runs, whatever the ones before said; the last line counts.

use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Instant;

use crate::command::{cargo, root, say};
use crate::{browser, claude, faults, kernel, python, tests_run, tidy};

/// What `cargo xtask verify` does besides the tests, one check each.
const CHECKS: [(&str, &[&str]); 3] = [
    ("fmt", &["fmt --all --check"]),
    ("clippy", &["clippy --workspace --all-targets -- -D warnings"]),
    (
        "docs",
        &[
            // For those who work on it: links lead to private items, too.
            "doc --workspace --lib --no-deps --document-private-items",
            // A binary called like a library would overwrite its pages.
            "doc --package mle-star-cli --bins --no-deps --document-private-items --target-dir target/doc-bins",
        ],
    ),
];

/// Runs everything. Tests and checks are counted alike in the last line.
pub fn verify() -> ExitCode {
    let began = Instant::now();
    let mut count = tests_run::Count::default();
    let mut verdicts = Vec::new();
    let mut judge = |name: &str, ok: bool| {
        *if ok { &mut count.passed } else { &mut count.failed } += 1;
        verdicts.push(format!("{name}: {}", if ok { "ok" } else { "FAILED" }));
    };
    for (name, lines) in CHECKS {
        judge(name, lines.iter().all(|line| succeeds(cargo(line))));
    }
    judge("tidy", is_tidy());
    judge("faults", faults::campaign(faults::SHORT));
    if let Some(why) = kernel::not_here() {
        say(&format!("--- kernel of its own: {why}, skipped"));
        count.skipped += 1;
    } else {
        judge("kernel", has_limits());
    }
    say("--- python environment for tests");
    let python = python::prepare();
    judge("python environment", python.is_ok());
    say("--- browser for tests");
    let browser = browser::prepare();
    judge("browser", browser.is_ok());
    match python.and_then(|python| Ok((python, browser?))) {
        Ok((python, browser)) => {
            let needs = tests_run::Needs { python, browser, claude: claude_for_tests() };
            say("--- tests");
            let tests = tests_run::run(&needs, tidy::has_doc_tests(&root())).unwrap_or_else(|error| {
                say(&format!("tests cannot be run: {error}"));
                tests_run::Count { failed: 1, ..tests_run::Count::default() }
            });
            verdicts.push(format!("tests: {}", in_words(tests)));
            count.passed += tests.passed;
            count.failed += tests.failed;
            count.skipped += tests.skipped;
        }
        Err(why) => say(&why),
    }
    say(&format!("--- {} ({} s)", verdicts.join("; "), began.elapsed().as_secs()));
    say(&in_words(count));
    exit(count.failed == 0)
}

/// The tidy checks alone.
pub fn tidy_only() -> ExitCode {
    exit(is_tidy())
}

/// The tests in the virtual machine alone.
pub fn kernel_only() -> ExitCode {
    exit(has_limits())
}

/// Do the tests pass that need a kernel of their own?
fn has_limits() -> bool {
    say("--- kernel of its own");
    match kernel::run() {
        Ok((passed, failed)) => {
            say(&format!("{passed} scenarios passed, {failed} failed"));
            failed == 0
        }
        Err(why) => {
            say(&why);
            false
        }
    }
}

/// The real `claude`; without it, or without a network that can be closed, its tests are skipped and counted.
fn claude_for_tests() -> Option<PathBuf> {
    say("--- claude for tests");
    if !claude::networks_can_be_closed() {
        say("network namespaces are not permitted here: tests with the real claude are skipped");
        return None;
    }
    claude::prepare().map_err(|why| say(&format!("{why}; tests with the real claude are skipped"))).ok()
}

fn in_words(count: tests_run::Count) -> String {
    let skipped = if count.skipped == 0 { String::new() } else { format!(", {} skipped", count.skipped) };
    format!("{} passed, {} failed{skipped}", count.passed, count.failed)
}

fn is_tidy() -> bool {
    say("--- tidy");
    let findings = tidy::findings(&root());
    findings.iter().for_each(|finding| say(finding));
    findings.is_empty()
}

fn succeeds(mut command: Command) -> bool {
    let words: Vec<String> = command.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
    say(&format!("--- cargo {}", words.join(" ")));
    // Private items are documented as well: links to them are fine.
    command.env("RUSTDOCFLAGS", "-D warnings -A rustdoc::private-intra-doc-links");
    command.status().is_ok_and(|status| status.success())
}

fn exit(ok: bool) -> ExitCode {
    if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
