//! Faults of runners, of their machines, and of the way to them.

use std::collections::BTreeSet;
use std::fs;
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use super::between;
use super::disk::can_mount;
use super::outside::clock_library;
use super::world::{Baseline, Res, World, must, send};

/// The number of kinds of [`lost`], [`cut`], [`troubled`] and [`program_killed`].
pub const LOSSES: usize = 3;
pub const CUTS: usize = 6;
pub const TROUBLES: usize = 6;
pub const RESUMES: usize = 3;

/// A command that fails for its first starts, as many as `TIMES` has words.
const FAILS: &str = "for time in $TIMES; do
    mkdir failed-$time 2>/dev/null && { echo No route to host >&2; exit 255; }; done; exec \"$@\"";
/// A runner that is stopped for most of the time.
const SLOW: &str =
    "(while sleep 0.2; kill -STOP $$; do sleep 1; kill -CONT $$; done) >/dev/null 2>&1 & exec \"$@\"";
/// A runner whose first cache is on a volume of `SIZE` KiB, and which thinks that there is a GiB.
const SMALL_DISK: &str = "mkdir small-disk 2>/dev/null || exec \"$@\"
    mkdir -p cache; export SIZE=$SIZE
    exec unshare -rm sh -c 'mount -t tmpfs -o size=${SIZE}k none cache && exec \"$@\" --cache-limit 1' sh \"$@\"";
/// A runner whose wall clock is two hours late.
const LATE: &str =
    "touch set-back; export LD_PRELOAD=$PWD/clock.so CLOCK_SET_BACK=$PWD/set-back; exec \"$@\"";

/// A runner is killed, told to end, or stopped, so that nothing is heard from it.
pub fn lost(baseline: &Baseline, world: &mut World) -> Res<()> {
    let signal = ["-KILL", "-TERM", "-STOP"][world.number % LOSSES];
    let (count, events) = (world.random.usize(1..3), world.random.usize(12..72));
    world.tell(format!("{signal} after {events} events, {count} runners"));
    configure(world, &[entry(world, "near", count)])?;
    let mut child = world.start(&world.begin_elsewhere("r"), "first")?;
    let still_runs = world.wait_for_events(&mut child, "first", events)?;
    world.figures.injected = usize::from(still_runs && signal_a_runner(world, signal)?);
    world.finish(child, "first")?.ended(0)?;
    ends_like(baseline, world, "first")
}

/// The connection to a runner is cut, silent or slow from a random byte on.
pub fn cut(baseline: &Baseline, world: &mut World) -> Res<()> {
    let (how, way) = (between::HOWS[world.number / 2 % 3], between::WAYS[world.number % 2]);
    // The data are among the first bytes.
    let most = [4_000, 20_000][world.number / CUTS % 2];
    let bytes = world.random.usize(1..=most);
    world.tell(format!("{how} after {bytes} bytes of {way}"));
    let mut near = entry(world, "near", 1);
    near["command"] = between::command(&world.path(""), how, way, bytes, &near["command"])?;
    configure(world, &[near])?;
    world.finish(world.start(&world.begin_elsewhere("r"), "first")?, "first")?.ended(0)?;
    world.figures.injected = usize::from(between::has_struck(&world.path("")));
    ends_like(baseline, world, "first")
}

/// Runners that fail to start, are slow, have no room, another version or another time, and two runs with one cache.
pub fn troubled(baseline: &Baseline, world: &mut World) -> Res<()> {
    let near = entry(world, "near", 1);
    let (kind, entries, expected) = match world.number % TROUBLES {
        0 => ("another version", vec![of_another_version(world)?, near], "with protocol 99"),
        1 => {
            let times = ["1", "1 2"][world.random.usize(..2)];
            (
                "failing starts",
                vec![through(world, near, &FAILS.replace("$TIMES", times))],
                "No route to host",
            )
        }
        2 if can_mount(world) => {
            let size = 4 * world.random.usize(1..25);
            let script = SMALL_DISK.replace("=$SIZE", &format!("={size}"));
            ("full disk", vec![through(world, near, &script)], "")
        }
        3 if clock_library(world)?.is_some() => ("two hours late", vec![through(world, near, LATE)], ""),
        4 => {
            let slow = through(world, entry(world, "slow", 1), SLOW);
            ("slower than the rest", vec![slow, near], "\"runner\":\"slow-1\"")
        }
        5 => return two_runs(baseline, world),
        _ => {
            world.skip();
            return Ok(());
        }
    };
    world.tell(kind);
    configure(world, &entries)?;
    let said = world.finish(world.start(&world.begin_elsewhere("r"), "first")?, "first")?.ended(0)?;
    must!(said.stdout.contains(expected), "nobody said {expected:?}");
    let is_lost = |line: &str| line.contains("slow-1") && line.contains("\"state\":\"lost\"");
    must!(!said.stdout.lines().any(is_lost), "it counts as lost");
    ends_like(baseline, world, "first")
}

