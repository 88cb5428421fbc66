//! The pipeline as a whole, in a scripted world.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![expect(clippy::disallowed_methods, reason = "tests look at journals from outside")]

mod baseline;
mod choice;
mod context;
mod continuing;
mod ensemble_and_finalization;
mod estimate;
mod events;
mod failures;
mod fallback;
mod forks;
mod gate;
mod holdout;
mod initial;
mod journal;
mod kept_model;
mod like_rows;
mod limits;
mod logging;
mod lost;
mod memory;
mod money;
mod notes;
mod prompts;
mod provisional;
mod refinement;
mod resume;
mod retrieval;
mod selection;
mod solution;
mod speed;
mod subsampling;
mod trace;
mod verdicts;
mod words;

use mle_star::event::Event;
use mle_star::journal::{Frozen, Journal};
use mle_star::pipeline::FinishedRun;
use mle_star::slots::Slots;
use mle_star::stop::Stop;
use mle_star::testing::World;

/// A run folder that is removed with the test.
pub struct Folder(tempfile::TempDir);

impl Folder {
    /// An empty one.
    pub fn fresh() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Where it is.
    pub fn path(&self) -> &std::path::Path {
        self.0.path()
    }
}

/// How many warnings at `at` contain `part`.
pub fn warnings(world: &World, at: &str, part: &str) -> usize {
    let is_meant = |event: &&Event| matches!(event, Event::Warning { place, text, .. } if place.as_str() == at && text.contains(part));
    world.events().iter().filter(is_meant).count()
}

/// A fresh run of `frozen` in `world`.
pub async fn run(world: &World, frozen: &Frozen) -> Result<FinishedRun, Stop> {
    let folder = Folder::fresh();
    let journal = Journal::create(folder.path(), frozen).unwrap();
    go_on(world, frozen, &journal).await
}

/// A run on a journal that exists.
pub async fn go_on(world: &World, frozen: &Frozen, journal: &Journal) -> Result<FinishedRun, Stop> {
    go_on_with(world, frozen, journal, &Slots::new(1)).await
}

/// A run on a journal that exists, with these slots for scripts.
pub async fn go_on_with(
    world: &World,
    frozen: &Frozen,
    journal: &Journal,
    script_slots: &Slots,
) -> Result<FinishedRun, Stop> {
    world.solve(frozen, journal, script_slots).await
}
