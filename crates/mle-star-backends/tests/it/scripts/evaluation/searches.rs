//! Scripts that search for labels of held-out rows.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

use mle_star::backend::ScriptRunner;
use mle_star_domain::effects::ScriptOutcome;
use mle_star_process::sandbox::Layers;

use super::held_out::{HeldOut, LABEL};
use crate::scripts::world::{IS_WARM, request};

/// Runs the search, cold and warm. `add` adds files to the original data, whose folder it gets with the one around it.
async fn searched(add: impl FnOnce(&Path, &Path), layers: Layers) -> Vec<ScriptOutcome> {
    let mut held = HeldOut::new(add).await;
    let finds_all = layers == Layers::none();
    held.world.setup.isolation.layers = layers;
    held.world.setup.machine.memory_mib = 4000;
    let run = held.world.folder.path().canonicalize().unwrap().join("run");
    // What other scripts, agents and runs have lying around.
    let label = (LABEL + *held.ids.first().unwrap() as u64).to_string();
    for name in
        ["work/phase1.other.run/input/train.csv", "journal.db", "holdout/predictions/a.csv", "logs/a.stdout"]
    {
        fs::create_dir_all(run.join(name).parent().unwrap()).unwrap();
        fs::write(run.join(name), &label).unwrap();
    }
    let script = format!(
        "print({IS_WARM})\nALONE = [{:?}, {run:?}, {:?}]\nEVERYWHERE = {}\n{}",
        held.original,
        run.join("work/phase1.other.run/input"),
        if finds_all { "False" } else { "True" },
        include_str!("search.py")
    );
    let mut outcomes = Vec::new();
    for runner in [held.world.runner(), held.world.warm_runner(&[]).await] {
        // Starting a runner empties the folder of scripts.
        let other = run.join("work/phase1.other.run/input");
        fs::create_dir_all(&other).unwrap();
        fs::write(other.join("train.csv"), &label).unwrap();
        outcomes.push(runner.run(&request(&script, Duration::from_secs(120))).await.unwrap());
    }
    outcomes
}

async fn finds_nothing(add: impl FnOnce(&Path, &Path)) {
    let outcomes = searched(add, Layers::probed().clone()).await;
    for (outcome, is_warm) in outcomes.iter().zip(["False", "True"]) {
        let expected = format!("{is_warm}\nown 2550 found []\n");
        assert_eq!((outcome.stdout.text(), outcome.is_error()), (expected, false), "{outcome:?}");
    }
}

#[tokio::test]
async fn held_out_labels_are_out_of_reach() {
    finds_nothing(|_, _| ()).await;
    // Links to the original folder: to a file, to a folder, and from there.
    finds_nothing(|data, root| {
        fs::write(data.join("stores.csv"), "town\na\n").unwrap();
        fs::create_dir(data.join("images")).unwrap();
        fs::write(data.join("images/a.png"), "png").unwrap();
        symlink("..", data.join("images/up")).unwrap();
        fs::create_dir(root.join("far")).unwrap();
        fs::write(root.join("far/b.png"), "png").unwrap();
        symlink("../data", root.join("far/back")).unwrap();
        symlink("../far", data.join("far")).unwrap();
    })
    .await;
    // Too large to be copied.
    finds_nothing(|data, _| fs::File::create(data.join("big.bin")).unwrap().set_len(40 << 20).unwrap()).await;
    // Many links must not make the whole original folder readable, nor a folder with other runs.
    finds_nothing(|data, _| {
        fs::create_dir_all(data.join("old/run/holdout")).unwrap();
        fs::write(data.join("old/run/journal.lock"), "").unwrap();
        let labels: String = (0..3_000).map(|n| format!("{}\n", LABEL + n)).collect();
        fs::write(data.join("old/run/holdout/labels.csv"), labels).unwrap();
        (0..490).for_each(|n| fs::write(data.join(format!("{n}.png")), "png").unwrap());
    })
    .await;
}

/// The search finds what can be found.
#[tokio::test]
async fn without_a_sandbox_the_search_succeeds() {
    for outcome in searched(|_, _| (), Layers::none()).await {
        let text = outcome.stdout.text();
        for name in ["data/train.csv', 450)", "holdout/labels.csv', 450)", "run/input/train.csv', 1)"] {
            assert!(text.contains(name), "{name}: {outcome:?}");
        }
    }
}
