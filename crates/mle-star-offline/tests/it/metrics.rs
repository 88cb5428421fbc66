//! Scripts for metrics of guesses, orders, quantiles, intervals and columns.

use mle_star_needs::needs;

use super::folders::{Folder, PLAIN, THREE_LABELS, TWO_NUMBERS, check, check_changed};

/// Five classes with dashes and a blank in their names.
const GUESSES: Folder = Folder {
    name: "guesses",
    metric: "MAP@3",
    labels: |_, [a, b]| ["elm", "ash-2", "red oak", "7-7", "pear"][((a + b) * 2.5) as usize % 5].to_owned(),
    wanted: ("y", "elm ash-2 pear"),
    ..PLAIN
};

/// Amounts that are never negative, a few of them large.
const AMOUNTS: Folder = Folder {
    name: "amounts",
    metric: "pinball loss 0.9",
    labels: |_, [a, b]| format!("{:.3}", 1.0 + a * a * 9.0 + if b > 0.8 { 20.0 } else { b }),
    wanted: ("y", "1.5"),
    families: &["LightGBM", "XGBoost", "CatBoost", "Linear model"],
    ..PLAIN
};

const INTERVALS: Folder = Folder {
    name: "intervals",
    metric: "interval score 0.8",
    wanted: ("y_high,y_low", "2.0,1.0"),
    families: &["LightGBM", "Linear model"],
    ..AMOUNTS
};

#[test]
fn scripts_answer_every_kind_of_metric() {
    needs!(Libraries);
    check(&[
        GUESSES,
        Folder { name: "more guesses than classes", metric: "top-9 accuracy", ..GUESSES },
        Folder {
            name: "guesses by probabilities",
            metric: "top-2 accuracy",
            labels: |_, [a, b]| ["a", "b", "c"][((a + b) * 1.5) as usize % 3].to_owned(),
            wanted: ("c,a,b", "0.2,0.3,0.5"),
            ..GUESSES
        },
        Folder {
            name: "Gini of two classes",
            metric: "normalized Gini",
            labels: |_, [a, b]| u8::from(a + b > 1.0).to_string(),
            wanted: ("y", "0.5"),
            ..PLAIN
        },
        Folder { name: "Gini of amounts", metric: "normalized Gini", ..AMOUNTS },
        AMOUNTS,
        Folder { name: "low quantile", metric: "quantile loss (q=0.05)", ..AMOUNTS },
        INTERVALS,
        Folder { name: "column-wise RMSE", metric: "MCRMSE", ..TWO_NUMBERS },
        Folder { name: "column-wise log loss", metric: "mean column-wise log loss", ..THREE_LABELS },
        Folder {
            name: "log loss of each class",
            metric: "mean column-wise log loss",
            labels: |_, [a, b]| ["a", "b", "c"][((a + b) * 1.5) as usize % 3].to_owned(),
            wanted: ("c,a,b", "0.2,0.3,0.5"),
            ..PLAIN
        },
    ]);
}

#[test]
fn scripts_for_these_metrics_can_be_changed_and_combined() {
    needs!(Libraries);
    check_changed(&[GUESSES, AMOUNTS, INTERVALS]);
}

#[test]
fn what_the_agents_cannot_answer_is_named() {
    let check = |folder: Folder, expected: &str| assert_eq!(folder.refusal(), expected);
    check(
        Folder { name: "sets", metric: "sample-averaged F1", ..GUESSES },
        "the metric is sample-averaged F1, and `y` has several labels in a cell",
    );
    check(
        Folder { name: "one bound", wanted: ("y", "1.0"), ..INTERVALS },
        "interval score 0.8 needs two predicted columns, a lower and an upper bound, but the sample submission has 1",
    );
}
