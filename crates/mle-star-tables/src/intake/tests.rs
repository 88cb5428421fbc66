//! What people give, and the plain tables that become of it.

use std::fs;
use std::path::Path;

use mle_star_domain::protocol::{Holdout, Split, SplitKind};

use super::*;
use crate::profile;
use crate::testing::folder;

/// Takes in a folder with these files; returns the plain folder, unless the data is plain, and what is told.
fn taken(files: &[(&str, &str)]) -> Result<(Option<Made>, Look), Trouble> {
    let given = folder(files);
    let look = look(given.path(), &Asked::default())?;
    let made = if look.is_plain() {
        None
    } else {
        let made = tempfile::tempdir().unwrap();
        look.write(made.path()).unwrap();
        Some(Made { made, _given: given })
    };
    Ok((made, look))
}

/// A folder with plain tables, and the one that it links to.
struct Made {
    made: tempfile::TempDir,
    _given: tempfile::TempDir,
}

impl Made {
    fn path(&self) -> &Path {
        self.made.path()
    }
}

fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap_or_else(|error| format!("{name}: {error}"))
}

const TRAIN: (&str, &str) = ("train.csv", "id,a,y\n1,5,0\n2,6,1\n");
const TEST: (&str, &str) = ("test.csv", "id,a\n3,7\n4,8\n");
const SAMPLE: (&str, &str) = ("sample_submission.csv", "id,y\n3,0\n4,0\n");

#[test]
fn plain_data_stays_where_it_is() {
    let check = |files: &[(&str, &str)]| {
        let (made, look) = taken(files).unwrap();
        assert!(
            made.is_none() && look.told().is_empty() && look.submission().is_none(),
            "{files:?} {look:?}"
        );
    };
    check(&[TRAIN, TEST, SAMPLE]);
    check(&[TRAIN, TEST, ("sampleSubmission.csv", SAMPLE.1)]);
    check(&[
        TRAIN,
        TEST,
        SAMPLE,
        ("stores.csv", "a,b\n1,2\n"),
        ("notes.txt", "some words\nand more"),
        ("x/y.csv", "1;2"),
    ]);
    check(&[TRAIN, TEST, SAMPLE, ("images.zip", "no archive"), ("boxes.json", "{\"a\": [1]}")]);
    check(&[
        TRAIN,
        TEST,
        SAMPLE,
        ("train.json", "{\"images\": {}, \"more\": 1}\n"),
        ("train.txt", "a.png\nb.png\n"),
    ]);
    check(&[TRAIN, TEST, SAMPLE, ("sampleSubmission.csv", SAMPLE.1)]);
    check(&[("train.csv", "id,a,y\r\n1,\"5\",0\r\n"), TEST]);
    // A profile names what is wrong with a plain table.
    check(&[("train.csv", "id,a,y\n1,5\n"), TEST]);
    check(&[("labels.csv", TRAIN.1), ("test.csv", TEST.1)]);
}

/// The plain tables that become of these files, and parts of what is told.
fn becomes(files: &[(&str, &str)], expected: &[(&str, &str)], told: &[&str]) {
    let (made, look) = taken(files).unwrap();
    let made = made.expect("it is not plain");
    for (name, text) in expected {
        assert_eq!(read(made.path(), name), *text, "{name} of {files:?}");
    }
    for part in told {
        assert!(look.told().iter().any(|told| told.contains(part)), "{part}: {:?}", look.told());
    }
}

#[test]
fn other_data_becomes_plain_tables() {
    let plain = [TRAIN, TEST, SAMPLE];
    let tabs = |text: &str| text.replace(',', "\t");
    becomes(
        &[
            ("train.tsv", &tabs(TRAIN.1)),
            ("test.tsv", &tabs(TEST.1)),
            ("sample_submission.tsv", &tabs(SAMPLE.1)),
        ],
        &plain,
        &["train.tsv is read as train.csv", "tab"],
    );
    becomes(&[("train.csv", &TRAIN.1.replace(',', ";")), TEST, SAMPLE], &plain, &["`;`"]);
    becomes(
        &[("train.csv/train.csv", TRAIN.1), TEST, SAMPLE],
        &plain,
        &["train.csv/train.csv is read as train.csv"],
    );
    becomes(&[("train.csv/part-0001.csv", TRAIN.1), ("train.csv/_SUCCESS", ""), TEST, SAMPLE], &plain, &[]);
    becomes(
        &[("train.jsonl", "{\"id\":1,\"a\":5,\"y\":0}\n{\"id\":2,\"a\":6,\"y\":1}\n"), TEST, SAMPLE],
        &plain,
        &[],
    );
    becomes(&[("train.csv", "id,a,y,,\n1,5,0,,\n2,6,1,,\n,,,,\n"), TEST, SAMPLE], &plain, &["empty"]);
    becomes(
        &[TRAIN, TEST, SAMPLE, ("stores.tsv", "a\tb\n1\t2\n")],
        &[TRAIN, ("stores.csv", "a,b\n1,2\n")],
        &[],
    );
}

