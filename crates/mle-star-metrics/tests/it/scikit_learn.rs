//! Scores of the same data by scikit-learn and scipy.

use std::io::Write;
use std::process::{Command, Stdio};

use mle_star_metrics::names::Metric;
use mle_star_needs::needs;
use serde_json::{Value, json};

use super::data::{Random, Rows};

const SCRIPT: &str = include_str!("scikit_learn.py");

type Case = (Rows, Option<Vec<f64>>);

/// What the script calls the metric. A mean over columns of one target is the metric of that column, but the log loss of several
/// classes, each against the rest.
fn name(metric: Metric) -> String {
    let metric = if metric == Metric::ColumnLogLoss { metric } else { metric.of_column() };
    metric.name().into_owned()
}

/// What Python prints for each case.
fn by_python(cases: &[Case]) -> Vec<f64> {
    let python = mle_star_needs::python_with_libraries();
    let mut child = Command::new(python)
        .args(["-c", SCRIPT])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let written = |(rows, weights): &Case| {
        json!({
            "metric": name(rows.metric), "classes": rows.classes, "truth": rows.truth,
            "predicted": rows.predicted, "weights": weights,
        })
    };
    let text = Value::from_iter(cases.iter().map(written)).to_string();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    String::from_utf8(output.stdout).unwrap().lines().map(|line| line.parse().unwrap()).collect()
}

fn agrees((rows, weights): &Case, expected: f64) {
    let found = rows.score(weights.as_deref());
    let weighted = if weights.is_some() { "weighted" } else { "plain" };
    let what = format!("{} of {} classes, {weighted}", rows.metric, rows.classes);
    match found {
        Ok(found) => {
            let far = (found - expected).abs() / expected.abs().max(1e-3);
            assert!(far < 1e-9, "{what}: {found} instead of {expected}");
        }
        Err(why) => assert!(expected.is_nan(), "{what}: {why} instead of {expected}"),
    }
}

fn check(cases: &[Case]) {
    let expected = by_python(cases);
    assert_eq!(expected.len(), cases.len());
    cases.iter().zip(expected).for_each(|(case, expected)| agrees(case, expected));
}

#[test]
fn scores_agree_on_random_data() {
    needs!(Libraries);
    let mut random = Random(3);
    let mut cases = Vec::new();
    for metric in Metric::ALL {
        for (classes, rows, seed) in
            [(2, 80, 1), (2, 81, 2), (3, 120, 3), (3, 40, 4), (6, 300, 5), (6, 301, 6)]
        {
            let rows = Rows::random(metric, classes, rows, seed);
            // The first rows have all classes; their weight keeps the classes in the data of scikit-learn.
            let weight = |row: usize| (random.next() * 4.0).floor() + f64::from(u8::from(row < classes));
            let weights = (0..rows.truth.len()).map(weight).collect();
            cases.push((rows.clone(), Some(weights)));
            cases.push((rows, None));
        }
    }
    check(&cases);
}
