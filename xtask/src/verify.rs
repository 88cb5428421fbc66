//! The gate, in three tiers. Every step runs, whatever the earlier ones found.
//!
//! - [`gate`] runs for every commit: ten minutes after a build. It has the first case of each campaign.
//! - [`deep`] runs once a day: whole campaigns, real command lines of models, runners, the virtual machine, the book.
//! - [`release`] checks what is published.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use crate::command::{cargo, on_path, root, say, script, succeeds, target};
use crate::report::{Count, Report};
use crate::tests_run::{self, DEEP, GATE, REAL_RUN};
use crate::tools::{self, Needs};
use crate::{budget, faults, tidy};

/// Checks a commit; `true` if nothing failed.
pub fn gate() -> bool {
    let mut report = Report::new();
    // Downloads need the network, compilation the processor.
    let downloads = thread::spawn(|| (tools::browser(), tools::environment("python-package")));
    report.check("fmt", || succeeds(cargo("fmt --all --check")));
    report.check("tidy", is_tidy);
    report.check("budget", budget::is_kept);
    if let Some(tests) = built(&mut report) {
        let mut needs = beside_scripts(&tests, || {
            report.check("clippy", || succeeds(cargo("clippy --workspace --all-targets -- -D warnings")));
            dependencies(&mut report);
        });
        let Ok((browser, python)) = downloads.join() else { return false };
        needs.extend(browser);
        report.step("tests", || tests_run::run(&needs, GATE));
        report.step("python", || tests_run::of_python(&python?, &["-m", "not deep"]));
        real_run(&mut report, needs);
    }
    report.close()
}

/// Checks what the gate has no time for; `true` if nothing failed.
pub fn deep() -> bool {
    let mut report = Report::new();
    let downloads = thread::spawn(|| {
        (tools::browser().into_iter().chain(tools::of_deep_tests()), tools::environment("python-package"))
    });
    if let Some(tests) = built(&mut report) {
        let mut needs = beside_scripts(&tests, || {
            report.check("docs", documents);
            report.check("doc tests", || succeeds(cargo("test --workspace --doc")));
            dependencies(&mut report);
            report.step("book", book);
        });
        let Ok((more, python)) = downloads.join() else { return false };
        needs.extend(more);
        report.step("tests", || tests_run::run(&needs, DEEP));
        report.step("python", || tests_run::of_python(&python?, &[]));
        report.step("faults", || Ok(faults::campaign(&[])));
        report.step("kernel", || kernel(&tests));
    }
    report.close()
}

/// Builds and checks everything that is published, and publishes nothing; with `--tag`, from a clean tree, and tags the
/// commit.
pub fn release(options: &[&str]) -> bool {
    let mut release = script("xtask/release.sh");
    release.args(options);
    tools::dependencies_are_good().is_ok_and(|good| good) && succeeds(release)
}

/// The tidy checks.
pub fn is_tidy() -> bool {
    say("--- tidy");
    let findings = tidy::findings(&root());
    findings.iter().for_each(|finding| say(finding));
    findings.is_empty()
}

/// Builds the book in `target/book` with mdBook from crates.io, of whose features it needs the search alone.
///
/// # Errors
/// mdBook cannot be installed.
pub fn book() -> Result<Count, String> {
    let folder = target().join("mdbook");
    let mut install =
        cargo("install mdbook@0.5.4 --locked --quiet --no-default-features --features search --root");
    install.arg(&folder);
    let mut build = Command::new(folder.join("bin/mdbook"));
    build.arg("build").current_dir(root());
    let is_installed = succeeds(install);
    is_installed.then(|| Count::check(succeeds(build))).ok_or("mdbook cannot be installed".to_owned())
}

/// The tests of control groups in a virtual machine; `tests` is the program that has them.
///
/// # Errors
/// Why this system cannot run it.
pub fn kernel(tests: &Path) -> Result<Count, String> {
    if let Some(missing) =
        ["apt-cache", "qemu-system-x86_64", "busybox"].into_iter().find(|name| on_path(&[name]).is_none())
    {
        return Err(format!(
            "{missing} is not installed (Debian: apt-get install qemu-system-x86 busybox-static)"
        ));
    }
    let mut machine = script("xtask/kernel/run.sh");
    machine.arg(tests);
    Ok(Count::check(succeeds(machine)))
}

fn built(report: &mut Report) -> Option<PathBuf> {
    let mut tests = None;
    report.check("build", || match tests_run::build() {
        Ok(program) => tests.insert(program).is_file(),
        Err(why) => {
            say(&why);
            false
        }
    });
    tests
}

/// Makes the Python environment of scripts, which waits for downloads, beside work that uses the processor.
fn beside_scripts(tests: &Path, work: impl FnOnce()) -> Needs {
    thread::scope(|threads| {
        let python = threads.spawn(|| tools::of_scripts(tests));
        work();
        python.join().unwrap_or_default()
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

fn dependencies(report: &mut Report) {
    report.step("dependencies", || tools::dependencies_are_good().map(Count::check));
}

/// A whole run with the program as people build it: killed twice and resumed, it ends like an undisturbed one.
fn real_run(report: &mut Report, mut needs: Needs) {
    if report.check("release", || succeeds(cargo("build --release --package mle-star-cli"))) {
        needs.push(("MLE_STAR_TEST_PROGRAM", Ok(target().join("release/mle-star"))));
        report.step("real run", || tests_run::run(&needs, REAL_RUN));
    }
}
