//! Answers about tables that are too large to be read whole.

use mle_star_domain::metric::Direction::{Maximize, Minimize};
use mle_star_domain::role::{AgentType, Variant};
use mle_star_tables::profile::Profile;
use serde_json::json;

use super::ask::{Asked, code_of, merged};
use super::tasks::{Shape, agents, agents_for, count_rarest, profile, shape, task};

#[test]
fn a_sample_grows_to_what_fits_into_the_time() {
    let shape = Shape { subsample: 100, ..shape("accuracy", Maximize, 2) };
    let all = profile(&shape).train.rows;
    let agents = agents(&shape);
    let ask = Asked { agents: &agents, place: "finalization/test" };
    let script = ask.code(AgentType::Init, None, json!({ "model_name": "LightGBM" }));
    let block =
        ask.code(AgentType::Test, Some(Variant::SubsamplingExtract), json!({ "final_solution": script }));
    let check = |allowed: f64, rows: Option<usize>| {
        let inputs = json!({
            "code_block_with_subsampling": block, "seconds": 10.0, "allowed_seconds": allowed,
        });
        let instead = ask.code(AgentType::Test, Some(Variant::SubsamplingRemove), inputs);
        let sample = |rows: usize| {
            format!("if len(train) > {rows}:\n    train = train.sample(n={rows}, random_state=SAMPLE_SEED)")
        };
        assert_eq!(instead, rows.map_or("# Every training row is used.".to_owned(), sample), "{allowed}");
    };
    assert!(all > 150);
    let whole = ask.ask(AgentType::Test, Some(Variant::SubsamplingExtract), json!({ "final_solution": "" }));
    assert!(!whole.contains("```"), "{whole}");
    check(4.0, Some(100));
    check(15.0, Some(150));
    check(10.0 * (all as f64 / 100.0) + 0.1, None);
}

#[test]
fn a_study_fits_into_its_time() {
    let check_with =
        |change: fn(&mut Profile), shape: &Shape, seconds: f64, rows: Option<usize>, variants: usize| {
            let mut profile = profile(shape);
            profile.train.rows = 20_000;
            change(&mut profile);
            let agents = agents_for(&task(shape), &profile, 30_000, None);
            let ask = Asked { agents: &agents, place: "phase2/path-0/t0" };
            let script = ask.code(AgentType::Init, None, json!({ "model_name": "LightGBM" }));
            let inputs = json!({ "solution_script": script, "previous_ablations": [] });
            let told = json!({ "current": { "seconds": seconds }, "study_limit": 10.0 });
            let study = code_of(&ask.ask_telling(AgentType::Ablation, None, inputs, told));
            let sample = rows.map(|rows| format!("permutation(len(train))[:{rows}]"));
            assert_eq!(study.contains("# === Sample ==="), sample.is_some(), "{study}");
            assert!(sample.is_none_or(|sample| study.contains(&sample)), "{study}");
            assert_eq!(study.matches("\nshow(").count(), variants, "{study}");
        };
    let check = |shape: &Shape, seconds, rows, variants| check_with(|_| (), shape, seconds, rows, variants);
    let plain = shape("RMSE", Minimize, 0);
    check(&plain, 1.0, None, 3);
    check(&plain, 4.0, Some(10_000), 3);
    check(&plain, 1_000.0, Some(1_000), 3);
    // The rarest class has a hundredth of the rows.
    let rare = |profile: &mut Profile| {
        let target = profile.train.columns.iter_mut().find(|column| column.name == "target").unwrap();
        target.top_values.iter_mut().zip([19_800, 200]).for_each(|((_, count), rows)| *count = rows);
        count_rarest(target);
    };
    check_with(rare, &shape("accuracy", Maximize, 2), 1_000.0, Some(3_000), 3);
    // Groups stay whole, so there are fewer variants.
    let grouped = Shape { grouped: true, ..plain };
    check(&grouped, 1.0, None, 3);
    check(&grouped, 4.0, None, 1);
}

#[test]
fn a_short_study_in_folds_of_groups_leaves_out_only_parts_that_train() {
    let shape = Shape { grouped: true, ..shape("F1", Maximize, 2) };
    let mut profile = profile(&shape);
    profile.train.rows = 20_000;
    let agents = agents_for(&task(&shape), &profile, 30_000, None);
    let ask = Asked { agents: &agents, place: "phase2/path-0/t0" };
    let script = merged(&ask, ["LightGBM", "CatBoost"]);
    let variants = |seconds: f64, measured: &[&str]| {
        let inputs = json!({ "solution_script": script, "previous_ablations": measured });
        let told = json!({ "current": { "seconds": seconds }, "study_limit": 10.0 });
        let study = code_of(&ask.ask_telling(AgentType::Ablation, None, inputs, told));
        let shown = study.split("\nshow(\"").skip(1).filter_map(|rest| rest.split('"').next());
        shown.map(str::to_owned).collect::<Vec<_>>()
    };
    let parts = ["Encoding: LightGBM", "Features: CatBoost", "Model: CatBoost", "Blend"];
    let line = |part| format!("- Without {part} (half of it): 0.7 | baseline 0.8 | difference -0.1\n");
    let measured = parts.map(line).concat();
    let measured = [measured.as_str()];
    assert_eq!(variants(1.0, &measured), ["Features: LightGBM", "Model: LightGBM", "Postprocessing"]);
    assert_eq!(variants(100.0, &measured), ["Features: LightGBM", "Postprocessing"]);
}
