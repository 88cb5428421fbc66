//! What agents are told beyond the paper: the rows that scripts use, what is known in advance, times, scores.

use serde_json::{Value, json};

use super::{CODE, render};

/// Checks that a template that is told more has these phrases, and none of the others.
fn told(name: &str, values: &Value, says: &[&str], not: &[&str]) {
    let mut all = json!({
        "full": true, "needs_task": true, "needs_validation": true, "task_description": "TASK", "purpose": "score",
        "solution_script": CODE, "code_block": CODE, "plan": "PLAN", "model_name": "MODEL", "example_code": CODE, "code": CODE,
        "bug": "KeyError", "base_code": CODE, "reference_code": CODE, "num_solutions": 2, "solutions": [CODE, CODE],
        "initial_solution": CODE, "ablation_summary": "SUMMARY", "previous_code_blocks": [],
    });
    all.as_object_mut().unwrap().extend(values.as_object().cloned().unwrap_or_default());
    let prompt = render(name, &all);
    for phrase in says {
        assert!(prompt.contains(phrase), "{name}: no {phrase:?} in:\n{prompt}");
    }
    for phrase in not {
        assert!(!prompt.contains(phrase), "{name}: {phrase:?} in:\n{prompt}");
    }
}

#[test]
fn one_rule_says_which_rows_scripts_use() {
    let rule = |samples: bool, later: bool| json!({"samples": samples, "later": later});
    let only = "Only an ablation study may use fewer rows, the same for all of its variants.";
    let drawn = "`train.sample(n=1234, random_state=42)`";
    let submits = "only creates the submission uses all rows";
    let whole = "Train on all rows that a fold allows: no script draws a sample of them.";
    for name in ["validation.md", "system.md"] {
        told(name, &rule(false, false), &[whole, only], &["1234", submits]);
        told(name, &rule(false, true), &[whole, only], &["1234", submits]);
        told(name, &rule(true, false), &[drawn, only, submits, "Keep this sample"], &[whole]);
        told(
            name,
            &rule(true, true),
            &[
                "the latest 1234 of them, or on whole series",
                "Never draw single rows at random",
                only,
                submits,
            ],
            &[drawn, whole],
        );
    }
    // No other prompt has a rule of its own.
    let others = ["init.md", "merger.md", "coder.md", "debugger.md", "ablation.md", "ensembler.md"];
    for name in others {
        for (samples, later) in [(true, false), (true, true), (false, false)] {
            told(name, &rule(samples, later), &[], &["1234", "subsampl", "sample("]);
        }
    }
}

#[test]
fn libraries_are_named_where_they_are() {
    let machine = |text: &str| json!({"environment": text});
    let (torch, cuda) = ("use PyTorch, not TensorFlow", "Use CUDA");
    told(
        "init.md",
        &machine("Python with numpy 2.4\n2 cores, no GPU"),
        &["- The libraries listed"],
        &[torch, cuda],
    );
    told("init.md", &machine("Python with torch 2.9\n2 cores, no GPU"), &[torch], &[cuda]);
    told("init.md", &machine("Python with torch 2.9\n8 cores, H100 with 80 GiB"), &[torch, cuda], &[]);
}

#[test]
fn what_is_known_in_advance_is_allowed() {
    let predicts = |later: bool| json!({"predicts": true, "later": later});
    let known = "Features may use its columns, also those of other rows and times";
    let nothing = "nothing on the test table: no statistics, scalers, encodings or models.";
    told("validation.md", &predicts(true), &[known, nothing], &["from this row,"]);
    told(
        "validation.md",
        &predicts(false),
        &["from this row, joined tables and training rows.", nothing],
        &[known],
    );
    told("init.md", &predicts(true), &["only to predict it and for what it tells in advance."], &[]);
    told("init.md", &predicts(false), &["only to predict it.\n"], &[]);
    let inside = "of rows inside the validated period or after it";
    let planned = "they are known in advance, such as planned prices";
    told("leakage_detection.md", &json!({"later": true}), &[inside, planned], &[]);
    told("leakage_detection.md", &json!({"later": false}), &[], &[inside, planned]);
}

#[test]
fn a_script_knows_what_length_to_aim_at() {
    let time = |aim: Value| json!({"script_limit": 600.0, "planned": 900.0, "aim": aim, "current": {"time": "43 s beside other scripts"}});
    let aims = "Aim at less than 90 s for a script, so that all that is planned for this phase fits into its 900 s. A script is stopped after 600 s and counts as failed. The given solution took 43 s beside other scripts.";
    told("time.md", &time(json!(90.0)), &[aims], &[]);
    told("time.md", &time(Value::Null), &["A script may run for 600 s now."], &["Aim"]);
    let short = |seconds: f64| json!({"script_limit": 600.0, "planned": 900.0, "aim": 90.0, "current": {"time": "a while", "seconds": seconds}});
    told("time.md", &short(8.0), &["took a while, so there is time for more seeds"], &[]);
    told("time.md", &short(10.0), &["took a while."], &["there is time", "longer"]);
    told("time.md", &short(120.0), &["took a while, which is longer: save time where"], &["there is time"]);
}

