//! A finished run predicts other rows.

use std::fs;
use std::process::Command;

use mle_star_needs::needs;
use serde_json::Value;

use crate::delivered::result;
use crate::runs::{SMALL, interpreter, task};
use crate::sealed::Sealed;

/// A finished run, `r`.
pub fn finished() -> Sealed {
    let sealed = task();
    let line =
        format!("run data --run-id r --agents offline --set python={} {SMALL}", interpreter().display());
    let said = sealed.run(&line);
    assert_eq!(said.code, 0, "{said:?}");
    sealed
}

/// The test table of the run, its rows in another order.
fn reversed(sealed: &Sealed) -> Vec<String> {
    let test = sealed.read("data/test.csv");
    let (header, rows) = test.trim_end().split_once('\n').unwrap();
    [header].into_iter().chain(rows.lines().rev()).map(str::to_owned).collect()
}

/// The predictions by ID, as they are in a file.
fn by_id(text: &str) -> Vec<(String, f64)> {
    let row = |line: &str| {
        let (id, value) = line.split_once(',').unwrap();
        (id.to_owned(), value.parse().unwrap())
    };
    text.lines().skip(1).map(row).collect()
}

#[test]
fn other_rows_are_predicted_by_a_finished_run() {
    needs!(Libraries);
    let sealed = finished();
    let submitted = by_id(&sealed.read("runs/r/final/submission.csv"));
    let rows = reversed(&sealed);
    sealed.write("new.csv", (rows.join("\n") + "\n").as_bytes());
    let said = sealed.run("predict r new.csv");
    assert_eq!(said.code, 0, "{said:?}");
    let predicted = by_id(&said.stdout);
    assert_eq!(predicted.len(), submitted.len());
    for ((id, value), (expected_id, expected)) in predicted.iter().zip(submitted.iter().rev()) {
        assert_eq!(id, expected_id);
        assert!((value - expected).abs() <= 1e-6 * expected.abs(), "{id}: {value} instead of {expected}");
    }

    // Without an ID, with another column, a missing value and a category that nobody has seen; the same row twice.
    sealed.write("odd.csv", b"town,size,more\nz,,1\na,50,2\na,50,2\n");
    let said = sealed.run("predict r odd.csv --json");
    let found: Value = serde_json::from_str(&said.stdout).unwrap_or_else(|_| panic!("{said:?}"));
    let ids: Vec<&Value> = found.as_array().unwrap().iter().map(|row| &row["id"]).collect();
    assert_eq!(ids, [0, 1, 2].map(Value::from).iter().collect::<Vec<_>>());
    assert_eq!(found[1]["price"], found[2]["price"]);
}

#[test]
fn the_fitted_model_predicts_without_the_data() {
    needs!(Libraries);
    let sealed = finished();
    let model = result(&sealed)["model"].clone();
    assert_eq!(model["kind"], "fitted", "{model}");
    assert_eq!(model["rows"], 18, "{model}");
    assert!(model["bytes"].as_u64().unwrap() > 0 && model["milliseconds_per_row"].is_number(), "{model}");
    let submitted = sealed.read("runs/r/final/submission.csv");
    // By hand, elsewhere: `predict.py` needs the libraries and its model alone.
    let away = sealed.path("away");
    fs::create_dir(&away).unwrap();
    let mut copy = Command::new("cp");
    copy.arg("-r").args(["model", "model.json", "predict.py"]).arg(&away);
    assert!(copy.current_dir(sealed.path("runs/r/final")).status().unwrap().success());
    let by_hand = Command::new(interpreter())
        .args(["predict.py", "../data/test.csv", "out.csv"])
        .current_dir(&away)
        .output()
        .unwrap();
    assert!(by_hand.status.success(), "{by_hand:?}");
    let is_near = |(one, other): (&(String, f64), &(String, f64))| {
        one.0 == other.0 && (one.1 - other.1).abs() <= 1e-6 * other.1.abs()
    };
    let same = |text: &str| by_id(text).iter().zip(&by_id(&submitted)).all(is_near);
    assert!(same(&sealed.read("away/out.csv")), "{}", sealed.read("away/out.csv"));
    // The run predicts without its data, and without its model it fits again.
    let gone = |from: &str, to: &str| fs::rename(sealed.path(from), sealed.path(to)).unwrap();
    fs::copy(sealed.path("data/test.csv"), sealed.path("test.csv")).unwrap();
    gone("data", "elsewhere");
    let said = sealed.run("predict r test.csv");
    assert!(said.code == 0 && same(&said.stdout), "{said:?}");
    gone("elsewhere", "data");
    gone("runs/r/final/model.json", "model.json");
    let said = sealed.run("predict r test.csv");
    assert!(said.code == 0 && same(&said.stdout), "{said:?}");
}

#[test]
fn tables_that_cannot_be_predicted_are_refused() {
    needs!(Libraries);
    let sealed = finished();
    let check = |table: &str, more: &str, code: i32, said_by: [&str; 2]| {
        sealed.write("new.csv", table.as_bytes());
        let said = sealed.run(&format!("predict r new.csv {more}"));
        assert_eq!(said.code, code, "{said:?}");
        assert!(said.stdout.contains(said_by[0]) && said.stderr.contains(said_by[1]), "{said:?}");
    };
    check("id,size\n1,2\n", "", 2, ["", "error: new.csv has no column \"town\"\nhint: "]);
    check("id,size,town\n", "", 0, ["id,price\n", ""]);
    check("id,size,town\n1,2,a\n", "--score", 2, ["", "new.csv has no column \"price\"\nhint: --score"]);
    check("", "", 2, ["", "error: "]);
    check("id,size,town,price\n1,60,a,91\n2,20,b,31\n", "--score --json", 0, ["\"rows\": 2", ""]);
    let said = sealed.run("predict nowhere new.csv");
    assert_eq!(said.code, 2, "{said:?}");
}
