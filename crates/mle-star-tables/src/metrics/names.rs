//! The metrics that the program knows.

use std::borrow::Cow;
use std::fmt;

use mle_star_domain::metric::Direction::{self, Maximize, Minimize};

/// A metric whose formula and direction are known.
///
/// The formulas are those of scikit-learn and scipy. `positive class` is the class that a binary metric is about; for
/// labels in files it is the one that was named, else the larger of two numbers, `true`, `yes`, else the last in sorted
/// order.
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
    /// The mean over the rows of one divided by the place of the right class among at most so many guesses; 0 where it
    /// is not among them. That is the mean average precision where one class of each row is right.
    MapAt(u8),
    /// The share of rows whose class is among so many guesses.
    TopAccuracy(u8),
    /// The Gini coefficient of the order by predictions, divided by that of the order by truth. Rows of equal predictions count
    /// by their mean. Of two classes it is `2 * AUC - 1`.
    Gini,
    /// The mean pinball loss of this quantile: an error counts by the quantile where the prediction is too small, else by the
    /// rest of it to one.
    Pinball(Level),
    /// The mean interval score (Winkler) of prediction intervals that should cover this share: the width, and
    /// `2 / (1 - share)` times the distance of a value outside.
    IntervalScore(Level),
    /// The mean over the rows of the F1 of two sets of labels.
    SampleF1,
    /// F1 over all decisions about the labels of all rows' sets.
    SetMicroF1,
    /// The mean F1 of the labels, each of which is in a row's set or not.
    SetMacroF1,
    /// The mean RMSE of several targets (MCRMSE).
    ColumnRmse,
    /// The mean ROC-AUC of several targets, or of columns for classes, each against the rest.
    ColumnRocAuc,
    /// The mean logarithmic loss of several targets, or of classes, each against the rest.
    ColumnLogLoss,
}

/// A share between 0 and 1, in units of 1/10,000, such as a quantile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Level(u16);

/// What a metric compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Classes with classes.
    Labels,
    /// Classes with their probabilities, or with scores that put rows in order.
    Probabilities,
    /// Numbers with numbers.
    Numbers,
    /// Numbers, or two classes, with scores that put rows in order.
    Order,
    /// Classes with several guesses for each row, the best first.
    Guesses,
    /// Sets of labels with sets of labels.
    Sets,
    /// Numbers with their lower and upper bounds.
    Intervals,
}

impl Level {
    /// The half.
    pub const HALF: Self = Self(5_000);

    /// The share, if it is between 0 and 1 and has at most four decimals.
    pub fn new(share: f64) -> Option<Self> {
        let units = share * 10_000.0;
        let is_exact = (units - units.round()).abs() < 1e-6;
        (is_exact && (0.5..9_999.5).contains(&units)).then_some(Self(units.round() as u16))
    }

    /// The number, for example 0.95.
    pub fn share(self) -> f64 {
        f64::from(self.0) / 10_000.0
    }

    /// What is missing to one.
    #[must_use]
    pub fn rest(self) -> Self {
        Self(10_000 - self.0)
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.share().fmt(f)
    }
}

impl Metric {
    /// The metric of this name, which is its own and no other spelling: those are the data plane's.
    pub fn parse(name: &str) -> Option<Self> {
        let level = |prefix: &str| Level::new(name.strip_prefix(prefix)?.parse().ok()?);
        let guesses = |prefix: &str, suffix: &str| {
            name.strip_prefix(prefix)?.strip_suffix(suffix)?.parse().ok().filter(|count| *count > 0)
        };
        let named = Self::ALL.into_iter().find(|metric| metric.name() == name);
        named
            .or_else(|| guesses("MAP@", "").map(Self::MapAt))
            .or_else(|| guesses("top-", " accuracy").map(Self::TopAccuracy))
            .or_else(|| level("pinball loss ").map(Self::Pinball))
            .or_else(|| level("interval score ").map(Self::IntervalScore))
    }

    /// Every metric; those with a parameter have a usual one.
    pub const ALL: [Self; 33] = [
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
        Self::MapAt(3),
        Self::TopAccuracy(5),
        Self::Gini,
        Self::Pinball(Level(9_000)),
        Self::IntervalScore(Level(9_000)),
        Self::SampleF1,
        Self::SetMicroF1,
        Self::SetMacroF1,
        Self::ColumnRmse,
        Self::ColumnRocAuc,
        Self::ColumnLogLoss,
    ];

    /// The names of all metrics, for people. `K` and `Q` stand for numbers that a name must have.
    pub fn listed() -> String {
        let name = |metric: &Self| match metric {
            Self::MapAt(_) => Cow::Borrowed("MAP@K"),
            Self::TopAccuracy(_) => Cow::Borrowed("top-K accuracy"),
            Self::Pinball(_) => Cow::Borrowed("pinball loss Q"),
            Self::IntervalScore(_) => Cow::Borrowed("interval score Q"),
            _ => metric.name(),
        };
        Self::ALL.iter().map(name).collect::<Vec<_>>().join(", ")
    }

    /// The metric of each column, for a mean over columns; else the metric itself.
    #[must_use]
    pub fn of_column(self) -> Self {
        match self {
            Self::ColumnRmse => Self::Rmse,
            Self::ColumnRocAuc => Self::RocAuc,
            Self::ColumnLogLoss => Self::LogLoss,
            other => other,
        }
    }

    /// How many guesses of a row count.
    pub fn guesses(self) -> u8 {
        match self {
            Self::MapAt(most) | Self::TopAccuracy(most) => most,
            _ => 1,
        }
    }

