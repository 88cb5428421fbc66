//! Faults of runners, of their machines, and of the way to them.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use super::Figures;
use super::between;
use super::disk::OWN_MOUNTS;
use super::outside::clock_library;
use super::world::{Baseline, Random, Res, World};

/// The number of kinds of [`lost`], [`cut`], [`troubled`] and [`program_killed`].
pub const LOSSES: u64 = 3;
pub const CUTS: u64 = 6;
pub const TROUBLES: u64 = 6;
pub const RESUMES: u64 = 3;

/// A runner is killed, told to end, or stopped, so that nothing is heard from it.
pub fn lost(baseline: &Baseline, random: &mut Random, number: u64) -> Res<Figures> {
    let (world, mut figures) = (baseline.fresh()?, Figures::default());
    let signal = ["-KILL", "-TERM", "-STOP"][at(number, LOSSES)];
    let count = 1 + random.below(2);
    configure(&world, "runners.yaml", &[entry(&world, "near", count)])?;
    let mut child = world.start(&world.begin_elsewhere("r"), "first")?;
    let events = 12 + random.below(60);
    let what = format!("number {number}, {signal} after {events} events, {count} runners");
    if world.wait_for_events(&mut child, "first", events)? {
        let runners = runners(&world);
        if !runners.is_empty() {
            let victim = runners[random.below(runners.len())].to_string();
            Command::new("kill").args([signal, &victim]).stderr(Stdio::null()).status()?;
            figures.injected += 1;
        }
    }
    let said = world.finish(child, "first")?;
    figures.must(said.code == Some(0), || format!("{what}: {said}"));
    ends_like(baseline, &world, &mut figures, ("first", &what))?;
    Ok(figures)
}

/// The connection to a runner is cut, silent or slow from a random byte on.
pub fn cut(baseline: &Baseline, random: &mut Random, number: u64) -> Res<Figures> {
    let (world, mut figures) = (baseline.fresh()?, Figures::default());
    let (how, way) = (between::HOWS[at(number / 2, 3)], between::WAYS[at(number, 2)]);
    // The data are among the first bytes.
    let most = [4_000, 20_000][at(number / 6, 2)];
    let bytes = 1 + random.below(most);
    let mut near = entry(&world, "near", 1);
    near["command"] = between::command(&world.path(""), how, way, bytes, &near["command"])?;
    configure(&world, "runners.yaml", &[near])?;
    let said = world.finish(world.start(&world.begin_elsewhere("r"), "first")?, "first")?;
    let what = format!("number {number}, {how} after {bytes} bytes of {way}");
    figures.injected += usize::from(between::has_struck(&world.path("")));
    figures.must(said.code == Some(0), || format!("{what}: {said}"));
    ends_like(baseline, &world, &mut figures, ("first", &what))?;
    Ok(figures)
}

/// Runners that fail to start, are slow, have no room, another version or another time, and two runs with one cache.
pub fn troubled(baseline: &Baseline, random: &mut Random, number: u64) -> Res<Figures> {
    let (world, mut figures) = (baseline.fresh()?, Figures::one());
    let near = entry(&world, "near", 1);
    let (kind, entries, expected) = match number % TROUBLES {
        0 => ("another version", vec![of_another_version(&world)?, near], "with protocol 99"),
        1 => ("failing starts", vec![fails_at_first(&world, near, 1 + random.below(2))], "No route to host"),
        2 => {
            let size = 4 * (1 + random.below(24));
            if !super::disk::can_mount(&world) {
                return Ok(Figures { injected: 0, skipped: 1, ..figures });
            }
            ("full disk", vec![with_a_small_disk(&world, near, size)], "")
        }
        3 => {
            let Some(library) = clock_library(&world)? else {
                return Ok(Figures { injected: 0, skipped: 1, ..figures });
            };
            ("two hours late", vec![with_its_own_clock(&world, near, &library)?], "")
        }
        4 => ("slower than the rest", vec![slow(entry(&world, "slow", 1)), near], "\"runner\":\"slow-1\""),
        _ => return two_runs(baseline, random, number),
    };
    configure(&world, "runners.yaml", &entries)?;
    let said = world.finish(world.start(&world.begin_elsewhere("r"), "first")?, "first")?;
    let what = format!("number {number}, {kind}");
    figures.must(said.code == Some(0), || format!("{what}: {said}"));
    figures.must(said.stdout.contains(expected), || format!("{what}: nobody said {expected:?}"));
    let is_lost =
        said.stdout.lines().any(|line| line.contains("slow-1") && line.contains("\"state\":\"lost\""));
    figures.must(!is_lost, || format!("{what}: it counts as lost"));
    ends_like(baseline, &world, &mut figures, ("first", &what))?;
    Ok(figures)
}

