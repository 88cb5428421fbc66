//! Names and formats that files, agents and other programs rely on.

use std::collections::BTreeSet;

use mle_star::solution::SolutionPhase;
use mle_star::testing::{World, frozen};
use mle_star_domain::metric::Direction;
use mle_star_domain::task::{DataModality, TaskType};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::run;

#[test]
fn kinds_have_the_names_of_the_specification() {
    fn check<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(all: &[T], names: &[&str]) {
        assert_eq!(json!(all), json!(names));
        assert_eq!(serde_json::from_value::<Vec<T>>(json!(names)).unwrap(), all);
    }
    use TaskType::{
        AudioClassification, Classification, ImageClassification, ImageToImage, Regression,
        SequenceToSequence, Tabular, TextClassification,
    };
    check(
        &[Classification, Regression, ImageClassification, ImageToImage, TextClassification],
        &["classification", "regression", "image_classification", "image_to_image", "text_classification"],
    );
    check(
        &[AudioClassification, SequenceToSequence, Tabular],
        &["audio_classification", "sequence_to_sequence", "tabular"],
    );
    use DataModality::{Audio, Image, Mixed, Text};
    check(
        &[DataModality::Tabular, Image, Text, Audio, Mixed],
        &["tabular", "image", "text", "audio", "mixed"],
    );
    use SolutionPhase::{Ensemble, Final, Init, Merged, Refined};
    check(&[Init, Merged, Refined, Ensemble, Final], &["init", "merged", "refined", "ensemble", "final"]);
    check(&[Direction::Maximize, Direction::Minimize], &["maximize", "minimize"]);
}

#[tokio::test]
async fn results_have_the_fields_of_the_specification() {
    let result = run(&World::new(), &frozen()).await.unwrap().result;
    let result = serde_json::to_value(result).unwrap();
    let check = |pointer: &str, fields: &str| {
        let value = result.pointer(pointer).unwrap();
        let names: BTreeSet<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(names, fields.split_whitespace().collect(), "{pointer}");
    };
    check(
        "",
        "task config phase1 phase2_results paths phase3 final_solution submission_path not_run not_best contamination \
         total_duration_seconds total_cost_usd estimated_cost_usd durations costs tokens usage lineage leakage_suspected \
         phases_completed stopped_by answer_is_earlier cuts made_with trust model importance \
         importance_why importance_rows importance_on",
    );
    check("/usage", "by_role by_phase by_path interrupted_calls");
    check("/usage/by_path", "path-0 path-1");
    check("/usage/by_phase/phase1", "calls cost_usd input output cache_read cache_write");
    check("/usage/by_role/ens_planner", "calls cost_usd input output cache_read cache_write");
    check(
        "/phase1",
        "retrieved_models retrieval lookups candidate_solutions candidate_scores initial_solution initial_score \
         merges",
    );
    check("/phase1/retrieved_models/0", "model_name example_code");
    check("/phase1/merges/0", "reference_model score accepted");
    check("/final_solution", "content phase score is_executable source_model created_at");
    check("/phase2_results/0", "ablation_summaries refined_blocks best_solution best_score step_history");
    check("/phase2_results/0/refined_blocks/0", "content category outer_step");
    check(
        "/phase2_results/0/step_history/0",
        "outer_step ablation_summary code_block plan inner_loop_attempts best_score_after_step was_skipped",
    );
    check("/phase2_results/0/step_history/0/inner_loop_attempts/0", "plan score code_block was_improvement");
    check(
        "/phase3",
        "input_solutions ensemble_plans ensemble_scores attempts best_ensemble best_ensemble_score",
    );
    check("/phase3/attempts/0", "plan score solution");
    assert_eq!(result["phase1"]["candidate_solutions"][1]["source_model"], "model-1");
    let phases =
        ["/phase1/candidate_solutions/0", "/phase2_results/0/best_solution", "/phase3/best_ensemble"];
    let phases = phases.map(|pointer| result.pointer(pointer).unwrap()["phase"].clone());
    assert_eq!(phases, ["init", "refined", "ensemble"]);
}

#[tokio::test]
async fn agents_with_structured_answers_are_asked_by_schema_and_some_variants_without_tools() {
    let mut inputs = frozen();
    inputs.task.reference_discussions = vec!["a discussion".to_owned()];
    let world = World::new().agent("finalization/subsampling_extract", "```python\nprint('start')\n```");
    run(&world, &inputs).await.unwrap();
    let check = |place: &str, tools: &[&str], field: Option<&str>, words: &[&str]| {
        let request = world.request(place).unwrap();
        assert_eq!(request.tools, tools, "{place}");
        let Some(field) = field else { return assert_eq!(request.schema, None, "{place}") };
        let schema = request.schema.unwrap();
        assert_eq!((&schema["type"], &schema["required"]), (&json!("object"), &json!([field])), "{place}");
        let known = |word: &&str| schema.to_string().contains(&format!("\"{word}\""));
        assert!(schema["properties"][field].is_object() && words.iter().all(known), "{schema}");
        let least = schema["properties"][field].get("minItems").and_then(Value::as_u64);
        assert_eq!(least, (field != "verdict").then_some(1), "{schema}");
    };
    check("phase1/retriever", &["WebSearch", "WebFetch"], Some("models"), &["model_name", "example_code"]);
    check("phase2/path-0/t0/extractor", &["Read"], Some("plans"), &["code_block", "plan"]);
    let verdicts = ["leakage_status", "code_block", "Yes Data Leakage", "No Data Leakage"];
    check("phase1/candidate-0/leakage", &["Read"], Some("answers"), &verdicts);
    check("finalization/contamination-0", &[], Some("verdict"), &["Novel", "Same"]);
    check("finalization/subsampling_extract", &[], None, &[]);
    check("finalization/subsampling_remove", &[], None, &[]);
    check("finalization/test", &["Read"], None, &[]);
    check("phase1/data/data", &["Read"], None, &[]);
    check("phase1/candidate-0/init", &["Read"], None, &[]);
}
