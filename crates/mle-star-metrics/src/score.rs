//! The score of predictions on a metric.

use std::borrow::Cow;
use std::collections::BTreeMap;

pub use crate::formulas::Unscorable;
pub use crate::formulas::guesses::NO_GUESS;
use crate::formulas::{Classes, Formula, averages, counts, curves, guesses, relations, sets};
use crate::names::{Kind, Metric};

/// What is known about each row.
#[derive(Clone, Copy, Debug)]
pub enum Truth<'a> {
    /// A number for each row.
    Numbers(&'a [f64]),
    /// A class for each row. For a metric of sets, it is a set of labels.
    Classes {
        /// The position of each row's class in `names`.
        rows: &'a [u32],
        /// The names of the classes, in order. The name of a set has its labels, with `|`, `;`, commas or blanks
        /// between them: the first of these that is in any name.
        names: &'a [String],
        /// The class that a binary metric is about; `None` for the mean over all classes.
        positive: Option<u32>,
    },
}

/// What is predicted for each row.
#[derive(Clone, Copy, Debug)]
pub enum Predictions<'a> {
    /// A number for each row. With classes, the probability or the score of the positive class.
    Numbers(&'a [f64]),
    /// The position of each row's class in the names of the truth.
    Labels(&'a [u32]),
    /// The probability of each class, row after row. A metric of labels compares the most probable class.
    Probabilities {
        /// The probabilities: as many for each row as there are classes.
        values: &'a [f64],
        /// The number of classes.
        classes: usize,
    },
    /// Guesses of each row's class, the best first, row after row.
    Guesses {
        /// Positions in the names of the truth, or [`NO_GUESS`].
        values: &'a [u32],
        /// The number of values of a row.
        width: usize,
    },
    /// The lower and the upper bound of each row, row after row.
    Intervals(&'a [f64]),
}

/// The score of predictions, equal to that of scikit-learn and scipy, with these deviations:
///
/// - A row of weight two counts like two equal rows, and one of weight zero like none, for every metric. So a class
///   without weight is no class.
/// - The macro averages of ROC-AUC and average precision are over the classes that have rows.
/// - Rows of probabilities are divided by their sum where it is not 1, since log loss could be cheated otherwise.
/// - Kappa is about the positions of all named classes, whether or not rows have them.
/// - F1 of two empty sets is 1.
/// - Of equal probabilities, the first class counts as guessed first; top-K accuracy of scikit-learn takes the last.
/// - Average precision without a positive row is undefined, not 0.
/// - Probabilities of a row that are all zero are an error.
///
/// # Errors
/// The predictions do not fit the metric or the truth, or the metric is undefined for them.
pub fn score(
    metric: Metric,
    truth: &Truth<'_>,
    predictions: &Predictions<'_>,
    weights: Option<&[f64]>,
) -> Result<f64, Unscorable> {
    let formula = prepare(metric, truth, predictions)?;
    let rows = truth.len();
    let weights = weights.map_or_else(|| Cow::Owned(vec![1.0; rows]), Cow::Borrowed);
    if weights.len() != rows {
        return Err(Unscorable::new(format!("there are {} weights for {rows} rows", weights.len())));
    }
    if weights.iter().any(|weight| !weight.is_finite() || *weight < 0.0) {
        return Err(Unscorable::new("a weight is negative or not finite"));
    }
    score_with(metric, &*formula, &weights)
}

/// The mean of the scores of folds; without folds, the score of all rows. Folds in which the metric is undefined do not count,
/// unless it is in all.
///
/// # Errors
/// As [`score`].
pub(crate) fn score_in_folds(
    metric: Metric,
    truth: &Truth<'_>,
    predictions: &Predictions<'_>,
    weights: Option<&[f64]>,
    folds: Option<&[u32]>,
) -> Result<f64, Unscorable> {
    if folds.is_none() {
        return score(metric, truth, predictions, weights);
    }
    let formula = prepare(metric, truth, predictions)?;
    let weights = weights.map_or_else(|| Cow::Owned(vec![1.0; truth.len()]), Cow::Borrowed);
    Parts::defined(metric, &*formula, &weights, folds).score(metric, &*formula, &weights)
}

/// The parts of the rows whose scores are averaged.
pub(crate) struct Parts {
    /// The places of the rows of each part; none for the score of all rows.
    places: Vec<Vec<usize>>,
}

impl Parts {
    /// The folds that have a score with these weights.
    pub(crate) fn defined(
        metric: Metric,
        formula: &dyn Formula,
        weights: &[f64],
        folds: Option<&[u32]>,
    ) -> Self {
        let mut places: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (place, fold) in folds.unwrap_or_default().iter().enumerate() {
            places.entry(*fold).or_default().push(place);
        }
        let mut places: Vec<Vec<usize>> = places.into_values().collect();
        places.retain(|part| score_with(metric, formula, &only(part, weights)).is_ok());
        Self { places }
    }

    /// The mean of the scores of all parts, each of which has to have one.
    pub(crate) fn score(
        &self,
        metric: Metric,
        formula: &dyn Formula,
        weights: &[f64],
    ) -> Result<f64, Unscorable> {
        if self.places.is_empty() {
            return score_with(metric, formula, weights);
        }
        let scores = self.places.iter().map(|part| score_with(metric, formula, &only(part, weights)));
        Ok(scores.sum::<Result<f64, Unscorable>>()? / self.places.len() as f64)
    }
}

/// The weights with zeros for all rows but those at these places.
fn only(places: &[usize], weights: &[f64]) -> Vec<f64> {
    let mut kept = vec![0.0; weights.len()];
    places.iter().for_each(|place| kept[*place] = weights[*place]);
    kept
}

/// The score with these weights, or why it is undefined.
pub(crate) fn score_with(metric: Metric, formula: &dyn Formula, weights: &[f64]) -> Result<f64, Unscorable> {
    let score =
        formula.score(weights).map_err(|why| Unscorable::new(format!("{metric} is undefined: {why}")))?;
    if !score.is_finite() {
        return Err(Unscorable::new(format!("{metric} is not finite, since a prediction is far too large")));
    }
    Ok(score)
}

impl Truth<'_> {
    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Numbers(numbers) => numbers.len(),
            Self::Classes { rows, .. } => rows.len(),
        }
    }
}

