//! What the built-in templates must say, whatever their wording: rows of template, values and phrases.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Prompts, Values};

const CODE: &str = "import os\nprint(f\"{os.name} {{ x }}\")";
const SCORE_LINE: &str = "'Final Validation Performance: {final_validation_score}'";
const ONLY_CODE: &str = "No headings and no other text.";
const NO_EXIT: &str = "Never call `exit()`, `quit()`, `sys.exit()` or `os._exit()`.";
const NO_MASKING: &str = "No `try:`/`except:` and no `if`/`else` whose purpose is to hide something";
const NO_DUMMIES: &str = "do not make up dummy variables";
const KEEP_SUBSAMPLING: &str = "Do not remove subsampling if exists.";
const SUBSAMPLE: &str = "With more than 1234 training samples, subsample to 1234";
const MACHINE: &str = "Python 3.11, numpy 2.4.6, no network";
const HISTORY: &str = "# Plans you have tried\n\n## Plan: a\n## Score: 0.5";

fn render(name: &str, values: &Value) -> String {
    let mut all = json!({
        "environment": MACHINE, "subsample_limit": 1234, "metric": "RMSE", "direction": "minimize", "comparative": "lower",
    });
    let all = all.as_object_mut().unwrap();
    all.extend(values.as_object().cloned().unwrap_or_default());
    Prompts::new(BTreeMap::new()).unwrap().render(name, &Values::new(all)).unwrap()
}

/// Everything inserted stands in the prompt unchanged (a truth value chooses words and is not inserted), and every phrase of `says` does.
fn check(name: &str, values: &Value, says: &[&str]) {
    let prompt = render(name, values);
    let inserted = values.as_object().unwrap().values().flat_map(|value| match value {
        Value::Array(items) => items.iter().collect(),
        Value::Bool(_) => Vec::new(),
        one => vec![one],
    });
    for value in inserted {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        assert!(prompt.contains(&text), "{name} lacks its value {text:?}");
    }
    for phrase in says {
        assert!(prompt.contains(phrase), "{name} does not say {phrase:?}:\n{prompt}");
    }
}

fn check_absent(name: &str, values: &Value, phrases: &[&str]) {
    let prompt = render(name, values);
    for phrase in phrases {
        assert!(!prompt.contains(phrase), "{name} says {phrase:?}:\n{prompt}");
    }
}

#[test]
fn system_prompt_tells_persona_task_metric_and_machine() {
    let says = ["Kaggle grandmaster", "validation", "Metric: RMSE", "Direction: minimize", MACHINE];
    check("system.md", &json!({"task_description": "TASK"}), &says);
}

#[test]
fn phase_1_prompts_carry_their_instructions() {
    let says = [
        "7 recent and effective models",
        "concise and simple",
        "A link to a repository",
        "'model_name': str",
        "{\"models\": [",
    ];
    let (with, without) = (["Search the web", "'sources': list[str]"], ["no web search", "what you know"]);
    for (search, said, unsaid) in [(true, with, without), (false, without, with)] {
        let values = json!({"task_description": "TASK", "num_models": 7, "search": search});
        check("retriever.md", &values, &says);
        check("retriever.md", &values, &said);
        check_absent("retriever.md", &values, &unsaid);
        assert!(render("retriever.md", &values).starts_with("# Competition\n\nTASK"));
    }
    let says = [
        "Kaggle grandmaster",
        "compulsory",
        "no ensemble of models, no search for hyperparameters",
        "RMSE",
        "`./input`",
        "nothing to unzip",
        "models unrelated to it",
        "PyTorch, not TensorFlow",
        "CUDA",
        "hold-out validation set",
        "Leave the test data alone",
        SUBSAMPLE,
        SCORE_LINE,
        "One self-contained file",
        NO_EXIT,
        NO_MASKING,
        ONLY_CODE,
        MACHINE,
    ];
    check(
        "init.md",
        &json!({"task_description": "TASK", "model_name": "MODEL", "example_code": CODE}),
        &says,
    );
    let says = [
        "Kaggle grandmaster",
        "compulsory",
        "The base is the code you work on",
        "Train the reference's model in addition",
        "in one place",
        "Ensemble",
        "fairly simple",
        "hold-out validation set",
        "Read the training data only",
        "`./input`",
        SUBSAMPLE,
        SCORE_LINE,
        "One self-contained file",
        NO_EXIT,
        NO_MASKING,
        ONLY_CODE,
        MACHINE,
    ];
    check("merger.md", &json!({"base_code": CODE, "reference_code": "REFERENCE"}), &says);
}

