//! Full and read-only volumes: small ones in the campaign's own mount namespace.

use std::process::Command;
use std::sync::OnceLock;

use super::Figures;
use super::world::{Baseline, Random, Res, World};

/// The command that mounts in a new namespace.
pub const OWN_MOUNTS: [&str; 2] = ["unshare", "-rm"];

/// The runs directory is on a volume that fills up. The volume is enlarged, and the run resumes.
pub fn full(baseline: &Baseline, random: &mut Random, number: u64) -> Res<Figures> {
    let size = 60 + random.below(1200);
    let script = "mkdir runs; mount -t tmpfs -o size=${SIZE}k none runs || exit 99
        $BINARY $BEGIN >one.out 2>one.err; echo $? >one.code
        $BINARY show r >show.out 2>show.err; echo $? >show.code
        mount -o remount,size=64m runs || exit 98
        cp -r runs full
        $BINARY resume r --json >two.out 2>two.err || $BINARY $BEGIN >two.out 2>two.err
        echo $? >two.code; cp -r runs kept";
    let mut expected = vec![("two", "0", "submission: ")];
    let (world, mut figures) = (baseline.fresh()?, Figures::one());
    let mut command = world.shell(&OWN_MOUNTS, script);
    command.env("SIZE", size.to_string());
    if !mounted(&world, command, &mut figures)? {
        return Ok(figures);
    }
    let what = format!("number {number}, {size} KiB");
    if code(&world, "one")? != "0" {
        expected.push(("one", "1", "hint: "));
    }
    judge(baseline, &world, &mut figures, &expected, &what)?;
    Ok(figures)
}

/// 0: a run that was killed, its volume read-only for a while. 1: its logs on a full volume.
pub fn closed(baseline: &Baseline, random: &mut Random, number: u64) -> Res<Figures> {
    let (world, mut figures) = (baseline.fresh()?, Figures::one());
    let killed = format!(
        "mkdir runs; mount -t tmpfs none runs || exit 99
         timeout -s KILL {:.2} $BINARY $BEGIN >killed.out 2>killed.err
         while ! [ -d runs/r/logs ]; do timeout -s KILL 1 $BINARY $BEGIN >killed.out 2>killed.err; done\n",
        baseline.took.as_secs_f64() * (0.5 + 0.3 * random.unit())
    );
    let (script, expected) = if number == 0 {
        let script =
            "for wait in 1 2 3 4 5 6 7 8 9; do mount -o remount,ro runs 2>/dev/null && break; sleep 0.2; done
            touch runs/x 2>/dev/null && exit 98
            $BINARY resume r >one.out 2>one.err; echo $? >one.code
            $BINARY show r >show.out 2>show.err; echo $? >show.code
            mount -o remount,rw runs; cp -r runs full
            $BINARY resume r --json >two.out 2>two.err; echo $? >two.code; cp -r runs kept";
        (script, vec![("one", "1", "hint: "), ("show", "0", ""), ("two", "0", "submission: ")])
    } else {
        let script =
            "mount -t tmpfs -o size=4k none runs/r/logs; cat /dev/zero >runs/r/logs/filler 2>/dev/null
            cp -r runs full
            $BINARY resume r --json >two.out 2>two.err; echo $? >two.code; cp -r runs kept";
        (script, vec![("two", "0", "submission: ")])
    };
    let what = if number == 0 { "read-only" } else { "logs full" };
    let command = world.shell(&OWN_MOUNTS, &(killed + script));
    if mounted(&world, command, &mut figures)? {
        judge(baseline, &world, &mut figures, &expected, what)?;
    }
    Ok(figures)
}

/// The steps ended as expected, and the run ended like an undisturbed one.
fn judge(
    baseline: &Baseline,
    world: &World,
    figures: &mut Figures,
    expected: &[(&str, &str, &str)],
    what: &str,
) -> Res<()> {
    for (step, exit, words) in expected {
        let (found, said) = (code(world, step)?, text(world, &format!("{step}.err"))?);
        figures.must(found == *exit, || format!("{what}: {step} ended with {found}: {said}"));
        figures.must(said.contains(words), || format!("{what}: {step} said {said}"));
    }
    let before = mle_star::journal::read(&world.path("full/r")).map(|snapshot| snapshot.effects);
    let before = before.unwrap_or_default();
    world.check_not_repeated(figures, &before, "two")?;
    let said = text(world, "two.err")?;
    let checked = baseline.check(figures, &world.path("kept/r"), &before, what);
    checked.map_err(|error| format!("{what}: {error}; the last process said {said}").into())
}

fn code(world: &World, step: &str) -> Res<String> {
    Ok(text(world, &format!("{step}.code"))?.trim().to_owned())
}

fn text(world: &World, name: &str) -> Res<String> {
    Ok(std::fs::read_to_string(world.path(name)).map_err(|error| format!("{name}: {error}"))?)
}

/// Runs a script that mounts. Returns false and counts as skipped if this machine does not allow that.
fn mounted(world: &World, mut command: Command, figures: &mut Figures) -> Res<bool> {
    if !can_mount(world) {
        (figures.injected, figures.skipped) = (0, 1);
        return Ok(false);
    }
    command.env("BEGIN", world.begin("r"));
    let said = world.finish(world.start_command(command, "mounted")?, "mounted")?;
    figures.must(said.code == Some(0), || format!("the script that mounts ended with {said}"));
    Ok(said.code == Some(0))
}

/// Whether this machine allows to mount in a new namespace.
pub fn can_mount(world: &World) -> bool {
    static POSSIBLE: OnceLock<bool> = OnceLock::new();
    *POSSIBLE.get_or_init(|| {
        let mut probe = world.shell(&OWN_MOUNTS, "mkdir probe && mount -t tmpfs none probe");
        probe.output().is_ok_and(|output| output.status.success())
    })
}
