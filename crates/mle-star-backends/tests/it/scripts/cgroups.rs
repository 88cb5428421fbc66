//! The kernel's limits on all processes of a script together. They need a delegated control group: the tests run
//! in a virtual machine (`cargo xtask kernel`), which sets `MLE_STAR_TEST_CGROUP` to the group.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mle_star::backend::ScriptRunner;
use mle_star_backends::backend::ScriptBackend;
use mle_star_domain::effects::{OutOfMemory, ScriptEnd, ScriptOutcome};
use mle_star_process::sandbox::{Layer, Layers, Network};

use super::world::{IS_WARM, World, request};

/// System V memory that no process has attached; only the kernel counts it.
const UNSEEN: &str = "import ctypes\nc = ctypes.CDLL(None)\nc.shmat.restype = ctypes.c_void_p\nfor _ in range(60):\n    n = c.shmget(0, 10 << 20, 0o1600)\n    p = c.shmat(n, None, 0)\n    ctypes.memset(p, 1, 10 << 20)\n    c.shmdt(ctypes.c_void_p(p))";
const BOMB: &str = "x = []\nwhile True: x.append(b'x' * (10 << 20))";
const THREADS: &str = "import threading\nwake = threading.Event()\nfor _ in range(5000): threading.Thread(target=wake.wait, daemon=True).start()";

fn base() -> PathBuf {
    std::env::var_os("MLE_STAR_TEST_CGROUP").unwrap().into()
}

fn layer() -> Layer {
    Layers::probed().list(Network::Denied).into_iter().find(|layer| layer.name == "cgroup limits").unwrap()
}

/// The groups of scripts, and of programs.
fn groups() -> Vec<String> {
    let entries = fs::read_dir(base()).unwrap().map(Result::unwrap);
    let folders = entries.filter(|entry| entry.file_type().unwrap().is_dir());
    let mut names: Vec<String> = folders.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn assert_stopped(outcome: &ScriptOutcome, attack: &str, words: &str) {
    let says = outcome.notes.iter().any(|note| note.contains(words) && note.contains("the limit is 300 MiB"));
    let expected = (ScriptEnd::Signalled { signal: 9 }, Some(OutOfMemory::Limit), true);
    assert_eq!((outcome.end.clone(), outcome.out_of_memory, says), expected, "{attack}: {outcome:#?}");
}

async fn run(runner: &ScriptBackend, attack: &str) -> ScriptOutcome {
    let script = format!("import os, sys\nprint({IS_WARM}, flush=True)\n{attack}");
    runner.run(&request(&script, Duration::from_secs(120))).await.unwrap()
}

#[test]
#[ignore = "needs a delegated control group"]
fn what_is_given_is_used() {
    let found = layer();
    assert!(found.enforced, "{found:?}");
    // Left by a killed program; no process has its ID now.
    assert_eq!(groups(), ["mle-star.programs"]);
    let own = fs::read_to_string("/proc/self/cgroup").unwrap();
    assert!(own.trim().ends_with("/mle-star.programs"), "{own}");
}

#[tokio::test]
#[ignore = "needs a delegated control group"]
async fn a_script_has_a_group_with_limits() {
    let found = layer();
    assert!(found.enforced, "{found:?}");
    let before = groups();
    let mut world = World::new().await;
    world.setup.memory_limit_mib = Some(300);
    world.setup.machine.memory_mib = 4000;
    world.setup.isolation.processes_limit = 200;
    for (runner, is_warm) in [(world.runner(), false), (world.warm_runner(&[]).await, true)] {
        let group = run(&runner, "print(open('/proc/self/cgroup').read().split('0::')[1].strip())").await;
        let printed = group.stdout.text();
        let name = printed.lines().nth(1).unwrap().rsplit('/').next().unwrap();
        assert!(name.starts_with(&format!("mle-star-{}-", std::process::id())), "{group:#?}");
        assert!(printed.starts_with(if is_warm { "True" } else { "False" }), "{group:#?}");
        // If the watch notices it too, either may be faster.
        for (attack, words) in [(UNSEEN, "it requested more memory"), (BOMB, "memory")] {
            assert_stopped(&run(&runner, attack).await, attack, words);
        }
        let threads = run(&runner, THREADS).await;
        let traceback = threads.traceback.clone().unwrap_or_default();
        assert!(traceback.contains("can't start new thread"), "{threads:#?}");
        assert!(threads.notes.iter().any(|note| note.contains("more processes and threads")), "{threads:#?}");
        let escape = format!(
            "for name in ('cgroup.procs', 'mle-star.programs/cgroup.procs', 'memory.max'):\n    try: open({:?} + '/' + name, 'w').write('0')\n    except OSError as error: print('refused')",
            base()
        );
        let escape = run(&runner, &escape).await;
        assert_eq!(escape.stdout.text().matches("refused").count(), 3, "{escape:#?}");
        assert_eq!(groups(), before, "groups of scripts are left");
    }
}

#[test]
#[ignore = "needs a delegated control group"]
fn nobody_else_is_moved() {
    let found = layer();
    let own = fs::read_to_string("/proc/self/cgroup").unwrap();
    assert!(!found.enforced && found.detail.contains("other programs"), "{found:?}");
    assert!(Path::new(own.trim()).ends_with(base().file_name().unwrap()), "{own}");
    assert_eq!(groups(), Vec::<String>::new());
}

#[test]
#[ignore = "needs a control group that is not delegated"]
fn where_nothing_is_delegated_it_is_said() {
    let found = layer();
    assert!(!found.enforced && found.detail.contains("no cgroup is delegated"), "{found:?}");
}