/// Everything that does not depend on weights, so that many weights cost little.
///
/// # Errors
/// The predictions do not fit the metric or the truth.
pub(crate) fn prepare(
    metric: Metric,
    truth: &Truth<'_>,
    predictions: &Predictions<'_>,
) -> Result<Box<dyn Formula>, Unscorable> {
    if truth.len() == 0 {
        return Err(Unscorable::new("there are no rows"));
    }
    check_predictions(truth.len(), predictions)?;
    let metric = if metric == Metric::ColumnLogLoss { metric } else { metric.of_column() };
    match (metric.kind(), truth) {
        (Kind::Numbers | Kind::Order, Truth::Numbers(truth)) => {
            let Predictions::Numbers(predicted) = predictions else {
                return Err(Unscorable::new(format!("{metric} needs numbers as predictions")));
            };
            check_finite("the labels", truth)?;
            check_numbers(metric, truth, predicted)?;
            Ok(for_numbers(metric, truth, predicted))
        }
        (Kind::Intervals, Truth::Numbers(truth)) => for_intervals(metric, truth, predictions),
        (Kind::Labels, Truth::Classes { rows, names, positive }) => {
            let classes = classes(rows, names, *positive)?;
            let labels = labels(metric, classes, predictions)?;
            Ok(match metric {
                Metric::Accuracy | Metric::MicroF1 => Box::new(averages::accuracy(rows, &labels)),
                _ => Box::new(counts::Counts::new(metric, classes, &labels)),
            })
        }
        (Kind::Probabilities, Truth::Classes { rows, names, positive }) => {
            for_probabilities(metric, classes(rows, names, *positive)?, predictions)
        }
        (Kind::Guesses, Truth::Classes { rows, names, positive }) => {
            for_guesses(metric, classes(rows, names, *positive)?, predictions)
        }
        (Kind::Sets, Truth::Classes { rows, names, positive }) => {
            let labels = labels(metric, classes(rows, names, *positive)?, predictions)?;
            let sets = sets::Sets::new(metric, names, rows, &labels);
            Ok(if metric == Metric::SampleF1 { Box::new(sets.by_row()) } else { Box::new(sets) })
        }
        (Kind::Numbers | Kind::Order | Kind::Intervals, Truth::Classes { .. }) => {
            Err(Unscorable::new(format!("{metric} needs numbers as truth, not classes")))
        }
        (_, Truth::Numbers(_)) => {
            Err(Unscorable::new(format!("{metric} needs classes as truth, not numbers")))
        }
    }
}

