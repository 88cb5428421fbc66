//! Scripts that run out of memory.

use mle_star::journal::Journal;
use mle_star::slots::Slots;
use mle_star::testing::{World, failed, frozen, ran};
use mle_star_domain::effects::{Limit, OutOfMemory, ScriptEnd, ScriptOutcome};

use crate::{Folder, go_on, go_on_with};

/// The first attempt of the first path.
const STEP: &str = "phase2/path-0/t0/k0";

fn out_of(memory: OutOfMemory) -> ScriptOutcome {
    let end = ScriptEnd::Signalled { signal: 9 };
    ScriptOutcome { end, out_of_memory: Some(memory), ..ran(None) }
}

fn place(name: &str) -> String {
    format!("{STEP}/{name}")
}

/// The number of runs of [`STEP`]'s script, the prompt of the debugger, and the recorded outcome.
async fn attempts(world: World, slots: usize) -> (usize, Option<String>, ScriptOutcome) {
    let (folder, inputs) = (Folder::fresh(), frozen());
    let world = world.takes(1, 1);
    let journal = Journal::create(folder.path(), &inputs).unwrap();
    go_on_with(&world, &inputs, &journal, &Slots::new(slots)).await.unwrap();
    let runs = world.trace().iter().filter(|at| **at == place("run")).count();
    let prompt = world.request(&place("debug-1/debugger")).map(|request| request.prompt);
    let records = journal.effects().unwrap();
    let mut recorded = records.iter().filter(|effect| effect.place.as_str() == place("run"));
    let outcome = recorded.next().unwrap().outcome.clone().unwrap();
    assert_eq!(recorded.count(), 0, "one record per place");
    let effects = world.trace().len();
    drop(journal);

    let (journal, _) = Journal::open(folder.path()).unwrap();
    go_on(&world, &inputs, &journal).await.unwrap();
    assert_eq!(world.trace().len(), effects, "nothing is done again");
    (runs, prompt, serde_json::from_value(outcome).unwrap())
}

#[tokio::test(start_paused = true)]
async fn a_script_without_memory_runs_once_more_alone_before_it_counts_as_failed() {
    use OutOfMemory::{Allocation, Gpu, Limit, Machine};
    for (memory, slots, runs) in [
        (Machine, 1, 2),
        (Machine, 4, 2),
        (Gpu, 1, 2),
        // Nothing else of this program ran beside it: it would end the same way.
        (Allocation, 1, 1),
        (Limit, 1, 1),
        (Allocation, 4, 2),
        (Limit, 4, 2),
    ] {
        let is_named = |prompt: Option<String>| prompt.is_some_and(|prompt| prompt.contains(memory.words()));
        let once = World::new().at_first(&place("run"), out_of(memory));
        let (ran, prompt, outcome) = attempts(once, slots).await;
        assert_eq!((ran, is_named(prompt)), (runs, runs == 1), "{memory:?} with {slots} slots");
        assert_eq!(outcome.notes.iter().any(|note| note.contains("alone")), runs == 2, "{:?}", outcome.notes);
        assert_eq!(outcome.duration_seconds as usize, runs, "{memory:?} with {slots} slots");
        let always = World::new().script(&place("run"), out_of(memory));
        let (ran, prompt, _) = attempts(always, slots).await;
        assert_eq!((ran, is_named(prompt)), (runs, true), "{memory:?} with {slots} slots");
    }
    let (ran, prompt, _) = attempts(World::new().script(&place("run"), failed("KeyError: 1")), 4).await;
    assert_eq!((ran, prompt.is_some_and(|prompt| prompt.contains("out of memory"))), (1, false));
}

#[tokio::test(start_paused = true)]
async fn without_time_for_it_the_first_run_stands() {
    let (folder, mut inputs) = (Folder::fresh(), frozen());
    inputs.config.time_limit_seconds = 100;
    let world = World::new().takes(0, 90).at_first("phase1/candidate-0/run", out_of(OutOfMemory::Machine));
    let journal = Journal::create(folder.path(), &inputs).unwrap();
    go_on(&world, &inputs, &journal).await.unwrap_err();
    let records = journal.effects().unwrap();
    let recorded = records.iter().find(|effect| effect.place.as_str() == "phase1/candidate-0/run").unwrap();
    let outcome: ScriptOutcome = serde_json::from_value(recorded.outcome.clone().unwrap()).unwrap();
    assert_eq!((recorded.limit, outcome.out_of_memory), (None, Some(OutOfMemory::Machine)));
    assert_eq!(outcome.notes, [format!("not run once more, alone: {}", Limit::Time.name())]);
}
