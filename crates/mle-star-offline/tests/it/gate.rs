//! What the offline agents write passes the rules against leakage.

use mle_star_domain::metric::Direction::{Maximize, Minimize};
use mle_star_domain::protocol::SplitKind;
use mle_star_domain::role::AgentType;
use mle_star_leakage::{Facts, check};
use mle_star_tables::profile::{Column, ColumnKind};
use serde_json::json;

use super::ask::{Asked, ensembles, merged, refinements, with_data};
use super::python::initial;
use super::tasks::{Shape, agents, agents_for, by, column, profile, shape, task};

fn passes(script: &str) {
    let facts = Facts { targets: vec!["target".to_owned()], ids: vec!["id".to_owned()], ..Facts::default() };
    let findings = check(script, &facts).unwrap();
    assert!(findings.is_empty(), "{findings:#?}\n{script}");
}

/// Leaks that are planted in a script: the rule, the line before which something is inserted or that is replaced, and
/// the leaking line.
const PLANTED: [(&str, &str, &str); 3] = [
    (
        "scored-on-training-rows",
        "# === Cross-validation ===",
        "FOLDS = [(np.arange(len(train)), valid) for _, valid in FOLDS]",
    ),
    (
        "target-statistics",
        "# === Folds ===",
        "train[NUMERIC[0]] = train.groupby(NUMERIC[1])[TARGET].transform(\"mean\")",
    ),
    ("constant-score", "performance = metric(", "performance = 0.9"),
];

/// The rules of the planted leaks that are not found.
fn missed(script: &str) -> Vec<&'static str> {
    let planted = PLANTED.iter().filter(|(_, at, _)| script.contains(at));
    let lost = planted.filter(|(_, at, leak)| {
        let lines = script.lines().flat_map(|line| match line.starts_with(at) {
            true if at.starts_with('#') => vec![*leak, line],
            true => vec![*leak],
            false => vec![line],
        });
        let mutant: Vec<&str> = lines.collect();
        let findings = check(&mutant.join("\n"), &Facts::default()).unwrap();
        !findings.iter().any(|finding| finding.rule.blocks())
    });
    lost.map(|(rule, _, _)| *rule).collect()
}

fn check_shape(shape: &Shape) -> usize {
    let agents = agents(shape);
    let ask = Asked { agents: &agents, place: "phase1/retriever" };
    let offered = ask.json(AgentType::Retriever, None, json!({ "num_models": 4, "portfolio": true }));
    let names = offered["models"].as_array().unwrap().iter();
    let mut scripts: Vec<String> = names
        .map(|model| ask.code(AgentType::Init, None, json!({ "model_name": model["model_name"] })))
        .collect();
    let blend = with_data(&ask, &merged(&ask, ["LightGBM", "CatBoost"]));
    scripts.extend(refinements(&ask, &blend).into_iter().map(|(_, script)| script));
    let study = json!({ "solution_script": blend, "previous_ablations": [] });
    let mut others = vec![ask.code(AgentType::Ablation, None, study)];
    others.extend(ensembles(&ask, &[&blend, &scripts[0]]).into_iter().map(|(_, script)| script));
    scripts.push(blend);
    for script in scripts.iter().chain(&others) {
        passes(script);
        let handles = |line: &str| line.trim() == "try:" || line.trim().starts_with("except");
        assert!(!script.lines().any(handles) && !script.contains("exit("), "{script}");
    }
    // Neighbours differ in one block.
    let lost: Vec<&str> = scripts.iter().step_by(3).flat_map(|script| missed(script)).collect();
    assert_eq!(lost, Vec::<&str>::new(), "{}", shape.metric);
    scripts.len()
}

#[test]
fn scripts_that_read_dates_themselves_have_no_finding() {
    let shape = shape("RMSE", Minimize, 0);
    let mut profile = profile(&shape);
    profile.train.columns.push(Column { day_first: true, ..column("moment", ColumnKind::Date, 50) });
    for split in [None, Some(by(SplitKind::Time, "moment"))] {
        let agents = agents_for(&task(&shape), &profile, 30_000, split.as_ref());
        let script = initial(&agents, "LightGBM");
        assert!(script.contains("moments_of("), "{script}");
        passes(&script);
        assert_eq!(missed(&script), Vec::<&str>::new());
    }
}

#[test]
fn no_script_of_any_shape_has_a_finding() {
    let plain = [
        shape("accuracy", Maximize, 2),
        shape("ROC-AUC", Maximize, 2),
        shape("F1", Maximize, 2),
        shape("quadratic weighted kappa", Maximize, 5),
        shape("log loss", Minimize, 3),
        shape("RMSE", Minimize, 0),
        shape("RMSLE", Minimize, 0),
        shape("MAE", Minimize, 0),
    ];
    let others = [
        Shape { auxiliary: true, ..shape("RMSE", Minimize, 0) },
        Shape { grouped: true, ..shape("ROC-AUC", Maximize, 2) },
        Shape { incomplete: true, ..shape("accuracy", Maximize, 3) },
        Shape { text_labels: true, ..shape("macro F1", Maximize, 3) },
    ];
    let scripts: usize = plain.iter().chain(&others).map(check_shape).sum();
    assert!(scripts > 300, "{scripts}");
}
