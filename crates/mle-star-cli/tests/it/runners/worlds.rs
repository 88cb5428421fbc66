//! Runners behind ssh, on a Slurm cluster and on a Ray cluster, each in namespaces of its own (`tests/worlds/`).
//!
//! A test starts its world, and the world starts this test program again with a function `program_…`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use mle_star::backend::ScriptRunner;
use mle_star_needs::needs;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use super::world::{TestFleet, World, pids_with, processes_with};

/// The code with which a world says that something is not installed.
const NOT_INSTALLED: i32 = 77;

#[test]
fn runners_work_behind_ssh() {
    needs!(Root);
    enter("ssh.sh", "program_behind_ssh");
}

#[test]
fn runners_work_on_slurm() {
    needs!(Root);
    enter("slurm.sh", "program_on_slurm");
}

#[test]
fn runners_work_on_ray() {
    needs!(Root, Named("MLE_STAR_TEST_RAY"));
    enter("ray.sh", "program_on_ray");
}

#[tokio::test(flavor = "multi_thread")]
async fn forty_scripts_elsewhere_end_with_the_program() {
    let world = World::new().await;
    all_end_with_the_program(&world, json!({"name": "near", "command": world.command(&[])}), 8).await;
}

/// Starts a world and a function of this file in it.
fn enter(world: &str, function: &str) {
    let mut command = Command::new(folder().join(world));
    command.arg(std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", "--nocapture", &format!("runners::worlds::{function}")]);
    // What a test runner sets is not for the world.
    command.env_remove("NEXTEST").env_remove("NEXTEST_EXECUTION_MODE");
    let output = command.output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    if output.status.code() == Some(NOT_INSTALLED) {
        return mle_star_needs::skip(said.lines().last().unwrap_or("needs a world"));
    }
    assert!(output.status.success(), "{}: {said}", output.status);
    assert!(said.contains("1 passed"), "{said}");
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/worlds")
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap()
}

/// The process whose number a world keeps in a file.
fn daemon(name: &str) -> i32 {
    let file = Path::new(&variable("MLE_STAR_WORLD_PIDS")).join(format!("{name}.pid"));
    fs::read_to_string(file).unwrap().trim().parse().unwrap()
}

fn signal(pid: i32, signal: Signal) {
    kill(Pid::from_raw(pid), signal).unwrap();
}

/// The processes that have this one as their parent.
fn children(parent: i32) -> Vec<i32> {
    let parent_of = |pid: i32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse::<i32>().ok()
    };
    pids_with("").into_iter().filter(|pid| parent_of(*pid) == Some(parent)).collect()
}

