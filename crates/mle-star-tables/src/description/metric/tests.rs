use mle_star_metrics::names::Metric;

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
        ("High accuracy matters.\n# Evaluation\n\nWe use the RMSE of log prices.", "RMSLE"),
        ("Metric: macro F1-score", "macro F1"),
        ("Experts evaluate all, for accuracy.\n# Evaluation\nSubmissions: log loss.", "log loss"),
        ("We evaluate the RMSE.\nR2 is nice.\nSubmissions are evaluated by MAE.", "MAE"),
        ("Scored by balanced accuracy", "balanced accuracy"),
        ("Root-Mean-Squared-Logarithmic-Error is the metric", "RMSLE"),
        ("The MAE of a good model is small.", "MAE"),
        ("# Data\nPredict the price.", ""),
        (
            "Submissions are evaluated based on their classification accuracy, the percentage of rows",
            "accuracy",
        ),
        ("Submissions are evaluated on the column-wise root mean squared logarithmic error.", "RMSLE"),
        ("Entries are evaluated using the [multi-class logarithmic loss](https://x.y/log-loss)", "log loss"),
        ("## Evaluation Metric\n\nthe *quadratic weighted kappa*, which", "quadratic weighted kappa"),
        ("Entries are evaluated on the mean column-wise ROC AUC", "mean column-wise ROC-AUC"),
        ("The metric is the micro-averaged F1-Score", "micro F1"),
        ("The metric is the sample-averaged F1-Score", "sample-averaged F1"),
        ("The metric is the weighted F1", "weighted F1"),
        ("Models are evaluated by the Matthews correlation coefficient (MCC)", "MCC"),
        ("Metric: mean squared error", "MSE"),
        ("<h2>Evaluation</h2><p>Entries are scored by <b>RMSE</b>.</p>", "RMSE"),
        ("Evaluation\n==========\nMAE.", "MAE"),
        ("**Evaluation**\n\nThe mean absolute\npercentage error\ncounts.", "MAPE"),
        ("| Metric | RMSE |\n|---|---|\n| Target | price |", "RMSE"),
        ("| property | value |\n|---|---|\n| Metric | log loss |\n", "log loss"),
        ("Metrica: RMSE", "RMSE"),
        ("# Bewertung\nDie Vorhersagen werden mit dem RMSE bewertet.", "RMSE"),
        ("Your score is the percentage of rows that you predict correctly.", "accuracy"),
        ("Predict y. RMSE.", "RMSE"),
        ("Build models with high accuracy.\n\n# Evaluation\nRMSE is used to rank submissions.", "RMSE"),
        (
            "# Evaluation\nLogLoss is the evaluation metric used to determine the winners. Accuracy will be shown too.",
            "log loss",
        ),
        ("The area under the ROC curve will be used to score your submission.", "ROC-AUC"),
        ("# Evaluation\nEvaluation Metric - RMSE", "RMSE"),
        ("# Evaluation\nThe metric measures the accuracy of your predictions.", "accuracy"),
        ("First prize: $10,000.\n\n# Evaluation\n$$RMSE = \\sqrt{x}$$", "RMSE"),
        ("# Evaluation\n~~RMSE~~ MAE is the metric.", "MAE"),
    ]);
}

