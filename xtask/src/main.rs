//! Development tasks of the workspace. `cargo xtask verify` is the gate.

mod book;
mod browser;
mod budget;
mod claude;
mod codex;
mod command;
mod compat;
mod dist;
mod environments;
mod faults;
mod files;
mod kernel;
mod mcp;
mod packages;
mod programs;
mod python;
mod python_package;
mod record;
mod release;
mod report;
mod tests_run;
mod tidy;
mod verify;

use std::process::ExitCode;

const USAGE: &str = "\
Usage: cargo xtask COMMAND

Commands:
  verify                         Check a commit: ten minutes after a build, on two cores
  verify --deep                  Run what the gate has no time for: whole campaigns, real command lines of models,
                                 runners, a virtual machine, the book
  verify --release               Build and check what a release publishes: crates, wheels, installation, bill of
                                 materials
  budget                         Show the production lines of each crate, what it is allowed, and its goal
  tidy                           Check that documents name only what exists
  book                           Build the book of docs/ in target/book, and check its links
  record                         Run the example, keep what its views need in examples/recorded, and take pictures
  pictures                       Take the pictures of the page of the recorded run, in docs
  compat [--python PATH] [NAME...]
                                 Run a script for each of fifty libraries, isolated, and write docs/libraries.md
  gpu [--python PATH]            Check on a machine with a GPU what scripts can do with it
  faults [--count N] [--seed S]  Run the fault campaign
  python [OPTION...]             Run the tests of the Python package, with options of pytest
  kernel                         Run the tests of control groups in a virtual machine
  release                        The same as verify --release, from a clean tree, and tag the commit";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if arguments.iter().any(|word| ["help", "--help", "-h"].contains(word)) {
        command::say(USAGE);
        return ExitCode::SUCCESS;
    }
    let done = match arguments.as_slice() {
        ["verify"] => Some(verify::gate()),
        ["verify", "--deep"] => Some(verify::deep()),
        ["verify", "--release"] => Some(release::verify()),
        ["budget"] => Some(budget::is_kept()),
        ["tidy"] => Some(verify::is_tidy()),
        ["faults", options @ ..] => Some(faults::campaign(options).failed == 0),
        ["compat", options @ ..] => Some(compat::campaign(options)),
        ["gpu", options @ ..] => Some(compat::on_gpu(options)),
        ["python", options @ ..] => Some(python_package::test(options)),
        ["kernel"] => Some(kernel::alone()),
        ["release"] => Some(release::release()),
        ["book"] => Some(book::make()),
        ["record"] => Some(record::record()),
        ["pictures"] => Some(record::pictures()),
        _ => None,
    };
    match done {
        Some(true) => ExitCode::SUCCESS,
        Some(false) => ExitCode::FAILURE,
        None => {
            command::complain(USAGE);
            ExitCode::from(2)
        }
    }
}