#[test]
fn outer_loop_prompts_carry_their_instructions() {
    let says = [
        "Kaggle grandmaster",
        "train.py",
        "two or three variants",
        "## Study 0\n\nFIRST",
        "## Study 1\n\nSECOND",
        "that the studies above have not looked at",
        "Print the effect of every ablation",
        "which part contributes most",
        "never load or process test data",
        "One self-contained file",
        ONLY_CODE,
        MACHINE,
    ];
    check("ablation.md", &json!({"solution_script": CODE, "previous_ablations": ["FIRST", "SECOND"]}), &says);
    let says = ["Summarize", "which part matters most and which least"];
    check("summarize.md", &json!({"ablation_code": CODE, "raw_result": "OUTPUT"}), &says);
    let values = json!({"solution_script": CODE, "ablation_summary": "SUMMARY", "previous_code_blocks": ["b0", "b1"], "note": "NOTE"});
    let says = [
        "Kaggle grandmaster",
        "Let the ablation result guide you",
        "effective next plan",
        "3 to 5 sentences",
        "run too long",
        "not been considered before",
        "not improved yet",
        "## Block 0",
        "## Block 1",
        "It may be long",
        "exact excerpt",
        "'code_block': str, 'plan': str",
        "{\"plans\": [",
    ];
    check("extractor.md", &values, &says);
}

#[test]
fn inner_loop_prompts_carry_their_instructions() {
    let says = [
        "Kaggle grandmaster",
        "has to follow the plan",
        KEEP_SUBSAMPLING,
        NO_DUMMIES,
        "One ```python code block",
        ONLY_CODE,
        MACHINE,
    ];
    check("coder.md", &json!({"code_block": CODE, "plan": "PLAN"}), &says);
    let says = [
        "Kaggle grandmaster",
        "better plan",
        "novel and effective",
        "unlike all plans tried",
        "run too long",
        "3 to 5 sentences",
        "no headings",
        "aimed at a lower score",
    ];
    check("planner.md", &json!({"code_block": CODE, "history": HISTORY}), &says);
    let maximized = json!({"code_block": CODE, "history": HISTORY, "comparative": "higher"});
    check("planner.md", &maximized, &["aimed at a higher score"]);
    check_absent("planner.md", &maximized, &["lower"]);
}

#[test]
fn ensemble_prompts_carry_their_instructions() {
    let values = json!({"num_solutions": 2, "solutions": [CODE, "SECOND"], "history": HISTORY});
    let says = [
        "Kaggle grandmaster",
        "2 Python Solutions",
        "# 1st Python Solution",
        "# 2nd Python Solution",
        "how to merge",
        "not about hyperparameters",
        "easy to implement, novel and effective",
        "differ from all plans tried",
        "aim at a lower score",
        "as little as possible",
        "no headings",
    ];
    check("ens_planner.md", &values, &says);
    let says = [
        "Kaggle grandmaster",
        "# 1st Python Solution",
        "# 2nd Python Solution",
        "Carry out the plan",
        "nearly as they are",
        "`./input`",
        "nothing to unzip",
        "Do not load submissions",
        "hold-out validation set",
        "No subsampling and no dummy variables",
        "complete new program",
        "`./final/submission.csv`",
        SCORE_LINE,
        "One self-contained file",
        "One ```python code block",
        ONLY_CODE,
        MACHINE,
    ];
    let values = json!({"num_solutions": 2, "solutions": [CODE, "SECOND"], "plan": "PLAN"});
    check("ensembler.md", &values, &says);
    check_absent("ensembler.md", &values, &["1234"]);
}

