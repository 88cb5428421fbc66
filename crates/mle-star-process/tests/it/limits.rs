//! How a child ends, by itself or at a limit.

use std::time::Duration;

use mle_star_process::enforce::{End, Limits};
use mle_star_process::{Confinement, Resource};

use super::world::World;

#[tokio::test]
async fn a_child_ends_with_everything_it_started() {
    let check = async |script: &str, end: End, notes: &[&str]| {
        let world = World::new();
        let (finished, printed) = world.run(script, world.limits(), Confinement::default()).await;
        assert_eq!((finished.end, finished.exceeded), (end, None), "{script}: {printed}");
        assert_eq!(finished.notes, notes, "{script}");
    };
    check("exit 3", End::Exited { code: 3 }, &[]).await;
    check("kill -SEGV $$", End::Signalled { signal: 11 }, &[]).await;
    // A daemon in its own session, which holds none of the child's streams.
    let daemon = "setsid setsid sleep 600 >/dev/null 2>&1 & exit 0";
    check(daemon, End::Exited { code: 0 }, &["killed 1 process that the script left running"]).await;
    let killed = "its supervisor process was killed, and the script with it";
    check("kill -9 $PPID; sleep 600", End::Signalled { signal: 9 }, &[killed]).await;
}

#[tokio::test]
async fn a_child_is_stopped_at_each_limit() {
    let check =
        async |script: &str, change: fn(&mut Limits), expected: (End, Option<Resource>), note: &str| {
            let world = World::new();
            let mut limits = world.limits();
            change(&mut limits);
            let (finished, printed) = world.run(script, limits, Confinement::default()).await;
            assert_eq!((finished.end, finished.exceeded), expected, "{script}: {printed}");
            assert!(finished.notes.len() == 1 && finished.notes[0].contains(note), "{:?}", finished.notes);
        };
    let killed = |resource| (End::Signalled { signal: 9 }, Some(resource));
    let late: fn(&mut Limits) = |limits| limits.time = Duration::from_millis(300);
    check("sleep 600", late, (End::TimedOut, None), "stopped after 0.3 s").await;
    let many: fn(&mut Limits) = |limits| limits.memory.processes = 5;
    let processes = "for n in 1 2 3 4 5 6 7 8; do sleep 600 & done; wait";
    check(processes, many, killed(Resource::Processes), "more than 5 processes").await;
    let files: fn(&mut Limits) = |limits| limits.disk.files = 5;
    check("touch 1 2 3 4 5 6; sleep 600", files, killed(Resource::Files), "more than 5 files").await;
    let disk: fn(&mut Limits) = |limits| limits.disk.disk_mib = 1;
    check("head -c 3000000 /dev/zero > x; sleep 600", disk, killed(Resource::Files), "more than 1 MiB").await;
    let full: fn(&mut Limits) = |limits| limits.disk.reserve_mib = u64::MAX;
    check("sleep 600", full, killed(Resource::Disk), "nearly full").await;
    let memory: fn(&mut Limits) = |limits| limits.memory.memory_mib = 50;
    let variable = "x=$(head -c 80000000 /dev/zero | tr '\\0' x); sleep 600";
    check(variable, memory, killed(Resource::Memory), "the limit is 50 MiB").await;
}
