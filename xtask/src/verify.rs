//! The gate: every step runs, whatever the earlier ones found.

use std::path::PathBuf;
use std::thread;
use std::time::Instant;

use crate::browser::Browser;
use crate::command::{cargo, root, say, succeeds, target};
use crate::programs::Programs;
use crate::report::{Count, Report};
use crate::tests_run::{self, Needs};
use crate::{
    book, browser, campaigns, claude, codex, dist, faults, kernel, mcp, python, python_package, tidy,
};

/// What is checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// Also run the steps that need more than Rust and Python.
    all: bool,
    /// Also run campaigns whose files have not changed.
    campaigns: bool,
}

impl Scope {
    /// Reads the options; `None` for an unknown one.
    pub fn parse(options: &[&str]) -> Option<Self> {
        options.iter().try_fold(Self::default(), |scope, option| match *option {
            "--all" => Some(Self { all: true, ..scope }),
            "--campaigns" => Some(Self { campaigns: true, ..scope }),
            _ => None,
        })
    }

    /// The campaigns that are run.
    fn campaigns(self) -> Vec<&'static str> {
        let names = campaigns::CAMPAIGNS.iter().map(|(name, _)| *name);
        names.filter(|name| self.campaigns || !campaigns::is_proven(name)).collect()
    }
}

/// Runs all steps; `true` if nothing failed. Checks and tests count alike in the last line.
pub fn verify(scope: Scope) -> bool {
    let (began, mut report) = (Instant::now(), Report::default());
    // Downloads need the network, compilation the processor.
    let downloads = thread::spawn(move || download(scope));
    report.check("fmt", || succeeds(cargo("fmt --all --check")));
    report.check("tidy", is_tidy);
    let programs = built(&mut report);
    let python = thread::scope(|threads| {
        let python = threads.spawn(|| python::prepare(programs.as_ref().map_err(Clone::clone)?));
        report.check("clippy", || succeeds(cargo("clippy --workspace --all-targets -- -D warnings")));
        report.check("docs", documents);
        python.join().unwrap_or_else(|_| Err("the thread that prepares Python panicked".to_owned()))
    });
    let downloads = downloads.join().unwrap_or_else(|_| Downloads::missing(PANICKED));
    let Downloads { browser, claude, codex, mcp, mdbook, package } = downloads;
    match mdbook {
        Ok(mdbook) => report.check("book", || book::build(&mdbook)),
        Err(why) => report.skip("book", &why),
    }
    let wanted = scope.campaigns();
    // Their tests are skipped and counted; here is why they are missing.
    let why = [
        python.as_ref().err(),
        browser.as_ref().err(),
        claude.as_ref().err(),
        codex.as_ref().err(),
        mcp.as_ref().err(),
    ];
    why.into_iter().flatten().filter(|why| *why != ONLY_WITH_ALL).for_each(|why| say(why));
    if programs.is_ok() {
        let needs = Needs { python, browser, claude, codex, mcp };
        if tests(&mut report, &needs, &wanted) && needs.python.is_ok() {
            let outside = [campaigns::KERNEL, campaigns::FAULTS];
            let passed: Vec<&str> = wanted.iter().filter(|name| !outside.contains(name)).copied().collect();
            campaigns::record(&passed);
        }
    }
    match (package, &programs) {
        (Ok(python), Ok(_)) => python_package::run(&mut report, &python, &[]),
        (Err(why), _) => report.skip(python_package::STEP, &why),
        (Ok(_), Err(why)) => report.skip(python_package::STEP, why),
    }
    fault_campaign(&mut report, scope, &wanted);
    if scope.all {
        match dist::tools::cargo_deny() {
            Ok(deny) => report.check("dependencies", || dist::has_good_dependencies(&deny)),
            Err(why) => report.skip("dependencies", &why),
        }
        dist::check(&mut report);
    } else {
        report.skip("dependencies", ONLY_WITH_ALL);
        report.skip("crates", ONLY_WITH_ALL);
        report.skip("install", ONLY_WITH_ALL);
    }
    virtual_machine(&mut report, scope, &wanted, programs.as_ref());
    report.close(began)
}

const ONLY_WITH_ALL: &str = "only with --all";
const PANICKED: &str = "the thread that downloads it panicked";

