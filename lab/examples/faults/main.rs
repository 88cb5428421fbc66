//! The fault campaign: runs the real binary on a small task, injects faults of every kind, and resumes each time.
//!
//! The agents are the built-in rules and the interpreter is a shell script whose scores depend on the script's
//! text, so that a run takes about a second, makes real decisions, and ends the same every time. [`world`] sets up
//! a run and checks it; each of the other modules is one family of faults. `cargo xtask faults` builds and starts it.
#![expect(clippy::print_stdout, reason = "the campaign prints its figures")]

mod between;
mod damage;
mod disk;
mod outside;
mod runners;
mod signals;
mod world;

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use world::{Baseline, Figures, Res, World};

/// The number of worlds in parallel.
const SIDE_BY_SIDE: usize = 3;

/// One family: its name, one fault for how many kills, how many at least, and the function that injects one.
type Family = (&'static str, usize, usize, fn(&Baseline, &mut World) -> Res<()>);

const FAMILIES: [Family; 11] = [
    ("killed at a random moment", 1, 1, outside::killed),
    ("the data plane killed at a random moment", 4, 2, outside::plane_killed),
    ("a file of the journal damaged", 1, damage::KINDS, damage::damaged),
    ("the volume full, read-only, the logs' disk full", 8, disk::KINDS, disk::disturbed),
    ("Ctrl-C, SIGTERM, SIGHUP, closed streams", 6, signals::KINDS, signals::signalled),
    ("two processes", 10, 2, signals::two_processes),
    ("scripts killed, few descriptors, clock, output", 5, outside::KINDS, outside::disturbed),
    ("a runner killed, told to end, silent", 8, runners::LOSSES, runners::lost),
    ("a runner's connection cut, silent, slow", 8, runners::CUTS, runners::cut),
    ("a runner's start, speed, disk, version, clock, cache", 10, runners::TROUBLES, runners::troubled),
    ("killed while scripts run elsewhere", 8, runners::RESUMES, runners::program_killed),
];

fn main() -> ExitCode {
    let (mut count, mut seed, mut only) = (100, 1, String::new());
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [first, rest @ ..] = arguments.as_slice()
        && first == between::NAME
    {
        return between::main(rest);
    }
    for pair in arguments.chunks(2) {
        let value = pair.get(1).map(String::as_str).unwrap_or_default();
        match (pair[0].as_str(), value.parse()) {
            ("--count", Ok(number)) => count = number,
            ("--seed", Ok(number)) => seed = number,
            ("--only", _) if !value.is_empty() => value.clone_into(&mut only),
            _ => {
                println!("Usage: cargo xtask faults [--count N] [--seed S] [--only PART-OF-A-NAME]");
                return ExitCode::from(2);
            }
        }
    }
    println!("count {count}, seed {seed}");
    match campaign(count, seed, &only) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            println!("the undisturbed run failed: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the campaign and prints its figures; true when every invariant held.
fn campaign(count: usize, seed: usize, only: &str) -> Res<bool> {
    let (began, baseline) = (Instant::now(), Baseline::make()?);
    println!("{:<52} injected completed refused repeated redone skipped failed      s", "fault");
    let mut total = Figures::default();
    for (name, every, least, inject) in FAMILIES.iter().filter(|(name, ..)| name.contains(only)) {
        let family = Instant::now();
        // The name's length distinguishes families with the same seed.
        let seed = (seed ^ (name.len() << 40)) as u64;
        let figures = side_by_side(count.div_ceil(*every).max(*least), |number| {
            let mut world = baseline.world.another(seed ^ ((number as u64) << 16), number)?;
            let result = inject(&baseline, &mut world);
            world.figures.failed.extend(result.err().map(|error| format!("{}: {error}", world.what)));
            Ok(world.figures.clone())
        });
        println!("{:<52} {figures} {:>6.1}", name, family.elapsed().as_secs_f64());
        figures.failed.iter().for_each(|problem| println!("  FAILED: {problem}"));
        total.add(figures);
    }
    println!("{:<52} {total} {:>6.1}", "all", began.elapsed().as_secs_f64());
    Ok(total.failed.is_empty())
}

fn side_by_side(count: usize, inject: impl Fn(usize) -> Res<Figures> + Sync) -> Figures {
    let (next, total) = (AtomicUsize::new(0), Mutex::new(Figures::default()));
    let work = || {
        while let number = next.fetch_add(1, Ordering::Relaxed)
            && number < count
        {
            let broken =
                |error| Figures { failed: vec![format!("number {number}: {error}")], ..Figures::default() };
            let figures = inject(number).unwrap_or_else(broken);
            if let Ok(mut total) = total.lock() {
                total.add(figures);
            }
        }
    };
    thread::scope(|scope| (0..SIDE_BY_SIDE).for_each(|_| _ = scope.spawn(work)));
    total.into_inner().unwrap_or_default()
}
