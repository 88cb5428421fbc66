//! A path or a phase that fails does not take the run down.

use mle_star::event::Event;
use mle_star::journal::{Journal, read};
use mle_star::place::Phase;
use mle_star::result::{FinalResult, PathStatus};
use mle_star::stop::Stop;
use mle_star::testing::{World, frozen, submitted};

use crate::{Folder, go_on, run};

fn statuses(result: &FinalResult) -> Vec<(u32, PathStatus)> {
    result.paths.iter().map(|path| (path.path, path.status)).collect()
}

#[tokio::test]
async fn a_path_that_fails_keeps_its_best_solution_and_the_others_go_on() {
    let world = World::new()
        .scores("phase2/path-0/t0/k0/run", 0.6)
        .panics("phase2/path-0/t0/k1/planner")
        .scores("phase2/path-1/t0/k1/run", 0.7);
    let result = run(&world, &frozen()).await.unwrap().result;
    assert_eq!(statuses(&result), [(0, PathStatus::Failed), (1, PathStatus::Finished)]);
    let cause = result.paths[0].cause.as_deref().unwrap();
    assert!(cause.contains("a defect at phase2/path-0/t0/k1/planner"), "{cause}");
    let bests: Vec<f64> = result.phase2_results.iter().map(|path| path.best_score).collect();
    assert_eq!(bests, [0.6, 0.7]);
    let history = &result.phase2_results[0].step_history;
    assert_eq!((history.len(), history[0].failed), (1, Some(true)));
    let inputs: Vec<Option<f64>> =
        result.phase3.as_ref().unwrap().input_solutions.iter().map(|one| one.score).collect();
    assert_eq!(inputs, [Some(0.6), Some(0.7)]);
    assert!(!result.phases_completed.contains(&Phase::Phase2.name().to_owned()));
    let warned = |event: &Event| matches!(event, Event::Warning { text, .. } if text.contains(cause));
    assert!(world.events().iter().any(warned));
}

#[tokio::test]
async fn when_all_paths_fail_the_ensemble_gets_the_initial_solution_from_each() {
    let world = World::new().panics("phase2/path-0/t0/ablation").panics("phase2/path-1/t0/extractor");
    let result = run(&world, &frozen()).await.unwrap().result;
    assert_eq!(statuses(&result), [(0, PathStatus::Failed), (1, PathStatus::Failed)]);
    let initial = &result.phase1.initial_solution;
    assert_eq!(result.phase3.unwrap().input_solutions, [initial.clone(), initial.clone()]);
    assert!(result.phase2_results.iter().all(|path| path.step_history.iter().all(|step| step.was_skipped)));
}

#[tokio::test]
async fn a_phase_3_that_fails_leaves_the_best_path_to_finalize() {
    let world = World::new()
        .scores("phase2/path-0/t0/k0/run", 0.7)
        .scores("phase3/r0/run", 0.9)
        .panics("phase3/r1/ens_planner");
    let finished = run(&world, &frozen()).await.unwrap();
    assert_eq!(finished.result.phase3, None);
    let last = finished.result.lineage.last().unwrap();
    assert_eq!(last.from.iter().map(ToString::to_string).collect::<Vec<_>>(), ["phase2/path-0/t0/k0"]);
    assert!(finished.submission.is_some());
}

#[tokio::test]
async fn a_finalization_that_fails_leaves_the_best_script_and_its_own_submission() {
    let mut valid = submitted(&[]);
    valid.score = Some(0.9);
    let world = World::new().script("phase3/r1/run", valid).panics("finalization/test");
    let finished = run(&world, &frozen()).await.unwrap();
    assert_eq!(finished.submission.unwrap().as_str(), "phase3/r1/run");
    assert_eq!(finished.result.final_solution.score, Some(0.9));
    assert!(!finished.result.phases_completed.contains(&Phase::Finalization.name().to_owned()));
}

#[tokio::test]
async fn what_is_broken_outside_ends_the_run_and_no_path_is_blamed() {
    let world = World::new().breaks_once("phase2/path-0/t0/k0/coder");
    let (inputs, folder) = (frozen(), Folder::fresh());
    let journal = Journal::create(folder.path(), &inputs).unwrap();
    assert!(matches!(go_on(&world, &inputs, &journal).await, Err(Stop::Outside(_))));
    drop(journal);
    assert_eq!(read(folder.path()).unwrap().failures(), []);
    let (journal, frozen) = Journal::open(folder.path()).unwrap();
    let result = go_on(&world, &frozen, &journal).await.unwrap().result;
    assert_eq!(statuses(&result), [(0, PathStatus::Finished), (1, PathStatus::Finished)]);
}

#[tokio::test]
async fn a_path_that_failed_stays_failed_when_the_defect_is_gone() {
    let (inputs, folder) = (frozen(), Folder::fresh());
    let world =
        |world: World| world.scores("phase2/path-0/t0/k0/run", 0.6).breaks_once("phase3/r1/ens_planner");
    let journal = Journal::create(folder.path(), &inputs).unwrap();
    let broken = world(World::new()).panics("phase2/path-0/t0/k1/planner");
    assert!(go_on(&broken, &inputs, &journal).await.is_err());
    drop(journal);
    let (journal, frozen) = Journal::open(folder.path()).unwrap();
    let mended = World::new();
    let result = go_on(&mended, &frozen, &journal).await.unwrap().result;
    assert_eq!(statuses(&result), [(0, PathStatus::Failed), (1, PathStatus::Finished)]);
    assert_eq!(mended.trace()[0], "phase3/r1/ens_planner");
}

#[tokio::test(start_paused = true)]
async fn a_path_that_a_limit_cuts_short_is_cancelled() {
    let mut inputs = frozen();
    inputs.config.time_limit_seconds = 60;
    inputs.config.outer_loop_steps = 4;
    let result = run(&World::new().takes(0, 4), &inputs).await.unwrap().result;
    assert!(result.paths.iter().all(|path| path.status == PathStatus::Cancelled), "{:?}", result.paths);
    assert_eq!(result.paths[0].cause.as_deref(), Some("time share"));
}

#[tokio::test]
async fn more_paths_than_agents_is_a_warning() {
    let check = async |agents: u32, expected: bool| {
        let mut inputs = frozen();
        inputs.config.max_concurrent_agents = agents;
        let world = World::new();
        run(&world, &inputs).await.unwrap();
        let warned =
            |event: &Event| matches!(event, Event::Warning { text, .. } if text.contains("2 paths share"));
        assert_eq!(world.events().iter().any(warned), expected, "{agents} agents");
    };
    check(1, true).await;
    check(2, false).await;
}
