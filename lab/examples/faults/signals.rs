//! Faults of users and terminals: single and repeated signals, and streams without a reader.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::Figures;
use super::world::{Baseline, Random, Res, World, ended_within};

/// The number of kinds.
pub const KINDS: u64 = 7;

/// The time within which a process must end after a second signal.
const AT_ONCE: Duration = Duration::from_secs(10);

/// A run with one kind of disturbance.
pub fn signalled(baseline: &Baseline, random: &mut Random, number: u64) -> Res<Figures> {
    let (world, mut figures) = (baseline.fresh()?, Figures::one());
    let lines = 4 + random.below(60);
    let what = |kind: &str| format!("number {number}, {kind} after {lines} events");
    match number % KINDS {
        0 => stopped(baseline, &world, &mut figures, (&["-INT"], 130, lines), &what("INT"))?,
        1 => stopped(baseline, &world, &mut figures, (&["-TERM"], 143, lines), &what("TERM"))?,
        2 => stopped(baseline, &world, &mut figures, (&["-HUP"], 143, lines), &what("HUP"))?,
        3 => stopped(baseline, &world, &mut figures, (&["-INT", "-INT"], 130, lines), &what("INT twice"))?,
        4 => stopped(baseline, &world, &mut figures, (&["-TERM", "-TERM"], 143, lines), &what("TERM twice"))?,
        5 => unread(baseline, &world, &mut figures)?,
        _ => outlives_its_terminal(baseline, &world, &mut figures, lines)?,
    }
    Ok(figures)
}

/// Signals stop it with an exit code and a hint about resuming.
fn stopped(
    baseline: &Baseline,
    world: &World,
    figures: &mut Figures,
    (signals, code, lines): (&[&str], i32, usize),
    what: &str,
) -> Res<()> {
    let mut child = world.start(&world.begin("r"), "first")?;
    world.wait_for_events(&mut child, "first", lines)?;
    for signal in signals {
        send(&child, signal)?;
    }
    let ended = ended_within(&mut child, AT_ONCE)?;
    figures.must(ended, || format!("{what}: still there after {AT_ONCE:?}"));
    let said = world.finish(child, "first")?;
    if said.code == Some(0) {
        // The run ended before the signal.
        figures.injected = 0;
    } else {
        figures.must(said.code == Some(code), || format!("{what}: {said}"));
        // After a second signal, there may be no message.
        let says_how = said.stderr.contains("continue with: mle-star resume r");
        figures
            .must(signals.len() > 1 || says_how, || format!("{what}: it does not say how to go on: {said}"));
    }
    world.check_cut(figures, "first", what)?;
    world.resume_and_check(baseline, figures, what)
}

/// Its output has no reader.
fn unread(baseline: &Baseline, world: &World, figures: &mut Figures) -> Res<()> {
    let mut command = world.command(&world.begin("r"));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    drop((child.stdout.take(), child.stderr.take()));
    let code = child.wait()?.code();
    figures.must(code == Some(0), || format!("with closed streams it ended with {code:?}"));
    baseline.check(figures, &world.path("runs/r"), &[], "closed streams")
}

/// Under `nohup`, the end of the terminal must not stop it.
fn outlives_its_terminal(baseline: &Baseline, world: &World, figures: &mut Figures, lines: usize) -> Res<()> {
    let mut command = world.shell(&[], "trap '' HUP; exec $BINARY $BEGIN");
    command.env("BEGIN", world.begin("r"));
    let mut child = world.start_command(command, "first")?;
    if world.wait_for_events(&mut child, "first", lines)? {
        send(&child, "-HUP")?;
    }
    let said = world.finish(child, "first")?;
    figures.must(said.code == Some(0), || format!("with SIGHUP ignored: {said}"));
    baseline.check(figures, &world.path("runs/r"), &[], "SIGHUP ignored")
}

fn send(child: &Child, signal: &str) -> Res<()> {
    // Ignore a process that has already ended.
    Command::new("kill").args([signal, &child.id().to_string()]).stderr(Stdio::null()).status()?;
    Ok(())
}
