//! The fault campaign: runs the real binary on a small task, injects faults of every kind, and resumes each time.
//!
//! The agents are the built-in rules and the interpreter is a shell script whose scores depend on the script's
//! text, so that a run takes about a second, makes real decisions, and ends the same every time. [`world`] sets up
//! a run and checks it; each of the other modules is one family of faults. `cargo xtask faults` builds and starts it.
#![expect(clippy::print_stdout, reason = "the campaign prints its figures")]

mod between;
mod damage;
mod disk;
mod figures;
mod kills;
mod outside;
mod processes;
mod runners;
mod signals;
mod world;

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

pub use figures::Figures;
use world::{Baseline, Random, Res};

/// The number of worlds in parallel.
const SIDE_BY_SIDE: usize = 3;

/// The extent of the campaign.
#[derive(Clone, Debug)]
struct Options {
    /// The number of kills; the other families are proportional.
    count: u64,
    /// The seed of all random choices.
    seed: u64,
    /// A part of the names of the families.
    only: String,
}

/// One family: its name, its number of faults for this many kills, and the function for fault `n`.
type Family = (&'static str, fn(u64) -> u64, fn(&Baseline, &mut Random, u64) -> Res<Figures>);

const FAMILIES: [Family; 14] = [
    ("killed at a random moment", |count| count, kills::killed),
    ("a file of the journal damaged", |count| count, damage::damaged),
    ("of another format, or not a journal", |_| damage::STRANGERS, damage::stranger),
    ("the volume full", |count| count.div_ceil(8), disk::full),
    ("the volume read-only, the logs' disk full", |_| 2, disk::closed),
    (
        "Ctrl-C, SIGTERM, SIGHUP, closed streams",
        |count| count.div_ceil(6).max(signals::KINDS),
        signals::signalled,
    ),
    ("two processes", |count| count.div_ceil(10).max(2), processes::two),
    ("scripts killed from outside", |count| count.div_ceil(20), outside::scripts_killed),
    ("too few file descriptors", |count| count.div_ceil(8), outside::few_descriptors),
    ("the clock stepped back, the output folder gone", |_| 2, outside::clock_and_output),
    ("a runner killed, told to end, silent", |count| count.div_ceil(8).max(runners::LOSSES), runners::lost),
    ("a runner's connection cut, silent, slow", |count| count.div_ceil(8).max(runners::CUTS), runners::cut),
    (
        "a runner's start, speed, disk, version, clock, cache",
        |count| count.div_ceil(10).max(runners::TROUBLES),
        runners::troubled,
    ),
    (
        "killed while scripts run elsewhere",
        |count| count.div_ceil(8).max(runners::RESUMES),
        runners::program_killed,
    ),
];

fn main() -> ExitCode {
    let mut options = Options { count: 100, seed: 1, only: String::new() };
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [first, rest @ ..] = arguments.as_slice()
        && first == between::NAME
    {
        return between::main(rest);
    }
    for pair in arguments.chunks(2) {
        let value = pair.get(1).map(String::as_str).unwrap_or_default();
        match (pair[0].as_str(), value.parse()) {
            ("--count", Ok(count)) => options.count = count,
            ("--seed", Ok(seed)) => options.seed = seed,
            ("--only", _) if !value.is_empty() => value.clone_into(&mut options.only),
            _ => {
                println!("Usage: cargo xtask faults [--count N] [--seed S] [--only PART-OF-A-NAME]");
                return ExitCode::from(2);
            }
        }
    }
    if campaign(&options) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs the campaign and prints its figures; true when every invariant held.
fn campaign(options: &Options) -> bool {
    let began = Instant::now();
    println!("count {}, seed {}", options.count, options.seed);
    let baseline = match Baseline::make() {
        Ok(baseline) => baseline,
        Err(error) => {
            println!("the undisturbed run failed: {error}");
            return false;
        }
    };
    println!("{} {:>6}", Figures::HEAD, "s");
    let mut total = Figures::default();
    let wanted = FAMILIES.iter().filter(|(name, ..)| name.contains(&options.only));
    for (name, count, inject) in wanted {
        let family = Instant::now();
        let figures = side_by_side(count(options.count), |number| {
            // The name's length distinguishes families with the same seed.
            let mut random = Random::new(options.seed ^ (number << 16) ^ ((name.len() as u64) << 40));
            inject(&baseline, &mut random, number)
        });
        println!("{} {:>6.1}", figures.line(name), family.elapsed().as_secs_f64());
        figures.problems.iter().for_each(|problem| println!("  FAILED: {problem}"));
        total.add(figures);
    }
    println!("{} {:>6.1}", total.line("all"), began.elapsed().as_secs_f64());
    total.problems.is_empty()
}

fn side_by_side(count: u64, inject: impl Fn(u64) -> Res<Figures> + Sync) -> Figures {
    let (next, total) = (AtomicU64::new(0), Mutex::new(Figures::default()));
    thread::scope(|scope| {
        for _ in 0..SIDE_BY_SIDE {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return;
                    }
                    let figures =
                        inject(number).unwrap_or_else(|error| Figures::broken(number, &error.to_string()));
                    if let Ok(mut total) = total.lock() {
                        total.add(figures);
                    }
                }
            });
        }
    });
    total.into_inner().unwrap_or_default()
}
