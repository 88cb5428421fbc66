//! Periods of the training time, the held-out one, and the folds that scripts find.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use jiff::civil::{Date, DateTime, date};
use jiff::{Span, ToSpan};
use mle_star_domain::protocol::{Holdout, Period, Periods, Split, SplitKind};
use mle_star_tables::folds::{self, FoldBasis};
use mle_star_tables::holdout::{Off, Plan, Roles, Share, labels, plan_period, write_with};
use mle_star_tables::periods::Timeline;
use mle_star_tables::profile::{self, Profile};
use mle_star_tables::split::{Known, describe};
use proptest::prelude::*;
use tempfile::TempDir;

const ROLES: Roles<'_> = Roles { target: Some("y"), id: Some("id"), weight: None };

/// The cells of a row beside its ID and its label: its time, its group, its series.
pub(crate) type Cells = String;

/// A task with these rows.
pub(crate) fn task(train: &[Cells], test: &[Cells]) -> (TempDir, Profile) {
    let dir = tempfile::tempdir().unwrap();
    let rows = |cells: &[Cells], from: usize, label: fn(usize) -> String| {
        (from..).zip(cells).map(|(id, cells)| format!("r{id},{cells}{}\n", label(id))).collect::<String>()
    };
    let train_text = rows(train, 0, |id| format!(",{}.5", id % 97));
    let test_text = rows(test, train.len(), |_| String::new());
    let sample: String = (train.len()..).zip(test).map(|(id, _)| format!("r{id},0.0\n")).collect();
    let header = if train.iter().all(|cells| cells.contains(',')) { "id,t,g" } else { "id,t" };
    let write = |name: &str, text: String| fs::write(dir.path().join(name), text).unwrap();
    write("train.csv", format!("{header},y\n{train_text}"));
    write("test.csv", format!("{header}\n{test_text}"));
    write("sample_submission.csv", format!("id,y\n{sample}"));
    let profile = profile::read(dir.path()).unwrap();
    (dir, profile)
}

fn by_time() -> Split {
    Split { kind: SplitKind::Time, column: Some("t".to_owned()), ..Split::default() }
}

fn timeline(profile: &Profile) -> Result<Timeline, String> {
    Timeline::read(profile, "y", Some("id"), &by_time())
}

fn dates(start: Date, count: i32, step: impl Fn(i32) -> Span) -> Vec<Cells> {
    (0..count).map(|at| start.checked_add(step(at)).unwrap().to_string()).collect()
}

fn hours(start: DateTime, hours: impl Iterator<Item = i64>) -> Vec<Cells> {
    let text = |at: i64| start.checked_add(at.hours()).unwrap().strftime("%Y-%m-%d %H:%M:%S").to_string();
    hours.map(text).collect()
}

fn numbers(numbers: impl Iterator<Item = i32>) -> Vec<Cells> {
    numbers.map(|number| number.to_string()).collect()
}

/// The series that begins with `train` and ends with `test`, with rows between them that neither has.
fn cut(mut all: Vec<Cells>, between: usize, test: usize) -> (Vec<Cells>, Vec<Cells>) {
    let of_test = all.split_off(all.len() - test);
    all.truncate(all.len() - between);
    (all, of_test)
}

/// A period as `from..to*rows`.
fn told(period: &Period) -> String {
    format!("{}..{} {}", period.from, period.to, period.rows)
}

/// Checks the length and the gap of periods, the last one, the one before the held-out period, and how many these are.
fn check(series: &(Vec<Cells>, Vec<Cells>), words: [&str; 2], last: &str, before: &str, folds: usize) {
    let (_dir, profile) = task(&series.0, &series.1);
    let timeline = timeline(&profile).unwrap();
    let of = |held_out: Option<u64>| timeline.periods(&profile, held_out).unwrap();
    let (whole, search) = (of(None), of(Some(33)));
    assert_eq!([whole.length.as_str(), whole.gap.as_str()], words);
    // What is the last fold of all rows is the held-out period of the search.
    assert_eq!(told(whole.folds.last().unwrap()), last);
    let held_out = search.held_out.as_ref().unwrap();
    assert_eq!((held_out.from.as_str(), held_out.rows), (last.split("..").next().unwrap(), 33));
    assert_eq!((told(search.folds.last().unwrap()).as_str(), search.folds.len()), (before, folds));
    assert_eq!((whole.test.rows, whole.train.rows), (series.1.len() as u64, series.0.len() as u64));
    assert_eq!(whole.test.from, series.1[0]);
}

