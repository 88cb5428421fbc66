//! The rows of the last validation fold, held out after the search.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use mle_star_domain::protocol::{Split, SplitKind};
use mle_star_tables::folds::{self, FoldBasis};
use mle_star_tables::holdout::{labels, plan_last_fold, write_with};
use mle_star_tables::own_folds::OwnFolds;
use mle_star_tables::periods::Timeline;
use mle_star_tables::profile;

/// Rows with a class, a group and a day; those of the test table have later days.
fn write_tables(folder: &Path, rows: usize) {
    let cells = |row: usize| format!("{row},0.{row},g{},{}", row % 30, row / 2);
    // The only row of its class is in some fold.
    let label = |row: usize| if row == 3 { "cow" } else { ["cat", "dog"][row % 2] };
    let own = |row: usize| ["a", "b", "c", "d"][row % 4];
    let train: String =
        (0..rows).map(|row| format!("{},{},{},{}\n", cells(row), label(row), own(row), row % 2)).collect();
    let tests = rows..rows + 20;
    let test: String = tests.clone().map(|row| format!("{}\n", cells(row))).collect();
    let sample: String = tests.map(|row| format!("{row},cat\n")).collect();
    let write = |name: &str, text: String| fs::write(folder.join(name), text).unwrap();
    write("train.csv", format!("id,x,g,day,y,mine,half\n{train}"));
    write("test.csv", format!("id,x,g,day\n{test}"));
    write("sample_submission.csv", format!("id,y\n{sample}"));
}

/// The second cells of a table, by the first.
fn by_id(file: &Path) -> BTreeMap<u64, String> {
    let mut reader = csv::Reader::from_path(file).unwrap();
    let row = |row: csv::StringRecord| (row[0].parse().unwrap(), row[1].to_owned());
    reader.records().map(|record| row(record.unwrap())).collect()
}

/// The folds of the rows that are left, and the number of rows that are held out, or why none are.
fn held_out(rows: usize, split: &Split, own: Option<&str>) -> Result<(BTreeSet<String>, usize), String> {
    let (dir, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write_tables(dir.path(), rows);
    let profile = profile::read(dir.path()).unwrap();
    let own = own.map(|column| OwnFolds::read(&profile, "y", Some("id"), column).unwrap());
    let timeline =
        (split.kind == SplitKind::Time).then(|| Timeline::read(&profile, "y", Some("id"), split).unwrap());
    let by = FoldBasis {
        target: "y",
        id: Some("id"),
        split,
        timeline: timeline.as_ref(),
        own: own.as_ref(),
        seed: 1,
    };
    let (all, input, secret) =
        (out.path().join("all"), out.path().join("input"), out.path().join("labels.csv"));
    folds::link_all_rows(&profile, &by, &all).unwrap();
    let plan = plan_last_fold(&profile, None, &by).map_err(|off| off.0)?;
    labels(&profile, &plan, &secret).unwrap();
    write_with(&profile, &plan, &input, |folder| folds::write(&profile, &by, Some(&plan), folder)).unwrap();

    let before = by_id(&all.join("folds.csv"));
    let last = before.values().max().unwrap();
    let of_last: BTreeSet<u64> = before.iter().filter(|(_, fold)| *fold == last).map(|(id, _)| *id).collect();
    let held: BTreeSet<u64> = by_id(&secret).into_keys().collect();
    let common = |ids: &BTreeSet<u64>| ids.iter().copied().filter(|id| *id != 3).collect::<BTreeSet<_>>();
    assert_eq!(common(&of_last), common(&held));
    // The only row of a class remains, if classes keep their shares.
    assert!(split.kind != SplitKind::Stratified || !held.contains(&3));
    let [train, test, sample, after] =
        ["train.csv", "test.csv", "sample_submission.csv", "folds.csv"].map(|name| by_id(&input.join(name)));
    assert!(held.iter().all(|id| !train.contains_key(id) && test.contains_key(id)));
    assert!(sample.keys().eq(test.keys()) && after.keys().all(|id| train.contains_key(id)));
    let later = || train.keys().max() < held.iter().min();
    assert!(split.kind != SplitKind::Time || own.is_some() || later());
    Ok((after.into_values().collect(), held.len()))
}

#[test]
fn the_rows_of_the_last_fold_are_predicted_without_their_labels() {
    let folds = |count: u8| (0..count).map(|fold| fold.to_string()).collect::<BTreeSet<String>>();
    let split =
        |kind, column: Option<&str>| Split { kind, column: column.map(str::to_owned), ..Split::default() };
    let check = |split: &Split, own: Option<&str>, count: u8, held: &[usize]| {
        let (found, rows) = held_out(150, split, own).unwrap();
        assert_eq!(found, folds(count), "{split:?}");
        assert!(held.contains(&rows), "{split:?}: {rows}");
    };
    check(&split(SplitKind::Rows, None), None, 5, &[29, 30]);
    check(&split(SplitKind::Stratified, None), None, 5, &[28, 29, 30]);
    check(&split(SplitKind::Groups, Some("g")), None, 5, &[29, 30]);
    check(&split(SplitKind::Rows, None), Some("mine"), 3, &[37]);
}

#[test]
fn with_later_test_rows_it_is_the_last_stretch_of_time() {
    let by_day = Split { kind: SplitKind::Time, column: Some("day".to_owned()), ..Split::default() };
    let (folds, rows) = held_out(150, &by_day, None).unwrap();
    assert!(!folds.is_empty() && rows == 20, "{folds:?} {rows}");
}

#[test]
fn a_last_fold_that_is_too_small_is_told() {
    let rows = Split::default();
    let check = |count, own, why: &str| assert_eq!(held_out(count, &rows, own).unwrap_err(), why);
    check(40, None, "the last fold has only 8 rows; 10 are needed");
    check(150, Some("half"), "only 2 folds are given; 3 are needed");
}
