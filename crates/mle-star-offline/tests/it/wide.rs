//! Tables of many columns, of which few are useful.

use std::fmt::Write as _;
use std::path::Path;

use mle_star_domain::metric::Direction::{Maximize, Minimize};
use mle_star_domain::role::AgentType;
use mle_star_domain::score::parse_score;
use mle_star_leakage::{Facts, check};
use mle_star_needs::needs;
use mle_star_offline::OfflineAgents;
use mle_star_tables::profile;
use serde_json::json;

use super::ask::{Asked, refinements};
use super::python::{Batch, faults, initial, interpreter};
use super::tasks::{NEW_ROWS, Random, Shape, shape, task};

const ROWS: usize = 500;
/// Only the first two columns tell something.
const COLUMNS: usize = 100;

fn write_wide(input: &Path, shape: &Shape) {
    let mut random = Random(11);
    let names: Vec<String> = (0..COLUMNS).map(|column| format!("x{column}")).collect();
    let header = format!("id,{}", names.join(","));
    let (mut train, mut test) = (format!("{header},target\n"), format!("{header}\n"));
    let mut sample = "id,target\n".to_owned();
    for row in 0..ROWS + NEW_ROWS {
        let cells: Vec<f64> = (0..COLUMNS).map(|_| random.next()).collect();
        let value = 3.0 * cells[0] + 2.0 * cells[1] + random.next();
        let target = if shape.classes > 0 { f64::from(u8::from(value > 3.0)) } else { value };
        let cells: Vec<String> = cells.iter().map(|cell| format!("{cell:.4}")).collect();
        if row < ROWS {
            writeln!(train, "{row},{},{target}", cells.join(",")).unwrap();
        } else {
            writeln!(test, "{row},{}", cells.join(",")).unwrap();
            writeln!(sample, "{row},0").unwrap();
        }
    }
    for (name, text) in [("train.csv", train), ("test.csv", test), ("sample_submission.csv", sample)] {
        std::fs::write(input.join(name), text).unwrap();
    }
}

fn wide_agents(shape: &Shape) -> OfflineAgents {
    let data = tempfile::tempdir().unwrap();
    write_wide(data.path(), shape);
    OfflineAgents::new(&task(shape), &profile::read(data.path()).unwrap(), 30_000, None).unwrap()
}

const SELECTED: [&str; 2] = ["CatBoost with selected columns", "LightGBM with selected columns"];

#[test]
fn columns_are_selected_if_there_are_many() {
    let offered = |agents: &OfflineAgents| -> Vec<String> {
        let ask = Asked { agents, place: "phase1/retriever" };
        let answer = ask.json(AgentType::Retriever, None, json!({ "num_models": 4, "portfolio": true }));
        let names = answer["models"].as_array().unwrap().iter();
        names.map(|model| model["model_name"].as_str().unwrap().to_owned()).collect()
    };
    let wide = shape("ROC-AUC", Maximize, 2);
    let agents = wide_agents(&wide);
    let names = offered(&agents);
    assert!(names[..4].contains(&SELECTED[0].to_owned()), "{names:?}");
    assert!(names.contains(&SELECTED[1].to_owned()));
    let narrow = offered(&super::tasks::agents(&wide));
    assert!(!narrow.iter().any(|name| name.contains("selected")), "{narrow:?}");
    for name in SELECTED {
        let script = initial(&agents, name);
        assert!(script.contains("judge.fit("), "{script}");
        let facts =
            Facts { targets: vec!["target".to_owned()], ids: vec!["id".to_owned()], ..Facts::default() };
        assert_eq!(check(&script, &facts).unwrap(), []);
    }
}

#[test]
fn selected_columns_are_better_than_all_of_many() {
    needs!(Campaign("offline"), Libraries);
    let shapes = [shape("log loss", Minimize, 2), shape("RMSE", Minimize, 0)]
        .map(|shape| Shape { rich: false, ..shape });
    for shape in shapes {
        let (agents, mut batch) = (wide_agents(&shape), Batch::new());
        let mut add = |name: &str, script: &str| {
            batch.add_with(&shape, name.to_owned(), script, |input| write_wide(input, &shape));
        };
        for name in ["CatBoost", SELECTED[0], "LightGBM", SELECTED[1]] {
            add(name, &initial(&agents, name));
        }
        // A model that takes numbers in another way.
        let asked = Asked { agents: &agents, place: "phase2/path-0/t0" };
        let linear = initial(&agents, "Linear model");
        let refined = refinements(&asked, &linear);
        let (plan, selected) = refined.iter().find(|(plan, _)| plan.contains("selected columns")).unwrap();
        add("linear", &linear);
        add(plan, selected);
        let done = batch.run(&interpreter());
        assert_eq!(done.iter().map(faults).collect::<String>(), "");
        let scores: Vec<f64> = done.iter().map(|done| parse_score(&done.stdout).unwrap()).collect();
        assert!(scores.chunks(2).all(|pair| pair[1] < pair[0]), "{scores:?}");
    }
}
