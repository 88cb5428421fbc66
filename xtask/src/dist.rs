//! What is published: the static program, the wheel that carries it, the crates, and what belongs to them.

pub mod archive;
pub mod crates;
mod notices;
pub mod tools;
pub mod version;
pub mod wheel;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::claude::networks_can_be_closed;
use crate::command::{cargo, root, say, succeeds};
use crate::report::{Count, Report};
use tools::Builders;
use wheel::{Installed, Target};

/// Where everything is built.
pub fn folder() -> PathBuf {
    root().join("target/published")
}

/// `cargo xtask package`: the step of the gate alone; `true` if nothing failed.
pub fn package() -> bool {
    let (began, mut report) = (Instant::now(), Report::default());
    check(&mut report);
    report.close(began)
}

/// The step of the gate: builds wheel and crates, installs the wheel in an empty environment, and uses it.
///
/// The profile is that of a build from source: the one that is published takes twice as long to compile.
pub fn check(report: &mut Report) {
    report.check("crates", || said(crates::package()).is_some());
    let library = || Target::here().map_or(Ok(()), |target| tools::add_target(target.triple));
    let builders = match tools::builders().and_then(|builders| library().map(|()| builders)) {
        Ok(builders) => builders,
        Err(why) => return report.skip("install", &why),
    };
    let began = Instant::now();
    let checks = installation(&builders);
    let mut count = Count::default();
    for (name, done) in checks {
        if let Err(why) = &done {
            say(&format!("install: {name}: {why}"));
        }
        count.add(Count::check(done.is_ok()));
    }
    count.skipped += usize::from(!networks_can_be_closed());
    report.add("install", began, count);
}

type Check = (&'static str, Result<(), String>);

fn installation(builders: &Builders) -> Vec<Check> {
    say("--- wheel and static program");
    let target = Target::here().ok_or_else(|| "no programs are published for this processor".to_owned());
    let out = folder().join("checked");
    let built = match target.and_then(|target| wheel::build(builders, &target, "release", &out)) {
        Ok(built) => built,
        Err(why) => return vec![("build", Err(why))],
    };
    let mut checks = vec![("tags", built.has_all_tags())];
    if networks_can_be_closed() {
        checks.push(("it runs where nothing else is", wheel::runs_alone(&built.program)));
    }
    match Installed::from(&built.wheel) {
        Ok(installed) => {
            checks.push(("the version", installed.has_version(&version::of_workspace())));
            checks.push(("the Python package", installed.has_package(&version::of_workspace())));
            checks.push(("a task", installed.solves_a_task()));
        }
        Err(why) => checks.push(("installation", Err(why))),
    }
    checks
}

/// Whether the licences and sources of all dependencies are allowed, and the arrows between crates point down.
pub fn has_good_dependencies(deny: &Path) -> bool {
    let mut deny = Command::new(deny);
    deny.current_dir(root()).args(["check", "licenses", "bans", "sources"]);
    // It starts cargo.
    if let Some(path) = cargo("").get_program().to_str().filter(|path| path.contains('/')) {
        deny.env("CARGO", path);
    }
    succeeds(deny)
}

/// The value; prints the error.
pub fn said<T>(done: Result<T, String>) -> Option<T> {
    done.map_err(|why| say(&why)).ok()
}
