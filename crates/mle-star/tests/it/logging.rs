//! The specification's logging tables, row by row: which event says it, and with which content.

use mle_star::event::Event;
use mle_star::journal::Frozen;
use mle_star::testing::{World, frozen};

use crate::run;

/// The events of a run as JSON, each on a line.
async fn log(world: &World, inputs: &Frozen) -> Vec<String> {
    run(world, inputs).await.unwrap();
    world.events().iter().map(|event: &Event| serde_json::to_string(event).unwrap()).collect()
}

/// Is there an event of this kind, at this place, with all of this in it?
fn check(log: &[String], kind: &str, place: &str, content: &[&str]) {
    let (kind, at) = (format!("\"event\":\"{kind}\""), format!("\"place\":\"{place}\""));
    let of_place: Vec<&String> =
        log.iter().filter(|line| line.contains(&kind) && (place.is_empty() || line.contains(&at))).collect();
    let found = of_place.iter().any(|line| content.iter().all(|part| line.contains(part)));
    assert!(found, "no {kind} at {place} with {content:?} among {of_place:#?}");
}

#[tokio::test]
async fn phase_1_tells_what_its_table_asks_for() {
    let world = World::new()
        .scores("phase1/candidate-0/run", 0.6)
        .scores("phase1/candidate-1/run", 0.7)
        .scores("phase1/merge-1/run", 0.65);
    let log = log(&world, &frozen()).await;
    let check = |kind, place, content: &[&str]| check(&log, kind, place, content);
    check("agent_started", "phase1/retriever", &["num_models 2", "task_description"]);
    check("info", "phase1", &["2 models: model-0, model-1"]);
    check("step_started", "phase1/candidate-1", &["\"of\":2"]);
    check("agent_started", "phase1/candidate-1/init", &["model_name \\\"model-1\\\""]);
    check("agent_ended", "phase1/candidate-1/init", &["\"characters\":", "\"seconds\":"]);
    check("script_ended", "phase1/candidate-1/run", &["\"score\":0.7", "\"seconds\":"]);
    check("step_ended", "phase1/candidate-1", &["\"score\":0.7", "\"kept\":true", "\"note\":\"model-1\""]);
    check("info", "phase1", &["candidates, best first: model-1 0.7, model-0 0.6"]);
    check("step_started", "phase1/merge-1", &["\"of\":1"]);
    check("agent_started", "phase1/merge-1/merger", &["base_code of", "reference_code of"]);
    check(
        "step_ended",
        "phase1/merge-1",
        &["\"score\":0.65", "\"kept\":false", "merged with model-0: it scores worse"],
    );
    check("agent_started", "phase1/data/data", &["initial_solution of"]);
    check("step_ended", "phase1/data", &["\"kept\":false", "no data is left unused"]);
    check("agent_started", "phase1/final/leakage", &["code of"]);
    check("info", "phase1/final", &["0 leaks found, script unchanged"]);
    check("phase_ended", "", &["\"phase\":\"phase1\"", "\"seconds\":", "\"steps\":5", "\"score\":0.7"]);
}

#[tokio::test]
async fn phase_1_names_what_was_left_out() {
    let failing = |world: World, step: &str| {
        let world = world.fails(&format!("{step}/run"));
        (1..=3).fold(world, |world, repair| world.fails(&format!("{step}/debug-{repair}/run")))
    };
    let log_of = log(&failing(World::new(), "phase1/candidate-0"), &frozen()).await;
    check(&log_of, "warning", "phase1/candidate-0", &["candidate model-0 is left out: ValueError: broken"]);
    let world = failing(failing(World::new(), "phase1/candidate-0"), "phase1/candidate-1");
    assert!(run(&world, &frozen()).await.is_err());
    let warned =
        |event: &Event| matches!(event, Event::Warning { text, .. } if text.contains("model-0, model-1"));
    assert!(world.events().iter().any(warned));
}

