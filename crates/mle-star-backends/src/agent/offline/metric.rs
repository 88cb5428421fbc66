//! The metrics that rules know: their names, what they score, and the Python that computes them.

use serde::Serialize;

/// A metric as the script templates need it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Metric {
    /// Which one.
    #[serde(skip)]
    pub(super) id: MetricId,
    /// What it is, in words; the first line of the metric function's docstring.
    pub(super) words: &'static str,
    /// The import line of the metric function.
    pub(super) import: &'static str,
    /// The Python expression over `truth` and `predicted`.
    pub(super) expression: &'static str,
    /// It compares class labels, not probabilities.
    pub(super) labels: bool,
    /// Classes have an order that the metric respects.
    pub(super) ordinal: bool,
    /// It scores numbers.
    pub(super) regression: bool,
    /// Absolute errors count, so models should learn medians.
    pub(super) absolute: bool,
    /// Predictions below zero are errors or refused.
    pub(super) positive: bool,
}

/// The known metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum MetricId {
    Accuracy,
    BalancedAccuracy,
    F1,
    F1Macro,
    F1Weighted,
    F1Micro,
    RocAuc,
    AveragePrecision,
    LogLoss,
    QuadraticKappa,
    Rmse,
    Mse,
    Mae,
    Rmsle,
    Mape,
    R2,
}

const NAMES: &[(&str, MetricId)] = &[
    ("accuracy", MetricId::Accuracy),
    ("acc", MetricId::Accuracy),
    ("accuracyscore", MetricId::Accuracy),
    ("categorizationaccuracy", MetricId::Accuracy),
    ("balancedaccuracy", MetricId::BalancedAccuracy),
    ("balancedaccuracyscore", MetricId::BalancedAccuracy),
    ("f1", MetricId::F1),
    ("f1score", MetricId::F1),
    ("f1binary", MetricId::F1),
    ("binaryf1", MetricId::F1),
    ("f1macro", MetricId::F1Macro),
    ("macrof1", MetricId::F1Macro),
    ("macrof1score", MetricId::F1Macro),
    ("f1scoremacro", MetricId::F1Macro),
    ("macroaveragedf1", MetricId::F1Macro),
    ("f1weighted", MetricId::F1Weighted),
    ("weightedf1", MetricId::F1Weighted),
    ("f1micro", MetricId::F1Micro),
    ("microf1", MetricId::F1Micro),
    ("meanf1", MetricId::F1Micro),
    ("rocauc", MetricId::RocAuc),
    ("rocaucscore", MetricId::RocAuc),
    ("rocaucovr", MetricId::RocAuc),
    ("auc", MetricId::RocAuc),
    ("aucroc", MetricId::RocAuc),
    ("auroc", MetricId::RocAuc),
    ("areaundertheroccurve", MetricId::RocAuc),
    ("areaunderreceiveroperatingcharacteristiccurve", MetricId::RocAuc),
    ("averageprecision", MetricId::AveragePrecision),
    ("averageprecisionscore", MetricId::AveragePrecision),
    ("ap", MetricId::AveragePrecision),
    ("prauc", MetricId::AveragePrecision),
    ("auprc", MetricId::AveragePrecision),
    ("aucpr", MetricId::AveragePrecision),
    ("logloss", MetricId::LogLoss),
    ("multiclassloss", MetricId::LogLoss),
    ("multiclasslogloss", MetricId::LogLoss),
    ("mlogloss", MetricId::LogLoss),
    ("binarylogloss", MetricId::LogLoss),
    ("crossentropy", MetricId::LogLoss),
    ("binarycrossentropy", MetricId::LogLoss),
    ("logarithmicloss", MetricId::LogLoss),
    ("quadratickappa", MetricId::QuadraticKappa),
    ("quadraticweightedkappa", MetricId::QuadraticKappa),
    ("weightedkappa", MetricId::QuadraticKappa),
    ("cohenkappaquadratic", MetricId::QuadraticKappa),
    ("qwk", MetricId::QuadraticKappa),
    ("rmse", MetricId::Rmse),
    ("rootmeansquarederror", MetricId::Rmse),
    ("mse", MetricId::Mse),
    ("meansquarederror", MetricId::Mse),
    ("mae", MetricId::Mae),
    ("meanabsoluteerror", MetricId::Mae),
    ("rmsle", MetricId::Rmsle),
    ("rootmeansquaredlogarithmicerror", MetricId::Rmsle),
    ("rootmeansquaredlogerror", MetricId::Rmsle),
    ("mape", MetricId::Mape),
    ("meanabsolutepercentageerror", MetricId::Mape),
    ("r2", MetricId::R2),
    ("r2score", MetricId::R2),
    ("rsquared", MetricId::R2),
    ("coefficientofdetermination", MetricId::R2),
];