#[test]
fn periods_are_like_the_test_table() {
    let day = |at: i32| at.days();
    let days = |count: i32| dates(date(2023, 1, 1), count, day);
    let periods = "2023-12-04..2023-12-31 28";
    check(&cut(days(393), 0, 28), ["28 days", ""], periods, "2023-11-06..2023-12-03 28", 5);
    // A week lies between both tables, and so it does before each period.
    check(&cut(days(393 + 7), 7, 28), ["28 days", "7 days"], periods, "2023-10-30..2023-11-26 28", 5);
    let weeks = dates(date(2020, 1, 5), 100, ToSpan::weeks);
    check(&cut(weeks, 0, 8), ["8 weeks", ""], "2021-08-15..2021-10-03 8", "2021-06-20..2021-08-08 8", 5);
    let months = |count: i32| dates(date(1990, 1, 1), count, ToSpan::months);
    check(
        &cut(months(120), 2, 3),
        ["3 months", "2 months"],
        "1999-05-01..1999-07-01 3",
        "1998-12-01..1999-02-01 3",
        5,
    );
    check(&cut(numbers(1..101), 0, 12), ["12 steps of `t`", ""], "77..88 12", "65..76 12", 4);
}

#[test]
fn weekends_and_nights_are_no_gaps() {
    let day = |at: i32| at.days();
    // Weekends are no gap.
    let workdays: Vec<Cells> = (0..350)
        .filter(|at| at % 7 < 5)
        .map(|at| date(2023, 1, 2).checked_add(day(at)).unwrap().to_string())
        .collect();
    check(
        &cut(workdays, 0, 20),
        ["26 days", ""],
        "2023-10-23..2023-11-17 20",
        "2023-09-25..2023-10-20 20",
        5,
    );
    // Nor are nights: periods of several days have whole days.
    let start = date(2023, 1, 1).at(0, 0, 0, 0);
    let opening = hours(start, (0..24 * 100).filter(|at| (8..17).contains(&(at % 24))));
    let last = "2023-03-22 08:00:00..2023-03-31 16:00:00 90";
    check(&cut(opening, 0, 90), ["10 days", ""], last, "2023-03-12 08:00:00..2023-03-21 16:00:00 90", 5);
    let last = "2023-03-22 10:00:00..2023-03-23 09:00:00 24";
    check(
        &cut(hours(start, 0..24 * 82 + 10), 0, 24),
        ["1 day", ""],
        last,
        "2023-03-21 10:00:00..2023-03-22 09:00:00 24",
        5,
    );
}

#[test]
fn tables_without_periods_say_why() {
    let check = |train: Vec<Cells>, test: Vec<Cells>, why: &str| {
        let (_dir, profile) = task(&train, &test);
        assert_eq!(timeline(&profile).unwrap_err(), why);
    };
    let too_short = "the training time is too short for periods of 40 steps of `t` as in the test table";
    check(numbers(0..79), numbers(79..119), too_short);
    // From here on, there is one.
    let (_dir, profile) = task(&numbers(0..80), &numbers(80..120));
    assert_eq!(timeline(&profile).unwrap().periods(&profile, None).unwrap().folds.len(), 1);
    check(vec!["7".to_owned(); 50], numbers(8..20), "all labelled rows have the same value of `t`");
    check(
        numbers(20..90),
        numbers(8..20),
        "the rows of the test table are earlier in `t` than all labelled rows",
    );
    check(
        (0..50).map(|at| format!("a{at}")).collect(),
        numbers(8..20),
        "the values of `t` have no order of time",
    );
}

#[test]
fn a_few_early_test_rows_do_not_lengthen_periods() {
    let length = |early: usize| {
        let test = numbers(2000..2200).into_iter().enumerate();
        let test = test.map(|(at, time)| if at < early { "10".to_owned() } else { time });
        let (_dir, profile) = task(&numbers(0..2000), &test.collect::<Vec<Cells>>());
        timeline(&profile).map(|timeline| timeline.periods(&profile, None).unwrap().length)
    };
    assert_eq!(length(2).unwrap(), "198 steps of `t`");
    assert!(length(3).unwrap_err().contains("periods of 2190 steps"));
}