    /// What is computed, where the name leaves the unit open; empty otherwise.
    pub fn formula(self) -> &'static str {
        match self.of_column() {
            Self::Mape => "the mean of |y - p| / |y|, as a fraction",
            Self::Smape => "the mean of 200 |y - p| / (|y| + |p|), 0 where both are 0",
            _ => "",
        }
    }

    /// Whether the order of predictions counts alone, not how large they are.
    pub fn is_by_order(self) -> bool {
        matches!(self.of_column(), Self::RocAuc | Self::AveragePrecision | Self::Spearman | Self::Gini)
    }

    /// Whether the score of rows is the mean of what each row has, so that the score of several parts of equal size is the mean
    /// of theirs.
    pub fn is_mean_over_rows(self) -> bool {
        use Metric::{Accuracy, Brier, IntervalScore, LogLoss, Mae, MapAt, Mape, MicroF1, Mse, Pinball};
        use Metric::{SampleF1, Smape, TopAccuracy};
        matches!(
            self.of_column(),
            Accuracy
                | MicroF1
                | LogLoss
                | Brier
                | SampleF1
                | Mse
                | Mae
                | Mape
                | Smape
                | MapAt(_)
                | TopAccuracy(_)
                | Pinball(_)
                | IntervalScore(_)
        )
    }

    /// The usual name, for example `ROC-AUC`.
    pub fn name(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::MapAt(guesses) => return format!("MAP@{guesses}").into(),
            Self::TopAccuracy(guesses) => return format!("top-{guesses} accuracy").into(),
            Self::Pinball(quantile) => return format!("pinball loss {quantile}").into(),
            Self::IntervalScore(share) => return format!("interval score {share}").into(),
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
            Self::Gini => "normalized Gini",
            Self::SampleF1 => "sample-averaged F1",
            Self::SetMicroF1 => "micro F1 of sets",
            Self::SetMacroF1 => "macro F1 of sets",
            Self::ColumnRmse => "MCRMSE",
            Self::ColumnRocAuc => "mean column-wise ROC-AUC",
            Self::ColumnLogLoss => "mean column-wise log loss",
        })
    }

    /// Which scores win.
    pub fn direction(self) -> Direction {
        match self.of_column() {
            Self::LogLoss | Self::Brier | Self::Rmse | Self::Mse | Self::Mae => Minimize,
            Self::Pinball(_) | Self::IntervalScore(_) => Minimize,
            Self::MedianAbsoluteError | Self::Rmsle | Self::Mape | Self::Smape => Minimize,
            _ => Maximize,
        }
    }

    /// What it compares.
    pub fn kind(self) -> Kind {
        match self.of_column() {
            Self::Accuracy | Self::BalancedAccuracy | Self::Mcc | Self::QuadraticKappa => Kind::Labels,
            Self::F1 | Self::MacroF1 | Self::MicroF1 | Self::WeightedF1 => Kind::Labels,
            Self::RocAuc | Self::AveragePrecision | Self::LogLoss | Self::Brier => Kind::Probabilities,
            Self::MapAt(_) | Self::TopAccuracy(_) => Kind::Guesses,
            Self::SampleF1 | Self::SetMicroF1 | Self::SetMacroF1 => Kind::Sets,
            Self::IntervalScore(_) => Kind::Intervals,
            Self::Gini => Kind::Order,
            _ => Kind::Numbers,
        }
    }

    /// What it compares for a target with so many different values: what is put in order is two classes or numbers.
    pub fn kind_for(self, distinct: usize) -> Kind {
        match self.kind() {
            Kind::Order if distinct <= 2 => Kind::Probabilities,
            Kind::Order => Kind::Numbers,
            other => other,
        }
    }

    /// Whether it compares numbers instead of classes. What a metric of order compares depends on the target; see
    /// [`Metric::kind_for`].
    pub fn is_for_regression(self) -> bool {
        matches!(self.kind(), Kind::Numbers | Kind::Intervals)
    }

    /// Whether it is computed from probabilities or scores instead of classes.
    pub fn wants_probabilities(self) -> bool {
        self.kind() == Kind::Probabilities
    }

    /// The smallest and the largest possible score, which may be infinite.
    pub fn range(self) -> (f64, f64) {
        match self.of_column() {
            Self::Mcc | Self::QuadraticKappa | Self::Spearman | Self::Pearson | Self::Gini => (-1.0, 1.0),
            Self::R2 => (f64::NEG_INFINITY, 1.0),
            Self::Smape => (0.0, 200.0),
            Self::Brier => (0.0, 2.0),
            Self::LogLoss | Self::Rmse | Self::Mse | Self::Mae | Self::MedianAbsoluteError => {
                (0.0, f64::INFINITY)
            }
            Self::Rmsle | Self::Mape | Self::Pinball(_) | Self::IntervalScore(_) => (0.0, f64::INFINITY),
            _ => (0.0, 1.0),
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_better_when_they_are_smaller() {
        use Metric::{Brier, LogLoss, Mae, Mape, MedianAbsoluteError, Mse, Rmse, Rmsle, Smape};
        let errors = [Brier, LogLoss, Mae, Mape, MedianAbsoluteError, Mse, Rmse, Rmsle, Smape];
        let by_parameter = |metric| matches!(metric, Metric::Pinball(_) | Metric::IntervalScore(_));
        for metric in Metric::ALL {
            let is_error = errors.contains(&metric.of_column()) || by_parameter(metric);
            let expected = if is_error { Minimize } else { Maximize };
            assert_eq!(metric.direction(), expected, "{metric}");
        }
    }
}
