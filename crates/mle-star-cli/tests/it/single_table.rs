//! A single table as a task. Scripts are shell scripts, as in `exits.rs`; other inputs are in `corpus.rs`.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::{Value, json};

use crate::exits::{SMALL, SUBMIT, interpreter};
use crate::held_out::PREDICT;
use crate::sealed::Sealed;

const ROWS: usize = 300;
const TEST_ROWS: usize = 60;

/// A table of prices in a folder with other files, without row IDs.
fn one_table() -> Sealed {
    let sealed = Sealed::empty();
    let mut table = "size,town,price\n".to_owned();
    for row in 0..ROWS {
        writeln!(table, "{},{},{}.5", row * 37 % 101, ["a", "b"][row % 2], row % 7).unwrap();
    }
    sealed.write("home/prices.csv", table.as_bytes());
    sealed.write("home/letter.txt", b"private");
    sealed
}

fn result(sealed: &Sealed, run: &str) -> Value {
    serde_json::from_str(&sealed.read(&format!("runs/{run}/result.json"))).unwrap()
}

fn first_cells(text: &str) -> Vec<String> {
    text.lines().skip(1).map(|line| line.split(',').next().unwrap().to_owned()).collect()
}

/// A link to a table is a task, and so is a folder with one.
#[test]
fn tables_behind_links_are_read() {
    let sealed = one_table();
    sealed.write_task("data");
    fs::rename(sealed.path("data/train.csv"), sealed.path("home/train.csv")).unwrap();
    symlink("../home/train.csv", sealed.path("data/train.csv")).unwrap();
    symlink(sealed.path("home/prices.csv"), sealed.path("link.csv")).unwrap();
    for (task, told) in [("link.csv", "has 2 features"), ("data", "train.csv has ")] {
        let said = sealed.run(&format!("run {task} -t price -m RMSE --agents offline --estimate"));
        assert!(said.code == 0 && said.stderr.contains(told), "{said:?}");
    }
}

#[test]
fn a_single_table_gives_the_rows_that_are_predicted_and_scored() {
    let sealed = one_table();
    let table = sealed.path("home/prices.csv");
    let peek = format!(
        "cat {} {}/test_labels.csv {}/home/letter.txt; ls input; wc -l < input/train.csv",
        table.display(),
        sealed.path("runs/$RUN").display(),
        sealed.path("").display()
    );
    let check = |run: &str, options: &str| {
        let peek = peek.replace("$RUN", run);
        let predict = PREDICT.replace("id,price", "row_id,price");
        let python = interpreter(&sealed, &format!("{SUBMIT}; ({peek}) 2>&1; {predict}"));
        let line = "run home/prices.csv --target price --metric RMSE --agents offline";
        let said = sealed.run(&format!("{line} --run-id {run} --set python={python} {SMALL} {options}"));
        assert_eq!(said.code, 0, "{said:?}");
        let told = "holdout: the 60 rows of the test table, taken from 300 labelled rows; no script sees their labels";
        assert!(said.stderr.lines().any(|line| line == told), "{said:?}");

        // All predictions are 0.
        let labels = sealed.read(&format!("runs/{run}/test_labels.csv"));
        let labels: Vec<(String, f64)> = labels
            .lines()
            .skip(1)
            .map(|line| line.split_once(',').unwrap())
            .map(|(id, price)| (id.to_owned(), price.parse().unwrap()))
            .collect();
        let squares = labels.iter().map(|(_, price)| price * price);
        let expected = (squares.sum::<f64>() / TEST_ROWS as f64).sqrt();
        let trust = &result(&sealed, run)["trust"];
        let score = trust["holdout_score"].as_f64().unwrap();
        assert!((score - expected).abs() < 1e-9, "{score} {expected}");
        assert_eq!((&trust["holdout_rows"], &trust["holdout_looks"]), (&json!(TEST_ROWS), &json!(1)));
        assert!(trust["split"]["why"].as_str().unwrap().contains("60 of the 300 labelled rows"), "{trust}");
        let rows: Vec<&str> = fs::read_to_string(&table).unwrap().leak().lines().skip(1).collect();
        for (id, price) in &labels {
            assert!(rows[id.parse::<usize>().unwrap()].ends_with(&format!(",{price}")), "{id}");
        }
        let submission = sealed.read(&format!("runs/{run}/final/submission.csv"));
        let ids: Vec<String> = labels.into_iter().map(|(id, _)| id).collect();
        assert!(submission.starts_with("row_id,price\n") && first_cells(&submission) == ids, "{submission}");

        let seen = sealed.read(&format!("runs/{run}/logs/phase1.candidate-0.run.stdout"));
        assert!(!seen.contains("private") && !seen.contains("town,price\n0,a"), "{seen}");
        assert!(seen.contains("sample_submission.csv\ntest.csv\ntrain.csv\n241\n"), "{seen}");
        assert!(sealed.read(&format!("runs/{run}/data/test.csv")).starts_with("row_id,size,town\n"));
        let mode =
            fs::metadata(sealed.path(&format!("runs/{run}/test_labels.csv"))).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(sealed.names("home"), ["letter.txt", "prices.csv"]);
        assert_eq!(sealed.names("runs").iter().filter(|name| name.starts_with('.')).count(), 0);
    };
    check("default", "");
    check("paper", "--set preset=paper");
}
