mod folders;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::*;
use crate::profile;
use crate::testing;

const ROLES: Roles<'_> = Roles { target: Some("y"), id: Some("id"), weight: None };
const FIFTH: Share = Share::Of(0.2, MOST);

/// A file name and a text.
type File = (&'static str, String);

/// A table with these rows, by their numbers.
fn table(
    name: &'static str,
    header: &str,
    rows: std::ops::Range<usize>,
    row: impl Fn(usize) -> String,
) -> File {
    (name, rows.fold(format!("{header}\n"), |text, number| format!("{text}{}\n", row(number))))
}

/// 100 training rows with classes, groups and days, and 40 test rows.
fn files() -> Vec<File> {
    let cells = |n: usize| format!("{n},0.{n},g{},{}", n / 5, n / 2);
    vec![
        table("train.csv", "id,x,g,day,y", 0..100, |n| {
            format!("{},{}", cells(n), ["cat", "dog", "cat", "cow"][n % 4])
        }),
        table("test.csv", "id,x,g,day", 100..140, cells),
        table("sample_submission.csv", "id,y", 100..140, |n| format!("{n},cat")),
    ]
}

fn folder(files: &[File]) -> tempfile::TempDir {
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    testing::folder(&files)
}

fn split(kind: SplitKind, column: Option<&str>) -> Split {
    Split { kind, column: column.map(str::to_owned), ..Split::default() }
}

fn planned(data: &Path, split: &Split, share: Share, seed: u64) -> Result<Plan, Off> {
    plan(&profile::read(data).unwrap(), &ROLES, split, share, seed)
}

/// The numbers of the held-out rows.
fn held(plan: &Plan) -> BTreeSet<u64> {
    (0..1_000_000).filter(|row| plan.held.contains(*row)).collect()
}

fn rows_of(files: &[File], split: &Split, share: Share) -> BTreeSet<u64> {
    let plan = planned(folder(files).path(), split, share, 1).unwrap();
    let rows = held(&plan);
    assert_eq!(rows.len() as u64, plan.rows());
    rows
}

#[test]
fn rows_are_drawn_by_seed_and_id() {
    let dir = folder(&files());
    let draw = |seed| planned(dir.path(), &split(SplitKind::Rows, None), FIFTH, seed).unwrap();
    let first = draw(1);
    assert_eq!((first.rows(), first.labelled(), first.seed(), held(&first).len()), (20, 100, 1, 20));
    assert_eq!(first, draw(1));
    assert_ne!(held(&first), held(&draw(2)));
    assert_ne!(first.digest(), draw(2).digest());
    let Holdout::On { rows, of, seed, digest, .. } = first.holdout() else { panic!() };
    assert_eq!((rows, of, seed, digest.as_str()), (20, 100, 1, first.digest()));

    // The same IDs are held out if the rows have another order.
    let mut turned = files();
    turned[0] = table("train.csv", "y,id,x,g,day", 0..100, |n| format!("cat,{},0,g{},0", 99 - n, n % 9));
    let rows = rows_of(&turned, &split(SplitKind::Rows, None), FIFTH);
    assert_eq!(rows.iter().map(|row| 99 - row).collect::<BTreeSet<u64>>(), held(&first));
}

#[test]
fn classes_keep_their_shares() {
    let mut files = files();
    let label = |n: usize| match n {
        0..100 => "a",
        100..180 => "b",
        180..196 => "c",
        _ => ["rare", "", "rarest", "NA"][n % 4],
    };
    files[0] = table("train.csv", "id,x,g,day,y", 0..200, |n| format!("t{n},0,g,0,{}", label(n)));
    let rows = rows_of(&files, &split(SplitKind::Stratified, None), Share::Of(0.25, MOST));
    let of = |range: std::ops::Range<u64>| rows.range(range).count();
    assert_eq!((of(0..100), of(100..180), of(180..196), of(196..200)), (25, 20, 4, 0));
}

#[test]
fn whole_groups_are_held_out() {
    let rows = rows_of(&files(), &split(SplitKind::Groups, Some("g")), FIFTH);
    let groups: BTreeSet<u64> = rows.iter().map(|row| row / 5).collect();
    assert_eq!((rows.len(), groups.len()), (20, 4));
    // Groups that are numbers, one of which is too large.
    let mut files = files();
    files[0] =
        table("train.csv", "id,x,g,day,y", 0..100, |n| format!("{n},0,{}.0,0,1", n.saturating_sub(40) / 5));
    let rows = rows_of(&files, &split(SplitKind::Groups, Some("g")), FIFTH);
    assert!(rows.iter().all(|row| *row >= 45) && rows.len() >= 20, "{rows:?}");
    assert_eq!(rows.iter().map(|row| row / 5).collect::<BTreeSet<u64>>().len() * 5, rows.len());
}

#[test]
fn the_latest_rows_are_held_out_and_ties_stay_together() {
    let check = |row: fn(usize) -> String, share: f64, most: u64, expected: std::ops::Range<u64>| {
        let mut files = files();
        files[0] = table("train.csv", "id,x,g,day,y", 0..100, |n| format!("{n},0,g,{},1", row(n)));
        files[1] = table("test.csv", "id,x,g,day", 100..140, |n| format!("{n},0,g,{}", row(n)));
        let rows = rows_of(&files, &split(SplitKind::Time, Some("day")), Share::Of(share, most));
        assert_eq!(rows, expected.clone().collect(), "{} {share} {most}", row(0));
    };
    check(|n| n.to_string(), 0.2, MOST, 80..100);
    check(|n| (n / 2).to_string(), 0.23, MOST, 76..100);
    check(|n| (n / 30).to_string(), 0.3, MOST, 60..100);
    check(|n| (n / 25).to_string(), 0.45, 30, 75..100);
    check(|n| format!("2024-{:02}-{:02}", n / 28 + 1, n % 28 + 1), 0.2, MOST, 80..100);
    check(|n| format!("{}/{}/2024", n % 28 + 1, n / 28 + 1), 0.2, MOST, 80..100);
    check(|n| format!("{}/{}/2024", n / 28 + 1, n % 28 + 1), 0.2, MOST, 80..100);
}

#[test]
fn groups_stay_whole_in_time_and_count_from_their_first_row() {
    // Each person is seen on four days of twenty weeks.
    let mut files = files();
    let day = |n: usize| (n / 4) + (n % 4) * 3;
    files[0] = table("train.csv", "id,x,g,day,y", 0..100, |n| format!("{n},0,p{},{},1.5", n / 4, day(n)));
    let by = Split { groups: Some("g".to_owned()), ..split(SplitKind::Time, Some("day")) };
    let rows = rows_of(&files, &by, FIFTH);
    assert_eq!(rows, (80..100).collect());
    // Days alone divide persons.
    let rows = rows_of(&files, &split(SplitKind::Time, Some("day")), FIFTH);
    assert!(rows.iter().any(|row| !rows.contains(&(row / 4 * 4))), "{rows:?}");
}

#[test]
fn no_label_of_several_targets_is_shown() {
    let label = |n: usize| if n % 10 == 3 { String::new() } else { format!("label-{n}") };
    let files = [
        table("train.csv", "id,y,x,z", 0..100, |n| format!("{n},{},0.5,{}", n % 2, label(n))),
        table("test.csv", "id,x", 100..140, |n| format!("{n},0.5")),
        table("sample_submission.csv", "id,z,y", 100..140, |n| format!("{n},some,0")),
    ];
    let dir = folder(&files);
    let plan = planned(dir.path(), &split(SplitKind::Rows, None), Share::Of(0.3, MOST), 1).unwrap();
    assert_eq!((plan.labelled(), plan.rows()), (90, 27));
    let out = tempfile::tempdir().unwrap();
    let (shown, secret) = (out.path().join("input"), out.path().join("labels.csv"));
    let profile = profile::read(dir.path()).unwrap();
    write(&profile, &plan, &shown).unwrap();
    labels(&profile, &plan, &secret).unwrap();
    let everything: String = ["train.csv", "test.csv", "sample_submission.csv"]
        .iter()
        .map(|name| fs::read_to_string(shown.join(name)).unwrap())
        .collect();
    let secret = fs::read_to_string(secret).unwrap();
    assert_eq!((secret.lines().next(), secret.lines().count()), (Some("id,y,z"), 28));
    for row in held(&plan) {
        assert_ne!(row % 10, 3);
        assert!(secret.contains(&format!("\n{row},{},label-{row}\n", row % 2)), "{row}");
        assert!(!everything.contains(&format!("label-{row}\n")), "{row}");
        assert!(everything.contains(&format!("\n{row},some,0\n")), "{row}");
    }
}

/// Checks why nothing is held out after a change of the files.
fn check_off(change: fn(&mut Vec<File>), split: &Split, share: Share, expected: &str) {
    let mut files = files();
    change(&mut files);
    let Off(why) = planned(folder(&files).path(), split, share, 1).unwrap_err();
    assert!(why.contains(expected), "{why} / {expected}");
}

#[test]
fn tables_that_do_not_fit_together_are_named() {
    let rows = split(SplitKind::Rows, None);
    let tables = |change: fn(&mut Vec<File>), expected: &str| check_off(change, &rows, FIFTH, expected);
    tables(|f| drop(f.remove(1)), "there is no test table");
    tables(|f| drop(f.remove(2)), "there is no sample submission");
    tables(|f| f[0].1 = f[0].1.replace("day,y", "day,z"), "the target is not known");
    tables(
        |f| f[0].1 = f[0].1.replace("id,x", "key,x"),
        "no column with row IDs is common to train.csv, test.csv, sample_submission.csv",
    );
    tables(
        |f| f[2] = table("sample_submission.csv", "id,y,x", 100..140, |n| format!("{n},0,0")),
        "sample_submission.csv has further columns of train.csv besides the target: `x`",
    );
    tables(|f| f[2].1 += "140,cat\n", "test.csv has 40 rows, but sample_submission.csv has 41");
    tables(|f| f[0].1 += "7,0,g,1,cat\n", "a value of `id` occurs twice in train.csv");
    tables(|f| f[0].1 = f[0].1.replace("\n7,", "\n,"), "a value of `id` is missing in train.csv");
    tables(
        |f| f[0].1 += "107,0,g,1,cat\n",
        "a value of `id` occurs both in train.csv and in test.csv; give the rows of test.csv and of the sample submission other IDs",
    );
    tables(
        |f| f[2].1 = f[2].1.replace("\n139,", "\n7,"),
        "test.csv and sample_submission.csv have different values of `id`",
    );
    tables(
        |f| f.push(("raw/train.csv", String::new())),
        "raw/train.csv may have the labels of the training rows",
    );
    tables(
        |f| f.push(("more.csv", "id,y\n3,cat\n".to_owned())),
        "more.csv has labels of training rows as well",
    );
}

/// Copies with other names, in folders, in other formats, and without the IDs.
#[test]
fn copies_of_labels_are_found() {
    let check = |name: &'static str, text: &str| {
        let mut files = files();
        files.push((name, text.to_owned()));
        planned(folder(&files).path(), &split(SplitKind::Rows, None), FIFTH, 1)
    };
    let copies: [(&'static str, &str); 8] = [
        ("extra/train_sample.csv", "id,y\n3,cat\n"),
        ("extra/labels_all.csv", "key;y\n3;cat\n"),
        ("full.json", "{\"id\":{\"0\":3,\"1\":4},\"y\":{\"0\":\"cat\",\"1\":\"cat\"}}"),
        ("train_v2.parquet", "PAR1 ... id x y ..."),
        ("labels.json", "[{\"id\": 3, \"y\": \"cat\"}, {\"id\": 4, \"y\": \"cat\"}]"),
        ("train.csv.bak", "\u{feff}y,x,g,day,id\n"),
        ("training_data.xlsx", ""),
        ("history.csv", "x,g,y\n0.3,g0,cow\n0.4,g0,cat\n"),
    ];
    for (name, text) in copies {
        let Off(why) = check(name, text).unwrap_err();
        assert!(why.starts_with(name) && why.contains("labels of"), "{name}: {why}");
    }
    let others: [(&'static str, &str); 8] = [
        ("extra/test_sample.csv", "id,y\n3,cat\n"),
        ("types.json", "{\"id\": {\"type\": \"int\"}, \"y\": {\"type\": \"text\"}}"),
        ("folds/first.csv", "id,y,fold\n1003,cat,1\n"),
        ("history.csv", "x,g,y\n0.3,g1,cow\n0.4,g9,cat\n"),
        ("animals.csv", "y,legs\ncat,4\n"),
        ("sample_submission.json", "[{\"id\": 3, \"y\": 1}, {\"id\": 4, \"y\": 1}]"),
        ("days.csv", "g,y\ng0,cat\ng1,dog\n"),
        ("labels.json", "[\"cat\", \"dog\"]"),
    ];
    for (name, text) in others {
        let planned = check(name, text);
        assert!(planned.is_ok(), "{name}: {:?}", planned.unwrap_err());
    }
}

#[test]
fn too_few_rows_groups_and_times_are_named() {
    type Change = fn(&mut Vec<File>);
    let check = check_off;
    let rows = split(SplitKind::Rows, None);
    check(|_| (), &rows, Share::Auto { most: MOST }, "only 100 rows are labelled; 2000 are needed");
    check(|_| (), &rows, Share::Of(0.1, MOST), "only 10 rows would be held out; 20 are needed");
    check(|_| (), &rows, Share::Of(0.0, MOST), "the share of held-out rows is 0, not between 0 and 1");
    let few: Change = |f| f[0] = table("train.csv", "id,x,g,day,y", 0..49, |n| format!("{n},0,g,{n},cat"));
    check(few, &rows, FIFTH, "only 49 rows are labelled; 50 are needed");
    let distinct: Change =
        |f| f[0] = table("train.csv", "id,x,g,day,y", 0..100, |n| format!("{n},0,g,{n},c{n}"));
    check(
        distinct,
        &split(SplitKind::Stratified, None),
        FIFTH,
        "only 0 rows could be held out; 20 are needed",
    );

    let groups = split(SplitKind::Groups, Some("g"));
    let nine: Change =
        |f| f[0] = table("train.csv", "id,x,g,day,y", 0..90, |n| format!("{n},0,g{},0,1", n / 10));
    check(nine, &groups, Share::Of(0.3, MOST), "`g` has only 9 groups with labels; 10 are needed");

    let time = split(SplitKind::Time, Some("day"));
    let one: Change = |f| f[0] = table("train.csv", "id,x,g,day,y", 0..100, |n| format!("{n},0,g,7,1"));
    check(one, &time, FIFTH, "all labelled rows have the same value of `day`");
    let most: Change =
        |f| f[0] = table("train.csv", "id,x,g,day,y", 0..100, |n| format!("{n},0,g,{},1", (n / 49).min(1)));
    check(most, &time, FIFTH, "too many rows have the last value of `day`");
    check(|_| (), &split(SplitKind::Time, Some("g")), FIFTH, "the values of `g` have no order of time");
}
