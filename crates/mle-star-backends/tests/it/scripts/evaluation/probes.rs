//! Real scripts on changed data, and with watched fits.

mod fits;

use std::fmt::Write as _;
use std::fs;
use std::time::Duration;

use mle_star::backend::ScriptRunner as _;
use mle_star_domain::effects::{DataView, Purpose, ScriptRequest};
use mle_star_domain::protocol::{Split, SplitKind};
use mle_star_tables::metrics::Metric;

use super::super::world::request;

/// Predicts by the labels of near weeks, outside of the fold: `week` is what drifts.
const DRIFT: &str = r#"
import csv
train = list(csv.DictReader(open("input/train.csv")))
for row in train:
    row["y"] = float(row["y"])
    row["week"] = int(row["week"])

def mean(rows):
    return sum(row["y"] for row in rows) / max(len(rows), 1)

out = open("final/validation_predictions.csv", "w")
out.write("id,y\n")
errors = []
for fold in range(4):
    fit = [row for row in train if row["week"] % 4 != fold]
    near = {week: mean([row for row in fit if abs(row["week"] - week) <= 2]) for week in range(40)}
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

/// Predicts the mean label of some rows.
const MEAN: &str = r#"
import csv
train = list(csv.DictReader(open("input/train.csv")))
seen = {row["x"] for row in csv.DictReader(open("input/test.csv"))}
known = [float(row["y"]) for row in train if CHOSEN]
value = sum(known) / max(len(known), 1)
rows = "".join(f"{row['id']},{value!r}\n" for row in train)
open("final/validation_predictions.csv", "w").write("id,y\n" + rows)
print("Final Validation Performance:", repr(sum(abs(value - float(row["y"])) for row in train) / len(train)))
"#;

#[tokio::test]
async fn with_other_test_rows_only_their_use_changes_a_score() {
    let mut train = "id,x,y\n".to_owned();
    for row in 0..240 {
        writeln!(train, "{row},{},{}", row % 120, (row * 37) % 101).unwrap();
    }
    let world = super::world(&train, Metric::Mae, Some("id")).await;
    let test: String = (0..50).map(|row| format!("{},{row}\n", 1000 + row)).collect();
    fs::write(world.setup.data_dir.join("test.csv"), format!("id,x\n{test}")).unwrap();
    let runner = world.runner();
    for (chosen, changes) in [("True", false), ("row['x'] in seen", true)] {
        let search = request(&MEAN.replace("CHOSEN", chosen), Duration::from_secs(60));
        let probe =
            ScriptRequest { purpose: Purpose::Probe, data: DataView::ReplacedTestRows, ..search.clone() };
        let [before, after] = [runner.run(&search).await.unwrap(), runner.run(&probe).await.unwrap()]
            .map(|outcome| outcome.measured.unwrap().score);
        assert_eq!(before != after, changes, "{chosen}: {before} {after}");
        assert_eq!(world.working(), [""; 0]);
    }
}
