//! Columns that the run finds suspicious are not features.

use std::collections::BTreeSet;

use mle_star_domain::metric::Direction::{Maximize, Minimize};
use mle_star_domain::role::AgentType;
use mle_star_needs::needs;
use serde_json::json;

use super::ask::{Asked, ensembles, merged_without, refinements, with_data};
use super::python::{Batch, FAMILIES, assert_faultless, faults, interpreter};
use super::tasks::{Shape, agents, shape};

const COMMENT: &str = "# Dropped, since they say something about the target in the training table only: ";

/// The script without the comments that name dropped columns.
fn code(script: &str) -> String {
    script
        .lines()
        .filter(|line| !line.trim_start().starts_with(COMMENT))
        .map(|line| format!("{line}\n"))
        .collect()
}

#[test]
fn later_edits_do_not_bring_a_dropped_column_back() {
    let check = |shape: &Shape, suspicious: &[&str], gone: &[&str]| {
        let agents = agents(shape);
        let ask = Asked { agents: &agents, place: "phase2/path-0/t0" };
        let script = merged_without(&ask, ["LightGBM", "Linear model"], &json!(suspicious));
        let joined = with_data(&ask, &script);
        assert_eq!(joined, script);
        let bug = json!({ "code": script, "bug": "ModuleNotFoundError: No module named 'lightgbm'" });
        let study = json!({ "solution_script": script, "previous_ablations": [] });
        let mut scripts = vec![
            joined,
            ask.code(AgentType::Debugger, None, bug),
            ask.code(AgentType::Ablation, None, study),
        ];
        scripts.extend(refinements(&ask, &script).into_iter().map(|(_, text)| text));
        scripts.extend(ensembles(&ask, &[&script, &scripts[0]]).into_iter().map(|(_, text)| text));
        for text in scripts {
            ruff_python_parser::parse_module(&text).unwrap();
            assert!(text.contains(&format!("{COMMENT}{}\n", json!(suspicious))), "{text}");
            for column in gone {
                assert!(!code(&text).contains(&format!("\"{column}\"")), "{column}\n{text}");
            }
        }
    };
    for (metric, direction, classes) in
        [("accuracy", Maximize, 3), ("MAE", Minimize, 0), ("ROC-AUC", Maximize, 2)]
    {
        let plain = shape(metric, direction, classes);
        check(&plain, &["weight", "age", "day", "note"], &["weight", "age", "day", "note"]);
        check(&plain, &["absent", "colour", "active"], &["colour", "active"]);
        // A key still joins, but is no feature.
        check(&Shape { auxiliary: true, ..plain }, &["size", "place"], &["size"]);
    }
}

#[test]
fn scripts_without_suspicious_columns_run() {
    needs!(Libraries);
    let python = interpreter();
    let mut batch = Batch::new();
    let mut seen = BTreeSet::new();
    let shapes = [("RMSE", Minimize, 0), ("log loss", Minimize, 2), ("macro F1", Maximize, 3)];
    for (position, (metric, direction, classes)) in shapes.into_iter().enumerate() {
        let shape = Shape { auxiliary: true, ..shape(metric, direction, classes) };
        let agents = agents(&shape);
        let ask = Asked { agents: &agents, place: "phase2/path-0/t0" };
        let suspicious =
            [json!(["weight", "colour", "active"]), json!(["size", "place"]), json!(["day", "note", "age"])];
        let families = [FAMILIES[2 * position], FAMILIES[2 * position + 1]];
        let script = with_data(&ask, &merged_without(&ask, families, &suspicious[position]));
        batch.add(&shape, format!("{families:?} {shape:?}"), &script);
        for (label, changed) in refinements(&ask, &script) {
            if seen.insert(label.clone()) {
                batch.add(&shape, format!("{label} {shape:?}"), &changed);
            }
        }
    }
    assert!(batch.len() >= 16, "{}", batch.len());
    assert_faultless(batch.run(&python).iter().map(faults));
}
