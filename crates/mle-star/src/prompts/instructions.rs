//! Tests that each built-in template contains its instructions: rows of template, values and phrases.

mod told;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Prompts, Values};
use mle_star_domain::protocol::{Split, SplitKind};

const CODE: &str = "import os\nprint(f\"{os.name} {{ x }}\")";
const SCORE_LINE: &str = "'Final Validation Performance: {final_validation_score}'";
const ONLY_CODE: &str = "No headings and no other text.";
const NO_EXIT: &str = "Never call `exit()`, `quit()`, `sys.exit()` or `os._exit()`.";
const NO_MASKING: &str = "Do not use `try:`/`except:` or `if`/`else` to hide unintended behaviour.";
const NO_DUMMIES: &str = "do not introduce dummy variables";
const KEEP_SUBSAMPLING: &str = "Do not remove subsampling if exists.";
const SUBSAMPLE: &str = "more than 1234 training samples, subsample to 1234";
const MACHINE: &str = "Python 3.11, numpy 2.4.6, no network";
const WITH_SEARCH: &[&str] = &["Search the web", "'sources': list[str]"];
const WITHOUT_SEARCH: &[&str] = &["no web search", "that you know", "do not invent links"];
const AFTER_EXCLUDED: &str =
    "Columns that the Validation section excludes do not count as unused.\n- **Do not";
const HISTORY: &str = "# Plans you have tried\n\n## Plan: a\n## Score: 0.5";

fn render(name: &str, values: &Value) -> String {
    let mut all = json!({
        "environment": MACHINE, "cut": "", "validation": [], "columns": [], "verifies": false, "unverified": false, "subsample_limit": 1234, "seed": 42, "metric": "RMSE", "formula": "", "direction": "minimize", "comparative": "lower",
    });
    let all = all.as_object_mut().unwrap();
    all.extend(values.as_object().cloned().unwrap_or_default());
    Prompts::new(BTreeMap::new()).unwrap().render(name, &Values::new(all)).unwrap()
}

/// Checks that the prompt contains every inserted value unchanged and every phrase of `says`. Booleans select
/// sentences and are not inserted.
fn check(name: &str, values: &Value, says: &[&str]) {
    let prompt = render(name, values);
    let inserted = values.as_object().unwrap().values().flat_map(|value| match value {
        Value::Array(items) => items.iter().collect(),
        Value::Bool(_) => Vec::new(),
        one => vec![one],
    });
    for value in inserted {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        assert!(prompt.contains(&text), "{name} does not contain the value {text:?}");
    }
    for phrase in says {
        assert!(prompt.contains(phrase), "{name} does not contain {phrase:?}:\n{prompt}");
    }
    check_full(name, values, says);
}

/// Checks that the instructions are there if the agents are told more: in the prompt or in the system prompt.
fn check_full(name: &str, values: &Value, says: &[&str]) {
    /// What stands in a part that several calls share, and what is said in other words.
    const OTHERWISE: &[&str] = &[
        "# 1st Python Solution",
        "# 2nd Python Solution",
        "## Study 0\n\nFIRST",
        "## Study 1\n\nSECOND",
        "## Block 0",
        AFTER_EXCLUDED,
        "hold-out validation set",
        "validation set, chosen as the Validation section says, and print",
        "validation set, chosen as the Validation section says.",
        "once over all rows of this file, not as a mean over folds",
        "using training samples",
        "Load only the training data",
        "If the error is about",
        "computed once over all rows",
        // The Validation section has the rule for samples.
        SUBSAMPLE,
        KEEP_SUBSAMPLING,
        "Do not subsample and do not introduce dummy variables",
        // Evidence comes first.
        "not considered before",
        "not improved before",
        // Only where they are.
        "PyTorch, not TensorFlow",
        "CUDA",
    ];
    let mut values = values.clone();
    for (name, value) in [
        ("full", json!(true)),
        ("needs_task", json!(true)),
        ("needs_validation", json!(true)),
        ("current", json!({"score": "0.5", "time": "3 s", "printed": ""})),
        ("attempts", json!([])),
        ("solution_script", json!(CODE)),
        ("purpose", json!("score")),
    ] {
        values[name] = value;
    }
    values.as_object_mut().unwrap().entry("task_description").or_insert(json!("TASK"));
    let prompt = format!("{}\n\n{}", render("system.md", &values).trim_end(), render(name, &values));
    for phrase in says.iter().filter(|phrase| !OTHERWISE.contains(phrase)) {
        assert!(prompt.contains(phrase), "{name}, told more, does not contain {phrase:?}:\n{prompt}");
    }
    assert!(!prompt.contains("\n\n\n"), "{name} has two empty lines:\n{prompt}");
}