#[test]
fn the_data_agent_knows_the_score_and_the_output() {
    let current = json!({"current": {"score": "0.71", "time": "3 s", "printed": "Fold 1: 0.7"}});
    told("data.md", &current, &["Its score is 0.71.", "```\nFold 1: 0.7\n```\n\n```python\n"], &[]);
    told("data.md", &json!({}), &["# Solution\n\n```python\n"], &["score is"]);
}

#[test]
fn evidence_decides_which_part_is_refined() {
    let blocks = json!({"previous_code_blocks": ["b0"]});
    told(
        "extractor.md",
        &blocks,
        &["Follow the results, also to a part that was refined before."],
        &["not considered before"],
    );
}

#[test]
fn samples_of_later_times_are_the_latest_rows_in_the_paper_as_well() {
    let prompt = |later: bool| {
        let values =
            json!({"task_description": "TASK", "model_name": "MODEL", "example_code": CODE, "later": later});
        render("init.md", &values)
    };
    assert!(prompt(true).contains("train on the latest 1234 of them"), "{}", prompt(true));
    assert!(!prompt(true).contains("subsample to"), "{}", prompt(true));
    assert!(!prompt(false).contains("latest 1234") && prompt(false).contains("subsample to 1234"));
}

#[test]
fn the_debugger_knows_what_the_script_is_for() {
    let debugger = |purpose: &str, validation: &[&str]| {
        let bug = "The script was stopped at its time limit after 2 s.";
        let values =
            json!({"code": CODE, "bug": bug, "full": true, "purpose": purpose, "validation": validation});
        render("debugger.md", &values)
    };
    let check = |prompt: &str, says: &[&str], not: &[&str]| {
        for phrase in says {
            assert!(prompt.contains(phrase), "no {phrase:?} in:\n{prompt}");
        }
        for phrase in not {
            assert!(!prompt.contains(phrase), "{phrase:?} in:\n{prompt}");
        }
    };
    let (first_fold, print) =
        ("only the first fold, as the Validation section allows", "must print its score");
    check(&debugger("score", &["rule"]), &["is a solution", first_fold, print], &["fewer folds"]);
    check(&debugger("score", &[]), &["is a solution", "cheaper features.", print], &["fold"]);
    check(
        &debugger("ablation", &["rule"]),
        &["is an ablation study", "for all variants alike"],
        &[first_fold, print],
    );
    check(
        &debugger("submission", &["rule"]),
        &["creates the submission", "keep writing it"],
        &["fold", print],
    );
}

#[test]
fn a_submission_script_keeps_its_model_where_that_is_asked() {
    let prompt = |values: Value| {
        let mut all = json!({"final_solution": CODE, "task_description": "TASK", "full": true});
        all.as_object_mut().unwrap().extend(values.as_object().cloned().unwrap());
        render("test.md", &all)
    };
    let asked = prompt(json!({"keeps_model": true, "has_cloudpickle": true}));
    let (_, section) = asked.split_once("# Keep the model\n").unwrap();
    let (section, _) = section.split_once("\n# Rules").unwrap();
    let length = section.chars().count();
    assert!(length <= 900, "{length} characters");
    for phrase in [
        "After `./final/submission.csv` is written",
        "`./final/model/`",
        "`python predict.py NEW OUT`",
        "`cloudpickle`",
    ] {
        assert!(section.contains(phrase), "{phrase}: {section}");
    }
    assert!(!prompt(json!({"keeps_model": true})).contains("cloudpickle"));
    for values in [json!({}), json!({"full": false})] {
        let prompt = prompt(values);
        assert!(!prompt.contains("predict.py"), "{prompt}");
    }
}

#[test]
fn a_solution_that_is_a_submission_script_already_stays() {
    let prompt = |full: bool, later: bool| {
        render(
            "test.md",
            &json!({"final_solution": CODE, "task_description": "TASK", "full": full, "later": later}),
        )
    };
    assert!(
        prompt(true, false)
            .contains("uses all training rows for that (the models of all folds together do), and")
    );
    assert!(prompt(true, true).contains("uses all training rows for that, and writes"));
    assert!(!prompt(false, false).contains("unchanged"));
}
