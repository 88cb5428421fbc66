//! Full and read-only volumes: small ones in the campaign's own mount namespace.

use std::sync::OnceLock;

use super::world::{Baseline, Res, World, must};

/// The number of kinds.
pub const KINDS: usize = 3;

/// `step NAME COMMAND …` keeps what a command says and its exit code. `killed` leaves a killed run on a volume.
const FUNCTIONS: &str = "step() { n=$1; shift; \"$@\" >$n.out 2>$n.err; echo $? >$n.code; }
    volume() { mkdir -p $1; mount -t tmpfs $2 none $1 || exit 99; }
    killed() { timeout -s KILL $1 $BINARY $BEGIN >killed.out 2>killed.err; }
    killed_run() { volume runs; killed $TIME; while ! [ -d runs/r/logs ]; do killed 1; done; }\n";
const FULL: &str = "volume runs -osize=${SIZE}k; step one $BINARY $BEGIN
    step show $BINARY show r; mount -o remount,size=64m runs || exit 98
    cp -r runs full; step two $BINARY resume r --json
    [ $(cat two.code) = 0 ] || step two $BINARY $BEGIN\n";
const READ_ONLY: &str = "killed_run
    for wait in 1 2 3 4 5 6 7 8 9; do mount -o remount,ro runs 2>/dev/null && break; sleep 0.2; done
    touch runs/x 2>/dev/null && exit 98
    step one $BINARY resume r; step show $BINARY show r
    mount -o remount,rw runs; cp -r runs full; step two $BINARY resume r --json\n";
const LOGS_FULL: &str = "killed_run
    volume runs/r/logs -osize=4k; cat /dev/zero >runs/r/logs/filler 2>/dev/null
    cp -r runs full; step two $BINARY resume r --json\n";

/// The runs directory is on a volume that fills up, or that is read-only for a while, or the logs' volume is full.
/// There is room again, and the run resumes.
pub fn disturbed(baseline: &Baseline, world: &mut World) -> Res<()> {
    if !can_mount(world) {
        world.skip();
        return Ok(());
    }
    let (script, what) =
        [(FULL, "full"), (READ_ONLY, "read-only"), (LOGS_FULL, "logs full")][world.number % KINDS];
    let (size, half) = (60 + world.random.usize(..1200), 0.5 + 0.3 * world.random.f64());
    world.tell(format!("{what}, {size} KiB"));
    let time = baseline.took.as_secs_f64() * half;
    let mut command = world.mounting_shell(&[FUNCTIONS, script, "cp -r runs kept"].concat());
    command.env("SIZE", size.to_string()).env("TIME", format!("{time:.2}"));
    world.finish(world.start_command(command, "mounted")?, "mounted")?.ended(0)?;
    let is =
        |step: &str, code: &str| world.text(&format!("{step}.code")).is_ok_and(|found| found.trim() == code);
    if what == "read-only" || what == "full" && !is("one", "0") {
        let said = world.text("one.err")?;
        must!(is("one", "1") && said.contains("hint: "), "it said {said}");
    }
    must!(what != "read-only" || is("show", "0"), "not shown: {}", world.text("show.err")?);
    let said = world.text("two.err")?;
    must!(is("two", "0") && said.contains("submission: "), "resumed, it said {said}");
    let before = mle_star::journal::read(&world.path("full/r")).map(|snapshot| snapshot.effects);
    let before = before.unwrap_or_default();
    world.check_not_repeated(&before, "two")?;
    world.check(baseline, "kept/r", &before)
}

/// Whether this machine allows to mount in a new namespace.
pub fn can_mount(world: &World) -> bool {
    static POSSIBLE: OnceLock<bool> = OnceLock::new();
    *POSSIBLE.get_or_init(|| {
        let mut probe = world.mounting_shell("mkdir probe && mount -t tmpfs none probe");
        probe.output().is_ok_and(|output| output.status.success())
    })
}
