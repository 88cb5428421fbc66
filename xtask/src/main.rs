//! Development tasks of the workspace. `cargo xtask verify` is the gate, and all that CI runs.

mod browser;
mod claude;
mod command;
mod faults;
mod kernel;
mod packages;
mod python;
mod tests_run;
mod tidy;
mod verify;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["verify"] => verify::verify(),
        ["tidy"] => verify::tidy_only(),
        ["kernel"] => verify::kernel_only(),
        ["faults", options @ ..] => faults::command(options),
        _ => {
            command::say("usage: cargo xtask verify | tidy | kernel | faults [--count N] [--seed S]");
            ExitCode::from(2)
        }
    }
}
