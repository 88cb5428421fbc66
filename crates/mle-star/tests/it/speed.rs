//! What the program itself costs, beside its agents and scripts.

use std::time::{Duration, Instant};

use mle_star::config::Config;
use mle_star::solution::{Solution, SolutionPhase};
use mle_star::testing::{World, frozen};

use crate::run;

#[tokio::test]
async fn a_run_of_the_papers_size_costs_the_program_seconds() {
    let mut inputs = frozen();
    inputs.config = Config::default();
    let (world, started) = (World::new(), Instant::now());
    run(&world, &inputs).await.unwrap();
    let (taken, effects) = (started.elapsed(), world.trace().len());
    assert!(effects > 150, "{effects} effects");
    assert!(taken < Duration::from_secs(5), "{effects} effects took {taken:?}");
}

#[test]
fn blocks_of_long_scripts_are_found_at_once() {
    let lines: Vec<String> = (0..2000).map(|n| format!("feature_{n} = compute({n})  ")).collect();
    let script = Solution::new(lines.join("\n"), SolutionPhase::Init);
    assert!(script.text.len() > 50_000);
    let quoted = lines[1000..1400].iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n");
    let started = Instant::now();
    script.find_block(&quoted).unwrap();
    assert!(started.elapsed() < Duration::from_millis(50), "{:?}", started.elapsed());
}

#[tokio::test(start_paused = true)]
async fn durations_of_the_phases_add_up() {
    let mut inputs = frozen();
    inputs.config.time_limit_seconds = 36_000;
    let durations = run(&World::new().takes(1, 10), &inputs).await.unwrap().result.durations;
    let phases = [
        durations.phase1_duration_seconds,
        durations.phase2_duration_seconds,
        durations.phase3_duration_seconds,
        durations.finalization_duration_seconds,
    ];
    assert!(phases.iter().all(|seconds| *seconds >= 10.0), "{phases:?}");
    assert!((phases.iter().sum::<f64>() - durations.total_duration_seconds).abs() < 0.01, "{durations:?}");
}

#[tokio::test(start_paused = true)]
async fn the_submission_script_may_use_all_the_time_that_is_left() {
    let mut inputs = frozen();
    inputs.config.time_limit_seconds = 600;
    let world = World::new().takes(0, 5);
    run(&world, &inputs).await.unwrap();
    let scripts = world.trace().iter().filter(|place| place.ends_with("/run")).count();
    let left = 600.0 - 5.0 * f64::from(u32::try_from(scripts - 1).unwrap());
    let timeout = world.script_run("finalization/run").unwrap().timeout.as_secs_f64();
    assert!((timeout - left).abs() < 0.5, "{timeout} of {left}");
}

#[tokio::test]
async fn a_second_run_starts_from_nothing() {
    let world = World::new().costs(Some(0.25));
    let first = run(&world, &frozen()).await.unwrap().result;
    let effects = world.trace().len();
    world.forget();
    let second = run(&world, &frozen()).await.unwrap().result;
    assert_eq!((world.trace().len(), second.total_cost_usd), (effects, first.total_cost_usd));
}

#[tokio::test]
async fn candidates_and_paths_go_on_side_by_side() {
    let world = World::new();
    run(&world, &frozen()).await.unwrap();
    let trace = world.trace();
    let first = |start: &str| trace.iter().position(|place| place.starts_with(start)).unwrap();
    let last = |start: &str| trace.iter().rposition(|place| place.starts_with(start)).unwrap();
    for (one, other) in [("phase1/candidate-0", "phase1/candidate-1"), ("phase2/path-0", "phase2/path-1")] {
        assert!(first(other) < last(one) && first(one) < last(other), "{trace:?}");
    }
    for (earlier, later) in [("phase1", "phase2"), ("phase2", "phase3"), ("phase3", "finalization")] {
        assert!(last(earlier) < first(later), "{trace:?}");
    }
}

#[test]
fn a_megabyte_of_output_is_searched_for_its_score_at_once() {
    let line = "epoch 17: loss 0.123456, accuracy 0.98765, Final Validation Perf\n";
    let output = line.repeat((1 << 20) / line.len()) + "Final Validation Performance: 0.75\n";
    // What is meant is an optimised build; others are an order of magnitude slower.
    let allowed = Duration::from_millis(if cfg!(debug_assertions) { 200 } else { 10 });
    let started = Instant::now();
    assert_eq!(mle_star::score::parse_score(&output), Some(0.75));
    assert!(started.elapsed() < allowed, "{:?}", started.elapsed());
}
