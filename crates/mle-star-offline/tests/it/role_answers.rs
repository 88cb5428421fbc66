//! The answer of every role, without running scripts.

use std::collections::BTreeSet;

use mle_star_domain::metric::Direction::{Maximize, Minimize};
use mle_star_domain::role::{AgentType, Variant};
use mle_star_domain::task::Task;
use mle_star_offline::OfflineAgents;
use mle_star_tables::profile::{ColumnKind, Profile};
use serde_json::{Value, json};

use super::ask::{Asked, merged, with_data};
use super::python::initial;
use super::tasks::{Shape, agents, column, profile, shape, task};

/// Whether the text parses as Python.
pub(super) fn is_code(text: &str) -> bool {
    ruff_python_parser::parse_module(text).is_ok_and(|parsed| !parsed.suite().is_empty())
}

pub(super) fn asked<'a>(agents: &'a OfflineAgents, place: &'a str) -> Asked<'a> {
    Asked { agents, place }
}

#[test]
fn tasks_that_rules_cannot_do_name_the_field() {
    let check = |change: fn(&mut Task, &mut Profile), hint: &str| {
        let shape = shape("RMSE", Minimize, 0);
        let (mut task, mut profile) = (task(&shape), profile(&shape));
        change(&mut task, &mut profile);
        let trouble = OfflineAgents::new(&task, &profile, 30_000, None).unwrap_err();
        assert!(trouble.hint.contains(hint), "{trouble:?}");
        assert!(trouble.message.chars().next().is_some_and(char::is_lowercase), "{trouble:?}");
    };
    check(|task, _| task.roles.target = None, "target_column");
    check(|task, _| task.roles.target = Some("absent".to_owned().into()), "target_column");
    check(|task, _| task.evaluation_metric = "SSIM".to_owned(), "evaluation_metric");
    check(|_, profile| profile.test = None, "test.csv");
    check(|task, _| task.roles.target = Some("colour".to_owned().into()), "--metric");
    check(
        |_, profile| {
            profile.train.columns.retain(|column| ["id", "target"].contains(&column.name.as_str()));
        },
        "--agents claude",
    );
    check(
        |_, profile| {
            let second = column("another", ColumnKind::Float, 1);
            profile.sample.as_mut().unwrap().columns.push(second);
        },
        "target_column",
    );
}

#[test]
fn a_seed_is_that_of_every_script() {
    let agents = agents(&shape("RMSE", Minimize, 0)).with_seed(7);
    let inputs = json!({ "num_models": 2, "portfolio": true });
    let reply = asked(&agents, "phase1/retriever").json(AgentType::Retriever, None, inputs);
    for model in reply["models"].as_array().unwrap() {
        let name = model["model_name"].as_str().unwrap();
        let seed = if name.ends_with(" with another seed") { "SEED = 1199" } else { "SEED = 7" };
        let script = initial(&agents, name);
        assert!(script.lines().any(|line| line == seed), "{name}");
        // Another seed draws the same rows.
        assert!(!script.contains("SAMPLE_SEED") || script.contains("SAMPLE_SEED = 7\n"), "{name}");
    }
}

