//! How the test rows differ from the training rows.
//!
//! Start with [`describe`]. Training and validation rows of a script should differ in the same way.

pub mod groups;
mod known;
mod new_groups;
mod series;
pub(crate) mod times;
mod told;

pub use super::column_names::says_code;
pub use super::dates::calendar::Unit;
pub use known::Known;

use std::io;

use mle_star_domain::protocol::{Split, SplitKind};

use super::profile::Profile;
use known::{candidates, is_taken, name};
use series::Ends;
use times::{Clock, Course};

/// The part of a year that the values of a column of a training table name as texts, such as `2021-W44`; `None` if they are other
/// values.
///
/// # Errors
/// A table cannot be read.
pub fn unit(profile: &Profile, column: &str) -> io::Result<Option<Unit>> {
    let is_text = profile.train.column(column).is_some_and(|column| times::unit(column).is_some());
    let clock = if is_text { times::clock(profile, column)? } else { None };
    Ok(match clock {
        Some(Clock::Part(unit)) => Some(unit),
        _ => None,
    })
}

/// Describes how the test rows differ from the training rows: they are later, they belong to other groups, or
/// nothing tells them apart. What the user named wins; groups that go on in a later test table are series, and do not stay whole.
/// `classification` is whether the target has classes.
///
/// Dates, weeks and other parts of years, columns whose names mean time and numbers like those of a Unix clock can tell that rows are
/// later. An ID cannot: IDs usually continue in the test table even if its rows were drawn at random.
pub fn describe(profile: &Profile, known: &Known<'_>, classification: bool) -> Split {
    match known.split() {
        Some(split) if split.kind == SplitKind::Groups => of_named_groups(profile, known, split),
        Some(split) => of_named_time(profile, known, split),
        None => by_time(profile, known)
            .or_else(|| by_groups(profile, known))
            .or_else(|| by_new_groups(profile, known))
            .unwrap_or_else(|| at_random(profile, known, classification)),
    }
}

/// The split by groups that the user named. A time that tells the test rows apart counts all the same.
fn of_named_groups(profile: &Profile, known: &Known<'_>, split: Split) -> Split {
    let group = split.column.clone().unwrap_or_default();
    let later = by_time(profile, known).filter(|later| later.column != split.column);
    let Some(later) = later else { return split };
    let found = groups_in_time(profile, &group, later.column.as_deref().unwrap_or_default());
    let series = |why: &str| Split { why: format!("{}; {why}", later.why), ..later.clone() };
    match found {
        None => split,
        Some(found) if found.go_on => series(&format!(
            "the groups of `{group}` go on in the test table, so they are series, not kept whole"
        )),
        Some(found) if found.begin_together => {
            let why = format!("{}; the test rows are also later: {}", split.why, later.why);
            Split { why, ..split }
        }
        Some(_) => {
            Split { groups: Some(group.clone()), ..series(&format!("whole groups of `{group}` as given")) }
        }
    }
}

/// The split by the time that the user named. Named groups stay whole, unless they are series.
fn of_named_time(profile: &Profile, known: &Known<'_>, split: Split) -> Split {
    if let Some(split) = with_own_ends(profile, known, &split) {
        return split;
    }
    let Some(group) = &split.groups else { return split };
    let why = match groups_in_time(profile, group, split.column.as_deref().unwrap_or_default()) {
        Some(found) if found.go_on => format!("the groups of `{group}` go on in the test table"),
        Some(found) if found.begin_together => format!("all groups of `{group}` begin at the same time"),
        _ => return split,
    };
    Split { why: format!("{}; {why}, so they are series, not kept whole", split.why), groups: None, ..split }
}