#[tokio::test]
async fn phase_2_tells_what_its_tables_ask_for() {
    let mut inputs = frozen();
    inputs.config.outer_loop_steps = 2;
    let world = World::new()
        .scores("phase2/path-0/t0/k1/run", 0.6)
        .agent("phase2/path-1/t0/extractor", r#"{"plans": [{"code_block": "absent block", "plan": "p"}]}"#)
        .fails("phase2/path-1/t1/run")
        .fails("phase2/path-1/t1/debug-1/run")
        .fails("phase2/path-1/t1/debug-2/run")
        .fails("phase2/path-1/t1/debug-3/run");
    let log = log(&world, &inputs).await;
    let check = |kind, place, content: &[&str]| check(&log, kind, place, content);
    check("step_started", "phase2/path-0/t1", &["\"of\":2"]);
    check("agent_started", "phase2/path-0/t1/ablation", &["solution_script of", "1 previous_ablations"]);
    check("agent_ended", "phase2/path-0/t0/ablation", &["\"characters\":"]);
    check("script_started", "phase2/path-0/t0/run", &["\"timeout\":", "\"characters\":"]);
    check(
        "script_ended",
        "phase2/path-0/t0/run",
        &["\"end\":\"exit code 0\"", "\"output\":6", "\"seconds\":"],
    );
    check("warning", "phase2/path-1/t1", &["the ablation study does not run: ValueError: broken"]);
    check("agent_started", "phase2/path-0/t0/summarize", &["ablation_code of", "raw_result"]);
    check("agent_ended", "phase2/path-0/t0/summarize", &["\"characters\":35"]);
    check(
        "agent_started",
        "phase2/path-0/t1/extractor",
        &["ablation_summary", "solution_script of", "1 previous_code_blocks"],
    );
    check(
        "info",
        "phase2/path-0/t0",
        &["1 plans, block of", "found exactly, plan: plan of phase2/path-0/t0/extractor"],
    );
    check("warning", "phase2/path-1/t0", &["extractor, call 1 of 3", "not in the solution: absent block"]);
    check(
        "agent_started",
        "phase2/path-0/t0/k0/coder",
        &["plan \\\"plan of phase2/path-0/t0/extractor\\\"", "code_block"],
    );
    check("agent_ended", "phase2/path-0/t0/k0/coder", &["\"characters\":"]);
    check("agent_started", "phase2/path-0/t0/k1/planner", &["1 plans", "1 scores"]);
    check(
        "agent_ended",
        "phase2/path-0/t0/k1/planner",
        &["\"reply\":\"words of phase2/path-0/t0/k1/planner\""],
    );
    check("agent_started", "phase2/path-0/t0/k0/leakage", &["code of"]);
    check("info", "phase2/path-0/t0/k0", &["0 leaks found, script unchanged"]);
    check("script_ended", "phase2/path-0/t0/k1/run", &["\"score\":0.6", "\"failure\":null", "\"seconds\":"]);
    check(
        "step_ended",
        "phase2/path-0/t0/k1",
        &["\"score\":0.6", "\"kept\":true", "\"best\":{\"step\":\"phase2/path-0/t0/k1\""],
    );
    check("step_ended", "phase2/path-0/t0", &["\"score\":0.6", "\"kept\":true", "2 of 2 attempts kept"]);
    check("path_ended", "", &["\"path\":0", "\"status\":\"finished\"", "\"best\":"]);
    check("phase_ended", "", &["\"phase\":\"phase2\"", "\"seconds\":", "\"score\":0.6"]);
}

#[tokio::test]
async fn a_step_without_a_block_is_a_warning() {
    let absent = r#"{"plans": [{"code_block": "absent", "plan": "p"}]}"#;
    let step = "phase2/path-0/t0";
    let world = ["extractor", "extractor-2", "extractor-3"]
        .iter()
        .fold(World::new(), |world, name| world.agent(&format!("{step}/{name}"), absent));
    let log = log(&world, &frozen()).await;
    check(&log, "warning", step, &["none of 3 answers names a block"]);
    check(&log, "step_ended", step, &["\"kept\":false", "no usable code block was named"]);
}

#[tokio::test]
async fn phase_3_tells_what_its_table_asks_for() {
    let world = World::new()
        .scores("phase3/r0/run", 0.6)
        .fails("phase3/r1/run")
        .fails("phase3/r1/debug-1/run")
        .fails("phase3/r1/debug-2/run")
        .fails("phase3/r1/debug-3/run");
    let log_of = log(&world, &frozen()).await;
    let row = |kind, place, content: &[&str]| check(&log_of, kind, place, content);
    row("step_started", "phase3/r1", &["\"of\":2"]);
    row("agent_started", "phase3/r1/ens_planner", &["1 plans", "2 solutions"]);
    row("agent_ended", "phase3/r0/ens_planner", &["\"reply\":\"words of phase3/r0/ens_planner\""]);
    row(
        "agent_started",
        "phase3/r0/ensembler",
        &["plan \\\"words of phase3/r0/ens_planner\\\"", "2 solutions"],
    );
    row("agent_ended", "phase3/r0/ensembler", &["\"characters\":"]);
    row("info", "phase3/r0", &["leaks found"]);
    row("script_ended", "phase3/r0/run", &["\"score\":0.6", "\"seconds\":"]);
    row(
        "warning",
        "phase3/r1",
        &["the round failed: ValueError: broken (plan: words of phase3/r1/ens_planner)"],
    );
    row("warning", "phase3/r0", &["left no valid ./final/submission.csv"]);
    row("info", "phase3", &["Phase 3 combines 2 solutions in 2 rounds: toy"]);
    row("info", "phase3", &["the best ensemble is that of phase3/r0, score 0.6; 1 of 2 rounds succeeded"]);
    row("phase_ended", "", &["\"phase\":\"phase3\"", "\"steps\":2", "\"score\":0.6"]);
    let mut alone = frozen();
    alone.config.num_parallel_solutions = 1;
    let log_of = log(&World::new(), &alone).await;
    check(&log_of, "info", "", &["Phase 3 skipped (L=1): toy, score 0.5"]);
}

#[tokio::test]
async fn repairs_and_corrections_tell_what_their_table_asks_for() {
    let leak = r#"{"answers": [{"leakage_status": "Yes Data Leakage", "code_block": "print('start')"}]}"#;
    let world = World::new()
        .fails("phase1/candidate-0/run")
        .fails("phase1/candidate-0/debug-1/run")
        .agent("phase1/candidate-0/debug-2/debugger", "```python\nprint('without a score')\n```")
        .fails("phase1/candidate-0/debug-2/run")
        .fails("phase1/candidate-0/debug-3/run")
        .agent("phase1/candidate-1/leakage", leak);
    let log = log(&world, &frozen()).await;
    let check = |kind, place, content: &[&str]| check(&log, kind, place, content);
    check("info", "phase1/candidate-0/debug-1", &["repair 1 of 3: ValueError: broken"]);
    check("agent_started", "phase1/candidate-0/debug-1/debugger", &["code of", "bug of"]);
    check(
        "script_ended",
        "phase1/candidate-0/debug-1/run",
        &["\"failure\":\"ValueError: broken\"", "\"end\":\"exit code 1\""],
    );
    check("warning", "phase1/candidate-0/debug-2", &["prints no score; a line that does is added"]);
    check("warning", "phase1/candidate-0", &["not repaired in 3 attempts"]);
    check("agent_started", "phase1/candidate-1/leakage-fix-1", &["code_block", "code of"]);
    check("info", "phase1/candidate-1", &["leaking block of 14 characters corrected"]);
    check("info", "phase1/candidate-1", &["1 leak found, script changed"]);
}

#[tokio::test]
async fn finalization_tells_what_its_table_asks_for() {
    let mut inputs = frozen();
    inputs.task.reference_discussions = vec!["one".to_owned(), "two".to_owned()];
    let world = World::new()
        .agent("finalization/subsampling_extract", "```python\nprint('start')\n```")
        .agent("finalization/subsampling_remove", "```python\npass\n```")
        .agent("finalization/contamination-1", r#"{"verdict": "Same"}"#);
    let log_of = log(&world, &inputs).await;
    let row = |kind, place, content: &[&str]| check(&log_of, kind, place, content);
    row("phase_started", "", &["\"phase\":\"finalization\""]);
    row("agent_started", "finalization/subsampling_extract", &["final_solution of"]);
    row("info", "finalization", &["subsampling removed: ", "characters before"]);
    row("agent_started", "finalization/test", &["final_solution of", "task_description"]);
    row("agent_ended", "finalization/test", &["\"characters\":"]);
    row("script_started", "finalization/run", &["\"characters\":", "\"timeout\":"]);
    row("script_ended", "finalization/run", &["\"end\":\"exit code 0\"", "\"bytes\":20", "\"rows\":2"]);
    row("agent_started", "finalization/contamination-1", &["reference_discussion"]);
    row("info", "finalization", &["compared with 2 references: Novel, Same; overall Same"]);
    row("step_ended", "finalization", &["\"note\":\"subsampling removed; ", "lines added"]);
    row("info", "", &["lineage: phase1/candidate-"]);
    let log_of = log(&World::new(), &frozen()).await;
    check(&log_of, "info", "finalization", &["no subsampling is removed"]);
    check(&log_of, "info", "finalization", &["no references to compare the solution with"]);
    let subsampling = async |reply: &str, words: &[&str]| {
        let log = log(&World::new().agent("finalization/subsampling_extract", reply), &frozen()).await;
        check(&log, "warning", "finalization", words);
    };
    subsampling("no idea", &["subsampling is left as it is: no code in the reply: no idea"]).await;
    subsampling("```python\nx = 'absent'\n```", &["subsampling is left as it is", "x = 'absent'"]).await;
    let failing = (1..=3).fold(World::new().fails("finalization/run"), |world, repair| {
        world.fails(&format!("finalization/debug-{repair}/run"))
    });
    let log_of = log(&failing, &frozen()).await;
    check(
        &log_of,
        "warning",
        "finalization",
        &["no valid submission yet, it is repaired: ValueError: broken"],
    );
    check(
        &log_of,
        "warning",
        "finalization",
        &["did not run on the original files (ValueError: broken)", "phase3/r1 stands, score 0.5"],
    );
}
