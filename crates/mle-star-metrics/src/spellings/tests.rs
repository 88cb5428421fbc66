use super::*;
use crate::names::Level;

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
    check("mean average precision", None);
    check("MAP@3", Some(Metric::MapAt(3)));
    check("top-5 accuracy", Some(Metric::TopAccuracy(5)));
    check("Normalized Gini Coefficient", Some(Metric::Gini));
    check("log-RMSE", Some(Metric::Rmsle));
    check("sample-averaged F1-score", Some(Metric::SampleF1));
    check("MCRMSE", Some(Metric::ColumnRmse));
    check("Mean Columnwise Root Mean Squared Error (MCRMSE)", Some(Metric::ColumnRmse));
    check("mean column-wise AUC", Some(Metric::ColumnRocAuc));
    check("mean column-wise log loss", Some(Metric::ColumnLogLoss));
    check("MCRMSLE", Some(Metric::Rmsle));
    check("mean column-wise Spearman's correlation coefficient", Some(Metric::Spearman));
    check("mean absolute error (RMSE)", None);
    check("quantile loss", None);
    check("pinball loss", None);
    check("mean squared logarithmic error", None);
    check("word error rate", None);
    check("", None);
}

#[test]
fn row_weights_are_asked_for() {
    let check = |name: &str, expected: Option<Metric>, is_weighted| {
        assert_eq!((Metric::parse(name), Metric::is_weighted(name)), (expected, is_weighted), "{name}");
    };
    check("weighted MAE", Some(Metric::Mae), true);
    check("Weighted Mean Absolute Error", Some(Metric::Mae), true);
    check("WMAE", Some(Metric::Mae), true);
    check("sample-weighted log loss", Some(Metric::LogLoss), true);
    check("weighted pinball loss 0.9", Level::new(0.9).map(Metric::Pinball), true);
    check("weighted F1", Some(Metric::WeightedF1), false);
    check("weighted kappa", Some(Metric::QuadraticKappa), false);
    check("MAE", Some(Metric::Mae), false);
    check("weighted word error rate", None, false);
}

#[test]
fn what_a_name_lacks_is_said() {
    let check = |name: &str, expected| assert_eq!(Metric::lacks(name), expected, "{name}");
    check("quantile loss", Some("its quantile, as in pinball loss 0.9"));
    check("MAP", Some("the number of guesses that count, as in MAP@3"));
    check("MAP@3", None);
    check("accuracy", None);
    check("word error rate", None);
}

#[test]
fn every_name_parses_to_itself() {
    for metric in Metric::ALL {
        assert_eq!(Metric::parse(&metric.name()), Some(metric));
    }
}

#[test]
fn descriptions_name_their_metric() {
    let check = |text: &str, expected: Option<Metric>| {
        assert_eq!(Metric::find_in(text).map(|mention| mention.metric), expected, "{text}");
    };
    check("Submissions are evaluated on the area under the ROC curve.", Some(Metric::RocAuc));
    check("High accuracy matters.\n# Evaluation\n\nWe use the RMSE of log prices.", Some(Metric::Rmsle));
    check("Metric: macro F1-score", Some(Metric::MacroF1));
    check("Experts evaluate all, for accuracy.\n# Evaluation\nSubmissions: log loss.", Some(Metric::LogLoss));
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
    check("Submissions are evaluated on Root-Mean-Squared-Error (RMSE) between the log", Some(Metric::Rmse));
    check("evaluated on the column-wise root mean squared logarithmic error.", Some(Metric::Rmsle));
    check("evaluated using the [multi-class logarithmic loss](https://x.y/log-loss)", Some(Metric::LogLoss));
    check("## Evaluation Metric\n\nthe *quadratic weighted kappa*, which", Some(Metric::QuadraticKappa));
    check("evaluated on the mean column-wise ROC AUC", Some(Metric::RocAuc));
    check("The metric is the micro-averaged F1-Score", Some(Metric::MicroF1));
    check("The metric is the sample-averaged F1-Score", Some(Metric::SampleF1));
    check("scored by the linear weighted kappa", None);
    check("The metric is the weighted F1", Some(Metric::WeightedF1));
    check("evaluated by the Matthews correlation coefficient (MCC)", Some(Metric::Mcc));
    check("Metric: mean squared error", Some(Metric::Mse));
    check("scored by mean squared logarithmic error", None);
}
