//! Phase 3 and the submission.

use mle_star::event::Event;
use mle_star::journal::Frozen;
use mle_star::pipeline::FinishedRun;
use mle_star::result::SolutionScript;
use mle_star::solution::SolutionPhase;
use mle_star::testing::{World, frozen, ran, scored_with_submission, submitted};
use mle_star_domain::answers::Contamination;
use mle_star_domain::config::Context;
use mle_star_domain::effects::ScriptOutcome;
use mle_star_domain::metric::Direction;
use mle_star_domain::place::Step;

use crate::{run, warnings};

async fn finish(world: &World, rounds: u32, direction: Direction) -> FinishedRun {
    let mut inputs = frozen();
    inputs.config.ensemble_rounds = rounds;
    inputs.task.metric_direction = direction;
    run(world, &inputs).await.unwrap()
}

fn always_failing(world: World, step: &str) -> World {
    (1..=3)
        .fold(world.fails(&format!("{step}/run")), |world, n| world.fails(&format!("{step}/debug-{n}/run")))
}

fn rounds(scores: &[Option<f64>]) -> World {
    scores.iter().enumerate().fold(World::new(), |world, (r, score)| match score {
        Some(score) => world.scores(&format!("phase3/r{r}/run"), *score),
        None => always_failing(world, &format!("phase3/r{r}")),
    })
}

#[tokio::test]
async fn the_best_round_wins_and_the_last_of_equals() {
    let check = async |scores: &[Option<f64>], direction, best: f64, winner: &str| {
        let world = rounds(scores).scores("phase2/path-0/t0/k0/run", 0.52);
        let finished = finish(&world, u32::try_from(scores.len()).unwrap(), direction).await;
        let phase3 = finished.result.phase3.unwrap();
        assert_eq!(phase3.ensemble_scores, scores);
        assert_eq!((phase3.ensemble_plans.len(), phase3.attempts.len()), (scores.len(), scores.len()));
        assert_eq!((phase3.best_ensemble_score, phase3.best_ensemble.score), (best, Some(best)));
        assert!(phase3.best_ensemble.content.contains(winner), "{}", phase3.best_ensemble.content);
        let words = "Phase 3 ensemble: all 2 attempts failed; falling back to best input solution";
        assert_eq!(warnings(&world, "phase3", words), usize::from(winner.starts_with("path")));
    };
    use Direction::{Maximize, Minimize};
    check(&[Some(0.85), Some(0.88), None, Some(0.87), Some(0.88)], Maximize, 0.88, "phase3/r4").await;
    check(&[Some(0.85), Some(0.3)], Minimize, 0.3, "phase3/r1").await;
    check(&[None, None], Maximize, 0.52, "path-0").await;
    check(&[None, None], Minimize, 0.5, "path-1").await;
}

#[tokio::test]
async fn a_round_that_fails_keeps_its_plan_and_the_rest_go_on() {
    let world = World::new()
        .agent("phase3/r0/ens_planner", "")
        .agent("phase3/r1/ensembler", "No.")
        .scores("phase3/r2/run", 0.7);
    let phase3 = finish(&world, 3, Direction::Maximize).await.result.phase3.unwrap();
    assert_eq!(phase3.ensemble_scores, [None, None, Some(0.7)]);
    assert_eq!(phase3.ensemble_plans[..2], ["[ens_planner failed]", "words of phase3/r1/ens_planner"]);
    let third = world.request("phase3/r2/ens_planner").unwrap();
    assert_eq!(third.inputs["scores"], serde_json::json!([null, null]));
    assert!(third.prompt.contains("1st Python Solution") && third.prompt.contains("2nd Python Solution"));
    assert!(!world.request("phase3/r0/ens_planner").unwrap().prompt.contains("## Score:"));
    assert!(world.request("phase3/r0/ensembler").is_none());
    let empty = |content: &str| (content.to_owned(), SolutionPhase::Ensemble, None, false);
    let found = phase3.attempts.iter().map(|attempt| {
        let SolutionScript { content, phase, score, is_executable, .. } = attempt.solution.clone();
        assert_eq!(attempt.score, score);
        (content, phase, score, is_executable)
    });
    let last = world.script_run("phase3/r2/run").unwrap().script;
    let last = (last, SolutionPhase::Ensemble, Some(0.7), true);
    assert_eq!(found.collect::<Vec<_>>(), [empty(""), empty(""), last]);

    // A round whose script does not run keeps the script that ran last.
    let world = rounds(&[None]);
    let attempt = finish(&world, 1, Direction::Maximize).await.result.phase3.unwrap().attempts.remove(0);
    let last = world.script_run("phase3/r0/debug-3/run").unwrap().script;
    let SolutionScript { content, score, is_executable, .. } = attempt.solution;
    assert_eq!((content, score, is_executable, attempt.score), (last, None, false, None));
}

