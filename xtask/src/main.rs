//! Development tasks of the workspace. `cargo xtask verify` is the gate.

mod budget;
mod command;
mod faults;
mod files;
mod record;
mod report;
mod tests_run;
mod tidy;
mod tools;
mod verify;

use std::process::ExitCode;

use command::{cargo, say, succeeds};
use report::Count;

const USAGE: &str = "\
Usage: cargo xtask COMMAND

Commands:
  verify                         Check a commit: ten minutes after a build, on two cores
  verify --deep                  Run what the gate has no time for: whole campaigns, real command lines of models,
                                 runners, a virtual machine, the book
  verify --release               Build and check what a release publishes: crates, wheels, installation, bill of
                                 materials
  release                        The same from a clean tree, and tag the commit
  budget                         Show the production lines of each crate, what it is allowed, and its goal
  tidy                           Check that documents name only what exists
  faults [--count N] [--seed S]  Run the fault campaign
  python [OPTION...]             Run the tests of the Python packages, with options of pytest
  kernel                         Run the tests of control groups in a virtual machine
  book                           Build the book of docs/ in target/book
  record                         Run the example, keep what its views need in examples/recorded, and take pictures
  pictures                       Take the pictures of the page of the recorded run, in docs";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let passed = match arguments.as_slice() {
        ["help" | "--help" | "-h", ..] => {
            say(USAGE);
            true
        }
        ["verify"] => verify::gate(),
        ["verify", "--deep"] => verify::deep(),
        ["verify", "--release"] => verify::release(&[]),
        ["release"] => verify::release(&["--tag"]),
        ["budget"] => budget::is_kept(),
        ["tidy"] => verify::is_tidy(),
        ["faults", options @ ..] => faults::campaign(options).failed == 0,
        ["python", options @ ..] => python(options),
        ["kernel"] => ended(tests_run::build().and_then(|tests| verify::kernel(&tests))),
        ["book"] => ended(verify::book()),
        ["record"] => record::record(),
        ["pictures"] => record::pictures(),
        _ => {
            say(USAGE);
            return ExitCode::from(2);
        }
    };
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn python(options: &[&str]) -> bool {
    let is_built = succeeds(cargo("build -p mle-star-cli"));
    let run = || tests_run::of_python(&tools::environment("python-package")?, options);
    is_built && ended(run())
}

fn ended(count: Result<Count, String>) -> bool {
    count.map_err(|why| say(&why)).is_ok_and(|count| count.failed == 0)
}
