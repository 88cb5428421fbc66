//! The answer of every role, without running scripts.

use std::collections::BTreeSet;

use mle_star::solution::{Solution, SolutionPhase};
use mle_star_domain::metric::Direction::{Maximize, Minimize};
use mle_star_domain::role::{AgentType, Variant};
use mle_star_domain::task::Task;
use mle_star_offline::OfflineAgents;
use mle_star_tables::profile::{ColumnKind, Profile};
use serde_json::{Value, json};

use super::ask::{Asked, blocks, code_of, ensembles, merged, refinements, with_data};
use super::grouped::section;
use super::python::initial;
use super::tasks::{ROWS, Shape, agents, column, count_rarest, profile, shape, task};

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
    check(|task, _| task.target_column = None, "target_column");
    check(|task, _| task.target_column = Some("absent".to_owned().into()), "target_column");
    check(|task, _| task.evaluation_metric = "SSIM".to_owned(), "evaluation_metric");
    check(|_, profile| profile.test = None, "test.csv");
    check(|task, _| task.target_column = Some("colour".to_owned().into()), "--metric");
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
    let reply = asked(&agents, "phase1/retriever").json(
        AgentType::Retriever,
        None,
        json!({ "num_models": 2, "portfolio": true }),
    );
    for model in reply["models"].as_array().unwrap() {
        let name = model["model_name"].as_str().unwrap();
        let seed = if name.ends_with(" with another seed") { "SEED = 1199" } else { "SEED = 7" };
        assert!(initial(&agents, name).lines().any(|line| line == seed), "{name}");
    }
}

#[test]
fn another_seed_draws_the_same_rows() {
    let shape = Shape { subsample: 100, ..shape("RMSE", Minimize, 0) };
    let agents = agents(&shape).with_seed(7);
    let [first, other] = ["LightGBM", "LightGBM with another seed"].map(|name| initial(&agents, name));
    assert!(section(&first, "Data").contains("random_state=SAMPLE_SEED"), "{first}");
    assert_eq!(section(&first, "Data"), section(&other, "Data"));
    for (script, seed) in [(first, "SEED = 7"), (other, "SEED = 1199")] {
        let has = |wanted| script.lines().any(|line| line == wanted);
        assert!(has(seed) && has("SAMPLE_SEED = 7"), "{script}");
    }
}

/// The agents for a task whose first class has this many rows.
fn with_first_class(shape: &Shape, rows: usize) -> OfflineAgents {
    let mut profile = profile(shape);
    let target = profile.train.columns.iter_mut().find(|column| column.name == "target").unwrap();
    target.top_values[0].1 = rows;
    count_rarest(target);
    OfflineAgents::new(&task(shape), &profile, shape.subsample, None).unwrap()
}

#[test]
fn metrics_that_count_rare_classes_like_others_get_factors_of_classes() {
    let check = |metric, rows: usize, expected: bool| {
        let script = initial(&with_first_class(&shape(metric, Maximize, 3), rows), "LightGBM");
        assert_eq!(script.contains("def class_factors("), expected, "{metric} {rows}");
    };
    for metric in ["F1", "macro F1", "balanced accuracy", "MCC"] {
        check(metric, 600, true);
        check(metric, ROWS / 3, false);
    }
    check("accuracy", 600, false);
}

#[test]
fn wide_tables_give_models_fewer_columns_and_classes_and_large_tables_fewer_trees() {
    let check = |rows: usize, classes: usize, numbers: usize, share: &str, trees: [usize; 2]| {
        let shape = Shape { rich: false, ..shape("log loss", Minimize, classes) };
        let mut profile = profile(&shape);
        for table in [Some(&mut profile.train), profile.test.as_mut()].into_iter().flatten() {
            let more = (0..numbers).map(|number| column(&format!("x{number}"), ColumnKind::Float, 90));
            table.columns.extend(more);
        }
        profile.train.rows = rows;
        let agents = OfflineAgents::new(&task(&shape), &profile, shape.subsample, None).unwrap();
        for (place, model) in ["Large LightGBM", "Deep XGBoost"].into_iter().enumerate() {
            let script = initial(&agents, model);
            assert!(script.contains(&format!("\"colsample_bytree\": {share},")), "{script}");
            assert!(script.contains(&format!("\"n_estimators\": {},", trees[place])), "{script}");
        }
    };
    check(ROWS, 2, 0, "0.8", [250, 1000]);
    check(ROWS, 3, 0, "0.8", [100, 333]);
    check(ROWS, 2, 60, "0.3", [250, 1000]);
    check(30_000, 2, 0, "0.8", [200, 1000]);
    check(30_000, 2, 30, "0.8", [200, 260]);
    check(30_000, 2, 60, "0.3", [200, 200]);
}

