//! Phase 1: candidates, merges, the data check and the last leakage check.

use mle_star::event::Event;
use mle_star::result::{FinalResult, Phase1Result};
use mle_star::stop::Stop;
use mle_star::testing::{World, failed, frozen, ran};
use mle_star_domain::effects::ScriptOutcome;
use mle_star_domain::metric::Direction;
use mle_star_domain::place::{Place, Step};

use crate::{run, warnings};

/// M candidates and merges with these scores; `None` fails after all repairs.
fn world(candidates: &[Option<f64>], merges: &[Option<f64>]) -> World {
    let steps = candidates.iter().enumerate().map(|(i, score)| (format!("phase1/candidate-{i}"), score));
    let merges = merges.iter().enumerate().map(|(i, score)| (format!("phase1/merge-{}", i + 1), score));
    steps.chain(merges).fold(World::new(), |world, (step, score)| match score {
        Some(score) => world.scores(&format!("{step}/run"), *score),
        None => always_failing(world, &step),
    })
}

fn always_failing(world: World, step: &str) -> World {
    let attempts = (1..=3).map(|n| format!("{step}/debug-{n}/run")).chain([format!("{step}/run")]);
    attempts.fold(world, |world, place| world.fails(&place))
}

async fn result(world: &World, models: u32, direction: Direction) -> FinalResult {
    let mut inputs = frozen();
    inputs.config.num_retrieved_models = models;
    inputs.task.metric_direction = direction;
    run(world, &inputs).await.unwrap().result
}

async fn phase1(world: &World, models: u32, direction: Direction) -> Phase1Result {
    result(world, models, direction).await.phase1
}

#[tokio::test]
async fn merging_goes_on_while_it_does_not_get_worse() {
    let check = async |candidates: &[Option<f64>],
                       merges: &[Option<f64>],
                       direction,
                       score: f64,
                       accepted: &[bool]| {
        let world = world(candidates, merges);
        let phase1 = phase1(&world, u32::try_from(candidates.len()).unwrap(), direction).await;
        assert_eq!(phase1.initial_score, score, "{candidates:?} {merges:?}");
        assert_eq!(phase1.initial_solution.score, Some(score));
        assert_eq!(phase1.merges.iter().map(|merge| merge.accepted).collect::<Vec<_>>(), accepted);
        assert_eq!(phase1.candidate_scores, candidates);
        assert_eq!(phase1.candidate_solutions.len(), candidates.len());
    };
    use Direction::{Maximize, Minimize};
    check(&[Some(0.9), Some(0.85), Some(0.8)], &[Some(0.91), Some(0.89)], Maximize, 0.91, &[true, false])
        .await;
    check(&[Some(0.7), Some(0.9), Some(0.8), None], &[Some(0.9), Some(0.9)], Maximize, 0.9, &[true, true])
        .await;
    check(&[Some(0.8), Some(0.9), Some(0.7)], &[Some(0.6)], Maximize, 0.9, &[false]).await;
    check(&[Some(0.8), Some(0.9), Some(0.7)], &[None], Maximize, 0.9, &[false]).await;
    check(&[Some(2.0), Some(1.0), None], &[Some(0.5)], Minimize, 0.5, &[true]).await;
    check(&[None, Some(1.0), None], &[], Minimize, 1.0, &[]).await;
}

#[tokio::test]
async fn merges_follow_the_order_of_scores() {
    let world = world(&[Some(0.7), Some(0.9), Some(0.8)], &[Some(0.95), Some(0.96)]);
    let phase1 = phase1(&world, 3, Direction::Maximize).await;
    let references: Vec<&str> = phase1.merges.iter().map(|merge| merge.reference_model.as_str()).collect();
    assert_eq!(references, ["model-2", "model-0"]);
    let second = world.request("phase1/merge-2/merger").unwrap();
    assert!(second.inputs["base_code"].as_str().unwrap().contains("merge-1"), "{second:?}");
}

