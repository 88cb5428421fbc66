//! Damaged journals: refused without a change, or without any effect on the run.

use std::fs;

use mle_star::journal::{EffectRecord, EffectState, Kind, read};

use super::world::{Baseline, Res, World, ended_within, must};

/// The kinds of damage. Those at an index of [`FOREIGN`] or more make a file of another format.
pub const KINDS: usize = 8;
const FOREIGN: usize = 4;

/// A journal with a file truncated at a random byte or with a flipped byte, of a finished or a killed run, or another
/// file in its place.
pub fn damaged(baseline: &Baseline, world: &mut World) -> Res<()> {
    let kind = world.number % KINDS;
    let file = if matches!(kind, 2 | 3) { "runs/r/journal.db-wal" } else { "runs/r/journal.db" };
    if matches!(kind, 2 | 3) {
        killed_in_the_middle(baseline, world)?;
    } else {
        fs::create_dir(world.path("runs"))?;
        let [from, to] = [&baseline.world, &*world].map(|world| world.path("runs/r"));
        must!(std::process::Command::new("cp").arg("-r").args([from, to]).status()?.success(), "no copy");
    }
    let whole = world.records();
    let mut bytes = fs::read(world.path(file))?;
    let at = world.random.usize(..bytes.len());
    match kind {
        0 | 2 => bytes[at] ^= 1 << world.random.u8(..8),
        1 | 3 => bytes.truncate(at),
        4 => bytes[60..64].copy_from_slice(&[0, 0, 0, 99]),
        5 => bytes[68..72].fill(0),
        6 => bytes.clear(),
        _ => bytes = b"a letter that was saved under the wrong name\n".repeat(200),
    }
    let expected =
        ["", "", "", "", "journal format 99;", "another kind of file", "is empty", "not a database"][kind];
    fs::write(world.path(file), bytes)?;
    world.tell(format!("{file}, damage {kind} at {at}"));
    judge(baseline, world, &whole, expected)?;
    must!(kind < FOREIGN || world.figures.refused == 1, "it was taken");
    Ok(())
}

/// Refused with every byte unchanged and with these words, or resumed to the undisturbed result.
fn judge(baseline: &Baseline, world: &mut World, whole: &[EffectRecord], expected: &str) -> Res<()> {
    let before = bytes(world);
    let shown = world.run("show r")?;
    world.run("list")?.ended(0)?;
    must!(world.run(&world.begin("r"))?.code != Some(0), "it was started again");
    must!(bytes(world) == before, "looking changed it");
    let said = world.run("resume r --json")?;
    if said.code == Some(0) {
        let kept = world.records();
        let is_lost = |record: &&EffectRecord| record.state == EffectState::Ended && !kept.contains(record);
        world.figures.redone += whole.iter().filter(is_lost).count();
        return world.check(baseline, "runs/r", &[]);
    }
    world.figures.refused += 1;
    let said = said.ended(1)?;
    for words in ["runs/r/journal.db", "hint: ", expected] {
        must!(said.stderr.contains(words), "{words:?} is missing: {said}");
    }
    must!(bytes(world) == before, "refused, and changed");
    // Readable records are shown, with a note that they are incomplete. Solutions are shown once they have run.
    let is_shown = |record: &EffectRecord| {
        record.outcome.is_some() && record.kind == Kind::Script && record.place.phase().is_some()
    };
    let readable = read(&world.path("runs/r")).is_ok_and(|snapshot| snapshot.effects.iter().any(is_shown));
    must!(!readable || shown.stdout.contains("phase1/"), "not shown: {shown}");
    Ok(())
}

/// The journal and its log; an empty log counts as missing.
fn bytes(world: &World) -> [Vec<u8>; 2] {
    ["journal.db", "journal.db-wal"].map(|name| fs::read(world.path("runs/r").join(name)).unwrap_or_default())
}

/// A run that was killed with a non-empty log.
fn killed_in_the_middle(baseline: &Baseline, world: &mut World) -> Res<()> {
    for _ in 0..20 {
        let mut child = world.start(&world.go_on(), "killed")?;
        let ended = ended_within(&mut child, baseline.moment(world))?;
        child.kill()?;
        child.wait()?;
        let has_result = world.path("runs/r/result.json").exists();
        if bytes(world)[1].len() > 50_000 && !has_result {
            return Ok(());
        }
        if ended || has_result {
            fs::remove_dir_all(world.path("runs"))?;
        }
    }
    Err("no kill left a log".into())
}
