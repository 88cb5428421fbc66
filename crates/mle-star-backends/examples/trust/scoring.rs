//! Scores of predictions against answers, computed without Python.

use std::collections::{BTreeMap, HashMap};

use mle_star_metrics::names::Metric;

use crate::statistics::ranks;

/// IDs and answers of rows.
pub type Answers = [(String, String)];

/// The score of a submission: a CSV text with the ID first, then the prediction, or one probability per class in
/// columns named like the classes.
///
/// # Errors
/// The submission lacks rows or columns, has others, or has values that are not numbers; or no formula is known for
/// the metric.
pub fn score(metric: Metric, answers: &Answers, submission: &str) -> Result<f64, String> {
    let (classes, rows) = predictions(answers, submission)?;
    let answers: Vec<&str> = answers.iter().map(|(_, answer)| answer.as_str()).collect();
    if metric == Metric::LogLoss && classes.len() > 1 {
        return log_loss(&answers, &classes, &rows);
    }
    let predicted: Vec<&str> = rows.iter().filter_map(|row| row.first()).map(String::as_str).collect();
    if metric == Metric::Accuracy {
        return Ok(mean(
            answers.iter().zip(&predicted).map(|(one, two)| f64::from(u8::from(same(one, two)))),
        ));
    }
    let pairs = numbers(&answers)?.into_iter().zip(numbers(&predicted)?).collect::<Vec<_>>();
    let squares =
        |change: fn(f64) -> f64| mean(pairs.iter().map(|(one, two)| (change(*one) - change(*two)).powi(2)));
    match metric {
        Metric::RocAuc => Ok(roc_auc(&pairs)),
        Metric::AveragePrecision => Ok(average_precision(pairs)),
        Metric::Mae => Ok(mean(pairs.iter().map(|(one, two)| (one - two).abs()))),
        Metric::Rmse => Ok(squares(|value| value).sqrt()),
        Metric::Rmsle => Ok(squares(|value| value.max(0.0).ln_1p()).sqrt()),
        Metric::QuadraticKappa => Ok(quadratic_kappa(&pairs)),
        other => Err(format!("no formula for {other}")),
    }
}

/// The names of the predicted columns, and their values in the order of the answers.
fn predictions(answers: &Answers, submission: &str) -> Result<(Vec<String>, Vec<Vec<String>>), String> {
    let mut reader = csv::Reader::from_reader(submission.as_bytes());
    let columns: Vec<String> =
        reader.headers().map_err(|error| error.to_string())?.iter().skip(1).map(str::to_owned).collect();
    let mut rows = HashMap::new();
    for record in reader.records() {
        let record = record.map_err(|error| error.to_string())?;
        let mut values = record.iter().map(str::to_owned);
        rows.insert(values.next().unwrap_or_default(), values.collect::<Vec<_>>());
    }
    if columns.is_empty() || rows.len() != answers.len() {
        return Err(format!(
            "{} columns and {} rows instead of {}",
            columns.len(),
            rows.len(),
            answers.len()
        ));
    }
    let row = |id: &String| rows.remove(id).ok_or_else(|| format!("no prediction for row {id}"));
    let values = answers.iter().map(|(id, _)| id).map(row).collect::<Result<_, _>>()?;
    Ok((columns, values))
}

fn number(text: &str) -> Result<f64, String> {
    let value = text.trim().parse::<f64>().ok().filter(|value| value.is_finite());
    value.ok_or_else(|| format!("`{text}` is not a number"))
}

fn numbers(texts: &[&str]) -> Result<Vec<f64>, String> {
    texts.iter().map(|text| number(text)).collect()
}

/// Whether two labels are equal, also as numbers.
fn same(one: &str, two: &str) -> bool {
    one == two || matches!((number(one), number(two)), (Ok(one), Ok(two)) if one == two)
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (count, sum) = values.fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + value));
    sum / count
}

fn log_loss(answers: &[&str], classes: &[String], rows: &[Vec<String>]) -> Result<f64, String> {
    let mut losses = Vec::with_capacity(rows.len());
    for (answer, row) in answers.iter().zip(rows) {
        let shares = row.iter().map(|text| number(text)).collect::<Result<Vec<_>, _>>()?;
        let position = classes.iter().position(|class| class == answer);
        let share = position.and_then(|position| shares.get(position));
        let share =
            share.ok_or_else(|| format!("no column for class {answer}"))? / shares.iter().sum::<f64>();
        losses.push(-share.max(1e-15).ln());
    }
    Ok(mean(losses.into_iter()))
}

