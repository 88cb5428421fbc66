//! Runs in a scripted world, with a complete run folder.

use mle_star::journal::{Frozen, Journal};
use mle_star::pipeline::FinishedRun;
use mle_star::slots::Slots;
use mle_star::stop::Stop;
use mle_star::testing::World;
use mle_star_domain::effects::AgentReply;
use serde_json::json;

use crate::run_view::{RunView, read};

/// A run and its folder.
pub struct Made {
    pub folder: tempfile::TempDir,
    pub view: RunView,
}

/// A run that ended with a result.
pub async fn made(world: &World, frozen: &Frozen) -> Made {
    let folder = tempfile::tempdir().unwrap();
    let finished = solve(&folder, world, frozen).await.unwrap();
    let result = serde_json::to_string(&finished.result).unwrap();
    std::fs::write(folder.path().join("result.json"), result).unwrap();
    let view = read(folder.path()).unwrap();
    Made { folder, view }
}

/// A run that something stopped.
pub async fn begun(world: &World, frozen: &Frozen) -> Made {
    let folder = tempfile::tempdir().unwrap();
    assert!(solve(&folder, world, frozen).await.is_err(), "nothing stopped it");
    let view = read(folder.path()).unwrap();
    Made { folder, view }
}

async fn solve(folder: &tempfile::TempDir, world: &World, frozen: &Frozen) -> Result<FinishedRun, Stop> {
    let journal = Journal::create(folder.path(), frozen).unwrap();
    world.solve(frozen, &journal, &Slots::new(1)).await
}

/// The script made at `init` leaks, the check at `leakage` finds it, and the correction removes it.
pub fn leaking(world: World, init: &str, leakage: &str) -> World {
    let found = json!({"answers": [{"leakage_status": "Yes Data Leakage", "code_block": "leak = 1"}]});
    world
        .agent(init, "```python\nleak = 1\nblock = 'x'\nprint(block)\n```")
        .reply(leakage, AgentReply::text(found.to_string()))
        .agent(&format!("{leakage}-fix-1"), "```python\nleak = 0\n```")
}

/// Saves a page in the folder `MLE_STAR_KEEP_PAGES`, for inspection in a browser.
pub fn keep(name: &str, page: &str) {
    if let Some(folder) = std::env::var_os("MLE_STAR_KEEP_PAGES") {
        std::fs::write(std::path::Path::new(&folder).join(format!("{name}.html")), page).unwrap();
    }
}
