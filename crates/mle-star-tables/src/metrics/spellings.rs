//! The usual spellings of metrics, and the metric that a text names.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::names::Metric;
use super::parameters::{self, Reading};

/// Spellings after [`normal`]: lower case, words separated by single blanks.
pub(crate) const SPELLINGS: [(Metric, &[&str]); 29] = [
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
            "log rmse",
            "log transformed rmse",
            "logarithmic rmse",
            "rmse log",
            "rmse of log",
            "rmse of logs",
            "rmse of the log",
            "rmse of the logarithm",
            "rmse of the logarithms",
            "rmse of logarithms",
            "rmse between logarithms",
            "rmse on log scale",
            "rmse on the log scale",
            "rmse in log space",
            "root mean squared error of the logarithm",
            "root mean squared error of the logarithms",
            "root mean squared error of logarithms",
            "root mean squared error of the log",
            "log root mean squared error",
            "logarithmic root mean squared error",
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
            "spearman s correlation coefficient",
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
    (
        Metric::Gini,
        &[
            "normalized gini",
            "normalised gini",
            "gini",
            "gini coefficient",
            "gini index",
            "gini score",
            "normalized gini coefficient",
            "normalised gini coefficient",
            "normalized gini index",
            "normalised gini index",
            "normalized gini score",
            "gini normalized",
        ],
    ),
    (
        Metric::SampleF1,
        &[
            "sample averaged f1",
            "sample averaged f1 score",
            "samples averaged f1",
            "sample average f1",
            "sample wise f1",
            "sample f1",
            "samples f1",
            "samples f1 score",
            "f1 samples",
            "f1 sample averaged",
            "f1 score samples",
            "example based f1",
            "example based f1 score",
            "example averaged f1",
            "instance averaged f1",
            "instance based f1",
            "row wise f1",
            "mean f1 of sets",
            "f1 of sets",
        ],
    ),
    (
        Metric::SetMicroF1,
        &[
            "micro f1 of sets",
            "micro averaged f1 of sets",
            "multilabel micro f1",
            "multi label micro f1",
            "multilabel f1 micro",
        ],
    ),
    (
        Metric::SetMacroF1,
        &[
            "macro f1 of sets",
            "macro averaged f1 of sets",
            "multilabel macro f1",
            "multi label macro f1",
            "multilabel f1 macro",
            "label averaged f1",
            "label based macro f1",
        ],
    ),
    (Metric::ColumnRmse, &["mcrmse"]),
    (Metric::ColumnRocAuc, &["mcauc", "mc auc", "mcrocauc"]),
    (Metric::ColumnLogLoss, &["mclogloss", "mc logloss"]),
];

/// What a mean over columns is called, before the metric of each.
const COLUMN_WISE: [&str; 10] = [
    "mean column wise ",
    "mean columnwise ",
    "column wise mean ",
    "columnwise mean ",
    "average column wise ",
    "average columnwise ",
    "column averaged ",
    "column wise ",
    "columnwise ",
    "mc",
];

/// What a metric with row weights is called, before its name without them.
const WEIGHTED: [&str; 4] = ["sample weighted ", "row weighted ", "weighted ", "w"];

impl Metric {
    /// The metric with this name in any usual spelling; `None` for any other text, and for a name without the parameter
    /// that it needs.
    ///
    /// Row weights are no part of a metric: `weighted MAE` is MAE. [`Metric::is_weighted`] tells that the name asks for
    /// them.
    pub fn parse(name: &str) -> Option<Self> {
        named(name).map(|(metric, _)| metric)
    }

    /// Whether this is the name of a metric with row weights. It means nothing without them.
    pub fn is_weighted(name: &str) -> bool {
        named(name).is_some_and(|(_, is_weighted)| is_weighted)
    }

