//! The metrics that the program knows.

use std::fmt;

use mle_star_domain::metric::Direction::{self, Maximize, Minimize};

/// A metric whose formula and direction are known.
///
/// The formulas are those of scikit-learn and scipy. `positive class` is the class that a binary metric is about; for
/// labels in files it is the larger of two numbers, `true`, `yes`, else the last in sorted order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Metric {
    /// The share of rows with the right class.
    Accuracy,
    /// The mean recall of the classes that have rows.
    BalancedAccuracy,
    /// F1 of the positive class; with three classes or more, the macro F1.
    F1,
    /// The mean F1 of the classes.
    MacroF1,
    /// F1 over all decisions, which equals accuracy where each row has one class.
    MicroF1,
    /// The mean F1 of the classes, weighted by their rows.
    WeightedF1,
    /// The area under the ROC curve; with three classes or more, the mean of each class against the rest.
    RocAuc,
    /// The average precision; with three classes or more, the mean of each class against the rest.
    AveragePrecision,
    /// The logarithmic loss of class probabilities.
    LogLoss,
    /// The squared error of class probabilities; for two classes that of the positive class alone.
    Brier,
    /// The Matthews correlation coefficient.
    Mcc,
    /// Cohen's kappa with quadratic weights, over the positions of the sorted classes.
    QuadraticKappa,
    /// The root of the mean squared error.
    Rmse,
    /// The mean squared error.
    Mse,
    /// The mean absolute error.
    Mae,
    /// The median absolute error.
    MedianAbsoluteError,
    /// The coefficient of determination.
    R2,
    /// The root of the mean squared error of the logarithms of one plus the value.
    Rmsle,
    /// The mean absolute error as a share of the truth, not in percent.
    Mape,
    /// The mean of `200 * |p - y| / (|y| + |p|)`, where 0/0 counts as 0: a percentage between 0 and 200.
    Smape,
    /// Spearman's rank correlation.
    Spearman,
    /// Pearson's correlation.
    Pearson,
}

/// What a metric compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Classes with classes.
    Labels,
    /// Classes with their probabilities, or with scores that put rows in order.
    Probabilities,
    /// Numbers with numbers.
    Numbers,
}

impl Metric {
    /// Every metric.
    pub const ALL: [Self; 22] = [
        Self::Accuracy,
        Self::BalancedAccuracy,
        Self::F1,
        Self::MacroF1,
        Self::MicroF1,
        Self::WeightedF1,
        Self::RocAuc,
        Self::AveragePrecision,
        Self::LogLoss,
        Self::Brier,
        Self::Mcc,
        Self::QuadraticKappa,
        Self::Rmse,
        Self::Mse,
        Self::Mae,
        Self::MedianAbsoluteError,
        Self::R2,
        Self::Rmsle,
        Self::Mape,
        Self::Smape,
        Self::Spearman,
        Self::Pearson,
    ];

    /// Whether the order of predictions counts alone, not how large they are.
    pub(crate) fn is_by_order(self) -> bool {
        matches!(self, Self::RocAuc | Self::AveragePrecision | Self::Spearman)
    }

    /// The usual name, for example `ROC-AUC`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Accuracy => "accuracy",
            Self::BalancedAccuracy => "balanced accuracy",
            Self::F1 => "F1",
            Self::MacroF1 => "macro F1",
            Self::MicroF1 => "micro F1",
            Self::WeightedF1 => "weighted F1",
            Self::RocAuc => "ROC-AUC",
            Self::AveragePrecision => "average precision",
            Self::LogLoss => "log loss",
            Self::Brier => "Brier score",
            Self::Mcc => "MCC",
            Self::QuadraticKappa => "quadratic weighted kappa",
            Self::Rmse => "RMSE",
            Self::Mse => "MSE",
            Self::Mae => "MAE",
            Self::MedianAbsoluteError => "median absolute error",
            Self::R2 => "R2",
            Self::Rmsle => "RMSLE",
            Self::Mape => "MAPE",
            Self::Smape => "SMAPE",
            Self::Spearman => "Spearman correlation",
            Self::Pearson => "Pearson correlation",
        }
    }

    /// Which scores win.
    pub fn direction(self) -> Direction {
        match self {
            Self::LogLoss | Self::Brier | Self::Rmse | Self::Mse | Self::Mae => Minimize,
            Self::MedianAbsoluteError | Self::Rmsle | Self::Mape | Self::Smape => Minimize,
            _ => Maximize,
        }
    }

    /// What it compares.
    pub fn kind(self) -> Kind {
        match self {
            Self::Accuracy | Self::BalancedAccuracy | Self::Mcc | Self::QuadraticKappa => Kind::Labels,
            Self::F1 | Self::MacroF1 | Self::MicroF1 | Self::WeightedF1 => Kind::Labels,
            Self::RocAuc | Self::AveragePrecision | Self::LogLoss | Self::Brier => Kind::Probabilities,
            _ => Kind::Numbers,
        }
    }

    /// Whether it compares numbers instead of classes.
    pub fn is_for_regression(self) -> bool {
        self.kind() == Kind::Numbers
    }

    /// Whether it is computed from probabilities or scores instead of classes.
    pub fn wants_probabilities(self) -> bool {
        self.kind() == Kind::Probabilities
    }

    /// The smallest and the largest possible score, which may be infinite.
    pub fn range(self) -> (f64, f64) {
        match self {
            Self::Mcc | Self::QuadraticKappa | Self::Spearman | Self::Pearson => (-1.0, 1.0),
            Self::R2 => (f64::NEG_INFINITY, 1.0),
            Self::Smape => (0.0, 200.0),
            Self::Brier => (0.0, 2.0),
            Self::LogLoss | Self::Rmse | Self::Mse | Self::Mae | Self::MedianAbsoluteError => {
                (0.0, f64::INFINITY)
            }
            Self::Rmsle | Self::Mape => (0.0, f64::INFINITY),
            _ => (0.0, 1.0),
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_better_when_they_are_smaller() {
        use Metric::{Brier, LogLoss, Mae, Mape, MedianAbsoluteError, Mse, Rmse, Rmsle, Smape};
        let errors = [Brier, LogLoss, Mae, Mape, MedianAbsoluteError, Mse, Rmse, Rmsle, Smape];
        for metric in Metric::ALL {
            let expected = if errors.contains(&metric) { Minimize } else { Maximize };
            assert_eq!(metric.direction(), expected, "{metric}");
        }
    }
}
