//! A run killed anywhere and resumed ends as if nothing had happened.

use mle_star::journal::{EffectState, Frozen, Journal, Kind, read};
use mle_star::result::FinalResult;
use mle_star::stop::Stop;
use mle_star::testing::{World, frozen};

use crate::{Folder, go_on};

/// A world with repairs, improvements, ties and failures.
fn eventful() -> World {
    World::new()
        .scores("phase1/candidate-0/run", 0.6)
        .fails("phase1/candidate-1/run")
        .scores("phase1/candidate-1/debug-1/run", 0.7)
        .scores("phase1/merge-1/run", 0.7)
        .scores("phase2/path-0/t0/k0/run", 0.8)
        .fails("phase2/path-1/t0/run")
        .scores("phase2/path-1/t0/k1/run", 0.75)
        .scores("phase3/r1/run", 0.9)
}

fn inputs() -> Frozen {
    let mut inputs = frozen();
    inputs.config.outer_loop_steps = 2;
    inputs
}

/// What must not depend on when the run was interrupted.
fn timeless(mut result: FinalResult) -> FinalResult {
    result.durations = mle_star::result::Durations::default();
    result.total_duration_seconds = 0.0;
    let path = |path: &mut mle_star::result::Phase2Result| path.best_solution.created_at.clear();
    result.phase2_results.iter_mut().for_each(path);
    let phase1 = &mut result.phase1;
    let scripts = phase1
        .candidate_solutions
        .iter_mut()
        .chain([&mut phase1.initial_solution, &mut result.final_solution]);
    let phase3 = result.phase3.iter_mut().flat_map(|phase3| {
        let rounds = phase3.attempts.iter_mut().map(|attempt| &mut attempt.solution);
        rounds.chain(&mut phase3.input_solutions).chain([&mut phase3.best_ensemble])
    });
    scripts.chain(phase3).for_each(|script| script.created_at.clear());
    result
}

/// Leaves the first `count` records of a journal and forgets what came after, as a kill does.
fn cut(folder: &Folder, count: usize) -> usize {
    let db = rusqlite::Connection::open(folder.path().join("journal.db")).unwrap();
    db.execute(
        "DELETE FROM effects WHERE seq NOT IN (SELECT seq FROM effects ORDER BY seq LIMIT ?1)",
        [i64::try_from(count).unwrap()],
    )
    .unwrap();
    let kept = "SELECT count(*) FROM effects WHERE state = 'ended' AND kind <> 'decision'";
    db.query_row(kept, [], |row| row.get::<_, i64>(0)).unwrap().try_into().unwrap()
}

#[tokio::test]
async fn every_prefix_of_a_journal_leads_to_the_same_end() {
    let (world, inputs, whole) = (eventful(), inputs(), Folder::fresh());
    let journal = Journal::create(whole.path(), &inputs).unwrap();
    let expected = timeless(go_on(&world, &inputs, &journal).await.unwrap().result);
    drop(journal);
    let mut effects = world.trace();
    effects.sort();
    let records = read(whole.path()).unwrap().effects.len();
    assert!(effects.len() > 50, "{} effects", effects.len());
    for count in 0..=records {
        let folder = Folder::fresh();
        std::fs::copy(whole.path().join("journal.db"), folder.path().join("journal.db")).unwrap();
        let kept = cut(&folder, count);
        world.forget();
        let (journal, frozen) = Journal::open(folder.path()).unwrap();
        let result = timeless(go_on(&world, &frozen, &journal).await.unwrap().result);
        assert_eq!(result, expected, "after {count} of {records} records");
        assert_eq!(
            world.trace().len() + kept,
            effects.len(),
            "effects repeated or lost after {count} records"
        );
    }
}