#[tokio::test]
async fn without_a_candidate_the_run_fails() {
    let world = world(&[None, None], &[]);
    let mut inputs = frozen();
    inputs.config.num_retrieved_models = 2;
    let Err(Stop::NoSolution(message)) = run(&world, &inputs).await else { panic!("it found a solution") };
    assert_eq!(message, "Phase 1 failed: all 2 candidates produced execution errors");
    // The user's own solution is a candidate, too.
    let world = always_failing(world, "phase1/candidate-2");
    inputs.task.baseline_solution = Some("print('mine')".to_owned());
    let Err(Stop::NoSolution(message)) = run(&world, &inputs).await else { panic!("it found a solution") };
    assert_eq!(message, "Phase 1 failed: all 3 candidates produced execution errors");
}

#[tokio::test]
async fn fewer_or_more_models_than_wanted_are_taken_as_they_come() {
    let check = async |answer: &str, names: &[&str]| {
        let world = World::new().agent("phase1/retriever", answer);
        let models = phase1(&world, 2, Direction::Maximize).await.retrieved_models;
        assert_eq!(models.iter().map(|model| model.model_name.as_str()).collect::<Vec<_>>(), names);
    };
    check(r#"{"models": [{"model_name": "a", "example_code": "c"}]}"#, &["a"]).await;
    check(r#"[{"model_name": " ", "example_code": "c"}, {"model_name": "b", "example_code": "c"}]"#, &["b"])
        .await;
    let many = r#"{"models": [{"model_name": "a", "example_code": "c"}, {"model_name": "b", "example_code": "c"},
                  {"model_name": "c", "example_code": "c"}]}"#;
    check(many, &["a", "b"]).await;
}

#[tokio::test]
async fn an_unreadable_retriever_reply_is_quoted_in_the_error() {
    let reply = format!("{}|{}", "a".repeat(499), "b".repeat(100));
    let Err(Stop::NoSolution(message)) =
        run(&World::new().agent("phase1/retriever", &reply), &frozen()).await
    else {
        panic!("it found a solution")
    };
    assert_eq!(message, format!("A_retriever returned zero models: {}|", "a".repeat(499)));
}

#[tokio::test]
async fn a_failing_script_is_repaired_and_checked_again() {
    let world = World::new()
        .fails("phase1/candidate-0/run")
        .script("phase1/candidate-0/debug-1/run", ran(None))
        .scores("phase1/candidate-0/debug-2/run", 0.9);
    let phase1 = phase1(&world, 1, Direction::Maximize).await;
    assert_eq!(phase1.candidate_scores, [Some(0.9)]);
    let trace = world.trace();
    let steps: Vec<&str> =
        trace.iter().filter_map(|place| place.strip_prefix("phase1/candidate-0/")).collect();
    let expected = [
        "init",
        "leakage",
        "run",
        "debug-1/debugger",
        "debug-1/leakage",
        "debug-1/run",
        "debug-2/debugger",
        "debug-2/leakage",
        "debug-2/run",
    ];
    assert_eq!(steps, expected);
    let bug = |n: u32| {
        world.request(&format!("phase1/candidate-0/debug-{n}/debugger")).unwrap().inputs["bug"].clone()
    };
    assert!(bug(1).as_str().unwrap().starts_with("Traceback (most recent call last):"));
    assert!(bug(2).as_str().unwrap().contains("Final Validation Performance"));
    let repaired = world.script_run("phase1/candidate-0/debug-2/run").unwrap().script;
    assert_eq!(phase1.candidate_solutions[0].content, repaired);
    assert!(repaired.contains("print(f\"Final Validation Performance: {final_validation_score}\")"));
    assert_eq!(warnings(&world, "phase1/candidate-0/debug-2", "prints no score"), 1);
}

