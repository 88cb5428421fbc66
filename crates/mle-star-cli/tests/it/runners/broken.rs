//! Runners that are killed, cut off, told to end, or never start.

use std::fs;
use std::time::{Duration, Instant};

use mle_star::backend::ScriptRunner;
use mle_star_domain::effects::ScriptOutcome;
use mle_star_domain::slot::Host;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use super::world::{World, appears, pids_with, processes_with};

/// Runs a script that says when it has started, and then sleeps; meanwhile does something to its runner.
async fn meanwhile(world: &World, command: &[String], act: impl AsyncFn(i32)) -> (ScriptOutcome, Duration) {
    let mut fleet = world.fleet(command, 1);
    let there = world.scripts(Some(&fleet));
    let lease = fleet.lease().await;
    let script = format!(
        "print('begun', flush=True)\nimport subprocess\nsubprocess.run(['sleep', '{}'])",
        world.number()
    );
    let request = world.request(&script, lease.slot(), Duration::from_secs(100));
    let acting = async {
        let log = world.path("run/logs/phase1.candidate-0.run.stdout");
        while !fs::read_to_string(&log).is_ok_and(|text| text == "begun\n") {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        act(world.runners().into_iter().min().expect("no runner")).await;
        Instant::now()
    };
    let (outcome, acted) = tokio::join!(there.run(&request), acting);
    let took = acted.elapsed();
    drop(lease);
    let began = Instant::now();
    while processes_with(&format!("sleep {}", world.number())) > 0 {
        assert!(began.elapsed() + took < Duration::from_secs(60), "a script goes on after its runner");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    fleet.end().await;
    (outcome.unwrap(), took)
}

fn signal(pid: i32, signal: Signal) {
    kill(Pid::from_raw(pid), signal).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_runner_that_is_killed_or_told_to_end_or_silent_is_lost_and_its_script_ends() {
    let check = async |shell: &str, sent: Signal, expected: &str| {
        let world = World::new().await;
        let (outcome, took) =
            meanwhile(&world, &world.through(shell, &[]), async |pid| signal(pid, sent)).await;
        let loss = outcome.loss().unwrap();
        assert!(loss.contains(expected), "{loss}");
        assert!(took < Duration::from_secs(60), "{took:?}");
        took
    };
    // What a shell prints before is skipped.
    let greets = "echo 'Welcome to node 7'; exec \"$@\"";
    let engine = "\"$@\"; sleep 0.1; echo 'error: JOB 7 CANCELLED DUE TO PREEMPTION' >&2; exit 1";
    let preempted = "it has to end: it received SIGTERM: error: JOB 7 CANCELLED DUE TO PREEMPTION";
    let (_, _, _, silence) = tokio::join!(
        check(greets, Signal::SIGKILL, "runner near-1 was lost: its command"),
        check("exec \"$@\"", Signal::SIGTERM, "it has to end: it received SIGTERM"),
        check(engine, Signal::SIGTERM, preempted),
        check("exec \"$@\"", Signal::SIGSTOP, "nothing was heard from it for 8 s"),
    );
    // Its last message may be a second old.
    assert!((7..18).contains(&silence.as_secs()), "{silence:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_waits_in_a_queue_is_told_when_the_program_ends() {
    let world = World::new().await;
    let [queued, told] = ["queued", "told"].map(|name| world.path(name));
    let queue = format!(
        "trap 'echo the job leaves the queue > {}; exit 1' TERM; echo > {}; while true; do sleep 0.1; done",
        told.display(),
        queued.display()
    );
    let mut fleet = world.fleet(&world.through(&queue, &[]), 1);
    tokio::select! {
        _ = fleet.lease() => panic!("there is a runner"),
        () = appears(&queued) => {}
    }
    let began = Instant::now();
    fleet.end().await;
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    assert_eq!(fs::read_to_string(told).unwrap(), "the job leaves the queue\n");
    assert_eq!(fleet.states()["near-1"], "GivenBack");
    assert_eq!(processes_with(&queued.display().to_string()), 0);
}

/// A network that is cut tells neither side. The pipes go through processes that are stopped.
#[tokio::test(flavor = "multi_thread")]
async fn a_cut_connection_ends_both_sides() {
    let world = World::new().await;
    let cut =
        format!("cat /dev/stdin | \"$@\" | sh -c 'echo $$ > {}; exec cat'", world.path("far").display());
    let stop = async |_| {
        let pid: i32 = fs::read_to_string(world.path("far")).unwrap().trim().parse().unwrap();
        signal(pid, Signal::SIGSTOP);
        for pid in pids_with("cat /dev/stdin") {
            signal(pid, Signal::SIGSTOP);
        }
    };
    let (outcome, took) = meanwhile(&world, &world.through(&cut, &[]), stop).await;
    let loss = outcome.loss().unwrap();
    assert!(loss.contains("nothing was heard from it"), "{loss}");
    assert!((7..18).contains(&took.as_secs()), "{took:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_fails_is_told_with_what_it_said_and_tried_again_later() {
    let world = World::new().await;
    let check = async |shell: &str, expected: &[&str]| {
        let mut fleet = world.fleet_with(
            json!([{"name": "near", "command": world.through(shell, &[]), "start_timeout": 2}]),
            1,
        );
        let here = fleet.lease().await;
        let waits = fleet.lease();
        let failed = async {
            let failed = fleet.comes_to("Failed").await;
            for part in expected {
                assert!(failed.contains(part), "{shell}: {failed}");
            }
            drop(here);
        };
        let (lease, ()) = tokio::join!(waits, failed);
        assert_eq!(lease.slot().host, Host::HERE);
        drop(lease);
        fleet.end().await;
    };
    check("echo 'srun: error: queue is full' >&2; exit 1", &["exit code 1", "srun: error: queue is full"])
        .await;
    check("exec sleep 100", &["did not answer within 2 s"]).await;
    check("printf '\\001\\002'; kill -9 $$", &["was ended by signal: 9"]).await;
}

/// What answers like no runner, and goes on doing so, is not waited for until a time limit.
#[tokio::test(flavor = "multi_thread")]
async fn without_any_machine_nonsense_is_told_within_half_a_minute() {
    let world = World::new().await;
    let check = async |shell: &str, expected: &[&str]| {
        let mut fleet = world.fleet_with(json!([{"name": "near", "command": world.through(shell, &[])}]), 0);
        let waiting = fleet.lease();
        let stranded = tokio::time::timeout(Duration::from_secs(40), fleet.fleet.stranded());
        let trouble = tokio::select! {
            _ = waiting => panic!("there is a slot"),
            trouble = stranded => trouble.unwrap_or_else(|_| panic!("{shell}: silence")),
        };
        for part in expected.iter().chain(&["no runner can be used: near: "]) {
            assert!(trouble.message.contains(part), "{shell}: {trouble:?}");
        }
        assert!(trouble.then_resume && trouble.message.len() < 1000, "{trouble:?}");
        assert!(!trouble.message.contains(char::is_control), "{trouble:?}");
        fleet.end().await;
    };
    let old = r#"printf 'mle-star runner\n'; exec sleep 600"#;
    tokio::join!(
        check(
            "echo 'Welcome to the wrong door'; exec sleep 600",
            &["not from a runner", "Welcome to the wrong door"]
        ),
        check("head -c 100000 /dev/urandom; exec sleep 600", &["before the runner answered"]),
        check("echo 'Welcome to the wrong door'", &["exit code 0", "Welcome to the wrong door"]),
        check("exec cat", &["not from a runner", "welcome"]),
        check(old, &["mle-star runner"]),
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn another_python_is_refused_unless_it_is_allowed() {
    let world = World::new().await;
    // An interpreter that says that it is another one.
    let other = world.path("python-of-the-host");
    let fake = "#!/bin/sh\nexec python3 -c 'import sys; sys.version_info = (3, 12, 1, \"final\", 0)\n\
                code = sys.argv[2] if sys.argv[1:2] == [\"-c\"] else open(sys.argv[1]).read()\n\
                sys.argv = sys.argv[1:]\nsys.executable = \"OTHER\"\nexec(code)' \"$@\"\n";
    fs::write(&other, fake.replace("OTHER", &other.display().to_string())).unwrap();
    fs::set_permissions(&other, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let entry = |any: bool| json!([{"name": "near", "command": world.command(&[]), "python": other, "any_python": any}]);
    let mut fleet = world.fleet_with(entry(false), 0);
    let _there = world.scripts(Some(&fleet));
    let waiting = fleet.lease();
    tokio::select! {
        _ = waiting => panic!("it is accepted"),
        failed = fleet.comes_to("Failed") => {
            assert!(failed.contains("it has Python 3.12.1, and this machine has 3."), "{failed}");
        }
    }
    fleet.end().await;
    let mut fleet = world.fleet_with(entry(true), 0);
    let there = world.scripts(Some(&fleet));
    let lease = fleet.lease().await;
    let outcome = there.run(&world.request("print(7)", lease.slot(), Duration::from_secs(60))).await.unwrap();
    assert_eq!(outcome.stdout.head, "7\n", "{outcome:?}");
    drop(lease);
    fleet.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_runner_with_a_full_disk_gives_its_scripts_back() {
    let world = World::new().await;
    let small = format!(
        "exec unshare -rm sh -c 'mkdir -p {0} && mount -t tmpfs -o size=3m none {0} && exec \"$@\"' sh \"$@\"",
        world.cache().display()
    );
    let mut fleet = world.fleet(&world.through(&small, &["--cache-limit", "1"]), 1);
    let there = world.scripts(Some(&fleet));
    let lease = fleet.lease().await;
    let script = "open('big.bin', 'wb').write(bytes(20_000_000))";
    let outcome = there.run(&world.request(script, lease.slot(), Duration::from_secs(60))).await.unwrap();
    let said = outcome.loss().map_or_else(|| format!("{outcome:?}"), str::to_owned);
    assert!(said.contains("disk"), "{said}");
    drop(lease);
    fleet.end().await;
}
