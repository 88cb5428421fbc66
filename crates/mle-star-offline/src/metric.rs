//! The Python that computes each known metric, and what it asks of predictions.

use serde::Serialize;

use mle_star_data::metric_names::KnownMetric;

/// A metric as the script templates need it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Metric {
    /// Which one.
    #[serde(skip)]
    pub(crate) id: KnownMetric,
    /// What it is, in words; the first line of the metric function's docstring.
    pub(crate) words: &'static str,
    /// The import line of the metric function.
    pub(crate) import: &'static str,
    /// The Python expression over `truth` and `predicted`.
    pub(crate) expression: &'static str,
    /// It compares class labels, not probabilities.
    pub(crate) labels: bool,
    /// Classes have an order that the metric respects.
    pub(crate) ordinal: bool,
    /// Absolute errors count, so models should learn medians.
    pub(crate) absolute: bool,
    /// Predictions below zero are errors or refused.
    pub(crate) positive: bool,
}

impl Metric {
    /// The metric as templates need it, for a target of two classes or another.
    pub(crate) fn new(id: KnownMetric, binary: bool) -> Self {
        let (words, import, expression) = python(id, binary);
        Self {
            id,
            words,
            import,
            expression,
            labels: !id.is_for_regression() && !id.wants_probabilities(),
            ordinal: id == KnownMetric::QuadraticKappa,
            absolute: matches!(id, KnownMetric::Mae | KnownMetric::Mape),
            positive: id == KnownMetric::Rmsle,
        }
    }
}

fn python(id: KnownMetric, binary: bool) -> (&'static str, &'static str, &'static str) {
    match id {
        KnownMetric::F1 if binary => (
            "F1 of the second class (the larger label)",
            "from sklearn.metrics import f1_score",
            "f1_score(truth, predicted)",
        ),
        KnownMetric::RocAuc if binary => (
            "Area under the ROC curve of the second class (the larger label)",
            "from sklearn.metrics import roc_auc_score",
            "roc_auc_score(truth, predicted[:, 1])",
        ),
        KnownMetric::AveragePrecision if binary => (
            "Average precision of the second class (the larger label)",
            "from sklearn.metrics import average_precision_score",
            "average_precision_score(truth, predicted[:, 1])",
        ),
        KnownMetric::Accuracy | KnownMetric::BalancedAccuracy | KnownMetric::QuadraticKappa => {
            python_for_labels(id)
        }
        KnownMetric::F1 | KnownMetric::MacroF1 => python_for_labels(id),
        KnownMetric::RocAuc | KnownMetric::AveragePrecision | KnownMetric::LogLoss => {
            python_for_probabilities(id)
        }
        _ => python_for_numbers(id),
    }
}

fn python_for_labels(id: KnownMetric) -> (&'static str, &'static str, &'static str) {
    const F1: &str = "from sklearn.metrics import f1_score";
    match id {
        KnownMetric::BalancedAccuracy => (
            "Mean recall over the classes",
            "from sklearn.metrics import balanced_accuracy_score",
            "balanced_accuracy_score(truth, predicted)",
        ),
        KnownMetric::QuadraticKappa => (
            "Cohen's kappa with quadratic weights, over class positions",
            "from sklearn.metrics import cohen_kappa_score",
            "cohen_kappa_score(truth, predicted, weights=\"quadratic\")",
        ),
        KnownMetric::F1 | KnownMetric::MacroF1 => {
            ("Mean F1 over the classes", F1, "f1_score(truth, predicted, average=\"macro\")")
        }
        _ => (
            "Share of rows whose class is right",
            "from sklearn.metrics import accuracy_score",
            "accuracy_score(truth, predicted)",
        ),
    }
}

fn python_for_probabilities(id: KnownMetric) -> (&'static str, &'static str, &'static str) {
    match id {
        KnownMetric::RocAuc => (
            "Area under the ROC curve, each class against the rest, averaged",
            "from sklearn.metrics import roc_auc_score",
            "roc_auc_score(truth, predicted, multi_class=\"ovr\")",
        ),
        KnownMetric::AveragePrecision => (
            "Average precision, each class against the rest, averaged",
            "from sklearn.metrics import average_precision_score",
            "average_precision_score(np.eye(len(CLASSES))[truth], predicted)",
        ),
        _ => (
            "Logarithmic loss of the class probabilities",
            "from sklearn.metrics import log_loss",
            "log_loss(truth, predicted, labels=np.arange(len(CLASSES)))",
        ),
    }
}

fn python_for_numbers(id: KnownMetric) -> (&'static str, &'static str, &'static str) {
    match id {
        KnownMetric::Mae => (
            "Mean absolute error",
            "from sklearn.metrics import mean_absolute_error",
            "mean_absolute_error(truth, predicted)",
        ),
        KnownMetric::Rmsle => (
            "Root of the mean squared logarithmic error",
            "from sklearn.metrics import root_mean_squared_log_error",
            "root_mean_squared_log_error(truth, predicted)",
        ),
        KnownMetric::Mape => (
            "Mean absolute error as a share of the truth",
            "from sklearn.metrics import mean_absolute_percentage_error",
            "mean_absolute_percentage_error(truth, predicted)",
        ),
        KnownMetric::R2 => (
            "Share of variance explained",
            "from sklearn.metrics import r2_score",
            "r2_score(truth, predicted)",
        ),
        _ => (
            "Root of the mean squared error",
            "from sklearn.metrics import root_mean_squared_error",
            "root_mean_squared_error(truth, predicted)",
        ),
    }
}