/// The split by a time that the user named, if series each end at a time of their own.
fn with_own_ends(profile: &Profile, known: &Known<'_>, split: &Split) -> Option<Split> {
    let column = split.column.as_deref()?;
    let courses = times::courses(&profile.tables, profile.train.column(column).as_slice()).ok()?;
    let test = name(profile.test.as_ref()?);
    let is_later = courses.iter().any(Course::is_later);
    if is_later || times::later_but_for_few(profile, &courses, &test).ok()?.is_some() {
        return None;
    }
    let ends = courses.iter().find_map(|course| own_ends(profile, known, course))?;
    let why = format!("{}; {}", split.why, ends.evidence(profile, column));
    Some(Split { why, groups: None, within: ends.are_mixed(), series: ends.columns, ..split.clone() })
}

/// The times of a column's groups; `None` if the tables do not tell.
fn groups_in_time(profile: &Profile, group: &str, time: &str) -> Option<series::Groups> {
    let clock = times::clock(profile, time).ok()??;
    series::Groups::of(profile, group, (time, clock)).ok()?
}

fn by_time(profile: &Profile, known: &Known<'_>) -> Option<Split> {
    let test = profile.test.as_ref()?;
    // A table that can no longer be read tells nothing.
    let courses = times::candidate_courses(profile, &candidates(profile, known)).ok()?;
    let split =
        |(column, why)| Split { kind: SplitKind::Time, column: Some(column), why, ..Split::default() };
    if let Some(course) = courses.iter().find(|course| course.is_later()) {
        let why = course.evidence(&name(&profile.train), &name(test));
        return Some(split((course.column.clone(), why)));
    }
    let few = times::later_but_for_few(profile, &courses, &name(test)).ok().flatten();
    few.map(split).or_else(|| {
        let (column, ends) =
            courses.iter().find_map(|course| Some((&course.column, own_ends(profile, known, course)?)))?;
        let why = ends.evidence(profile, column);
        Some(Split { within: ends.are_mixed(), series: ends.columns, ..split((column.clone(), why)) })
    })
}

/// The series of rows at these times, if (nearly) each ends at a time of its own, before its test rows.
fn own_ends(profile: &Profile, known: &Known<'_>, course: &Course) -> Option<Ends> {
    let (test, time) = (profile.test.as_ref()?, course.column.as_str());
    let is_series = |group: &&str| *group != time && test.column(group).is_some();
    let named = known.group.filter(is_series).map(|group| vec![group.to_owned()]);
    let found = || crate::series::columns(profile, time, |column| is_taken(profile, known, column));
    // A table that can no longer be read tells nothing.
    let ends = Ends::of(profile, named.unwrap_or_else(found), (time, course.clock)).ok()??;
    (ends.are_notable() && course.overlaps(profile).ok()?).then_some(ends)
}

fn by_groups(profile: &Profile, known: &Known<'_>) -> Option<Split> {
    let column = groups::choose(profile, |name| is_taken(profile, known, name))?.column.column.clone();
    let (train, test) = (name(&profile.train), name(profile.test.as_ref()?));
    let why = format!(
        "the values of `{column}` repeat in {train}, and at most 1 in 100 rows of {test} has one of them"
    );
    Some(Split { kind: SplitKind::Groups, column: Some(column), why, ..Split::default() })
}

/// A split by groups of which most test rows, though not all, have other ones.
fn by_new_groups(profile: &Profile, known: &Known<'_>) -> Option<Split> {
    let found = new_groups::find(profile, known)?;
    let why = found.words(&name(&profile.train), &name(profile.test.as_ref()?));
    let split = Split { kind: SplitKind::Groups, column: Some(found.column), why, ..Split::default() };
    (found.share >= new_groups::MOST).then_some(split)
}

