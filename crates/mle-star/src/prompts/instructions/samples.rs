//! Which sample of the training rows scripts are told to use.

use serde_json::json;

use super::{CODE, render};

#[test]
fn all_solutions_use_the_same_sample() {
    let model = json!({"model_name": "MODEL", "example_code": CODE, "full": true});
    let first = render("init.md", &model);
    assert!(first.contains("`train.sample(n=1234, random_state=42)`"), "{first}");
    let merged = render("merger.md", &json!({"base_code": CODE, "reference_code": CODE, "full": true}));
    assert!(merged.contains("Use the sample of the base solution for all models."), "{merged}");
}

#[test]
fn samples_of_later_times_are_the_latest_rows() {
    for full in [true, false] {
        let values = |later: bool| json!({"task_description": "TASK", "model_name": "MODEL", "example_code": CODE, "full": full, "later": later});
        let prompt = render("init.md", &values(true));
        assert!(prompt.contains("train on the latest 1234 of them"), "{prompt}");
        assert!(!prompt.contains("subsample to") && !prompt.contains("train.sample"), "{prompt}");
        assert!(!prompt.contains("all earlier rows.\n\n"), "{prompt}");
        assert!(!render("init.md", &values(false)).contains("latest 1234"));
    }
}
