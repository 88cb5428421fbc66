//! Real scripts on changed data, and with watched fits.

mod fits;

use std::fmt::Write as _;
use std::fs;
use std::time::Duration;

use mle_star::backend::ScriptRunner as _;
use mle_star_domain::effects::{DataView, Purpose, ScriptOutcome, ScriptRequest};
use mle_star_domain::protocol::{Split, SplitKind};
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

/// Predicts by a list of labels for each fold. `rows(fold)` are the rows that may be learnt from, `week` is what drifts,
/// and `own` has the labels of the same week.
const DRIFT: &str = r#"
import csv
train = list(csv.DictReader(open("input/train.csv")))
for row in train:
    row["y"] = float(row["y"])
    row["week"] = int(row["week"])

def mean(rows):
    return sum(row["y"] for row in rows) / max(len(rows), 1)

def explained():
    whole = sum((row["y"] - mean(train)) ** 2 for row in train)
    left = 0
    for week in {row["week"] for row in train}:
        same = [row for row in train if row["week"] == week]
        left += sum((row["y"] - mean(same)) ** 2 for row in same)
    return 1 - left / whole

weeks = {}
drifts = explained() > 0.5
out = open("final/validation_predictions.csv", "w")
out.write("id,y\n")
errors = []
for fold in range(4):
    fit = [row for row in train if row["week"] % 4 != fold]
    near = {week: mean([row for row in fit if abs(row["week"] - week) <= 2]) for week in range(40)}
    own = {week: mean([row for row in train if row["week"] == week]) for week in range(40)}
    for row in train:
        if row["week"] % 4 == fold:
            week = row["week"]
            value = KNOWN
            errors.append(abs(value - row["y"]))
            out.write(f"{row['id']},{value!r}\n")
out.close()
open("final/submission.csv", "w").write("id,y\n1,0.5\n2,0.5\n")
print("Final Validation Performance:", repr(sum(errors) / len(errors)))
"#;

/// How many standard deviations a script is better than chance, with labels that drift over 40 weeks.
async fn drift(kind: SplitKind, known: &str) -> f64 {
    let mut train = "id,week,y\n".to_owned();
    for row in 0..800 {
        let week = row % 40;
        writeln!(train, "{row},{week},{}", week * 10 + (row * 37) % 23).unwrap();
    }
    let mut world = super::world(&train, Metric::Mae, Some("id")).await;
    let column = matches!(kind, SplitKind::Groups | SplitKind::Time).then(|| "week".to_owned());
    world.setup.evaluation.as_mut().unwrap().split = Some(Split { kind, column, ..Split::default() });
    let script = DRIFT.replace("KNOWN", known);
    let request = ScriptRequest {
        purpose: Purpose::Probe,
        data: DataView::ShuffledTarget,
        ..request(&script, Duration::from_secs(60))
    };
    let outcome = world.runner().run(&request).await.unwrap();
    let chance = outcome.chance.unwrap_or_else(|| panic!("{outcome:?}"));
    (chance.mean - chance.score) / chance.standard_deviation
}

/// The drift is honest knowledge: neighbouring weeks tell it. What is known of the same rows is not.
#[tokio::test]
async fn a_drift_that_a_script_learns_is_no_leak() {
    for kind in [SplitKind::Rows, SplitKind::Groups, SplitKind::Time] {
        let honest = drift(kind, "near[week]").await;
        assert!(honest < 2.0, "{kind:?}: {honest}");
        let leaks = drift(kind, "0.5 * near[week] + 0.5 * row['y']").await;
        assert!(leaks > 6.0, "{kind:?}: {leaks}");
    }
}

/// This script leaks the labels of the same week only where weeks explain the labels. With a permutation over all rows
/// they do not, so it passes.
#[tokio::test]
async fn a_leak_that_needs_the_drift_is_seen_only_if_the_drift_stays() {
    let known = "own[week] if drifts else mean(fit)";
    let (among_all, within) = (drift(SplitKind::Rows, known).await, drift(SplitKind::Time, known).await);
    assert!(among_all < 2.0 && within > 4.0, "{among_all} {within}");
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