#[test]
fn safety_prompts_carry_their_instructions() {
    let says = [
        "this error is gone",
        KEEP_SUBSAMPLING,
        "no new features, models or processing",
        "`./input`",
        SCORE_LINE,
        "One self-contained file",
        NO_EXIT,
        "One ```python code block",
        ONLY_CODE,
        MACHINE,
    ];
    check("debugger.md", &json!({"code": CODE, "bug": "Traceback (most recent call last):"}), &says);
    let says = [
        "with the help of training samples",
        "trained on training samples only",
        "trained on validation samples",
        "reach the training",
        "exact excerpt",
        "`Yes Data Leakage`",
        "`No Data Leakage`",
        "'leakage_status': str, 'code_block': str",
        "{\"answers\": [",
    ];
    check("leakage_detection.md", &json!({"code": CODE}), &says);
    let says = [
        "validation and test samples influence the training",
        "trained on training samples only",
        "must not be trained on validation samples",
        "nothing leaks any more",
        "are defined in the script before it",
        "the corrected block alone",
        MACHINE,
    ];
    check("leakage_correction.md", &json!({"code": CODE, "code_block": "import os"}), &says);
    let says = [
        "all the information that is provided",
        "takes in all of it",
        "**No `try:`/`except:`",
        "ways to extract",
        SCORE_LINE,
        "All the provided information is used.",
        MACHINE,
    ];
    check("data.md", &json!({"initial_solution": CODE, "task_description": "TASK"}), &says);
}

#[test]
fn finalization_prompts_carry_their_instructions() {
    let says = [
        "Kaggle grandmaster",
        "load the test samples and create the submission",
        "`./input`",
        "nothing to unzip",
        "the test data too",
        "`submission.csv` in `./final`",
        "Drop none",
        "full training set may be used",
        "as little as possible",
        "`./final/submission.csv`",
        "One self-contained file",
        NO_EXIT,
        NO_MASKING,
        "One ```python code block",
        ONLY_CODE,
        MACHINE,
    ];
    let values = json!({"task_description": "TASK", "final_solution": CODE});
    check("test.md", &values, &says);
    check_absent("test.md", &values, &["Final Validation Performance"]);
    let says = ["training samples are subsampled", "exact excerpt", "One ```python code block"];
    check("test_subsampling_extract.md", &json!({"final_solution": CODE}), &says);
    let says = [
        "Remove the subsampling",
        "all training samples are used",
        NO_DUMMIES,
        "One ```python code block",
        MACHINE,
    ];
    check("test_subsampling_remove.md", &json!({"code_block_with_subsampling": CODE}), &says);
    let says = [
        "copied and pasted",
        "`Novel`",
        "sufficiently different",
        "`Same`",
        "too similar",
        "{\"verdict\": \"Novel\"}",
    ];
    check(
        "test_contamination.md",
        &json!({"reference_discussion": "REFERENCE", "final_solution": CODE}),
        &says,
    );
}

#[test]
fn sections_without_content_are_left_out() {
    let values = json!({"solution_script": CODE, "previous_ablations": []});
    check_absent("ablation.md", &values, &["Earlier", "## Study", "studies above"]);
    let values = json!({"solution_script": CODE, "ablation_summary": "SUMMARY", "previous_code_blocks": [], "note": ""});
    check_absent("extractor.md", &values, &["## Block", "before", "# Note", "not improved yet"]);
    let values = json!({"num_solutions": 2, "solutions": [CODE, CODE], "history": ""});
    check_absent("ens_planner.md", &values, &["tried", "Plan:", "Score:", "better plan"]);
}
