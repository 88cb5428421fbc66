//! Known metrics and their usual spellings.

use std::fmt;

use mle_star::metric::Direction;

/// A metric whose formula and direction are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it all")]
pub enum KnownMetric {
    Accuracy,
    BalancedAccuracy,
    /// F1 of the positive class.
    F1,
    MacroF1,
    RocAuc,
    AveragePrecision,
    LogLoss,
    Rmse,
    Mae,
    Rmsle,
    Mape,
    R2,
    QuadraticKappa,
}

/// A metric found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// The metric.
    pub metric: KnownMetric,
    /// The line of the text that names it, trimmed.
    pub line: String,
}

/// Spellings after [`normal`]: lower case, words separated by single blanks.
const SPELLINGS: [(KnownMetric, &[&str]); 13] = [
    (
        KnownMetric::Accuracy,
        &["accuracy", "acc", "accuracy score", "classification accuracy", "categorization accuracy"],
    ),
    (
        KnownMetric::BalancedAccuracy,
        &[
            "balanced accuracy",
            "balanced accuracy score",
            "bacc",
            "balanced acc",
            "macro averaged recall",
            "macro recall",
        ],
    ),
    (
        KnownMetric::F1,
        &["f1", "f1 score", "f1score", "f score", "f1 binary", "binary f1", "f1 measure", "mean f1 score"],
    ),
    (
        KnownMetric::MacroF1,
        &[
            "f1 macro",
            "macro f1",
            "macro f1 score",
            "f1 score macro",
            "macro averaged f1",
            "macro averaged f1 score",
            "macrof1",
        ],
    ),
    (
        KnownMetric::RocAuc,
        &[
            "roc auc",
            "auc",
            "auroc",
            "roc auc score",
            "rocauc",
            "auc roc",
            "auc score",
            "area under the roc curve",
            "area under the receiver operating characteristic curve",
            "area under the curve",
        ],
    ),
    (
        KnownMetric::AveragePrecision,
        &[
            "average precision",
            "average precision score",
            "pr auc",
            "auprc",
            "prauc",
            "auc pr",
            "area under the precision recall curve",
        ],
    ),
    (
        KnownMetric::LogLoss,
        &[
            "log loss",
            "logloss",
            "logarithmic loss",
            "cross entropy",
            "cross entropy loss",
            "multi class log loss",
            "multiclass log loss",
            "multi class logloss",
            "multiclass logloss",
            "multi class logarithmic loss",
            "binary cross entropy",
            "mlogloss",
        ],
    ),
    (
        KnownMetric::Rmse,
        &[
            "rmse",
            "root mean squared error",
            "root mean square error",
            "root mean squared error rmse",
            "root mse",
        ],
    ),
    (KnownMetric::Mae, &["mae", "mean absolute error", "mean absolute error mae", "mean absolute deviation"]),
    (
        KnownMetric::Rmsle,
        &[
            "rmsle",
            "root mean squared logarithmic error",
            "root mean square logarithmic error",
            "root mean squared log error",
        ],
    ),
    (KnownMetric::Mape, &["mape", "mean absolute percentage error", "mean absolute percent error"]),
    (
        KnownMetric::R2,
        &[
            "r2",
            "r 2",
            "r squared",
            "r2 score",
            "rsquared",
            "r square",
            "coefficient of determination",
            "r2score",
        ],
    ),
    (
        KnownMetric::QuadraticKappa,
        &[
            "quadratic weighted kappa",
            "qwk",
            "quadratic kappa",
            "cohen s kappa quadratic",
            "quadratically weighted kappa",
            "weighted kappa",
            "quadratic cohen kappa",
            "kappa quadratic",
        ],
    ),
];

/// Words of a line about how submissions are evaluated.
const ABOUT_EVALUATION: [&str; 6] = ["evaluat", "metric", "scored", "judged", "leaderboard", "measured by"];

