//! A runner that does not keep to the protocol is ended, and its script runs elsewhere.

use std::time::Duration;

use mle_star::backend::ScriptRunner;
use mle_star_domain::effects::ScriptEnd;

use super::world::World;

/// A runner in Python. `answer(order, script)` is what it does with a script.
const LIAR: &str = r#"
import hashlib, json, os, struct, sys
out = os.fdopen(os.dup(1), "wb", buffering=0)
source = sys.stdin.buffer
def send(message, payload=b""):
    text = json.dumps(message).encode()
    out.write(struct.pack("<II", len(text), len(payload)) + text + payload)
def receive():
    head = source.read(8)
    if len(head) < 8:
        sys.exit(0)
    length, more = struct.unpack("<II", head)
    return json.loads(source.read(length)), source.read(more)
def hello(**changes):
    machine = {"cores": 1, "memory_mib": 1000, "gpus": []}
    known = {"type": "hello", "protocol": 1, "version": sys.argv[1], "host": "liar", "machine": machine, "isolation": "",
             "closes_reads": True, "python": None, "platform": "x"}
    out.write(b"\0mle-star runner\n")
    send({**known, **changes})
def outcome(job, files=(), **changes):
    captured = {"head": "", "tail": "", "bytes": 0}
    known = {"end": {"kind": "exited", "code": 0}, "duration_seconds": 0.1, "stdout": captured, "stderr": captured,
             "score": None, "traceback": None, "submission": None}
    executed = {"outcome": {**known, **changes}, "printed": None, "lacked_room": False}
    send({"type": "ended", "job": job, "executed": executed, "files": list(files), "changed_data": False,
          "disk_left": None})
def serve(answer):
    while True:
        message, payload = receive()
        kind = message["type"]
        if kind == "open":
            send({"type": "opened", "run": message["run"], "environment": message["environment"]})
        elif kind == "data":
            send({"type": "ready", "data": message["data"]})
        elif kind == "script":
            answer(message["job"])
        elif kind == "ping":
            send({"type": "pong", "number": message["number"]})
        elif kind == "bye":
            sys.exit(0)
"#;

fn liar(rest: &str) -> Vec<String> {
    let version = env!("CARGO_PKG_VERSION").to_owned();
    vec!["python3".to_owned(), "-c".to_owned(), format!("{LIAR}\n{rest}"), version]
}

#[tokio::test(flavor = "multi_thread")]
async fn other_versions_are_refused_by_name() {
    let world = World::new().await;
    for (changed, expected) in [
        ("hello(protocol=2, version='1.2.3')", "it is mle-star 1.2.3 with protocol 2"),
        ("hello(protocol=2, version='1.2.3', machine='new')", "it is mle-star 1.2.3 with protocol 2"),
        ("hello(version='0.0.9')", "it is mle-star 0.0.9 with protocol 1"),
    ] {
        let mut fleet = world.fleet(&liar(changed), 1);
        tokio::select! {
            _ = fleet.lease() => panic!("it is accepted"),
            failed = fleet.comes_to("Failed") => {
                assert!(failed.contains(expected), "{failed}");
            }
        }
        fleet.end().await;
    }
}

/// What a runner does with a script, and what is said of it.
const LIES: [(&str, &str); 9] = [
    ("out.write(b'nonsense' * 100)", "cannot be understood"),
    ("out.write(struct.pack('<II', 2**31, 0))", "too long"),
    ("sys.exit(0)", "its command ended with exit code 0"),
    ("send({'type': 'need', 'data': 'x', 'files': [['/etc/passwd', 0]]})", "wants data that is not for it"),
    ("send({'type': 'file', 'job': job, 'name': '../../x'}, b'x')", "it sent the file \"../../x\""),
    ("outcome(job, traceback='x' * 300_000)", "a text of 300000 bytes"),
    ("outcome(job, duration_seconds=1e9)", "it ran for 1000000000 s"),
    ("outcome(job, end={'kind': 'lost', 'reason': 'me'})", "lost: me"),
    (
        "outcome(job, [['submission.csv', {'file': {'bytes': 3, 'digest': '0' * 64}}]])",
        "submission.csv did not arrive",
    ),
];

#[tokio::test(flavor = "multi_thread")]
async fn nonsense_ends_a_runner_and_not_the_program() {
    let world = World::new().await;
    for (lie, expected) in LIES {
        let mut fleet = world.fleet(&liar(&format!("hello()\nserve(lambda job: {lie})")), 1);
        let there = world.scripts(Some(&fleet));
        let lease = fleet.lease().await;
        let outcome =
            there.run(&world.request("print(1)", lease.slot(), Duration::from_secs(60))).await.unwrap();
        let loss = outcome.loss().unwrap_or_else(|| panic!("{lie}: {outcome:?}"));
        assert!(loss.contains(expected), "{lie}: {loss}");
        drop(lease);
        let lost = fleet.comes_to("Lost").await;
        assert!(lost.contains(expected), "{lie}: {lost}");
        fleet.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn claims_about_scores_and_submissions_do_not_count() {
    let world = World::new().await;
    let lie = "outcome(job, measured={'score': 1.0, 'standard_error': 0.0, 'interval': [1, 1], 'rows': 9, \
               'rows_digest': 'x', 'replicates': []}, submission={'bytes': 1, 'rows': 1, 'findings': []}, runner='me')";
    let mut fleet = world.fleet(&liar(&format!("hello()\nserve(lambda job: {lie})")), 1);
    let there = world.scripts_that_score(Some(&fleet));
    let lease = fleet.lease().await;
    let outcome = there.run(&world.request("print(1)", lease.slot(), Duration::from_secs(60))).await.unwrap();
    // What it said was understood.
    assert_eq!((outcome.loss(), &outcome.end), (None, &ScriptEnd::Exited { code: 0 }));
    assert_eq!((&outcome.measured, &outcome.submission, &outcome.runner), (&None, &None, &None));
    drop(lease);
    fleet.end().await;
}