#[tokio::test]
async fn a_script_that_prints_a_traceback_has_failed_even_with_exit_code_0() {
    let handled = ScriptOutcome { traceback: failed("KeyError: 'x'").traceback, ..ran(Some(0.9)) };
    let world = World::new().script("phase1/candidate-0/run", handled);
    assert_eq!(phase1(&world, 1, Direction::Maximize).await.candidate_scores, [Some(0.5)]);
    let bug = world.request("phase1/candidate-0/debug-1/debugger").unwrap().inputs["bug"].clone();
    assert!(bug.as_str().unwrap().ends_with("KeyError: 'x'"), "{bug}");
}

#[tokio::test]
async fn a_script_that_hides_errors_runs_with_a_warning() {
    let hidden = "```python\ntry:\n    fit()\nexcept:\n    pass\nblock = 'x'\n```";
    let world = World::new().agent("phase1/candidate-0/init", hidden).agent("finalization/test", hidden);
    let phase1 = phase1(&world, 1, Direction::Maximize).await;
    assert_eq!(phase1.candidate_scores, [Some(0.5)]);
    for place in ["phase1/candidate-0", "finalization"] {
        assert_eq!(warnings(&world, place, "a bare `except:` hides every error"), 1, "{place}");
    }
}

#[tokio::test]
async fn scripts_that_must_not_run_go_to_the_debugger_unrun() {
    let check = async |answer: &str, words: &str| {
        let world = World::new().agent("phase1/candidate-0/init", answer);
        phase1(&world, 1, Direction::Maximize).await;
        let trace = world.trace();
        assert!(!trace.contains(&"phase1/candidate-0/run".to_owned()), "{trace:?}");
        let bug = world.request("phase1/candidate-0/debug-1/debugger").unwrap().inputs["bug"].clone();
        assert!(bug.as_str().unwrap().contains(words), "{bug}");
    };
    check("```python\nimport sys\nsys.exit(0)\n```", "sys.exit()").await;
    check("I am sorry, I cannot do that.", "empty").await;
}

#[tokio::test]
async fn no_more_repairs_than_configured_and_none_without_code() {
    let world = always_failing(World::new(), "phase1/candidate-0")
        .agent("phase1/candidate-0/debug-1/debugger", "no idea");
    let phase1 = phase1(&world, 2, Direction::Maximize).await;
    assert_eq!(phase1.candidate_scores, [None, Some(0.5)]);
    let trace = world.trace();
    let count =
        |end: &str| trace.iter().filter(|p| p.starts_with("phase1/candidate-0") && p.ends_with(end)).count();
    assert_eq!((count("/debugger"), count("/run")), (3, 3));
}

#[tokio::test]
async fn a_solution_whose_agent_failed_is_not_repaired() {
    for step in ["phase1/candidate-1", "phase1/merge-1"] {
        let writer = if step.contains("merge") { "merger" } else { "init" };
        let world = World::new().agent_fails(&format!("{step}/{writer}"));
        phase1(&world, 2, Direction::Maximize).await;
        let of_step: Vec<String> =
            world.trace().into_iter().filter(|place| place.starts_with(step)).collect();
        assert_eq!(of_step, [format!("{step}/{writer}")]);
    }
}

#[tokio::test]
async fn leaks_are_corrected_before_the_run() {
    let leak = r#"{"answers": [{"leakage_status": "Yes Data Leakage", "code_block": "block = 'phase1/candidate-0/init'"},
                  {"leakage_status": "No Data Leakage", "code_block": "print('start')"}]}"#;
    let world = World::new()
        .agent("phase1/candidate-0/leakage", leak)
        .agent("phase1/candidate-0/leakage-fix-1", "```python\nblock = 'clean'\n```");
    phase1(&world, 1, Direction::Maximize).await;
    let script = world.script_run("phase1/candidate-0/run").unwrap().script;
    assert_eq!(script, "print('start')\nblock = 'clean'\nprint(block)");
}

