//! Whether the target can have the metric at all.

use std::collections::{BTreeMap, BTreeSet};

use crate::metrics::{Kind, Metric};
use mle_star_domain::trouble::Trouble;

use super::MOST_CLASSES;
use crate::description::{spaced, words};
use crate::profile::{Column, ColumnKind, Profile};

/// Characters between the labels of a cell.
const SEPARATORS: [char; 4] = [' ', ',', ';', '|'];
/// The largest number of labels of which some or all are in each cell.
const MOST_LABELS: usize = 1_000;
/// Metrics without a value for some targets.
const PARTIAL: [Partial; 2] = [
    Partial { metric: Metric::Mape, lacks: |target| target == 0.0, which: "0", instead: "SMAPE or MAE" },
    Partial {
        metric: Metric::Rmsle,
        lacks: |target| target <= -1.0,
        which: "-1 or less",
        instead: "RMSE or MAE",
    },
];

/// A metric without a value for targets that it `lacks`; others take them.
struct Partial {
    metric: Metric,
    lacks: fn(f64) -> bool,
    which: &'static str,
    instead: &'static str,
}

/// Refuses to take logarithms of what may be logarithms.
///
/// # Errors
/// The description's metric is about logarithms, and the target is called one.
pub(super) fn check_logarithm(target: &str, metric: Option<Metric>) -> Result<(), Trouble> {
    let is_log = words(&spaced(target))
        .iter()
        .any(|word| matches!(word.text.as_str(), "log" | "ln" | "log1p" | "log10"));
    if metric != Some(Metric::Rmsle) || !is_log {
        return Ok(());
    }
    let message = format!(
        "the description scores by the error of logarithms, and the column \"{target}\" may hold logarithms already"
    );
    Err(Trouble::new(
        message,
        "give --metric RMSE if it does, or --metric RMSLE if its logarithms are taken again",
    ))
}

/// Refuses a metric whose score of this target is always the same, an error, or of something else.
///
/// # Errors
/// The target's values do not fit the metric; the message names both.
pub(super) fn check(profile: &Profile, target: &str, metric: Option<Metric>) -> Result<(), Trouble> {
    match (profile.train.column(target), metric) {
        (Some(column), Some(metric)) => {
            check_values(profile, target, metric)?;
            check_column(column, metric)
        }
        _ => Ok(()),
    }
}

fn refused(why: String, instead: &str) -> Trouble {
    let hint = format!(
        "give another metric with --metric, for example {instead}, another column with --target, or compute it with --metric-file"
    );
    Trouble::new(why, hint)
}

fn check_values(profile: &Profile, target: &str, metric: Metric) -> Result<(), Trouble> {
    let Some(Partial { lacks, which, instead, .. }) = PARTIAL.iter().find(|partial| partial.metric == metric)
    else {
        return Ok(());
    };
    let mut rows = 0;
    if let Ok(train) = profile.tables.train()
        && let Some(at) = train.find(target)
    {
        let counted = train.each(&[at], |row| {
            let value = row.value(0).and_then(|text| text.trim().parse::<f64>().ok());
            rows += u64::from(value.is_some_and(|value| value.is_finite() && lacks(value)));
            true
        });
        counted.map_err(|error| {
            Trouble::new(format!("cannot read the training table: {error}"), "check that it did not change")
        })?;
    }
    if rows == 0 {
        return Ok(());
    }
    let has = if rows == 1 { "1 row has".to_owned() } else { format!("{rows} rows have") };
    Err(refused(
        format!("{metric} has no value for a target of {which}, and {has} one in the column \"{target}\""),
        instead,
    ))
}

fn check_column(column: &Column, metric: Metric) -> Result<(), Trouble> {
    let name = &column.name;
    match metric.kind_for(column.distinct) {
        Kind::Labels | Kind::Probabilities | Kind::Guesses => {
            if column.kind == ColumnKind::Float && column.distinct > MOST_CLASSES && has_fractions(column) {
                let why = format!(
                    "{metric} compares classes, and the column \"{name}\" has {} different numbers",
                    column.distinct
                );
                return Err(refused(why, "RMSE"));
            }
            match several_labels(column) {
                Some(example) => {
                    let message = format!(
                        "cells of the column \"{name}\" hold several labels, such as \"{example}\", and {metric} takes one label of each row"
                    );
                    let hint = "give a metric of sets with --metric, for example sample-averaged F1, or compute it with --metric-file";
                    Err(Trouble::new(message, hint))
                }
                None => Ok(()),
            }
        }
        Kind::Numbers | Kind::Intervals
            if holds_words(column)
                && !column.nearly_numbers
                && column.distinct <= MOST_CLASSES
                && !has_digits(column) =>
        {
            let examples: Vec<String> =
                column.top_values.iter().take(3).map(|(value, _)| format!("\"{value}\"")).collect();
            let why = format!(
                "{metric} compares numbers, and the column \"{name}\" has words such as {}",
                examples.join(", ")
            );
            Err(refused(why, "accuracy"))
        }
        _ => Ok(()),
    }
}

/// Whether frequent values are no whole numbers.
pub(super) fn has_fractions(column: &Column) -> bool {
    column.top_values.iter().any(|(value, _)| value.parse::<f64>().is_ok_and(|number| number.fract() != 0.0))
}

/// Whether the cells are texts. Those of `true` and `false` are numbers, too.
fn holds_words(column: &Column) -> bool {
    let is_truth = |(value, _): &(String, usize)| {
        value.eq_ignore_ascii_case("true") || value.eq_ignore_ascii_case("false")
    };
    column.kind == ColumnKind::Category
        || column.kind == ColumnKind::Boolean && !column.top_values.iter().any(is_truth)
}

fn has_digits(column: &Column) -> bool {
    column.top_values.iter().any(|(value, _)| value.contains(|c: char| c.is_ascii_digit()))
}

/// A cell with several labels, if the cells are sets of few labels rather than names of several words: more than half of the
/// labels are in several cells, there are more sets than labels, and none holds a label twice. With blanks between labels, there
/// are half as many more, and a label stands both first and after another one.
fn several_labels(column: &Column) -> Option<&str> {
    let values: Vec<&str> = column.top_values.iter().map(|(value, _)| value.as_str()).collect();
    let separator = SEPARATORS
        .into_iter()
        .rev()
        .find(|separator| values.iter().filter(|value| value.trim().contains(*separator)).count() >= 2)?;
    let mut beside: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let (mut example, mut first, mut later) = (None, BTreeSet::new(), BTreeSet::new());
    for value in &values {
        let labels: Vec<&str> =
            value.split(separator).map(str::trim).filter(|label| !label.is_empty()).collect();
        let distinct: BTreeSet<&str> = labels.iter().copied().collect();
        if distinct.len() < labels.len() {
            return None;
        }
        if labels.len() > 1 {
            example = example.or(Some(*value));
            first.insert(labels[0]);
            later.extend(&labels[1..]);
        }
        for label in labels {
            beside.entry(label).or_default().insert(value);
        }
    }
    // Blanks stand between words of names, too: "low", "very low", "high", "very high"; "light rain", "heavy rain", "light snow".
    let are_many = if separator == ' ' {
        column.distinct * 2 >= beside.len() * 3 && !first.is_disjoint(&later)
    } else {
        column.distinct > beside.len()
    };
    let is_shared = beside.values().filter(|cells| cells.len() > 1).count() * 2 > beside.len();
    (beside.len() <= MOST_LABELS && are_many && is_shared).then_some(example).flatten()
}
