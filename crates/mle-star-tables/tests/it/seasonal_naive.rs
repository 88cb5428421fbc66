use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use mle_star_domain::protocol::{Split, SplitKind};
use mle_star_tables::folds::{self, FoldBasis};
use mle_star_tables::periods::Timeline;
use mle_star_tables::profile;
use mle_star_tables::seasonal_naive;

fn cells(path: &Path) -> Vec<Vec<String>> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

/// The forecasts of the rows of each fold, by the number of the time; the number of the first time of each fold.
struct Found {
    forecasts: BTreeMap<String, f64>,
    folds: BTreeMap<String, usize>,
}

/// Writes tables whose rows are an ID, a time, further cells and `y`. Rows of `is_test` are the test table.
fn found(header: &str, rows: &[(String, bool)]) -> Option<Found> {
    let dir = tempfile::tempdir().unwrap();
    let (data, into) = (dir.path().join("data"), dir.path().join("into"));
    [&data, &into].into_iter().for_each(|folder| fs::create_dir(folder).unwrap());
    let table = |wanted: bool| {
        let lines = rows.iter().filter(|(_, is_test)| *is_test == wanted);
        let cut =
            |line: &str| if wanted { line.rsplit_once(',').unwrap().0.to_owned() } else { line.to_owned() };
        let lines: String = lines.map(|(line, _)| format!("{}\n", cut(line))).collect();
        format!("{}\n{lines}", cut(header))
    };
    fs::write(data.join("train.csv"), table(false)).unwrap();
    fs::write(data.join("test.csv"), table(true)).unwrap();
    let profile = profile::read(&data).unwrap();
    let column = header.split(',').nth(1).map(str::to_owned);
    let split = Split { kind: SplitKind::Time, column, ..Split::default() };
    let timeline = Timeline::read(&profile, "y", Some("id"), &split).unwrap();
    let by = FoldBasis {
        target: "y",
        id: Some("id"),
        split: &split,
        timeline: Some(&timeline),
        own: None,
        seed: 1,
    };
    folds::write(&profile, &by, None, &into).unwrap();
    let path = into.join("naive.csv");
    if !seasonal_naive::write(&profile, &by, None, &path).unwrap() {
        assert!(!path.exists());
        return None;
    }
    assert!(fs::read_to_string(&path).unwrap().starts_with("id,y\n"));
    let number = |cell: &str| cell.parse().unwrap();
    let forecasts = cells(&path).into_iter().map(|row| (row[0].clone(), number(&row[1]))).collect();
    let folds = cells(&into.join("folds.csv"));
    let folds = folds.into_iter().map(|row| (row[0].clone(), row[1].parse().unwrap())).collect();
    Some(Found { forecasts, folds })
}

/// `2023-01-02` for 1, the second day of 2023.
fn day(number: usize) -> String {
    let months = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let (mut month, mut left) = (0, number);
    while left >= months[month] {
        left -= months[month];
        month += 1;
    }
    format!("2023-{:02}-{:02}", month + 1, left + 1)
}

/// Two stores a day, each with a value that tells the store and the day; the rows of `is_missing` are left out.
fn stores(is_missing: impl Fn(usize, usize) -> bool) -> Vec<(String, bool)> {
    let places = (0..200).flat_map(|at| (0..3).map(move |store| (at, store)));
    let left = places.filter(|(at, store)| !is_missing(*at, *store));
    let row = |(at, store): (usize, usize)| {
        (format!("{store}-{at},{},s{store},{}", day(at), store * 1000 + at), at >= 190)
    };
    left.map(row).collect()
}

/// The days of each fold.
fn days(found: &Found) -> BTreeMap<usize, (usize, usize)> {
    let mut days = BTreeMap::new();
    for (id, fold) in &found.folds {
        let at: usize = id.split_once('-').unwrap().1.parse().unwrap();
        let (from, to) = days.entry(*fold).or_insert((at, at));
        (*from, *to) = ((*from).min(at), (*to).max(at));
    }
    days
}

#[test]
fn a_row_gets_the_value_of_its_series_a_week_or_two_earlier() {
    let found = found("id,day,store,y", &stores(|_, _| false)).unwrap();
    let days = days(&found);
    assert!(days.len() >= 3 && days.values().all(|(from, to)| to - from == 9), "{days:?}");
    assert_eq!(found.forecasts.len(), found.folds.len());
    for (id, fold) in &found.folds {
        let (store, at) = id.split_once('-').unwrap();
        let (store, at): (usize, usize) = (store.parse().unwrap(), at.parse().unwrap());
        // The last three of ten days are more than a week after the last known one.
        let weeks = if at - days[fold].0 < 7 { 1 } else { 2 };
        assert_eq!(found.forecasts[id], (store * 1000 + at - 7 * weeks) as f64, "{id}");
    }
}

#[test]
fn what_a_season_before_lacks_is_an_earlier_or_the_last_value_or_a_mean() {
    let all = found("id,day,store,y", &stores(|_, _| false)).unwrap();
    let (from, _) = days(&all)[&0];
    // Store 0 lacks a day, store 1 has two days before the period, and store 2 has none.
    let found = found(
        "id,day,store,y",
        &stores(|at, store| match store {
            0 => at == from - 7,
            1 => at + 2 < from,
            _ => at < from,
        }),
    )
    .unwrap();
    assert_eq!(days(&found)[&0], days(&all)[&0]);
    let of = |store: usize, at: usize| found.forecasts[&format!("{store}-{at}")];
    assert_eq!(of(0, from), (from - 14) as f64);
    assert_eq!(of(0, from + 1), (from - 6) as f64);
    assert_eq!([of(1, from), of(1, from + 5)], [(1000 + from - 1) as f64, (1000 + from - 2) as f64]);
    let known: Vec<usize> =
        (0..from).filter(|at| *at != from - 7).chain([1000 + from - 2, 1000 + from - 1]).collect();
    let mean = known.iter().sum::<usize>() as f64 / known.len() as f64;
    assert!((of(2, from + 3) - mean).abs() < 1e-9);
}

#[test]
fn months_have_a_season_of_a_year_and_numbers_have_none() {
    let months: Vec<(String, bool)> = (0..120)
        .map(|at| (format!("a-{at},{}-{:02},{at}", 2010 + at / 12, at % 12 + 1), at >= 114))
        .collect();
    let by_month = found("id,month,y", &months).unwrap();
    assert!(by_month.forecasts.len() >= 18);
    for (id, forecast) in &by_month.forecasts {
        assert_eq!(*forecast, id[2..].parse::<f64>().unwrap() - 12.0, "{id}");
    }
    let numbers: Vec<(String, bool)> = (0..120).map(|at| (format!("a-{at},{at},{at}"), at >= 114)).collect();
    let by_number = found("id,t,y", &numbers).unwrap();
    let days = days(&by_number);
    for (id, forecast) in &by_number.forecasts {
        assert_eq!(*forecast, (days[&by_number.folds[id]].0 - 1) as f64, "{id}");
    }
}
