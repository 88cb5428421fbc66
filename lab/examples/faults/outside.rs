//! Faults of the machine: scripts killed, no descriptors left, the clock set back, a folder missing.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use super::Figures;
use super::world::{Baseline, Random, Res, World, ended_within};

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

/// A run whose scripts and guards are killed repeatedly. A killed script is a failed script, so the result may
/// differ from the undisturbed one, but there must be a result, and every record exactly once.
pub fn scripts_killed(baseline: &Baseline, random: &mut Random, number: u64) -> Res<Figures> {
    let (world, mut figures) = (baseline.fresh()?, Figures::default());
    let mut child = world.start(&world.begin("r"), "first")?;
    // Before the first event the interpreter is asked for its version; killed there, it does not work.
    world.wait_for_events(&mut child, "first", 1)?;
    while figures.injected < 3 && !ended_within(&mut child, baseline.moment(random) / 3)? {
        for _ in 0..200 {
            let scripts: Vec<i32> = world
                .processes()
                .into_iter()
                .filter(|(id, name)| u32::try_from(*id) != Ok(child.id()) && name != "mle-star")
                .map(|(id, _)| id)
                .collect();
            if !scripts.is_empty() {
                let victim = scripts[random.below(scripts.len())].to_string();
                Command::new("kill").args(["-KILL", &victim]).stderr(Stdio::null()).status()?;
                figures.injected += 1;
                break;
            }
            sleep(Duration::from_millis(2));
        }
    }
    let said = world.finish(child, "first")?;
    let what = format!("number {number}");
    figures.must(said.code == Some(0), || format!("{what}: {said}"));
    world.check_cut(&mut figures, "first", &what)?;
    let again = world.run("resume r")?;
    figures.must(again.code == Some(0), || format!("{what}: {again}"));
    figures.completed += usize::from(figures.problems.is_empty());
    Ok(figures)
}

/// A run with few descriptors, resumed with enough.
pub fn few_descriptors(baseline: &Baseline, random: &mut Random, number: u64) -> Res<Figures> {
    let (world, mut figures) = (baseline.fresh()?, Figures::one());
    let limit = 6 + random.below(40);
    let mut command = world.shell(&[], &format!("ulimit -n {limit}; exec $BINARY $BEGIN"));
    command.env("BEGIN", world.begin("r"));
    let said = world.finish(world.start_command(command, "first")?, "first")?;
    let what = format!("number {number}, {limit} descriptors");
    let reported = said.code == Some(0) || said.stderr.contains("error: ") && said.stderr.contains("hint: ");
    // Without any descriptors, the dynamic loader prints its own error.
    figures.must(reported || limit < 8, || format!("{what}: {said}"));
    world.resume_and_check(baseline, &mut figures, &what)?;
    Ok(figures)
}

/// 0: the clock is set back two hours in the middle of a run. 1: the output folder is replaced by a file.
pub fn clock_and_output(baseline: &Baseline, random: &mut Random, number: u64) -> Res<Figures> {
    let (world, mut figures) = (baseline.fresh()?, Figures::one());
    if number == 0 {
        clock_set_back(baseline, &world, random, &mut figures)?;
    } else {
        output_gone(baseline, &world, &mut figures)?;
    }
    Ok(figures)
}

/// The library that sets the clock back; `None` without a compiler.
pub fn clock_library(world: &World) -> Res<Option<PathBuf>> {
    let (source, library) = (world.path("clock.c"), world.path("clock.so"));
    fs::write(&source, CLOCK)?;
    let compiled = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .arg(&library)
        .arg(&source)
        .arg("-ldl")
        .output();
    Ok(compiled.is_ok_and(|output| output.status.success()).then_some(library))
}

fn clock_set_back(baseline: &Baseline, world: &World, random: &mut Random, figures: &mut Figures) -> Res<()> {
    let (library, set_back) = (clock_library(world)?, world.path("set-back"));
    let Some(library) = library else {
        (figures.injected, figures.skipped) = (0, 1);
        return Ok(());
    };
    let command = |line: &str| {
        let mut command = world.command(line);
        command.env("LD_PRELOAD", &library).env("CLOCK_SET_BACK", &set_back);
        command
    };
    let mut child = world.start_command(command(&world.begin("r")), "first")?;
    world.wait_for_events(&mut child, "first", 10 + random.below(20))?;
    fs::write(&set_back, "")?;
    world.wait_for_events(&mut child, "first", 45)?;
    child.kill()?;
    child.wait()?;
    world.check_cut(figures, "first", "clock")?;
    let before = world.records();
    let goes_back = before.windows(2).any(|pair| pair[1].begun_at < pair[0].begun_at);
    figures.must(goes_back, || "the clock was not seen to go back".to_owned());
    let said = world.finish(world.start_command(command("resume r --json"), "second")?, "second")?;
    figures.must(said.code == Some(0), || format!("clock: {said}"));
    world.check_not_repeated(figures, &before, "second")?;
    let records = world.records();
    let sane = |seconds: f64| (0.0..600.0).contains(&seconds);
    let times_are_sane = records.iter().all(|r| sane(r.elapsed_begun) && r.elapsed_ended.is_none_or(sane));
    figures.must(times_are_sane, || "the run's own time follows the wall clock".to_owned());
    baseline.check(figures, &world.path("runs/r"), &before, "clock")
}

fn output_gone(baseline: &Baseline, world: &World, figures: &mut Figures) -> Res<()> {
    let task = "competition_id: small\ntask_type: regression\ndata_modality: tabular\nevaluation_metric: RMSE\n\
        metric_direction: minimize\ndescription: Predict the price.\ndata_dir: data\noutput_dir: out\n\
        target_column: price\nid_column: id\n";
    fs::write(world.path("task.yaml"), task)?;
    let line = world.begin("r").replacen("run data", "run task.yaml", 1);
    let mut child = world.start(&line, "first")?;
    world.wait_for_events(&mut child, "first", 3)?;
    fs::remove_dir(world.path("out"))?;
    fs::write(world.path("out"), "")?;
    let said = world.finish(child, "first")?;
    let noted = said.code == Some(0) && said.stderr.contains("note: no copy in");
    figures.must(noted, || format!("output folder gone: {said}"));
    baseline.check(figures, &world.path("runs/r"), &[], "output folder gone")
}
