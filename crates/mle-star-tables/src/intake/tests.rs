//! What people give, and the plain tables that become of it.

use std::fs;
use std::path::Path;

use mle_star_domain::protocol::{Holdout, Split, SplitKind};

use super::*;
use crate::profile;
use crate::testing::folder;

fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap_or_else(|error| format!("{name}: {error}"))
}

/// A fifth of the rows, which the column `y` labels, is the test table.
fn fifth<'a>(name: &'a str, split: &'a Split, id: Option<&'a str>) -> Draw<'a> {
    Draw { name, targets: &["y"], id, metric: "accuracy", weight: None, split, share: 0.2, seed: 7 }
}

/// The parts that a single table was divided into.
fn drawn(table: &str, by: Draw<'_>) -> Result<(tempfile::TempDir, Drawn), Trouble> {
    let given = folder(&[("customers.csv", table)]);
    let look = look(&given.path().join("customers.csv"), &Asked::default()).unwrap();
    assert!(look.is_single() && !look.is_plain() && look.name() == "customers.csv");
    let root = tempfile::tempdir().unwrap();
    let data = root.path().join("data");
    fs::create_dir(&data).unwrap();
    look.write(&data).unwrap();
    let profile = profile::read(&data).unwrap();
    let drawn = draw(&profile, &by, &data, &root.path().join("labels.csv"))?;
    assert_eq!(fs::read_to_string(given.path().join("customers.csv")).unwrap(), table);
    Ok((root, drawn))
}

fn lines(root: &Path, name: &str) -> Vec<String> {
    read(root, name).lines().map(str::to_owned).collect()
}

#[test]
fn a_single_table_is_divided_by_the_rules_of_the_holdout() {
    let check = |kind: SplitKind,
                 column: Option<&str>,
                 id: Option<&str>,
                 differ: &dyn Fn(&[u64], &[u64]) -> bool| {
        let rows = (0..400).map(|row| format!("k{row},{},{},{}\n", row / 8, 2_000 + row, row % 4 / 3));
        let table: String = ["key,group,year,y\n".to_owned()].into_iter().chain(rows).collect();
        let split = Split { kind, column: column.map(str::to_owned), ..Split::default() };
        let by = fifth("customers.csv", &split, id);
        let (root, drawn) = drawn(&table, by).unwrap();
        let Holdout::Test { rows, of: 400, seed: 7, .. } = drawn.holdout else { panic!("{drawn:?}") };
        let [train, test, sample, labels] =
            ["data/train.csv", "data/test.csv", "data/sample_submission.csv", "labels.csv"]
                .map(|name| lines(root.path(), name));
        assert_eq!(
            [train.len(), test.len(), sample.len(), labels.len()].map(|n| n as u64),
            [401 - rows, rows + 1, rows + 1, rows + 1]
        );
        assert!((70..=90).contains(&rows), "{rows}");
        let made = if id.is_none() { "row_id," } else { "" };
        assert_eq!(
            (train[0].as_str(), test[0].as_str()),
            (&*format!("{made}key,group,year,y"), &*format!("{made}key,group,year"))
        );
        let name = id.unwrap_or("row_id");
        assert_eq!((drawn.id.as_str(), sample[0].as_str()), (name, &*format!("{name},y")));
        assert!(labels[0].starts_with(&format!("{name},y")));
        // Row numbers and keys are those of the table as given.
        let number = |line: &String| {
            line.split(',').find_map(|cell| cell.strip_prefix('k')).unwrap().parse::<u64>().unwrap()
        };
        let [of_train, of_test] =
            [&train, &test].map(|lines| lines[1..].iter().map(number).collect::<Vec<_>>());
        if id.is_none() {
            assert!(
                test[1..].iter().zip(&of_test).all(|(line, row)| line.starts_with(&format!("{row},k{row},")))
            );
        }
        for (line, row) in labels[1..].iter().zip(&of_test) {
            assert_eq!(line.split(',').nth(1), Some(if row % 4 == 3 { "1" } else { "0" }), "{line}");
        }
        assert!(differ(&of_train, &of_test), "{kind:?}");
        let modes = fs::metadata(root.path().join("labels.csv")).unwrap();
        assert_eq!(std::os::unix::fs::PermissionsExt::mode(&modes.permissions()) & 0o777, 0o600);
    };
    let stratified =
        |_: &[u64], test: &[u64]| test.iter().filter(|row| *row % 4 == 3).count() * 4 == test.len();
    check(SplitKind::Stratified, None, None, &stratified);
    check(SplitKind::Stratified, None, Some("key"), &stratified);
    check(SplitKind::Groups, Some("group"), Some("key"), &|train, test| {
        test.iter().all(|row| train.iter().all(|other| other / 8 != row / 8))
    });
    check(SplitKind::Time, Some("year"), None, &|train, test| train.iter().max() < test.iter().min());
}

#[test]
fn a_missing_sample_is_made() {
    let check = |metric: &str, target: &str, id: Option<&str>, expected: &str| {
        let row = |row: usize| format!("{row},{},{},{row}.5\n", row % 2, ["a", "b", "c"][row % 3]);
        let train = format!("id,two,three,amount\n{}", (0..6).map(row).collect::<String>());
        let given = folder(&[("train.csv", &train), ("test.csv", "id,x\n6,1\n7,1\n")]);
        let look = look(given.path(), &Asked::default()).unwrap();
        assert!(look.is_plain() && look.lacks_sample() && !look.is_single());
        let made = tempfile::tempdir().unwrap();
        look.write(made.path()).unwrap();
        let profile = profile::read(made.path()).unwrap();
        make_sample(&profile, &[target], id, metric, made.path()).unwrap();
        assert_eq!(read(made.path(), "sample_submission.csv"), expected, "{metric}");
        assert_eq!(read(given.path(), "train.csv"), train);
    };
    check("accuracy", "three", Some("id"), "id,three\n6,a\n7,a\n");
    check("ROC-AUC", "two", Some("id"), "id,two\n6,0.5\n7,0.5\n");
    let thirds = "0.333333,0.333333,0.333333";
    check("log loss", "three", Some("id"), &format!("id,a,b,c\n6,{thirds}\n7,{thirds}\n"));
    check("RMSE", "amount", None, "row_id,amount\n0,0\n1,0\n");
}
