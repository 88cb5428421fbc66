//! What a run is prepared with.

use std::fmt::Write as _;
use std::fs;
use std::ops::Range;
use std::path::Path;

use mle_star_run::{Prepared, RunOptions, prepare};

/// A table of 120 rows without an ID: its column `row_id` repeats, and `kind` has three classes.
fn write_table(into: &Path) {
    let mut table = "row_id,size,part,kind\n".to_owned();
    for row in 0..120_u32 {
        let kind = ["red", "green", "blue"][row as usize % 3];
        writeln!(table, "{},{},{},{kind}", row % 7, row * 37 % 101, row % 4).unwrap();
    }
    fs::write(into, table).unwrap();
}

fn prepared(folder: &Path, task: &Path, settings: &[&str]) -> Prepared {
    let runs = format!("runs_dir={}", folder.join("runs").display());
    let options =
        RunOptions::default().set_all(&["agents=offline", &runs]).unwrap().set_all(settings).unwrap();
    prepare(&options, task).unwrap()
}

#[test]
fn a_made_id_is_no_given_one_and_may_be_named_again() {
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("table.csv");
    write_table(&table);
    for more in
        [&["target=kind", "metric=accuracy"][..], &["target=kind", "metric=accuracy", "id_column=row_id_"]]
    {
        let prepared = prepared(folder.path(), &table, more);
        assert_eq!(prepared.task.roles.id.as_deref(), Some("row_id_"));
        let id = prepared.task.columns.iter().find(|column| column.role == "id").unwrap();
        assert_eq!((id.column.as_str(), id.why.as_str()), ("row_id_", "made: it numbers the rows"));
    }
}

#[test]
fn the_name_of_a_metric_file_says_nothing_about_the_submission() {
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("table.csv");
    write_table(&table);
    let file = folder.path().join("log_loss.py");
    fs::write(&file, "DIRECTION = 'maximize'\ndef score(a, b, c):\n    return 1.0\n").unwrap();
    let file = format!("metric_file={}", file.display());
    let prepared = prepared(folder.path(), &table, &["target=kind", &file]);
    let sample = prepared.data.profile.unwrap().sample.unwrap();
    let names: Vec<&str> = sample.columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["row_id_", "kind"]);
}

#[test]
fn folds_start_from_the_folder_of_the_config_file_and_columns_are_spelled_as_in_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("table.csv");
    write_table(&table);
    let given = ["target=kind", "metric=accuracy"];
    let spelled = prepared(folder.path(), &table, &[&given[..], &["folds=Part"]].concat());
    assert_eq!(spelled.task.folds.as_deref(), Some("part"));
    let folds: String = (0..120).map(|row| format!("{row},{}\n", row % 3)).collect();
    let file = folder.path().join("folds.csv");
    fs::write(&file, format!("row_id_,fold\n{folds}")).unwrap();
    let config = folder.path().join("config.yaml");
    fs::write(&config, "folds: folds.csv\n").unwrap();
    let runs = format!("runs_dir={}", folder.path().join("runs").display());
    let options = RunOptions { config: Some(config), ..RunOptions::default() };
    let options = options.set_all(&["agents=offline", &runs]).unwrap().set_all(&given).unwrap();
    assert_eq!(prepare(&options, &table).unwrap().task.folds, Some(file.display().to_string()));
}

#[test]
fn agents_are_told_of_held_out_rows_as_rows_of_the_test_table() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    let rows = |header: &str, rows: Range<usize>, cells: fn(usize) -> String| {
        rows.fold(format!("{header}\n"), |text, row| format!("{text}id{row},{}\n", cells(row)))
    };
    let train = rows("id,town,y", 0..3_000, |row| format!("{},{row}.5", ["Rome", "Ames"][row % 2]));
    let test = rows("id,town", 3_000..3_050, |_| "Rome".to_owned());
    let sample = rows("id,y", 3_000..3_050, |_| "0.5".to_owned());
    for (name, text) in [("train", train), ("test", test), ("sample_submission", sample)] {
        fs::write(data.join(format!("{name}.csv")), text).unwrap();
    }
    let settings = ["metric=RMSE", "target=y", "id_column=id", "holdout=0.4"];
    let run = prepared(folder.path(), &data, &settings).freeze(&|_| ()).unwrap();
    let told = run.frozen.data_summary.as_ref().unwrap();
    assert_eq!(run.frozen.protocol.as_ref().unwrap().holdout.rows(), Some(1_200));
    for part in [
        "`train.csv`: 1,800 rows",
        "`test.csv`: 1,250 rows",
        "`sample_submission.csv`: 1,250 rows",
        "(1,800 rows)",
    ] {
        assert!(told.contains(part), "{part} in\n{told}");
    }
    let held = fs::read_to_string(run.folder.join("holdout/labels.csv")).unwrap();
    let labels: Vec<&str> = held.lines().skip(1).filter_map(|line| line.split(',').nth(1)).collect();
    let (_, first) = told.split_once("## First rows of `train.csv`").unwrap();
    assert_eq!((labels.len(), first.matches(".5 |").count()), (1_200, 5), "{first}");
    assert!(labels.iter().all(|label| !first.contains(&format!(" {label} |"))), "{first}");
}
