//! Names and formats that files, agents and other programs rely on.

use mle_star::testing::{World, frozen};
use serde_json::{Value, json};

use crate::run;

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
