//! A run is the list of its effects.

use mle_star::testing::{World, frozen};
use mle_star_domain::config::LeakageCheck;

use crate::run;

#[tokio::test]
async fn a_small_run_performs_exactly_these_effects() {
    let mut inputs = frozen();
    inputs.config.num_parallel_solutions = 1;
    let world = World::new();
    run(&world, &inputs).await.unwrap();
    let mut phase1: Vec<String> = world.trace();
    let later = phase1.split_off(9);
    phase1.sort(); // the candidates are asked for at once
    let expected = [
        "phase1/candidate-0/init",
        "phase1/candidate-0/leakage",
        "phase1/candidate-0/run",
        "phase1/candidate-1/init",
        "phase1/candidate-1/leakage",
        "phase1/candidate-1/run",
        "phase1/merge-1/leakage",
        "phase1/merge-1/merger",
        "phase1/retriever",
    ];
    assert_eq!(phase1, expected);
    let expected = [
        "phase1/merge-1/run",
        "phase1/data/data",
        "phase1/final/leakage",
        "phase2/path-0/t0/ablation",
        "phase2/path-0/t0/run",
        "phase2/path-0/t0/summarize",
        "phase2/path-0/t0/extractor",
        "phase2/path-0/t0/k0/coder",
        "phase2/path-0/t0/k0/leakage",
        "phase2/path-0/t0/k0/run",
        "phase2/path-0/t0/k1/planner",
        "phase2/path-0/t0/k1/coder",
        "phase2/path-0/t0/k1/leakage",
        "phase2/path-0/t0/k1/run",
        "finalization/subsampling_extract",
        "finalization/test",
        "finalization/leakage",
        "finalization/run",
    ];
    assert_eq!(later, expected);
}

/// The same for each script: with `leakage_check: each` it is checked before it runs; by default it runs first, and is
/// checked if it would be accepted.
#[tokio::test]
async fn leakage_is_checked_before_each_run_or_after_those_that_count() {
    let check = async |rule: LeakageCheck, score: f64, expected: [&[&str]; 4]| {
        let mut inputs = frozen();
        inputs.config.leakage_check = rule;
        (inputs.config.num_parallel_solutions, inputs.config.ensemble_rounds) = (2, 2);
        let steps = ["phase1/candidate-0", "phase1/merge-1", "phase2/path-0/t0/k0", "phase3/r1"];
        let world =
            steps[1..].iter().fold(World::new(), |world, step| world.scores(&format!("{step}/run"), score));
        run(&world, &inputs).await.unwrap();
        for (step, expected) in steps.iter().zip(expected) {
            let trace = world.trace();
            let of_step = trace.iter().filter_map(|place| place.strip_prefix(&format!("{step}/")));
            let seen: Vec<&str> = of_step.filter(|name| ["leakage", "run"].contains(name)).collect();
            assert_eq!(seen, expected, "{rule:?} {step} {score}");
        }
    };
    let (before, after, never): (&[&str], &[&str], &[&str]) =
        (&["leakage", "run"], &["run", "leakage"], &["run"]);
    check(LeakageCheck::Each, 0.4, [before; 4]).await;
    check(LeakageCheck::Accepted, 0.6, [after; 4]).await;
    check(LeakageCheck::Accepted, 0.4, [after, never, never, never]).await;
}

#[tokio::test]
async fn the_papers_defaults_take_the_papers_number_of_effects() {
    let mut inputs = frozen();
    inputs.config = mle_star_domain::config::Config::default();
    let world = World::new();
    let result = run(&world, &inputs).await.unwrap().result;
    let runs = world.trace().iter().filter(|place| place.ends_with("/run")).count();
    // 4 candidates, 3 merges, 2 paths x 4 steps x (ablation + 4 attempts), 5 rounds, 1 submission.
    assert_eq!(runs, 4 + 3 + 2 * 4 * (1 + 4) + 5 + 1);
    assert_eq!(result.phase2_results.len(), 2);
    for path in &result.phase2_results {
        assert_eq!(path.step_history.len(), 4);
        assert!(path.step_history.iter().all(|step| step.inner_loop_attempts.len() == 4));
        assert_eq!(path.ablation_summaries.len(), 4);
    }
    assert_eq!(result.phase3.unwrap().ensemble_scores.len(), 5);
    assert_eq!(result.phases_completed, ["phase1", "phase2", "phase3", "finalization"]);
}

#[tokio::test]
async fn sessions_are_labelled_by_path() {
    let world = World::new();
    run(&world, &frozen()).await.unwrap();
    let check = |place: &str, session: &str| {
        assert_eq!(world.request(place).unwrap().place.session(), session);
    };
    check("phase1/retriever", "phase1");
    check("phase2/path-1/t0/k0/coder", "path-1");
    check("phase3/r0/ens_planner", "phase3");
    check("finalization/test", "finalization");
}
