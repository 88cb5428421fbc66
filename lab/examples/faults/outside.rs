//! Faults of the machine: the program or scripts killed, no descriptors left, the clock set back, a folder missing.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use super::world::{Baseline, Res, World, ended_within, must, send};

/// The number of kinds of [`disturbed`].
pub const KINDS: usize = 4;

/// A library that sets the wall clock back two hours while a file exists.
const CLOCK: &str = "#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *time) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, \"clock_gettime\");
    int result = real(clock, time);
    const char *file = getenv(\"CLOCK_SET_BACK\");
    if (clock == CLOCK_REALTIME && file && access(file, F_OK) == 0) time->tv_sec -= 7200;
    return result;
}
";

/// A task whose submission is copied to a folder.
const TASK: &str =
    "competition_id: small\ntask_type: regression\ndata_modality: tabular\nevaluation_metric: RMSE
metric_direction: minimize\ndescription: Predict the price.\ndata_dir: data\noutput_dir: out
target_column: price\nid_column: id\n";

/// One run, killed by SIGKILL at a random moment; every third one is killed again while it goes on.
pub fn killed(baseline: &Baseline, world: &mut World) -> Res<()> {
    world.figures.injected = 0;
    let kills = if world.number.is_multiple_of(3) { 2 } else { 1 };
    let mut before = Vec::new();
    while world.figures.injected < kills {
        let mut child = world.start(&world.go_on(), "killed")?;
        if ended_within(&mut child, baseline.moment(world))? {
            break;
        }
        child.kill()?;
        child.wait()?;
        world.figures.injected += 1;
        world.check_cut("killed")?;
        world.check_not_repeated(&before, "killed")?;
        before = world.records();
    }
    world.resume_and_check(baseline)
}

/// A run whose data plane is killed at a random moment. In every second one, the program is killed after it, and goes on.
pub fn plane_killed(baseline: &Baseline, world: &mut World) -> Res<()> {
    world.figures.injected = 0;
    let mut child = world.start(&world.begin("r"), "first")?;
    let mut has_ended = ended_within(&mut child, baseline.moment(world))?;
    while !has_ended && world.figures.injected == 0 {
        for plane in world.planes() {
            send("-KILL", plane)?;
            world.figures.injected = 1;
        }
        has_ended = ended_within(&mut child, Duration::from_millis(2))?;
    }
    if world.number.is_multiple_of(2) {
        world.finish(child, "first")?.ended(0)?;
        return world.check(baseline, "runs/r", &[]);
    }
    ended_within(&mut child, baseline.moment(world) / 2)?;
    child.kill()?;
    world.finish(child, "first")?;
    world.resume_and_check(baseline)
}

/// A run with one of the other faults.
pub fn disturbed(baseline: &Baseline, world: &mut World) -> Res<()> {
    match world.number % KINDS {
        0 => scripts_killed(baseline, world),
        1 => few_descriptors(baseline, world),
        2 => clock_set_back(baseline, world),
        _ => output_gone(baseline, world),
    }
}

/// A run whose scripts and guards are killed repeatedly. A killed script is a failed script, so the result may
/// differ from the undisturbed one, but there must be a result, and every record exactly once.
fn scripts_killed(baseline: &Baseline, world: &mut World) -> Res<()> {
    world.tell("scripts killed");
    world.figures.injected = 0;
    let mut child = world.start(&world.begin("r"), "first")?;
    // Before the first event the interpreter is asked for its version; killed there, it does not work.
    world.wait_for_events(&mut child, "first", 1)?;
    while world.figures.injected < 3 && !ended_within(&mut child, baseline.moment(world) / 3)? {
        for _ in 0..200 {
            let mut scripts = world.processes();
            scripts.retain(|(id, name)| *id != child.id() && name != "mle-star");
            if let Some((script, _)) = world.random.choice(&scripts) {
                send("-KILL", *script)?;
                world.figures.injected += 1;
                break;
            }
            sleep(Duration::from_millis(2));
        }
    }
    world.finish(child, "first")?.ended(0)?;
    world.check_cut("first")?;
    world.run("resume r")?.ended(0)?;
    world.figures.completed += 1;
    Ok(())
}

/// A run with few descriptors, resumed with enough.
fn few_descriptors(baseline: &Baseline, world: &mut World) -> Res<()> {
    let limit = 6 + world.random.usize(..40);
    world.tell(format!("{limit} descriptors"));
    let command = world.shell(&format!("ulimit -n {limit}; exec $BINARY $BEGIN"));
    let said = world.finish(world.start_command(command, "first")?, "first")?;
    let reported = said.code == Some(0) || said.stderr.contains("error: ") && said.stderr.contains("hint: ");
    // Without any descriptors, the dynamic loader prints its own error.
    must!(reported || limit < 8, "{said}");
    world.resume_and_check(baseline)
}

/// The library that sets the clock back; `None` without a compiler.
pub fn clock_library(world: &World) -> Res<Option<PathBuf>> {
    let (source, library) = (world.path("clock.c"), world.path("clock.so"));
    fs::write(&source, CLOCK)?;
    let words =
        ["-shared".as_ref(), "-fPIC".as_ref(), "-o".as_ref(), library.as_os_str(), source.as_os_str()];
    let compiled = Command::new("cc").args(words).arg("-ldl").output();
    Ok(compiled.is_ok_and(|output| output.status.success()).then_some(library))
}

fn clock_set_back(baseline: &Baseline, world: &mut World) -> Res<()> {
    world.tell("clock set back");
    let Some(library) = clock_library(world)? else {
        world.skip();
        return Ok(());
    };
    let set_back = world.path("set-back");
    let start = |world: &World, line: &str, name: &str| {
        let mut command = world.command(line);
        command.env("LD_PRELOAD", &library).env("CLOCK_SET_BACK", &set_back);
        world.start_command(command, name)
    };
    let mut child = start(world, &world.begin("r"), "first")?;
    let events = 10 + world.random.usize(..20);
    world.wait_for_events(&mut child, "first", events)?;
    fs::write(&set_back, "")?;
    world.wait_for_events(&mut child, "first", 45)?;
    child.kill()?;
    child.wait()?;
    world.check_cut("first")?;
    let before = world.records();
    let goes_back = before.windows(2).any(|pair| pair[1].begun_at < pair[0].begun_at);
    must!(goes_back, "the clock was not seen to go back");
    world.finish(start(world, "resume r --json", "second")?, "second")?.ended(0)?;
    world.check_not_repeated(&before, "second")?;
    let sane = |seconds: f64| (0.0..600.0).contains(&seconds);
    let times_are_sane =
        world.records().iter().all(|r| sane(r.elapsed_begun) && r.elapsed_ended.is_none_or(sane));
    must!(times_are_sane, "the run's own time follows the wall clock");
    world.check(baseline, "runs/r", &before)
}

/// The output folder is replaced by a file.
fn output_gone(baseline: &Baseline, world: &mut World) -> Res<()> {
    world.tell("output folder gone");
    fs::write(world.path("task.yaml"), TASK)?;
    let line = world.begin("r").replacen("run data", "run task.yaml", 1);
    let mut child = world.start(&line, "first")?;
    world.wait_for_events(&mut child, "first", 3)?;
    fs::remove_dir(world.path("out"))?;
    fs::write(world.path("out"), "")?;
    let said = world.finish(child, "first")?.ended(0)?;
    must!(said.stderr.contains("note: no copy in"), "{said}");
    world.check(baseline, "runs/r", &[])
}
