//! SIGKILL at random moments, up to three times in one run.

use super::Figures;
use super::world::{Baseline, Random, Res, ended_within};

/// One run, killed; every third one is killed again while it goes on.
pub fn killed(baseline: &Baseline, random: &mut Random, number: u64) -> Res<Figures> {
    let (world, mut figures) = (baseline.fresh()?, Figures::default());
    let kills = if number.is_multiple_of(3) { 2 } else { 1 };
    let mut before = Vec::new();
    while figures.injected < kills {
        let name = format!("killed-{}", figures.injected);
        let mut child = world.start(&world.go_on(), &name)?;
        if ended_within(&mut child, baseline.moment(random))? {
            break;
        }
        child.kill()?;
        child.wait()?;
        figures.injected += 1;
        let what = format!("number {number}, kill {}", figures.injected);
        world.check_cut(&mut figures, &name, &what)?;
        world.check_not_repeated(&mut figures, &before, &name)?;
        before = world.records();
    }
    world.resume_and_check(baseline, &mut figures, &format!("number {number}"))?;
    Ok(figures)
}