impl KnownMetric {
    /// Every metric.
    pub const ALL: [Self; 13] = [
        Self::Accuracy,
        Self::BalancedAccuracy,
        Self::F1,
        Self::MacroF1,
        Self::RocAuc,
        Self::AveragePrecision,
        Self::LogLoss,
        Self::Rmse,
        Self::Mae,
        Self::Rmsle,
        Self::Mape,
        Self::R2,
        Self::QuadraticKappa,
    ];

    /// The metric with this name in any usual spelling; `None` for any other text.
    pub fn parse(name: &str) -> Option<Self> {
        let name = normal(name);
        let known = |name: &str| {
            let entry = SPELLINGS.iter().find(|(_, spellings)| spellings.contains(&name));
            entry.map(|(metric, _)| *metric)
        };
        known(&name)
            .or_else(|| known(name.strip_suffix(" metric")?))
            .or_else(|| known(name.strip_prefix("mean ")?))
    }

    /// Which scores win.
    pub fn direction(self) -> Direction {
        match self {
            Self::LogLoss | Self::Rmse | Self::Mae | Self::Rmsle | Self::Mape => Direction::Minimize,
            _ => Direction::Maximize,
        }
    }

    /// Whether it compares numbers instead of classes.
    pub fn is_for_regression(self) -> bool {
        matches!(self, Self::Rmse | Self::Mae | Self::Rmsle | Self::Mape | Self::R2)
    }

    /// Whether it is computed from probabilities or scores instead of classes.
    pub fn wants_probabilities(self) -> bool {
        matches!(self, Self::RocAuc | Self::AveragePrecision | Self::LogLoss)
    }

    /// The usual name, for example `ROC-AUC`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Accuracy => "accuracy",
            Self::BalancedAccuracy => "balanced accuracy",
            Self::F1 => "F1",
            Self::MacroF1 => "macro F1",
            Self::RocAuc => "ROC-AUC",
            Self::AveragePrecision => "average precision",
            Self::LogLoss => "log loss",
            Self::Rmse => "RMSE",
            Self::Mae => "MAE",
            Self::Rmsle => "RMSLE",
            Self::Mape => "MAPE",
            Self::R2 => "R2",
            Self::QuadraticKappa => "quadratic weighted kappa",
        }
    }

    /// The metric named in a task description.
    ///
    /// Lines about evaluation, or below a heading about it, take precedence. In a line, the longest spelling wins
    /// over those inside it. Without such a line, a metric counts if it is the only one in the text.
    pub fn find_in(description: &str) -> Option<Mention> {
        let mut under_evaluation = false;
        let mut elsewhere = Vec::new();
        for line in description.lines() {
            let lower = line.to_lowercase();
            let about = ABOUT_EVALUATION.iter().any(|word| lower.contains(word));
            if line.trim_start().starts_with('#') {
                under_evaluation = about;
            }
            let Some(metric) = longest_in(&normal(line)) else { continue };
            let mention = Mention { metric, line: line.trim().to_owned() };
            if about || under_evaluation {
                return Some(mention);
            }
            elsewhere.push(mention);
        }
        let first = elsewhere.first()?.clone();
        elsewhere.iter().all(|mention| mention.metric == first.metric).then_some(first)
    }
}

impl fmt::Display for KnownMetric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The metric with the longest spelling in a normalized line; the first of equals.
fn longest_in(line: &str) -> Option<KnownMetric> {
    let padded = format!(" {line} ");
    let hits = SPELLINGS.iter().flat_map(|(metric, spellings)| {
        spellings.iter().filter_map(|spelling| {
            // Averages that are not known metrics.
            let other =
                |at: usize| ["micro", "weighted", "averaged"].iter().any(|word| padded[..at].ends_with(word));
            // "acc" and "f score" are too ambiguous inside a sentence.
            let at = (!matches!(*spelling, "acc" | "f score"))
                .then(|| padded.find(&format!(" {spelling} ")))??;
            (!other(at)).then_some((spelling.len(), std::cmp::Reverse(at), *metric))
        })
    });
    hits.max_by_key(|(length, at, _)| (*length, *at)).map(|(_, _, metric)| metric)
}

