//! Series that only the test table has, and periods that are made like it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use mle_star_domain::protocol::{NewSeries, Split, SplitKind};
use mle_star_tables::folds::{self, FoldBasis};
use mle_star_tables::holdout::{Roles, Share, plan_period, write_with};
use mle_star_tables::new_series::{find, leave_out};
use mle_star_tables::periods::Timeline;
use mle_star_tables::profile::{self, Profile};
use tempfile::TempDir;

/// The columns of a row beside its ID, its day and its label; `None` if there is no such row.
type Cells = fn(day: usize, series: usize) -> Option<String>;

/// Days of the training table and of the test table.
const DAYS: usize = 70;
const TEST_DAYS: usize = 7;

/// A table by day and series.
fn table(header: &str, cells: Cells, days: std::ops::Range<usize>, labels: bool) -> String {
    let mut text = format!("id,day,{header}{}\n", if labels { ",y" } else { "" });
    for day in days {
        for (series, cells) in (0..200).filter_map(|series| Some((series, cells(day, series)?))) {
            let label = if labels { format!(",{}.5", (day + series) % 13) } else { String::new() };
            text += &format!("{},{day},{cells}{label}\n", day * 1000 + series);
        }
    }
    text
}

fn task(header: &str, cells: Cells) -> (TempDir, Profile) {
    let dir = tempfile::tempdir().unwrap();
    let test = table(header, cells, DAYS..DAYS + TEST_DAYS, false);
    let sample: String =
        test.lines().skip(1).map(|row| row.split(',').next().unwrap().to_owned() + ",0\n").collect();
    let write = |name: &str, text: String| fs::write(dir.path().join(name), text).unwrap();
    write("train.csv", table(header, cells, 0..DAYS, true));
    write("test.csv", test);
    write("sample_submission.csv", format!("id,y\n{sample}"));
    let profile = profile::read(dir.path()).unwrap();
    (dir, profile)
}

fn by_day() -> Split {
    Split { kind: SplitKind::Time, column: Some("day".to_owned()), ..Split::default() }
}

fn timeline(profile: &Profile) -> Timeline {
    Timeline::read(profile, "y", Some("id"), &by_day()).unwrap()
}

fn found(profile: &Profile) -> Option<NewSeries> {
    find(profile, &timeline(profile), None, |name| ["id", "y"].contains(&name)).unwrap()
}

/// Rows of a table by their IDs: the day, and the values of these columns.
fn rows(path: &Path, columns: &[String]) -> BTreeMap<usize, (usize, Vec<String>)> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let header = reader.headers().unwrap().clone();
    let at: Vec<usize> =
        columns.iter().map(|column| header.iter().position(|name| name == column).unwrap()).collect();
    let number = |cell: &str| cell.parse::<usize>().unwrap();
    let row = |row: csv::StringRecord| {
        (number(&row[0]), (number(&row[1]), at.iter().map(|at| row[*at].to_owned()).collect()))
    };
    reader.records().map(|record| row(record.unwrap())).collect()
}

