//! Areas under curves: ROC-AUC and average precision.

use crate::formulas::Classes;
use crate::formulas::Formula;
use crate::formulas::ranking::Ranking;
use crate::names::Metric;

/// The mean area under the curves of some classes, each against the rest.
pub(crate) struct Curves {
    curves: Vec<Curve>,
    is_roc: bool,
}

struct Curve {
    ranking: Ranking,
    /// Whether the rows, in the order of the ranking, belong to the class.
    is_positive: Vec<bool>,
}

impl Curves {
    /// The curve of the positive class, else those of all classes.
    pub(crate) fn new(metric: Metric, classes: Classes<'_>, values: &[f64]) -> Self {
        let curve =
            |class: u32| Curve::new(classes, class, |row| values[row * classes.count + class as usize]);
        let curves = match classes.positive {
            Some(class) => vec![curve(class)],
            None => (0..classes.count as u32).map(curve).collect(),
        };
        Self { curves, is_roc: metric == Metric::RocAuc }
    }

    /// The curve of the positive class by its score.
    pub(crate) fn of_positive(metric: Metric, classes: Classes<'_>, score: impl Fn(usize) -> f64) -> Self {
        let curve = Curve::new(classes, classes.positive.unwrap_or_default(), score);
        Self { curves: vec![curve], is_roc: metric == Metric::RocAuc }
    }
}

impl Curve {
    fn new(classes: Classes<'_>, class: u32, score: impl Fn(usize) -> f64) -> Self {
        let ranking = Ranking::descending(classes.rows.len(), score);
        let is_positive = ranking.rows().map(|row| classes.rows[row] == class).collect();
        Self { ranking, is_positive }
    }

    /// The area under the ROC curve; `None` if all weight is on one side.
    fn roc(&self, weights: &[f64]) -> Option<f64> {
        let mut area = 0.0;
        let (positive, negative) = self.groups(weights, |above, group| {
            area += group.1 * (above.0 + group.0 / 2.0);
        });
        (positive > 0.0 && negative > 0.0).then(|| area / (positive * negative))
    }

    /// The sum of precisions, each weighted by the recall that it adds; `None` without positive rows.
    fn average_precision(&self, weights: &[f64]) -> Option<f64> {
        let mut area = 0.0;
        let (positive, _) = self.groups(weights, |above, group| {
            if group.0 > 0.0 {
                let found = above.0 + group.0;
                area += group.0 * found / (found + above.1 + group.1);
            }
        });
        (positive > 0.0).then(|| area / positive)
    }

    /// Visits each group of equal scores, and returns the weights of all positive and negative rows. The visitor gets
    /// these weights above the group and in it.
    fn groups(&self, weights: &[f64], mut visit: impl FnMut((f64, f64), (f64, f64))) -> (f64, f64) {
        let (mut above, mut group) = ((0.0, 0.0), (0.0, 0.0));
        for ((row, is_end), is_positive) in self.ranking.rows_and_ends().zip(&self.is_positive) {
            let share = if *is_positive { weights[row] } else { 0.0 };
            group = (group.0 + share, group.1 + (weights[row] - share));
            if is_end {
                visit(above, group);
                above = (above.0 + group.0, above.1 + group.1);
                group = (0.0, 0.0);
            }
        }
        above
    }
}

impl Formula for Curves {
    fn score(&self, weights: &[f64]) -> Result<f64, &'static str> {
        let area = |curve: &Curve| {
            if self.is_roc { curve.roc(weights) } else { curve.average_precision(weights) }
        };
        let areas: Vec<f64> = self.curves.iter().filter_map(area).collect();
        match areas.len() {
            0 if self.is_roc => Err("all rows are of one class"),
            0 => Err("no row is of the positive class"),
            count => Ok(areas.iter().sum::<f64>() / count as f64),
        }
    }
}
