//! What the summary says about the target: by column, and by time.

use super::*;

/// A number below `below` that has nothing to do with others.
fn drawn(row: usize, below: usize) -> usize {
    usize::try_from(crate::records::digest(&(row, below)) % below as u64).unwrap()
}

/// The summary of tables with these columns beside ID and target.
fn of(header: &str, row: impl Fn(usize) -> String, label: impl Fn(usize) -> String) -> String {
    let train = table(&format!("id,{header},y"), 400, |at| format!("{at},{},{}", row(at), label(at)));
    let test = table(&format!("id,{header}"), 100, |at| format!("{},{}", at + 400, row(at + 400)));
    summary_of(folder(&[("train.csv", &train), ("test.csv", &test)]).path())
}

#[test]
fn columns_that_tell_the_target_are_told_with_errors() {
    let check = |header: &str,
                 row: &dyn Fn(usize) -> String,
                 label: &dyn Fn(usize) -> String,
                 parts: &[&str],
                 not: &[&str]| {
        let summary = of(header, row, label);
        contains(&summary, parts);
        for part in not {
            assert!(!summary.contains(part), "{part} in\n{summary}");
        }
    };
    // A share by level, by missing value and by part of a number; noise is left out.
    let row = |at: usize| {
        let half = if at.is_multiple_of(4) { String::new() } else { format!("{}.5", drawn(at, 9)) };
        format!("{},{half},{}", ["Rome", "Ames"][at % 2], drawn(at, 7))
    };
    let label = |at: usize| {
        let is_rare = at.is_multiple_of(2) && at % 20 != 2 || at % 40 == 1;
        u8::from(is_rare).to_string()
    };
    check(
        "town,half,noise",
        &row,
        &label,
        &[
            "Share of `y` = `1` (all rows 47.5% ±2.5) by level",
            "- `town` (72%): `Ames` 5.0% ±1.6, `Rome` 90.0% ±2.2\n",
            ", missing 100.0% ±1.0\n",
        ],
        &["- `noise`"],
    );
    // A mean, with the parts of a number, and of a number with few values.
    let numbers = |at: usize| format!("{},{}", at % 50, at % 3);
    check(
        "x,k",
        &numbers,
        &|at| format!("{}.25", at % 50 * 2),
        &[
            "Mean of `y` (all rows 49.2 ±1.4)",
            "- `x` (96%): ≤9 9.2 ±0.6, ≤19 29.2 ±0.6, ≤29 49.2 ±0.6, ≤39 69.2 ±0.6, ≤49 89.2 ±0.6\n",
        ],
        &["- `k`"],
    );
    let nothing = "- No column of 2 alone tells `y` beyond chance\n";
    check(
        "a,b",
        &|at| format!("{},{}", drawn(at, 5), drawn(at + 7, 90)),
        &|at| drawn(at + 3, 2).to_string(),
        &[nothing],
        &[],
    );
}

/// A panel of 8 shops over 120 days and 28 days to predict; the level of each rises in the last 28 days.
fn panel(skips: bool) -> (String, String) {
    let first = jiff::civil::date(2024, 1, 1);
    let day = |day: usize| first.saturating_add(jiff::Span::new().days(i64::try_from(day).unwrap()));
    let rows = |from: usize, to: usize| (from..to).flat_map(|day| (0..8).map(move |shop| (day, shop)));
    let cells = |at: usize, shop: usize| {
        format!(
            "{},s{shop},{},r{},{}.5",
            day(at),
            u8::from(at.is_multiple_of(10)),
            shop % 2,
            drawn(at * 8 + shop, 30)
        )
    };
    let is_there = |at: usize, shop: usize| !skips || shop != 3 || at % 40 != 20;
    let visits = |at: usize, shop: usize| {
        let level = 100 + 10 * shop + if at >= 84 { 20 } else { 0 };
        level + if at % 7 == 5 { 35 } else { 0 } + shop % 2 * usize::from(at >= 84)
    };
    let mut train = "day,shop,holiday,region,price,stock,y\n".to_owned();
    for (at, shop) in rows(0, 112).filter(|(at, shop)| is_there(*at, *shop)) {
        writeln!(train, "{},{},{}", cells(at, shop), drawn(at + shop, 9), visits(at, shop)).unwrap();
    }
    let mut test = "day,shop,holiday,region,price\n".to_owned();
    rows(112, 140).for_each(|(at, shop)| writeln!(test, "{}", cells(at, shop)).unwrap());
    (train, test)
}

#[test]
fn times_are_told_by_their_series_seasons_and_drift() {
    let check = |skips: bool, parts: &[&str]| {
        let (train, test) = panel(skips);
        let dir = folder(&[("train.csv", &train), ("test.csv", &test)]);
        let profile = profile::read(dir.path()).unwrap();
        let split = Split { kind: SplitKind::Time, column: Some("day".to_owned()), ..Split::default() };
        // 28 days.
        let period = Some([0.0, 27.0 * 86_400.0]);
        let asked = Asked { id: None, split: Some(&split), period, ..asked(dir.path(), Some(&profile)) };
        contains(&summarize(&asked), parts);
    };
    check(
        false,
        &[
            "- 8 series by `shop`: 112 rows each, a step of 1 day; no gaps\n",
            "day of the week ",
            "- Level of `y` in the last 28 days: ",
            "; change +20.50 ±0.19, standard deviation between 8 series 0.5345; the changes before that, latest first: +0.00, +0.00\n",
            "- Known in advance, because the test table has them: `holiday` (one value at a time for all rows); `region` (one value for each series); `price` (by series and time)\n",
            "- Not known in advance, only in the past: `stock`\n",
        ],
    );
    check(true, &["; gaps in 1 of them, 0.33% of all steps\n"]);
}
