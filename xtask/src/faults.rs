//! The fault campaign: the real binary on a small task, with faults of every kind, resumed each time.
//!
//! The agents are the built-in rules and the interpreter is a shell script whose scores depend on the script's
//! text, so that a run takes about a second, makes real decisions, and ends the same every time. [`world`] is
//! what a campaign stands on and checks, each of the other modules one family of faults.

mod damage;
mod disk;
mod figures;
mod kills;
mod outside;
mod processes;
mod signals;
mod world;

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use crate::command::say;
pub use figures::Figures;
use world::{Baseline, Random, Res};

/// Worlds that are used side by side.
const SIDE_BY_SIDE: usize = 3;

/// How much is done.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Kills; the other families follow in proportion.
    pub count: u64,
    /// What every random choice comes from.
    pub seed: u64,
}

/// What the gate has time for: about half a minute.
pub const SHORT: Options = Options { count: 8, seed: 1 };

/// One family: its name, how many of it for this many kills, and what does number `n` of it.
type Family = (&'static str, fn(u64) -> u64, fn(&Baseline, &mut Random, u64) -> Res<Figures>);

const FAMILIES: [Family; 10] = [
    ("killed at a random moment", |count| count, kills::killed),
    ("a file of the journal damaged", |count| count, damage::damaged),
    ("of another format, or no journal", |_| damage::STRANGERS, damage::stranger),
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
];

/// Runs the campaign from the command line: `[--count N] [--seed S]`.
pub fn command(arguments: &[&str]) -> ExitCode {
    let mut options = Options { count: 100, seed: 1 };
    for pair in arguments.chunks(2) {
        match (pair.first().copied(), pair.get(1).and_then(|value| value.parse().ok())) {
            (Some("--count"), Some(count)) => options.count = count,
            (Some("--seed"), Some(seed)) => options.seed = seed,
            _ => {
                say("usage: cargo xtask faults [--count N] [--seed S]");
                return ExitCode::from(2);
            }
        }
    }
    if campaign(options) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs the campaign and prints its figures; true when every invariant held.
pub fn campaign(options: Options) -> bool {
    let began = Instant::now();
    say(&format!("--- faults (count {}, seed {})", options.count, options.seed));
    let baseline = match Baseline::make() {
        Ok(baseline) => baseline,
        Err(error) => {
            say(&format!("the undisturbed run failed: {error}"));
            return false;
        }
    };
    say(&format!("{} {:>6}", Figures::HEAD, "s"));
    let mut total = Figures::default();
    for (name, count, inject) in FAMILIES {
        let family = Instant::now();
        let figures = side_by_side(count(options.count), |number| {
            // The name's length sets families apart that share a seed.
            let mut random = Random::new(options.seed ^ (number << 16) ^ ((name.len() as u64) << 40));
            inject(&baseline, &mut random, number)
        });
        say(&format!("{} {:>6.1}", figures.line(name), family.elapsed().as_secs_f64()));
        figures.problems.iter().for_each(|problem| say(&format!("  FAILED: {problem}")));
        total.add(figures);
    }
    say(&format!("{} {:>6.1}", total.line("all"), began.elapsed().as_secs_f64()));
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
