//! Compares scripts forked by a worker with the same scripts started cold.

use std::env;
use std::fs;
use std::time::Duration;

use mle_star::backend::ScriptRunner;
use mle_star_backends::backend::ScriptBackend;
use mle_star_backends::script::environment::{EnvironmentChoice, python_environment};
use mle_star_domain::effects::{Purpose, ScriptEnd, ScriptOutcome, ScriptRequest};
use mle_star_domain::slot::Slot;
use mle_star_needs::needs;
use mle_star_process::machine::{Gpu, Machine};
use mle_star_process::sandbox::Layers;
use mle_star_process::warm::WarmStart;

use super::world::{IS_WARM, World, request, warm_start};

/// The same folder, once with a worker that imports `modules` and once without.
async fn runners(world: &mut World, modules: &[&str]) -> [ScriptBackend; 2] {
    let cold = world.runner();
    world.setup.warm_start = Some(warm_start(modules));
    [cold, world.warm_runner(modules).await]
}

async fn run(runner: &ScriptBackend, script: &str) -> ScriptOutcome {
    runner.run(&request(script, Duration::from_secs(120))).await.unwrap()
}

async fn is_warm(runner: &ScriptBackend) -> bool {
    let outcome = run(runner, &format!("print({IS_WARM})")).await;
    assert!(["True\n", "False\n"].contains(&outcome.stdout.text().as_str()), "{outcome:?}");
    outcome.stdout.text() == "True\n"
}

/// Runs each script both ways. The outcomes must be the same except for the time.
async fn compare(runners: &[ScriptBackend; 2], scripts: &str) {
    let scripts: Vec<&str> = scripts.split("\n#---\n").collect();
    let differences = differences(runners, &scripts).await;
    // On a busy machine a helper of joblib may still be ending when its script has ended.
    let again: Vec<&str> = differences.iter().map(|(script, _)| *script).collect();
    let differences = self::differences(runners, &again).await;
    let shown: Vec<String> =
        differences.iter().map(|(script, outcomes)| format!("{script}\n{outcomes}")).collect();
    assert!(shown.is_empty(), "{} differ:\n\n{}", shown.len(), shown.join("\n======\n"));
}

/// The scripts whose outcomes differ, with both outcomes.
async fn differences<'a>([cold, warm]: &[ScriptBackend; 2], scripts: &[&'a str]) -> Vec<(&'a str, String)> {
    // One runner after the other: they use the same folder.
    let mut outcomes = [Vec::new(), Vec::new()];
    for (runner, outcomes) in [cold, warm].into_iter().zip(&mut outcomes) {
        for script in scripts {
            outcomes.push(ScriptOutcome {
                duration_seconds: 0.0,
                peak_memory_mib: None,
                ..run(runner, script).await
            });
        }
    }
    let [cold, warm] = outcomes;
    let pairs = scripts.iter().zip(cold.iter().zip(&warm)).filter(|(_, (cold, warm))| cold != warm);
    let shown = |(cold, warm)| format!("--- cold\n{}\n--- warm\n{}\n", show(cold), show(warm));
    pairs.map(|(script, outcomes)| (*script, shown(outcomes))).collect()
}

fn show(outcome: &ScriptOutcome) -> String {
    format!("{}{}\n{:?} {:?}", outcome.stdout.text(), outcome.stderr.text(), outcome.end, outcome.notes)
}

#[tokio::test]
async fn a_script_sees_what_it_sees_when_started_cold() {
    let mut world = World::new().await;
    let used_by_libraries = ["multiprocessing", "concurrent.futures", "tempfile", "logging", "asyncio"];
    let runners = runners(&mut world, &used_by_libraries).await;
    assert!(!is_warm(&runners[0]).await && is_warm(&runners[1]).await);
    compare(&runners, include_str!("alike.py")).await;
    runners[1].warmed_up(0).await;
    assert!(is_warm(&runners[1]).await, "the worker was lost on the way");
}

#[tokio::test]
async fn libraries_compute_what_they_compute_when_started_cold() {
    needs!(Libraries);
    compare_with(
        mle_star_needs::python_with_libraries(),
        &[],
        include_str!("alike_libraries.py"),
        "numpy.random.rand()",
    )
    .await;
}

#[tokio::test]
async fn with_torch_they_compute_so_too() {
    needs!(Named("MLE_STAR_TEST_TORCH"));
    let scripts = include_str!("alike_torch.py");
    compare_with(
        env::var_os("MLE_STAR_TEST_TORCH").unwrap().into(),
        &["torch", "torch._dynamo"],
        scripts,
        "torch.rand(1)",
    )
    .await;
}

