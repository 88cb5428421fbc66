//! Scripts whose runners are lost.

use mle_star::ctx::Outside;
use mle_star::event::Event;
use mle_star::journal::{EffectState, Frozen, Journal};
use mle_star::slots::Slots;
use mle_star::stop::Stop;
use mle_star::testing::{World, frozen, ran};
use mle_star_domain::effects::{Limit, OutOfMemory, ScriptEnd, ScriptOutcome};

use crate::{Folder, go_on, go_on_with, warnings};

/// The script of the first attempt of the first path.
const RUN: &str = "phase2/path-0/t0/k0/run";

fn times(world: &World, place: &str) -> usize {
    world.trace().iter().filter(|at| *at == place).count()
}

/// The only outcome that the journal has for a place.
fn recorded(journal: &Journal, place: &str) -> ScriptOutcome {
    let records = journal.effects().unwrap();
    let mut found = records.iter().filter(|effect| effect.place.as_str() == place);
    let record = found.next().unwrap();
    assert_eq!((found.count(), record.state), (0, EffectState::Ended), "{place}");
    serde_json::from_value(record.outcome.clone().unwrap()).unwrap()
}

/// A run to its end, and a resume, which must repeat nothing.
async fn outcome(world: &World, inputs: &Frozen, place: &str) -> ScriptOutcome {
    let folder = Folder::fresh();
    let journal = Journal::create(folder.path(), inputs).unwrap();
    go_on(world, inputs, &journal).await.unwrap();
    let (done, outcome) = (world.trace(), recorded(&journal, place));
    drop(journal);
    let (journal, frozen) = Journal::open(folder.path()).unwrap();
    go_on(world, &frozen, &journal).await.unwrap();
    assert_eq!(world.trace(), done, "a resume repeats something");
    assert_eq!(recorded(&journal, place), outcome);
    outcome
}

#[tokio::test]
async fn a_script_whose_runner_is_lost_runs_again_and_has_one_record() {
    for losses in [1, 2] {
        let world = World::new().scores(RUN, 0.7).loses(RUN, losses);
        let outcome = outcome(&world, &frozen(), RUN).await;
        assert_eq!((outcome.loss(), outcome.value()), (None, Some(0.7)));
        let notes: Vec<String> =
            (1..=losses).map(|time| format!("run again elsewhere: loss {time}")).collect();
        assert_eq!((times(&world, RUN), &outcome.notes), (losses + 1, &notes));
        assert_eq!(warnings(&world, RUN.trim_end_matches("/run"), "the script runs again elsewhere"), losses);
    }
}

#[tokio::test]
async fn a_script_that_loses_three_runners_is_given_up_and_not_repaired() {
    // A fourth try would succeed.
    let world = World::new().scores(RUN, 0.9).scores("phase2/path-0/t0/k1/run", 0.7).loses(RUN, 3);
    let outcome = outcome(&world, &frozen(), RUN).await;
    assert_eq!(outcome.end, ScriptEnd::Lost { reason: "loss 3".to_owned() });
    assert_eq!(outcome.notes, ["run again elsewhere: loss 1", "run again elsewhere: loss 2"]);
    assert_eq!(times(&world, RUN), 3);
    let trace = world.trace();
    assert!(!trace.iter().any(|place| place.starts_with("phase2/path-0/t0/k0/debug")), "{trace:?}");
    let said = world.events().into_iter().find_map(|event| match event {
        Event::ScriptEnded { place, failure, .. } if place.as_str() == RUN => failure,
        _ => None,
    });
    assert_eq!(said.unwrap(), "The script was given up: loss 3.");
    // The path goes on with its next attempt.
    assert_eq!(times(&world, "phase2/path-0/t0/k1/run"), 1);
}

#[tokio::test]
async fn a_script_that_ran_out_of_memory_and_then_lost_its_runners_has_run_out_of_memory() {
    let end = ScriptEnd::Signalled { signal: 9 };
    let first = ScriptOutcome { end: end.clone(), out_of_memory: Some(OutOfMemory::Machine), ..ran(None) };
    let world = World::new().at_first(RUN, first).loses(RUN, 3);
    let outcome = outcome(&world, &frozen(), RUN).await;
    assert_eq!((outcome.end, outcome.out_of_memory), (end, Some(OutOfMemory::Machine)));
    assert_eq!(outcome.notes.last().unwrap(), "not run once more, alone: loss 3");
    assert_eq!(times(&world, "phase2/path-0/t0/k0/debug-1/debugger"), 1, "it is repaired");
}

#[tokio::test]
async fn runners_that_are_lost_before_a_script_ran_out_of_memory_count_too() {
    let end = ScriptEnd::Signalled { signal: 9 };
    let first = ScriptOutcome { end: end.clone(), out_of_memory: Some(OutOfMemory::Machine), ..ran(None) };
    // A try after the third loss would succeed.
    let world = World::new().loses(RUN, 2).at_first(RUN, first).loses(RUN, 1);
    let outcome = outcome(&world, &frozen(), RUN).await;
    assert_eq!((times(&world, RUN), outcome.end), (4, end));
    assert_eq!(outcome.notes.last().unwrap(), "not run once more, alone: loss 1");
}