#[tokio::test]
async fn what_ended_the_run_is_done_again_and_nothing_else() {
    let check = async |place: &str| {
        let (world, inputs, folder) = (eventful().breaks_once(place), inputs(), Folder::fresh());
        let journal = Journal::create(folder.path(), &inputs).unwrap();
        assert!(matches!(go_on(&world, &inputs, &journal).await, Err(Stop::Outside(_))), "{place}");
        drop(journal);
        let (journal, frozen) = Journal::open(folder.path()).unwrap();
        go_on(&world, &frozen, &journal).await.unwrap();
        let mut trace = world.trace();
        trace.sort();
        // Twice: what broke, and what was under way beside it.
        let ended: Vec<String> = journal
            .effects()
            .unwrap()
            .iter()
            .filter(|e| e.state == EffectState::Void)
            .map(|e| e.place.to_string())
            .collect();
        assert!(ended.contains(&place.to_owned()));
        let repeated: Vec<String> =
            trace.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0].clone()).collect();
        assert!(repeated.iter().all(|repeated| ended.contains(repeated)), "{repeated:?} {ended:?}");
    };
    check("phase1/retriever").await;
    check("phase1/candidate-1/debug-1/run").await;
    check("phase2/path-0/t1/k0/coder").await;
    check("finalization/test").await;
}

#[tokio::test]
async fn a_retriever_that_died_is_asked_again() {
    let (inputs, folder) = (inputs(), Folder::fresh());
    let check = async |world: World, folder: &Folder| {
        let journal = Journal::create(folder.path(), &inputs).unwrap();
        let Err(Stop::NoSolution(message)) = go_on(&world, &inputs, &journal).await else {
            panic!("it ended well")
        };
        assert!(message.starts_with("A_retriever returned zero models"), "{message}");
    };
    check(World::new().agent_fails("phase1/retriever"), &folder).await;
    let (journal, frozen) = Journal::open(folder.path()).unwrap();
    go_on(&World::new(), &frozen, &journal).await.unwrap();
    check(World::new().agent("phase1/retriever", r#"{"models": []}"#), &Folder::fresh()).await;
    check(World::new().agent("phase1/retriever", "no idea"), &Folder::fresh()).await;
}

#[tokio::test]
async fn an_interrupt_stops_at_once_and_loses_nothing() {
    let (inputs, folder, world) = (inputs(), Folder::fresh(), eventful());
    let journal = Journal::create(folder.path(), &inputs).unwrap();
    let (sender, cancel) = tokio::sync::watch::channel(true);
    let prompts = mle_star::prompts::Prompts::new(std::collections::BTreeMap::new()).unwrap();
    let outside = mle_star::ctx::Outside {
        agents: &world,
        scripts: &world,
        events: &world,
        cancel: &cancel,
        environment: "",
        slots: 1,
    };
    let result = mle_star::pipeline::run(&inputs, &prompts, &journal, outside).await;
    assert!(matches!(result, Err(Stop::Interrupted)));
    assert!(world.trace().is_empty());
    drop((sender, journal));
    let (journal, frozen) = Journal::open(folder.path()).unwrap();
    go_on(&world, &frozen, &journal).await.unwrap();
}

#[tokio::test]
async fn a_changed_input_stops_the_run_and_names_the_place() {
    let (inputs, folder, world) = (inputs(), Folder::fresh(), World::new());
    let journal = Journal::create(folder.path(), &inputs).unwrap();
    go_on(&world, &inputs, &journal).await.unwrap();
    drop(journal);
    let (journal, mut frozen) = Journal::open(folder.path()).unwrap();
    frozen.data_id = "other data".to_owned();
    let Err(Stop::Journal(error)) = go_on(&world, &frozen, &journal).await else { panic!("it went on") };
    assert!(error.to_string().starts_with("phase1/candidate-"), "{error}");
}

#[tokio::test]
async fn records_hold_what_was_asked_and_what_came_back() {
    let (inputs, folder, world) = (inputs(), Folder::fresh(), World::new().costs(Some(0.25)));
    let journal = Journal::create(folder.path(), &inputs).unwrap();
    go_on(&world, &inputs, &journal).await.unwrap();
    let snapshot = read(folder.path()).unwrap();
    assert_eq!(snapshot.frozen, inputs);
    let find = |place: &str| snapshot.effects.iter().find(|effect| effect.place.as_str() == place).unwrap();
    let call = find("phase1/candidate-0/init");
    assert_eq!((call.kind, call.usage.cost_usd), (Kind::Agent, Some(0.25)));
    assert!(call.request["prompt"].as_str().unwrap().contains("model-0"));
    let script = find("phase1/candidate-0/run");
    assert_eq!(script.kind, Kind::Script);
    assert!(script.request["script"].as_str().unwrap().contains("candidate-0"));
    assert!(script.ended_at.is_some());
}