/// The program is killed while scripts run elsewhere. The run goes on with the same runners, with others, or here.
pub fn program_killed(baseline: &Baseline, world: &mut World) -> Res<()> {
    let (begin, resume, name) = match world.number % RESUMES {
        0 => (world.begin_elsewhere("r"), "resume r --json", "near-"),
        1 => (world.begin_elsewhere("r"), "resume r --json --config others.yaml", "other-"),
        _ => {
            (format!("{} --config runners.yaml", world.begin("r")), "resume r --json --runner none", "nobody")
        }
    };
    let (events, pause) = (world.random.usize(8..78), world.random.u64(..200));
    world.tell(format!("program killed after {events} events, {resume}"));
    configure(world, &[entry(world, "other", 1)])?;
    fs::rename(world.path("runners.yaml"), world.path("others.yaml"))?;
    configure(world, &[entry(world, "near", 2)])?;
    let mut child = world.start(&begin, "first")?;
    world.wait_for_events(&mut child, "first", events)?;
    sleep(Duration::from_millis(pause));
    world.figures.injected = usize::from(child.try_wait()?.is_none());
    child.kill()?;
    child.wait()?;
    world.check_cut("first")?;
    let before = world.records();
    let line = if world.go_on().starts_with("resume") { resume } else { &begin };
    let said = world.run(line)?.ended(0)?;
    world.check_not_repeated(&before, "said")?;
    let is_other = |line: &&str| {
        line.contains("script_started")
            && line.contains("\"runner\":\"")
            && !line.contains(&format!("\"runner\":\"{name}"))
    };
    let other = said.stdout.lines().find(is_other);
    must!(other.is_none(), "a script ran on another runner: {other:?}");
    world.check(baseline, "runs/r", &before)?;
    world.check_left()
}

/// Two runs at once share a host's cache, and one of their runners is killed.
fn two_runs(baseline: &Baseline, world: &mut World) -> Res<()> {
    world.tell("two runs with one cache");
    configure(world, &[entry(world, "near", 1)])?;
    let mut one = world.start(&world.begin_elsewhere("r"), "one")?;
    let two = world.start(&world.begin_elsewhere("s"), "two")?;
    let events = world.random.usize(12..42);
    world.wait_for_events(&mut one, "one", events)?;
    signal_a_runner(world, "-KILL")?;
    world.finish(one, "one")?.ended(0)?;
    world.finish(two, "two")?.ended(0)?;
    world.check(baseline, "runs/s", &[])?;
    world.figures.completed = 0;
    ends_like(baseline, world, "one")
}

/// Checks a run that needed no resume, whose events went to `name.out`, and that a resume does nothing.
fn ends_like(baseline: &Baseline, world: &mut World, name: &str) -> Res<()> {
    let events = world.text(&format!("{name}.out"))?;
    world.figures.redone += events.matches("\"the script runs again elsewhere: ").count();
    let records = world.records();
    world.run("resume r")?.ended(0)?;
    world.check_left()?;
    world.check(baseline, "runs/r", &records)
}

/// Runners with a cache in the world.
fn entry(world: &World, name: &str, count: usize) -> Value {
    let cache = format!("MLE_STAR_CACHE={}", world.path("cache").display());
    let command = [json!("env"), json!(cache), json!(world.binary()), json!("runner"), json!("--copy-data")];
    json!({"name": name, "command": command, "count": count})
}

/// The entry behind a shell script in the world's folder, which sees its command as `"$@"`.
fn through(world: &World, mut entry: Value, script: &str) -> Value {
    let script = format!("cd {}; {script}", world.path("").display());
    let mut words = vec![json!("sh"), json!("-c"), json!(script), json!("sh")];
    words.extend(entry["command"].as_array().into_iter().flatten().cloned());
    entry["command"] = json!(words);
    entry
}

fn configure(world: &World, entries: &[Value]) -> Res<()> {
    Ok(fs::write(world.path("runners.yaml"), json!({"runners": entries}).to_string())?)
}

/// A runner that only introduces itself.
fn of_another_version(world: &World) -> Res<Value> {
    let hello = json!({"type": "hello", "protocol": 99, "version": "9.9.9"}).to_string();
    let length = u32::try_from(hello.len())?.to_le_bytes();
    let said = [b"\0mle-star runner\n", &length[..], &[0; 4], hello.as_bytes()].concat();
    let file = world.path("hello");
    fs::write(&file, said)?;
    Ok(json!({"name": "new", "command": ["sh", "-c", format!("cat {}; exec sleep 60", file.display())]}))
}

/// Sends a signal to one of the runners of a world, not to the processes that they started. Returns whether there is one.
fn signal_a_runner(world: &mut World, signal: &str) -> Res<bool> {
    let is_runner = |id: &u32| {
        let line = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        let mut words = line.split(|byte| *byte == 0);
        words.next().is_some_and(|word| word.ends_with(b"mle-star")) && words.next() == Some(b"runner")
    };
    let all: BTreeSet<u32> = world.processes().into_iter().map(|(id, _)| id).filter(is_runner).collect();
    let parent = |id: u32| {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse::<u32>().ok()
    };
    let runners = all.iter().filter(|id| parent(**id).is_some_and(|parent| !all.contains(&parent)));
    let Some(runner) = world.random.choice(runners.collect::<Vec<_>>()) else { return Ok(false) };
    send(signal, *runner)?;
    Ok(true)
}
