//! How the labels of groups of rows differ: how much of their variance the groups explain, and the mean of each with its error.

use super::words;

/// Labels of rows as numbers: one list for a number or for two classes, one for each of several classes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Outcomes {
    /// For each number or class that is told, its value for each row. A class is 1 in its rows, 0 elsewhere.
    pub(super) values: Vec<Vec<f64>>,
    /// What decides how strong an effect is: the ranks of numbers, and the classes as they are.
    judged: Vec<Vec<f64>>,
    /// The names of the classes; none for numbers.
    pub(super) classes: Vec<String>,
}

/// What groups of rows explain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Strength {
    /// The share of the variance that the groups explain beyond chance, from 0 to 1.
    pub(super) share: f64,
    /// How far this is above what chance explains, in standard errors.
    pub(super) beyond: f64,
    /// The list of values whose groups differ most.
    pub(super) most: usize,
}

/// The mean of some rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mean {
    pub(super) mean: f64,
    /// Its standard error, as if rows were independent; not finite for a single row.
    pub(super) error: f64,
    pub(super) rows: usize,
}

/// The sum of the squared differences of groups' means from the whole mean, and that of all values.
struct Sums {
    between: f64,
    all: f64,
}

impl Outcomes {
    /// Numbers.
    pub(super) fn of_numbers(numbers: Vec<f64>) -> Self {
        Self { judged: vec![ranks(&numbers)], values: vec![numbers], classes: Vec::new() }
    }

    /// Classes by their numbers in `names`. Of two, the one at `told` counts.
    pub(super) fn of_classes(rows: &[usize], names: &[String], told: Option<usize>) -> Self {
        let indicator = |class: usize| rows.iter().map(|row| f64::from(u8::from(*row == class))).collect();
        let counted: Vec<usize> = told.map_or_else(|| (0..names.len()).collect(), |class| vec![class]);
        let values: Vec<Vec<f64>> = counted.iter().map(|class| indicator(*class)).collect();
        let classes = counted.iter().filter_map(|class| names.get(*class).cloned()).collect();
        Self { judged: values.clone(), values, classes }
    }

    /// What groups explain; `groups` are their numbers, from 0, for each row. `None` for fewer than two groups, or if all
    /// values are equal.
    pub(super) fn explained(&self, groups: &[usize]) -> Option<Strength> {
        let count = groups.iter().max()? + 1;
        let rows = groups.len() as f64;
        let each: Vec<Sums> = self.judged.iter().map(|values| Sums::of(values, groups, count)).collect();
        let (between, all) =
            each.iter().fold((0.0, 0.0), |(between, all), one| (between + one.between, all + one.all));
        let free = (count - 1) as f64;
        if count < 2 || all <= 0.0 || rows <= free + 1.0 {
            return None;
        }
        let by_chance = free / (rows - 1.0);
        let share = ((between / all - by_chance) / (1.0 - by_chance)).max(0.0);
        // Kruskal and Wallis's H, and Light and Margolin's C for several classes.
        let lists = self.judged.len();
        let kinds = if lists > 1 { (lists - 1) as f64 } else { 1.0 };
        let beyond = normal((rows - 1.0) * kinds * between / all, free * kinds);
        // Of equal ones, the first.
        let most = (0..each.len()).rev().max_by(|a, b| each[*a].share().total_cmp(&each[*b].share()))?;
        Some(Strength { share, beyond, most })
    }

    /// The mean of a list of values in each group.
    pub(super) fn means(&self, list: usize, groups: &[usize]) -> Vec<Mean> {
        let count = groups.iter().max().map_or(0, |last| last + 1);
        let mut sums = vec![(0_usize, 0.0_f64, 0.0_f64); count];
        let values = &self.values[list];
        let shift = values.iter().sum::<f64>() / values.len().max(1) as f64;
        for (value, group) in values.iter().zip(groups) {
            let (rows, sum, squares) = &mut sums[*group];
            let value = value - shift;
            (*rows, *sum, *squares) = (*rows + 1, *sum + value, *squares + value * value);
        }
        let is_share = !self.classes.is_empty();
        sums.into_iter().map(|sums| Mean::of(sums, shift, is_share)).collect()
    }

