use super::*;
use crate::metrics::Level;

#[test]
fn spellings_lead_to_their_metric() {
    let check = |name: &str, expected| assert_eq!(Metric::parse(name), expected, "{name}");
    check("Accuracy", Some(Metric::Accuracy));
    check("F1-score", Some(Metric::F1));
    check("f1_macro", Some(Metric::MacroF1));
    check("PR-AUC", Some(Metric::AveragePrecision));
    check("RMSLE", Some(Metric::Rmsle));
    check("R²", Some(Metric::R2));
    check("Quadratic Weighted Kappa", Some(Metric::QuadraticKappa));
    check("Symmetric mean absolute percentage error", Some(Metric::Smape));
    check("mean average precision", None);
    check("top-5 accuracy", Some(Metric::TopAccuracy(5)));
    check("Mean Columnwise Root Mean Squared Error (MCRMSE)", Some(Metric::ColumnRmse));
    check("mean absolute error (RMSE)", None);
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
    check("WMAPE", None, false);
    check("weighted pinball loss 0.9", Level::new(0.9).map(Metric::Pinball), true);
    check("weighted F1", Some(Metric::WeightedF1), false);
    check("weighted kappa", Some(Metric::QuadraticKappa), false);
    check("MAE", Some(Metric::Mae), false);
    check("weighted word error rate", None, false);
}

#[test]
fn every_name_parses_to_itself() {
    for metric in Metric::ALL {
        assert_eq!(Metric::parse(&metric.name()), Some(metric));
    }
}