#[tokio::test]
async fn a_correction_that_changes_nothing_is_unusable() {
    let leak = r#"[{"leakage_status": "Yes Data Leakage", "code_block": "print(block)"}]"#;
    for same in ["```python\nprint(block)\n```", "```python\n\n  print(block)  \n```"] {
        let world =
            World::new().agent("phase1/final/leakage", leak).agent("phase1/final/leakage-fix-1", same);
        assert!(result(&world, 1, Direction::Maximize).await.leakage_suspected, "{same}");
        assert_eq!(warnings(&world, "phase1/final", "its correction is unusable"), 1, "{same}");
        assert!(world.script_run("phase1/final/run").is_none(), "{same}");
    }
}

#[tokio::test]
async fn an_unusable_leakage_answer_leaves_the_script_as_it_is() {
    let check = async |answer: &str, fix: &str| {
        let world = World::new()
            .agent("phase1/candidate-0/leakage", answer)
            .agent("phase1/candidate-0/leakage-fix-1", fix);
        phase1(&world, 1, Direction::Maximize).await;
        let script = world.script_run("phase1/candidate-0/run").unwrap().script;
        assert_eq!(script, "print('start')\nblock = 'phase1/candidate-0/init'\nprint(block)", "{answer}");
    };
    check("not json", "").await;
    check(r#"[{"leakage_status": "Yes Data Leakage", "code_block": "not there"}]"#, "").await;
    check(r#"[{"leakage_status": "Yes Data Leakage", "code_block": ""}]"#, "```\nx = 1\n```").await;
    check(r#"[{"leakage_status": "Yes Data Leakage", "code_block": "print('start')"}]"#, "I would not know.")
        .await;
}

#[tokio::test]
async fn the_data_revision_is_taken_if_it_runs() {
    let revision = "Not all the provided information is used.\n```python\nprint('more data')\n```";
    let check = async |outcome: Option<f64>, score: f64, text: &str| {
        let world = World::new().scores("phase1/candidate-0/run", 0.8).agent("phase1/data/data", revision);
        let world = match outcome {
            Some(score) => world.scores("phase1/data/run", score),
            None => always_failing(world, "phase1/data"),
        };
        let phase1 = phase1(&world, 1, Direction::Maximize).await;
        assert_eq!(phase1.initial_score, score);
        assert!(phase1.initial_solution.content.contains(text), "{}", phase1.initial_solution.content);
    };
    check(Some(0.9), 0.9, "more data").await;
    check(Some(0.1), 0.1, "more data").await; // even when it scores worse
    check(None, 0.8, "candidate-0").await;
}

#[tokio::test]
async fn a_data_reply_without_code_leaves_the_solution() {
    let confirmed = "All the provided information is used.\n```python\nprint('unchanged')\n```";
    for answer in ["I would not know.", "```python\n```", "ALL the provided information is used!", confirmed]
    {
        let world = World::new().scores("phase1/candidate-0/run", 0.8).agent("phase1/data/data", answer);
        let phase1 = phase1(&world, 1, Direction::Maximize).await;
        assert_eq!(phase1.initial_score, 0.8, "{answer}");
        assert!(!world.trace().contains(&"phase1/data/run".to_owned()), "{answer}");
    }
}

#[tokio::test]
async fn the_last_leakage_check_keeps_what_runs_and_says_what_it_suspects() {
    let leak = r#"[{"leakage_status": "Yes Data Leakage", "code_block": "print(block)"}]"#;
    let world = || {
        World::new()
            .scores("phase1/candidate-0/run", 0.8)
            .agent("phase1/final/leakage", leak)
            .agent("phase1/final/leakage-fix-1", "```python\nprint('no leak')\n```")
    };
    let clean = world().scores("phase1/final/run", 0.7);
    let result_clean = result(&clean, 1, Direction::Maximize).await;
    assert_eq!((result_clean.phase1.initial_score, result_clean.leakage_suspected), (0.7, false));
    let broken = (1..=3).fold(world().script("phase1/final/run", failed("KeyError: 'x'")), |world, n| {
        world.fails(&format!("phase1/final/debug-{n}/run"))
    });
    let result_broken = result(&broken, 1, Direction::Maximize).await;
    assert_eq!((result_broken.phase1.initial_score, result_broken.leakage_suspected), (0.8, true));
}

#[tokio::test]
async fn a_last_leakage_check_that_is_not_made_is_not_said_to_have_found_nothing() {
    let check = async |world: World, limit: Option<f64>, expected: &str| {
        let mut inputs = frozen();
        inputs.config.max_budget_usd = limit;
        let world = world.costs_at("phase1/data/data", 10.0);
        run(&world, &inputs).await.unwrap();
        let note = world.events().into_iter().find_map(|event| match event {
            Event::StepEnded { place: Step::LeakageCheck, verdict } => Some(verdict.note),
            _ => None,
        });
        assert_eq!(note.as_deref(), Some(expected));
        warnings(&world, "phase1/final", "the script is not checked for leakage: the agent failed")
    };
    assert_eq!(check(World::new(), None, "no leak found").await, 0);
    assert_eq!(check(World::new(), Some(5.0), "not checked again for leakage").await, 0);
    let dead = World::new().agent_fails("phase1/final/leakage");
    assert_eq!(check(dead, None, "not checked again for leakage").await, 1);
}

#[tokio::test(start_paused = true)]
async fn with_one_slot_the_scripts_of_the_candidates_run_one_after_the_other() {
    let world = World::new().takes(1, 10);
    let candidates = phase1(&world, 4, Direction::Maximize).await.candidate_solutions;
    let of_candidates = |place: &Place| place.as_str().strip_prefix("phase1/candidate-").map(str::to_owned);
    let seen: Vec<String> = world
        .events()
        .iter()
        .filter_map(|event| match event {
            Event::ScriptStarted { place, .. } => Some(format!("{} starts", of_candidates(place)?)),
            Event::ScriptEnded { place, .. } => Some(format!("{} ends", of_candidates(place)?)),
            _ => None,
        })
        .collect();
    let expected = (0..4).flat_map(|n| [format!("{n}/run starts"), format!("{n}/run ends")]);
    assert_eq!(seen, expected.collect::<Vec<_>>());
    let models: Vec<&str> = candidates.iter().filter_map(|one| one.source_model.as_deref()).collect();
    assert_eq!(models, ["model-0", "model-1", "model-2", "model-3"]);
}

#[tokio::test]
async fn the_prompts_of_init_and_merger_limit_the_training_samples() {
    let check = async |limit: Option<u32>, expected: &str| {
        let mut inputs = frozen();
        inputs.config.subsample_limit = limit.unwrap_or(inputs.config.subsample_limit);
        let world = World::new();
        run(&world, &inputs).await.unwrap();
        for place in ["phase1/candidate-0/init", "phase1/merge-1/merger"] {
            let prompt = world.request(place).unwrap().prompt;
            assert_eq!(prompt.matches(expected).count(), 2, "{place}: {prompt}");
        }
        let other = world.request("phase3/r0/ensembler").unwrap().prompt;
        assert!(!other.contains(expected), "{other}");
    };
    check(None, "30000").await;
    check(Some(1234), "1234").await;
}

#[tokio::test]
async fn a_baseline_is_one_more_candidate() {
    let mut inputs = frozen();
    inputs.task.baseline_solution = Some("print('mine')".to_owned());
    let world = World::new().scores("phase1/candidate-2/run", 0.95).scores("phase1/merge-1/run", 0.1);
    let phase1 = run(&world, &inputs).await.unwrap().result.phase1;
    assert_eq!(phase1.candidate_scores, [Some(0.5), Some(0.5), Some(0.95)]);
    assert_eq!(phase1.initial_solution.content, "print('mine')");
    assert_eq!(phase1.initial_solution.source_model.as_deref(), Some("baseline"));
}
