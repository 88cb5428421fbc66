//! What the offline agents write passes the rules against leakage.

use mle_star::metric::Direction::{Maximize, Minimize};
use mle_star::role::AgentType;
use mle_star_leakage::{Facts, check};
use serde_json::json;

use super::ask::{Asked, merged, refinements, with_data};
use super::tasks::{Shape, agents, shape};

fn passes(script: &str) {
    let facts = Facts { targets: vec!["target".to_owned()], ids: vec!["id".to_owned()], ..Facts::default() };
    let findings = check(script, &facts).unwrap();
    assert!(findings.is_empty(), "{findings:#?}\n{script}");
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
    scripts.push(blend);
    scripts.iter().for_each(|script| passes(script));
    scripts.len()
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