#[test]
fn words_around_a_metric_change_it() {
    check(&[
        ("Submissions are scored by mean average precision at 3 (MAP@3). Name up to three.", "MAP@3"),
        ("Evaluated by MAP@K with K = 7.", "MAP@7"),
        ("Submissions are evaluated by the average precision.", "average precision"),
        ("Submissions are evaluated by top-5 accuracy.", "top-5 accuracy"),
        (
            "The score is the root mean squared error (RMSE) between the logarithm of the predicted rent and the logarithm of the real one.",
            "RMSLE",
        ),
        (
            "Submissions are evaluated on Root-Mean-Squared-Error (RMSE) between the log of the predicted value and the log of the price.",
            "RMSLE",
        ),
        ("# Evaluation\nRMSE. Both values are log-transformed before scoring.", "RMSLE"),
        ("The score is the RMSE; no logarithm is taken.", "RMSE"),
        ("The score is the MAE of the logarithms.", "\"MAE of the logarithms\""),
        (
            "Scored by the mean F1 of the tags, sample-averaged: F1 of each row's set, then the mean over rows.",
            "sample-averaged F1",
        ),
        ("The evaluation metric is Mean F1-Score.", "\"Mean F1-Score\""),
        ("Scored by the linear weighted kappa", "\"linear weighted kappa\""),
        ("Scored by mean squared logarithmic error", "\"mean squared logarithmic error\""),
        ("Submissions are scored by the Brier skill score.", "\"Brier skill score\""),
        ("Submissions are scored by the weighted RMSE.", "\"weighted RMSE\""),
        ("Submissions are scored by MAE, weighted by sales.", "\"MAE, weighted\""),
        ("Submissions are scored by the partial AUC up to an FPR of 0.1.", "\"partial AUC up\""),
        ("Submissions are scored by the partial AUC above 80% true positive rate.", "\"partial AUC above\""),
        ("Predict the probability of no. The score is the ROC AUC.", "ROC-AUC"),
        ("# Evaluation\n$$\\text{RMSE} = \\sqrt{\\frac{1}{n}\\sum_i (y_i - p_i)^2}$$", "RMSE"),
        ("# Evaluation\n```\nscore = f1_score(y, p, average=\"macro\")\n```", "macro F1"),
        (
            "Submissions are evaluated on the overlap of true and predicted words. The final score is the macro F1 of matches.",
            "overlap / macro F1",
        ),
        ("Submissions are evaluated by the normalized Gini coefficient.", "normalized Gini"),
        ("Submissions are scored by the pinball loss at the 0.9 quantile.", "pinball loss 0.9"),
        ("Submissions are scored by the quantile loss for the 90th percentile.", "pinball loss 0.9"),
        ("Submissions are scored by the pinball loss.", "\"pinball loss\""),
        ("Forecasts are compared by the energy score.", "\"energy score\""),
        ("Submissions are scored by a custom score defined below.", "\"custom score\""),
        ("Scored by RMSE divided by the range.", "\"RMSE divided\""),
        ("Scored by the AUC (area under the precision-recall curve).", "average precision"),
        ("Scored by F1 (macro).", "macro F1"),
        ("The score is the F1. It is macro-averaged F1.", "macro F1"),
        ("Scored by the RMSE of each store, then averaged.", "\"RMSE of each store (per store)\""),
        ("The score is one minus the accuracy.", "\"one minus the accuracy\""),
        ("The score is the negative of the RMSE.", "\"negative of the RMSE\""),
        ("Submissions are scored with -RMSE.", "\"RMSE (in a formula)\""),
        ("The score is 100*(1-RMSE).", "\"1-RMSE (in a formula)\""),
        ("Scored by RMSE of log10(price).", "\"RMSE of log10\""),
        ("Submissions are scored by accuracy gain.", "\"accuracy gain\""),
        ("Submissions are evaluated using a gini stability metric.", "\"gini stability\""),
        ("# Evaluation\nThe RMSE is only computed for items of today.", "\"RMSE is only (partial)\""),
        ("Submissions are evaluated on RMSE, and the top 10 teams are invited.", "RMSE"),
        ("Submissions are evaluated by the MAE in minutes per trip.", "MAE"),
    ]);
}

#[test]
fn averages_over_parts_are_others() {
    check(&[
        ("Scored by RMSE averaged over the 10 stores.", "\"RMSE averaged over the (per stores)\""),
        ("Scored by RMSE averaged over the 1000 rows.", "RMSE"),
        ("Scored by F1 averaged over the 5 classes.", "macro F1"),
        (
            "Submissions are evaluated on the mean of the Pearson correlation coefficient for each time ID.",
            "\"Pearson correlation coefficient for each time (per time)\"",
        ),
        ("Scored by the RMSE of each time series.", "\"RMSE of each time (per time)\""),
        (
            "Submissions are ranked by average Pearson correlation per row.",
            "\"average Pearson correlation per row\"",
        ),
    ]);
}

