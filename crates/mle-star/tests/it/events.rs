//! The events of a run.

use std::path::Path;

use mle_star::event::{Event, line_schema};
use mle_star::testing::{World, frozen};

use crate::run;

#[tokio::test]
async fn what_goes_wrong_is_a_warning_at_its_place() {
    let check = async |world: World, at: &str, words: &str| {
        let mut inputs = frozen();
        inputs.task.reference_discussions = vec!["a discussion".to_owned()];
        run(&world, &inputs).await.unwrap();
        let warnings: Vec<(String, String)> = world
            .events()
            .iter()
            .filter_map(|event| match event {
                Event::Warning { place, text, .. } => Some((place.to_string(), text.clone())),
                _ => None,
            })
            .collect();
        let warned = warnings.iter().any(|(place, text)| place.starts_with(at) && text.contains(words));
        assert!(warned, "no {words:?} at {at}: {warnings:?}");
    };
    let agent = |place: &str, answer: &str| World::new().agent(place, answer);
    let failing = |step: &str| {
        (1..=3).fold(World::new().fails(&format!("{step}/run")), |world, n| {
            world.fails(&format!("{step}/debug-{n}/run"))
        })
    };
    let one = r#"[{"model_name": "a", "example_code": "c"}, {"model_name": "", "example_code": "c"}]"#;
    check(agent("phase1/retriever", one), "phase1", "1 of 2 models").await;
    check(agent("phase1/retriever", one), "phase1", "without name or code").await;
    check(failing("phase1/candidate-0"), "phase1/candidate-0", "ValueError: broken").await;
    let silent =
        World::new().fails("phase1/candidate-0/run").agent("phase1/candidate-0/debug-1/debugger", "?");
    check(silent, "phase1/candidate-0/debug-1", "no code: ?").await;
    check(agent("phase1/candidate-0/leakage", "no idea"), "phase1/candidate-0", "no idea").await;
    let absent = r#"[{"leakage_status": "Yes Data Leakage", "code_block": "absent"}]"#;
    check(agent("phase1/candidate-0/leakage", absent), "phase1/candidate-0", "not in the solution").await;
    check(agent("phase1/data/data", "no idea"), "phase1/data", "no idea").await;
    check(failing("phase2/path-0/t0"), "phase2/path-0/t0", "does not run").await;
    check(agent("phase2/path-0/t0/summarize", ""), "phase2/path-0/t0", "summary was empty").await;
    check(agent("phase2/path-0/t0/extractor", "no idea"), "phase2/path-0/t0", "no idea").await;
    let block = r#"[{"code_block": "absent", "plan": "p"}]"#;
    check(agent("phase2/path-0/t0/extractor", block), "phase2/path-0/t0", "not in the solution").await;
    check(agent("phase2/path-0/t0/k0/coder", "no idea"), "phase2/path-0/t0/k0", "no idea").await;
    check(agent("phase2/path-0/t0/k1/planner", " "), "phase2/path-0/t0/k1", "empty").await;
    check(agent("phase3/r0/ens_planner", " "), "phase3/r0", "empty").await;
    check(agent("phase3/r0/ensembler", "no idea"), "phase3/r0", "no idea").await;
    check(failing("phase3/r0"), "phase3/r0", "ValueError: broken").await;
    let all = World::new().agent("phase3/r0/ens_planner", "").agent("phase3/r1/ens_planner", "");
    check(all, "phase3", "all 2 attempts failed; falling back to best input solution").await;
    let absent = agent("finalization/subsampling_extract", "```python\nx = 1\n```");
    let quoted = "subsampling is left as it is: the code block is not in the solution: ```python\nx = 1\n```";
    check(absent, "finalization", quoted).await;
    check(agent("finalization/test", "no idea"), "finalization", "no idea").await;
    check(failing("finalization"), "finalization", "ValueError: broken").await;
    check(agent("finalization/contamination-0", "no idea"), "finalization", "no idea").await;
}

#[test]
fn the_schema_in_the_documents_is_that_of_the_types() {
    let schema = serde_json::to_string_pretty(&line_schema()).unwrap() + "\n";
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/events.schema.json");
    mle_star_needs::assert_file(&file, &schema);
}
