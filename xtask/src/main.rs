//! Development tasks of the workspace. `cargo xtask verify` is the gate; CI runs `cargo xtask verify --all`.

mod book;
mod browser;
mod campaigns;
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
  verify [--all] [--campaigns]   Check formatting, lints, documentation and tidy rules, and run the tests that need
                                 nothing but Rust and Python
  tidy                           Check file sizes and documents
  book                           Build the book of docs/ in target/book, and check its links
  record                         Run the example, keep what its views need in examples/recorded, and take pictures
  pictures                       Take the pictures of the page of the recorded run, in docs
  compat [--python PATH] [NAME...]
                                 Run a script for each of fifty libraries, isolated, and write docs/libraries.md
  gpu [--python PATH]            Check on a machine with a GPU what scripts can do with it
  faults [--count N] [--seed S]  Run the fault campaign
  python [OPTION...]             Run the tests of the Python package, with options of pytest
  kernel                         Run the tests of control groups in a virtual machine and record that they passed
  package                        Build crates and wheel, install the wheel, and solve a task with it
  release [--dry-run] [--target TRIPLE] [--profile NAME]
                                 Build and check everything that is published, and tag it

Options of verify:
  --all        Also build the book, run the tests that need a browser, the real `claude` or the real `codex`, those of
               the Python package, and `package`
  --campaigns  Run the tests of minutes although their files have not changed since they last passed: kills, faults,
               real libraries, the offline agents, and, with --all, the virtual machine";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if arguments.iter().any(|word| ["help", "--help", "-h"].contains(word)) {
        command::say(USAGE);
        return ExitCode::SUCCESS;
    }
    let done = match arguments.as_slice() {
        ["verify", options @ ..] => verify::Scope::parse(options).map(verify::verify),
        ["tidy"] => Some(verify::is_tidy()),
        ["faults", options @ ..] => Some(faults::campaign(options).ok),
        ["compat", options @ ..] => Some(compat::campaign(options)),
        ["gpu", options @ ..] => Some(compat::on_gpu(options)),
        ["python", options @ ..] => Some(python_package::test(options)),
        ["kernel"] => Some(kernel::prove()),
        ["package"] => Some(dist::package()),
        ["release", options @ ..] => {
            release::Options::parse(options).map(|options| release::release(&options))
        }
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
