//! The usual spellings of metrics, and the metric that a text names.

use crate::names::Metric;

/// A metric found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// The metric.
    pub metric: Metric,
    /// The line of the text that names it, trimmed.
    pub line: String,
}

/// Spellings after [`normal`]: lower case, words separated by single blanks.
const SPELLINGS: [(Metric, &[&str]); 22] = [
    (
        Metric::Accuracy,
        &["accuracy", "acc", "accuracy score", "classification accuracy", "categorization accuracy"],
    ),
    (
        Metric::BalancedAccuracy,
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
        Metric::F1,
        &[
            "f1",
            "f1 score",
            "f1score",
            "f score",
            "f1 binary",
            "binary f1",
            "f1 measure",
            "mean f1 score",
            "binary f1 score",
        ],
    ),
    (
        Metric::MacroF1,
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
        Metric::MicroF1,
        &[
            "f1 micro",
            "micro f1",
            "micro f1 score",
            "f1 score micro",
            "micro averaged f1",
            "micro averaged f1 score",
            "microf1",
        ],
    ),
    (
        Metric::WeightedF1,
        &[
            "f1 weighted",
            "weighted f1",
            "weighted f1 score",
            "f1 score weighted",
            "weighted averaged f1",
            "weighted average f1",
            "weighted average f1 score",
        ],
    ),
    (
        Metric::RocAuc,
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
        Metric::AveragePrecision,
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
        Metric::LogLoss,
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
    (Metric::Brier, &["brier score", "brier", "brier score loss", "brier loss"]),
    (
        Metric::Mcc,
        &[
            "mcc",
            "matthews correlation coefficient",
            "matthews corrcoef",
            "matthews correlation",
            "matthew s correlation coefficient",
            "phi coefficient",
        ],
    ),
    (
        Metric::QuadraticKappa,
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
    (
        Metric::Rmse,
        &[
            "rmse",
            "root mean squared error",
            "root mean square error",
            "root mean squared error rmse",
            "root mse",
        ],
    ),
    (Metric::Mse, &["mse", "mean squared error", "mean square error", "mean squared error mse"]),
    (Metric::Mae, &["mae", "mean absolute error", "mean absolute error mae", "mean absolute deviation"]),
    (
        Metric::MedianAbsoluteError,
        &["median absolute error", "medae", "median ae", "median absolute error medae"],
    ),
    (
        Metric::R2,
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
        Metric::Rmsle,
        &[
            "rmsle",
            "root mean squared logarithmic error",
            "root mean square logarithmic error",
            "root mean squared log error",
        ],
    ),
    (Metric::Mape, &["mape", "mean absolute percentage error", "mean absolute percent error"]),
    (
        Metric::Smape,
        &[
            "smape",
            "symmetric mean absolute percentage error",
            "symmetric mean absolute percent error",
            "symmetric mape",
            "symmetric mean absolute percentage error smape",
        ],
    ),
    (
        Metric::Spearman,
        &[
            "spearman correlation",
            "spearman",
            "spearmanr",
            "spearman rho",
            "spearman s rho",
            "spearman rank correlation",
            "spearman s rank correlation",
            "spearman s correlation",
            "spearman correlation coefficient",
            "spearman rank correlation coefficient",
            "spearman s rank correlation coefficient",
            "rank correlation",
        ],
    ),
    (
        Metric::Pearson,
        &[
            "pearson correlation",
            "pearson",
            "pearsonr",
            "pearson r",
            "pearson s r",
            "pearson s correlation",
            "pearson correlation coefficient",
            "pearson s correlation coefficient",
            "pcc",
        ],
    ),
];

/// Words of a line about how submissions are evaluated.
const ABOUT_EVALUATION: [&str; 6] = ["evaluat", "metric", "scored", "judged", "leaderboard", "measured by"];

impl Metric {
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

    /// The metric named in a task description.
    ///
    /// Lines about the evaluation of submissions, or below a heading about evaluation, take precedence over other lines about
    /// evaluation. In a line, the longest spelling wins over those inside it. Without such a line, a metric counts if
    /// it is the only one in the text.
    pub fn find_in(description: &str) -> Option<Mention> {
        let mut under_evaluation = false;
        let (mut about_it, mut elsewhere) = (None, Vec::new());
        for line in description.lines() {
            let lower = line.to_lowercase();
            let about = ABOUT_EVALUATION.iter().any(|word| lower.contains(word));
            if line.trim_start().starts_with('#') {
                under_evaluation = about;
            }
            let Some(metric) = longest_in(&normal(line)) else { continue };
            let mention = Mention { metric, line: line.trim().to_owned() };
            if under_evaluation || about && lower.contains("submission") {
                return Some(mention);
            }
            if about && about_it.is_none() {
                about_it = Some(mention);
            } else {
                elsewhere.push(mention);
            }
        }
        let only = || {
            let first = elsewhere.first()?;
            elsewhere.iter().all(|mention| mention.metric == first.metric).then(|| first.clone())
        };
        about_it.or_else(only)
    }
}

/// The metric with the longest spelling in a normalized line; the first of equals.
fn longest_in(line: &str) -> Option<Metric> {
    let padded = format!(" {line} ");
    let hits = SPELLINGS.iter().flat_map(|(metric, spellings)| {
        spellings.iter().filter_map(|spelling| {
            // Averages that are not known metrics.
            let other = |at: usize| {
                ["micro", "weighted", "averaged", "linear", "linearly"]
                    .iter()
                    .any(|word| padded[..at].ends_with(word))
            };
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
        let check = |name: &str, expected| assert_eq!(Metric::parse(name), expected, "{name}");
        check("Accuracy", Some(Metric::Accuracy));
        check("balanced_accuracy", Some(Metric::BalancedAccuracy));
        check("F1-score", Some(Metric::F1));
        check("f1_macro", Some(Metric::MacroF1));
        check("ROC AUC", Some(Metric::RocAuc));
        check("roc_auc", Some(Metric::RocAuc));
        check("PR-AUC", Some(Metric::AveragePrecision));
        check("LogLoss", Some(Metric::LogLoss));
        check("multi-class log loss", Some(Metric::LogLoss));
        check("Root Mean Squared Error (RMSE)", Some(Metric::Rmse));
        check("mean_absolute_error", Some(Metric::Mae));
        check("RMSLE", Some(Metric::Rmsle));
        check("mape", Some(Metric::Mape));
        check("R²", Some(Metric::R2));
        check("R^2", Some(Metric::R2));
        check("Quadratic Weighted Kappa", Some(Metric::QuadraticKappa));
        check("weighted F1", Some(Metric::WeightedF1));
        check("micro-averaged F1", Some(Metric::MicroF1));
        check("mean squared error", Some(Metric::Mse));
        check("MSE", Some(Metric::Mse));
        check("Brier score", Some(Metric::Brier));
        check("Matthews Correlation Coefficient", Some(Metric::Mcc));
        check("median_absolute_error", Some(Metric::MedianAbsoluteError));
        check("SMAPE", Some(Metric::Smape));
        check("Symmetric mean absolute percentage error", Some(Metric::Smape));
        check("Spearman's rank correlation", Some(Metric::Spearman));
        check("Pearson", Some(Metric::Pearson));
        check("mean squared logarithmic error", None);
        check("word error rate", None);
        check("", None);
    }

    #[test]
    fn every_name_parses_to_itself() {
        for metric in Metric::ALL {
            assert_eq!(Metric::parse(metric.name()), Some(metric));
        }
    }

    #[test]
    fn descriptions_name_their_metric() {
        let check = |text: &str, expected: Option<Metric>| {
            assert_eq!(Metric::find_in(text).map(|mention| mention.metric), expected, "{text}");
        };
        check("Submissions are evaluated on the area under the ROC curve.", Some(Metric::RocAuc));
        check("High accuracy matters.\n# Evaluation\n\nWe use the RMSE of log prices.", Some(Metric::Rmse));
        check("Metric: macro F1-score", Some(Metric::MacroF1));
        check(
            "Experts evaluate all, for accuracy.\n# Evaluation\nSubmissions: log loss.",
            Some(Metric::LogLoss),
        );
        check("We evaluate the RMSE.\nR2 is nice.\nSubmissions are evaluated by MAE.", Some(Metric::Mae));
        check("Scored by balanced accuracy", Some(Metric::BalancedAccuracy));
        check("Root-Mean-Squared-Logarithmic-Error is the metric", Some(Metric::Rmsle));
        check("The MAE of a good model is small.", Some(Metric::Mae));
        check("The MAE and the RMSE are interesting.\nR2 too.", None);
        check("# Data\nPredict the price.", None);
        check(
            "Submissions are evaluated based on their classification accuracy, the percentage",
            Some(Metric::Accuracy),
        );
        check(
            "Submissions are evaluated on Root-Mean-Squared-Error (RMSE) between the log",
            Some(Metric::Rmse),
        );
        check("evaluated on the column-wise root mean squared logarithmic error.", Some(Metric::Rmsle));
        check(
            "evaluated using the [multi-class logarithmic loss](https://x.y/log-loss)",
            Some(Metric::LogLoss),
        );
        check("## Evaluation Metric\n\nthe *quadratic weighted kappa*, which", Some(Metric::QuadraticKappa));
        check("evaluated on the mean column-wise ROC AUC", Some(Metric::RocAuc));
        check("The metric is the micro-averaged F1-Score", Some(Metric::MicroF1));
        check("The metric is the sample-averaged F1-Score", None);
        check("scored by the linear weighted kappa", None);
        check("The metric is the weighted F1", Some(Metric::WeightedF1));
        check("evaluated by the Matthews correlation coefficient (MCC)", Some(Metric::Mcc));
        check("Metric: mean squared error", Some(Metric::Mse));
        check("scored by mean squared logarithmic error", None);
    }
}
