//! The Python code of each known metric, and the predictions that it needs.

use std::borrow::Cow;

use mle_star_domain::task::Task;
use serde::Serialize;

use mle_star_tables::metrics::{Kind, Level, Metric as Known};

/// A metric as the templates need it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Metric {
    /// The metric.
    #[serde(skip)]
    pub(crate) id: Known,
    /// A description, used as the docstring of the metric function.
    pub(crate) words: Cow<'static, str>,
    /// The import line of the metric function.
    pub(crate) import: &'static str,
    /// The Python expression over `truth` and `predicted`.
    pub(crate) expression: Cow<'static, str>,
    /// Whether it compares class labels, not probabilities.
    pub(crate) labels: bool,
    /// Whether it uses the order of classes.
    pub(crate) ordinal: bool,
    /// Whether it uses absolute errors, so that models should predict medians.
    pub(crate) absolute: bool,
    /// The quantile that models should predict, if it is about one.
    pub(crate) quantile: Option<f64>,
    /// The quantiles that are the lower and the upper bound, if it is about both.
    pub(crate) bounds: Option<[f64; 2]>,
    /// How many guesses of a row count, if it is about several.
    pub(crate) guesses: Option<u8>,
    /// Whether it is undefined where all labels are equal.
    pub(crate) needs_differences: bool,
    /// Whether negative predictions are invalid.
    pub(crate) positive: bool,
}

impl Metric {
    /// The metric as templates need it, for a target with so many classes, or 0 for numbers.
    pub(crate) fn new(id: Known, classes: usize) -> Self {
        let Code { words, import, expression } = python(id, classes);
        Self {
            id,
            words,
            import,
            expression,
            labels: id.kind() == Kind::Labels,
            ordinal: id == Known::QuadraticKappa,
            absolute: matches!(id, Known::Mae | Known::MedianAbsoluteError | Known::Mape | Known::Smape)
                || id.kind() == Kind::Intervals,
            quantile: match id {
                Known::Pinball(quantile) => Some(quantile.share()),
                _ => None,
            },
            bounds: match id {
                Known::IntervalScore(covered) => {
                    let outside = covered.rest().share() / 2.0;
                    Some([outside, 1.0 - outside])
                }
                _ => None,
            },
            guesses: match id {
                Known::MapAt(guesses) | Known::TopAccuracy(guesses) => Some(guesses),
                _ => None,
            },
            needs_differences: id.is_by_order() || matches!(id, Known::R2 | Known::Pearson),
            positive: id == Known::Rmsle,
        }
    }

    /// The metric of a task with this number of classes. Rows count by their weights, if they have some.
    pub(crate) fn of(task: &Task, id: Known, classes: usize) -> Self {
        let metric = Self::new(id, classes);
        if task.weight_column.is_none() {
            return metric;
        }
        let (import, expression) = weighted(metric.import, &metric.expression);
        Self { import, expression, ..metric }
    }
}

/// Functions for metrics of pairs of rows, in which rows count by their weights.
const BY_WEIGHT: &str = "import numpy as np


def shared(one, other, weight):
    \"\"\"The weighted covariance.\"\"\"
    return np.cov(one, other, aweights=weight)[0, 1]


def ranks(values, weight):
    \"\"\"The rank of each value, if it were repeated as often as its weight says.\"\"\"
    codes = np.unique(values, return_inverse=True)[1]
    tied = np.bincount(codes, weights=weight)
    return (np.cumsum(tied) - tied / 2)[codes]


def correlation(one, other, weight):
    \"\"\"The weighted linear correlation.\"\"\"
    return shared(one, other, weight) / np.sqrt(shared(one, one, weight) * shared(other, other, weight))";

/// The import line and the expression of a metric in which rows count by their weights.
fn weighted(import: &'static str, expression: &str) -> (&'static str, Cow<'static, str>) {
    match import.rsplit(' ').next().unwrap_or_default() {
        "pearsonr" => (BY_WEIGHT, "correlation(truth, predicted, weight)".into()),
        "spearmanr" => {
            (BY_WEIGHT, "correlation(ranks(truth, weight), ranks(predicted, weight), weight)".into())
        }
        "rankdata" => (
            BY_WEIGHT,
            "shared(truth, ranks(predicted, weight), weight) / shared(truth, ranks(truth, weight), weight)"
                .into(),
        ),
        // The mean is that over rows.
        "np" => {
            let called = expression.replacen("np.mean(", "np.average(", 1);
            (import, with_argument(&called, "np.average", ", weights=weight").into())
        }
        function => (import, with_argument(expression, function, ", sample_weight=weight").into()),
    }
}

/// The expression with a further argument at the end of the first call of a function.
fn with_argument(expression: &str, function: &str, argument: &str) -> String {
    let Some(start) = expression.find(&format!("{function}(")) else { return expression.to_owned() };
    let (mut depth, start) = (0_usize, start + function.len());
    for (at, letter) in expression[start..].char_indices() {
        match letter {
            '(' => depth += 1,
            ')' if depth == 1 => {
                let (call, rest) = expression.split_at(start + at);
                return format!("{call}{argument}{rest}");
            }
            ')' => depth -= 1,
            _ => {}
        }
    }
    expression.to_owned()
}