fn for_numbers(metric: Metric, truth: &[f64], predicted: &[f64]) -> Box<dyn Formula> {
    match metric {
        Metric::R2 => Box::new(relations::R2::new(truth, predicted)),
        Metric::Pearson => Box::new(relations::Pearson::new(truth, predicted)),
        Metric::Spearman => Box::new(relations::Spearman::new(truth, predicted)),
        Metric::MedianAbsoluteError => Box::new(averages::Median::new(truth, predicted)),
        Metric::Gini => Box::new(relations::Gini::new(truth, predicted)),
        Metric::Pinball(quantile) => Box::new(averages::pinball(quantile, truth, predicted)),
        _ => Box::new(averages::error(metric, truth, predicted)),
    }
}

fn for_intervals(
    metric: Metric,
    truth: &[f64],
    predictions: &Predictions<'_>,
) -> Result<Box<dyn Formula>, Unscorable> {
    let (Metric::IntervalScore(covered), Predictions::Intervals(bounds)) = (metric, predictions) else {
        return Err(Unscorable::new(format!("{metric} needs a lower and an upper bound of each row")));
    };
    check_finite("the labels", truth)?;
    Ok(Box::new(averages::interval_score(covered, truth, bounds)))
}

fn for_guesses(
    metric: Metric,
    classes: Classes<'_>,
    predictions: &Predictions<'_>,
) -> Result<Box<dyn Formula>, Unscorable> {
    let most = usize::from(metric.guesses());
    let (values, width): (Cow<'_, [u32]>, usize) = match *predictions {
        Predictions::Guesses { values, width } => (Cow::Borrowed(values), width),
        Predictions::Labels(labels) => (Cow::Borrowed(labels), 1),
        Predictions::Probabilities { values, classes: width } if width == classes.count => {
            let (values, width) = guesses::most_probable(values, width, most);
            (Cow::Owned(values), width)
        }
        _ => return Err(Unscorable::new(format!("{metric} needs guesses, or a probability of each class"))),
    };
    if values.iter().any(|class| *class != NO_GUESS && *class as usize >= classes.count) {
        return Err(Unscorable::new("a predicted class has no name"));
    }
    Ok(Box::new(guesses::gain(metric, classes.rows, &values, width)))
}

fn for_probabilities(
    metric: Metric,
    classes: Classes<'_>,
    predictions: &Predictions<'_>,
) -> Result<Box<dyn Formula>, Unscorable> {
    let by_order = metric.is_by_order();
    if let (false, Predictions::Numbers(values) | Predictions::Probabilities { values, .. }) =
        (by_order, predictions)
    {
        check_probabilities(metric, values)?;
    }
    match *predictions {
        Predictions::Labels(_) | Predictions::Guesses { .. } | Predictions::Intervals(_) => {
            Err(Unscorable::new(format!("{metric} needs probabilities, not labels")))
        }
        Predictions::Numbers(_) if classes.positive.is_none() || classes.count != 2 => Err(Unscorable::new(
            format!("{metric} of {} classes needs a probability for each of them", classes.count),
        )),
        Predictions::Numbers(scores) if by_order => {
            Ok(Box::new(curves::Curves::of_positive(metric, classes, |row| scores[row])))
        }
        Predictions::Numbers(probabilities) => {
            let is_second = classes.positive == Some(1);
            let pair = |p: &f64| if is_second { [1.0 - p, *p] } else { [*p, 1.0 - p] };
            let both: Vec<f64> = probabilities.iter().flat_map(pair).collect();
            Ok(Box::new(averages::loss(metric, classes, &both)?))
        }
        Predictions::Probabilities { classes: width, .. } if width != classes.count => Err(Unscorable::new(
            format!("there are probabilities of {width} classes, but {} classes", classes.count),
        )),
        Predictions::Probabilities { values, .. } if by_order => {
            Ok(Box::new(curves::Curves::new(metric, classes, values)))
        }
        Predictions::Probabilities { values, .. } if metric == Metric::ColumnLogLoss => {
            Ok(Box::new(averages::column_loss(classes, values)))
        }
        Predictions::Probabilities { values, .. } => Ok(Box::new(averages::loss(metric, classes, values)?)),
    }
}

fn classes<'a>(rows: &'a [u32], names: &[String], positive: Option<u32>) -> Result<Classes<'a>, Unscorable> {
    let count = names.len();
    if rows.iter().chain(&positive).any(|class| *class as usize >= count) {
        return Err(Unscorable::new("the truth has a class without a name"));
    }
    Ok(Classes { rows, count, positive })
}

