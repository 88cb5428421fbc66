//! A failed path or phase does not stop the run.

use mle_star::event::Event;
use mle_star::journal::{Journal, read};
use mle_star::result::{FinalResult, PathStatus};
use mle_star::stop::Stop;
use mle_star::testing::{World, frozen, submitted};
use mle_star_domain::config::{Config, Context};
use mle_star_domain::effects::{Limit, ScriptEnd, ScriptOutcome};
use mle_star_domain::place::{Phase, Step};

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
    let closed = world.events().into_iter().find_map(|event| match event {
        Event::StepEnded { place: Step::Outer { path: 0, outer: 0 }, verdict } => Some(verdict),
        _ => None,
    });
    let closed = closed.unwrap();
    assert_eq!((closed.note.as_str(), closed.best.unwrap().score), (cause, 0.6));
    let inputs: Vec<Option<f64>> =
        result.phase3.as_ref().unwrap().input_solutions.iter().map(|one| one.score).collect();
    assert_eq!(inputs, [Some(0.6), Some(0.7)]);
    assert!(!result.phases_completed.contains(&Phase::Phase2.name().to_owned()));
    let warned = |event: &Event| matches!(event, Event::Warning { text, .. } if text.contains(cause));
    assert!(world.events().iter().any(warned));
    // The attempt at which it failed is closed, too.
    let closed = |event: &Event| match event {
        Event::StepEnded { place, verdict } => {
            place.to_string() == "phase2/path-0/t0/k1" && verdict.note == cause
        }
        _ => false,
    };
    assert!(world.events().iter().any(closed));
}