#[test]
fn the_large_model_is_first_where_nothing_decides_on_the_number_of_trees() {
    let check = |shape: &Shape, first: &str, rate: &str, stops: bool| {
        let agents = agents(shape);
        let reply =
            asked(&agents, "phase1/retriever").json(AgentType::Retriever, None, json!({ "num_models": 1 }));
        assert_eq!(reply["models"][0]["model_name"], first, "{shape:?}");
        let small = initial(&agents, "LightGBM");
        assert!(small.contains(&format!("\"learning_rate\": {rate},")), "{small}");
        for model in ["LightGBM", "XGBoost", "Deep CatBoost"] {
            assert_eq!(initial(&agents, model).contains("x_stop, y_in"), stops, "{model} {shape:?}");
        }
    };
    let plain = |classes| Shape { rich: false, ..shape("log loss", Minimize, classes) };
    check(&plain(2), "LightGBM", "0.06", true);
    check(&plain(5), "LightGBM", "0.08", true);
    check(&Shape { grouped: true, ..plain(2) }, "Large LightGBM", "0.04", false);
    check(&Shape { grouped: true, ..plain(5) }, "LightGBM", "0.08", false);
}

#[test]
fn early_stopping_finds_the_trees_and_fits_all_rows_with_them() {
    let agents = agents(&Shape { rich: false, ..shape("RMSE", Minimize, 0) });
    let check = |model: &str, expected: &str| {
        let script = initial(&agents, model);
        assert!(script.contains(expected), "{script}");
    };
    check(
        "LightGBM",
        "    model.fit(x_in, y_in, eval_X=(x_stop,), eval_y=(y_stop,), callbacks=[early_stopping(50, verbose=False)])
    trees = max(1, round(1.1 * model.best_iteration_))
    model = LGBMRegressor(**{**PARAMS_LIGHTGBM, \"n_estimators\": trees}, random_state=SEED, n_jobs=THREADS, verbose=-1)
    model.fit(x, y_fit)
",
    );
    check(
        "XGBoost",
        "    model = XGBRegressor(**PARAMS_XGBOOST, early_stopping_rounds=50, random_state=SEED, n_jobs=THREADS, verbosity=0)
    model.fit(x_in, y_in, eval_set=[(x_stop, y_stop)], verbose=False)
    trees = max(1, round(1.1 * (model.best_iteration + 1)))
    model = XGBRegressor(**{**PARAMS_XGBOOST, \"n_estimators\": trees}, random_state=SEED, n_jobs=THREADS, verbosity=0)
    model.fit(x, y_fit)
",
    );
    check(
        "Deep CatBoost",
        "    trees = max(1, round(1.1 * (model.best_iteration_ + 1)))
    model = CatBoostRegressor(**{**PARAMS_CATBOOST_DEEP, \"iterations\": trees}, ",
    );
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
fn a_median_of_a_long_tail_is_learnt_as_a_logarithm() {
    let scale = |metric, mean: f64, low: f64| {
        let shape = Shape { rich: false, ..shape(metric, Minimize, 0) };
        let mut profile = profile(&shape);
        let target = profile.train.columns.iter_mut().find(|column| column.name == "target").unwrap();
        (target.mean, target.range) = (Some(mean), Some((low, 5_000.0)));
        let agents = OfflineAgents::new(&task(&shape), &profile, shape.subsample, None).unwrap();
        let script = initial(&agents, "LightGBM");
        if script.contains("return np.log1p(") { "log" } else { "plain" }
    };
    assert_eq!(scale("MAE", 1_000.0, 0.0), "log");
    assert_eq!(scale("median absolute error", 1_000.0, 0.0), "log");
    assert_eq!(scale("MAE", 1_300.0, 0.0), "plain");
    assert_eq!(scale("MAE", 1_000.0, -1.0), "plain");
    // A mean does not stay the mean.
    assert_eq!(scale("RMSE", 1_000.0, 0.0), "plain");
    assert_eq!(scale("RMSLE", 2_500.0, 0.0), "log");
}

#[test]
fn every_script_parses_and_keeps_the_rules() {
    let check = |shape: &Shape| {
        let agents = agents(shape);
        let ask = asked(&agents, "phase2/path-0/t0");
        let script = with_data(&ask, &merged(&ask, ["LightGBM", "Linear model"]));
        let solo = ask.code(AgentType::Init, None, json!({ "model_name": "an unknown model" }));
        let study = json!({ "solution_script": script, "previous_ablations": [] });
        let mut scripts = vec![script.clone(), solo.clone(), ask.code(AgentType::Ablation, None, study)];
        scripts.extend(refinements(&ask, &script).into_iter().map(|(_, text)| text));
        scripts.extend(ensembles(&ask, &[&script, &solo]).into_iter().map(|(_, text)| text));
        for text in scripts {
            assert!(is_code(&text), "{text}");
            assert!(!["exit(", "quit("].iter().any(|call| text.contains(call)), "{text}");
            let handlers =
                text.lines().any(|line| line.trim() == "try:" || line.trim().starts_with("except"));
            assert!(!handlers && text.contains("./input/"), "{text}");
            // Generated scripts pass the leakage check.
            let found = ask.json(AgentType::Leakage, Some(Variant::Detection), json!({ "code": text }));
            assert_eq!(found["answers"][0]["leakage_status"], "No Data Leakage", "{found}");
        }
    };
    for (metric, direction, classes) in
        [("accuracy", Maximize, 3), ("MAE", Minimize, 0), ("ROC-AUC", Maximize, 2)]
    {
        for rich in [true, false] {
            check(&Shape { rich, auxiliary: rich, ..shape(metric, direction, classes) });
        }
    }
}

#[test]
fn blocks_are_exact_and_edits_stay_inside() {
    let agents = agents(&shape("F1", Maximize, 2));
    let ask = asked(&agents, "phase2/path-0/t0/extractor");
    let script = merged(&ask, ["LightGBM", "XGBoost"]);
    let solution = Solution::new(script.clone(), SolutionPhase::Merged);
    let found = blocks(&ask, &script);
    assert!(found.len() >= 6, "{}", found.len());
    for (quoted, plan) in found {
        let block = solution.find_block(&quoted).unwrap();
        let edited = ask.code(AgentType::Coder, None, json!({ "code_block": quoted, "plan": plan }));
        assert_ne!(edited.trim(), quoted.trim(), "{plan}");
        assert!(is_code(solution.replace_block(&block, &edited).unwrap().text()), "{edited}");
        let sentences = plan.matches(". ").count() + 1;
        assert!((3..=5).contains(&sentences), "{plan}");
    }
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
fn subsampling_is_found_and_removed() {
    let check = |subsample: u32, found: bool| {
        let agents = agents(&Shape { subsample, ..shape("accuracy", Maximize, 2) });
        let ask = asked(&agents, "finalization/test");
        let script = ask.code(AgentType::Init, None, json!({ "model_name": "LightGBM" }));
        let reply =
            ask.ask(AgentType::Test, Some(Variant::SubsamplingExtract), json!({ "final_solution": script }));
        assert_eq!(reply.contains("```"), found, "{reply}");
        if found {
            let block = code_of(&reply);
            assert_eq!(script.matches(&block).count(), 1);
            let inputs = json!({ "code_block_with_subsampling": block });
            let removed = ask.code(AgentType::Test, Some(Variant::SubsamplingRemove), inputs);
            let whole = script.replacen(&block, &removed, 1);
            assert!(is_code(&whole) && !whole.contains(".sample("), "{whole}");
        }
    };
    check(100, true);
    check(30_000, false);
}

#[test]
fn submission_scripts_write_a_submission() {
    let agents = agents(&shape("accuracy", Maximize, 2));
    let ask = asked(&agents, "finalization/test");
    let own = ask.code(AgentType::Init, None, json!({ "model_name": "LightGBM" }));
    let bare = own.split("# === Submission").next().unwrap().to_owned();
    for script in [own.as_str(), bare.as_str(), "print('from elsewhere')", ""] {
        let code =
            ask.code(AgentType::Test, None, json!({ "task_description": "", "final_solution": script }));
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
    let agents = agents(&shape("accuracy", Maximize, 2));
    let ask = asked(&agents, "phase2/path-0/t0");
    for script in ["", "print('hello')", "# === Data ===\nx = (", "def f(:\n"] {
        for agent in [
            AgentType::Merger,
            AgentType::Ablation,
            AgentType::Extractor,
            AgentType::Coder,
            AgentType::Ensembler,
            AgentType::Debugger,
            AgentType::Leakage,
            AgentType::Data,
            AgentType::Test,
        ] {
            let reply = ask.ask(
                agent,
                None,
                json!({
                    "solution_script": script, "base_code": script, "reference_code": script, "code": script,
                    "solutions": [script], "initial_solution": script, "final_solution": script,
                    "code_block": script, "plan": "do something clever", "bug": "", "ablation_summary": "",
                }),
            );
            assert!(!reply.is_empty(), "{agent:?}");
        }
    }
}

#[test]
fn submissions_follow_sample_and_metric() {
    let check = |shape: &Shape, expected: &str| {
        let agents = agents(shape);
        let ask = asked(&agents, "phase1/candidate-0/init");
        let script = ask.code(AgentType::Init, None, json!({ "model_name": "LightGBM" }));
        assert!(script.contains(expected), "{expected}\n{script}");
    };
    check(&shape("accuracy", Maximize, 2), "write_class_scores(\"submission\", submission[\"id\"], final)");
    check(&shape("ROC-AUC", Maximize, 2), "return {\"target\": values[:, 1]}\n");
    check(
        &shape("log loss", Minimize, 3),
        "return {\"target\": np.asarray(CLASSES)[values.argmax(axis=1)]}\n",
    );
    check(&shape("RMSE", Minimize, 0), "return {\"target\": values}\n");
    let per_class = Shape { per_class: true, ..shape("log loss", Minimize, 3) };
    check(&per_class, "{\"p_\" + str(label).strip(): position for position, label in enumerate(CLASSES)}");
    check(&per_class, "for column in [\"p_0\", \"p_1\", \"p_2\"]}");
    let absent = Shape { absent: 1, ..per_class };
    check(&absent, "ABSENT = [\"p_3\"]\n");
    check(&absent, "zip([\"p_0\", \"p_1\", \"p_2\", \"p_3\"], [\"0\", \"1\", \"2\", \"p_3\"])}");
}

#[test]
fn any_two_strategies_fit_into_one_block() {
    let check = |shape: &Shape, families: [&str; 2]| {
        let agents = agents(shape);
        let ask = asked(&agents, "phase2/path-0/t0");
        let script = merged(&ask, families);
        for (block, _) in blocks(&ask, &script) {
            let names: Vec<String> = strategies(&ask, &block);
            for (first, second) in names.iter().flat_map(|one| names.iter().map(move |two| (one, two))) {
                let plan = format!("{first}. {second}. Carry out both.");
                let edited = ask.code(AgentType::Coder, None, json!({ "code_block": block, "plan": plan }));
                assert!(is_code(&edited), "{plan}\n{edited}");
                assert_eq!(edited.lines().next(), block.lines().next(), "the heading stays");
            }
        }
    };
    check(&shape("F1", Maximize, 2), ["LightGBM", "Linear model"]);
    check(&shape("macro F1", Maximize, 3), ["XGBoost", "Random forest"]);
    check(&shape("log loss", Minimize, 3), ["CatBoost", "Extra trees"]);
    check(&shape("RMSE", Minimize, 0), ["CatBoost", "Histogram gradient boosting"]);
    check(&shape("quadratic weighted kappa", Maximize, 4), ["TF-IDF linear model", "Random forest"]);
}

/// The names of all strategies that the planner has for a block, each with its `Strategy: `.
pub(super) fn strategies(ask: &Asked<'_>, block: &str) -> Vec<String> {
    let mut plans: Vec<String> = Vec::new();
    loop {
        // Without scores, the planner never combines plans.
        let scores = vec![Value::Null; plans.len()];
        let plan = ask.ask(
            AgentType::Planner,
            None,
            json!({ "code_block": block, "plans": plans, "scores": scores }),
        );
        if !plan.starts_with("Strategy: ") {
            return plans.iter().map(|plan| plan.split(". ").next().unwrap().to_owned()).collect();
        }
        plans.push(plan);
    }
}

#[test]
fn validation_predictions_have_the_columns_of_the_sample() {
    let check = |change: fn(&mut Task, &mut Profile), expected: &str| {
        let shape = shape("RMSE", Minimize, 0);
        let (mut task, mut profile) = (task(&shape), profile(&shape));
        change(&mut task, &mut profile);
        let agents = OfflineAgents::new(&task, &profile, 100, None).unwrap();
        let ask = asked(&agents, "phase1/candidate-0/init");
        let script = ask.code(AgentType::Init, None, json!({ "model_name": "LightGBM" }));
        assert!(script.contains(&format!("\nchecked = {expected}\n")), "{expected}\n{script}");
        assert_eq!(script.contains("\nROWS = train.index"), expected.contains("ROWS"), "{script}");
    };
    fn sample(profile: &mut Profile) -> &mut Vec<mle_star_tables::profile::Column> {
        &mut profile.sample.as_mut().unwrap().columns
    }
    check(|_, _| (), "train[[\"id\"]].assign(**answers(validated))");
    check(
        |_, profile| sample(profile).reverse(),
        "train[[\"id\"]].assign(**answers(validated))\nchecked = checked[[\"target\", \"id\"]]",
    );
    check(
        |_, profile| sample(profile).push(column("colour", ColumnKind::Category, 4)),
        "train[[\"id\", \"colour\"]].assign(**answers(validated))\nchecked = checked[[\"id\", \"target\", \"colour\"]]",
    );
    let numbered = "train.assign(**{\"id\": ROWS})[[\"id\"]].assign(**answers(validated))";
    check(|_, profile| drop(profile.train.columns.remove(0)), numbered);
    check(
        |task, profile| {
            task.id_column = None;
            profile.train.columns.remove(0);
        },
        numbered,
    );
    check(
        |task, profile| {
            task.id_column = None;
            profile.sample = None;
        },
        "train.assign(**{\"row\": ROWS})[[\"row\"]].assign(**answers(validated))",
    );
}