#[test]
fn rows_later_than_the_test_table_are_in_no_period() {
    let check = |odd: usize, note: Option<&str>| {
        let odd_rows = (0..odd).map(|at| (9000 + at).to_string());
        let train: Vec<Cells> = odd_rows.chain(numbers(0..400)).collect();
        let (_dir, profile) = task(&train, &numbers(400..440));
        let known = Known { target: Some("y"), id: Some("id"), ..Known::default() };
        let split = describe(&profile, &known, false);
        assert_eq!((split.kind, split.column.as_deref()), (SplitKind::Time, Some("t")), "{}", split.why);
        let timeline = timeline(&profile).unwrap();
        assert_eq!(timeline.note().as_deref(), note);
        let periods = timeline.periods(&profile, None).unwrap();
        assert_eq!(
            (told(&periods.train).as_str(), told(&periods.folds[4])),
            ("0..399 400", "360..399 40".to_owned())
        );
        let found = search(&profile, &split, FIFTH).unwrap();
        assert_eq!((found.train, found.test), (ids(odd..360 + odd), ids(360 + odd..400 + odd)));
    };
    check(0, None);
    check(1, Some("1 labelled row is later than the test table and in no period"));
    check(4, Some("4 labelled rows are later than the test table and in no period"));
}

/// What scripts of the search find, and what the program keeps.
pub(crate) struct Search {
    pub(crate) _into: TempDir,
    pub(crate) plan: Plan,
    pub(crate) periods: Periods,
    /// IDs, and times by them.
    pub(crate) train: Vec<String>,
    pub(crate) test: Vec<String>,
    pub(crate) sample: Vec<String>,
    pub(crate) labels: Vec<String>,
    /// The fold of each ID.
    pub(crate) folds: BTreeMap<String, u8>,
    pub(crate) folds_of_all: BTreeMap<String, u8>,
}

fn column(path: &Path, at: usize) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().skip(1).map(|line| line.split(',').nth(at).unwrap().to_owned()).collect()
}

fn folds_in(folder: &Path) -> BTreeMap<String, u8> {
    let path = folder.join("folds.csv");
    assert!(fs::read_to_string(&path).unwrap().starts_with("id,fold\n"));
    column(&path, 0).into_iter().zip(column(&path, 1)).map(|(id, fold)| (id, fold.parse().unwrap())).collect()
}

pub(crate) fn search(profile: &Profile, split: &Split, share: Share) -> Result<Search, Off> {
    let timeline = Timeline::read(profile, "y", Some("id"), split).map_err(Off)?;
    let plan = plan_period(profile, &ROLES, (split, &timeline), share, 1)?;
    let into = tempfile::tempdir().unwrap();
    let (input, all_rows) = (into.path().join("input"), into.path().join("all_rows"));
    let by = FoldBasis { target: "y", id: Some("id"), split, timeline: Some(&timeline), own: None, seed: 1 };
    write_with(profile, &plan, &input, |folder| folds::write(profile, &by, Some(&plan), folder)).unwrap();
    folds::link_all_rows(profile, &by, &all_rows).unwrap();
    labels(profile, &plan, &into.path().join("labels.csv")).unwrap();
    let ids = |name: &str| column(&input.join(name), 0);
    let header = |folder: &Path| {
        fs::read_to_string(folder.join("test.csv")).unwrap().lines().next().unwrap().to_owned()
    };
    assert_eq!(header(&input), header(&all_rows));
    Ok(Search {
        periods: timeline.periods(profile, Some(plan.rows())).unwrap(),
        train: ids("train.csv"),
        test: ids("test.csv"),
        sample: ids("sample_submission.csv"),
        labels: column(&into.path().join("labels.csv"), 0),
        folds: folds_in(&input),
        folds_of_all: folds_in(&all_rows),
        plan,
        _into: into,
    })
}

/// IDs from `r{first}` to `r{last}`.
fn ids(range: std::ops::Range<usize>) -> Vec<String> {
    range.map(|id| format!("r{id}")).collect()
}

pub(crate) const FIFTH: Share = Share::Of(0.2, 50);