/// The program is killed while scripts run elsewhere. The run goes on with the same runners, with others, or here.
pub fn program_killed(baseline: &Baseline, random: &mut Random, number: u64) -> Res<Figures> {
    let (world, mut figures) = (baseline.fresh()?, Figures::default());
    configure(&world, "runners.yaml", &[entry(&world, "near", 2)])?;
    configure(&world, "others.yaml", &[entry(&world, "other", 1)])?;
    let (begin, resume) = match number % RESUMES {
        0 => (world.begin_elsewhere("r"), "resume r --json"),
        1 => (world.begin_elsewhere("r"), "resume r --json --config others.yaml"),
        _ => (format!("{} --config runners.yaml", world.begin("r")), "resume r --json --runner none"),
    };
    let mut child = world.start(&begin, "first")?;
    let events = 8 + random.below(70);
    world.wait_for_events(&mut child, "first", events)?;
    sleep(Duration::from_millis(random.below(200) as u64));
    if child.try_wait()?.is_none() {
        child.kill()?;
        figures.injected += 1;
    }
    child.wait()?;
    let what = format!("number {number}, program killed after {events} events, {resume}");
    world.check_cut(&mut figures, "first", &what)?;
    let before = world.records();
    let line = if world.go_on().starts_with("resume") { resume.to_owned() } else { begin };
    let said = world.run(&line)?;
    figures.must(said.code == Some(0), || format!("{what}: {said}"));
    world.check_not_repeated(&mut figures, &before, "said")?;
    let elsewhere = |line: &&str| line.contains("script_started") && line.contains("\"runner\":\"");
    let there: Vec<&str> = said.stdout.lines().filter(elsewhere).collect();
    let name = ["near-", "other-", ""][at(number, RESUMES)];
    let is_meant = |line: &&str| !name.is_empty() && line.contains(&format!("\"runner\":\"{name}"));
    figures.must(there.iter().all(is_meant), || format!("{what}: scripts ran on other runners: {there:?}"));
    baseline.check(&mut figures, &world.path("runs/r"), &before, &what)?;
    world.check_left(&mut figures, &what);
    Ok(figures)
}

/// Two runs at once share a host's cache, and one of their runners is killed.
fn two_runs(baseline: &Baseline, random: &mut Random, number: u64) -> Res<Figures> {
    let (world, mut figures) = (baseline.fresh()?, Figures::one());
    configure(&world, "runners.yaml", &[entry(&world, "near", 1)])?;
    let mut one = world.start(&world.begin_elsewhere("r"), "one")?;
    let two = world.start(&world.begin_elsewhere("s"), "two")?;
    world.wait_for_events(&mut one, "one", 12 + random.below(30))?;
    let runners = runners(&world);
    if let Some(victim) = runners.get(random.below(runners.len())) {
        Command::new("kill").args(["-KILL", &victim.to_string()]).stderr(Stdio::null()).status()?;
    }
    let what = format!("number {number}, two runs with one cache");
    for (child, name) in [(one, "one"), (two, "two")] {
        let said = world.finish(child, name)?;
        figures.must(said.code == Some(0), || format!("{what}: {said}"));
    }
    baseline.check(&mut figures, &world.path("runs/s"), &[], &what)?;
    figures.completed = 0;
    ends_like(baseline, &world, &mut figures, ("one", &what))?;
    Ok(figures)
}