/// Waits until no process has this in its command line.
async fn vanishes(words: &str, limit: Duration) {
    let began = Instant::now();
    while processes_with(words) > 0 {
        assert!(began.elapsed() < limit, "{words} goes on: {:?}", pids_with(words));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Waits until Slurm's queue has no job of this name.
async fn is_not_queued(name: &str) {
    queue_has(name, false).await;
}

/// Waits until Slurm's queue has a job of this name.
async fn is_queued(name: &str) {
    queue_has(name, true).await;
}

async fn queue_has(name: &str, expected: bool) {
    let began = Instant::now();
    loop {
        let queue = Command::new("squeue").args(["--noheader", "--name", name]).output().unwrap();
        assert!(queue.status.success(), "{queue:?}");
        if queue.stdout.is_empty() != expected {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{}", String::from_utf8_lossy(&queue.stdout));
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Runs a script in the next free slot. Returns what it printed and where it ran.
async fn run(world: &World, fleet: &TestFleet, place: &str, script: &str) -> Result<String, String> {
    let there = world.scripts_in(&place.replace('/', "-"), Some(fleet));
    let lease = fleet.lease().await;
    let request = world.request_at(place, script, lease.slot(), Duration::from_secs(200));
    let outcome = there.run(&request).await.unwrap();
    match outcome.loss() {
        Some(loss) => Err(loss.to_owned()),
        None => {
            assert!(!outcome.is_error(), "{outcome:?}");
            Ok(outcome.stdout.head.trim().to_owned())
        }
    }
}

/// Runs a script that sleeps, and meanwhile does something that loses its runner. Returns why it was lost.
async fn lose(world: &World, fleet: &TestFleet, act: impl AsyncFn()) -> String {
    let words = format!("sleep {}", world.number());
    let script = format!("import subprocess; subprocess.run({:?}.split())", words);
    let acting = async {
        while processes_with(&words) == 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        act().await;
        Instant::now()
    };
    let (lost, acted) = tokio::join!(run(world, fleet, "phase1/merge-1/run", &script), acting);
    assert!(acted.elapsed() < Duration::from_secs(60), "{:?}", acted.elapsed());
    vanishes(&words, Duration::from_secs(12)).await;
    lost.unwrap_err()
}

/// Forty scripts on `count` runners of this entry, whose program is killed: ten seconds later, nothing of them is left.
async fn all_end_with_the_program(world: &World, mut entry: Value, count: u32) {
    entry["count"] = json!(count);
    entry["slots"] = json!(40 / count);
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--ignored", "--exact", "--nocapture", "runners::worlds::program_with_forty_scripts"]);
    child.env("MLE_STAR_TEST_ENTRY", entry.to_string());
    child.env("MLE_STAR_TEST_SLEEP", world.number().to_string());
    child.stdout(std::process::Stdio::null());
    let mut child = child.spawn().unwrap();
    let words = format!("sleep {}", world.number());
    let began = Instant::now();
    while processes_with(&words) < 40 {
        assert!(began.elapsed() < Duration::from_secs(60), "{} scripts", processes_with(&words));
        assert!(child.try_wait().unwrap().is_none(), "the program ended");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    child.kill().unwrap();
    child.wait().unwrap();
    vanishes(&words, Duration::from_secs(10)).await;
    let began = Instant::now();
    while !world.runners().is_empty() {
        assert!(began.elapsed() < Duration::from_secs(60), "a runner goes on: {:?}", world.runners());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "another test starts it"]
async fn program_with_forty_scripts() {
    let world = World::new().await;
    let entry: Value = serde_json::from_str(&variable("MLE_STAR_TEST_ENTRY")).unwrap();
    let fleet = world.fleet_of(json!([entry]));
    let script =
        format!("import subprocess; subprocess.run(['sleep', {:?}])", variable("MLE_STAR_TEST_SLEEP"));
    let places: Vec<String> = (0..40).map(|number| format!("phase1/candidate-{number}/run")).collect();
    let runs = places.iter().map(|place| run(&world, &fleet, place, &script));
    futures_util::future::join_all(runs).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a world starts it"]
async fn program_behind_ssh() {
    let world = World::new().await;
    let ssh = variable("MLE_STAR_WORLD_SSH");
    let cache = format!("MLE_STAR_CACHE={}", world.cache().display());
    let runner = [&cache, env!("CARGO_BIN_EXE_mle-star"), "runner", "--copy-data"].join(" ");
    let mut command: Vec<String> = ssh.split(' ').map(str::to_owned).collect();
    let node = command.pop().unwrap();
    let options = "-T -o BatchMode=yes -o ServerAliveInterval=5 -o ServerAliveCountMax=3".split(' ');
    command.extend(options.map(str::to_owned).chain([node, format!("exec env {runner}")]));
    let entry = json!({"name": "box", "command": command});

    // What a login shell prints is skipped.
    fs::write(PathBuf::from(variable("MLE_STAR_WORLD_HOME")).join(".bashrc"), "echo Welcome to the box\n")
        .unwrap();
    let mut fleet = world.fleet_of(json!([entry]));
    let said = run(&world, &fleet, "phase1/candidate-0/run", "import os; print(os.listdir('input'))").await;
    assert!(said.unwrap().contains("train.csv"));
    // The far end of the connection dies.
    let lost = lose(&world, &fleet, async || {
        let connections = children(daemon("sshd"));
        connections.into_iter().for_each(|connection| signal(connection, Signal::SIGKILL));
    })
    .await;
    assert!(lost.contains("its command ended with exit code 255"), "{lost}");
    // The network is cut: neither side is told.
    let lost = lose(&world, &fleet, async || {
        let connections = children(daemon("sshd"));
        connections.into_iter().for_each(|connection| signal(connection, Signal::SIGSTOP));
    })
    .await;
    assert!(lost.contains("nothing was heard from it for 8 s"), "{lost}");
    for stopped in children(daemon("sshd")) {
        signal(stopped, Signal::SIGKILL);
    }
    assert_eq!(run(&world, &fleet, "phase1/candidate-1/run", "print(1)").await.unwrap(), "1");
    fleet.end().await;
    vanishes(&runner, Duration::from_secs(10)).await;
    all_end_with_the_program(&world, entry.clone(), 4).await;
    // Nobody listens.
    signal(daemon("sshd"), Signal::SIGKILL);
    let mut fleet = world.fleet_with(json!([entry]), 0);
    tokio::select! {
        _ = fleet.lease() => panic!("there is a runner"),
        failed = fleet.comes_to("Failed") => assert!(failed.contains("Connection refused"), "{failed}"),
    }
    fleet.end().await;
}

/// Runners that `srun` starts with these options.
fn slurm_entry(world: &World, name: &str, options: &str) -> Value {
    let srun = format!(
        "srun --unbuffered --quiet -n1 -J {name} {options} env MLE_STAR_CACHE={}",
        world.cache().display()
    );
    let words = srun.split_whitespace().map(str::to_owned);
    let runner = [env!("CARGO_BIN_EXE_mle-star"), "runner"].map(str::to_owned);
    json!({"name": name, "command": words.chain(runner).collect::<Vec<_>>()})
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a world starts it"]
async fn program_on_slurm() {
    let world = World::new().await;
    let entry = |name: &str, options: &str| slurm_entry(&world, name, options);
    let node = "import os; print(os.environ['SLURMD_NODENAME'], os.environ.get('CUDA_VISIBLE_DEVICES'))";
    // Two runners fill the two nodes.
    let mut nodes = entry("node", "-c2");
    nodes["count"] = json!(2);
    let mut fleet = world.fleet_of(json!([nodes]));
    let slow = format!("{node}\nimport time; time.sleep(2)");
    let (one, two) = tokio::join!(
        run(&world, &fleet, "phase1/candidate-0/run", &slow),
        run(&world, &fleet, "phase1/candidate-1/run", &slow)
    );
    let mut both = [one.unwrap(), two.unwrap()];
    both.sort();
    assert_eq!(both, ["n1 None", "n2 None"]);
    fleet.end().await;
    vanishes("srun", Duration::from_secs(10)).await;

    // A GPU is that of the node.
    let mut fleet = world.fleet_of(json!([entry("gpu", "--gres=gpu:1")]));
    assert_eq!(run(&world, &fleet, "phase1/candidate-0/run", node).await.unwrap(), "n2 0");
    // The engine wants the place back.
    let lost = lose(&world, &fleet, async || {
        assert!(Command::new("scancel").args(["--name=gpu"]).status().unwrap().success());
    })
    .await;
    assert!(lost.contains("gpu-1 was lost") && lost.contains("CANCELLED"), "{lost}");
    // The node goes down, with everything that Slurm runs there.
    let lost = lose(&world, &fleet, async || {
        signal(daemon("n2"), Signal::SIGKILL);
        for stepd in pids_with("slurmstepd") {
            let _ = kill(Pid::from_raw(stepd), Signal::SIGKILL);
        }
    })
    .await;
    assert!(lost.contains("gpu-1 was lost"), "{lost}");
    fleet.end().await;

    // A job that waits leaves the queue when the program ends.
    let mut fleet = world.fleet_of(json!([entry("queued", "-c64")]));
    tokio::select! {
        _ = fleet.lease() => panic!("there is a runner"),
        () = is_queued("queued") => {}
    }
    fleet.end().await;
    is_not_queued("queued").await;
    // The engine ends a job at its time limit, of one minute.
    let mut fleet = world.fleet_of(json!([entry("short", "-w n1 --time=1")]));
    let lost = run(&world, &fleet, "phase1/merge-2/run", "import time; time.sleep(190)").await.unwrap_err();
    assert!(lost.contains("short-1 was lost") && lost.contains("TIME LIMIT"), "{lost}");
    fleet.end().await;
    // The engine refuses.
    let mut fleet = world.fleet_of(json!([entry("none", "-p nowhere")]));
    tokio::select! {
        _ = fleet.lease() => panic!("there is a runner"),
        failed = fleet.comes_to("Failed") => assert!(failed.contains("nvalid partition"), "{failed}"),
    }
    fleet.end().await;
    all_end_with_the_program(&world, entry("near", "-w n1 -c1"), 2).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a world starts it"]
async fn program_on_ray() {
    let world = World::new().await;
    let entry = |name: &str| {
        json!({
            "name": name,
            "ray": variable("MLE_STAR_WORLD_RAY_ADDRESS"),
            "ray_python": variable("MLE_STAR_TEST_RAY"),
            "command": world.command(&[]),
            "cpus": 2,
        })
    };
    let mut two = entry("ray");
    two["count"] = json!(2);
    two["idle_timeout"] = json!(5);
    let mut fleet = world.fleet_of(json!([two]));
    let script = "import os, time; print(os.environ['RAY_RAYLET_PID']); time.sleep(4)";
    let (one, two) = tokio::join!(
        run(&world, &fleet, "phase1/candidate-0/run", script),
        run(&world, &fleet, "phase1/candidate-1/run", script)
    );
    assert_ne!(one.unwrap(), two.unwrap(), "both run on the same node");
    while fleet.states().values().any(|state| state != "GivenBack") {
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    vanishes("ray_runner", Duration::from_secs(15)).await;
    fleet.end().await;

    // A GPU, as Ray counts them.
    let mut gpu = entry("gpu");
    gpu["gpus"] = json!(1);
    let mut fleet = world.fleet_of(json!([gpu]));
    let said =
        run(&world, &fleet, "phase1/candidate-0/run", "import os; print(os.environ['CUDA_VISIBLE_DEVICES'])");
    assert_eq!(said.await.unwrap(), "0");
    // Its node goes down.
    let lost = lose(&world, &fleet, async || signal(daemon("second"), Signal::SIGKILL)).await;
    assert!(lost.contains("gpu-1 was lost"), "{lost}");
    fleet.end().await;
    let mut small = entry("near");
    small["cpus"] = json!(1);
    all_end_with_the_program(&world, small, 2).await;
}