/// Checks the columns of new series, their shares in the test table and in periods as they are, and what the periods of the search are
/// made like.
fn check(header: &str, cells: Cells, columns: &[&str], shares: [f64; 2]) {
    let (dir, profile) = task(header, cells);
    let found = found(&profile).unwrap();
    assert_eq!(
        (&found.columns[..], found.why.as_str()),
        (&columns.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()[..], ""),
        "{header}"
    );
    let are_near = |[one, other]: [f64; 2], within: f64| (one - other).abs() <= within;
    assert!(
        are_near([found.test, shares[0]], 0.01) && are_near([found.before, shares[1]], 0.01),
        "{found:?}"
    );
    let all: BTreeSet<Vec<String>> =
        rows(&dir.path().join("train.csv"), &found.columns).into_values().map(|(_, series)| series).collect();
    let all = all.len();
    let into = tempfile::tempdir().unwrap();
    let input = into.path().join("input");
    let mut timeline = timeline(&profile);
    let alike = leave_out(&profile, &mut timeline, &found, 7).unwrap();
    let (split, roles) = (by_day(), Roles { target: Some("y"), id: Some("id"), weight: None });
    let plan = plan_period(&profile, &roles, (&split, &timeline), Share::Of(0.2, 50), 7).unwrap();
    let by = FoldBasis {
        target: "y",
        id: Some("id"),
        split: &split,
        timeline: Some(&timeline),
        own: None,
        seed: 7,
    };
    write_with(&profile, &plan, &input, |folder| folds::write(&profile, &by, Some(&plan), folder)).unwrap();
    let (train, test) =
        (rows(&input.join("train.csv"), &found.columns), rows(&input.join("test.csv"), &found.columns));
    let share = |period: &[&(usize, Vec<String>)]| {
        let from = period.iter().map(|(day, _)| *day).min().unwrap();
        let known: BTreeSet<&Vec<String>> =
            train.values().filter(|(day, _)| *day < from).map(|(_, series)| series).collect();
        assert!(known.len() * 4 >= all, "{} known before {from}", known.len());
        period.iter().filter(|(_, series)| !known.contains(series)).count() as f64 / period.len() as f64
    };
    let mut folds: BTreeMap<String, Vec<&(usize, Vec<String>)>> = BTreeMap::new();
    let mut reader = csv::Reader::from_path(input.join("folds.csv")).unwrap();
    for record in reader.records().map(Result::unwrap) {
        folds.entry(record[1].to_owned()).or_default().push(&train[&record[0].parse().unwrap()]);
    }
    assert_eq!(folds.len(), 5);
    let told = timeline.periods(&profile, Some(plan.rows())).unwrap();
    let sizes: Vec<u64> = folds.values().map(|rows| rows.len() as u64).collect();
    assert_eq!(told.folds.iter().map(|fold| fold.rows).collect::<Vec<u64>>(), sizes);
    let periods = folds.into_values().chain([test.values().collect()]).collect::<Vec<_>>();
    for period in &periods {
        let share = share(period);
        assert!(are_near([share, found.test], 0.12), "{header}: {share} instead of {}", found.test);
    }
    let mean = periods.iter().map(|period| share(period) * period.len() as f64).sum::<f64>()
        / periods.iter().map(Vec::len).sum::<usize>() as f64;
    assert!(are_near([mean, alike.search.unwrap()], 0.005), "{mean} instead of {alike:?}");
    assert!(are_near([mean, found.test], 0.04), "{mean} instead of {}", found.test);
}

/// A series of the first `known`, or in the test table one of the first `all`.
fn within(day: usize, series: usize, known: usize, all: usize) -> Option<usize> {
    (series < if day < DAYS { known } else { all }).then_some(series)
}

#[test]
fn periods_have_as_many_rows_of_new_series_as_the_test_table() {
    check("item", |day, series| Some(format!("i{}", within(day, series, 40, 50)?)), &["item"], [0.2, 0.0]);
    // Numbers that name things, by their names or because they meet each day once.
    check("x", |day, series| Some(within(day, series, 45, 60)?.to_string()), &["x"], [0.25, 0.0]);
    // Two new towns with their shops.
    check(
        "shop,town",
        |day, series| within(day, series, 120, 144).map(|shop| format!("s{shop},t{}", shop / 6)),
        &["town"],
        [1.0 / 6.0, 0.0],
    );
    // Shops and products are known, but not all shops have had all products.
    check(
        "shop,product",
        |day, series| {
            let (shop, product) = (series % 10, series / 10);
            let is_old = (shop + product) % 4 != 0;
            (series < 120 && (is_old || day >= DAYS)).then(|| format!("{shop}s,{product}p"))
        },
        &["shop", "product"],
        [0.25, 0.0],
    );
}

#[test]
fn other_tables_are_left_as_they_are() {
    let check = |words: &str, header: &str, cells: Cells| {
        let (_dir, profile) = task(header, cells);
        assert_eq!(found(&profile), None, "{words}");
    };
    check("all are known", "item", |day, series| Some(format!("i{}", within(day, series, 50, 50)?)));
    check("one in sixty", "item", |day, series| Some(format!("i{}", within(day, series, 60, 61)?)));
    check("others come each week", "item", |day, series| {
        (series < 40).then(|| format!("i{}", series + day / 7 * 20))
    });
    check("counted by time", "item,nr", |day, series| {
        (series < 40).then(|| format!("i{series},{}", day * 3 + series % 3))
    });
    check("measured", "item,size", |day, series| {
        (series < 40).then(|| format!("i{series},{}.5", if day < DAYS { series } else { series * 2 }))
    });
}