/// Checks a run that needed no resume, whose events went to `name.out`, and that a resume does nothing.
fn ends_like(
    baseline: &Baseline,
    world: &World,
    figures: &mut Figures,
    (name, what): (&str, &str),
) -> Res<()> {
    let events = fs::read_to_string(world.path(&format!("{name}.out")))?;
    figures.redone += events.matches("\"the script runs again elsewhere: ").count();
    let records = world.records();
    let again = world.run("resume r")?;
    figures.must(again.code == Some(0), || format!("{what}: resumed, it ended with {again}"));
    world.check_left(figures, what);
    baseline.check(figures, &world.path("runs/r"), &records, what)
}

fn at(number: u64, count: u64) -> usize {
    usize::try_from(number % count).unwrap_or_default()
}

/// Runners with a cache in the world.
fn entry(world: &World, name: &str, count: usize) -> Value {
    let cache = format!("MLE_STAR_CACHE={}", world.path("cache").display());
    let command = [json!("env"), json!(cache), json!(world.binary()), json!("runner"), json!("--copy-data")];
    json!({"name": name, "command": command, "count": count})
}

/// The entry behind a shell script, which sees its command as `"$@"`.
fn through(mut entry: Value, script: &str) -> Value {
    let mut words = vec![json!("sh"), json!("-c"), json!(script), json!("sh")];
    words.extend(entry["command"].as_array().into_iter().flatten().cloned());
    entry["command"] = json!(words);
    entry
}

fn configure(world: &World, file: &str, entries: &[Value]) -> Res<()> {
    Ok(fs::write(world.path(file), json!({"runners": entries}).to_string())?)
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

/// A command that fails for its first starts.
fn fails_at_first(world: &World, entry: Value, times: usize) -> Value {
    let folder = world.path("failed");
    let one = |time: usize| {
        format!(
            "mkdir {}-{time} 2>/dev/null && {{ echo No route to host >&2; exit 255; }}; ",
            folder.display()
        )
    };
    let script: String = (0..times).map(one).collect();
    through(entry, &format!("{script} exec \"$@\""))
}

/// A runner that is stopped for most of the time.
fn slow(entry: Value) -> Value {
    let stops = "while sleep 0.2; kill -STOP $$; do sleep 1; kill -CONT $$; done";
    through(entry, &format!("({stops}) >/dev/null 2>&1 & exec \"$@\""))
}

/// A runner whose first cache is on a volume of this many KiB, and which thinks that there is a GiB.
fn with_a_small_disk(world: &World, entry: Value, size: usize) -> Value {
    let (chosen, cache) = (world.path("small-disk"), world.path("cache"));
    let script = format!(
        "mkdir {0} 2>/dev/null || exec \"$@\"\nmkdir -p {1}\n\
         exec {2} sh -c 'mount -t tmpfs -o size={size}k none {1} && exec \"$@\" --cache-limit 1' sh \"$@\"",
        chosen.display(),
        cache.display(),
        OWN_MOUNTS.join(" ")
    );
    through(entry, &script)
}

/// A runner whose wall clock is two hours late, as soon as it has begun.
fn with_its_own_clock(world: &World, entry: Value, library: &std::path::Path) -> Res<Value> {
    let set_back = world.path("set-back");
    fs::write(&set_back, "")?;
    fs::set_permissions(library, fs::Permissions::from_mode(0o755))?;
    let script =
        format!("export LD_PRELOAD={} CLOCK_SET_BACK={}; exec \"$@\"", library.display(), set_back.display());
    Ok(through(entry, &script))
}

/// The runners of a world, without the processes that they started.
fn runners(world: &World) -> Vec<i32> {
    let named: BTreeSet<i32> = world
        .marked()
        .into_iter()
        .map(|(id, _)| id)
        .filter(|id| {
            let line = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
            let words: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
            words.first().is_some_and(|word| word.ends_with(b"mle-star"))
                && words.get(1) == Some(&&b"runner"[..])
        })
        .collect();
    let parent = |id: i32| {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse::<i32>().ok()
    };
    named.iter().copied().filter(|id| parent(*id).is_some_and(|parent| !named.contains(&parent))).collect()
}