fn at_random(profile: &Profile, known: &Known<'_>, classification: bool) -> Split {
    let (kind, keep) = match classification {
        true => (SplitKind::Stratified, "; classes keep their shares"),
        false => (SplitKind::Rows, ""),
    };
    let why = match &profile.test {
        Some(test) => {
            let nothing =
                || format!("nothing tells the rows of {} from those of {}", name(test), name(&profile.train));
            told::sentence(profile, known).unwrap_or_else(nothing) + keep
        }
        None => format!("there is no test table to compare with{keep}"),
    };
    Split { kind, column: None, why, ..Split::default() }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::profile;

    pub(super) const KNOWN: Known<'_> =
        Known { target: Some("y"), id: Some("id"), group: None, time: None, weight: None };

    /// The cells of a row by its number, without the ID and the target.
    pub(super) type Cells = fn(usize) -> String;

    /// The split of tables with 60 and 30 rows and two classes.
    fn split(header: &str, train: Cells, test: Cells) -> Split {
        of(header, [train, test], &KNOWN)
    }

    pub(super) fn of(header: &str, [train, test]: [Cells; 2], known: &Known<'_>) -> Split {
        let dir = tempfile::tempdir().unwrap();
        let row = |id: usize, cells: Cells| format!("{},{}", id + 1, cells(id));
        let rows = (0..60)
            .fold(format!("id,{header},y\n"), |text, id| format!("{text}{},{}\n", row(id, train), id % 2));
        fs::write(dir.path().join("train.csv"), rows).unwrap();
        let rows = (60..90).fold(format!("id,{header}\n"), |text, id| format!("{text}{}\n", row(id, test)));
        fs::write(dir.path().join("test.csv"), rows).unwrap();
        describe(&profile::read(dir.path()).unwrap(), known, true)
    }

    /// Checks that the test rows are found to be later.
    fn check(header: &str, train: Cells, test: Cells, column: &str, why: &str) {
        let found = split(header, train, test);
        assert_eq!((found.kind, found.column.as_deref()), (SplitKind::Time, Some(column)), "{}", found.why);
        assert_eq!(found.why, why);
    }

    fn runs(column: &str, first: &str, last: &str, next: &str) -> String {
        format!("`{column}` runs from {first} to {last} in train.csv and from {next} on in test.csv")
    }

    #[test]
    fn later_rows_are_found_by_dates_and_by_columns_that_mean_time() {
        let year: Cells = |id| (2000 + id / 10).to_string();
        check("year", year, year, "year", &runs("year", "2000", "2005", "2006"));
        let iso: Cells = |id| format!("x,2024-{:02}-{:02} 10:00", id / 28 + 1, id % 28 + 1);
        check(
            "name,sold",
            iso,
            iso,
            "sold",
            &runs("sold", "2024-01-01 10:00", "2024-03-04 10:00", "2024-03-05 10:00"),
        );
        // The first month ends with a day that cannot be a month.
        let day_first: Cells = |id| format!("{}/{}/2024", id % 28 + 1, id / 28 + 1);
        check("at", day_first, day_first, "at", &runs("at", "1/1/2024", "4/3/2024", "5/3/2024"));
        let unix: Cells = |id| (1_700_000_000 + id * 3_600).to_string();
        check("clock", unix, unix, "clock", &runs("clock", "1700000000", "1700212400", "1700216000"));
        // The boundary day is in both tables.
        let boundary: Cells =
            |id| format!("2024-01-{:02} {:02}:00", id / 4 + 1, if id < 60 { 12 } else { id % 4 });
        let test: Cells = |id| format!("2024-01-{:02} {:02}:00", (id - 60) / 3 + 15, (id - 60) % 3);
        check(
            "at",
            boundary,
            test,
            "at",
            "`at` ends with 2024-01-15 12:00 in train.csv and is later in 27 of 30 rows of test.csv",
        );
        // Groups that are new because time went on.
        let visit: Cells = |id| format!("u{},{}", id / 6, id);
        check("user,week", visit, visit, "week", &runs("week", "0", "59", "60"));
    }

    #[test]
    fn later_rows_are_found_by_parts_of_years() {
        let week: Cells = |id| format!("{}-W{:02}", 2020 + id / 53, id % 53 + 1);
        check("w", week, week, "w", &runs("w", "2020-W01", "2021-W07", "2021-W08"));
        let month: Cells = |id| format!("{:02}/{}", id % 12 + 1, 2000 + id / 12);
        check("x", month, month, "x", &runs("x", "01/2000", "12/2004", "01/2005"));
        let week_first: Cells = |id| format!("{:02}/{}", id % 52 + 1, 2000 + id / 52);
        check("x", week_first, week_first, "x", &runs("x", "01/2000", "08/2001", "09/2001"));
        let day: Cells = |id| format!("\"{}, {} November 2021\"", ["Mon", "Tuesday"][id % 2], id / 3 + 1);
        check(
            "x",
            day,
            day,
            "x",
            &runs("x", "Mon, 1 November 2021", "Tuesday, 20 November 2021", "Mon, 21 November 2021"),
        );
        let year_month: Cells = |id| (200_001 + id / 12 * 100 + id % 12).to_string();
        check("ym", year_month, year_month, "ym", &runs("ym", "200001", "200412", "200501"));
    }

    #[test]
    fn other_groups_are_found_by_their_values() {
        let check = |header: &str, train: Cells, test: Cells, column: &str| {
            let found = split(header, train, test);
            assert_eq!(
                (found.kind, found.column.as_deref()),
                (SplitKind::Groups, Some(column)),
                "{}",
                found.why
            );
            let expected = "repeat in train.csv, and at most 1 in 100 rows of test.csv has one of them";
            assert_eq!(found.why, format!("the values of `{column}` {expected}"));
        };
        check("patient", |id| format!("p{}", id / 6), |id| format!("p{}", id / 6), "patient");
        let case: Cells = |id| format!("2021-{}", id / 6 + 101);
        check("case", case, case, "case");
        check("patient_id", |id| (id / 6).to_string(), |id| (id / 6).to_string(), "patient_id");
        check(
            "engine,cycle",
            |id| format!("{},{}", id / 6, id % 6),
            |id| format!("{},{}", id / 6, id % 6),
            "engine",
        );
    }

    #[test]
    fn nothing_tells_other_rows_apart() {
        let check = |words: &str, header: &str, train: Cells, test: Cells| {
            let found = split(header, train, test);
            assert_eq!(
                (found.kind, found.column.as_deref()),
                (SplitKind::Stratified, None),
                "{words}: {}",
                found.why
            );
            let expected =
                "nothing tells the rows of test.csv from those of train.csv; classes keep their shares";
            assert_eq!(found.why, expected, "{words}");
        };
        check("row numbers", "row,index", |id| format!("{id},{id}"), |id| format!("{id},{id}"));
        check("numbers of another size", "size", |id| id.to_string(), |id| id.to_string());
        check("one day", "at", |_| "2024-01-01".to_owned(), |_| "2024-01-01".to_owned());
    }

    #[test]
    fn columns_that_the_user_named_win() {
        let dir = tempfile::tempdir().unwrap();
        let row = |id: usize| format!("{id},p{},{}", id / 6, 2000 + id / 10);
        let train = (0..60).fold("id,patient,year,y\n".to_owned(), |all, id| format!("{all}{},1\n", row(id)));
        let test = (60..90).fold("id,patient,year\n".to_owned(), |all, id| format!("{all}{}\n", row(id)));
        fs::write(dir.path().join("train.csv"), train).unwrap();
        fs::write(dir.path().join("test.csv"), test).unwrap();
        let profile = profile::read(dir.path()).unwrap();
        let check = |group, time, expected: (SplitKind, &str, Option<&str>), words: &str| {
            let found = describe(&profile, &Known { group, time, ..KNOWN }, true);
            let found_columns = (found.kind, found.column.as_deref().unwrap(), found.groups.as_deref());
            assert_eq!(found_columns, expected);
            assert_eq!(found.words(), words);
            let is_given = time.is_some();
            assert_eq!((found.given, found.why == "as given"), (is_given, is_given), "{}", found.why);
        };
        let by_time = SplitKind::Time;
        check(None, None, (by_time, "year", None), "later rows by `year`");
        check(None, Some("year"), (by_time, "year", None), "later rows by `year`");
        let words = "whole groups by `patient`, the later ones by `year`";
        check(Some("patient"), None, (by_time, "year", Some("patient")), words);
        check(Some("patient"), Some("year"), (by_time, "year", Some("patient")), words);
        check(Some("year"), Some("year"), (by_time, "year", None), "later rows by `year`");
    }
}
