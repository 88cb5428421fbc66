//! Labels from a table with one column per class.

use std::io::Read;

use csv::StringRecord;

use super::columns::places_of_columns;
use super::known::{Labels, ONE_CLASS, OwnedTruth, in_order};
use super::layout::Columns;
use super::rows::{row_key, sorted};
use super::weights::Weights;
use crate::names::{Kind, Metric};
use crate::table::{Table, canonical, is_missing, listed, shown};

/// Reads the labels; see [`Labels::read_per_class`].
pub(super) fn read(
    table: impl Read,
    columns: &Columns,
    classes: &[String],
    metric: Metric,
) -> Result<Labels, String> {
    match metric.kind() {
        Kind::Numbers | Kind::Order | Kind::Intervals => {
            return Err(format!("{metric} needs numbers, not one column per class"));
        }
        Kind::Sets => return Err(format!("{metric} needs one column with sets, not one column per class")),
        Kind::Labels | Kind::Probabilities | Kind::Guesses => {}
    }
    if metric == Metric::QuadraticKappa {
        return Err(format!("{metric} needs one column with classes in order, not one column per class"));
    }
    let mut table = Table::open(table)?;
    let of_classes = table.columns(&classes.iter().map(String::as_str).collect::<Vec<_>>())?;
    let id = columns.id.as_deref().map(|id| table.columns(&[id])).transpose()?.map(|found| found[0]);
    let mut weights = Weights::new(&table, columns.weight.as_deref())?;
    let (mut row, mut number) = (StringRecord::new(), 0_u64);
    let (mut keys, mut rows) = (Vec::new(), Vec::new());
    while table.read(&mut row)? {
        let cells: Vec<&str> = of_classes.iter().map(|column| row.get(*column).unwrap_or_default()).collect();
        if !cells.iter().any(|cell| is_missing(cell)) {
            keys.push((row_key(&row, id, number)?, number));
            weights.add(&row).map_err(|why| format!("row {} {why}", number + 1))?;
            rows.push(class_of(&cells).map_err(|why| format!("row {} {why}", number + 1))?);
        }
        number += 1;
    }
    if keys.is_empty() {
        return Err(format!("no row has labels in the columns {}", listed(classes)));
    }
    if classes.len() < 2 {
        return Err(ONE_CLASS.to_owned());
    }
    let (keys, order) = sorted(&keys)?;
    let weights = weights.finish(&order)?;
    let names: Vec<String> = classes.iter().map(|class| canonical(class).into_owned()).collect();
    let (names, places) = in_order(&names);
    let rows = order.iter().map(|row| places[rows[*row]]).collect();
    let known = OwnedTruth::Classes { rows, names };
    let units = keys.clone();
    let positive = columns.positive.as_deref().and_then(|positive| named_like(positive, classes));
    Ok(Labels { weights, positive, ..Labels::of(metric, keys, units, known) })
}

/// The class whose column is about this one, such as `p_yes` about `yes`.
fn named_like(class: &str, columns: &[String]) -> Option<String> {
    let found = places_of_columns(columns, &[class.to_owned()])?;
    let place = found.iter().position(Option::is_some)?;
    Some(canonical(&columns[place]).into_owned())
}

/// The position of the one cell that is 1, where all others are 0.
fn class_of(cells: &[&str]) -> Result<usize, String> {
    let mut found = None;
    for (class, cell) in cells.iter().enumerate() {
        match canonical(cell).as_ref() {
            "0" | "false" => {}
            "1" | "true" if found.is_none() => found = Some(class),
            "1" | "true" => {
                return Err("has several classes, but the metric is about one for each row".to_owned());
            }
            _ => return Err(format!("has {}, where a column per class has 1 or 0", shown(cell))),
        }
    }
    found.ok_or_else(|| "has no class: none of its columns is 1".to_owned())
}
