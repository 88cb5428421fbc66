//! What do scripts on runners cost, and how far do runners scale?
//!
//! `cargo run --release -p mle-star-lab --example machines -- COMMAND [OPTION ...]`, after
//! `cargo build --release`:
//!
//! - `scaling [SCRIPTS] [ROUNDS]`: 200 scripts that sleep half a second on 1, 2, 4 and 8 runners of this machine, and
//!   the processor time of each script.
//! - `overhead [PAIRS]`: the same warm script here and on a runner, in turn: medians. `--prefix "ssh node"` starts the
//!   runner somewhere else.
//! - `data [MIB] [RUNNERS]`: a file to four runners of one host, against `cp` of the same file.
//! - `memory [RUNNERS]`: the memory of the program with 64 runners connected, and of the runners.
//! - `leases [HOSTS] [RUNS]`: what a lease costs while many runs wait for the slots of many runners; without runners.
//!
//! `--program FILE` is the program that the runners are, otherwise `target/release/mle-star`. `--python FILE` is the
//! interpreter of the scripts, otherwise `python3`. Processor times are those of all processes that this one started.

#![expect(clippy::print_stdout, reason = "a benchmark is read on the terminal")]

mod data;
mod leases;
mod memory;
mod overhead;
mod processes;
mod scaling;
mod world;

use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;

/// Whatever goes wrong in a benchmark ends it.
type Failure = Box<dyn Error + Send + Sync>;

/// The words of the command line.
#[derive(Debug)]
struct Words {
    command: String,
    numbers: Vec<usize>,
    program: PathBuf,
    python: PathBuf,
    /// What comes before the command of a runner.
    prefix: Vec<String>,
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let words = Words::parse(std::env::args().skip(1))?;
    let number = |position: usize, usual: usize| words.numbers.get(position).copied().unwrap_or(usual);
    match words.command.as_str() {
        "scaling" => scaling::scaling(&words, number(0, 200), number(1, 1)).await,
        "overhead" => overhead::overhead(&words, number(0, 100)).await,
        "data" => data::data(&words, number(0, 1000), number(1, 4)).await,
        "memory" => memory::memory(&words, number(0, 64)).await,
        "leases" => leases::leases(number(0, 1000), number(1, 10_000)).await,
        _ => Err("say scaling, overhead, data, memory or leases".into()),
    }
}

impl Words {
    fn parse(mut words: impl Iterator<Item = String>) -> Result<Self, Failure> {
        let mut found = Self {
            command: words.next().unwrap_or_default(),
            numbers: Vec::new(),
            program: PathBuf::from("target/release/mle-star"),
            python: PathBuf::from("python3"),
            prefix: Vec::new(),
        };
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
            match word.as_str() {
                "--program" => found.program = value()?.into(),
                "--python" => found.python = value()?.into(),
                "--prefix" => found.prefix = value()?.split_whitespace().map(str::to_owned).collect(),
                number => found.numbers.push(number.parse().map_err(|_| format!("what is {number}?"))?),
            }
        }
        Ok(found)
    }
}

/// The middle of the values, and the quartiles.
fn quartiles(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| {
        let position = values.len().saturating_sub(1) * quarter / 4;
        values.get(position).copied().unwrap_or_default()
    })
}

/// Median and quartiles in words.
fn spread(values: Vec<f64>) -> String {
    let [low, middle, high] = quartiles(values);
    format!("{middle:8.2} ({low:.2} to {high:.2})")
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