/// The words, the import line and the expression of a metric.
struct Code {
    words: Cow<'static, str>,
    import: &'static str,
    expression: Cow<'static, str>,
}

/// The code of a metric without parameters.
type Fixed = (&'static str, &'static str, &'static str);

fn python(id: Known, classes: usize) -> Code {
    let of_column = id.of_column();
    let (words, import, expression) = match (of_column, kind(id, classes)) {
        (Known::MapAt(_) | Known::TopAccuracy(_), _) => return python_for_guesses(id, classes),
        (Known::Pinball(quantile), _) => {
            return Code {
                words: format!("Pinball loss of the quantile {quantile}").into(),
                import: "from sklearn.metrics import mean_pinball_loss",
                expression: format!("mean_pinball_loss(truth, predicted, alpha={quantile})").into(),
            };
        }
        (Known::IntervalScore(covered), _) => return python_for_intervals(covered),
        _ if id == Known::ColumnLogLoss && classes > 2 => (
            "Logarithmic loss of each class against the rest, averaged",
            "from sklearn.metrics import log_loss",
            "np.mean([log_loss(truth == label, predicted[:, label], labels=[False, True]) for label in range(len(CLASSES))])",
        ),
        (known, kind) if classes == 2 => {
            python_for_two_classes(known).unwrap_or_else(|| python_by_kind(known, kind))
        }
        (known, kind) => python_by_kind(known, kind),
    };
    Code { words: words.into(), import, expression: expression.into() }
}

/// What a metric compares, for so many classes, or 0 for numbers.
fn kind(id: Known, classes: usize) -> Kind {
    match id.kind() {
        Kind::Order if classes == 0 => Kind::Numbers,
        Kind::Order => Kind::Probabilities,
        other => other,
    }
}

fn python_by_kind(id: Known, kind: Kind) -> Fixed {
    match kind {
        Kind::Labels | Kind::Sets => python_for_labels(id),
        Kind::Probabilities => python_for_probabilities(id),
        Kind::Numbers | Kind::Order | Kind::Guesses | Kind::Intervals => python_for_numbers(id),
    }
}

fn python_for_two_classes(id: Known) -> Option<Fixed> {
    Some(match id {
        Known::F1 => (
            "F1 of the second class (the larger label)",
            "from sklearn.metrics import f1_score",
            "f1_score(truth, predicted)",
        ),
        Known::RocAuc => (
            "Area under the ROC curve of the second class (the larger label)",
            "from sklearn.metrics import roc_auc_score",
            "roc_auc_score(truth, predicted[:, 1])",
        ),
        Known::Gini => (
            "Normalized Gini coefficient: twice the area under the ROC curve of the second class (the larger label), less one",
            "from sklearn.metrics import roc_auc_score",
            "2.0 * roc_auc_score(truth, predicted[:, 1]) - 1.0",
        ),
        Known::AveragePrecision => (
            "Average precision of the second class (the larger label)",
            "from sklearn.metrics import average_precision_score",
            "average_precision_score(truth, predicted[:, 1])",
        ),
        Known::Brier => (
            "Mean squared error of the second class's probability",
            "from sklearn.metrics import brier_score_loss",
            "brier_score_loss(truth, predicted[:, 1])",
        ),
        _ => return None,
    })
}

/// The class of each row is compared with its most probable classes.
fn python_for_guesses(id: Known, classes: usize) -> Code {
    let (guesses, is_map) = match id {
        Known::MapAt(guesses) => (usize::from(guesses), true),
        Known::TopAccuracy(guesses) => (usize::from(guesses), false),
        _ => (1, false),
    };
    let guesses = guesses.min(classes.max(1));
    let found = format!(
        "(np.argsort(-predicted, axis=1, kind=\"stable\")[:, :{guesses}] == np.asarray(truth)[:, None])"
    );
    let (words, expression) = if is_map {
        let gain = format!("np.mean({found} @ (1.0 / np.arange(1, {})))", guesses + 1);
        (format!("Mean of one divided by the place of the class among {guesses} guesses ({id})"), gain)
    } else {
        let share = format!("np.mean({found}.any(axis=1))");
        (format!("Share of rows whose class is among {guesses} guesses"), share)
    };
    Code { words: words.into(), import: "import numpy as np", expression: expression.into() }
}

fn python_for_intervals(covered: Level) -> Code {
    let penalty = 2.0 / covered.rest().share();
    let expression = format!(
        "np.mean(predicted[:, 1] - predicted[:, 0] + {penalty} * (np.maximum(predicted[:, 0] - truth, 0.0) + np.maximum(truth - predicted[:, 1], 0.0)))"
    );
    let words = format!(
        "Width of intervals for {} % of the values, and what values outside cost",
        100.0 * covered.share()
    );
    Code { words: words.into(), import: "import numpy as np", expression: expression.into() }
}

fn python_for_labels(id: Known) -> Fixed {
    const F1: &str = "from sklearn.metrics import f1_score";
    match id {
        Known::BalancedAccuracy => (
            "Mean recall over the classes",
            "from sklearn.metrics import balanced_accuracy_score",
            "balanced_accuracy_score(truth, predicted)",
        ),
        Known::QuadraticKappa => (
            "Cohen's kappa with quadratic weights, over the positions of all classes",
            "from sklearn.metrics import cohen_kappa_score",
            "cohen_kappa_score(truth, predicted, labels=np.arange(len(CLASSES)), weights=\"quadratic\")",
        ),
        Known::Mcc => (
            "Matthews correlation coefficient",
            "from sklearn.metrics import matthews_corrcoef",
            "matthews_corrcoef(truth, predicted)",
        ),
        Known::F1 | Known::MacroF1 => {
            ("Mean F1 over the classes", F1, "f1_score(truth, predicted, average=\"macro\")")
        }
        Known::MicroF1 => ("F1 over all decisions", F1, "f1_score(truth, predicted, average=\"micro\")"),
        Known::WeightedF1 => (
            "Mean F1 over the classes, weighted by their rows",
            F1,
            "f1_score(truth, predicted, average=\"weighted\")",
        ),
        _ => (
            "Share of rows whose class is right",
            "from sklearn.metrics import accuracy_score",
            "accuracy_score(truth, predicted)",
        ),
    }
}

fn python_for_probabilities(id: Known) -> Fixed {
    match id {
        Known::RocAuc => (
            "Area under the ROC curve, each class against the rest, averaged",
            "from sklearn.metrics import roc_auc_score",
            "np.mean([roc_auc_score(truth == label, predicted[:, label]) for label in np.unique(truth)])",
        ),
        Known::AveragePrecision => (
            "Average precision, each class against the rest, averaged",
            "from sklearn.metrics import average_precision_score",
            "np.mean([average_precision_score(truth == label, predicted[:, label]) for label in np.unique(truth)])",
        ),
        Known::Brier => (
            "Squared error of the class probabilities, summed over the classes",
            "from sklearn.metrics import brier_score_loss",
            "brier_score_loss(truth, predicted, labels=np.arange(len(CLASSES)))",
        ),
        _ => (
            "Logarithmic loss of the class probabilities",
            "from sklearn.metrics import log_loss",
            "log_loss(truth, predicted, labels=np.arange(len(CLASSES)))",
        ),
    }
}

fn python_for_numbers(id: Known) -> Fixed {
    match id {
        Known::Mse => (
            "Mean squared error",
            "from sklearn.metrics import mean_squared_error",
            "mean_squared_error(truth, predicted)",
        ),
        Known::Mae => (
            "Mean absolute error",
            "from sklearn.metrics import mean_absolute_error",
            "mean_absolute_error(truth, predicted)",
        ),
        Known::MedianAbsoluteError => (
            "Median absolute error",
            "from sklearn.metrics import median_absolute_error",
            "median_absolute_error(truth, predicted)",
        ),
        Known::Rmsle => (
            "Root of the mean squared logarithmic error",
            "from sklearn.metrics import root_mean_squared_log_error",
            "root_mean_squared_log_error(truth, predicted)",
        ),
        Known::R2 => (
            "Share of variance explained",
            "from sklearn.metrics import r2_score",
            "r2_score(truth, predicted)",
        ),
        Known::Gini => (
            "Normalized Gini coefficient: how the truth goes with the rank of the prediction, compared with its own rank",
            "from scipy.stats import rankdata",
            "np.cov(truth, rankdata(predicted))[0, 1] / np.cov(truth, rankdata(truth))[0, 1]",
        ),
        Known::Mape | Known::Smape => python_for_shares(id),
        Known::Spearman | Known::Pearson => python_for_correlations(id),
        _ => (
            "Root of the mean squared error",
            "from sklearn.metrics import root_mean_squared_error",
            "root_mean_squared_error(truth, predicted)",
        ),
    }
}

fn python_for_shares(id: Known) -> Fixed {
    if id == Known::Mape {
        return (
            "Mean absolute error as a share of the truth",
            "from sklearn.metrics import mean_absolute_percentage_error",
            "mean_absolute_percentage_error(truth, predicted)",
        );
    }
    (
        "Mean of 200 * |error| / (|truth| + |prediction|), in percent, where 0/0 counts as 0",
        "import numpy as np",
        "200.0 * np.mean(np.abs(predicted - truth) / np.maximum(np.abs(truth) + np.abs(predicted), 1e-300))",
    )
}

fn python_for_correlations(id: Known) -> Fixed {
    if id == Known::Spearman {
        return (
            "Rank correlation of truth and prediction",
            "from scipy.stats import spearmanr",
            "spearmanr(truth, predicted).statistic",
        );
    }
    (
        "Linear correlation of truth and prediction",
        "from scipy.stats import pearsonr",
        "pearsonr(truth, predicted).statistic",
    )
}