#[test]
fn the_retriever_offers_what_fits_and_no_more_than_asked() {
    let check = |shape: &Shape, wanted: Value, most: usize, first: &str| {
        let agents = agents(shape);
        let ask = asked(&agents, "phase1/retriever");
        let reply = ask.json(AgentType::Retriever, None, wanted);
        let models = reply["models"].as_array().unwrap();
        assert!(!models.is_empty() && models.len() <= most, "{reply}");
        assert_eq!(models[0]["model_name"], first);
        assert!(models.iter().all(|model| is_code(model["example_code"].as_str().unwrap())), "{reply}");
        let names: Vec<&str> = models.iter().map(|model| model["model_name"].as_str().unwrap()).collect();
        // Every name is understood again, and means another script.
        let scripts: BTreeSet<String> = names.iter().map(|name| initial(&agents, name)).collect();
        assert_eq!(scripts.len(), names.len(), "{names:?}");
        for name in &names {
            let ends = |ending: &str| name.strip_suffix(ending);
            let (folds, seed) = (ends(" with ten folds"), ends(" with another seed"));
            let script = initial(&agents, name);
            let model = folds.or(seed).unwrap_or(name);
            assert!(script.contains(&format!("# === Model: {model} ===")), "{name}");
            assert_eq!(script.contains("n_splits=10"), folds.is_some(), "{name}");
            assert_eq!(script.contains("SEED = 1234"), seed.is_some(), "{name}");
            assert_eq!(script.contains("SEED = 42"), seed.is_none(), "{name}");
        }
        names.len()
    };
    let plain = Shape { rich: false, ..shape("RMSE", Minimize, 0) };
    check(&shape("accuracy", Maximize, 2), json!({ "num_models": 4 }), 4, "TF-IDF linear model");
    check(&plain, json!({ "num_models": 3 }), 3, "LightGBM");
    check(&plain, json!({ "num_models": 1, "portfolio": false }), 1, "LightGBM");
    assert!(check(&plain, json!({ "num_models": 2, "portfolio": true }), 32, "LightGBM") >= 28);
    let rich = shape("log loss", Minimize, 3);
    assert!(check(&rich, json!({ "num_models": 2, "portfolio": true }), 32, "TF-IDF linear model") >= 24);
}

#[test]
fn the_first_model_fits_into_a_tenth_of_the_time() {
    let plain = Shape { rich: false, ..shape("RMSE", Minimize, 0) };
    let check = |shape: &Shape, limit: u64, baseline: &[f64], expected: &str| {
        let agents = agents(shape);
        let told = json!({ "time_limit": limit, "baseline_seconds": baseline });
        let ask = asked(&agents, "phase1/retriever");
        let reply = ask.ask_telling(AgentType::Retriever, None, json!({ "num_models": 4 }), told);
        let reply: Value = serde_json::from_str(&reply).unwrap();
        assert_eq!(reply["models"][0]["model_name"], expected, "{limit} {baseline:?}");
        assert_eq!(reply["models"].as_array().unwrap().len(), 4);
        assert!(initial(&agents, expected).contains(&format!("# === Model: {expected} ===")));
    };
    check(&plain, 86_400, &[4.5, 5.0], "LightGBM");
    check(&plain, 60, &[], "LightGBM");
    check(&plain, 12, &[1.0, 1.2], "LightGBM");
    check(&plain, 10, &[1.0, 1.2], "LightGBM of few trees");
    // A linear model that was stopped says nothing about trees.
    check(&plain, 60, &[2.0, 15.0], "LightGBM");
    let texts = shape("accuracy", Maximize, 2);
    check(&texts, 22, &[2.0, 9.0], "TF-IDF linear model");
    check(&texts, 21, &[2.0, 9.0], "TF-IDF linear model of words");
}

#[test]
fn the_debugger_repairs_what_rules_can() {
    let agents = agents(&shape("accuracy", Maximize, 2));
    let ask = asked(&agents, "phase1/candidate-0/debug-1/debugger");
    let init = |model: &str| ask.code(AgentType::Init, None, json!({ "model_name": model }));
    let check = |code: &str, bug: &str, gone: &str, there: &str| {
        let repaired = ask.code(AgentType::Debugger, None, json!({ "code": code, "bug": bug }));
        assert!(is_code(&repaired), "{repaired}");
        assert!(gone.is_empty() || !repaired.contains(gone), "{bug}: {repaired}");
        assert!(repaired.contains(there), "{bug}: {repaired}");
    };
    let (boosted, linear) = (init("CatBoost"), init("LightGBM"));
    check(
        &boosted,
        "ModuleNotFoundError: No module named 'catboost'",
        "catboost import",
        "HistGradientBoostingClassifier",
    );
    check(&boosted, "The script timed out after 20 seconds.", "\"iterations\": 250", "\"iterations\": 125");
    check(&linear, "ValueError: could not convert string to float: 'x'", "", "errors=\"coerce\"");
    check(&linear, "ValueError: Input contains NaN.", "", "nan_to_num");
    check(&linear, "KeyError: \"['age'] not in index\"", "\"age\"", "\"size\"");
    check("x = 1\nexit(0)\n", "The script calls exit(), which is not allowed.", "exit(0)", "pass");
    check("import foo\nfoo.bar()\n", "AttributeError: bar", "", "foo.bar()");
}

