//! Real scripts on changed data.

use std::fmt::Write as _;
use std::fs;
use std::time::Duration;

use mle_star::effects::{DataView, Purpose, ScriptOutcome, ScriptRequest, ScriptRunner as _};
use mle_star_metrics::names::Metric;

use super::super::world::request;

/// Reads both tables, and predicts the mean label of the rows in the list `known` with the same `x`.
const SCRIPT: &str = r#"
import csv
train = list(csv.DictReader(open("input/train.csv")))
test = list(csv.DictReader(open("input/test.csv")))

def mean(rows):
    return sum(float(row["y"]) for row in rows) / max(len(rows), 1)

def predicted(row, known):
    same = [other for other in known if other["x"] == row["x"]]
    return mean(same) if same else mean(known)

out = open("final/validation_predictions.csv", "w")
out.write("id,y\n")
errors = []
for fold in range(4):
    fit = [row for row in train if int(row["id"]) % 4 != fold]
    for row in train:
        if int(row["id"]) % 4 == fold:
            value = KNOWN
            errors.append(abs(value - float(row["y"])))
            out.write(f"{row['id']},{value!r}\n")
out.close()
open("final/submission.csv", "w").write("id,y\n1,0.5\n2,0.5\n")
print("Final Validation Performance:", repr(sum(errors) / len(errors)))
"#;

/// The outcome in the search, and with changed data.
async fn run(known: &str, data: DataView) -> [ScriptOutcome; 2] {
    let mut train = "id,x,y\n".to_owned();
    for row in 0..240 {
        writeln!(train, "{row},{},{}", row % 120, (row * 37) % 101).unwrap();
    }
    let world = super::world(&train, Metric::Mae, Some("id")).await;
    let test: String = (0..50).map(|row| format!("{},{row}\n", 1000 + row)).collect();
    fs::write(world.setup.data_dir.join("test.csv"), format!("id,x\n{test}")).unwrap();
    let script = SCRIPT.replace("KNOWN", known);
    let runner = world.runner();
    let of_search = runner.run(&request(&script, Duration::from_secs(60))).await.unwrap();
    let request =
        ScriptRequest { purpose: Purpose::Probe, data, ..request(&script, Duration::from_secs(60)) };
    let outcome = runner.run(&request).await.unwrap();
    assert!(!outcome.is_error(), "{outcome:?}");
    let left: Vec<_> =
        fs::read_dir(world.file("work")).unwrap().flatten().map(|entry| entry.path()).collect();
    assert_eq!(left, Vec::<std::path::PathBuf>::new());
    [of_search, outcome]
}

#[tokio::test]
async fn with_a_permuted_target_only_a_leak_is_better_than_chance() {
    let z = async |known: &str| {
        let chance = run(known, DataView::ShuffledTarget).await[1].chance.unwrap();
        (chance.mean - chance.score) / chance.standard_deviation
    };
    let honest = z("predicted(row, fit)").await;
    assert!(honest.abs() < 3.0, "{honest}");
    let leaks = z("predicted(row, train)").await;
    assert!(leaks > 3.0, "{leaks}");
}

#[tokio::test]
async fn with_other_test_rows_only_their_use_changes_a_score() {
    let changes = async |known: &str| {
        let scores =
            run(known, DataView::ReplacedTestRows).await.map(|outcome| outcome.measured.unwrap().score);
        (scores[1] - scores[0]).abs()
    };
    assert_eq!(changes("mean(fit)").await, 0.0);
    let of_test = "mean([other for other in fit if other['x'] in {row['x'] for row in test}])";
    assert!(changes(of_test).await > 0.0);
}
