//! Phase 2: ablation, extraction, attempts.

use mle_star::result::Phase2Result;
use mle_star::testing::{World, frozen, ran};
use mle_star_domain::effects::{Captured, ScriptEnd, ScriptOutcome};
use mle_star_domain::metric::Direction;

use crate::run;

/// One path of T steps with K attempts, from an s_0 that scores 0.5.
async fn path(world: &World, steps: u32, attempts: u32) -> Phase2Result {
    path_towards(world, steps, attempts, Direction::Maximize).await
}

async fn path_towards(world: &World, steps: u32, attempts: u32, direction: Direction) -> Phase2Result {
    let mut inputs = frozen();
    inputs.task.metric_direction = direction;
    let config = &mut inputs.config;
    (config.num_retrieved_models, config.num_parallel_solutions) = (1, 1);
    (config.outer_loop_steps, config.inner_loop_steps) = (steps, attempts);
    run(world, &inputs).await.unwrap().result.phase2_results.remove(0)
}

fn with_scores(scores: &[Option<f64>]) -> World {
    scores.iter().enumerate().fold(World::new(), |world, (k, score)| {
        let step = format!("phase2/path-0/t0/k{k}");
        match score {
            Some(score) => world.scores(&format!("{step}/run"), *score),
            None => (1..=3).fold(world.fails(&format!("{step}/run")), |world, n| {
                world.fails(&format!("{step}/debug-{n}/run"))
            }),
        }
    })
}

#[tokio::test]
async fn the_best_attempt_wins_and_ties_go_to_the_newer() {
    let check =
        async |scores: &[Option<f64>], direction, best: f64, winner: Option<usize>, better: &[bool]| {
            let world = with_scores(scores);
            let path = path_towards(&world, 1, u32::try_from(scores.len()).unwrap(), direction).await;
            let attempts = &path.step_history[0].inner_loop_attempts;
            assert_eq!(attempts.iter().map(|attempt| attempt.score).collect::<Vec<_>>(), scores);
            assert_eq!(
                attempts.iter().map(|attempt| attempt.was_improvement).collect::<Vec<_>>(),
                better,
                "{scores:?}"
            );
            assert_eq!((path.best_score, path.best_solution.score), (best, Some(best)));
            let mark = winner.map_or("candidate-0".to_owned(), |k| format!("t0/k{k}/coder"));
            assert!(path.best_solution.content.contains(&mark), "{}", path.best_solution.content);
            assert_eq!(path.step_history[0].best_score_after_step, best);
        };
    use Direction::{Maximize, Minimize};
    check(&[Some(0.82), Some(0.85)], Maximize, 0.85, Some(1), &[true, true]).await;
    check(&[Some(0.85), Some(0.82)], Maximize, 0.85, Some(0), &[true, false]).await;
    check(&[Some(0.5), Some(0.5)], Maximize, 0.5, Some(1), &[true, true]).await;
    check(&[Some(0.4), None, Some(0.3)], Maximize, 0.5, None, &[false, false, false]).await;
    check(&[None, Some(0.6), Some(0.4)], Minimize, 0.4, Some(2), &[false, false, true]).await;
}

#[tokio::test]
async fn every_attempt_edits_the_original_block_and_the_planner_sees_all_of_them() {
    let world = with_scores(&[Some(0.9), None, Some(0.95)]);
    path(&world, 1, 3).await;
    let block = "block = 'phase1/candidate-0/init'";
    for k in 0..3 {
        let request = world.request(&format!("phase2/path-0/t0/k{k}/coder")).unwrap();
        assert_eq!(request.inputs["code_block"], block);
        let script = world.script_run(&format!("phase2/path-0/t0/k{k}/run")).unwrap().script;
        assert_eq!(script, format!("print('start')\nblock = 'phase2/path-0/t0/k{k}/coder'\nprint(block)"));
    }
    let planner = world.request("phase2/path-0/t0/k2/planner").unwrap();
    assert_eq!(planner.inputs["scores"], serde_json::json!([0.9, null]));
    assert_eq!(planner.inputs["plans"].as_array().unwrap().len(), 2);
    assert!(planner.prompt.contains("## Plan: plan of phase2/path-0/t0/extractor\n## Score: 0.9"));
    assert!(planner.prompt.contains("## Score: N/A (evaluation failed)"));
    assert!(world.request("phase2/path-0/t0/k0/planner").is_none());
}