#[tokio::test]
async fn an_ensemble_without_a_valid_submission_keeps_its_score_with_a_warning() {
    let words = "the ensemble left no valid ./final/submission.csv";
    let check = async |outcome: ScriptOutcome, warned: usize| {
        let world = World::new().script("phase3/r0/run", ScriptOutcome { score: Some(0.8), ..outcome });
        let phase3 = finish(&world, 1, Direction::Maximize).await.result.phase3.unwrap();
        assert_eq!(phase3.ensemble_scores, [Some(0.8)]);
        assert_eq!(warnings(&world, "phase3/r0", words), warned);
    };
    check(ran(None), 1).await;
    check(submitted(&["column target: row 3 is empty"]), 1).await;
    check(submitted(&[]), 0).await;
}

#[tokio::test]
async fn what_is_finalized_is_the_ensemble_unless_a_path_is_better() {
    let check = async |path: f64, ensemble: f64, expected: &str| {
        let world = World::new().scores("phase2/path-0/t0/k0/run", path).scores("phase3/r0/run", ensemble);
        finish(&world, 1, Direction::Maximize).await;
        let request = world.request("finalization/test").unwrap();
        let solution = request.inputs["final_solution"].as_str().unwrap();
        assert!(solution.contains(expected), "{solution}");
    };
    check(0.7, 0.8, "phase3/r0").await;
    check(0.7, 0.7, "phase3/r0").await;
    check(0.8, 0.7, "path-0").await;
}

#[tokio::test]
async fn one_path_needs_no_ensemble() {
    let mut inputs = frozen();
    inputs.config.num_parallel_solutions = 1;
    let world = World::new();
    let result = run(&world, &inputs).await.unwrap().result;
    assert_eq!(result.phase3, None);
    assert!(world.trace().iter().all(|place| !place.starts_with("phase3")));
    assert_eq!(result.phases_completed, ["phase1", "phase2", "finalization"]);
}

#[tokio::test]
async fn the_submission_script_is_repaired_until_its_submission_is_valid() {
    let world = World::new()
        .script("finalization/run", submitted(&["column target: row 3 is empty"]))
        .script("finalization/debug-1/run", ran(None))
        .script("finalization/debug-2/run", submitted(&[]));
    let finished = finish(&world, 1, Direction::Maximize).await;
    assert_eq!(finished.submission.unwrap().as_str(), "finalization/debug-2/run");
    let bug = |n: u32| {
        world.request(&format!("finalization/debug-{n}/debugger")).unwrap().inputs["bug"].to_string()
    };
    assert!(bug(1).contains("row 3 is empty"));
    assert!(bug(2).contains("did not write ./final/submission.csv"));
    let solution = finished.result.final_solution;
    assert_eq!((solution.phase, solution.score, solution.is_executable), (SolutionPhase::Final, None, true));
    assert!(!solution.content.contains("Final Validation Performance"));
    assert!(solution.created_at.parse::<jiff::Timestamp>().is_ok(), "{}", solution.created_at);
}

#[tokio::test]
async fn the_final_solution_has_the_score_that_the_submission_script_prints() {
    let printed = ScriptOutcome { score: Some(0.75), ..submitted(&[]) };
    let world = World::new().script("finalization/run", printed);
    let finished = finish(&world, 1, Direction::Maximize).await;
    assert_eq!(finished.result.final_solution.score, Some(0.75));
    let best = world.events().into_iter().find_map(|event| match event {
        Event::StepEnded { place: Step::Finalization, verdict } => verdict.best,
        _ => None,
    });
    assert_eq!(best.map(|best| (best.step, best.score)), Some((Step::Finalization, 0.75)));
    assert_eq!(finished.result.lineage.last().unwrap().score, Some(0.75));
}

#[tokio::test]
async fn subsampling_is_removed_where_it_is_found() {
    let check = async |found: &str, removed: &str, expected: &str| {
        let world = World::new()
            .agent("finalization/subsampling_extract", found)
            .agent("finalization/subsampling_remove", removed);
        let mut inputs = frozen();
        inputs.config.num_parallel_solutions = 1;
        run(&world, &inputs).await.unwrap();
        let request = world.request("finalization/test").unwrap();
        assert!(request.inputs["final_solution"].as_str().unwrap().starts_with(expected), "{found}");
    };
    let found = "```python\nprint('start')\n```";
    check(found, "```python\nprint('all rows')\n```", "print('all rows')\nblock").await;
    check(found, "nothing", "print('start')").await;
    check("There is none.", "", "print('start')").await;
    check("```python\ndf = df.sample(10)\n```", "", "print('start')").await;
}