#[test]
fn columns_of_all_tables_get_the_same_names() {
    let plain = [TRAIN, TEST, SAMPLE];
    // An unnamed column that numbers rows.
    becomes(
        &[
            ("train.csv", ",id,a,y\n0,1,5,0\n1,2,6,1\n"),
            ("test.csv", ",id,a\n0,3,7\n1,4,8\n"),
            ("sample_submission.csv", "Unnamed: 0,id,y\n0,3,0\n1,4,0\n"),
        ],
        &plain,
        &["the unnamed first column of train.csv, test.csv, sample_submission.csv"],
    );
    becomes(
        &[("train.csv", ",id,a,y\n17,1,5,0\n4,2,6,1\n"), TEST, SAMPLE],
        &plain,
        &["of train.csv numbers"],
    );
    // Names that differ in case and blanks.
    becomes(
        &[TRAIN, ("test.csv", " ID,A \n3,7\n4,8\n"), ("sample_submission.csv", "Id,Y\n3,0\n4,0\n")],
        &plain,
        &["` ID`, `A ` of test.csv are `id`, `a` of train.csv", "`Id`, `Y` of sample_submission.csv"],
    );
    becomes(
        &[
            ("train.csv", "id,a,A,y\n1,5,6,0\n"),
            ("test.csv", "id,a,A\n3,7,8\n"),
            ("sample_submission.csv", "ID,y\n3,0\n"),
        ],
        &[("test.csv", "id,a,A\n3,7,8\n"), ("sample_submission.csv", "id,y\n3,0\n")],
        &[],
    );
}

#[test]
fn row_ids_are_found() {
    let check = |train: &str, test: &str, sample: &str, expected: [&str; 3], told: &str| {
        let files = [("train.csv", train), ("test.csv", test), ("sample_submission.csv", sample)];
        let (made, look) = taken(&files).unwrap();
        let made = made.expect("it is not plain");
        let found = files.map(|(name, _)| read(made.path(), name));
        assert_eq!(found, expected, "{files:?}");
        assert!(look.told().iter().any(|line| line.contains(told)), "{told}: {:?}", look.told());
        assert!(look.id_unknown().is_none());
    };
    // Two and three columns with any text between them.
    check(
        "shop,day,y\nA,1,5\nB,1,6\n",
        "day,shop\n2,A\n2,B\n",
        "key,y\nA_2,0\nB_2,0\n",
        [
            "key,shop,day,y\nA_1,A,1,5\nB_1,B,1,6\n",
            "key,day,shop\nA_2,2,A\nB_2,2,B\n",
            "key,y\nA_2,0\nB_2,0\n",
        ],
        "`key`, such as `A_2`, is made of `shop` and `day`, joined by `_`",
    );
    check(
        "a,b,c,y\nu,1,p,0\n",
        "a,b,c\nv,1,q\nv,2,q\n",
        "key,y\nv: 2: q,0\nv: 1: q,0\n",
        [
            "key,a,b,c,y\nu: 1: p,u,1,p,0\n",
            "key,a,b,c\nv: 1: q,v,1,q\nv: 2: q,v,2,q\n",
            "key,y\nv: 2: q,0\nv: 1: q,0\n",
        ],
        "`a` and `b` and `c`",
    );
    // Rows in their order.
    check(
        "a,y\n5,0\n6,1\n",
        "a\n7\n8\n",
        "Id,y\n1,0\n2,0\n",
        ["Id,a,y\n3,5,0\n4,6,1\n", "Id,a\n1,7\n2,8\n", "Id,y\n1,0\n2,0\n"],
        "the ID `Id` counts the rows of test.csv from 1",
    );
    // An unnamed column with the IDs of the sample.
    check(
        ",a,y\n1,5,0\n2,6,1\n",
        ",a\n1,7\n2,8\n",
        "Id,y\n2,0\n1,0\n",
        ["Id,a,y\n3,5,0\n4,6,1\n", "Id,a\n1,7\n2,8\n", "Id,y\n2,0\n1,0\n"],
        "the unnamed first column of test.csv is the ID `Id`",
    );
    check(
        ",a,y\n0,5,0\n1,6,1\n",
        ",a\n0,7\n1,8\n",
        ",y\n0,0\n1,0\n",
        ["row_id,a,y\n2,5,0\n3,6,1\n", "row_id,a\n0,7\n1,8\n", "row_id,y\n0,0\n1,0\n"],
        "is the ID `row_id`",
    );
}