fn normal(text: &str) -> String {
    let text = text.to_lowercase().replace('²', "2").replace("r^2", "r2").replace("$r2$", "r2");
    let words: String = text.chars().map(|c| if c.is_alphanumeric() { c } else { ' ' }).collect();
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_lead_to_their_metric() {
        let check = |name: &str, expected| assert_eq!(KnownMetric::parse(name), expected, "{name}");
        check("Accuracy", Some(KnownMetric::Accuracy));
        check("balanced_accuracy", Some(KnownMetric::BalancedAccuracy));
        check("F1-score", Some(KnownMetric::F1));
        check("f1_macro", Some(KnownMetric::MacroF1));
        check("ROC AUC", Some(KnownMetric::RocAuc));
        check("roc_auc", Some(KnownMetric::RocAuc));
        check("PR-AUC", Some(KnownMetric::AveragePrecision));
        check("LogLoss", Some(KnownMetric::LogLoss));
        check("multi-class log loss", Some(KnownMetric::LogLoss));
        check("Root Mean Squared Error (RMSE)", Some(KnownMetric::Rmse));
        check("mean_absolute_error", Some(KnownMetric::Mae));
        check("RMSLE", Some(KnownMetric::Rmsle));
        check("mape", Some(KnownMetric::Mape));
        check("R²", Some(KnownMetric::R2));
        check("R^2", Some(KnownMetric::R2));
        check("Quadratic Weighted Kappa", Some(KnownMetric::QuadraticKappa));
        check("weighted F1", None);
        check("mean squared error", None);
        check("word error rate", None);
        check("", None);
    }

    #[test]
    fn every_name_parses_to_itself() {
        for metric in KnownMetric::ALL {
            assert_eq!(KnownMetric::parse(metric.name()), Some(metric));
        }
    }

    #[test]
    fn descriptions_name_their_metric() {
        let check = |text: &str, expected: Option<KnownMetric>| {
            assert_eq!(KnownMetric::find_in(text).map(|mention| mention.metric), expected, "{text}");
        };
        check("Submissions are evaluated on the area under the ROC curve.", Some(KnownMetric::RocAuc));
        check(
            "High accuracy matters.\n# Evaluation\n\nWe use the RMSE of log prices.",
            Some(KnownMetric::Rmse),
        );
        check("Metric: macro F1-score", Some(KnownMetric::MacroF1));
        check("Scored by balanced accuracy", Some(KnownMetric::BalancedAccuracy));
        check("Root-Mean-Squared-Logarithmic-Error is the metric", Some(KnownMetric::Rmsle));
        check("The MAE of a good model is small.", Some(KnownMetric::Mae));
        check("The MAE and the RMSE are interesting.\nR2 too.", None);
        check("# Data\nPredict the price.", None);
        check(
            "Submissions are evaluated based on their classification accuracy, the percentage",
            Some(KnownMetric::Accuracy),
        );
        check(
            "Submissions are evaluated on Root-Mean-Squared-Error (RMSE) between the log",
            Some(KnownMetric::Rmse),
        );
        check("evaluated on the column-wise root mean squared logarithmic error.", Some(KnownMetric::Rmsle));
        check(
            "evaluated using the [multi-class logarithmic loss](https://x.y/log-loss)",
            Some(KnownMetric::LogLoss),
        );
        check(
            "## Evaluation Metric\n\nthe *quadratic weighted kappa*, which",
            Some(KnownMetric::QuadraticKappa),
        );
        check("evaluated on the mean column-wise ROC AUC", Some(KnownMetric::RocAuc));
        check("The metric is the micro-averaged F1-Score", None);
        check("The metric is the weighted F1", None);
    }
}