#[tokio::test]
async fn no_subsampling_may_be_said_in_a_block_of_code() {
    let check = async |found: &str, is_understood: bool| {
        let samples = "```python\nprint('start')\ntrain = train.sample(10)\nprint('end')\n```";
        let world = World::new()
            .agent("phase3/r1/ensembler", samples)
            .script("phase3/r1/run", scored_with_submission(0.8))
            .agent("finalization/subsampling_extract", found);
        let mut inputs = frozen();
        (inputs.config.context, inputs.config.num_parallel_solutions) = (Context::Full, 2);
        run(&world, &inputs).await.unwrap();
        assert_eq!(world.request("finalization/test").is_none(), is_understood, "{found}");
    };
    check("I do not know.", false).await;
    check("No subsampling found.", true).await;
    check("```\nNo subsampling found.\n```", true).await;
    check("```python\n# No subsampling found\n```", true).await;
    check("```python\n# no subsampling here\ndf = df.sample(10)\n```", false).await;
}

#[tokio::test]
async fn references_are_compared_one_by_one() {
    let check = async |answers: &[&str], expected: Option<Contamination>| {
        let mut inputs: Frozen = frozen();
        inputs.task.reference_discussions = answers.iter().map(|_| "a discussion".to_owned()).collect();
        let world = answers.iter().enumerate().fold(World::new(), |world, (n, answer)| {
            world.agent(&format!("finalization/contamination-{n}"), answer)
        });
        assert_eq!(run(&world, &inputs).await.unwrap().result.contamination, expected, "{answers:?}");
    };
    check(&[], None).await;
    check(&[r#"{"verdict": "Novel"}"#, r#"{"verdict": "Same"}"#], Some(Contamination::Same)).await;
    check(&["'Novel'"], Some(Contamination::Novel)).await;
    check(&["hard to say", "Novel"], None).await;
}

#[tokio::test]
async fn the_lineage_leads_from_the_candidates_to_the_submission() {
    let world = World::new()
        .scores("phase1/candidate-1/run", 0.6)
        .scores("phase1/merge-1/run", 0.7)
        .scores("phase2/path-0/t0/k1/run", 0.8)
        .scores("phase3/r1/run", 0.9);
    let lineage = finish(&world, 2, Direction::Maximize).await.result.lineage;
    let steps: Vec<&str> = lineage.iter().map(|step| step.place.as_str()).collect();
    let expected = [
        "phase1/candidate-0",
        "phase1/candidate-1",
        "phase1/merge-1",
        "phase2/path-0/t0/k1",
        "phase3/r1",
        "finalization",
    ];
    let mut sorted = steps.clone();
    sorted.sort_unstable_by_key(|step| expected.iter().position(|other| other == step));
    assert_eq!(sorted, expected, "{steps:?}");
    assert_eq!(*steps.last().unwrap(), "finalization");
    let merge = lineage.iter().find(|step| step.place.as_str() == "phase1/merge-1").unwrap();
    assert_eq!(
        merge.from.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["phase1/candidate-1", "phase1/candidate-0"]
    );
}

#[tokio::test]
async fn a_leak_that_stays_in_the_solution_is_said() {
    let leak = r#"[{"leakage_status": "Yes Data Leakage", "code_block": "not in it"}]"#;
    let check = async |world: World, suspected: bool| {
        assert_eq!(finish(&world, 1, Direction::Maximize).await.result.leakage_suspected, suspected);
    };
    check(World::new().agent("finalization/leakage", leak), true).await;
    // The ensemble leaks; it counts only when it is what is delivered.
    let leaking = || World::new().agent("phase3/r0/leakage", leak).scores("phase3/r0/run", 0.9);
    check(leaking(), false).await;
    check(always_failing(leaking(), "finalization"), true).await;
    // The same block reported twice is corrected once.
    let twice = r#"[{"leakage_status": "Yes Data Leakage", "code_block": "print('start')"},
                   {"leakage_status": "Yes Data Leakage", "code_block": "print('start')"}]"#;
    let fixed = World::new()
        .agent("finalization/leakage", twice)
        .agent("finalization/leakage-fix-1", "```\nx = 1\n```");
    check(fixed, false).await;
}
