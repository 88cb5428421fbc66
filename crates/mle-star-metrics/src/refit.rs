//! How the predictions of two fits of one solution differ for the same rows.
//!
//! A fit with more rows or another seed predicts almost the same. A script that depends on what is in its folder, or that lines
//! up predictions with the wrong rows, does not. `lab/refit.md` shows by how much fits differ.

use std::collections::HashMap;
use std::io::Read;

use csv::StringRecord;

use crate::labels::Layout;
use crate::labels::evaluate::predicted_columns;
use crate::names::{Kind, Metric};
use crate::score::{Predictions, Truth, Unscorable, score};
use crate::table::{Table, canonical, key, shown};

/// Numbers of which two fits have a smaller rank correlation differ.
const LEAST_CORRELATION: f64 = 0.4;
/// What is not larger than so many standard deviations of a correlation by chance may be chance. Fits of models that hardly know
/// anything are not more alike.
const CHANCE: f64 = 3.0;
/// The bounds of what may be chance.
const LEAST_CHANCE: f64 = 0.05;
const MOST_CHANCE: f64 = 0.25;
/// Numbers whose means differ by more than this part of the mean are at another level, if they also differ by [`SHIFT`].
const LEVEL: f64 = 0.09;
/// Numbers whose means differ by more than this part of their standard deviation are at another level, if they also differ by
/// [`LEVEL`].
const SHIFT: f64 = 0.1;
/// Numbers whose means differ by more than this part of their standard deviation are at another level in any case.
const LARGE_SHIFT: f64 = 0.3;
/// Numbers of which one fit predicts more than so many times the differences of the other have another scale.
const SCALE: f64 = 1.09;
/// Labels of which so many are equal are alike, even if those of a rare label differ.
const ALMOST_ALL: f64 = 0.97;

/// How the predictions of a second fit compare with those of the first.
#[derive(Clone, Debug, PartialEq)]
pub struct Refit {
    /// The number of rows.
    pub rows: u64,
    /// How alike they are, in a few words. Of several columns, the least alike is told.
    pub words: String,
    /// Whether they differ by more than fits do.
    pub is_jump: bool,
}

/// Compares two files of predictions with this layout for the same rows. Without a known metric, cells are numbers.
///
/// # Errors
/// The cells cannot be compared, or the files have other rows or columns.
pub fn compare(
    metric: Option<Metric>,
    first: impl Read,
    second: impl Read,
    layout: &Layout<'_>,
) -> Result<Refit, Unscorable> {
    let columns = predicted_columns(layout);
    match (metric.map(Metric::kind), columns.as_slice()) {
        (Some(Kind::Guesses | Kind::Sets), _) => {
            Err(Unscorable::new("cells with several labels are not compared"))
        }
        (Some(Kind::Labels), [_]) => labels(first, second, layout, &columns),
        (Some(Kind::Labels), _) => Err(Unscorable::new("several columns of labels are not compared")),
        _ => numbers(metric, first, second, layout, &columns),
    }
}

fn numbers(
    metric: Option<Metric>,
    first: impl Read,
    second: impl Read,
    layout: &Layout<'_>,
    columns: &[String],
) -> Result<Refit, Unscorable> {
    let read = |cell: &str| match cell.trim().parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => Err(format!("{} is not a finite number", shown(cell))),
    };
    let (before, after, rows) = paired(first, second, layout, columns, read)?;
    let width = columns.len();
    let are_shares = || before.iter().all(|cell| (0.0..=1.0).contains(cell));
    let is_free = match metric {
        Some(metric) => {
            metric.is_by_order() || metric == Metric::Pearson || metric.kind() == Kind::Probabilities
        }
        None => are_shares(),
    };
    let scale = if is_free { Scale::Free } else { Scale::Counts };
    if adds_up(&before, width) {
        // The probabilities of rare classes are noise, so all columns count together.
        let alike = Alike { rows, scale, ..Alike::of(Metric::Pearson, &before, &after) };
        return Ok(Refit { rows, words: alike.words(), is_jump: alike.is_jump() });
    }
    let column =
        |cells: &[f64], at: usize| cells.iter().copied().skip(at).step_by(width).collect::<Vec<f64>>();
    let alike = |at: usize| {
        let found = Alike::of(Metric::Spearman, &column(&before, at), &column(&after, at));
        (at, Alike { rows, scale, ..found })
    };
    let least = (0..width).map(alike).min_by(|(_, one), (_, two)| one.order(two));
    let (at, alike) = least.ok_or_else(|| Unscorable::new("there are no predictions"))?;
    let named = if width > 1 { format!(", `{}`", columns[at]) } else { String::new() };
    Ok(Refit { rows, words: format!("{}{named}", alike.words()), is_jump: alike.is_jump() })
}