impl MetricId {
    /// The metric of this name, whatever its case and punctuation; a trailing bracket is a comment.
    pub(super) fn by_name(name: &str) -> Option<Self> {
        let squeeze = |text: &str| {
            let plain = text.to_lowercase().replace('²', "2");
            plain.chars().filter(|letter| letter.is_alphanumeric()).collect::<String>()
        };
        let find = |wanted: String| NAMES.iter().find(|(name, _)| *name == wanted).map(|(_, id)| *id);
        find(squeeze(name)).or_else(|| {
            let (before, inside) = name.split_once('(')?;
            find(squeeze(before)).or_else(|| find(squeeze(inside)))
        })
    }

    /// It scores numbers, not classes.
    pub(super) fn is_regression(self) -> bool {
        matches!(self, Self::Rmse | Self::Mse | Self::Mae | Self::Rmsle | Self::Mape | Self::R2)
    }

    /// The metric as templates need it, for a target of two classes or another.
    pub(super) fn describe(self, binary: bool) -> Metric {
        let (words, import, expression) = self.python(binary);
        Metric {
            id: self,
            words,
            import,
            expression,
            labels: !self.is_regression()
                && !matches!(self, Self::RocAuc | Self::AveragePrecision | Self::LogLoss),
            ordinal: self == Self::QuadraticKappa,
            regression: self.is_regression(),
            absolute: matches!(self, Self::Mae | Self::Mape),
            positive: self == Self::Rmsle,
        }
    }

    fn python(self, binary: bool) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::F1 if binary => (
                "F1 of the second class (the larger label)",
                "from sklearn.metrics import f1_score",
                "f1_score(truth, predicted)",
            ),
            Self::RocAuc if binary => (
                "Area under the ROC curve of the second class (the larger label)",
                "from sklearn.metrics import roc_auc_score",
                "roc_auc_score(truth, predicted[:, 1])",
            ),
            Self::AveragePrecision if binary => (
                "Average precision of the second class (the larger label)",
                "from sklearn.metrics import average_precision_score",
                "average_precision_score(truth, predicted[:, 1])",
            ),
            Self::Accuracy | Self::BalancedAccuracy | Self::QuadraticKappa => self.python_for_labels(),
            Self::F1 | Self::F1Macro | Self::F1Weighted | Self::F1Micro => self.python_for_labels(),
            Self::RocAuc | Self::AveragePrecision | Self::LogLoss => self.python_for_probabilities(),
            _ => self.python_for_numbers(),
        }
    }

    fn python_for_labels(self) -> (&'static str, &'static str, &'static str) {
        const F1: &str = "from sklearn.metrics import f1_score";
        match self {
            Self::BalancedAccuracy => (
                "Mean recall over the classes",
                "from sklearn.metrics import balanced_accuracy_score",
                "balanced_accuracy_score(truth, predicted)",
            ),
            Self::QuadraticKappa => (
                "Cohen's kappa with quadratic weights, over class positions",
                "from sklearn.metrics import cohen_kappa_score",
                "cohen_kappa_score(truth, predicted, weights=\"quadratic\")",
            ),
            Self::F1 | Self::F1Macro => {
                ("Mean F1 over the classes", F1, "f1_score(truth, predicted, average=\"macro\")")
            }
            Self::F1Weighted => {
                ("F1, classes weighted by size", F1, "f1_score(truth, predicted, average=\"weighted\")")
            }
            Self::F1Micro => ("F1 over all rows", F1, "f1_score(truth, predicted, average=\"micro\")"),
            _ => (
                "Share of rows whose class is right",
                "from sklearn.metrics import accuracy_score",
                "accuracy_score(truth, predicted)",
            ),
        }
    }

    fn python_for_probabilities(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::RocAuc => (
                "Area under the ROC curve, each class against the rest, averaged",
                "from sklearn.metrics import roc_auc_score",
                "roc_auc_score(truth, predicted, multi_class=\"ovr\")",
            ),
            Self::AveragePrecision => (
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

    fn python_for_numbers(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Mse => (
                "Mean squared error",
                "from sklearn.metrics import mean_squared_error",
                "mean_squared_error(truth, predicted)",
            ),
            Self::Mae => (
                "Mean absolute error",
                "from sklearn.metrics import mean_absolute_error",
                "mean_absolute_error(truth, predicted)",
            ),
            Self::Rmsle => (
                "Root of the mean squared logarithmic error",
                "from sklearn.metrics import root_mean_squared_log_error",
                "root_mean_squared_log_error(truth, predicted)",
            ),
            Self::Mape => (
                "Mean absolute error as a share of the truth",
                "from sklearn.metrics import mean_absolute_percentage_error",
                "mean_absolute_percentage_error(truth, predicted)",
            ),
            Self::R2 => (
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
}
