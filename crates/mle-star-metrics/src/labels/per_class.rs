//! Labels from a table with one column per class.

use std::io::Read;

use csv::StringRecord;

use super::known::{Labels, ONE_CLASS, OwnedTruth, in_order};
use super::rows::{row_key, sorted};
use crate::names::{Kind, Metric};
use crate::table::{Table, canonical, is_missing, listed, shown};

/// Reads the labels; see [`Labels::read_per_class`].
pub(super) fn read(
    table: impl Read,
    id: Option<&str>,
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
    let columns = table.columns(&classes.iter().map(String::as_str).collect::<Vec<_>>())?;
    let id = id.map(|id| table.columns(&[id])).transpose()?.map(|found| found[0]);
    let (mut row, mut number) = (StringRecord::new(), 0_u64);
    let (mut keys, mut rows) = (Vec::new(), Vec::new());
    while table.read(&mut row)? {
        let cells: Vec<&str> = columns.iter().map(|column| row.get(*column).unwrap_or_default()).collect();
        if !cells.iter().any(|cell| is_missing(cell)) {
            keys.push((row_key(&row, id, number)?, number));
            rows.push(class_of(&cells).map_err(|why| format!("row {} {why}", number + 1))?);
        }
        number += 1;
    }
    if keys.is_empty() {
        return Err(format!("no row has labels in the columns {}", listed(classes)));
    }
    if rows.iter().all(|class| *class == rows[0]) {
        return Err(ONE_CLASS.to_owned());
    }
    let (keys, order) = sorted(&keys)?;
    let names: Vec<String> = classes.iter().map(|class| canonical(class).into_owned()).collect();
    let (names, places) = in_order(&names);
    let rows = order.iter().map(|row| places[rows[*row]]).collect();
    let known = OwnedTruth::Classes { rows, names };
    let units = keys.clone();
    Ok(Labels::of(metric, keys, units, known))
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