/// Whether the numbers of each row add up to 1, as the probabilities of classes do.
fn adds_up(cells: &[f64], width: usize) -> bool {
    width > 1 && cells.chunks(width).all(|row| (row.iter().sum::<f64>() - 1.0).abs() < 0.01)
}

/// The largest correlation of so many rows that may be chance.
fn chance(rows: u64) -> f64 {
    (CHANCE / (rows as f64).sqrt()).clamp(LEAST_CHANCE, MOST_CHANCE)
}

fn labels(
    first: impl Read,
    second: impl Read,
    layout: &Layout<'_>,
    columns: &[String],
) -> Result<Refit, Unscorable> {
    let mut names: HashMap<String, usize> = HashMap::new();
    let read = |cell: &str| {
        let next = names.len();
        Ok(*names.entry(canonical(cell).into_owned()).or_insert(next))
    };
    let (before, after, rows) = paired(first, second, layout, columns, read)?;
    let equal = before.iter().zip(&after).filter(|(one, two)| one == two).count() as f64 / rows as f64;
    let share = |cells: &[usize], label: usize| {
        cells.iter().filter(|cell| **cell == label).count() as f64 / rows as f64
    };
    let by_chance: f64 = (0..names.len()).map(|label| share(&before, label) * share(&after, label)).sum();
    // Equal labels in all rows of both say nothing else.
    let kappa = if by_chance < 1.0 { (equal - by_chance) / (1.0 - by_chance) } else { 1.0 };
    let words = format!("{:.1} % of the labels are equal", 100.0 * equal);
    Ok(Refit { rows, words, is_jump: kappa < chance(rows) && equal < ALMOST_ALL })
}

/// Whether a change of all numbers alike is a change of what they say.
#[derive(Clone, Copy, PartialEq)]
enum Scale {
    Counts,
    /// They are an order, or probabilities, of which fits have other means.
    Free,
}

/// How alike two columns of numbers are.
#[derive(Clone, Copy)]
struct Alike {
    rows: u64,
    scale: Scale,
    is_equal: bool,
    /// Whether both have one value in all rows.
    are_constant: bool,
    /// `None` if one of them is constant.
    correlation: Option<f64>,
    means: (f64, f64),
    deviations: (f64, f64),
    covariance: f64,
}

impl Alike {
    fn of(correlation: Metric, before: &[f64], after: &[f64]) -> Self {
        let correlation =
            score(correlation, &Truth::Numbers(before), &Predictions::Numbers(after), None).ok();
        let count = before.len().max(1) as f64;
        let mean = |values: &[f64]| values.iter().sum::<f64>() / count;
        let means = (mean(before), mean(after));
        let products = |one: &[f64], at: f64, two: &[f64], by: f64| {
            one.iter().zip(two).map(|(x, y)| (x - at) * (y - by)).sum::<f64>() / count
        };
        let deviations = (
            products(before, means.0, before, means.0).sqrt(),
            products(after, means.1, after, means.1).sqrt(),
        );
        let covariance = products(before, means.0, after, means.1);
        let (rows, is_equal) = (before.len() as u64, before == after);
        let are_constant =
            [before, after].iter().all(|values| values.iter().all(|value| *value == values[0]));
        let scale = Scale::Counts;
        Self { rows, scale, is_equal, are_constant, correlation, means, deviations, covariance }
    }

    fn is_jump(&self) -> bool {
        let least = match self.scale {
            Scale::Counts => LEAST_CORRELATION,
            Scale::Free => chance(self.rows),
        };
        let is_unlike = || !self.are_constant && self.correlation.is_none_or(|found| found < least);
        let is_off = || self.scale == Scale::Counts && self.is_at_another_level();
        !self.is_equal && (is_unlike() || is_off())
    }

