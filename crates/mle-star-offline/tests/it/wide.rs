//! Tables of many columns, of which few are useful.

use std::fmt::Write as _;
use std::path::Path;

use mle_star_domain::metric::Direction::Minimize;
use mle_star_domain::score::parse_score;
use mle_star_needs::needs;
use mle_star_offline::OfflineAgents;

use super::ask::{Asked, refinements};
use super::python::{Batch, faults, initial, interpreter};
use super::tasks::{NEW_ROWS, Random, Shape, agents_for, profile_of, shape, task};

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
    agents_for(&task(shape), &profile_of(&task(shape), data.path()), 30_000, None)
}

const SELECTED: [&str; 2] = ["CatBoost with selected columns", "LightGBM with selected columns"];

#[test]
fn selected_columns_are_better_than_all_of_many() {
    needs!(Libraries);
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
