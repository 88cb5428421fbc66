//! Two processes that want the same run.

use std::fs;

use super::Figures;
use super::world::{Baseline, Random, Res, World};

/// Even: a process resumes a run that another works on. Odd: two processes start the same run at once.
pub fn two(baseline: &Baseline, random: &mut Random, number: u64) -> Res<Figures> {
    let (world, mut figures) = (baseline.fresh()?, Figures::one());
    if number.is_multiple_of(2) {
        held(baseline, &world, random, &mut figures)?;
    } else {
        at_once(baseline, &world, &mut figures)?;
    }
    Ok(figures)
}

fn held(baseline: &Baseline, world: &World, random: &mut Random, figures: &mut Figures) -> Res<()> {
    let mut child = world.start(&world.begin("r"), "first")?;
    let is_there = world.wait_for_events(&mut child, "first", 3 + random.below(20))?;
    let id = child.id();
    let second = world.run("resume r")?;
    let third = world.run(&world.begin("r"))?;
    let is_there = is_there && child.try_wait()?.is_none();
    let named = second.code == Some(1) && second.stderr.contains(&format!("process {id}"));
    figures.must(!is_there || named, || format!("the second was not refused: {second}"));
    figures.must(third.code == Some(2), || format!("it was begun twice: {third}"));
    let said = world.finish(child, "first")?;
    figures.must(said.code == Some(0), || format!("the first was disturbed: {said}"));
    baseline.check(figures, &world.path("runs/r"), &[], "held")
}

/// In the folder of a killed process, the inputs must be those of the process that continued.
fn at_once(baseline: &Baseline, world: &World, figures: &mut Figures) -> Res<()> {
    fs::create_dir_all(world.path("runs/r"))?;
    fs::write(world.path("runs/r/journal.lock"), "process 1")?;
    fs::write(world.path("runs/r/task.json"), "{}")?;
    let other = format!("{} --set log_level=DEBUG", world.begin("r"));
    let children = [world.start(&world.begin("r"), "one")?, world.start(&other, "two")?];
    let [one, two] = children;
    let codes = [world.finish(one, "one")?, world.finish(two, "two")?].map(|said| said.code);
    let won = codes.iter().filter(|code| **code == Some(0)).count();
    let refused = codes.iter().filter(|code| **code == Some(2)).count();
    figures.must(won == 1 && refused == 1, || format!("two at once ended with {codes:?}"));
    let again = world.run("resume r")?;
    figures.must(again.code == Some(0), || format!("what is frozen is not what was run: {again}"));
    baseline.check(figures, &world.path("runs/r"), &[], "two at once")
}