    /// Whether the second fit predicts more or less everywhere.
    fn is_at_another_level(&self) -> bool {
        let ((one, two), (deviation, other)) = (self.means, self.deviations);
        let shift = (two - one).abs();
        if self.are_constant {
            return shift > LEVEL * one.abs();
        }
        let (of_deviation, of_mean) = (shift / deviation, shift / one.abs());
        // How many differences of the one are predicted for one difference of the other, by least squares.
        let slope = (self.covariance / deviation.powi(2)).max(self.covariance / other.powi(2));
        of_deviation > LARGE_SHIFT || (of_deviation > SHIFT && of_mean > LEVEL) || slope > SCALE
    }

    /// Those that jump come first, then the less alike.
    fn order(&self, other: &Self) -> std::cmp::Ordering {
        let correlation = |one: &Self| one.correlation.unwrap_or(-1.0);
        let by_jump = other.is_jump().cmp(&self.is_jump());
        by_jump.then(correlation(self).total_cmp(&correlation(other)))
    }

    fn words(&self) -> String {
        let correlation = match self.correlation {
            Some(found) => format!("correlation {found:.2}"),
            None => "no correlation, because at least one of them is constant".to_owned(),
        };
        let ((one, two), (deviation, other)) = (self.means, self.deviations);
        format!(
            "{correlation}; mean {two:.4} instead of {one:.4}, standard deviation {other:.4} instead of {deviation:.4}"
        )
    }
}

