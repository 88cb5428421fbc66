//! Runners as processes of this machine: the real binary at the other end of two pipes.

mod broken;
mod data;
mod held_out;
mod liar;
mod shown;
mod whole_runs;
mod world;
mod worlds;

use std::time::{Duration, Instant};

use mle_star::backend::ScriptRunner;
use mle_star_domain::effects::{DataView, Purpose, ScriptEnd, ScriptOutcome};
use mle_star_domain::slot::Slot;

use world::{World, processes_with};

/// What scripts do, and what their outcome must show whether they run here or elsewhere.
const SCRIPTS: [&str; 14] = [
    "print('hello')",
    "print('Final Validation Performance: 0.75')",
    "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)",
    "raise ValueError('wrong')",
    "import os; os.kill(os.getpid(), 11)",
    "print('x' * 200_000); print('Final Validation Performance: 0.5')",
    "import sys; sys.stdout.buffer.write(bytes(range(256)) * 100)",
    "for i in range(3000): print(i, flush=True)",
    "open('final/submission.csv', 'w').write('id,y\\n1,0.5\\n2,0.5\\n')",
    "open('final/submission.csv', 'w').write('id,y\\n1,0.5\\n')",
    "open('final/submission.csv', 'w').write('x' * 2_000_000)",
    "open('final/submission.csv', 'w').close()",
    "import os; os.symlink('/etc/passwd', 'final/submission.csv')",
    "print(open('input/train.csv').read(), sorted(__import__('os').listdir('input')))",
];

#[tokio::test(flavor = "multi_thread")]
async fn a_script_on_a_runner_has_the_outcome_that_it_has_here() {
    let world = World::new().await;
    let mut fleet = world.fleet(&world.command(&[]), 1);
    let there = world.scripts(Some(&fleet));
    let here = world.scripts(None);
    for script in SCRIPTS {
        let request = |slot| world.request(script, slot, Duration::from_secs(60));
        let lease = fleet.lease().await;
        assert_eq!(lease.runner(), Some("near-1"));
        let far = there.run(&request(lease.slot())).await.unwrap();
        drop(lease);
        let logs = world.logs();
        let near = here.run(&request(Slot::here(0))).await.unwrap();
        assert_eq!(comparable(&far), comparable(&near), "{script}");
        assert_eq!(logs, world.logs(), "{script}");
        assert!(far.loss().is_none());
    }
    fleet.end().await;
}

/// Without what differs between two runs of a script.
fn comparable(outcome: &ScriptOutcome) -> ScriptOutcome {
    let mut outcome = ScriptOutcome { duration_seconds: 0.0, peak_memory_mib: None, ..outcome.clone() };
    // The folder's name differs.
    outcome.notes.iter_mut().for_each(|note| note.truncate(30));
    outcome.traceback = outcome.traceback.map(|text| text.lines().last().unwrap_or_default().to_owned());
    outcome.stderr.head = String::new();
    outcome.stderr.bytes = 0;
    outcome
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_hold_on_a_runner() {
    let world = World::new().await;
    let mut fleet = world.fleet(&world.command(&[]), 1);
    let there = world.scripts(Some(&fleet));
    let lease = fleet.lease().await;
    let request = world.request("import time; time.sleep(60)", lease.slot(), Duration::from_secs(1));
    let outcome = there.run(&request).await.unwrap();
    assert_eq!(outcome.end, ScriptEnd::TimedOut, "{outcome:?}");
    assert!(outcome.notes[0].contains("its time limit"), "{outcome:?}");
    drop(lease);
    fleet.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_script_ends_on_its_runner_and_the_slot_is_free_again() {
    let world = World::new().await;
    let mut fleet = world.fleet(&world.command(&[]), 1);
    let there = world.scripts(Some(&fleet));
    let lease = fleet.lease().await;
    let script = format!("import subprocess\nsubprocess.run(['sleep', '{}'])", world.number());
    let request = world.request(&script, lease.slot(), Duration::from_secs(100));
    let running = there.run(&request);
    assert!(tokio::time::timeout(Duration::from_secs(2), running).await.is_err());
    let began = Instant::now();
    while processes_with(&format!("sleep {}", world.number())) > 0 {
        assert!(began.elapsed() < Duration::from_secs(60), "it goes on");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    drop(lease);
    let lease = fleet.lease().await;
    assert_eq!(lease.runner(), Some("near-1"));
    let outcome = there.run(&world.request("print(1)", lease.slot(), Duration::from_secs(60))).await.unwrap();
    assert_eq!(outcome.stdout.head, "1\n");
    drop(lease);
    fleet.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn runners_start_when_scripts_wait_and_are_given_back_when_idle() {
    let world = World::new().await;
    let mut fleet = world.fleet_of(serde_json::json!([
        {"name": "near", "command": world.command(&[]), "count": 3, "idle_timeout": 1, "slots": 2}
    ]));
    tokio::time::sleep(Duration::from_millis(700)).await;
    assert!(fleet.states().is_empty(), "a runner started that nobody needs: {:?}", fleet.states());
    let leases = [fleet.lease().await, fleet.lease().await, fleet.lease().await];
    let runners: Vec<&str> = leases.iter().map(|lease| lease.runner().unwrap()).collect();
    assert_eq!(runners, ["near-1", "near-1", "near-2"]);
    drop(leases);
    let began = Instant::now();
    while fleet.states().values().any(|state| state != "GivenBack") {
        assert!(began.elapsed() < Duration::from_secs(60), "{:?}", fleet.states());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(fleet.states().len(), 2);
    assert_eq!(fleet.lease().await.runner(), Some("near-1"), "it starts again");
    fleet.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn scores_of_scripts_elsewhere_are_computed_here() {
    let world = World::new().await;
    let mut fleet = world.fleet(&world.command(&["--copy-data"]), 1);
    let there = world.scripts_that_score(Some(&fleet));
    let lease = fleet.lease().await;
    let script = "open('final/validation_predictions.csv', 'w').write('id,y\\n1,0.25\\n2,0.75\\n')\n\
                  print('Final Validation Performance: 0.25')";
    let request = world.request(script, lease.slot(), Duration::from_secs(60));
    assert_eq!((request.purpose, request.data), (Purpose::Score, DataView::Search));
    let outcome = there.run(&request).await.unwrap();
    let measured = outcome.measured.expect("no score was computed");
    assert!((measured.score - 0.25).abs() < 1e-9, "{measured:?}");
    assert_eq!(world.validation(), "id,y\n1,0.25\n2,0.75\n");
    drop(lease);
    fleet.end().await;
}