/// Compares with an interpreter and a worker that imports the default libraries and `more`.
/// What is `random` differs between scripts.
async fn compare_with(python: std::path::PathBuf, more: &[&str], scripts: &str, random: &str) {
    let mut world = World::new().await;
    let given = EnvironmentChoice::Given(python);
    world.setup.environment = python_environment(given, &|_| ()).await.unwrap();
    world.setup.machine.memory_mib = 8000;
    let default = WarmStart::default();
    let modules: Vec<&str> = default.modules.iter().map(String::as_str).chain(more.iter().copied()).collect();
    let runners = runners(&mut world, &modules).await;
    compare(&runners, scripts).await;
    let library = random.split('.').next().unwrap();
    assert_draws_differ(&runners[1], &format!("import {library}; print({random})")).await;
    runners[1].warmed_up(0).await;
    assert!(is_warm(&runners[1]).await, "the worker was lost on the way");
}

#[tokio::test]
async fn which_scripts_are_started_warm() {
    let mut world = World::new().await;
    let [_, runner] = runners(&mut world, &["no_such_module"]).await;
    let check = async |script: &str, purpose: Purpose, expected: &str| {
        let mut request = request(&format!("{script}\nprint({IS_WARM})"), Duration::from_secs(60));
        request.purpose = purpose;
        let outcome = runner.run(&request).await.unwrap();
        assert_eq!((outcome.stdout.text().as_str(), outcome.notes.len()), (expected, 0), "{outcome:?}");
    };
    check("", Purpose::Score, "True\n").await;
    check("", Purpose::Ablation, "True\n").await;
    check("", Purpose::Submission, "False\n").await;
    check("import os; os.environ['OMP_NUM_THREADS'] = '1'", Purpose::Score, "False\n").await;
    check("", Purpose::Score, "True\n").await;
}

#[tokio::test]
async fn random_numbers_differ_between_scripts() {
    let mut world = World::new().await;
    let [_, runner] = runners(&mut world, &["random", "uuid", "multiprocessing"]).await;
    for script in [
        "import random; print(random.random())",
        "import multiprocessing as m; print(bytes(m.current_process().authkey))",
    ] {
        assert_draws_differ(&runner, script).await;
    }
}

async fn assert_draws_differ(runner: &ScriptBackend, script: &str) {
    let (first, second) = (run(runner, script).await, run(runner, script).await);
    assert_eq!((first.end, second.end.clone()), (second.end, ScriptEnd::Exited { code: 0 }), "{script}");
    assert_ne!(first.stdout.text(), second.stdout.text(), "{script}");
}

/// A module that makes every later script of the worker hang, as a thread pool that ran before would.
const POISON: &str = "import threading, _thread\nlock = _thread.allocate_lock()\nlock.acquire()\n";

