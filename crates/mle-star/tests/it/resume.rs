//! A run killed anywhere and resumed ends as if nothing had happened.

use mle_star::journal::{EffectRecord, EffectState, Frozen, Journal, Kind, read};
use mle_star::pipeline::check_recorded;
use mle_star::prompts::Prompts;
use mle_star::result::FinalResult;
use mle_star::slots::Slots;
use mle_star::stop::Stop;
use mle_star::testing::{World, frozen, measured, scored_with_submission, submitted};
use mle_star_domain::config::{Context, FinalChoice, LeakageCheck};
use mle_star_domain::effects::{ScriptOutcome, Usage};
use mle_star_domain::place::Place;

use crate::holdout::{earlier_period, held_out};
use crate::{Folder, go_on, run};

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

/// The parts of a result that must not depend on the interruption.
fn timeless(mut result: FinalResult) -> FinalResult {
    result.durations = mle_star::result::Durations::default();
    result.total_duration_seconds = 0.0;
    // A call interrupted by the kill is reported, and repeated.
    result.usage.interrupted_calls = 0;
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

/// Cuts a journal as a kill at this moment would: keeps effects that had ended or were in progress, nothing later.
/// Returns the number of effects that are not repeated; a failure counts for the effect that failed.
fn cut(folder: &Folder, moment: f64) -> usize {
    let db = rusqlite::Connection::open(folder.path().join("journal.db")).unwrap();
    db.execute("DELETE FROM effects WHERE elapsed_begun > ?1", [moment]).unwrap();
    let under_way = "UPDATE effects SET state = 'begun', outcome = NULL, limit_hit = NULL, cost_usd = NULL,
                     ended_at = NULL, elapsed_ended = NULL, ended_seal = NULL WHERE elapsed_ended > ?1";
    db.execute(under_way, [moment]).unwrap();
    db.execute("DELETE FROM meta WHERE key = 'elapsed'", []).unwrap();
    let kept = "SELECT count(*) FROM effects WHERE state = 'ended' AND (kind IN ('agent', 'script', 'look', 'selection', 'failure') OR place LIKE '%/refit') AND limit_hit IS NULL";
    db.query_row(kept, [], |row| row.get::<_, i64>(0)).unwrap().try_into().unwrap()
}

/// Every moment at which something had just begun or ended, and the one before all.
fn moments(folder: &Folder) -> Vec<f64> {
    let effects = read(folder.path()).unwrap().effects;
    let begun = effects.iter().map(|effect| effect.elapsed_begun);
    let mut moments: Vec<f64> =
        begun.chain(effects.iter().filter_map(|effect| effect.elapsed_ended)).collect();
    moments.push(-1.0);
    moments.sort_by(f64::total_cmp);
    moments.dedup();
    moments
}

/// Cuts the journal of a run of `inputs` at every moment and resumes it.
async fn every_cut_leads_to_the_same_end(
    world: &World,
    inputs: &Frozen,
    compare: impl Fn(FinalResult) -> FinalResult,
) {
    let (whole, inputs) = (Folder::fresh(), &mut inputs.clone());
    // What was interrupted has no cost to estimate.
    inputs.config.agents = mle_star_domain::config::AgentsChoice::Files;
    let journal = Journal::create(whole.path(), inputs).unwrap();
    let expected = compare(go_on(world, inputs, &journal).await.unwrap().result);
    drop(journal);
    let verdicts = read(whole.path()).unwrap().verdicts();
    let effects = world.trace().len();
    assert!(effects > 30, "{effects} effects");
    for moment in moments(&whole) {
        let folder = Folder::fresh();
        std::fs::copy(whole.path().join("journal.db"), folder.path().join("journal.db")).unwrap();
        let kept = cut(&folder, moment);
        world.forget();
        let (journal, frozen) = Journal::open(folder.path()).unwrap();
        let result = compare(go_on(world, &frozen, &journal).await.unwrap().result);
        assert_eq!(result, expected, "killed after {moment} s");
        assert_eq!(world.trace().len() + kept, effects, "effects repeated or lost: killed after {moment} s");
        drop(journal);
        assert_eq!(read(folder.path()).unwrap().verdicts(), verdicts, "killed after {moment} s");
    }
}

#[tokio::test]
async fn a_run_killed_at_any_moment_ends_like_an_undisturbed_one() {
    every_cut_leads_to_the_same_end(&eventful(), &inputs(), timeless).await;
}

#[tokio::test]
async fn a_run_with_the_programs_own_settings_pays_for_nothing_twice() {
    let mut inputs = inputs();
    (inputs.config.context, inputs.config.leakage_check) = (Context::Full, LeakageCheck::Accepted);
    let world = eventful().script("phase3/r1/run", scored_with_submission(0.9)).agent(
        "phase2/path-0/t0/k0/leakage",
        r#"{"answers": [{"leakage_status": "Yes Data Leakage", "code_block": "print('start')"}]}"#,
    );
    // What was interrupted has no cost to estimate.
    inputs.config.agents = mle_star_domain::config::AgentsChoice::Files;
    let whole = Folder::fresh();
    let journal = Journal::create(whole.path(), &inputs).unwrap();
    let expected = timeless(go_on(&world, &inputs, &journal).await.unwrap().result);
    drop(journal);
    let verdicts = read(whole.path()).unwrap().verdicts();
    assert!(world.trace().contains(&"phase2/path-0/t0/k0/corrected/run".to_owned()), "{:?}", world.trace());
    for moment in moments(&whole) {
        let folder = Folder::fresh();
        std::fs::copy(whole.path().join("journal.db"), folder.path().join("journal.db")).unwrap();
        cut(&folder, moment);
        let kept = read(folder.path()).unwrap().effects.into_iter().filter(EffectRecord::counts);
        let kept: Vec<String> = kept.map(|effect| effect.place.to_string()).collect();
        world.forget();
        let (journal, frozen) = Journal::open(folder.path()).unwrap();
        let result = timeless(go_on(&world, &frozen, &journal).await.unwrap().result);
        assert_eq!(result, expected, "killed after {moment} s");
        let twice: Vec<String> = world.trace().into_iter().filter(|place| kept.contains(place)).collect();
        assert!(twice.is_empty(), "killed after {moment} s: {twice:?}");
        drop(journal);
        assert_eq!(read(folder.path()).unwrap().verdicts(), verdicts, "killed after {moment} s");
    }
}

#[tokio::test]
async fn a_run_killed_in_the_final_choice_looks_at_nothing_twice() {
    let mut inputs = held_out();
    inputs.config.final_choice = FinalChoice::Holdout;
    let world = eventful()
        .held_out("finalization/choice-0/run", &[0.8, 0.79, 0.81])
        .held_out("finalization/choice-1/run", &[0.7, 0.69, 0.71])
        .held_out("finalization/holdout/run", &[0.8, 0.79, 0.81]);
    every_cut_leads_to_the_same_end(&world, &inputs, timeless).await;

    inputs.config.final_choice = FinalChoice::Auto;
    let predicting =
        |scores: &[f64]| ScriptOutcome { submission: submitted(&[]).submission, ..measured(scores) };
    let world = eventful()
        .script("phase1/candidate-0/run", predicting(&[0.6, 0.59, 0.61]))
        .script("phase3/r1/run", predicting(&[0.9, 0.89, 0.91]))
        .held_out("phase1/candidate-0/run", &[0.6, 0.59, 0.61])
        .held_out("phase3/r1/run", &[0.5, 0.49, 0.51])
        .held_out("finalization/holdout/run", &[0.6, 0.59, 0.61]);
    let trust = run(&world, &inputs).await.unwrap().result.trust.unwrap();
    assert!(trust.choice.candidates.len() > 4, "{:?}", trust.choice);
    world.forget();
    every_cut_leads_to_the_same_end(&world, &inputs, timeless).await;
}

#[tokio::test]
async fn a_run_killed_between_answers_makes_none_twice() {
    let mut inputs = earlier_period();
    inputs.config.outer_loop_steps = 2;
    let predicted =
        |scores: &[f64]| ScriptOutcome { submission: submitted(&[]).submission, ..measured(scores) };
    let world = eventful()
        .script("phase1/merge-1/run", predicted(&[0.7, 0.69, 0.71]))
        .script("phase2/path-0/t0/k0/run", predicted(&[0.8, 0.79, 0.81]))
        .script("phase3/r1/run", predicted(&[0.9, 0.89, 0.91]))
        .fails("phase2/provisional/run")
        .held_out("finalization/holdout/run", &[0.9, 0.89, 0.91]);
    every_cut_leads_to_the_same_end(&world, &inputs, timeless).await;
}

#[tokio::test]
async fn a_run_whose_path_failed_ends_the_same_wherever_it_was_killed() {
    let world = || eventful().panics("phase2/path-0/t1/k0/coder").panics("phase3/r1/ensembler");
    every_cut_leads_to_the_same_end(&world(), &inputs(), timeless).await;
}

#[tokio::test]
async fn a_run_whose_retriever_searched_in_vain_ends_the_same_wherever_it_was_killed() {
    every_cut_leads_to_the_same_end(&eventful().agent_fails("phase1/retriever"), &frozen(), timeless).await;
}

#[tokio::test(start_paused = true)]
async fn a_run_cut_short_by_a_share_of_time_and_killed_ends_the_same() {
    // Two paths share a slot and 60 seconds; effects before a kill are not paid for twice.
    let mut inputs = inputs();
    inputs.config.time_limit_seconds = 60;
    (inputs.config.outer_loop_steps, inputs.config.inner_loop_steps) = (4, 4);
    inputs.config.num_retrieved_models = 1;
    let world = World::new().takes(0, 4);
    let folder = Folder::fresh();
    let journal = Journal::create(folder.path(), &inputs).unwrap();
    let expected = timeless(go_on(&world, &inputs, &journal).await.unwrap().result);
    assert!(
        expected
            .phase2_results
            .iter()
            .any(|path| path.step_history.iter().any(|step| step.failed == Some(true)))
    );
    drop(journal);
    // Killed after the last record, before the result was written: every path replays on its own.
    let (journal, frozen) = Journal::open(folder.path()).unwrap();
    assert_eq!(timeless(go_on(&world, &frozen, &journal).await.unwrap().result), expected);
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
        // Twice: the call that stopped the run, and the one in progress beside it.
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
    let dead = || World::new().agent_fails("phase1/retriever").agent_fails("phase1/retriever-2");
    check(dead(), &folder).await;
    let (journal, frozen) = Journal::open(folder.path()).unwrap();
    go_on(&World::new(), &frozen, &journal).await.unwrap();
    let folder = Folder::fresh();
    check(dead(), &folder).await;
    let (journal, frozen) = Journal::open(folder.path()).unwrap();
    let world = World::new().agent_fails("phase1/retriever");
    go_on(&world, &frozen, &journal).await.unwrap();
    assert_eq!(world.trace()[..2], ["phase1/retriever", "phase1/retriever-2"]);
    check(World::new().agent("phase1/retriever", r#"{"models": []}"#), &Folder::fresh()).await;
    check(World::new().agent("phase1/retriever", "no idea"), &Folder::fresh()).await;
}

#[tokio::test]
async fn an_interrupt_stops_at_once_and_loses_nothing() {
    let (inputs, folder, world) = (inputs(), Folder::fresh(), eventful());
    let journal = Journal::create(folder.path(), &inputs).unwrap();
    let (sender, cancel) = tokio::sync::watch::channel(true);
    let prompts =
        mle_star::prompts::Prompts::new(inputs.config.context, std::collections::BTreeMap::new()).unwrap();
    let outside = mle_star::ctx::Outside {
        agents: &world,
        scripts: &world,
        events: &world,
        cancel: &cancel,
        environment: "",
        script_slots: &Slots::new(1),
        agent_slots: &Slots::new(8),
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
    let used = |place: &Place| match place.as_str() {
        "phase1/candidate-0/init" => Usage {
            cost_usd: Some(0.25),
            input: 1,
            output: 20,
            cache_read: 300,
            cache_write: 4000,
            ..Usage::default()
        },
        "phase1/data/data" => {
            Usage { input: 5, output: 60, cache_read: 700, cache_write: 8000, ..Usage::free() }
        }
        _ => Usage::free(),
    };
    let (inputs, folder, world) = (inputs(), Folder::fresh(), World::new().uses(used));
    let journal = Journal::create(folder.path(), &inputs).unwrap();
    let tokens = go_on(&world, &inputs, &journal).await.unwrap().result.tokens;
    assert_eq!((tokens.input, tokens.output), (6, 80));
    assert_eq!((tokens.cache_read, tokens.cache_write), (1000, 12_000));
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

/// A step whose first call was refused had begun: a resume in the last phase must not leave it out instead.
#[tokio::test(start_paused = true)]
async fn a_step_whose_first_call_was_refused_ends_the_same_after_a_resume() {
    for seconds in 2..9 {
        for max_budget_usd in [None, Some(1.5)] {
            let mut inputs = inputs();
            inputs.config.time_limit_seconds = 120;
            inputs.config.max_budget_usd = max_budget_usd;
            (inputs.config.outer_loop_steps, inputs.config.inner_loop_steps) = (3, 3);
            let world = World::new().takes(seconds, 1).costs(Some(0.02)).breaks_once("finalization/test");
            let folder = Folder::fresh();
            let journal = Journal::create(folder.path(), &inputs).unwrap();
            let Err(stop) = go_on(&world, &inputs, &journal).await else { continue };
            assert!(matches!(stop, Stop::Outside(_)), "{stop}");
            drop(journal);
            let before = read(folder.path()).unwrap().verdicts();
            let (journal, frozen) = Journal::open(folder.path()).unwrap();
            if let Err(stop) = go_on(&world, &frozen, &journal).await {
                panic!("{seconds} s a call, {max_budget_usd:?}: {stop}");
            }
            drop(journal);
            let mut after = read(folder.path()).unwrap().verdicts();
            after.remove(&mle_star_domain::place::Step::Finalization);
            assert_eq!(after, before, "{seconds} s a call, {max_budget_usd:?}");
        }
    }
}

#[tokio::test]
async fn another_build_is_told_before_anything_is_paid_what_it_asks_differently() {
    // Killed while both paths refine.
    let check = async |change: &str, expected: Option<(&str, &str)>| {
        let world = World::new().breaks_once("phase2/path-0/t1/k1/planner");
        let (inputs, folder, copy) = (inputs(), Folder::fresh(), Folder::fresh());
        let journal = Journal::create(folder.path(), &inputs).unwrap();
        go_on(&world, &inputs, &journal).await.unwrap_err();
        drop(journal);
        world.forget();
        let mut prompts = inputs.prompts.clone();
        if !change.is_empty() {
            prompts.get_mut(change).unwrap().push_str("Another sentence.");
        }
        let (prompts, (journal, frozen)) =
            (Prompts::new(inputs.config.context, prompts).unwrap(), Journal::open(folder.path()).unwrap());
        let before = journal.effects().unwrap();
        journal.copy_to(copy.path()).unwrap();
        let (copied, _) = Journal::open(copy.path()).unwrap();
        let found = check_recorded(&frozen, &prompts, &copied).await;
        let found = found.err().map(|error| error.to_string());
        let expected =
            expected.map(|(place, what)| format!("{place} was recorded with another input: {what}"));
        assert_eq!(found, expected, "{change}");
        assert_eq!((world.trace(), journal.effects().unwrap()), (Vec::new(), before), "{change}");
    };
    check("", None).await;
    check("planner.md", Some(("phase2/path-0/t0/k1/planner", "the prompt, its inputs or its tools"))).await;
    // Not asked yet.
    check("ens_planner.md", None).await;
}
