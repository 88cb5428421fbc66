//! Data on its way to runners.

use std::fs;
use std::path::Path;
use std::time::Duration;

use mle_star::backend::ScriptRunner;
use mle_star_domain::effects::{DataView, ScriptRequest};
use serde_json::json;

use super::world::World;

/// Prints every file with its size and its first bytes.
const LIST: &str = "import os\n\
    for folder, _, files in sorted(os.walk('input', followlinks=True)):\n\
    \x20   for name in sorted(files):\n\
    \x20       data = open(os.path.join(folder, name), 'rb').read()\n\
    \x20       print(os.path.join(folder, name), len(data), data[:10])";

/// Bytes that do not compress.
fn noise(count: usize, seed: u64) -> Vec<u8> {
    let mut state = seed | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    (0..count.div_ceil(8)).flat_map(|_| next().to_le_bytes()).take(count).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn scripts_see_the_same_files_everywhere() {
    let world = World::new().await;
    // Pieces of files end before, at and behind their borders.
    for (name, bytes) in [("at", 1 << 20), ("behind", (1 << 20) + 1), ("twice", 2 << 20)] {
        fs::write(world.path(&format!("data/{name}.bin")), noise(bytes, 7)).unwrap();
    }
    let here = world.scripts(None);
    let request = |slot| world.request(LIST, slot, Duration::from_secs(60));
    let expected = here.run(&request(mle_star_domain::slot::Slot::here(0))).await.unwrap().stdout;
    assert!(expected.head.lines().count() == 6, "{}", expected.head);
    for options in [&["--copy-data"][..], &[]] {
        let mut fleet = world.fleet(&world.command(options), 1);
        let there = world.scripts(Some(&fleet));
        let lease = fleet.lease().await;
        let outcome = there.run(&request(lease.slot())).await.unwrap();
        assert_eq!(outcome.stdout, expected, "{options:?}");
        assert_eq!(outcome.notes, Vec::<String>::new());
        let other = ScriptRequest { data: DataView::ReplacedTestRows, ..request(lease.slot()) };
        // There is no test table to change.
        assert!(there.run(&other).await.is_err());
        drop(lease);
        fleet.end().await;
    }
}

/// The bytes that went to runners, by a copy of what they read.
fn sent(world: &World) -> u64 {
    let files = fs::read_dir(world.folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let is_copy = |path: &Path| path.extension().is_some_and(|extension| extension == "sent");
    files.filter(|path| is_copy(path)).map(|path| fs::metadata(path).unwrap().len()).sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn data_is_sent_once_to_four_runners_of_a_machine() {
    let world = World::new().await;
    fs::write(world.path("data/big.bin"), noise(8 << 20, 3)).unwrap();
    let copied = format!("tee {}/$$.sent | \"$@\"", world.folder.path().display());
    let mut fleet = world.fleet(&world.through(&copied, &["--copy-data"]), 4);
    let there = world.scripts(Some(&fleet));
    let places =
        ["phase1/candidate-0/run", "phase1/candidate-1/run", "phase1/candidate-2/run", "phase1/merge-1/run"];
    let run = async |place: &str| {
        let lease = fleet.lease().await;
        let script = "import time; print(len(open('input/big.bin', 'rb').read())); time.sleep(3)";
        let request = world.request_at(place, script, lease.slot(), Duration::from_secs(60));
        let outcome = there.run(&request).await.unwrap();
        assert_eq!(outcome.stdout.head, format!("{}\n", 8 << 20), "{outcome:?}");
        lease.runner().unwrap().to_owned()
    };
    let mut runners = futures_util::future::join_all(places.map(run)).await;
    runners.sort();
    assert_eq!(runners, ["near-1", "near-2", "near-3", "near-4"]);
    fleet.end().await;
    let sent = sent(&world);
    assert!((8 << 20..9 << 20).contains(&sent), "{sent} bytes were sent");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_whose_sending_was_cut_goes_on_where_it_stopped() {
    let world = World::new().await;
    fs::write(world.path("data/big.bin"), noise(12 << 20, 5)).unwrap();
    let once = format!(
        "if mkdir {0}/cut 2>/dev/null; then stdbuf -o0 head -c {1} | tee {0}/1.sent | \"$@\"; \
         else tee {0}/2.sent | \"$@\"; fi",
        world.folder.path().display(),
        5 << 20
    );
    let mut fleet = world.fleet(&world.through(&once, &["--copy-data"]), 1);
    let there = world.scripts(Some(&fleet));
    let script = "print(len(open('input/big.bin', 'rb').read()))";
    let run = async || {
        let lease = fleet.lease().await;
        let runners = world.runners();
        let request = world.request(script, lease.slot(), Duration::from_secs(60));
        (there.run(&request).await.unwrap(), runners)
    };
    let (outcome, lost) = run().await;
    assert!(outcome.loss().is_some());
    // What has arrived is in the cache when the runner has ended.
    while world.runners().iter().any(|runner| lost.contains(runner)) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(run().await.0.stdout.head, format!("{}\n", 12 << 20));
    fleet.end().await;
    let sent = sent(&world);
    assert!(sent < 14 << 20, "{sent} bytes were sent");
}

#[tokio::test(flavor = "multi_thread")]
async fn data_that_a_script_changes_is_sent_again() {
    let world = World::new().await;
    // Another data folder of the cache must not be readable at all.
    let mut fleet = world.fleet_of(json!([
        {"name": "near", "command": world.command(&["--copy-data"])}
    ]));
    let there = world.scripts(Some(&fleet));
    let lease = fleet.lease().await;
    let run = async |script: &str| {
        there.run(&world.request(script, lease.slot(), Duration::from_secs(60))).await.unwrap()
    };
    let outcome =
        run("import os\nos.chmod('input/train.csv', 0o644)\nopen('input/train.csv', 'a').write('x')").await;
    assert!(outcome.is_error(), "the data is writable: {outcome:?}");
    let cache = world.cache();
    let script = format!(
        "import os\nfound = [f for d, _, fs in os.walk({:?}) for f in fs]\nprint(len(found))",
        cache.join("data/files")
    );
    let outcome = run(&script).await;
    assert_eq!(outcome.stdout.head, "0\n", "a script reads the cache");
    // The next script sees the data as it was, even if the copy was damaged from outside.
    let mut files = fs::read_dir(cache.join("data/views")).unwrap().map(|entry| entry.unwrap().path());
    let view = files.find(|path| path.is_dir()).unwrap();
    fs::set_permissions(view.join("train.csv"), std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    let slow = run("import time; time.sleep(2)");
    let damage = async {
        tokio::time::sleep(Duration::from_millis(1000)).await;
        fs::write(view.join("train.csv"), "id,y\n").unwrap();
    };
    let (outcome, ()) = tokio::join!(slow, damage);
    assert!(outcome.notes.iter().any(|note| note.contains("which is replaced")), "{outcome:?}");
    let outcome = run("print(open('input/train.csv').read())").await;
    assert_eq!((outcome.stdout.head.as_str(), outcome.notes.len()), ("id,y\n1,0\n2,1\n\n", 0));
    drop(lease);
    fleet.end().await;
}
