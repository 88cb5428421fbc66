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
    check("weighted_mae", Some(Metric::Mae), true);
    check("sample_weighted_rmse", Some(Metric::Rmse), true);
    check("WMAPE", None, false);
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
fn words_of_names_are_known() {
    let names = SPELLINGS.iter().flat_map(|(_, spellings)| *spellings).copied();
    let further = [
        "mcrmsle",
        "wmae",
        "map at 3",
        "pinball loss 0.9",
        "top five accuracy",
        "quantile loss for the 90th percentile",
    ];
    for name in names.chain(further) {
        assert!(name.split(' ').all(Metric::may_have), "{name}");
    }
    for word in ["customer", "predictions'", "house"] {
        assert!(!Metric::may_have(word), "{word}");
    }
}