/// The cells of both files, row after row in the order of the first, and the number of rows.
fn paired<T: Clone>(
    first: impl Read,
    second: impl Read,
    layout: &Layout<'_>,
    columns: &[String],
    mut read: impl FnMut(&str) -> Result<T, String>,
) -> Result<(Vec<T>, Vec<T>, u64), Unscorable> {
    let mut cells = |file| rows(file, layout, columns, &mut read);
    let (before, after) = (cells(Box::new(first) as Box<dyn Read + '_>)?, cells(Box::new(second))?);
    if before.ids.len() != after.ids.len() || before.ids.is_empty() {
        return Err(Unscorable::new("the files have no rows, or not as many"));
    }
    let (places, width): (HashMap<u64, usize>, _) = (after.ids.into_iter().zip(0..).collect(), columns.len());
    let mut ordered = Vec::with_capacity(after.cells.len());
    for id in &before.ids {
        let place = *places.get(id).ok_or_else(|| Unscorable::new("the files have other rows"))?;
        ordered.extend_from_slice(&after.cells[place * width..(place + 1) * width]);
    }
    Ok((before.cells, ordered, before.ids.len() as u64))
}

/// The rows of a file.
struct Rows<T> {
    ids: Vec<u64>,
    cells: Vec<T>,
}

fn rows<T>(
    file: impl Read,
    layout: &Layout<'_>,
    columns: &[String],
    read: &mut impl FnMut(&str) -> Result<T, String>,
) -> Result<Rows<T>, Unscorable> {
    let mut table = Table::open(file).map_err(Unscorable::new)?;
    let names: Vec<&str> = columns.iter().map(String::as_str).collect();
    let places = table.columns(&names).map_err(Unscorable::new)?;
    let id = layout.id_column.map(|id| table.columns(&[id])).transpose().map_err(Unscorable::new)?;
    let (mut found, mut row) = (Rows { ids: Vec::new(), cells: Vec::new() }, StringRecord::new());
    while table.read(&mut row).map_err(Unscorable::new)? {
        let number = found.ids.len().to_string();
        let cell = |at: usize| row.get(at).unwrap_or_default();
        found.ids.push(key(id.as_ref().and_then(|id| id.first()).map_or(number.as_str(), |id| cell(*id))));
        for place in &places {
            found.cells.push(read(cell(*place)).map_err(Unscorable::new)?);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: u32 = 400;

    /// A number from 0 to 1 that looks random.
    fn noise(seed: u32, row: u32) -> f64 {
        let mixed = blake3::hash(&[seed.to_le_bytes(), row.to_le_bytes()].concat());
        let [one, two, ..] = *mixed.as_bytes();
        f64::from(u16::from_le_bytes([one, two])) / f64::from(u16::MAX)
    }

    /// A file with these cells, in another order of rows for each seed.
    fn file(header: &str, seed: u32, cells: impl Fn(u32) -> String) -> String {
        let mut rows: Vec<u32> = (0..ROWS).collect();
        rows.sort_by(|one, two| noise(seed, *one).total_cmp(&noise(seed, *two)));
        let lines: String = rows.into_iter().map(|row| format!("{row},{}\n", cells(row))).collect();
        format!("{header}\n{lines}")
    }

    fn compared(metric: Option<Metric>, first: &str, second: &str) -> Result<Refit, String> {
        let header: Vec<String> = first.lines().next().unwrap().split(',').map(str::to_owned).collect();
        let layout = Layout { header: &header, id_column: Some("id") };
        compare(metric, first.as_bytes(), second.as_bytes(), &layout).map_err(|why| why.to_string())
    }

    /// What a fit predicts: a signal around 30 with a standard deviation of 3, and its own noise.
    fn number(seed: u32, row: u32) -> f64 {
        30.0 + 10.0 * noise(0, row) + 2.0 * noise(seed, row)
    }

    #[test]
    fn numbers_jump_if_their_order_level_or_scale_does() {
        let check = |metric, second: &dyn Fn(u32) -> f64, expected: bool| {
            let first = file("id,y", 7, |row| number(1, row).to_string());
            let refit = compared(metric, &first, &file("id,y", 8, |row| second(row).to_string())).unwrap();
            assert_eq!((refit.is_jump, refit.rows), (expected, u64::from(ROWS)), "{refit:?}");
        };
        let metric = Some(Metric::Rmse);
        check(metric, &|row| number(2, row), false);
        check(metric, &|row| number(1, row), false);
        check(metric, &|row| 1.12 * number(2, row), true);
        check(metric, &|row| 0.88 * number(2, row), true);
        check(metric, &|row| number(2, row) + 3.6, true);
        check(metric, &|row| 36.0 + 1.2 * (number(2, row) - 36.0), true);
        check(metric, &|row| number(2, (row + 1) % ROWS), true);
        check(metric, &|row| 72.0 - number(2, row), true);
        check(metric, &|_| 36.0, true);
        // Only the order counts.
        check(Some(Metric::Spearman), &|row| 1.5 * number(2, row), false);
        check(Some(Metric::Spearman), &|row| -number(2, row), true);
    }

    #[test]
    fn labels_jump_if_they_agree_by_chance_alone() {
        let label =
            |seed: u32, row: u32| if noise(0, row) + 0.2 * noise(seed, row) > 0.6 { "yes" } else { "no" };
        let check = |second: &dyn Fn(u32) -> &'static str, expected: bool| {
            let first = file("id,y", 7, |row| label(1, row).to_owned());
            let second = file("id,y", 8, |row| second(row).to_owned());
            let refit = compared(Some(Metric::Accuracy), &first, &second).unwrap();
            assert_eq!(refit.is_jump, expected, "{refit:?}");
        };
        check(&|row| label(2, row), false);
        check(&|row| label(2, (row + 1) % ROWS), true);
        check(&|row| if label(2, row) == "yes" { "no" } else { "yes" }, true);
        check(&|_| "no", true);
    }

    #[test]
    fn what_cannot_be_compared_says_why() {
        let check = |metric, first: &str, second: &str, expected: &str| {
            let why = compared(Some(metric), first, second).unwrap_err();
            assert!(why.contains(expected), "{expected}: {why}");
        };
        check(Metric::Rmse, "id,y\n1,2\n", "id,y\n1,x\n", "`x` is not a finite number");
        check(Metric::Rmse, "id,y\n1,2\n", "id,y\n2,2\n", "other rows");
        check(Metric::Rmse, "id,y\n1,2\n2,3\n", "id,y\n1,2\n", "not as many");
        check(Metric::Rmse, "id,y\n1,2\n", "id,z\n1,2\n", "y");
        check(Metric::MapAt(3), "id,y\n1,a b\n", "id,y\n1,a b\n", "several labels");
    }
}
