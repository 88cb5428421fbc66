//! Series that each end at a time of their own: their stretches, and the folds that scripts find.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use mle_star_domain::protocol::{Split, SplitKind};
use mle_star_tables::profile::Profile;
use mle_star_tables::split::{Known, describe};
use tempfile::TempDir;

use super::periods::{Cells, FIFTH, search, task};

/// A series: its first time, its labelled rows, the rows between the tables, and its test rows.
type Own = [usize; 4];

/// A task of these series, with rows in the order of time, and the split of it.
fn of_own_ends(series: &[Own]) -> (TempDir, Profile, Split) {
    let rows = |part: fn(&Own) -> std::ops::Range<usize>| -> Vec<Cells> {
        let of_series =
            |(name, own): (usize, &Own)| part(own).map(move |time| (time, name)).collect::<Vec<_>>();
        let mut rows: Vec<(usize, usize)> = series.iter().enumerate().flat_map(of_series).collect();
        rows.sort_unstable();
        rows.into_iter().map(|(time, name)| format!("{time},s{name}")).collect()
    };
    let test =
        |[first, known, between, asked]: &Own| first + known + between..first + known + between + asked;
    let (dir, profile) = task(&rows(|[first, known, ..]| *first..first + known), &rows(test));
    let split = describe(&profile, &Known { target: Some("y"), id: Some("id"), ..Known::default() }, false);
    assert_eq!(
        (split.kind, &split.series[..], split.within),
        (SplitKind::Time, &["g".to_owned()][..], false),
        "{}",
        split.why
    );
    (dir, profile, split)
}

/// The times of each series that these rows of the training table are, with the last time of the series as 0.
fn from_the_end(dir: &Path, series: &[Own], ids: &[String]) -> BTreeMap<usize, Vec<usize>> {
    let text = fs::read_to_string(dir.join("train.csv")).unwrap();
    let rows: BTreeMap<&str, (usize, usize)> = text
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            (cells[0], (cells[2][1..].parse().unwrap(), cells[1].parse().unwrap()))
        })
        .collect();
    let mut found: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for id in ids {
        let (name, time) = rows[id.as_str()];
        let [first, known, ..] = series[name];
        found.entry(name).or_default().push(first + known - 1 - time);
    }
    found.values_mut().for_each(|times| times.sort_unstable());
    found
}

#[test]
fn series_that_end_at_times_of_their_own_have_stretches_like_their_test_rows() {
    let check = |series: &[Own], words: [&str; 2], folds: usize| {
        let (dir, profile, split) = of_own_ends(series);
        let found = search(&profile, &split, FIFTH).unwrap();
        assert_eq!([found.periods.length.as_str(), found.periods.gap.as_str()], words);
        assert_eq!(found.periods.folds.len(), folds);
        let of = |ids: &[String]| from_the_end(dir.path(), series, ids);
        let (held, train) = (of(&found.test), of(&found.train));
        assert_eq!([&found.test, &found.test], [&found.sample, &found.labels]);
        for (name, [_, known, between, asked]) in series.iter().enumerate() {
            let takes_part =
                *asked > 0 && known - asked - between > 0 && (known - asked - between) * 4 >= *known;
            let last = if takes_part { *asked } else { 0 };
            assert_eq!(held.get(&name), takes_part.then(|| (0..last).collect()).as_ref(), "{name}");
            // Rows as far from the last stretch as the training rows from the test rows are in neither table.
            let left = if takes_part { last + between } else { 0 };
            assert_eq!(train[&name], (left..*known).collect::<Vec<_>>(), "{name}");
            for fold in 0..u8::try_from(folds).unwrap() {
                let ids = found.folds.iter().filter(|(_, own)| **own == fold).map(|(id, _)| id.clone());
                let start = (folds - usize::from(fold)) * (asked + between);
                let learnt = known.saturating_sub(start + asked + between);
                let has_fold = takes_part && learnt > 0 && learnt * 4 >= *known;
                let expected = has_fold.then(|| (start..start + asked).collect::<Vec<_>>());
                assert_eq!(of(&ids.collect::<Vec<_>>()).get(&name), expected.as_ref(), "{name} {fold}");
            }
        }
        assert_eq!(found.periods.held_out.unwrap().rows, found.test.len() as u64);
    };
    let series = |own: fn(usize) -> Own| (0..12).map(own).collect::<Vec<Own>>();
    check(&series(|at| [at, 60 + 7 * at, 0, 5]), ["5 steps of `t`", ""], 5);
    check(&series(|at| [0, 60 + 7 * at, 3, 5]), ["5 steps of `t`", "3 steps of `t`"], 5);
    // Series that are over stay in training, and so do those that are too short.
    check(&series(|at| [0, 60 + at, 0, if at % 4 == 0 { 0 } else { 6 }]), ["6 steps of `t`", ""], 5);
    check(&series(|at| [7 * at, if at % 4 == 0 { 7 } else { 61 }, 0, 6]), ["6 steps of `t`", ""], 5);
    // Most series are long enough for a third stretch, and few for a fourth.
    check(&series(|at| [at, 24 + at * 2, 0, 8]), ["8 steps of `t`", ""], 2);
}

#[test]
fn single_rows_are_drawn_where_test_rows_lie_between_training_rows() {
    let late: Vec<Own> = (0..8).map(|at| [0, 60 + 5 * at, 0, 5]).collect();
    // Each tenth time of further series is in the test table.
    let within = |at: usize| (0..100).filter(move |time| (time % 10 == 3) == (at == 1));
    let rows = |at: usize| -> Vec<Cells> {
        let own = |[first, known, _, asked]: &Own| {
            if at == 1 { first + known..first + known + asked } else { *first..first + known }
        };
        let late = late
            .iter()
            .enumerate()
            .flat_map(|(name, series)| own(series).map(move |time| format!("{time},s{name}")));
        late.chain((8..16).flat_map(|name| within(at).map(move |time| format!("{time},s{name}")))).collect()
    };
    let (_dir, profile) = task(&rows(0), &rows(1));
    let split = describe(&profile, &Known { target: Some("y"), id: Some("id"), ..Known::default() }, false);
    assert!(split.within && split.series == ["g"], "{}", split.why);
    let found = search(&profile, &split, FIFTH).unwrap();
    // Eight stretches of five rows, and ten single rows of each of eight series.
    assert_eq!((found.test.len(), found.periods.folds.len()), (40 + 80, 5));
    let all: BTreeSet<&String> = found.test.iter().chain(found.folds.keys()).collect();
    assert_eq!(all.len(), 6 * 120);
}
