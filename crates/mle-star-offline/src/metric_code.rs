//! The Python code of each known metric, and the predictions that it needs.

use std::borrow::Cow;

use mle_star_domain::task::Task;
use serde::Serialize;

use mle_star_metrics::names::{Kind, Metric as Known};

/// A metric as the templates need it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Metric {
    /// The metric.
    #[serde(skip)]
    pub(crate) id: Known,
    /// A description, used as the docstring of the metric function.
    pub(crate) words: &'static str,
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
    /// Whether negative predictions are invalid.
    pub(crate) positive: bool,
}

impl Metric {
    /// The metric as templates need it, for a target of two classes or another.
    pub(crate) fn new(id: Known, binary: bool) -> Self {
        let (words, import, expression) = python(id, binary);
        Self {
            id,
            words,
            import,
            expression: Cow::Borrowed(expression),
            labels: id.kind() == Kind::Labels,
            ordinal: id == Known::QuadraticKappa,
            absolute: matches!(id, Known::Mae | Known::MedianAbsoluteError | Known::Mape | Known::Smape),
            positive: id == Known::Rmsle,
        }
    }

    /// The metric of a task with this number of classes. Rows count by their weights, if they have some.
    pub(crate) fn of(task: &Task, id: Known, classes: usize) -> Self {
        let metric = Self::new(id, classes == 2);
        if task.weight_column.is_none() {
            return metric;
        }
        let expression = weighted(metric.import, &metric.expression);
        Self { expression: Cow::Owned(expression), ..metric }
    }
}

/// The expression with the weights as an argument of the function that the line imports, or of the mean.
fn weighted(import: &str, expression: &str) -> String {
    let function = import.rsplit(' ').next().unwrap_or_default();
    let (call, argument) = match expression.find(&format!("{function}(")) {
        Some(at) => (at + function.len(), "sample_weight=weight"),
        None => (expression.find('(').unwrap_or_default(), "weights=weight"),
    };
    let mut depth = 0_usize;
    for (at, letter) in expression.char_indices().skip_while(|(at, _)| *at < call) {
        match letter {
            '(' => depth += 1,
            ')' if depth == 1 => {
                let text = format!("{}, {argument}{}", &expression[..at], &expression[at..]);
                return text.replacen("200.0 * np.mean(", "200.0 * np.average(", 1);
            }
            ')' => depth -= 1,
            _ => {}
        }
    }
    expression.to_owned()
}

/// The words, the import line and the expression of a metric.
type Code = (&'static str, &'static str, &'static str);

fn python(id: Known, binary: bool) -> Code {
    match id {
        Known::F1 if binary => (
            "F1 of the second class (the larger label)",
            "from sklearn.metrics import f1_score",
            "f1_score(truth, predicted)",
        ),
        Known::RocAuc if binary => (
            "Area under the ROC curve of the second class (the larger label)",
            "from sklearn.metrics import roc_auc_score",
            "roc_auc_score(truth, predicted[:, 1])",
        ),
        Known::AveragePrecision if binary => (
            "Average precision of the second class (the larger label)",
            "from sklearn.metrics import average_precision_score",
            "average_precision_score(truth, predicted[:, 1])",
        ),
        Known::Brier if binary => (
            "Mean squared error of the second class's probability",
            "from sklearn.metrics import brier_score_loss",
            "brier_score_loss(truth, predicted[:, 1])",
        ),
        _ => match id.kind() {
            Kind::Labels => python_for_labels(id),
            Kind::Probabilities => python_for_probabilities(id),
            Kind::Numbers => python_for_numbers(id),
        },
    }
}

fn python_for_labels(id: Known) -> Code {
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

fn python_for_probabilities(id: Known) -> Code {
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

fn python_for_numbers(id: Known) -> Code {
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
        Known::Mape | Known::Smape => python_for_shares(id),
        Known::Spearman | Known::Pearson => python_for_correlations(id),
        _ => (
            "Root of the mean squared error",
            "from sklearn.metrics import root_mean_squared_error",
            "root_mean_squared_error(truth, predicted)",
        ),
    }
}

fn python_for_shares(id: Known) -> Code {
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

fn python_for_correlations(id: Known) -> Code {
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
