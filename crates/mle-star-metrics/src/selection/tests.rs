use std::fmt::Write as _;

use super::*;
use crate::labels::Columns;

const HEADER: [&str; 2] = ["id", "y"];

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
    select_columns(metric, truth, files, &HEADER, seconds)
}

fn select_columns(
    metric: Metric,
    truth: &str,
    files: &[(&str, f64)],
    header: &[&str],
    seconds: f64,
) -> Option<Selection> {
    let columns = Columns::new(Some("id".to_owned()), "y");
    let labels = Labels::read(truth.as_bytes(), &columns, metric).unwrap();
    let header: Vec<String> = header.iter().map(|name| (*name).to_owned()).collect();
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

/// A truth of two targets, and predictions with errors of these sizes.
fn two_targets(rows: usize, errors: &[[f64; 2]]) -> (String, Vec<String>) {
    let table = |value: &dyn Fn(usize, u64) -> f64| {
        let row = |row: usize| format!("{row},{},{}\n", value(row, 0), value(row, 1));
        format!("id,y,z\n{}", (0..rows).map(row).collect::<String>())
    };
    let truth = |row: usize, target: u64| (row % 97 + 10 * target as usize) as f64 / 10.0;
    let predicted = (0..).zip(errors).map(|(salt, sizes)| {
        table(&|row, target| {
            truth(row, target) + sizes[target as usize] * (noise(row, 2 * salt + target) - 0.5)
        })
    });
    (table(&truth), predicted.collect())
}

fn select_for_two(metric: Metric, truth: &str, files: &[String]) -> Option<Selection> {
    let header = ["id", "y", "z"].map(str::to_owned);
    let [id, target, further] = header.clone();
    let columns = Columns { id: Some(id), target, further: vec![further], ..Columns::default() };
    let labels = Labels::read(truth.as_bytes(), &columns, metric).unwrap();
    let layout = Layout { header: &header, id_column: Some("id") };
    let members = files.iter().map(|file| Member { predictions: file.as_bytes(), seconds: 1.0 });
    labels.select(members, &layout, 10.0, 50).unwrap()
}

/// The label of the first member, as in the file that is written.
#[test]
fn of_labels_with_equal_votes_that_of_the_earliest_member_is_scored() {
    let truth = table((0..40).map(|row| ["cat", "cow", "dog"][row % 3].to_owned()));
    let columns = Columns::new(Some("id".to_owned()), "y");
    let labels = Labels::read(truth.as_bytes(), &columns, Metric::Accuracy).unwrap();
    let header = HEADER.map(str::to_owned);
    let layout = Layout { header: &header, id_column: Some("id") };
    let files = ["dog", "cat", "cow"].map(|label| table((0..40).map(|_| label.to_owned())));
    let rows =
        files.each_ref().map(|file| labels.predicted(file.as_bytes(), &layout, Others::Reject).unwrap());
    let members = rows.iter().map(|file| file.iter().map(spread).collect()).collect();
    let library = Library::new(&rows[0], members, &[1.0; 3], 10.0);
    let chosen = |weights: &[f64]| {
        let target = &library.targets[0];
        target.decide(&target.combined(weights))[0]
    };
    let [cat, cow, dog] = [0.0, 1.0, 2.0];
    for (weights, expected) in [([0.5, 0.5, 0.0], dog), ([0.0, 0.5, 0.5], cat), ([0.3, 0.3, 0.4], cow)] {
        assert_eq!(chosen(&weights).to_bits(), f64::to_bits(expected), "{weights:?}");
    }
}

/// Where both members say yes is a better guess than either, but it is not what is written.
#[test]
fn the_search_counts_equal_votes_as_they_are_written() {
    let is_yes = |row: usize| row.is_multiple_of(3);
    let word = |is_yes: bool| if is_yes { "yes" } else { "no" }.to_owned();
    let truth = table((0..600).map(|row| word(is_yes(row))));
    let files = [1, 2].map(|salt| table((0..600).map(|row| word(is_yes(row) || noise(row, salt) < 0.3))));
    let columns = Columns::new(Some("id".to_owned()), "y");
    let labels = Labels::read(truth.as_bytes(), &columns, Metric::F1).unwrap();
    let header = HEADER.map(str::to_owned);
    let layout = Layout { header: &header, id_column: Some("id") };
    let rows = files.map(|file| labels.predicted(file.as_bytes(), &layout, Others::Reject).unwrap());
    let members = rows.iter().map(|file| file.iter().map(spread).collect()).collect();
    let library = Library::new(&rows[0], members, &[1.0; 2], 10.0);
    let mut weights = library.search(&Sample::all(library.rows(|_| true))).run();
    weights.sort_by(f64::total_cmp);
    assert_eq!(weights, [0.0, 1.0]);
}

#[test]
fn members_of_any_scale_are_compared_by_order() {
    let rows = 2_000;
    let truth = |row: usize| f64::from(u8::from(noise(row, 90) < 0.2));
    let file = |(salt, scale): (u64, f64)| {
        table((0..rows).map(|row| (scale * (truth(row) + 2.0 * noise(row, salt))).to_string()))
    };
    // Equally good, so that folds choose different ones.
    let files: Vec<String> = (0..).zip([1.0, 1e3, 1e-3, 1e6, 10.0]).map(file).collect();
    let truth = table((0..rows).map(|row| truth(row).to_string()));
    let files: Vec<(&str, f64)> = files.iter().map(|file| (file.as_str(), 1.0)).collect();
    for (metric, least) in [(Metric::RocAuc, 0.85), (Metric::AveragePrecision, 0.6), (Metric::Spearman, 0.45)]
    {
        let found = select(metric, &truth, &files, 10.0).unwrap();
        assert!(found.measured.score > least, "{metric} {}", found.measured.score);
    }
}

#[test]
fn a_member_has_the_same_weight_for_all_targets() {
    // Each of the first two is better for one target, the third for none.
    let (truth, files) = two_targets(2_000, &[[1.0, 3.0], [3.0, 1.0], [9.0, 9.0]]);
    let Selection { weights, measured, is_better, .. } =
        select_for_two(Metric::Rmse, &truth, &files).unwrap();
    assert!((0.4..=0.6).contains(&weights[0]) && (0.4..=0.6).contains(&weights[1]), "{weights:?}");
    assert!(is_better);
    // Errors of sizes 1 and 3 with equal weights: half of the root of 10, as a standard deviation.
    let expected = 10_f64.sqrt() / 2.0 / 12_f64.sqrt();
    assert!((measured.score - expected).abs() < 0.03, "{} instead of {expected}", measured.score);
    assert_eq!(measured.rows, 2_000);
}

#[test]
fn labels_of_several_targets_are_not_combined() {
    let label = |row: usize, salt: Option<u64>| {
        let is_wrong = salt.is_some_and(|salt| noise(row, salt) < 0.3);
        ["low", "mid", "top"][(row + usize::from(is_wrong)) % 3]
    };
    let column = |salt| table((0..600).map(|row| label(row, salt).to_owned()));
    let both = |salt| {
        let row = |row: usize| format!("{row},{0},{0}\n", label(row, salt));
        format!("id,y,z\n{}", (0..600).map(row).collect::<String>())
    };
    let members = [1, 2, 3].map(Some);
    assert_eq!(select_for_two(Metric::Accuracy, &both(None), &members.map(both)), None);
    // The same labels of one target are.
    let files = members.map(column);
    let files = files.each_ref().map(|file| (file.as_str(), 1.0));
    assert!(select(Metric::Accuracy, &column(None), &files, 10.0).is_some());
}

#[test]
fn a_target_that_only_one_fold_can_score_is_not_combined() {
    // The rows with a positive z are all in one fold.
    let is_rare = |row: usize| row < 400 && fold_of(crate::table::key(&row.to_string())) == 0;
    let table = |salt: Option<u64>| {
        let value = |truth: bool, row: usize, target: u64| match salt {
            None => f64::from(u8::from(truth)),
            Some(salt) => f64::from(u8::from(truth)) + 2.0 * noise(row, 2 * salt + target),
        };
        let row = |row: usize| {
            format!("{row},{},{}\n", value(row.is_multiple_of(2), row, 0), value(is_rare(row), row, 1))
        };
        format!("id,y,z\n{}", (0..400).map(row).collect::<String>())
    };
    let files = [0, 1].map(|salt| table(Some(salt)));
    assert_eq!(select_for_two(Metric::RocAuc, &table(None), &files), None);
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
fn scores_of_classes_say_more_than_labels() {
    let names = ["low", "mid", "top"];
    // Each member is unsure about other rows, and says so.
    let score = |row: usize, class: usize, salt: u64| {
        let known = if noise(row, salt) < 0.4 { 0.05 } else { 0.6 };
        let right = if row % 3 == class { known } else { 0.0 };
        right + 0.2 * noise(row * 3 + class, salt + 10)
    };
    let file = |salt: u64| {
        let row = |row: usize| [0, 1, 2].map(|class| score(row, class, salt).to_string()).join(",");
        let rows: String = (0..600).map(|at| format!("{at},{}\n", row(at))).collect();
        format!("id,low,mid,top\n{rows}")
    };
    let labels = |salt: u64| {
        let label = |row: usize| {
            (0..3).max_by(|one, two| score(row, *one, salt).total_cmp(&score(row, *two, salt))).unwrap()
        };
        table((0..600).map(|row| names[label(row)].to_owned()))
    };
    let truth = table((0..600).map(|row| names[row % 3].to_owned()));
    let with = |files: [String; 3], header: &[&str]| {
        let files: Vec<(&str, f64)> = files.iter().map(|file| (file.as_str(), 1.0)).collect();
        select_columns(Metric::Accuracy, &truth, &files, header, 10.0).unwrap().measured.score
    };
    let by_scores = with([file(1), file(2), file(3)], &["id", "low", "mid", "top"]);
    let by_votes = with([labels(1), labels(2), labels(3)], &HEADER);
    assert!(by_scores > by_votes + 0.03, "{by_scores} {by_votes}");
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

#[test]
fn probabilities_are_weighed_by_log_loss() {
    // All err in the same rows, the first in a few less, but it is sure of its errors, too.
    let members = [(0.195, 0.999_999), (0.2, 0.75), (0.2, 0.85)];
    let selected = |shift: f64| {
        let file = |(wrong, sure): (f64, f64)| {
            let row = |row: usize| {
                let right = if noise(row, 1) < wrong { 1.0 - sure } else { sure };
                let low = if row.is_multiple_of(2) { right } else { 1.0 - right };
                format!("{row},{},{}\n", low - shift, 1.0 - low - shift)
            };
            format!("id,low,top\n{}", (0..400).map(row).collect::<String>())
        };
        let files = members.map(file);
        let files: Vec<(&str, f64)> = files.iter().map(|file| (file.as_str(), 1.0)).collect();
        let truth = table((0..400).map(|row| ["low", "top"][row % 2].to_owned()));
        select_columns(Metric::Accuracy, &truth, &files, &["id", "low", "top"], 10.0)
    };
    let Selection { weights, measured, .. } = selected(0.0).unwrap();
    assert!(weights[0] < 0.3 && weights[1] > 0.5, "{weights:?}");
    // The score is still the share of correct labels.
    assert!((0.75..0.85).contains(&measured.score), "{}", measured.score);
    // Scores that are no probabilities: by the share of correct labels, the first is the best one alone.
    assert_eq!(selected(1.0), None);
}
