//! Scripts whose runners are lost.

use mle_star::event::Event;
use mle_star::journal::Journal;
use mle_star::slots::Slots;
use mle_star::testing::{World, frozen, ran};
use mle_star_domain::effects::{OutOfMemory, ScriptEnd, ScriptOutcome};

use crate::{Folder, go_on_with, warnings};

/// The first attempt of the first path.
const STEP: &str = "phase2/path-0/t0/k0";

fn lost() -> ScriptOutcome {
    ScriptOutcome::lost("runner far was lost: killed".to_owned())
}

/// The number of runs of [`STEP`]'s script on the runner `far`, and the recorded outcome.
async fn attempts(world: &World) -> (usize, ScriptOutcome) {
    let (folder, inputs, place) = (Folder::fresh(), frozen(), format!("{STEP}/run"));
    let journal = Journal::create(folder.path(), &inputs).unwrap();
    let slots = Slots::new(0);
    slots.add("far", 1);
    slots.expect(1);
    go_on_with(world, &inputs, &journal, &slots).await.unwrap();
    let runs = world.trace().iter().filter(|at| **at == place).count();
    let records = journal.effects().unwrap();
    let mut recorded = records.iter().filter(|effect| effect.place.as_str() == place);
    let outcome = recorded.next().unwrap().outcome.clone().unwrap();
    assert_eq!(recorded.count(), 0, "one record per place");
    (runs, serde_json::from_value(outcome).unwrap())
}

#[tokio::test]
async fn a_script_whose_runner_is_lost_runs_again_and_names_it() {
    let world = World::new().at_first(&format!("{STEP}/run"), lost());
    let (runs, outcome) = attempts(&world).await;
    assert_eq!(runs, 2);
    assert_eq!(
        (outcome.runner.as_deref(), outcome.lost_runners.as_slice()),
        (Some("far"), &["far".to_owned()][..])
    );
    assert_eq!(outcome.end, ScriptEnd::Exited { code: 0 });
    assert_eq!(outcome.notes, ["run again elsewhere: runner far was lost: killed"]);
    assert_eq!(warnings(&world, STEP, "runs again elsewhere"), 1);
    let told = world.events().into_iter().find_map(|event| match event {
        Event::ScriptEnded { place, lost_runners, .. } if place.as_str() == format!("{STEP}/run") => {
            Some(lost_runners)
        }
        _ => None,
    });
    assert_eq!(told, Some(outcome.lost_runners));
}

#[tokio::test]
async fn the_third_loss_is_the_last_and_no_agent_is_asked_to_repair_it() {
    let world = World::new().script(&format!("{STEP}/run"), lost());
    let (runs, outcome) = attempts(&world).await;
    assert_eq!((runs, outcome.lost_runners.len(), outcome.notes.len()), (3, 2, 2));
    assert!(outcome.loss().is_some(), "{outcome:?}");
    assert!(world.request(&format!("{STEP}/debug-1/debugger")).is_none());
}

#[tokio::test]
async fn a_loss_is_not_forgotten_when_the_script_runs_out_of_memory_next() {
    let world = World::new().at_first(&format!("{STEP}/run"), lost()).script(
        &format!("{STEP}/run"),
        ScriptOutcome { out_of_memory: Some(OutOfMemory::Machine), ..ran(None) },
    );
    let (runs, outcome) = attempts(&world).await;
    assert_eq!((runs, outcome.lost_runners.len()), (3, 1));
}
