use crate::metrics::Metric;

use super::super::Description;
use super::{MetricReading, metric};

fn read(text: &str) -> String {
    let has_weights = false;
    match metric(&Description::read(text), has_weights) {
        MetricReading::Known { metric, .. } => metric.name().into_owned(),
        MetricReading::Unknown { phrase, .. } | MetricReading::Contrast { phrase, .. } => {
            format!("\"{phrase}\"")
        }
        MetricReading::Several(readings) => {
            readings.into_iter().map(|(name, _)| name).collect::<Vec<_>>().join(" / ")
        }
        MetricReading::None => String::new(),
    }
}

/// Each text with the name of its metric; in quotation marks the words of a metric that the program cannot compute, or of
/// one that is named only by what it is not; empty for nothing; several with ` / `.
fn check(rows: &[(&str, &str)]) {
    let wrong = rows.iter().filter(|(text, name)| read(text) != *name);
    let wrong: Vec<_> =
        wrong.map(|(text, name)| format!("{text}\n  is {}, not {name}", read(text))).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn descriptions_name_their_metric() {
    check(&[
        ("Submissions are evaluated on the area under the ROC curve.", "ROC-AUC"),
        ("Metric: macro F1-score", "macro F1"),
        ("We evaluate the RMSE.\nR2 is nice.\nSubmissions are evaluated by MAE.", "MAE"),
        ("Submissions are evaluated on the column-wise root mean squared logarithmic error.", "RMSLE"),
        ("## Evaluation Metric\n\nthe *quadratic weighted kappa*, which", "quadratic weighted kappa"),
        ("Entries are evaluated on the mean column-wise ROC AUC", "mean column-wise ROC-AUC"),
        ("<h2>Evaluation</h2><p>Entries are scored by <b>RMSE</b>.</p>", "RMSE"),
        ("**Evaluation**\n\nThe mean absolute\npercentage error\ncounts.", "MAPE"),
        ("| Metric | RMSE |\n|---|---|\n| Target | price |", "RMSE"),
        ("Metrica: RMSE", "RMSE"),
        ("Your score is the percentage of rows that you predict correctly.", "accuracy"),
        ("# Evaluation\n~~RMSE~~ MAE is the metric.", "MAE"),
    ]);
}

#[test]
fn words_around_a_metric_change_it() {
    check(&[
        ("Submissions are scored by mean average precision at 3 (MAP@3). Name up to three.", "MAP@3"),
        ("Evaluated by MAP@K with K = 7.", "MAP@7"),
        ("Submissions are evaluated by top-5 accuracy.", "top-5 accuracy"),
        ("The score is the MAE of the logarithms.", "\"MAE of the logarithms\""),
        ("Scored by the linear weighted kappa", "\"linear weighted kappa\""),
        ("Submissions are scored by the weighted RMSE.", "\"weighted RMSE\""),
        ("Submissions are scored by the partial AUC up to an FPR of 0.1.", "\"partial AUC up\""),
        ("# Evaluation\n$$\\text{RMSE} = \\sqrt{\\frac{1}{n}\\sum_i (y_i - p_i)^2}$$", "RMSE"),
        ("Submissions are scored by the pinball loss at the 0.9 quantile.", "pinball loss 0.9"),
        ("Submissions are scored by the pinball loss.", "\"pinball loss\""),
        ("Forecasts are compared by the energy score.", "\"energy score\""),
        ("Scored by RMSE divided by the range.", "\"RMSE divided\""),
        ("The score is the F1. It is macro-averaged F1.", "macro F1"),
        ("Scored by the RMSE of each store, then averaged.", "\"RMSE of each store (per store)\""),
        ("The score is one minus the accuracy.", "\"one minus the accuracy\""),
        ("The score is 100*(1-RMSE).", "\"1-RMSE (in a formula)\""),
        ("# Evaluation\nThe RMSE is only computed for items of today.", "\"RMSE is only (partial)\""),
        ("Scored by MAE: `mean(|p - a|)`, weighted by sales.", "\"MAE: mean(|p - a|), weighted\""),
        ("Scored by MAE: `1/n * sum(abs(y_i - y_hat_i))`.", "MAE"),
        ("Scored by MAE: `mean(w * |p - a|)`.", "\"MAE (in a formula)\""),
        ("Scored by RMSE, `np.sqrt(np.mean((y - p)**2))`.", "RMSE"),
        ("Scored by SMAPE: `100 / n * sum(|p - a| / ((|p| + |a|) / 2))`.", "SMAPE"),
        ("Scored by the RMSE of `price (EUR/m2)`.", "RMSE"),
    ]);
}

#[test]
fn headings_say_what_is_beside_the_matter() {
    check(&[
        (
            "# CommonLit Readability Prize\n\nBuild it with good accuracy.\n\n## Overview\nSubmissions are scored on RMSE.",
            "RMSE",
        ),
        ("Scored by RMSE.\n\n# Evaluation of the baseline\nIt is evaluated by accuracy.", "RMSE"),
        ("High accuracy.\n\n# Evaluation\n**See the baseline.**\n\nSubmissions are scored by RMSE.", "RMSE"),
    ]);
}

#[test]
fn what_does_not_count_is_no_reading() {
    check(&[
        ("Not by accuracy but by F1 are entries ranked. The metric is F1.", "F1"),
        ("We use macro F1 instead of accuracy.", "macro F1"),
        ("Submissions are ranked by AUC. Ties are broken by log loss.", "ROC-AUC"),
        (
            "Last year, submissions were scored by accuracy. This year submissions are scored by macro F1.",
            "macro F1",
        ),
        ("The paper of Ng et al. reports accuracy. We score by MAE.", "MAE"),
        ("Submissions are scored by RMSE. Our baseline has an accuracy of 0.9.", "RMSE"),
        ("Submissions are scored by AUC since accuracy is misleading for rare classes.", "ROC-AUC"),
        ("Accuracy used to be the metric. Submissions are scored by F1.", "F1"),
        ("Submissions are not scored by accuracy, log loss or F1, but by MCC.", "MCC"),
    ]);
}

#[test]
fn unknown_metrics_are_told_in_their_words() {
    check(&[
        ("Submissions are evaluated using the Foo-Bar significance.", "\"Foo-Bar significance\""),
        ("The evaluation metric is the profit in euros.", "\"profit\""),
        (
            "Submissions are evaluated on the Weighted Root Mean Squared Scaled Error (RMSSE).",
            "\"Weighted Root Mean Squared Scaled Error\"",
        ),
        ("Submissions are evaluated on the test set.", ""),
    ]);
}

#[test]
fn formulas_are_quoted_whole() {
    let formula = "the square root of the mean of (log(p + 1) - log(a + 1))^2";
    let text = format!("# Evaluation\nSubmissions are scored by {formula}.");
    let MetricReading::Known { metric: Metric::Rmsle, from } = metric(&Description::read(&text), false)
    else {
        panic!("{text}");
    };
    assert!(from.contains(formula), "{from}");
    // In words, the RMSE of logarithms is RMSLE, whether or not they mention the 1 that it adds. A formula is exact: without
    // `+ 1`, it is another metric.
    check(&[
        ("Submissions are scored with the square root of the mean of (log(p + 1) - log(a + 1))^2.", "RMSLE"),
        (
            "Submissions are scored by the square root of the mean of (log(p) - log(a))^2.",
            "\"square root of the mean of (log(p) - log(a))^2\"",
        ),
    ]);
}

#[test]
fn literature_names_no_metric() {
    check(&[
        ("Predict the price.\n\n## References\n\nThe RMSE of prices: a study.", ""),
        (
            "Predict the price.\n\nReferences:\n- Willmott, C. J. (2005). Advantages of the MAE. Climate Research.",
            "",
        ),
        (
            "Predict the price.\nHanley JA, McNeil BJ. The area under the ROC curve. Radiology 1982;143:29-36.",
            "",
        ),
        ("Scored by RMSE.\n\n# Bibliography\n\nThe metric is MAE.", "RMSE"),
    ]);
}

#[test]
fn two_metrics_are_two_readings() {
    check(&[
        ("The MAE and the RMSE are interesting.\nR2 too.", "MAE / RMSE / R2"),
        ("Submissions are scored by accuracy and macro F1.", "accuracy / macro F1"),
    ]);
}