fn check_absent(name: &str, values: &Value, phrases: &[&str]) {
    let prompt = render(name, values);
    for phrase in phrases {
        assert!(!prompt.contains(phrase), "{name} contains {phrase:?}:\n{prompt}");
    }
}

#[test]
fn system_prompt_has_persona_task_metric_and_machine() {
    let says = ["Kaggle grandmaster", "validation", "Metric: RMSE", "Direction: minimize", MACHINE];
    check("system.md", &json!({"task_description": "TASK", "needs_task": true}), &says);
}

#[test]
fn the_retriever_prompt_follows_the_search_setting() {
    let says = [
        "7 recent and effective models",
        "concise and simple",
        "A link to a repository",
        "'model_name': str",
        "{\"models\": [",
    ];
    for (search, present, absent) in
        [(true, WITH_SEARCH, WITHOUT_SEARCH), (false, WITHOUT_SEARCH, WITH_SEARCH)]
    {
        let values = json!({"task_description": "TASK", "num_models": 7, "search": search});
        check("retriever.md", &values, &says);
        check("retriever.md", &values, present);
        check_absent("retriever.md", &values, absent);
        assert!(render("retriever.md", &values).starts_with("# Competition\n\nTASK"));
    }
}

#[test]
fn phase_1_prompts_carry_their_instructions() {
    let says = [
        "Kaggle grandmaster",
        "must use the model above",
        "no ensembling and no hyperparameter search",
        "RMSE",
        "`./input`",
        "do not need to unzip",
        "must not use unrelated models",
        "PyTorch, not TensorFlow",
        "CUDA",
        "hold-out validation set",
        "Do not load the test data",
        SUBSAMPLE,
        SCORE_LINE,
        "one self-contained file",
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
        "must integrate the reference solution",
        "Use the base solution as the code base",
        "Train the model of the reference solution in addition",
        "similar functionality together",
        "Ensemble",
        "relatively simple",
        "hold-out validation set",
        "Load only the training data",
        "`./input`",
        SUBSAMPLE,
        SCORE_LINE,
        "one self-contained file",
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
        "that the earlier studies did not examine",
        "After each ablation, print its effect",
        "which part contributes most",
        "Do not load or process test data",
        "one self-contained file",
        ONLY_CODE,
        MACHINE,
    ];
    check("ablation.md", &json!({"solution_script": CODE, "previous_ablations": ["FIRST", "SECOND"]}), &says);
    let says = ["Summarize", "which part matters most and which least"];
    check("summarize.md", &json!({"ablation_code": CODE, "raw_result": "OUTPUT"}), &says);
    let values = json!({"solution_script": CODE, "ablation_summary": "SUMMARY", "previous_code_blocks": ["b0", "b1"], "note": "NOTE"});
    let says = [
        "Kaggle grandmaster",
        "Use the ablation result",
        "effective next plan",
        "3 to 5 sentences",
        "run too long",
        "not considered before",
        "not improved before",
        "## Block 0",
        "## Block 1",
        "may be long",
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
        "must follow the plan",
        KEEP_SUBSAMPLING,
        NO_DUMMIES,
        "one ```python code block",
        ONLY_CODE,
        MACHINE,
    ];
    check("coder.md", &json!({"code_block": CODE, "plan": "PLAN"}), &says);
    let says = [
        "Kaggle grandmaster",
        "better plan",
        "novel and effective",
        "differ from all earlier plans",
        "run too long",
        "3 to 5 sentences",
        "no headings",
        "achieve a lower score",
    ];
    check("planner.md", &json!({"code_block": CODE, "history": HISTORY}), &says);
    let maximized = json!({"code_block": CODE, "history": HISTORY, "comparative": "higher"});
    check("planner.md", &maximized, &["achieve a higher score"]);
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
        "not on hyperparameters",
        "easy to implement, novel and effective",
        "differ from all earlier plans",
        "achieve a lower score",
        "as little as possible",
        "no headings",
    ];
    check("ens_planner.md", &values, &says);
    let says = [
        "Kaggle grandmaster",
        "# 1st Python Solution",
        "# 2nd Python Solution",
        "Implement the plan",
        "almost unchanged",
        "`./input`",
        "do not need to unzip",
        "Do not load earlier submissions",
        "hold-out validation set",
        "Do not subsample and do not introduce dummy variables",
        "complete new program",
        "`./final/submission.csv`",
        SCORE_LINE,
        "one self-contained file",
        "one ```python code block",
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
        "this error no longer occurs",
        KEEP_SUBSAMPLING,
        "do not add features, models or processing",
        "`./input`",
        SCORE_LINE,
        "one self-contained file",
        NO_EXIT,
        "one ```python code block",
        ONLY_CODE,
        MACHINE,
    ];
    check("debugger.md", &json!({"code": CODE, "bug": "Traceback (most recent call last):"}), &says);
    let says = [
        "using training samples",
        "trained only on training samples",
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
        "only on training samples",
        "must not be trained on validation samples",
        "no longer leaks data",
        "are defined earlier in the script",
        "only the corrected block",
        MACHINE,
    ];
    check("leakage_correction.md", &json!({"code": CODE, "code_block": "import os"}), &says);
    let says = [
        "all the information that is provided",
        "uses all of it",
        "**Do not use `try:`/`except:`",
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
        "do not need to unzip",
        "including the test data",
        "`submission.csv` in `./final`",
        "Do not drop any",
        "may train on the full training set",
        "as little as possible",
        "`./final/submission.csv`",
        "one self-contained file",
        NO_EXIT,
        NO_MASKING,
        "one ```python code block",
        ONLY_CODE,
        MACHINE,
    ];
    let values = json!({"task_description": "TASK", "final_solution": CODE});
    check("test.md", &values, &says);
    check_absent("test.md", &values, &["Final Validation Performance"]);
    let says = ["training samples are subsampled", "exact excerpt", "one ```python code block"];
    check("test_subsampling_extract.md", &json!({"final_solution": CODE}), &says);
    let says = [
        "Remove the subsampling",
        "all training samples are used",
        NO_DUMMIES,
        "one ```python code block",
        MACHINE,
    ];
    check("test_subsampling_remove.md", &json!({"code_block_with_subsampling": CODE}), &says);
    let timed = json!({
        "code_block_with_subsampling": CODE, "full": true, "seconds": 12.5, "allowed_seconds": 40.1,
    });
    let prompt = render("test_subsampling_remove.md", &timed);
    assert!(prompt.contains("took 12.5 s. The submission script may take 40.1 s."), "{prompt}");
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
    check_absent("ablation.md", &values, &["Earlier", "## Study", "earlier studies"]);
    let values = json!({"solution_script": CODE, "ablation_summary": "SUMMARY", "previous_code_blocks": [], "note": ""});
    check_absent("extractor.md", &values, &["## Block", "before", "# Note"]);
    let values = json!({"num_solutions": 2, "solutions": [CODE, CODE], "history": ""});
    check_absent("ens_planner.md", &values, &["tried", "Plan:", "Score:", "better plan"]);
}

