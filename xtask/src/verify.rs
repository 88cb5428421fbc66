//! The gate, in three tiers. Every step runs, whatever the earlier ones found.
//!
//! - [`gate`] runs for every commit: ten minutes after a build. It has the first case of each campaign.
//! - [`deep`] runs once a day: whole campaigns, real command lines of models, runners, the virtual machine, the book.
//! - A release checks what is published: [`crate::release`].

use std::path::PathBuf;
use std::thread;
use std::time::Instant;

use crate::command::{cargo, root, say, succeeds, target};
use crate::dist::{self, tools};
use crate::packages::is_said_by_git;
use crate::programs::Programs;
use crate::report::{Count, Report};
use crate::tests_run::{self, Needs};
use crate::{
    book, browser, budget, claude, codex, environments, faults, kernel, mcp, python, python_package, tidy,
};

/// What the tests of MLflow log to.
const MLFLOW: &str = "mlflow==3.17.2";

/// Checks a commit; `true` if nothing failed.
pub fn gate() -> bool {
    let (began, mut report) = (Instant::now(), Report::default());
    // Downloads need the network, compilation the processor.
    let downloads = thread::spawn(|| (browser::prepare(), python_package::prepare()));
    report.check("fmt", || succeeds(cargo("fmt --all --check")));
    report.check("tidy", is_tidy);
    report.check("budget", budget::is_kept);
    let programs = built(&mut report);
    let python = python_beside(&programs, || {
        report.check("clippy", || succeeds(cargo("clippy --workspace --all-targets -- -D warnings")));
        if dependencies_changed() {
            dependencies(&mut report);
        }
    });
    let (browser, package) = downloads.join().unwrap_or_else(|_| (missing(PANICKED), missing(PANICKED)));
    if programs.is_ok() {
        let needs = Needs { python, browser, ..Needs::none() };
        tests(&mut report, "tests", &tests_run::GATE, &needs);
        python_tests(&mut report, package, python_package::GATE);
        real_run(&mut report, needs);
    }
    report.close(began)
}

/// Checks what the gate has no time for; `true` if nothing failed.
pub fn deep() -> bool {
    let (began, mut report) = (Instant::now(), Report::default());
    let downloads = thread::spawn(|| (download(), book::prepare(), python_package::prepare()));
    let programs = built(&mut report);
    let python = python_beside(&programs, || {
        report.check("docs", documents);
        report.check("doc tests", || succeeds(cargo("test --workspace --doc")));
        dependencies(&mut report);
    });
    let (needs, mdbook, package) =
        downloads.join().unwrap_or_else(|_| (Needs::none(), missing(PANICKED), missing(PANICKED)));
    match mdbook {
        Ok(mdbook) => report.check("book", || book::build(&mdbook)),
        Err(why) => report.skip("book", &why),
    }
    if let Ok(programs) = &programs {
        tests(&mut report, "tests", &tests_run::DEEP, &Needs { python, ..needs });
        python_tests(&mut report, package, python_package::DEEP);
        let (began, campaign) = (Instant::now(), faults::campaign(&[]));
        report.add("faults", began, campaign);
        match kernel::not_here() {
            Some(why) => report.skip("kernel", &why),
            None => report.check("kernel", || kernel::passes(programs)),
        }
    }
    report.close(began)
}

const PANICKED: &str = "the thread that downloads it panicked";

fn missing<T>(why: &str) -> Result<T, String> {
    Err(why.to_owned())
}

/// The tidy checks.
pub fn is_tidy() -> bool {
    say("--- tidy");
    let findings = tidy::findings(&root());
    findings.iter().for_each(|finding| say(finding));
    findings.is_empty()
}

/// What the deep tests need. Without the real `claude` or `codex`, or without a network that can be closed, their tests
/// are skipped and counted.
fn download() -> Needs {
    let is_closed = claude::networks_can_be_closed();
    let in_closed_network = |prepare: fn() -> Result<PathBuf, String>| match is_closed {
        true => prepare(),
        false => missing("network namespaces are not permitted here"),
    };
    Needs {
        python: missing("not made yet"),
        browser: browser::prepare(),
        claude: in_closed_network(claude::prepare),
        codex: in_closed_network(codex::prepare),
        mcp: mcp::prepare(),
        mlflow: environments::with("mlflow", &[MLFLOW]),
        release: missing("only the real run of the gate uses it"),
    }
}

fn built(report: &mut Report) -> Result<Programs, String> {
    let (began, programs) = (Instant::now(), Programs::build());
    report.add("build", began, Count::check(programs.is_ok()));
    programs
}

/// Makes the Python environment that scripts use, which waits for downloads, beside work that uses the processor.
fn python_beside(programs: &Result<Programs, String>, work: impl FnOnce()) -> Result<PathBuf, String> {
    thread::scope(|threads| {
        let python = threads.spawn(|| python::prepare(programs.as_ref().map_err(Clone::clone)?));
        work();
        python.join().unwrap_or_else(|_| missing(PANICKED))
    })
}

/// Library and binary have the same name, and with it the same folder of pages. The binary's go elsewhere; what is
/// compiled on the way stays in the one build folder.
fn documents() -> bool {
    let with_warnings = |line: &str| {
        let mut command = cargo(line);
        // Private items are documented as well: links to them are fine.
        command.env("RUSTDOCFLAGS", "-D warnings -A rustdoc::private-intra-doc-links");
        command.env("CARGO_BUILD_BUILD_DIR", target());
        succeeds(command)
    };
    let libraries = with_warnings("doc --workspace --lib --no-deps --document-private-items");
    let binaries =
        "doc --workspace --bins --no-deps --document-private-items --target-dir target/doc-of-binaries";
    with_warnings(binaries) && libraries
}

/// Whether a commit of the last day changed what is depended on. The daily run has checked older ones.
fn dependencies_changed() -> bool {
    let files = ["Cargo.lock", "deny.toml"];
    is_said_by_git(&["log", "--since=1.day", "--format=%h", "--"], &files)
        || is_said_by_git(&["status", "--porcelain", "--"], &files)
}

fn dependencies(report: &mut Report) {
    match tools::cargo_deny() {
        Ok(deny) => report.check("dependencies", || dist::has_good_dependencies(&deny)),
        Err(why) => report.skip("dependencies", &why),
    }
}

/// Runs the tests of a selection.
fn tests(report: &mut Report, step: &str, selection: &[&str], needs: &Needs) {
    say(&format!("--- {step}"));
    let (began, ended) = (Instant::now(), tests_run::run(needs, selection));
    let (count, messages) = ended
        .unwrap_or_else(|error| (Count::check(false), vec![format!("the tests cannot be run: {error}")]));
    messages.into_iter().for_each(|message| report.tell_at_the_end(message));
    report.add(step, began, count);
}

fn python_tests(report: &mut Report, python: Result<PathBuf, String>, options: &[&str]) {
    match python {
        Ok(python) => python_package::run(report, &python, options),
        Err(why) => report.skip(python_package::STEP, &why),
    }
}

/// A whole run with the program as people build it: killed twice and resumed, it ends like an undisturbed one.
fn real_run(report: &mut Report, needs: Needs) {
    let began = Instant::now();
    let is_built = succeeds(cargo("build --release --package mle-star-cli"));
    report.add("release", began, Count::check(is_built));
    if is_built {
        let release = Ok(target().join("release/mle-star"));
        tests(report, "real run", &tests_run::REAL_RUN, &Needs { release, ..needs });
    }
}