/// The share of pairs of a positive and a negative row that are in the right order; ties count half.
fn roc_auc(pairs: &[(f64, f64)]) -> f64 {
    let ranks = ranks(&pairs.iter().map(|(_, predicted)| *predicted).collect::<Vec<_>>());
    let is_positive = |(answer, _): &(f64, f64)| *answer > 0.5;
    let positives = pairs.iter().filter(|pair| is_positive(pair)).count() as f64;
    let negatives = pairs.len() as f64 - positives;
    let sum: f64 = pairs.iter().zip(&ranks).filter(|(pair, _)| is_positive(pair)).map(|(_, rank)| rank).sum();
    (sum - positives * (positives + 1.0) / 2.0) / (positives * negatives)
}

/// The mean precision at the positive rows, best predictions first; equal predictions share one threshold.
fn average_precision(mut pairs: Vec<(f64, f64)>) -> f64 {
    pairs.sort_by(|one, two| two.1.total_cmp(&one.1));
    let (mut found, mut seen, mut sum) = (0.0, 0.0, 0.0);
    for tied in pairs.chunk_by(|one, two| one.1 == two.1) {
        let positives: f64 = tied.iter().map(|(answer, _)| answer).sum();
        found += positives;
        seen += tied.len() as f64;
        sum += positives * found / seen;
    }
    sum / found
}

/// 1 minus the mean squared distance of grades, as a share of that of independent grades.
fn quadratic_kappa(pairs: &[(f64, f64)]) -> f64 {
    let count = |values: &mut dyn Iterator<Item = f64>| {
        let mut counts = BTreeMap::<i64, f64>::new();
        values.for_each(|value| *counts.entry(value.round() as i64).or_default() += 1.0);
        counts
    };
    let answers = count(&mut pairs.iter().map(|(answer, _)| *answer));
    let predicted = count(&mut pairs.iter().map(|(_, predicted)| *predicted));
    let observed = mean(pairs.iter().map(|(one, two)| (one.round() - two.round()).powi(2)));
    let every = answers.iter().flat_map(|one| predicted.iter().map(move |two| (one, two)));
    let expected: f64 = every.map(|((a, m), (b, n))| m * n * ((a - b) as f64).powi(2)).sum();
    1.0 - observed * (pairs.len() as f64).powi(2) / expected
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_follow_their_formulas() {
        let check = |metric, answers: &[&str], predicted: &[&str], expected: f64| {
            let answers: Vec<(String, String)> = answers
                .iter()
                .enumerate()
                .map(|(id, answer)| (id.to_string(), (*answer).to_owned()))
                .collect();
            let rows: Vec<String> =
                predicted.iter().enumerate().map(|(id, value)| format!("{id},{value}\n")).collect();
            let header = if metric == Metric::LogLoss { "id,a,b" } else { "id,y" };
            let found = score(metric, &answers, &format!("{header}\n{}", rows.concat())).unwrap();
            assert!((found - expected).abs() < 1e-9, "{metric}: {found}");
        };
        check(Metric::Accuracy, &["no", "1", "yes"], &["no", "1.0", "no"], 2.0 / 3.0);
        // Values of scikit-learn.
        check(Metric::RocAuc, &["0", "1", "0", "1"], &["0.1", "0.4", "0.4", "0.8"], 0.875);
        check(Metric::AveragePrecision, &["0", "0", "1", "1"], &["0.1", "0.4", "0.35", "0.8"], 5.0 / 6.0);
        check(Metric::AveragePrecision, &["1", "0", "1", "0"], &["0.5", "0.5", "0.5", "0.1"], 2.0 / 3.0);
        check(Metric::LogLoss, &["a", "b"], &["0.8,0.2", "1,1"], -(0.8_f64.ln() + 0.5_f64.ln()) / 2.0);
        check(Metric::Mae, &["1", "2"], &["2", "4"], 1.5);
        check(Metric::Rmse, &["1", "2"], &["2", "4"], 2.5_f64.sqrt());
        check(
            Metric::Rmsle,
            &["0", "3"],
            &["1", "-1"],
            ((2_f64.ln().powi(2) + 4_f64.ln().powi(2)) / 2.0).sqrt(),
        );
        check(Metric::QuadraticKappa, &["0", "1", "2"], &["0", "1", "1"], 2.0 / 3.0);
    }

    #[test]
    fn incomplete_submissions_have_no_score() {
        let check = |submission: &str, expected: &str| {
            let answers = [("1".to_owned(), "0".to_owned()), ("2".to_owned(), "1".to_owned())];
            let error = score(Metric::RocAuc, &answers, submission).unwrap_err();
            assert!(error.contains(expected), "{error}");
        };
        check("id,y\n1,0.5\n", "1 columns and 1 rows instead of 2");
        check("id,y\n1,0.5\n3,0.5\n", "no prediction for row 2");
        check("id,y\n1,0.5\n2,high\n", "`high` is not a number");
        check("id\n1\n2\n", "0 columns");
    }
}