/// Makes `modules`, files with these names and texts, importable for the world's interpreter. Isolation is off,
/// because the interpreter is a launcher in another folder than its libraries.
fn with_modules(world: &mut World, modules: &[(&str, &str)]) {
    let folder = world.folder.path().join("modules");
    fs::create_dir(&folder).unwrap();
    for (name, text) in modules {
        fs::write(folder.join(name), text).unwrap();
    }
    let python = folder.join("python");
    let real = world.setup.environment.python.display();
    let launcher = format!("#!/bin/sh\nPYTHONPATH=\"$PYTHONPATH:{}\" exec {real} \"$@\"\n", folder.display());
    fs::write(&python, launcher).unwrap();
    fs::set_permissions(&python, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    world.setup.environment.python = python;
    world.setup.isolation.layers = Layers::none();
}

#[tokio::test]
async fn what_goes_wrong_warm_is_run_cold_once() {
    let check = async |module: &str, script: &str, stdout: &str, note: &str| {
        let mut world = World::new().await;
        let of_the_user = "import sys\nsys.modules_of_the_user = True\n";
        with_modules(&mut world, &[("poison.py", module), ("sitecustomize.py", of_the_user)]);
        world.setup.warm_start = Some(WarmStart { stall: Duration::from_secs(2), ..warm_start(&["poison"]) });
        let runner = world.runner();
        for (round, rest) in ["", ", and all later ones will be"].into_iter().enumerate() {
            runner.warmed_up(0).await;
            let outcome = run(&runner, script).await;
            assert_eq!(outcome.end, ScriptEnd::Exited { code: 0 }, "{script}: {outcome:?}");
            assert_eq!(outcome.stdout.text(), stdout, "{script}: {outcome:?}");
            let expected = format!("warm start failed ({note}): the script was started cold{rest}");
            assert_eq!(outcome.notes, [expected], "{script}, round {round}");
        }
        runner.warmed_up(0).await;
        let outcome = run(&runner, script).await;
        assert_eq!(
            (outcome.stdout.text().as_str(), outcome.notes.len()),
            (stdout, 0),
            "{script}: {outcome:?}"
        );
    };
    // Only the worker's process holds the lock.
    let hangs = "import poison, sys, os\nlock = poison.lock if 'worker-' in open('/proc/self/environ').read() else None\n\
                 print('before', sys.modules_of_the_user)\nif lock: lock.acquire()\nprint('after')\n";
    check(POISON, hangs, "before True\nafter\n", "the script made no progress").await;
    let kills = format!("import os\nif {IS_WARM}: os.kill(os.getppid(), 9)\nprint('alive')\n");
    check("", &kills, "alive\n", "the worker was killed").await;
    check("import os; os._exit(3)", "print(1)", "1\n", "the worker ended before it was ready").await;
    let thread =
        "import threading, time\nthreading.Thread(target=time.sleep, args=(600,), daemon=True).start()";
    check(thread, "print(1)", "1\n", "a library started a thread on import").await;
}

#[tokio::test]
async fn a_worker_is_replaced_when_scripts_import_more() {
    let mut world = World::new().await;
    with_modules(&mut world, &[("seaborn.py", "import os\npid = os.getpid()\n")]);
    let [_, runner] = runners(&mut world, &[]).await;
    let script = format!("import os, seaborn; print({IS_WARM}, seaborn.pid == os.getpid())");
    let before = run(&runner, &script).await;
    runner.warmed_up(0).await;
    let after = run(&runner, &script).await;
    let seen = [before.stdout.text(), after.stdout.text()];
    assert_eq!(
        seen,
        ["True True\n", "True False\n"],
        "the first finds a worker, but one that lacks the module"
    );
}

#[tokio::test]
async fn what_the_workers_of_a_killed_program_left_is_removed() {
    let world = World::new().await;
    let left = world.setup.run_folder.join("work/worker-x/__pycache__");
    fs::create_dir_all(&left).unwrap();
    drop(world.runner());
    assert!(!left.parent().unwrap().exists());
}

/// A worker whose imports never end, or a launcher that never becomes one.
#[tokio::test]
async fn no_script_waits_for_a_worker() {
    for (launcher, script) in [(None, "print(1)"), (Some("#!/bin/sh\ncat > /dev/null\n"), "import poison")] {
        let mut world = World::new().await;
        with_modules(&mut world, &[("poison.py", "import time; time.sleep(600)")]);
        // Reads its standard input, which ends for scripts and not for workers.
        launcher.into_iter().for_each(|text| fs::write(&world.setup.environment.python, text).unwrap());
        world.setup.warm_start = Some(warm_start(&["poison"]));
        let runner = world.runner();
        runner.warm_up();
        let outcome = runner.run(&request(script, Duration::from_secs(20))).await.unwrap();
        assert_eq!((outcome.end, outcome.notes.len()), (ScriptEnd::Exited { code: 0 }, 0), "{launcher:?}");
        assert!(outcome.duration_seconds < 10.0, "{launcher:?}");
    }
}

#[tokio::test]
async fn the_worker_sees_no_gpu_and_its_scripts_see_theirs() {
    let mut world = World::new().await;
    let gpu = |index| Gpu { index, name: String::new(), memory_mib: 0 };
    world.setup.machine = Machine { cores: 6, memory_mib: 0, gpus: (0..4).map(gpu).collect() };
    world.setup.slots = 2;
    let at_import =
        "import os\nseen = [os.environ.get(n) for n in ('CUDA_VISIBLE_DEVICES', 'OMP_NUM_THREADS')]\n";
    with_modules(&mut world, &[("torch.py", at_import)]);
    let [cold, warm] = runners(&mut world, &["torch"]).await;
    warm.warmed_up(1).await;
    // A script that mentions such a variable is started cold.
    let now = "import os; print([os.environ.get(n.replace('-', '_')) for n in ('CUDA-VISIBLE-DEVICES', 'OMP-NUM-THREADS', 'OMP-THREAD-LIMIT')])";
    for (slot, gpus) in [(0, "0,2"), (1, "1,3")] {
        let at = async |runner: &ScriptBackend, script: String| {
            let slot = Slot::here(slot);
            let request = ScriptRequest { slot, ..request(&script, Duration::from_secs(60)) };
            runner.run(&request).await.unwrap().stdout.text()
        };
        let script = format!("import torch; print({IS_WARM}, torch.seen)\n{now}");
        let given = format!("['{gpus}', '3', '3']");
        assert_eq!(at(&cold, script.clone()).await, format!("False ['{gpus}', '3']\n{given}\n"));
        assert_eq!(at(&warm, script).await, format!("True ['', '3']\n{given}\n"));
    }
}