#[test]
fn the_search_predicts_the_period_before_the_test_table() {
    let (_dir, profile) = task(&numbers(0..300), &numbers(310..350));
    let found = search(&profile, &by_time(), FIFTH).unwrap();
    // Ten times lie between the tables.
    let held_out = ids(260..300);
    assert_eq!([&found.test, &found.sample, &found.labels], [&held_out; 3]);
    assert_eq!(found.train, ids(0..250));
    let of_fold = |folds: &BTreeMap<String, u8>, wanted: u8| {
        let mut rows: Vec<usize> = folds
            .iter()
            .filter(|(_, fold)| **fold == wanted)
            .map(|(id, _)| id[1..].parse().unwrap())
            .collect();
        rows.sort_unstable();
        (rows[0], rows.len())
    };
    assert_eq!(
        [0, 1, 2, 3].map(|fold| of_fold(&found.folds, fold)),
        [(90, 40), (130, 40), (170, 40), (210, 40)]
    );
    assert_eq!(of_fold(&found.folds_of_all, 4), (260, 40));
    assert_eq!((found.folds.len(), found.folds_of_all.len()), (160, 200));
    assert_eq!(found.plan.removed(), 50);
    let Holdout::On { rows, of, period, .. } = found.plan.holdout() else { panic!() };
    assert_eq!((rows, of, period), (40, 300, true));
    assert_eq!(found.periods.gap_size, 10.0);
}

#[test]
fn rows_are_drawn_where_the_test_table_is_thin() {
    // Each step has twelve rows, and the test table one or twelve.
    let panel = |times: std::ops::Range<i32>, series: i32| -> Vec<Cells> {
        times.flat_map(|time| (0..series).map(move |series| format!("{time},s{series}"))).collect()
    };
    let check = |series: i32, rows: u64| {
        let (_dir, profile) = task(&panel(0..100, 12), &panel(100..130, series));
        let found = search(&profile, &by_time(), FIFTH).unwrap();
        assert_eq!((found.plan.rows(), found.test.len() as u64), (rows, rows), "{series}");
        assert_eq!((found.train.len(), found.plan.removed()), (70 * 12, 30 * 12));
        assert_eq!(found.folds.len() % (30 * 12), 0);
        assert_eq!(found.periods.held_out.unwrap().rows, rows);
    };
    check(12, 360);
    check(8, 360);
    check(7, 210);
    check(1, 30);
}

#[test]
fn groups_are_as_late_as_their_first_row() {
    // Each person is seen four times in ten days.
    let rows = |people: std::ops::Range<i32>| -> Vec<Cells> {
        people
            .flat_map(|person| (0..4).map(move |visit| format!("{},p{person}", person + visit * 3)))
            .collect()
    };
    let (_dir, profile) = task(&rows(0..100), &rows(100..115));
    let split = Split { groups: Some("g".to_owned()), ..by_time() };
    let found = search(&profile, &split, FIFTH).unwrap();
    assert_eq!(found.test, ids(85 * 4..400));
    assert_eq!(found.train, ids(0..85 * 4));
    let people = |wanted: u8| -> BTreeSet<usize> {
        let of_fold = found.folds.iter().filter(|(_, fold)| **fold == wanted);
        of_fold.map(|(id, _)| id[1..].parse::<usize>().unwrap() / 4).collect()
    };
    assert_eq!([people(0), people(3)], [(25..40).collect(), (70..85).collect()]);
    assert_eq!(found.folds.len(), 4 * 15 * 4);
}

#[test]
fn rows_are_held_out_only_if_a_period_is_left_to_validate() {
    let check = |rows: std::ops::Range<i32>, test: i32, share: Share, expected: Result<u64, &str>| {
        let end = rows.end;
        let (_dir, profile) = task(&numbers(rows), &numbers(end..end + test));
        let found = search(&profile, &by_time(), share);
        assert_eq!(found.map(|found| found.plan.rows()), expected.map_err(|why| Off(why.to_owned())));
    };
    let too_short =
        "the training time is too short for a held-out period of 40 steps of `t` beside a validated one";
    check(0..119, 40, FIFTH, Err(too_short));
    check(0..120, 40, FIFTH, Ok(40));
    let auto = Share::Auto { most: 10 };
    check(0..1999, 40, auto, Err("only 1999 rows are labelled; 2000 are needed"));
    let half: Vec<Cells> =
        (0..2500).map(|at| if at % 2 == 0 { String::new() } else { at.to_string() }).collect();
    let (_dir, profile) = task(&half, &numbers(2500..2540));
    let few = "only 1250 of 2500 labelled rows have a time up to that of the test table";
    assert_eq!(search(&profile, &by_time(), auto).map(drop), Err(Off(few.to_owned())));
    // The period is as long as the test table, whatever the share.
    check(0..2000, 40, auto, Ok(40));
    check(0..2000, 19, auto, Err("the last period has only 19 rows; 20 are needed"));
}