#[test]
fn parts_of_a_score_are_no_metric() {
    let parts = "0.7 * AUC + 0.3 (in a formula) / 0.3 * F1 (in a formula)";
    check(&[
        ("# Evaluation\nScore = 0.7 * AUC + 0.3 * F1\n\nAUC is the area under the ROC curve.", parts),
        (
            "# Evaluation\nScore: 0.6*AUC + 0.4*F1. The AUC is the area under the ROC curve.",
            "0.6*AUC + 0.4 (in a formula) / 0.4*F1 (in a formula)",
        ),
        ("Scored by *F1* (macro).", "macro F1"),
    ]);
}

#[test]
fn only_what_is_called_a_level_is_one() {
    check(&[
        (
            "Submissions are scored by the pinball loss. The public leaderboard uses 30% of the test rows.",
            "\"pinball loss\"",
        ),
        ("The metric is the quantile loss. The baseline reaches 0.25.", "\"quantile loss\""),
        ("Scored by the Winkler score. It is based on 70% of the data.", "\"Winkler score\""),
        ("Scored by the Winkler score. The coverage should be 90%.", "interval score 0.9"),
        ("Scored by the pinball loss at 0.9.", "pinball loss 0.9"),
        ("Scored by the pinball loss. Predict the 0.1 and 0.9 quantiles.", "\"pinball loss\""),
        ("The metric is MAP@K where n = 20 is the number of users and k = 5.", "MAP@5"),
        ("Scored by MAP@K for k=1..5.", "\"MAP@K (at k)\""),
    ]);
}

#[test]
fn headings_say_what_is_beside_the_matter() {
    check(&[
        (
            "# CommonLit Readability Prize\n\nBuild it with good accuracy.\n\n## Overview\nSubmissions are scored on RMSE.",
            "RMSE",
        ),
        ("# Related work\nSubmissions are scored by accuracy.\n# Task\nSubmissions are scored by F1.", "F1"),
        ("# Citation prediction\n## Task\nSubmissions are scored by RMSLE.", "RMSLE"),
        ("High accuracy.\n\n# Evaluation and baseline\nSubmissions are scored by RMSE.", "RMSE"),
        ("Scored by RMSE.\n\n# Evaluation of the baseline\nIt is evaluated by accuracy.", "RMSE"),
        ("High accuracy.\n\n# Evaluation\n**See the baseline.**\n\nSubmissions are scored by RMSE.", "RMSE"),
        ("Scored by RMSE.\n\n**Baseline**\n\nSubmissions of it are scored by accuracy.", "RMSE"),
    ]);
}

#[test]
fn logarithms_of_symbols_count() {
    check(&[
        (
            "# Evaluation\nSubmissions are scored on the root mean squared error.\n\nwhere y is the natural log of the actual revenue plus one.",
            "RMSLE",
        ),
        ("# Evaluation\nRMSE. Both are log10-transformed before scoring.", "\"RMSE (log10)\""),
    ]);
}

#[test]
fn a_contrast_is_quoted() {
    check(&[
        ("Submissions are scored not by accuracy but by macro F1.", "\"not by accuracy but by macro F1\""),
        ("Entries are ranked not by accuracy but by log loss.", "\"not by accuracy but by log loss\""),
        ("The metric is not the RMSE, but rather the MAE.", "\"not the RMSE, but rather the MAE\""),
    ]);
}