fn split(kind: SplitKind) -> Split {
    let column = matches!(kind, SplitKind::Groups | SplitKind::Time).then(|| "patient".to_owned());
    Split { kind, column, ..Split::default() }
}

/// A template that writes or changes whole scripts, with its values.
fn writers() -> [(&'static str, Value); 4] {
    [
        ("init.md", json!({"task_description": "TASK", "model_name": "MODEL", "example_code": CODE})),
        ("merger.md", json!({"base_code": CODE, "reference_code": "REFERENCE"})),
        ("ensembler.md", json!({"num_solutions": 1, "solutions": [CODE], "plan": "PLAN"})),
        ("data.md", json!({"initial_solution": CODE, "task_description": "TASK"})),
    ]
}

#[test]
fn the_validation_section_follows_the_protocol() {
    const SECTION: &str = "\n\n# Validation\n\n";
    const FILE: &[&str] = &[
        "`./final/validation_predictions.csv`: one row for each labelled row",
        "out-of-fold predictions",
        "columns of the sample submission",
        "0-based row number in the training file if that file has no id column",
        "once over all rows of this file, not as a mean over folds",
        "rejects a script whose printed score differs",
    ];
    const ORDER: &[&str] = &["validates in a different way, follow this section"];
    let rules = [
        (SplitKind::Rows, "- Choose the validation rows at random.\n"),
        (SplitKind::Stratified, "at random, with the same share of each class.\n"),
        (SplitKind::Groups, "keep all rows with the same `patient` on the same side of a split"),
        (SplitKind::Time, "later in `patient` than the training rows: train on earlier rows"),
    ];
    for (name, mut values) in writers() {
        for (kind, says) in rules {
            for verifies in [true, false] {
                values["validation"] = json!([split(kind).instruction(), "Do not use `scan`."]);
                values["columns"] = json!(["Each labelled row counts by its weight in `w`."]);
                values["verifies"] = json!(verifies);
                check(name, &values, &[SECTION, says, "by its weight in `w`.\n", "\n\n# Your task\n\n"]);
                check(name, &values, ORDER);
                if verifies {
                    check(name, &values, FILE);
                } else {
                    check_absent(name, &values, FILE);
                }
                let others = rules.iter().filter(|(other, _)| *other != kind).map(|(_, says)| *says);
                check_absent(name, &values, &others.collect::<Vec<_>>());
            }
        }
        // The tables cannot be compared, but scores can be computed.
        values["columns"] = json!([]);
        (values["validation"], values["verifies"]) = (json!([]), json!(true));
        check(name, &values, &[SECTION]);
        check(name, &values, FILE);
        check_absent(name, &values, ORDER);
        // There is no protocol.
        values["verifies"] = json!(false);
        check_absent(
            name,
            &values,
            &["Validation section", "# Validation", "validation_predictions", "\n\n\n"],
        );
    }
}

#[test]
fn other_instructions_give_way_to_the_validation_section() {
    let phrases = [
        "validation set, chosen as the Validation section says, and print",
        "validation set, chosen as the Validation section says.",
        "unless the plan or the Validation section requires a change",
        AFTER_EXCLUDED,
    ];
    for ((name, mut values), phrase) in writers().into_iter().zip(phrases) {
        values["validation"] = json!([split(SplitKind::Time).instruction()]);
        check(name, &values, &[phrase]);
        assert!(!render(name, &values).contains("\n\n\n"), "{name}");
    }
}

#[test]
fn the_file_of_predictions_is_asked_for_while_a_score_is_unverified() {
    const FILE: &[&str] = &["`./final/validation_predictions.csv`", "columns of the sample submission"];
    let planner = |unverified| json!({"code_block": CODE, "history": HISTORY, "unverified": unverified});
    check("planner.md", &planner(true), FILE);
    check("planner.md", &planner(true), &["cannot be verified"]);
    check_absent("planner.md", &planner(false), FILE);
    let debugger = |verifies| json!({"code": CODE, "bug": "KeyError", "verifies": verifies});
    check("debugger.md", &debugger(true), &["If the error is about", "computed once over all rows"]);
    check_absent("debugger.md", &debugger(false), &["If the error is about", "sample submission"]);
}

#[test]
fn later_test_rows_are_predicted_by_a_model_of_all_rows() {
    let prompt = |later| render("validation.md", &json!({"full": true, "predicts": true, "later": later}));
    let (of_folds, of_all) =
        ("with the mean of the models of all folds, and write", "trained on all labelled rows");
    let (usual, later) = (prompt(false), prompt(true));
    assert!(usual.contains(of_folds) && !usual.contains(of_all), "{usual}");
    assert!(later.contains(of_all) && !later.contains(of_folds), "{later}");
    let scores = json!({"full": true, "predicts": true, "class_scores": true});
    assert!(render("validation.md", &scores).contains("`./final/validation_class_scores.csv`"));
    assert!(!usual.contains("class_scores"), "{usual}");
    let leaks = render("leakage_detection.md", &json!({"code": CODE, "full": true}));
    assert!(leaks.contains("trained on all labelled rows and predicts only the test rows"), "{leaks}");
    let ensembler = |later| {
        let values =
            json!({"num_solutions": 1, "solutions": [CODE], "plan": "PLAN", "full": true, "later": later});
        render("ensembler.md", &values)
    };
    assert!(
        ensembler(false)
            .contains("with the average of the models of all folds, or with models trained on all")
    );
    assert!(ensembler(true).contains("Predict the test data with models trained on all rows."));
}

#[test]
fn the_score_of_periods_is_asked_for_as_the_program_computes_it() {
    let check = |full: bool, by_period: bool, says: &str, not: &str| {
        let rules = json!(["Use the folds."]);
        let values = json!({"full": full, "by_period": by_period, "validation": rules, "verifies": true});
        let prompt = render("validation.md", &values);
        assert!(prompt.contains(says) && !prompt.contains(not), "{prompt}");
    };
    let (once, mean) = ("not as a mean over folds", "mean over the folds as the score");
    check(true, false, once, mean);
    check(true, true, mean, once);
    let mean = "mean over the periods of the metric of each period's rows";
    check(false, false, once, mean);
    check(false, true, mean, once);
    let debugger = |by_period| {
        let values = json!({"code": CODE, "bug": "KeyError", "verifies": true, "by_period": by_period});
        render("debugger.md", &values)
    };
    assert!(debugger(true).contains("The printed score is the mean over the folds of the metric"));
    assert!(debugger(false).contains("The printed score is computed once over all rows of this file."));
}

#[test]
fn scripts_know_how_long_they_may_take_and_what_the_phase_has_left() {
    let check = |limit: f64, planned: f64, expected: &str| {
        let prompt = render("time.md", &json!({"script_limit": limit, "planned": planned}));
        assert_eq!(prompt.trim(), format!("# Time\n\n{expected}"));
    };
    let alone = "A script may run for 600 s now. Then it is stopped and counts as failed.";
    check(600.0, 600.0, alone);
    // Both are rounded down, at different moments.
    check(600.0, 599.0, alone);
    check(600.0, 7200.0, &format!("{alone} All scripts of this phase together have 7200 s left."));
    let limit = "It is stopped after 77700 s at the latest, and then counts as failed.";
    let part = "A script should take a small part of the 8600 s that are planned for all further scripts of this phase.";
    check(77700.0, 8600.0, &format!("{part} {limit}"));
    let over =
        "The time that was planned for the scripts of this phase is used up, so a script should be fast.";
    check(77700.0, 0.0, &format!("{over} {limit}"));
}

#[test]
fn the_place_of_the_data_is_told_once() {
    for (name, mut values) in [
        ("test.md", json!({"final_solution": CODE})),
        ("debugger.md", json!({"code": CODE, "bug": "KeyError"})),
        ("ablation.md", json!({"solution_script": CODE})),
        ("merger.md", json!({"base_code": CODE, "reference_code": CODE})),
        ("init.md", json!({"model_name": "MODEL", "example_code": CODE})),
    ] {
        (values["full"], values["purpose"]) = (json!(true), json!("score"));
        assert!(render(name, &values).contains("in `./input`"), "{name}");
        values["data_summary"] = json!("THE DATA");
        assert!(!render(name, &values).contains("in `./input`"), "{name}");
    }
}