/// The tidy checks.
pub fn is_tidy() -> bool {
    say("--- tidy");
    let findings = tidy::findings(&root());
    findings.iter().for_each(|finding| say(finding));
    findings.is_empty()
}

/// What the steps of `--all` need, or why it is missing.
struct Downloads {
    browser: Result<Browser, String>,
    claude: Result<PathBuf, String>,
    codex: Result<PathBuf, String>,
    mcp: Result<PathBuf, String>,
    mdbook: Result<PathBuf, String>,
    package: Result<PathBuf, String>,
}

impl Downloads {
    fn missing(why: &str) -> Self {
        let why = || why.to_owned();
        Self {
            browser: Err(why()),
            claude: Err(why()),
            codex: Err(why()),
            mcp: Err(why()),
            mdbook: Err(why()),
            package: Err(why()),
        }
    }
}

/// Downloads what the steps need. Without the real `claude` or `codex`, or without a network that can be closed, its
/// tests are skipped and counted.
fn download(scope: Scope) -> Downloads {
    if !scope.all {
        return Downloads::missing(ONLY_WITH_ALL);
    }
    let is_closed = claude::networks_can_be_closed();
    let in_closed_network = |prepare: fn() -> Result<PathBuf, String>| match is_closed {
        true => prepare(),
        false => Err("network namespaces are not permitted here".to_owned()),
    };
    Downloads {
        browser: browser::prepare(),
        claude: in_closed_network(claude::prepare),
        codex: in_closed_network(codex::prepare),
        mcp: mcp::prepare(),
        mdbook: book::prepare(),
        package: python_package::prepare(),
    }
}

fn built(report: &mut Report) -> Result<Programs, String> {
    let (began, programs) = (Instant::now(), Programs::build());
    report.add("build", began, Count::check(programs.is_ok()));
    programs
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

/// Runs the tests; `true` if none failed.
fn tests(report: &mut Report, needs: &Needs, campaigns: &[&str]) -> bool {
    say("--- tests");
    let began = Instant::now();
    let ended = tests_run::run(needs, campaigns, tidy::has_doc_tests(&root()));
    let (count, messages) = ended
        .unwrap_or_else(|error| (Count::check(false), vec![format!("the tests cannot be run: {error}")]));
    messages.into_iter().for_each(|message| report.tell_at_the_end(message));
    report.add("tests", began, count);
    count.failed == 0
}

/// Why a campaign that needs more than the tests is not run.
fn not_wanted(scope: Scope, wanted: &[&str], name: &str) -> Option<&'static str> {
    match scope.all {
        false => Some(ONLY_WITH_ALL),
        true => (!wanted.contains(&name)).then_some(campaigns::PROVEN),
    }
}

fn fault_campaign(report: &mut Report, scope: Scope, wanted: &[&str]) {
    if let Some(why) = not_wanted(scope, wanted, campaigns::FAULTS) {
        return report.skip("faults", why);
    }
    let (began, outcome) = (Instant::now(), faults::campaign(&faults::SHORT));
    let is_recorded = !outcome.ok || campaigns::record(&[campaigns::FAULTS]);
    report.add(
        "faults",
        began,
        Count { skipped: outcome.skipped, ..Count::check(outcome.ok && is_recorded) },
    );
}

fn virtual_machine(report: &mut Report, scope: Scope, wanted: &[&str], programs: Result<&Programs, &String>) {
    let why_not = kernel::not_here();
    let why_not = why_not.or_else(|| not_wanted(scope, wanted, campaigns::KERNEL).map(str::to_owned));
    match (why_not, programs) {
        (Some(why), _) => report.skip("kernel", &why),
        (None, Ok(programs)) => report.check("kernel", || kernel::passes(programs)),
        (None, Err(_)) => report.check("kernel", || false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_options_are_refused() {
        let parsed = |options: &[&str]| Scope::parse(options).map(|scope| (scope.all, scope.campaigns));
        assert_eq!(parsed(&[]), Some((false, false)));
        assert_eq!(parsed(&["--all"]), Some((true, false)));
        assert_eq!(parsed(&["--campaigns", "--all"]), Some((true, true)));
        assert_eq!(parsed(&["--al"]), None);
        assert_eq!(parsed(&["all"]), None);
    }
}