#[test]
fn what_does_not_count_is_no_reading() {
    check(&[
        ("Not by accuracy but by F1 are entries ranked. The metric is F1.", "F1"),
        ("Submissions are scored not by accuracy, which is high, but judged by F1 here.", "F1"),
        ("We use macro F1 instead of accuracy.", "macro F1"),
        ("Instead of accuracy, MCC is used to score submissions.", "MCC"),
        ("Submissions are scored by R2 over all samples.", "R2"),
        ("Submissions are scored by the pinball loss (q = 0.9).", "pinball loss 0.9"),
        ("Instead of accuracy, we use log loss.", "log loss"),
        ("Submissions are ranked by log loss rather than accuracy.", "log loss"),
        ("Submissions are ranked by AUC. Ties are broken by log loss.", "ROC-AUC"),
        ("Submissions are ranked by AUC, with log loss as a tie-breaker.", "ROC-AUC"),
        (
            "Last year, submissions were scored by accuracy. This year submissions are scored by macro F1.",
            "macro F1",
        ),
        ("Unlike last year's challenge, which used accuracy, submissions are scored by F1.", "F1"),
        ("The paper of Ng et al. reports accuracy. We score by MAE.", "MAE"),
        ("Submissions are scored by RMSE. Our baseline has an accuracy of 0.9.", "RMSE"),
        ("Submissions are scored by AUC since accuracy is misleading for rare classes.", "ROC-AUC"),
        ("Submissions are scored by AUC. Accuracy is not used.", "ROC-AUC"),
        ("Submissions are scored by AUC, and the accuracy is shown for information.", "ROC-AUC"),
        ("# Baseline\nScored by accuracy: 0.8.\n# Evaluation\nScored by MCC.", "MCC"),
        ("Models may be trained with log loss; predictions are evaluated by Brier score.", "Brier score"),
        ("Accuracy used to be the metric. Submissions are scored by F1.", "F1"),
        ("Instead of accuracy, log loss or F1, we use MCC.", "MCC"),
        ("Submissions are scored by MCC rather than accuracy, F1 or log loss.", "MCC"),
        ("Submissions are not scored by accuracy, log loss or F1, but by MCC.", "MCC"),
        ("In the past, accuracy was used. Submissions are scored by F1.", "F1"),
        ("Accuracy was used in the past. Submissions are scored by F1.", "F1"),
        ("The original competition used accuracy. Submissions are scored by F1.", "F1"),
    ]);
}

#[test]
fn words_about_the_data_dismiss_no_metric() {
    check(&[
        (
            "Highest accuracy is the aim.\n# Evaluation\nSubmissions are evaluated with F1 on the original classes.",
            "F1",
        ),
        ("# Evaluation\nRMSE on original scale is the metric. R2 is nice.", "RMSE"),
        ("Submissions are evaluated on RMSE on the original (not log-transformed) price scale.", "RMSE"),
        ("Using the previous 12 months of sales, models are evaluated by MAE.", "MAE"),
        ("Given the past 10 days, the forecasts for the next day are scored by RMSE.", "RMSE"),
        ("Submissions are scored by the accuracy of the predicted authors.", "accuracy"),
        ("For more information, RMSE is our evaluation metric.", "RMSE"),
    ]);
}

#[test]
fn explanations_change_nothing() {
    check(&[
        (
            "Submissions are evaluated by the mean column-wise ROC AUC: the score is the average of the AUCs of each predicted column.",
            "mean column-wise ROC-AUC",
        ),
        (
            "Submissions are evaluated on mean column-wise ROC AUC. In other words, the score is the average of the individual AUCs of each predicted column.",
            "mean column-wise ROC-AUC",
        ),
        (
            "Submissions are scored by MCRMSE: the RMSE of each target column, averaged over the columns.",
            "MCRMSE",
        ),
        (
            "Scored by mean column-wise log loss: the log loss of each column is computed, and the mean of them is the score.",
            "mean column-wise log loss",
        ),
    ]);
}

#[test]
fn unknown_metrics_are_told_in_their_words() {
    check(&[
        (
            "The evaluation metric is the approximate median significance (AMS), computed from the signal and the background.",
            "\"approximate median significance (AMS)\"",
        ),
        ("Submissions are evaluated using the Foo-Bar significance.", "\"Foo-Bar significance\""),
        ("The evaluation metric is the profit in euros.", "\"profit\""),
        ("Submissions are scored by the expected cost of maintenance.", "\"expected cost of maintenance\""),
        ("The evaluation metric is the net profit. The sensors have a high accuracy.", "\"net profit\""),
        (
            "Submissions are evaluated on the Weighted Root Mean Squared Scaled Error (RMSSE).",
            "\"Weighted Root Mean Squared Scaled Error\"",
        ),
        ("Submissions are evaluated by experts.", ""),
        ("Submissions are evaluated on the test set.", ""),
        ("Submissions are evaluated by comparing them with the truth.", ""),
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
        ("Demand is scored by RMSE, price is scored by MAE.", "RMSE / MAE"),
        ("Submissions are evaluated by RMSE.\n\nThe evaluation metric is MAE.", "RMSE / MAE"),
    ]);
}
