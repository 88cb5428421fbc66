//! What people give as a task: one table, tables in other formats, tables that differ in names. Scripts are shell scripts, as
//! in `exits.rs`.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::exits::{SCORE, SMALL, SUBMIT, interpreter};
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

#[test]
fn the_same_rows_in_another_format_are_the_same_task() {
    let table = |text: &str| text.to_owned();
    type Rewrite = fn(&str) -> String;
    let ways: [(&str, Rewrite); 4] = [
        ("csv", |text| text.to_owned()),
        ("tsv", |text| text.replace(',', "\t")),
        ("csv", |text| format!("\u{feff}{}", text.replace(',', ";").replace('\n', "\r\n"))),
        ("jsonl", |text| {
            let mut lines = text.lines();
            let names: Vec<&str> = lines.next().unwrap().split(',').collect();
            let cell = |cell: &str| {
                cell.parse::<f64>().map_or_else(|_| json!(cell).to_string(), |_| cell.to_owned())
            };
            let row = |line: &str| {
                let cells = names.iter().zip(line.split(','));
                let cells = cells.map(|(name, text)| format!("{}:{}", json!(name), cell(text)));
                format!("{{{}}}\n", cells.collect::<Vec<_>>().join(","))
            };
            lines.map(row).collect()
        }),
    ];
    let task = Sealed::with(&[]);
    let outcomes = ways.map(|(ending, rewrite)| {
        let sealed = Sealed::empty();
        for name in ["train", "test", "sample_submission"] {
            let text = table(&task.read(&format!("data/{name}.csv")));
            sealed.write(&format!("data/{name}.{ending}"), rewrite(&text).as_bytes());
        }
        sealed.write("data/description.md", task.read("data/description.md").as_bytes());
        let before = sealed.names("data");
        let python = interpreter(&sealed, &format!("{SUBMIT}; cat input/train.csv | tr -d '\\r'; {SCORE}"));
        let said = sealed.run(&format!("run data --run-id r --agents offline --set python={python} {SMALL}"));
        assert_eq!(said.code, 0, "{ending}: {said:?}");
        assert_eq!(sealed.names("data"), before);
        let mut task: Value = serde_json::from_str(&sealed.read("runs/r/task.json")).unwrap();
        (task["data_dir"], task["competition_id"]) = (Value::Null, Value::Null);
        let seen = sealed.read("runs/r/logs/phase1.candidate-0.run.stdout");
        (task, sealed.read("runs/r/final/submission.csv"), seen)
    });
    for other in &outcomes[1..] {
        assert_eq!(*other, outcomes[0]);
    }
}

#[test]
fn a_submission_has_the_form_of_the_sample() {
    let check = |sample: &str, expected: &str| {
        let sealed = Sealed::with(&[("data/sample_submission.csv", sample)]);
        let python = interpreter(&sealed, &format!("{SUBMIT}; cat input/sample_submission.csv; {SCORE}"));
        let said = sealed.run(&format!("run data --run-id r --agents offline --set python={python} {SMALL}"));
        assert_eq!(said.code, 0, "{said:?}");
        let seen = sealed.read("runs/r/logs/phase1.candidate-0.run.stdout");
        assert!(seen.starts_with("id,price\n5,0"), "{seen}");
        assert_eq!(sealed.read("runs/r/final/submission.csv"), expected);
    };
    check(",id,price\n0,5,0\n1,6,0\n", ",id,price\n0,5,0\n1,6,0\n");
    check("ID, Price\n5,0\n6,0\n", "ID, Price\n5,0\n6,0\n");
    check("id,price\n5,\"0,5\"\n6,\"0,5\"\n", "id,price\n5,\"0,5\"\n6,\"0,5\"\n");
}

#[test]
fn init_takes_a_single_table() {
    let sealed = one_table();
    let said = sealed.run("init home/prices.csv --target price --metric RMSE");
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stderr.contains("holdout: the 60 rows of the test table"), "{said:?}");
    let file = sealed.read("home/task.yaml");
    for line in ["data_dir: \"prices.csv\"", "target_column: price", "id_column: row_id"] {
        assert!(file.contains(line), "{line}: {file}");
    }
    assert_eq!(sealed.names("home"), ["letter.txt", "prices.csv", "task.yaml"]);
    let said = sealed.run("run home --agents offline --estimate");
    assert!(said.code == 0 && said.stderr.contains("60 rows of the test table"), "{said:?}");
    assert!(sealed.names("runs").is_empty());
}