#[test]
fn an_id_that_is_nowhere_is_named() {
    let sample = ("sample_submission.csv", "key,y\nA-9,0\nB-9,0\n");
    let (_, look) = taken(&[("train.csv", "a,y\nA,5\n"), ("test.csv", "a\nA\nB\n"), sample]).unwrap();
    let message = &look.id_unknown().unwrap().message;
    assert!(
        message.contains("`key`") && message.contains("`A-9`") && message.contains("test.csv"),
        "{message}"
    );
}

#[test]
fn what_cannot_be_right_is_named() {
    let check = |files: &[(&str, &str)], parts: &[&str]| {
        let trouble = taken(files).map(|(_, look)| look).unwrap_err();
        for part in parts {
            assert!(trouble.message.contains(part), "{part}: {}", trouble.message);
        }
        assert!(!trouble.hint.is_empty());
    };
    check(
        &[TRAIN, ("train.tsv", "id\ta\ty\n1\t5\t0\n"), TEST],
        &["train.csv", "train.tsv", "training table"],
    );
    check(&[TRAIN, TEST, ("test.jsonl", "{\"id\": 1}\n")], &["test.csv", "test.jsonl", "test table"]);
    check(
        &[SAMPLE, ("sampleSubmission.csv", "id,y\n3,1\n")],
        &["sample_submission.csv", "sampleSubmission.csv"],
    );
    check(&[("train.csv", "id,a,a\n1,2,3\n"), TEST], &["train.csv: columns 2 and 3 are both called `a`"]);
    check(&[("train.tsv", "id\ta\ta\n1\t2\t3\n"), TEST], &["2 and 3", "train.tsv", "`a`"]);
    check(&[("train.parquet", "no parquet"), TEST], &["train.parquet"]);
}