    /// How far the ranks, or the share of a class, of each group are from those of all rows, in standard errors.
    pub(super) fn distances(&self, list: usize, groups: &[usize]) -> Vec<f64> {
        let values = &self.judged[list];
        let count = groups.iter().max().map_or(0, |last| last + 1);
        let rows = values.len().max(1) as f64;
        let mean = values.iter().sum::<f64>() / rows;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / rows;
        let mut sums = vec![(0.0_f64, 0.0_f64); count];
        for (value, group) in values.iter().zip(groups) {
            let (of_group, sum) = &mut sums[*group];
            (*of_group, *sum) = (*of_group + 1.0, *sum + value - mean);
        }
        let distance = |(of_group, sum): (f64, f64)| sum / (of_group * variance).sqrt();
        sums.into_iter().map(distance).map(|far| if far.is_finite() { far } else { 0.0 }).collect()
    }
}

impl Sums {
    fn of(values: &[f64], groups: &[usize], count: usize) -> Self {
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        let mut sums = vec![(0.0_f64, 0.0_f64); count];
        let mut all = 0.0;
        for (value, group) in values.iter().zip(groups) {
            let (rows, sum) = &mut sums[*group];
            (*rows, *sum) = (*rows + 1.0, *sum + value - mean);
            all += (value - mean).powi(2);
        }
        let between = sums.iter().filter(|(rows, _)| *rows > 0.0).map(|(rows, sum)| sum * sum / rows).sum();
        Self { between, all }
    }

    fn share(&self) -> f64 {
        if self.all > 0.0 { self.between / self.all } else { 0.0 }
    }
}

impl Mean {
    /// The mean of values whose differences from `shift` have this number, sum and sum of squares.
    fn of((rows, sum, squares): (usize, f64, f64), shift: f64, is_share: bool) -> Self {
        let count = rows as f64;
        let mean = sum / count;
        let variance = (squares - sum * mean).max(0.0) / (count - 1.0);
        // A share of 0 or 1 in a few rows has an error, too: one more row of each kind (Agresti and Coull).
        let smooth = (mean.mul_add(count, shift * count) + 1.0) / (count + 2.0);
        let error =
            if is_share { (smooth * (1.0 - smooth) / count).sqrt() } else { (variance / count).sqrt() };
        Self { mean: mean + shift, error, rows }
    }

    /// The mean and its error, with as many digits as it has; shares in percent.
    pub(super) fn words(self, is_share: bool) -> String {
        let (scale, unit) = if is_share { (100.0, "%") } else { (1.0, "") };
        let (mean, error) = (self.mean * scale, self.error * scale);
        if !error.is_finite() || error <= 0.0 {
            return format!("{}{unit}", words::number(mean));
        }
        let decimals = decimals(error);
        // Without the sign of what is rounded to 0.
        let mean = format!("{mean:.decimals$}");
        let is_zero = mean.starts_with('-') && mean.trim_start_matches(['-', '0', '.']).is_empty();
        format!("{}{unit} ±{error:.decimals$}", if is_zero { &mean[1..] } else { &mean })
    }
}

/// The decimals of a number with this error: two digits of the error, one from 3 on.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 8")]
pub(super) fn decimals(error: f64) -> usize {
    let size = error.log10().floor();
    let first = error / 10_f64.powf(size);
    let digits = if first < 2.95 { 1.0 } else { 0.0 };
    (digits - size).clamp(0.0, 8.0) as usize
}

/// The distance of a value from what is expected of a chi-squared distribution, in standard errors of a normal one (Wilson
/// and Hilferty).
fn normal(value: f64, free: f64) -> f64 {
    let spread = 2.0 / (9.0 * free);
    ((value / free).cbrt() - (1.0 - spread)) / spread.sqrt()
}

/// The ranks of numbers; equal ones share the mean of theirs.
fn ranks(numbers: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by(|a, b| numbers[*a].total_cmp(&numbers[*b]));
    let mut ranks = vec![0.0; numbers.len()];
    let mut start = 0;
    while start < order.len() {
        let value = numbers[order[start]];
        let end =
            start + order[start..].iter().take_while(|at| numbers[**at].total_cmp(&value).is_eq()).count();
        let rank = (start + end - 1) as f64 / 2.0;
        order[start..end].iter().for_each(|at| ranks[*at] = rank);
        start = end;
    }
    ranks
}