/// The folds that are written for a split without periods.
fn written(train: &[Cells], split: &Split, id: Option<&str>) -> Vec<(String, u8)> {
    let group = if train[0].contains(',') { ",other" } else { "" };
    let test: Vec<Cells> = (5000..5040).map(|time| format!("{time}{group}")).collect();
    let (_dir, profile) = task(train, &test);
    let into = tempfile::tempdir().unwrap();
    let by = FoldBasis { target: "y", id, split, timeline: None, own: None, seed: 1 };
    folds::write(&profile, &by, None, into.path()).unwrap();
    let path = into.path().join("folds.csv");
    let folds = column(&path, 1).into_iter().map(|fold| fold.parse().unwrap());
    column(&path, 0).into_iter().zip(folds).collect()
}

fn sizes(folds: &[(String, u8)]) -> Vec<usize> {
    let most = folds.iter().map(|(_, fold)| *fold).max().unwrap();
    (0..=most).map(|wanted| folds.iter().filter(|(_, fold)| *fold == wanted).count()).collect()
}

#[test]
fn folds_are_like_the_split() {
    let split =
        |kind, column: Option<&str>| Split { kind, column: column.map(str::to_owned), ..Split::default() };
    let rows = numbers(0..203);
    let at_random = written(&rows, &split(SplitKind::Rows, None), Some("id"));
    assert_eq!(sizes(&at_random), [41, 41, 41, 40, 40]);
    assert!(at_random.windows(2).any(|pair| pair[0].1 != pair[1].1));
    assert_eq!(at_random[7].0, "r7");
    // Labels repeat after 97 rows.
    let by_class = written(&rows, &split(SplitKind::Stratified, None), Some("id"));
    let folds_of_label = |label: usize| -> BTreeSet<u8> {
        by_class.iter().skip(label).step_by(97).map(|(_, fold)| *fold).collect()
    };
    assert!((0..97).all(|label| folds_of_label(label).len() >= 2));
    // Without an ID column, rows have numbers.
    assert_eq!(written(&rows, &split(SplitKind::Rows, None), None)[7].0, "7");

    let groups: Vec<Cells> =
        (0..200).map(|at| format!("{at},p{}", if at < 60 { 0 } else { at / 10 })).collect();
    let whole = written(&groups, &split(SplitKind::Groups, Some("g")), Some("id"));
    assert!(whole[..60].iter().all(|(_, fold)| *fold == whole[0].1));
    let mut found = sizes(&whole);
    found.sort_unstable();
    assert_eq!(found, [30, 30, 40, 40, 60]);
    let two: Vec<Cells> = (0..200).map(|at| format!("{at},p{}", at % 2)).collect();
    assert_eq!(sizes(&written(&two, &split(SplitKind::Groups, Some("g")), Some("id"))), [100, 100]);

    // Times without periods: three folds of later rows, and equal times stay together.
    let later = written(&numbers(0..200), &split(SplitKind::Time, Some("t")), Some("id"));
    assert_eq!((sizes(&later), later[0].0.as_str()), (vec![30, 30, 30], "r110"));
    let weeks: Vec<Cells> = (0..200).map(|at| (at / 50).to_string()).collect();
    assert_eq!(sizes(&written(&weeks, &split(SplitKind::Time, Some("t")), Some("id"))), [50, 50]);
}

/// A task in time whose parts are drawn.
#[derive(Clone, Debug)]
struct Drawn {
    /// Times of training rows, in any order.
    train: Vec<i64>,
    test: Vec<i64>,
    as_dates: bool,
}