/// The predicted labels; of probabilities, the most probable class, and the first of equals.
fn labels<'a>(
    metric: Metric,
    truth: Classes<'_>,
    predictions: &Predictions<'a>,
) -> Result<Cow<'a, [u32]>, Unscorable> {
    let labels: Cow<'a, [u32]> = match *predictions {
        Predictions::Numbers(_) | Predictions::Guesses { .. } | Predictions::Intervals(_) => {
            return Err(Unscorable::new(format!("{metric} needs labels, not numbers")));
        }
        Predictions::Labels(labels) => Cow::Borrowed(labels),
        Predictions::Probabilities { values, classes } => {
            values.chunks_exact(classes).map(most_probable).collect::<Vec<_>>().into()
        }
    };
    if labels.iter().any(|class| *class as usize >= truth.count) {
        return Err(Unscorable::new("a predicted class has no name"));
    }
    Ok(labels)
}

fn most_probable(row: &[f64]) -> u32 {
    let mut best = 0;
    for (class, probability) in row.iter().enumerate() {
        if *probability > row[best] {
            best = class;
        }
    }
    best as u32
}

fn check_predictions(rows: usize, predictions: &Predictions<'_>) -> Result<(), Unscorable> {
    let found = match predictions {
        Predictions::Numbers(numbers) => numbers.len(),
        Predictions::Labels(labels) => labels.len(),
        Predictions::Probabilities { values, classes } if *classes > 0 && values.len() % classes == 0 => {
            values.len() / classes
        }
        Predictions::Guesses { values, width } if *width > 0 && values.len() % width == 0 => {
            values.len() / width
        }
        Predictions::Intervals(bounds) if bounds.len() % 2 == 0 => bounds.len() / 2,
        Predictions::Probabilities { .. } | Predictions::Guesses { .. } | Predictions::Intervals(_) => 0,
    };
    if found != rows {
        return Err(Unscorable::new(format!(
            "there are predictions for {found} rows, but {rows} rows have a label"
        )));
    }
    match predictions {
        Predictions::Numbers(values)
        | Predictions::Probabilities { values, .. }
        | Predictions::Intervals(values) => check_finite("the predictions", values),
        Predictions::Labels(_) | Predictions::Guesses { .. } => Ok(()),
    }
}

fn check_finite(whose: &str, values: &[f64]) -> Result<(), Unscorable> {
    if values.iter().all(|value| value.is_finite()) {
        return Ok(());
    }
    Err(Unscorable::new(format!("{whose} have a number that is not finite")))
}

fn check_probabilities(metric: Metric, values: &[f64]) -> Result<(), Unscorable> {
    match values.iter().find(|value| !(0.0..=1.0).contains(*value)) {
        Some(value) => {
            Err(Unscorable::new(format!("{metric} needs probabilities from 0 to 1, and one is {value}")))
        }
        None => Ok(()),
    }
}

fn check_numbers(metric: Metric, truth: &[f64], predicted: &[f64]) -> Result<(), Unscorable> {
    let Some(lowest) = truth.iter().chain(predicted).copied().min_by(f64::total_cmp) else { return Ok(()) };
    if metric == Metric::Rmsle && lowest <= -1.0 {
        return Err(Unscorable::new(format!(
            "RMSLE is undefined for values of -1 or less, and one is {lowest}"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_named() {
        let names = ["0", "1"].map(str::to_owned);
        let classes = Truth::Classes { rows: &[0, 1], names: &names, positive: Some(1) };
        let numbers = Truth::Numbers(&[1.0, 2.0]);
        let check = |metric, truth: &Truth<'_>, predictions: Predictions<'_>, expected: &str| {
            assert_eq!(score(metric, truth, &predictions, None).unwrap_err().to_string(), expected);
        };
        let fine = Predictions::Numbers(&[0.5, 0.5]);
        check(Metric::Accuracy, &classes, fine, "accuracy needs labels, not numbers");
        check(Metric::Rmse, &classes, fine, "RMSE needs numbers as truth, not classes");
        let infinite = "the predictions have a number that is not finite";
        check(Metric::Rmse, &numbers, Predictions::Numbers(&[1.0, f64::NAN]), infinite);
        let logarithm = "RMSLE is undefined for values of -1 or less, and one is -3";
        check(Metric::Rmsle, &numbers, Predictions::Numbers(&[1.0, -3.0]), logarithm);
        let all = Predictions::Probabilities { values: &[0.2, 0.3, 0.5, 0.1, 0.1, 0.8], classes: 3 };
        check(Metric::LogLoss, &classes, all, "there are probabilities of 3 classes, but 2 classes");
    }
}
