//! Faults of users and terminals: single and repeated signals, streams without a reader, two processes for a run.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use super::world::{Baseline, Res, World, ended_within, must, send};

/// The number of kinds of signals.
pub const KINDS: usize = 6;

/// The time within which a process must end after a signal.
const AT_ONCE: Duration = Duration::from_secs(10);

/// A run with one kind of disturbance.
pub fn signalled(baseline: &Baseline, world: &mut World) -> Res<()> {
    match world.number % KINDS {
        0 => stopped(baseline, world, &["-INT"], 130),
        1 => stopped(baseline, world, &["-TERM"], 143),
        2 => stopped(baseline, world, &["-HUP"], 143),
        3 => stopped(baseline, world, &["-INT", "-INT"], 130),
        4 => unread(baseline, world),
        _ => outlives_its_terminal(baseline, world),
    }
}

/// Signals stop it with an exit code and a hint about resuming.
fn stopped(baseline: &Baseline, world: &mut World, signals: &[&str], code: i32) -> Res<()> {
    let lines = 4 + world.random.usize(..60);
    world.tell(format!("{signals:?} after {lines} events"));
    let mut child = world.start(&world.begin("r"), "first")?;
    world.wait_for_events(&mut child, "first", lines)?;
    for signal in signals {
        send(signal, child.id())?;
    }
    must!(ended_within(&mut child, AT_ONCE)?, "still there after {AT_ONCE:?}");
    let said = world.finish(child, "first")?;
    if said.code == Some(0) {
        // The run ended before the signal.
        world.figures.injected = 0;
    } else {
        let said = said.ended(code)?;
        // After a second signal, there may be no message.
        let says_how = said.stderr.contains("continue with: mle-star resume r");
        must!(signals.len() > 1 || says_how, "it does not say how to go on: {said}");
    }
    world.check_cut("first")?;
    world.resume_and_check(baseline)
}

/// Its output has no reader.
fn unread(baseline: &Baseline, world: &mut World) -> Res<()> {
    world.tell("closed streams");
    let mut command = world.command(&world.begin("r"));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    drop((child.stdout.take(), child.stderr.take()));
    let code = child.wait()?.code();
    must!(code == Some(0), "it ended with {code:?}");
    world.check(baseline, "runs/r", &[])
}

/// Under `nohup`, the end of the terminal must not stop it.
fn outlives_its_terminal(baseline: &Baseline, world: &mut World) -> Res<()> {
    world.tell("SIGHUP ignored");
    let lines = 4 + world.random.usize(..60);
    let mut child = world.start_command(world.shell("trap '' HUP; exec $BINARY $BEGIN"), "first")?;
    if world.wait_for_events(&mut child, "first", lines)? {
        send("-HUP", child.id())?;
    }
    world.finish(child, "first")?.ended(0)?;
    world.check(baseline, "runs/r", &[])
}

/// Even: a process resumes a run that another works on. Odd: two processes start the same run at once.
pub fn two_processes(baseline: &Baseline, world: &mut World) -> Res<()> {
    if world.number.is_multiple_of(2) { held(baseline, world) } else { at_once(baseline, world) }
}

fn held(baseline: &Baseline, world: &mut World) -> Res<()> {
    let lines = 3 + world.random.usize(..20);
    let mut child = world.start(&world.begin("r"), "first")?;
    let is_there = world.wait_for_events(&mut child, "first", lines)?;
    let second = world.run("resume r")?;
    world.run(&world.begin("r"))?.ended(2)?;
    let is_there = is_there && child.try_wait()?.is_none();
    let is_refused = second.code == Some(1) && second.stderr.contains(&format!("process {}", child.id()));
    must!(!is_there || is_refused, "the second was not refused: {second}");
    world.finish(child, "first")?.ended(0)?;
    world.check(baseline, "runs/r", &[])
}

/// In the folder of a killed process, the inputs must be those of the process that continued.
fn at_once(baseline: &Baseline, world: &mut World) -> Res<()> {
    fs::create_dir_all(world.path("runs/r"))?;
    fs::write(world.path("runs/r/journal.lock"), "process 1")?;
    fs::write(world.path("runs/r/task.json"), "{}")?;
    let other = format!("{} --set log_level=DEBUG", world.begin("r"));
    let (one, two) = (world.start(&world.begin("r"), "one")?, world.start(&other, "two")?);
    let mut codes = [world.finish(one, "one")?.code, world.finish(two, "two")?.code];
    codes.sort_unstable();
    must!(codes == [Some(0), Some(2)], "two at once ended with {codes:?}");
    world.run("resume r")?.ended(0)?;
    world.check(baseline, "runs/r", &[])
}
