use std::fmt::Write as _;

use super::*;
use crate::labels::Columns;

fn table(values: impl Iterator<Item = String>) -> String {
    let mut text = "id,y\n".to_owned();
    values.enumerate().for_each(|(id, value)| writeln!(text, "{id},{value}").unwrap());
    text
}

/// A number from 0 to 1 that looks random.
fn noise(row: usize, salt: u64) -> f64 {
    let bits =
        (row as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ salt.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

fn select(metric: Metric, truth: &str, files: &[(&str, f64)], seconds: f64) -> Option<Selection> {
    let columns = Columns::new(Some("id".to_owned()), "y");
    let labels = Labels::read(truth.as_bytes(), &columns, metric).unwrap();
    let header = ["id", "y"].map(str::to_owned);
    let layout = Layout { header: &header, id_column: Some("id") };
    let members =
        files.iter().map(|(file, seconds)| Member { predictions: file.as_bytes(), seconds: *seconds });
    labels.select(members, &layout, seconds, 50).unwrap()
}

/// A truth, and predictions of it with independent errors of these sizes.
fn numbers(rows: usize, errors: &[f64]) -> (String, Vec<String>) {
    let truth = |row: usize| (row % 97) as f64 / 10.0;
    let predicted = (0..).zip(errors).map(|(salt, size)| {
        table((0..rows).map(|row| (truth(row) + size * (noise(row, salt) - 0.5)).to_string()))
    });
    (table((0..rows).map(|row| truth(row).to_string())), predicted.collect())
}

#[test]
fn members_with_independent_errors_share_the_weight() {
    let (truth, files) = numbers(2_000, &[1.0, 1.0, 4.0]);
    let files: Vec<(&str, f64)> = files.iter().map(|file| (file.as_str(), 1.0)).collect();
    let Selection { weights, measured, is_better, .. } = select(Metric::Rmse, &truth, &files, 10.0).unwrap();
    assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    assert!((weights[0] - 0.5).abs() < 0.1 && weights[2] < 0.1, "{weights:?}");
    // The error of one of them is 1 / sqrt(12), and that of their mean smaller by sqrt(2).
    assert!((measured.score - 0.288_7 / 2_f64.sqrt()).abs() < 0.01, "{}", measured.score);
    assert_eq!((measured.rows, is_better), (2_000, true));
}

#[test]
fn members_fit_into_the_time_and_one_is_no_ensemble() {
    let (truth, files) = numbers(500, &[1.0, 1.0, 1.0]);
    let with = |seconds: [f64; 3], limit| {
        let files: Vec<(&str, f64)> = files.iter().map(String::as_str).zip(seconds).collect();
        select(Metric::Mae, &truth, &files, limit)
    };
    let chosen = with([5.0, 5.0, 5.0], 10.0).unwrap().weights;
    assert_eq!(chosen.iter().filter(|weight| **weight > 0.0).count(), 2, "{chosen:?}");
    assert_eq!(with([5.0, 6.0, 6.0], 10.0), None);
}

#[test]
fn labels_are_voted_on() {
    let truth = |row: usize| ["low", "mid", "top"][row % 3];
    // Each member is wrong on other rows.
    let file = |salt: u64| {
        let label = |row: usize| truth(row + usize::from(noise(row, salt) < 0.3));
        table((0..600).map(|row| label(row).to_owned()))
    };
    let files = [file(1), file(2), file(3)];
    let files: Vec<(&str, f64)> = files.iter().map(|file| (file.as_str(), 1.0)).collect();
    let truth = table((0..600).map(|row| truth(row).to_owned()));
    let selection = select(Metric::Accuracy, &truth, &files, 10.0).unwrap();
    assert!(selection.measured.score > 0.75, "{selection:?}");
}

#[test]
fn files_with_other_rows_have_no_weight() {
    let (truth, files) = numbers(400, &[1.0, 1.0]);
    let fewer: String = files[1].lines().take(300).map(|line| format!("{line}\n")).collect();
    assert_eq!(select(Metric::Rmse, &truth, &[(&files[0], 1.0), (&fewer, 1.0)], 10.0), None);
    let selection =
        select(Metric::Rmse, &truth, &[(&files[0], 1.0), ("id,z\n", 1.0), (&files[1], 1.0)], 10.0);
    assert_eq!(selection.unwrap().weights[1], 0.0);
}