    /// Whether a word, in lower case, can be part of a metric's name. A text has few that can.
    pub fn may_have(word: &str) -> bool {
        static WORDS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
            let spellings = SPELLINGS.iter().flat_map(|(_, spellings)| *spellings);
            let prefixes = COLUMN_WISE.iter().chain(&WEIGHTED);
            spellings
                .chain(prefixes)
                .flat_map(|name| name.split_whitespace())
                .chain(parameters::all_words())
                .collect()
        });
        WORDS.contains(word)
            || word.starts_with(|c: char| c.is_ascii_digit() || c == '%')
            || is_prefixed(word, &WORDS)
    }

    /// What this name of a metric does not say, for example the quantile of a pinball loss.
    pub fn lacks(name: &str) -> Option<&'static str> {
        match parameters::read(name) {
            Some(Reading::Lacks(what)) if named(name).is_none() => Some(what),
            _ => None,
        }
    }
}

/// Whether a word is a name with `mc` for a mean of columns or `w` for weights before it.
fn is_prefixed(word: &str, words: &HashSet<&'static str>) -> bool {
    ["mc", "w"].iter().any(|prefix| word.strip_prefix(prefix).is_some_and(|rest| words.contains(rest)))
}

/// The metric of this name, and whether the name asks for row weights.
fn named(name: &str) -> Option<(Metric, bool)> {
    let lower = name.to_lowercase();
    let plain = |name: &str| unweighted(name).map(|metric| (metric, false));
    let weighted = || {
        let of = |prefix: &&str| {
            let metric = unweighted(lower.trim().replace(['-', '_'], " ").strip_prefix(*prefix)?)?;
            // The weights of WMAPE, or weighted MAPE, are the true values.
            (metric != Metric::Mape || prefix.contains(' ') && *prefix != "weighted ").then_some(metric)
        };
        WEIGHTED.iter().find_map(of).map(|metric| (metric, true))
    };
    plain(name).or_else(weighted)
}

/// The metric of a name that says nothing about row weights.
fn unweighted(name: &str) -> Option<Metric> {
    let text = normal(name);
    let text = text.strip_suffix(" metric").unwrap_or(&text);
    known(text).or_else(|| column_wise(text)).or_else(|| with_short_form(text)).or_else(|| {
        match parameters::read(name) {
            Some(reading) => match reading {
                Reading::Known(metric) => Some(metric),
                Reading::Lacks(_) => None,
            },
            None => known(text.strip_prefix("mean ")?),
        }
    })
}

/// The metric with this spelling.
fn known(name: &str) -> Option<Metric> {
    let entry = SPELLINGS.iter().find(|(_, spellings)| spellings.contains(&name));
    entry.map(|(metric, _)| *metric)
}

/// The mean of a metric over columns.
fn column_wise(name: &str) -> Option<Metric> {
    let rest = |prefix: &&str| {
        let rest = name.strip_prefix(*prefix)?;
        known(rest).or_else(|| with_short_form(rest))
    };
    COLUMN_WISE.iter().find_map(rest).map(|metric| match metric {
        Metric::Rmse => Metric::ColumnRmse,
        Metric::RocAuc => Metric::ColumnRocAuc,
        Metric::LogLoss => Metric::ColumnLogLoss,
        other => other,
    })
}

/// The metric of a name that is followed by its short form, as in "mean absolute error (MAE)".
fn with_short_form(name: &str) -> Option<Metric> {
    let (long, short) = name.rsplit_once(' ')?;
    let of_long = known(long).or_else(|| column_wise(long))?;
    let of_short = known(short).or_else(|| column_wise(short))?;
    (of_long == of_short || of_long.of_column() == of_short).then_some(of_long)
}

/// Lower case, words separated by single blanks.
pub(crate) fn normal(text: &str) -> String {
    let text = text.to_lowercase().replace('²', "2").replace("r^2", "r2").replace("$r2$", "r2");
    let words: String = text.chars().map(|c| if c.is_alphanumeric() { c } else { ' ' }).collect();
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