fn drawn() -> impl Strategy<Value = Drawn> {
    let steps = (1_i64..5, 60_usize..400, 1_usize..40, 0_i64..20, 1_usize..4);
    (steps, any::<bool>(), any::<bool>(), any::<u64>()).prop_map(
        |((step, rows, test, gap, series), irregular, as_dates, seed)| {
            let mut state = seed;
            let mut below = move |limit: i64| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) as i64 % limit.max(1)
            };
            let mut time = 1_000_i64;
            let mut next = || {
                time += if irregular { 1 + below(step * 3) } else { step };
                time
            };
            let train: Vec<i64> = (0..rows).flat_map(|_| vec![next(); series]).collect();
            let skipped = gap * step;
            let test: Vec<i64> = (0..test).flat_map(|_| vec![next() + skipped; series]).collect();
            let half = train.len() / 2;
            let train = [&train[half..], &train[..half]].concat();
            Drawn { train, test, as_dates }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_model_learns_from_rows_that_it_could_not_have(drawn in drawn()) {
        let text = |time: &i64| match drawn.as_dates {
            true => date(1990, 1, 1).checked_add(time.days()).unwrap().to_string(),
            false => time.to_string(),
        };
        let cells = |times: &[i64]| times.iter().map(text).collect::<Vec<Cells>>();
        let (_dir, profile) = task(&cells(&drawn.train), &cells(&drawn.test));
        let Ok(found) = search(&profile, &by_time(), FIFTH) else { return Ok(()) };
        let time = |id: &String| drawn.train[id[1..].parse::<usize>().unwrap()];
        let bounds = |ids: &mut dyn Iterator<Item = &String>| {
            let times: Vec<i64> = ids.map(time).collect();
            (*times.iter().min().unwrap(), *times.iter().max().unwrap())
        };
        // The real test rows are not in the folder, and no row is in both tables.
        prop_assert!(found.test.iter().all(|id| id[1..].parse::<usize>().unwrap() < drawn.train.len()));
        prop_assert_eq!(&found.test, &found.sample);
        prop_assert_eq!(&found.test, &found.labels);
        let both: BTreeSet<&String> = found.train.iter().chain(&found.test).collect();
        prop_assert_eq!(both.len(), found.train.len() + found.test.len());
        prop_assert_eq!(found.train.len() as u64 + found.plan.removed(), drawn.train.len() as u64);
        // The held-out period ends with the training time and is not longer than the test table.
        let last = *drawn.train.iter().max().unwrap();
        // Half a step more may be in a period.
        let distinct: Vec<&i64> = drawn.train.iter().collect::<BTreeSet<_>>().into_iter().collect();
        let mut steps: Vec<i64> = distinct.windows(2).map(|pair| pair[1] - pair[0]).collect();
        steps.sort_unstable();
        let span = drawn.test.iter().max().unwrap() - drawn.test.iter().min().unwrap()
            + steps[steps.len() * 5 / 100] / 2;
        let held_out = bounds(&mut found.test.iter());
        let learnt = bounds(&mut found.train.iter());
        prop_assert!(held_out.1 <= last && held_out.1 - held_out.0 <= span);
        let gap = if drawn.as_dates { found.periods.gap_size / 86_400.0 } else { found.periods.gap_size };
        prop_assert!(((held_out.0 - learnt.1) as f64) > gap);
        // So do the folds, one after the other, before it.
        let mut end = learnt.1;
        for fold in (0..found.periods.folds.len() as u8).rev() {
            let (from, to) = bounds(&mut found.folds.iter().filter(|(_, of)| **of == fold).map(|(id, _)| id));
            prop_assert!(to <= end && to - from <= span, "fold {fold}: {from} to {to} before {end}");
            let told = &found.periods.folds[usize::from(fold)];
            prop_assert_eq!([&told.from, &told.to], [&text(&from), &text(&to)]);
            let rows = drawn.train.iter().filter(|time| (from..=to).contains(*time)).count();
            prop_assert_eq!(told.rows, rows as u64);
            prop_assert_eq!(found.folds.values().filter(|of| **of == fold).count(), rows);
            end = from - 1;
        }
        let before = found.train.iter().filter(|id| ((end + 1 - time(id)) as f64) > gap).count();
        prop_assert!(before * 4 >= found.train.len(), "{before} of {}", found.train.len());
        // The folds of all rows end with the training time.
        let last_fold = *found.folds_of_all.values().max().unwrap();
        let of_all = bounds(&mut found.folds_of_all.iter().filter(|(_, of)| **of == last_fold).map(|(id, _)| id));
        prop_assert_eq!(of_all.1, last);
    }
}