#[tokio::test]
async fn a_script_that_is_stopped_after_its_answer_has_not_failed_but_in_the_paper() {
    const RUN: &str = "phase2/path-0/t0/k0/run";
    let answered = ScriptOutcome { end: ScriptEnd::Answered, score: Some(0.6), ..submitted(&[]) };
    for (context, best, words) in
        [(Context::Full, 0.6, "time limit, after its answer"), (Context::Paper, 0.5, "time limit")]
    {
        let (world, mut inputs) = (World::new().script(RUN, answered.clone()), frozen());
        (inputs.config.context, inputs.config.max_debug_attempts) = (context, 0);
        let result = run(&world, &inputs).await.unwrap().result;
        assert_eq!(result.phase2_results[0].best_score, best, "{words}");
        let has_ended = |event: &Event| {
            matches!(event, Event::ScriptEnded { place, end, failure, .. }
            if place.as_str() == RUN && end == words && failure.is_some() == (best == 0.5))
        };
        assert!(world.events().iter().any(has_ended), "{words}");
    }
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
    let answers = world.events().into_iter().filter_map(|event| match event {
        Event::Answer { solution, .. } => Some(solution.step.to_string()),
        _ => None,
    });
    let answers: Vec<String> = answers.collect();
    assert!(answers.contains(&"phase3/r0".to_owned()), "{answers:?}");
    assert!(answers.ends_with(&["phase2/path-0/t0/k0".to_owned(), "finalization".to_owned()]), "{answers:?}");
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

/// A defect in a step of Phase 1 is a failure of that step, also after a resume.
#[tokio::test]
async fn a_defect_in_phase_1_costs_the_step_alone() {
    let check = async |place: &str, step: &str| {
        let (inputs, folder) = (frozen(), Folder::fresh());
        let broken = World::new().panics(place).breaks_once("phase3/r1/ens_planner");
        let journal = Journal::create(folder.path(), &inputs).unwrap();
        assert!(matches!(go_on(&broken, &inputs, &journal).await, Err(Stop::Outside(_))), "{place}");
        drop(journal);
        let failures = read(folder.path()).unwrap().failures();
        let [(failed, cause)] = failures.as_slice() else { panic!("{place}: {failures:?}") };
        assert!(failed.as_str() == step && cause.contains("a defect at"), "{failures:?}");
        let closed = |event: &Event| match event {
            Event::StepEnded { place, verdict } => place.to_string() == step && verdict.score.is_none(),
            _ => false,
        };
        assert_eq!(broken.events().iter().filter(|event| closed(event)).count(), 1, "{place}");
        let (journal, frozen) = Journal::open(folder.path()).unwrap();
        let mended = World::new();
        let result = go_on(&mended, &frozen, &journal).await.unwrap().result;
        assert_eq!(mended.trace()[0], "phase3/r1/ens_planner", "{place}");
        result
    };
    let result = check("phase1/candidate-0/init", "phase1/candidate-0").await;
    let scores: Vec<bool> = result.phase1.candidate_solutions.iter().map(|one| one.score.is_some()).collect();
    assert_eq!((scores[0], scores[1]), (false, true), "{scores:?}");
    check("phase1/candidate-1/run", "phase1/candidate-1").await;
    let result = check("phase1/merge-1/merger", "phase1/merge-1").await;
    assert_eq!(result.phase1.merges.iter().map(|merge| merge.accepted).collect::<Vec<_>>(), [false]);
    check("phase1/data/data", "phase1/data").await;
    check("phase1/final/leakage", "phase1/final").await;
    // Without any candidate there is no solution.
    let all = World::new().panics("phase1/candidate-0/init").panics("phase1/candidate-1/run");
    assert!(matches!(run(&all, &frozen()).await, Err(Stop::NoSolution(_))));
}

#[tokio::test(start_paused = true)]
async fn a_path_that_a_limit_cuts_short_is_cancelled() {
    let (mut steps, mut attempts) = (Vec::new(), Vec::new());
    for time_limit_seconds in [60, 68, 76, 84] {
        let mut inputs = frozen();
        inputs.config = Config { time_limit_seconds, outer_loop_steps: 4, ..inputs.config };
        let result = run(&World::new().takes(0, 4), &inputs).await.unwrap().result;
        assert!(result.paths.iter().all(|path| path.status == PathStatus::Cancelled), "{:?}", result.paths);
        assert_eq!(result.paths[0].cause.as_deref(), Some("time share"));
        steps.extend(result.phase2_results.into_iter().flat_map(|path| path.step_history));
    }
    attempts.extend(steps.iter().flat_map(|step| &step.inner_loop_attempts));
    let skipped: Vec<_> = steps.iter().filter(|step| step.was_skipped).map(|step| step.limit).collect();
    let left_out = attempts.iter().filter(|attempt| attempt.plan.is_empty()).map(|attempt| attempt.limit);
    for limits in [skipped, left_out.collect()] {
        assert!(limits.contains(&Some(Limit::Share)) && !limits.contains(&None), "{limits:?}");
    }
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

#[tokio::test]
async fn what_ends_a_run_early_leaves_diagnostics_and_the_answer_so_far() {
    let mut valid = submitted(&[]);
    valid.score = Some(0.6);
    let usage = mle_star_domain::effects::Usage { cost_usd: Some(0.1), ..Default::default() };
    let world = World::new()
        .costs(Some(0.1))
        .script("phase2/path-0/t0/k0/run", valid)
        .denies_once("phase3/r0/ens_planner", usage);
    let (inputs, folder) = (frozen(), Folder::fresh());
    let journal = Journal::create(folder.path(), &inputs).unwrap();
    assert!(matches!(go_on(&world, &inputs, &journal).await, Err(Stop::Agents { .. })));
    drop(journal);
    let stopped = read(folder.path()).unwrap().stopped.unwrap();
    let announced = world.events().into_iter().find_map(|event| match event {
        Event::Stopped(diagnostics) => Some(*diagnostics),
        _ => None,
    });
    assert_eq!(announced, Some(stopped.clone()));
    assert_eq!((stopped.error.as_str(), stopped.phase), ("the login was refused", Some(Phase::Phase3)));
    assert_eq!(stopped.solution.unwrap().score, 0.6);
    assert_eq!(stopped.submission.unwrap().run.as_str(), "phase2/path-0/t0/k0/run");
    assert_eq!(stopped.last_success.unwrap().phase(), Some(Phase::Phase2));
    let calls = world.trace().iter().filter(|place| !place.ends_with("/run")).count();
    #[expect(clippy::cast_precision_loss, reason = "a handful")]
    let cost = calls as f64 * 0.1;
    assert!((stopped.spent.cost_usd.unwrap() - cost).abs() < 1e-9);
    assert!(stopped.scored >= 5);
}

#[tokio::test]
async fn a_run_without_a_solution_says_how_far_it_came() {
    let world = (1..=3).fold(World::new(), |world, repair| {
        let fails = |world: World, at: String| world.fails(&at);
        (0..2).fold(world, |world, candidate| {
            let step = format!("phase1/candidate-{candidate}");
            fails(fails(world, format!("{step}/run")), format!("{step}/debug-{repair}/run"))
        })
    });
    let (inputs, folder) = (frozen(), Folder::fresh());
    let journal = Journal::create(folder.path(), &inputs).unwrap();
    assert!(matches!(go_on(&world, &inputs, &journal).await, Err(Stop::NoSolution(_))));
    drop(journal);
    let stopped = read(folder.path()).unwrap().stopped.unwrap();
    assert_eq!((stopped.scored, stopped.solution, stopped.phase), (0, None, Some(Phase::Phase1)));
    assert!(stopped.error.contains("all 2 candidates"), "{}", stopped.error);
}