#[test]
fn a_leak_is_found_and_its_block_stays() {
    let agents = agents(&shape("accuracy", Maximize, 2));
    let ask = asked(&agents, "phase1/candidate-0/leakage");
    let script = with_data(&ask, &merged(&ask, ["LightGBM", "CatBoost"]));
    let leak = "train[NUMERIC[0]] = train.groupby(NUMERIC[1])[TARGET].transform(\"mean\")";
    let leaking = script.replacen("# === Folds ===", &format!("{leak}\n# === Folds ==="), 1);
    let found = ask.json(AgentType::Leakage, Some(Variant::Detection), json!({ "code": leaking }));
    assert_eq!(found["answers"], json!([{ "leakage_status": "Yes Data Leakage", "code_block": leak }]));
    let inputs = json!({ "code": leaking, "code_block": leak });
    assert_eq!(ask.code(AgentType::Leakage, Some(Variant::Correction), inputs), leak);
}

#[test]
fn submission_scripts_write_a_submission() {
    let agents = agents(&shape("accuracy", Maximize, 2));
    let ask = asked(&agents, "finalization/test");
    let own = ask.code(AgentType::Init, None, json!({ "model_name": "LightGBM" }));
    let bare = own.split("# === Submission").next().unwrap().to_owned();
    for script in [own.as_str(), bare.as_str(), "print('from elsewhere')", ""] {
        let inputs = json!({ "task_description": "", "final_solution": script });
        let code = ask.code(AgentType::Test, None, inputs);
        assert!(is_code(&code) && code.contains("./final/submission.csv"), "{code}");
    }
}

#[test]
fn copies_are_distinguished_from_new_work() {
    let agents = agents(&shape("accuracy", Maximize, 2));
    let ask = asked(&agents, "finalization/contamination-0");
    let own = ask.code(AgentType::Init, None, json!({ "model_name": "LightGBM" }));
    let check = |reference: &str, verdict: &str| {
        let inputs = json!({ "reference_discussion": reference, "final_solution": own });
        let reply = ask.json(AgentType::Test, Some(Variant::Contamination), inputs);
        assert_eq!(reply["verdict"], verdict);
    };
    check(&own, "Same");
    check(&own.replace("SEED = 42", "SEED = 7"), "Same");
    check("I blended three neural networks with test-time augmentation and pseudo labels.", "Novel");
    check("", "Novel");
}

#[test]
fn scripts_of_another_shape_are_never_a_failure() {
    use AgentType::{Ablation, Coder, Data, Debugger, Ensembler, Extractor, Leakage, Merger, Test};
    let agents = agents(&shape("accuracy", Maximize, 2));
    let ask = asked(&agents, "phase2/path-0/t0");
    for script in ["", "print('hello')", "# === Data ===\nx = (", "def f(:\n"] {
        for agent in [Merger, Ablation, Extractor, Coder, Ensembler, Debugger, Leakage, Data, Test] {
            let inputs = json!({
                "solution_script": script, "base_code": script, "reference_code": script, "code": script,
                "solutions": [script], "initial_solution": script, "final_solution": script,
                "code_block": script, "plan": "do something clever", "bug": "", "ablation_summary": "",
            });
            assert!(!ask.ask(agent, None, inputs).is_empty(), "{agent:?}");
        }
    }
}

/// The names of all strategies that the planner has for a block, each with its `Strategy: `.
pub(super) fn strategies(ask: &Asked<'_>, block: &str) -> Vec<String> {
    let mut plans: Vec<String> = Vec::new();
    loop {
        // Without scores, the planner never combines plans.
        let scores = vec![Value::Null; plans.len()];
        let inputs = json!({ "code_block": block, "plans": plans, "scores": scores });
        let plan = ask.ask(AgentType::Planner, None, inputs);
        if !plan.starts_with("Strategy: ") {
            return plans.iter().map(|plan| plan.split(". ").next().unwrap().to_owned()).collect();
        }
        plans.push(plan);
    }
}