#[tokio::test]
async fn the_next_step_starts_from_the_best_so_far() {
    let world = World::new().scores("phase2/path-0/t0/k0/run", 0.9);
    let path = path(&world, 2, 1).await;
    let second = world.request("phase2/path-0/t1/ablation").unwrap();
    assert!(second.inputs["solution_script"].as_str().unwrap().contains("t0/k0/coder"));
    assert_eq!(
        second.inputs["previous_ablations"],
        serde_json::json!(["words of phase2/path-0/t0/summarize"])
    );
    let extractor = world.request("phase2/path-0/t1/extractor").unwrap();
    assert_eq!(
        extractor.inputs["previous_code_blocks"],
        serde_json::json!(["block = 'phase1/candidate-0/init'"])
    );
    assert_eq!(path.refined_blocks[1].outer_step, 1);
    assert_eq!(path.ablation_summaries.len(), 2);
}

#[tokio::test]
async fn agents_that_fail_leave_a_record_and_the_loop_goes_on() {
    let world = World::new()
        .agent("phase2/path-0/t0/k0/coder", "I cannot.")
        .agent("phase2/path-0/t0/k1/planner", "   ")
        .agent_fails("phase2/path-0/t0/k2/coder");
    let attempts = path(&world, 1, 4).await.step_history.remove(0).inner_loop_attempts;
    let seen: Vec<(&str, bool, Option<f64>)> =
        attempts.iter().map(|a| (a.plan.as_str(), a.code_block.is_empty(), a.score)).collect();
    let expected = [
        ("plan of phase2/path-0/t0/extractor", true, None),
        ("[planner failed]", true, None),
        ("words of phase2/path-0/t0/k2/planner", true, None),
        ("words of phase2/path-0/t0/k3/planner", false, Some(0.5)),
    ];
    assert_eq!(seen, expected);
    let history = world.request("phase2/path-0/t0/k3/planner").unwrap().inputs;
    assert_eq!(history["plans"][1], "[planner failed]");
    assert!(world.request("phase2/path-0/t0/k1/coder").is_none());
}