/// Runs on one runner until its first script has begun, and withdraws the runner. Then another comes, or the user
/// interrupts the run.
async fn without_the_runner(
    then: impl FnOnce(&Slots, tokio::sync::watch::Sender<bool>),
) -> (World, Folder, bool) {
    let place = "phase1/candidate-0/run";
    let (inputs, folder) = (frozen(), Folder::fresh());
    let world = World::new().takes(1, 10).loses(place, 1);
    let journal = Journal::create(folder.path(), &inputs).unwrap();
    let (sender, cancel) = tokio::sync::watch::channel(false);
    let prompts =
        mle_star::prompts::Prompts::new(inputs.config.context, std::collections::BTreeMap::new()).unwrap();
    let slots = Slots::new(0);
    let runner = slots.add("near-1", 1);
    let outside = Outside {
        agents: &world,
        scripts: &world,
        events: &world,
        cancel: &cancel,
        environment: "",
        script_slots: &slots,
        agent_slots: &Slots::new(8),
    };
    let meanwhile = async {
        while times(&world, place) == 0 {
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
        slots.remove(runner);
        // The script is lost, and waits for a slot, with every other one.
        tokio::time::sleep(std::time::Duration::from_secs(100)).await;
        assert_eq!(times(&world, place), 1);
        assert!(*slots.waiting().borrow() > 0);
        then(&slots, sender);
    };
    let (result, ()) = tokio::join!(mle_star::pipeline::run(&inputs, &prompts, &journal, outside), meanwhile);
    let interrupted = matches!(result, Err(Stop::Interrupted));
    assert!(interrupted || result.is_ok(), "{:?}", result.err());
    (world, folder, interrupted)
}

#[tokio::test(start_paused = true)]
async fn a_lost_script_that_waits_for_another_runner_can_be_interrupted() {
    let (world, folder, interrupted) = without_the_runner(|_, sender| sender.send(true).unwrap()).await;
    assert!(interrupted);
    let (journal, frozen) = Journal::open(folder.path()).unwrap();
    let before = journal.effects().unwrap();
    let cut = before.iter().find(|effect| effect.place.as_str() == "phase1/candidate-0/run").unwrap();
    assert_eq!((cut.state, &cut.outcome), (EffectState::Void, &None));
    world.forget();
    go_on(&world, &frozen, &journal).await.unwrap();
    assert_eq!(times(&world, "phase1/candidate-0/run"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_lost_script_runs_on_the_runner_that_comes_next() {
    let (world, folder, interrupted) = without_the_runner(|slots, sender| {
        slots.add("near-2", 2);
        // A sender that is gone does not interrupt.
        drop(sender);
    })
    .await;
    assert!(!interrupted);
    let (journal, _) = Journal::open(folder.path()).unwrap();
    let outcome = recorded(&journal, "phase1/candidate-0/run");
    assert_eq!((outcome.runner.as_deref(), times(&world, "phase1/candidate-0/run")), (Some("near-2"), 2));
    assert_eq!(outcome.notes, ["run again elsewhere: loss 1"]);
    let told = world.events().into_iter().find_map(|event| match event {
        Event::ScriptEnded { place, lost_runners, .. } if place.as_str() == "phase1/candidate-0/run" => {
            Some(lost_runners)
        }
        _ => None,
    });
    assert_eq!(
        (&outcome.lost_runners, told.unwrap()),
        (&vec!["near-1".to_owned()], vec!["near-1".to_owned()])
    );
}

#[tokio::test(start_paused = true)]
async fn a_run_that_waits_for_runners_ends_at_its_time_limit() {
    let mut inputs = frozen();
    inputs.config.time_limit_seconds = 100;
    let folder = Folder::fresh();
    let journal = Journal::create(folder.path(), &inputs).unwrap();
    let world = World::new();
    let began = tokio::time::Instant::now();
    let nowhere = Slots::new(0);
    let waiting = go_on_with(&world, &inputs, &journal, &nowhere);
    let ended = tokio::time::timeout(std::time::Duration::from_secs(1000), waiting).await;
    assert!(matches!(ended, Ok(Err(Stop::Limit(Limit::Time)))), "{ended:?}");
    assert!((80..101).contains(&began.elapsed().as_secs()), "{:?}", began.elapsed());
    let record = recorded(&journal, "phase1/candidate-0/run");
    assert_eq!(record.end, ScriptEnd::Refused { limit: Limit::Time });
    // With more time and a machine, a resume runs it.
    drop(journal);
    let (journal, mut frozen) = Journal::open(folder.path()).unwrap();
    frozen.config.time_limit_seconds = 1000;
    journal.reopen_with(&frozen, None).unwrap();
    go_on(&world, &frozen, &journal).await.unwrap();
    assert_eq!(times(&world, "phase1/candidate-0/run"), 1);
}

#[tokio::test(start_paused = true)]
async fn data_that_never_arrives_does_not_keep_a_run_beyond_its_time_limit() {
    let mut inputs = frozen();
    inputs.config.time_limit_seconds = 100;
    let folder = Folder::fresh();
    let journal = Journal::create(folder.path(), &inputs).unwrap();
    let world = World::new().stalls("phase1/candidate-0/run");
    let began = tokio::time::Instant::now();
    let runners = Slots::new(0);
    runners.add("near-1", 1);
    let stalled = go_on_with(&world, &inputs, &journal, &runners);
    let ended = tokio::time::timeout(std::time::Duration::from_secs(1000), stalled).await;
    assert!(matches!(ended, Ok(Err(Stop::Limit(Limit::Time)))), "{ended:?}");
    assert!((80..131).contains(&began.elapsed().as_secs()), "{:?}", began.elapsed());
    let record = recorded(&journal, "phase1/candidate-0/run");
    assert_eq!(record.end, ScriptEnd::Refused { limit: Limit::Time });
    let lost = "run again elsewhere: the time was up before its data and its files were sent";
    assert_eq!(record.notes, [lost]);
}