#[test]
fn submissions_get_the_form_of_the_sample_back() {
    let check = |sample: &str, train: &str, submission: &str, expected: &str| {
        let files =
            [("train.csv", train), ("test.csv", "id,a\n3,7\n4,8\n"), ("sample_submission.csv", sample)];
        let (_, look) = taken(&files).unwrap();
        let dir = folder(&[("from.csv", submission)]);
        let (from, into) = (dir.path().join("from.csv"), dir.path().join("into.csv"));
        look.submission().unwrap().write(&from, &into).unwrap();
        assert_eq!(read(dir.path(), "into.csv"), expected, "{sample}");
    };
    let train = TRAIN.1;
    check("ID, Y\n3,0\n4,0\n", train, "id,y\n3,1\n4,0\n", "ID, Y\n3,1\n4,0\n");
    check(",id,y\n0,3,0\n1,4,0\n", train, "id,y\n3,1\n4,0\n", ",id,y\n0,3,1\n1,4,0\n");
    check("Unnamed: 0,id,y\n1,3,0\n2,4,0\n", train, "id,y\n3,1\n4,0\n", "Unnamed: 0,id,y\n1,3,1\n2,4,0\n");
    let commas = "id,a,y\n1,5,\"0,5\"\n2,6,\"1,25\"\n";
    check("id,y\n3,\"0,0\"\n4,\"0,0\"\n", commas, "id,y\n3,1.5\n4,2\n", "id,y\n3,\"1,5\"\n4,2\n");
    check(
        "id;y\n3;0,0\n4;0,0\n",
        commas,
        "id,y\n3,-1e-05\n4,x.y\n",
        "id,y\n3,\"-1e-05\"\n4,x.y\n".replace('"', "").as_str(),
    );
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
fn rows_without_a_target_are_in_neither_table() {
    let rows = (0..120)
        .map(|row| format!("{row},{}\n", if row % 3 == 0 { String::new() } else { format!("{row}.5") }));
    let table: String = ["x,y\n".to_owned()].into_iter().chain(rows).collect();
    let split = Split { kind: SplitKind::Rows, ..Split::default() };
    let by = Draw { metric: "RMSE", share: 0.5, ..fifth("t.csv", &split, None) };
    let (root, drawn) = drawn(&table, by).unwrap();
    assert_eq!((drawn.unlabelled, drawn.holdout.rows()), (40, Some(40)));
    let found = lines(root.path(), "data/train.csv");
    assert!(found.len() == 41 && found.iter().all(|line| !line.ends_with(',')), "{found:?}");
}

#[test]
fn a_table_alone_in_its_folder_is_the_training_table() {
    let check = |others: &[(&str, &str)], expected: bool| {
        let files = [&[("prices.csv", "a,y\n1,2\n")], others].concat();
        let given = folder(&files);
        let look = look(given.path(), &Asked::default()).unwrap();
        assert_eq!((look.is_single(), look.is_plain()), (expected, !expected), "{others:?}");
    };
    check(&[], true);
    check(&[("description.md", "words"), ("README.md", "words"), ("task.yaml", "")], true);
    check(&[("images/1.png", "png")], false);
    check(&[("towns.csv", "a,b\n1,2\n")], false);
}

#[test]
fn a_table_that_cannot_be_divided_is_named() {
    let check = |rows: usize, id: Option<&str>, parts: &[&str]| {
        let text = (0..rows).map(|row| format!("{},{}\n", row / 2, row % 2));
        let table: String = ["x,y\n".to_owned()].into_iter().chain(text).collect();
        let split = Split { kind: SplitKind::Stratified, ..Split::default() };
        let by = fifth("t.csv", &split, id);
        let trouble = drawn(&table, by).map(|(_, drawn)| drawn).unwrap_err();
        for part in parts {
            assert!(
                trouble.message.contains(part) || trouble.hint.contains(part),
                "{part}: {trouble} {}",
                trouble.hint
            );
        }
    };
    check(30, None, &["t.csv", "only 30 rows are labelled", "--test-share"]);
    check(200, Some("x"), &["`x`", "occurs twice", "--id-column"]);
}

#[test]
fn a_missing_sample_is_made() {
    let check = |metric: &str, target: &str, id: Option<&str>, expected: [&str; 3]| {
        let of = |rows: std::ops::Range<usize>| {
            rows.map(|row| format!("{row},{},{},{}.5\n", row % 2, ["a", "b", "c"][row % 3], row))
        };
        let train: String = ["id,two,three,amount\n".to_owned()].into_iter().chain(of(0..6)).collect();
        let given = folder(&[("train.csv", &train), ("test.csv", "id,x\n6,1\n7,1\n")]);
        let look = look(given.path(), &Asked::default()).unwrap();
        assert!(look.is_plain() && look.lacks_sample() && !look.is_single());
        let made = tempfile::tempdir().unwrap();
        look.write(made.path()).unwrap();
        let profile = profile::read(made.path()).unwrap();
        let sample = make_sample(&profile, &[target], id, metric, made.path()).unwrap();
        let found = ["sample_submission.csv", "test.csv", "train.csv"].map(|name| read(made.path(), name));
        let beginnings = [0, 1, 2].map(|at| found[at].starts_with(expected[at]));
        assert_eq!((beginnings, sample.has_made_ids), ([true; 3], id.is_none()), "{metric} {found:?}");
        assert_eq!(fs::read_to_string(given.path().join("train.csv")).unwrap(), train);
    };
    let same = ["id,x\n6,1\n7,1\n", "id,two,three,amount\n0,0,a,0.5\n"];
    let with = |sample| [sample, same[0], same[1]];
    check("accuracy", "three", Some("id"), with("id,three\n6,a\n7,a\n"));
    check("ROC-AUC", "two", Some("id"), with("id,two\n6,0.5\n7,0.5\n"));
    check("log loss", "three", Some("id"), with("id,a,b,c\n6,0.333333,0.333333,0.333333\n"));
    check("RMSE", "amount", Some("id"), with("id,amount\n6,0\n7,0\n"));
    check("interval score 0.9", "amount", Some("id"), with("id,amount_lower,amount_upper\n6,0,0\n7,0,0\n"));
    check("word error rate", "three", Some("id"), with("id,three\n6,a\n"));
    let numbered = [
        "row_id,amount\n0,0\n1,0\n",
        "row_id,id,x\n0,6,1\n1,7,1\n",
        "row_id,id,two,three,amount\n2,0,0,a,0.5\n3,",
    ];
    check("RMSE", "amount", None, numbered);
}
