//! Tests of all tasks.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use mle_star_domain::metric::Score;
use mle_star_domain::protocol::SplitKind;
use mle_star_tables::profile::Profile;
use serde_json::json;
use tempfile::TempDir;

use super::{ID, TARGET, TASKS, Task, Written};

/// A task in a temporary folder, with its data and its answers.
struct Made {
    _folder: TempDir,
    written: Written,
    data: PathBuf,
    answers_file: PathBuf,
}

fn write(task: &'static Task, seed: u64) -> Made {
    let folder = tempfile::tempdir().unwrap();
    let written = super::write(task, seed, folder.path(), "one").unwrap();
    let (data, answers_file) = (folder.path().join("tasks/one"), folder.path().join("answers/one.csv"));
    Made { _folder: folder, written, data, answers_file }
}

fn find(name: &str) -> &'static Task {
    TASKS.iter().find(|task| task.name == name).unwrap()
}

fn column(file: &Path, name: &str) -> Vec<String> {
    let mut reader = csv::Reader::from_path(file).unwrap();
    let position = reader.headers().unwrap().iter().position(|header| header == name).unwrap();
    reader.records().map(|record| record.unwrap()[position].to_owned()).collect()
}

fn header(file: &Path) -> Vec<String> {
    csv::Reader::from_path(file).unwrap().headers().unwrap().iter().map(str::to_owned).collect()
}

#[test]
fn every_task_is_complete_and_keeps_its_answers_hidden() {
    for task in &TASKS {
        let made = write(task, 1);
        let file = |name: &str| made.data.join(name);
        let (train, test) = (column(&file("train.csv"), ID), column(&file("test.csv"), ID));
        assert_eq!([train.len(), test.len()], task.rows, "{}", task.name);
        assert_eq!(train.iter().chain(&test).collect::<HashSet<_>>().len(), train.len() + test.len());
        assert_eq!(test, column(&file("sample_submission.csv"), ID));
        assert_eq!(test, column(&made.answers_file, ID));
        let features = header(&file("test.csv"));
        assert_eq!(header(&file("train.csv")), [features.clone(), vec![TARGET.to_owned()]].concat());
        assert!(!features.contains(&TARGET.to_owned()) && !made.answers_file.starts_with(&made.data));
        assert!(task.column.is_none_or(|column| features.contains(&column.to_owned())));
        let read = Profile::of(&mle_star_needs::inspect(&made.data, &json!({}))).unwrap().unwrap();
        assert!(read.train.column(TARGET).is_some() && read.test.is_some() && read.sample.is_some());
        let score = |value| Score::new(value, task.metric.direction()).unwrap();
        assert!(score(made.written.best).gain_over(score(made.written.constant)) > 0.0, "{}", task.name);
    }
}

#[test]
fn a_task_and_a_seed_determine_every_byte() {
    for task in ["clinic", "patients", "orders"].map(find) {
        let drawn = |seed| {
            let made = write(task, seed);
            ["train.csv", "test.csv"].map(|name| fs::read(made.data.join(name)).unwrap())
        };
        assert!(drawn(1) == drawn(1), "{}", task.name);
        assert!(drawn(1) != drawn(2), "{}", task.name);
    }
}

#[test]
fn groups_and_times_of_the_test_rows_are_new() {
    for task in TASKS.iter().filter(|task| task.column.is_some()) {
        let made = write(task, 1);
        let values = |name: &str| column(&made.data.join(name), task.column.unwrap());
        let (train, test) = (values("train.csv"), values("test.csv"));
        match task.split {
            SplitKind::Time => assert!(train.iter().max() < test.iter().min()),
            _ => assert!(train.iter().collect::<HashSet<_>>().is_disjoint(&test.iter().collect())),
        }
    }
}

#[test]
fn fraud_is_rare_and_letters_tell_only_in_the_training_table() {
    let made = write(find("fraud"), 1);
    let answers = column(&made.answers_file, TARGET);
    let share = answers.iter().filter(|answer| *answer == "1").count() as f64 / 20_000.0;
    assert!((0.02..0.04).contains(&share), "{share}");
    let made = write(find("contracts"), 1);
    let gap = |letters: Vec<String>, answers: Vec<String>| {
        let mean = |label: &str| {
            let chosen = letters.iter().zip(&answers).filter(|(_, answer)| *answer == label);
            let values: Vec<f64> = chosen.map(|(letters, _)| letters.parse().unwrap()).collect();
            values.iter().sum::<f64>() / values.len() as f64
        };
        mean("1") - mean("0")
    };
    let (train, test) = (made.data.join("train.csv"), made.data.join("test.csv"));
    assert!(gap(column(&train, "open_letters"), column(&train, TARGET)) > 1.5);
    assert!(gap(column(&test, "open_letters"), column(&made.answers_file, TARGET)).abs() < 0.1);
}

#[test]
fn further_tables_have_a_row_for_each_row_of_a_task() {
    for (name, file, keys) in [
        ("orders", "customers.csv", &["customer_id"][..]),
        ("trips", "weather.csv", &["day", "city"]),
        ("visits", "places.csv", &["place_id"]),
    ] {
        let made = write(find(name), 1);
        let rows = |file: &str| -> Vec<Vec<String>> {
            let columns: Vec<_> = keys.iter().map(|key| column(&made.data.join(file), key)).collect();
            (0..columns[0].len()).map(|row| columns.iter().map(|all| all[row].clone()).collect()).collect()
        };
        let known: HashSet<_> = rows(file).into_iter().collect();
        assert_eq!(known.len(), rows(file).len(), "{name}");
        assert!(
            [rows("train.csv"), rows("test.csv")].concat().iter().all(|row| known.contains(row)),
            "{name}"
        );
    }
}
