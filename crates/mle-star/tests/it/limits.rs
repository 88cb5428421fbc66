//! Time and money.

use std::ops::RangeInclusive;

use mle_star::event::Event;
use mle_star::journal::{Frozen, Journal};
use mle_star::result::{FinalResult, StoppedBy};
use mle_star::slots::Slots;
use mle_star::stop::Stop;
use mle_star::testing::{World, frozen, ran};
use mle_star_domain::effects::{Limit, ScriptOutcome, Usage};
use mle_star_domain::place::Step;

use crate::{Folder, go_on, go_on_with, run};

fn timed(limit: u64) -> Frozen {
    let mut inputs = frozen();
    inputs.config.time_limit_seconds = limit;
    (inputs.config.outer_loop_steps, inputs.config.inner_loop_steps) = (4, 4);
    inputs
}

fn records_are_whole(result: &FinalResult) {
    for path in &result.phase2_results {
        assert_eq!(path.step_history.len(), 4);
        for step in &path.step_history {
            assert!(step.was_skipped || step.inner_loop_attempts.len() == 4, "{step:?}");
        }
    }
    if let Some(phase3) = &result.phase3 {
        assert_eq!(phase3.ensemble_scores.len(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_ends_in_time_with_all_its_records() {
    for (limit, script) in [(60, 3), (600, 20), (7200, 300)] {
        let world = World::new().takes(0, script);
        let result = run(&world, &timed(limit)).await.unwrap().result;
        let taken = result.total_duration_seconds;
        #[expect(clippy::cast_precision_loss, reason = "small")]
        let allowed = limit as f64;
        assert!(taken <= allowed + 1.0, "{taken} of {limit}");
        assert!(taken > allowed * 0.5, "a run of {limit} s used only {taken}");
        records_are_whole(&result);
        assert!(
            !world.trace().is_empty()
                && result
                    .phase2_results
                    .iter()
                    .any(|path| { path.step_history.iter().any(|step| step.failed == Some(true)) }),
            "nothing was cut at {limit} s"
        );
        assert!(world.trace().iter().any(|place| place == "finalization/run"), "{limit}");
        assert!(world.events().iter().any(|event| matches!(event, Event::Skipped { .. })));
    }
}

#[tokio::test(start_paused = true)]
async fn paths_that_share_a_slot_share_the_time() {
    // The first path's scripts all fail and are repaired, which takes 800 s; the second needs 40 s.
    let attempts = (0..16).map(|n| format!("phase2/path-0/t{}/k{}", n / 4, n % 4));
    let runs = attempts.flat_map(|at| {
        (1..=3)
            .map(move |n| format!("debug-{n}/"))
            .chain([String::new()])
            .map(move |to| format!("{at}/{to}run"))
    });
    let slow = || runs.clone().fold(World::new().takes(0, 10), |world, place| world.fails(&place));
    let check = async |slots: usize, scripts: RangeInclusive<usize>| {
        let world = (0..4).fold(slow(), |world, step| {
            ["extractor", "extractor-2", "extractor-3"]
                .iter()
                .fold(world, |world, name| world.agent(&format!("phase2/path-1/t{step}/{name}"), "no block"))
        });
        let (inputs, folder) = (timed(600), Folder::fresh());
        let journal = Journal::create(folder.path(), &inputs).unwrap();
        let result = go_on_with(&world, &inputs, &journal, &Slots::new(slots)).await.unwrap().result;
        let of_path = |path: &str| {
            world.trace().iter().filter(|place| place.starts_with(path) && place.ends_with("/run")).count()
        };
        let (first, second) = (of_path("phase2/path-0"), of_path("phase2/path-1"));
        assert!(scripts.contains(&first) && second == 4, "{first} and {second} with {slots} slots");
        assert_eq!(result.paths[0].cause.as_deref(), Some("time share"));
        assert_eq!(result.paths[1].cause, None);
    };
    // Phase 1 takes 30 s with one slot and 20 s with two; Phase 2 gets 65/90 of the rest, 411 s and 418 s.
    check(1, 20..=22).await; // half of 411 s
    check(2, 41..=43).await; // all of 418 s
}

#[tokio::test(start_paused = true)]
async fn scripts_may_take_the_share_of_their_phase() {
    let check = async |paths: u32, expected: &[(&str, f64)]| {
        let mut inputs = frozen();
        inputs.config.time_limit_seconds = 1000;
        inputs.config.num_parallel_solutions = paths;
        let world = World::new();
        run(&world, &inputs).await.unwrap();
        for (place, seconds) in expected {
            let timeout = world.script_run(place).unwrap().timeout.as_secs_f64();
            assert!((timeout - seconds).abs() < 1.0, "{place}: {timeout} s with {paths} paths");
        }
    };
    // Nothing takes time here, so that each phase divides the whole again: 10, then 65 of 90, 15 of 25.
    let whole = 1000.0;
    check(
        2,
        &[
            ("phase1/merge-1/run", 0.1 * whole),
            ("phase2/path-0/t0/k0/run", 65.0 / 90.0 * whole / 2.0),
            ("phase3/r0/run", 15.0 / 25.0 * whole),
            ("finalization/run", whole),
        ],
    )
    .await;
    check(1, &[("phase2/path-0/t0/k0/run", 80.0 / 90.0 * whole), ("finalization/run", whole)]).await;
}

#[tokio::test(start_paused = true)]
async fn a_solution_is_not_refined_where_its_next_version_does_not_fit() {
    // The path may use scripts for 889 s. All scripts but those of the second candidate, the best one, take no time.
    for (seconds, refined) in [(600.0, true), (900.0, false)] {
        let slow = ScriptOutcome { duration_seconds: seconds, ..ran(Some(0.99)) };
        let world = World::new().script("phase1/candidate-1/run", slow);
        let mut inputs = timed(1000);
        inputs.config.num_parallel_solutions = 1;
        let result = run(&world, &inputs).await.unwrap().result;
        assert_eq!(result.phase1.candidate_scores.len(), 2);
        let began = world.trace().iter().any(|place| place.starts_with("phase2/"));
        assert_eq!(began, refined, "{seconds} s");
    }
}

#[tokio::test(start_paused = true)]
async fn merges_and_ensembles_begin_only_if_the_longest_of_their_solutions_fits() {
    // The first solutions may use scripts for 100 s, ensembles for 600 s. All other scripts take no time.
    for (slow, seconds, next, begins) in [
        ("phase1/candidate-1/run", 90.0, "phase1/merge-1/merger", true),
        ("phase1/candidate-1/run", 110.0, "phase1/merge-1/merger", false),
        ("phase2/path-0/t0/k0/run", 590.0, "phase3/r0/ens_planner", true),
        ("phase2/path-0/t0/k0/run", 610.0, "phase3/r0/ens_planner", false),
    ] {
        let taken = ScriptOutcome { duration_seconds: seconds, ..ran(Some(0.99)) };
        let world = World::new().script(slow, taken);
        let mut inputs = timed(1000);
        (inputs.config.outer_loop_steps, inputs.config.inner_loop_steps) = (1, 1);
        run(&world, &inputs).await.unwrap();
        assert_eq!(world.trace().iter().any(|place| place == next), begins, "{slow} {seconds}");
    }
}

#[tokio::test(start_paused = true)]
async fn one_path_gets_the_time_that_is_too_short_for_two() {
    // Each of two paths could use scripts for 361 s.
    for (seconds, paths) in [(200.0, 2), (400.0, 1)] {
        let slow = ScriptOutcome { duration_seconds: seconds, ..ran(Some(0.99)) };
        let world = World::new().script("phase1/candidate-1/run", slow);
        let result = run(&world, &timed(1000)).await.unwrap().result;
        let began = |path: usize| {
            world.trace().iter().any(|place| place.starts_with(&format!("phase2/path-{path}/")))
        };
        assert!(began(0));
        assert_eq!(began(1), paths == 2, "{seconds} s");
        assert_eq!(result.paths[1].cause.as_deref(), (paths == 1).then_some("time share"));
        records_are_whole(&result);
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_solution_phase_1_may_go_on() {
    let world = World::new().takes(0, 40);
    // Phase 1's share of 100 s is 10 s; the first script takes 40.
    let result = run(&world, &timed(100)).await.unwrap().result;
    assert_eq!(result.phase1.candidate_scores.iter().flatten().count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_limit_before_the_first_solution_ends_the_run() {
    let world = World::new().takes(0, 500);
    assert!(matches!(
        run(&world, &timed(100)).await,
        Err(Stop::Limit(mle_star_domain::effects::Limit::Time))
    ));
    let mut inputs = frozen();
    inputs.config.max_budget_usd = Some(1.0);
    let world = World::new().costs(Some(1.2));
    assert!(matches!(run(&world, &inputs).await, Err(Stop::Limit(mle_star_domain::effects::Limit::Budget))));
}

#[tokio::test]
async fn money_stops_the_search_and_finalization_uses_its_reserve() {
    for paths in [1, 2, 8] {
        let mut inputs = frozen();
        inputs.config.max_budget_usd = Some(3.0);
        inputs.config.num_parallel_solutions = paths;
        inputs.config.outer_loop_steps = 8;
        let world = World::new().costs(Some(0.05));
        let result = run(&world, &inputs).await.unwrap().result;
        let spent = result.total_cost_usd.unwrap();
        assert!(spent <= 3.0 + 1e-9 && spent > 2.5, "{spent} with {paths} paths");
        assert_eq!(result.stopped_by, Some(StoppedBy::Budget));
        assert!(world.trace().contains(&"finalization/test".to_owned()));
        assert_eq!(warnings(&world, "80 %"), 1);
        let parts = result.costs;
        let sum = [
            parts.phase1_cost_usd,
            parts.phase2_cost_usd,
            parts.phase3_cost_usd,
            parts.finalization_cost_usd,
        ];
        assert!((sum.iter().flatten().sum::<f64>() - spent).abs() < 1e-9);
        assert_eq!(parts.phase2_per_path_cost_usd.len(), paths as usize);
        assert!((result.usage.total().usage.cost_usd.unwrap() - spent).abs() < 1e-9);
    }
}

/// The number of warnings that contain `part`.
fn warnings(world: &World, part: &str) -> usize {
    let is_meant = |event: &&Event| matches!(event, Event::Warning { text, .. } if text.contains(part));
    world.events().iter().filter(is_meant).count()
}

#[tokio::test]
async fn costs_are_counted_by_phase_and_path() {
    let world = World::new()
        .costs(Some(0.0))
        .costs_at("phase1/data/data", 1.0)
        .costs_at("phase2/path-0/t0/k0/coder", 2.0)
        .costs_at("phase2/path-1/t0/k1/planner", 4.0)
        .costs_at("phase3/r0/ensembler", 8.0)
        .costs_at("finalization/test", 16.0);
    let costs = run(&world, &frozen()).await.unwrap().result.costs;
    assert_eq!(costs.phase2_per_path_cost_usd, [Some(2.0), Some(4.0)]);
    assert_eq!((costs.phase1_cost_usd, costs.phase2_cost_usd), (Some(1.0), Some(6.0)));
    assert_eq!((costs.phase3_cost_usd, costs.finalization_cost_usd), (Some(8.0), Some(16.0)));
    assert_eq!(costs.total_cost_usd, Some(31.0));
}

#[tokio::test]
async fn a_limit_inside_a_step_is_part_of_its_verdict_and_its_warnings() {
    let mut inputs = frozen();
    inputs.config.max_budget_usd = Some(10.0);
    let world = World::new().costs(Some(0.0)).costs_at("phase3/r0/ensembler", 6.0);
    let result = run(&world, &inputs).await.unwrap().result;
    assert_eq!(result.phases_completed, ["phase1", "phase2", "finalization"]);
    let limits = world.events().into_iter().filter_map(|event| match event {
        Event::StepEnded { place: Step::Round(1), verdict } => verdict.limit,
        Event::Warning { place, text, limit }
            if place == Step::Round(1).place() && text.contains("no code") =>
        {
            limit
        }
        _ => None,
    });
    assert_eq!(limits.collect::<Vec<_>>(), [Limit::Budget, Limit::Budget]);
}

#[tokio::test]
async fn an_unknown_cost_is_unknown_or_estimated() {
    let mut inputs = frozen();
    // No model has a price.
    inputs.config.agents = mle_star_domain::config::AgentsChoice::OpenAi;
    let world = World::new().costs(None);
    let result = run(&world, &inputs).await.unwrap().result;
    assert_eq!((result.total_cost_usd, result.costs.phase3_cost_usd), (None, None));
    assert_eq!(warnings(&world, "is unknown"), 0, "there is no budget to hold");
    // A budget holds all the same: with the dearest price.
    inputs.config.max_budget_usd = Some(1.0);
    let world = World::new().costs(None);
    let result = run(&world, &inputs).await.unwrap().result;
    let spent = result.total_cost_usd.unwrap();
    assert!(spent > 0.5 && spent <= 1.0, "{spent}");
    assert_eq!((result.estimated_cost_usd, result.stopped_by), (spent, Some(StoppedBy::Budget)));
    assert_eq!(warnings(&world, "is unknown"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_larger_limit_goes_on_where_the_old_one_made_it_skip() {
    let (mut inputs, folder) = (timed(60), Folder::fresh());
    inputs.config.num_retrieved_models = 1; // so that Phase 1 is whole
    let world = World::new().takes(0, 4);
    let journal = Journal::create(folder.path(), &inputs).unwrap();
    let short = go_on(&world, &inputs, &journal).await.unwrap().result;
    let done_before: Vec<String> = world.trace();
    drop(journal);
    world.forget();
    let (journal, mut frozen) = Journal::open(folder.path()).unwrap();
    frozen.config.time_limit_seconds = 86_400;
    journal.reopen_with(&frozen, None).unwrap();
    let long = go_on(&world, &frozen, &journal).await.unwrap().result;
    assert!(
        long.phase2_results.iter().all(|path| path.step_history.iter().all(|step| step.failed.is_none()))
    );
    assert_eq!(long.stopped_by, None);
    assert!(long.total_duration_seconds > short.total_duration_seconds);
    let repeated: Vec<&String> = world
        .trace()
        .iter()
        .filter(|p| p.starts_with("phase1") || p.starts_with("phase2"))
        .filter_map(|place| done_before.iter().find(|done| *done == place))
        .collect();
    assert!(repeated.is_empty(), "{repeated:?}");
}

#[tokio::test]
async fn only_checked_scripts_are_scored_even_when_money_runs_out() {
    for cents in 60..100 {
        let mut inputs = frozen();
        inputs.config.max_budget_usd = Some(f64::from(cents) / 100.0);
        let world = World::new().costs(Some(0.03));
        let Ok(_) = run(&world, &inputs).await else { continue };
        let trace = world.trace();
        for place in
            trace.iter().filter(|place| place.ends_with("/run") && !place.starts_with("finalization"))
        {
            let step = place.trim_end_matches("/run");
            let is_study = step.ends_with("t0");
            assert!(is_study || trace.contains(&format!("{step}/leakage")), "{place} with {cents} cents");
        }
    }
}

#[tokio::test]
async fn a_larger_budget_counts_all_that_was_spent_before() {
    let (mut inputs, folder) = (frozen(), Folder::fresh());
    inputs.config.outer_loop_steps = 4;
    inputs.config.max_budget_usd = Some(1.0);
    let world = World::new().costs(Some(0.05));
    let journal = Journal::create(folder.path(), &inputs).unwrap();
    let first = go_on(&world, &inputs, &journal).await.unwrap().result;
    assert_eq!(first.stopped_by, Some(StoppedBy::Budget));
    drop(journal);
    let (journal, mut frozen) = Journal::open(folder.path()).unwrap();
    frozen.config.max_budget_usd = Some(2.0);
    journal.reopen_with(&frozen, None).unwrap();
    let second = go_on(&world, &frozen, &journal).await.unwrap().result;
    let spent = second.total_cost_usd.unwrap();
    assert!(spent > first.total_cost_usd.unwrap() && spent <= 2.0 + 1e-9, "{spent}");
    assert_eq!(second.stopped_by, Some(StoppedBy::Budget));
}

#[tokio::test]
async fn a_refused_call_costs_what_the_service_reports() {
    let mut inputs = frozen();
    // Alone: nothing else is cut off with it.
    inputs.config.num_parallel_solutions = 1;
    let undisturbed = run(&World::new().costs(Some(0.5)), &inputs).await.unwrap().result.costs;
    let [total, last] = [undisturbed.total_cost_usd, undisturbed.finalization_cost_usd].map(Option::unwrap);
    let check = async |usage: Usage, more: f64, interrupted: u64, stopped_by: Option<StoppedBy>| {
        let mut inputs = inputs.clone();
        // Just enough, with the reserve for finalization.
        inputs.config.max_budget_usd = Some(((total - last) / 0.9).max(total) + more + 1e-6);
        let world = World::new().costs(Some(0.5)).denies_once("phase2/path-0/t0/k1/planner", usage);
        let folder = Folder::fresh();
        let journal = Journal::create(folder.path(), &inputs).unwrap();
        assert!(matches!(go_on(&world, &inputs, &journal).await, Err(Stop::Agents { .. })));
        drop(journal);
        let (journal, frozen) = Journal::open(folder.path()).unwrap();
        let result = go_on(&world, &frozen, &journal).await.unwrap().result;
        assert_eq!(
            (result.usage.interrupted_calls, result.stopped_by),
            (interrupted, stopped_by),
            "{usage:?}"
        );
        let asked = world.trace().iter().filter(|place| place.ends_with("k1/planner")).count();
        assert_eq!(asked, 2, "{usage:?}");
        if stopped_by.is_none() {
            let spent = result.total_cost_usd.unwrap();
            assert!((spent - total - more).abs() < 1e-9, "{usage:?}: {spent} for {total}");
        }
    };
    check(Usage::free(), 0.0, 0, None).await;
    check(Usage { cost_usd: Some(0.2), input: 10, ..Usage::default() }, 0.2, 0, None).await;
    // What is unknown is estimated.
    check(Usage::default(), 0.0, 0, Some(StoppedBy::Budget)).await;
}
