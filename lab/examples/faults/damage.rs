//! Damaged journals: refused without a change, or without any effect on the run.

use std::fs;
use std::path::Path;

use mle_star::journal::{EffectRecord, EffectState, Kind, read};

use super::Figures;
use super::world::{Baseline, Random, Res, World, ended_within};

/// The number of other files to try.
pub const STRANGERS: u64 = 6;

/// The header of an SQLite file.
const HEADER: usize = 100;

/// A journal with a file truncated at a random byte or with a flipped byte, of a finished or a killed run.
pub fn damaged(baseline: &Baseline, random: &mut Random, number: u64) -> Res<Figures> {
    let (world, mut figures) = (baseline.fresh()?, Figures::one());
    let kinds: [(&str, &str); 5] = [
        ("journal.db", "a byte of the header flipped"),
        ("journal.db", "a byte flipped"),
        ("journal.db", "cut"),
        ("journal.db-wal", "a byte flipped"),
        ("journal.db-wal", "cut"),
    ];
    let (file, kind) = kinds[usize::try_from(number)? % kinds.len()];
    if file == "journal.db" {
        copy(&baseline.world.path("runs/r"), &world.path("runs/r"))?;
    } else {
        killed_in_the_middle(baseline, &world, random)?;
    }
    let path = world.path("runs/r").join(file);
    let mut bytes = fs::read(&path)?;
    if bytes.is_empty() {
        return Err("the file to damage is empty".into());
    }
    let at = random.below(if kind.contains("header") { HEADER } else { bytes.len() });
    if kind == "cut" {
        bytes.truncate(at);
    } else {
        bytes[at] ^= 1 << random.below(8);
    }
    let whole = world.records();
    fs::write(&path, bytes)?;
    let what = format!("number {number}, {file}: {kind} at {at}");
    judge(baseline, &world, &mut figures, &whole, &what)?;
    Ok(figures)
}

/// One file in the journal's place that is not a journal of this version.
pub fn stranger(baseline: &Baseline, _: &mut Random, number: u64) -> Res<Figures> {
    let (world, mut figures) = (baseline.fresh()?, Figures::one());
    copy(&baseline.world.path("runs/r"), &world.path("runs/r"))?;
    let path = world.path("runs/r/journal.db");
    let mut bytes = fs::read(&path)?;
    let expected = match number {
        0 => put(&mut bytes, 60, [0, 0, 0, 1], "journal format 1;"),
        1 => put(&mut bytes, 60, [0, 0, 0, 99], "journal format 99;"),
        2 => put(&mut bytes, 68, [0; 4], "another kind of file"),
        3 => {
            bytes.clear();
            "is empty"
        }
        4 => {
            bytes = b"a letter that was saved under the wrong name\n".repeat(200);
            "not a database"
        }
        _ => {
            bytes.fill(0);
            "not a database"
        }
    };
    fs::write(&path, bytes)?;
    let said = world.run("resume r")?;
    let what = format!("stranger {number}");
    figures.must(said.stderr.contains(expected), || format!("{what}: {}", said.stderr));
    judge(baseline, &world, &mut figures, &[], &what)?;
    figures.must(figures.refused == 1, || format!("{what} was taken"));
    Ok(figures)
}

fn put(bytes: &mut [u8], at: usize, four: [u8; 4], expected: &'static str) -> &'static str {
    bytes[at..at + 4].copy_from_slice(&four);
    expected
}

/// Refused with every byte unchanged, or resumed to the undisturbed result.
fn judge(
    baseline: &Baseline,
    world: &World,
    figures: &mut Figures,
    whole: &[EffectRecord],
    what: &str,
) -> Res<()> {
    let before = bytes(world);
    let shown = world.run("show r")?;
    let listed = world.run("list")?;
    let again = world.run(&world.begin("r"))?;
    figures.must(again.code != Some(0), || format!("{what}: it was started again"));
    figures.must(listed.code == Some(0), || format!("{what}: list ended with {listed}"));
    figures.must(bytes(world) == before, || format!("{what}: looking changed it"));
    let said = world.run("resume r --json")?;
    if said.code == Some(0) {
        let kept = world.records();
        let is_kept = |record: &&EffectRecord| record.state == EffectState::Ended && !kept.contains(record);
        figures.redone += whole.iter().filter(is_kept).count();
        return baseline.check(figures, &world.path("runs/r"), &[], what);
    }
    figures.refused += 1;
    figures.must(said.code == Some(1), || format!("{what}: {said}"));
    let names = said.stderr.contains("runs/r/journal.db") && said.stderr.contains("hint: ");
    figures.must(names, || format!("{what}: file or cure is not named: {}", said.stderr));
    figures.must(bytes(world) == before, || format!("{what}: refused, and changed"));
    // Readable records are shown, with a note that they are incomplete. Solutions are shown once they have run.
    let is_shown = |record: &EffectRecord| {
        record.outcome.is_some() && record.kind == Kind::Script && record.place.phase().is_some()
    };
    let readable = read(&world.path("runs/r")).is_ok_and(|snapshot| snapshot.effects.iter().any(is_shown));
    figures.must(!readable || shown.stdout.contains("phase1/"), || format!("{what}: not shown: {shown}"));
    Ok(())
}

/// The journal and its log; an empty log counts as missing.
fn bytes(world: &World) -> [Vec<u8>; 2] {
    ["journal.db", "journal.db-wal"].map(|name| fs::read(world.path("runs/r").join(name)).unwrap_or_default())
}

/// A run that was killed with a non-empty log.
fn killed_in_the_middle(baseline: &Baseline, world: &World, random: &mut Random) -> Res<()> {
    for _ in 0..20 {
        let mut child = world.start(&world.go_on(), "killed")?;
        let ended = ended_within(&mut child, baseline.moment(random))?;
        if !ended {
            child.kill()?;
        }
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

/// Copies a folder with its contents; links stay links.
fn copy(from: &Path, to: &Path) -> Res<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            copy(&entry.path(), &target)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