#[tokio::test]
async fn blocks_that_cannot_be_used_are_asked_for_again() {
    let plan = |block: &str| serde_json::json!({"plans": [{"code_block": block, "plan": "p"}]}).to_string();
    let check = async |answers: [&str; 3], block: &str, calls: usize| {
        let names = ["extractor", "extractor-2", "extractor-3"];
        let world = names.iter().zip(answers).fold(World::new(), |world, (name, answer)| {
            world.agent(&format!("phase2/path-0/t0/{name}"), answer)
        });
        let step = path(&world, 1, 1).await.step_history.remove(0);
        assert_eq!((step.code_block.as_str(), step.was_skipped), (block, block.is_empty()), "{answers:?}");
        let asked = world.trace().iter().filter(|place| place.contains("extractor")).count();
        assert_eq!(asked, calls, "{answers:?}");
        assert_eq!(step.inner_loop_attempts.len(), usize::from(!block.is_empty()));
        assert_eq!(step.ablation_summary, "words of phase2/path-0/t0/summarize");
    };
    let (absent, empty, good, repeated) = (plan("x = 1"), plan(" "), plan("print('start')"), plan("print("));
    let spaced = plan("print('start')   ");
    let (absent, empty, good, repeated) = (absent.as_str(), empty.as_str(), good.as_str(), repeated.as_str());
    check([good, "", ""], "print('start')", 1).await;
    check([&spaced, "", ""], "print('start')", 1).await;
    check([absent, good, ""], "print('start')", 2).await;
    check(["no json", empty, good], "print('start')", 3).await;
    check([absent, repeated, "no json"], "", 3).await;
    // A block that occurs twice is asked for again, not replaced where it stands first.
    check([repeated, good, ""], "print('start')", 2).await;
    check([repeated, repeated, repeated], "", 3).await;
    check([r#"[{"code_block": "print('start')", "plan": " "}]"#, good, ""], "print('start')", 2).await;
    // After three calls, the first usable plan of any reply.
    let second = r#"[{"code_block": "absent", "plan": "p"}, {"code_block": "print(block)", "plan": "q"}]"#;
    check([absent, second, absent], "print(block)", 3).await;
}

#[tokio::test]
async fn an_ablation_that_does_not_run_is_repaired_or_does_without() {
    let world = World::new().fails("phase2/path-0/t0/run");
    path(&world, 1, 1).await;
    let trace = world.trace();
    let steps: Vec<&str> = trace.iter().filter_map(|place| place.strip_prefix("phase2/path-0/t0/")).collect();
    assert_eq!(steps[..5], ["ablation", "run", "debug-1/debugger", "debug-1/run", "summarize"]);

    let broken = (1..=3).fold(World::new().fails("phase2/path-0/t0/run"), |world, n| {
        world.fails(&format!("phase2/path-0/t0/debug-{n}/run"))
    });
    let path = path(&broken, 1, 1).await;
    assert_eq!(path.ablation_summaries, ["Ablation study failed for this step"]);
    assert!(broken.request("phase2/path-0/t0/summarize").is_none());
    assert!(!path.step_history[0].was_skipped);
}

#[tokio::test]
async fn a_study_that_is_stopped_counts_as_far_as_it_came() {
    let check = async |printed: &str, expected: &[&str]| {
        let stopped = ScriptOutcome {
            end: ScriptEnd::TimedOut,
            duration_seconds: 600.0,
            stdout: Captured::whole(printed),
            ..ran(None)
        };
        let world = World::new().script("phase2/path-0/t0/run", stopped);
        path(&world, 1, 1).await;
        let trace = world.trace();
        let steps: Vec<&str> =
            trace.iter().filter_map(|place| place.strip_prefix("phase2/path-0/t0/")).collect();
        assert_eq!(steps[..3], *expected, "{printed:?}");
        world.request("phase2/path-0/t0/summarize").unwrap().inputs["raw_result"].as_str().unwrap().to_owned()
    };
    let told = check("Baseline: 0.8\n", &["ablation", "run", "summarize"]).await;
    let after =
        "[The script was stopped at its time limit after 600 s. What is printed above is all that is known.]";
    assert_eq!(told, format!("Baseline: 0.8\n\n{after}"));
    let told = check("\n", &["ablation", "run", "debug-1/debugger"]).await;
    assert!(!told.contains("stopped"), "{told}");
}

#[tokio::test]
async fn an_empty_summary_is_replaced_by_the_output() {
    let mut outcome = ran(None);
    outcome.stdout = Captured::whole("baseline 0.8");
    let world = World::new().agent("phase2/path-0/t0/summarize", " ").script("phase2/path-0/t0/run", outcome);
    assert_eq!(path(&world, 1, 1).await.ablation_summaries, ["[Auto-summary from raw output] baseline 0.8"]);
}

#[tokio::test]
async fn paths_do_not_see_one_another() {
    let world = World::new().scores("phase2/path-0/t0/k0/run", 0.9);
    let mut inputs = frozen();
    inputs.config.outer_loop_steps = 2;
    let paths = run(&world, &inputs).await.unwrap().result.phase2_results;
    assert_eq!(paths.iter().map(|path| path.best_score).collect::<Vec<_>>(), [0.9, 0.5]);
    let other = world.request("phase2/path-1/t1/ablation").unwrap();
    assert!(!other.inputs["solution_script"].as_str().unwrap().contains("path-0"));
}
