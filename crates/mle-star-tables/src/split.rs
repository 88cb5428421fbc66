//! How the test rows differ from the training rows.
//!
//! Start with [`describe`]. Training and validation rows of a script should differ in the same way.

pub mod groups;
pub(crate) mod times;

pub use super::column_names::says_code;

use mle_star_domain::protocol::{Split, SplitKind};

use super::profile::{Column, Profile, Table};

/// Describes how the test rows differ from the training rows: they are later, they belong to other groups, or
/// nothing tells them apart. `classification` is whether the target has classes.
///
/// Dates, columns whose names mean time and numbers like those of a Unix clock can tell that rows are later. An ID cannot: IDs usually continue in the test
/// table even if its rows were drawn at random.
pub fn describe(profile: &Profile, target: Option<&str>, id: Option<&str>, classification: bool) -> Split {
    by_time(profile, target, id)
        .or_else(|| by_groups(profile, target, id))
        .unwrap_or_else(|| at_random(profile, classification))
}

fn by_time(profile: &Profile, target: Option<&str>, id: Option<&str>) -> Option<Split> {
    let test = profile.test.as_ref()?;
    let columns: Vec<&Column> = times::candidates(profile, target, id);
    // A table that can no longer be read tells nothing.
    let courses = times::courses(&profile.tables, &columns).ok()?;
    let course = courses.into_iter().find(times::Course::is_later)?;
    let why = course.evidence(&name(&profile.train), &name(test));
    Some(Split { kind: SplitKind::Time, column: Some(course.column), why })
}

fn by_groups(profile: &Profile, target: Option<&str>, id: Option<&str>) -> Option<Split> {
    let asked = |name: &str| profile.sample.as_ref().is_some_and(|sample| sample.column(name).is_some());
    let taken = |name: &str| Some(name) == target || Some(name) == id || asked(name);
    let column = groups::choose(profile, taken)?.column.column.clone();
    let (train, test) = (name(&profile.train), name(profile.test.as_ref()?));
    let why = format!(
        "the values of `{column}` repeat in {train}, and at most 1 in 100 rows of {test} has one of them"
    );
    Some(Split { kind: SplitKind::Groups, column: Some(column), why })
}

fn at_random(profile: &Profile, classification: bool) -> Split {
    let (kind, keep) = match classification {
        true => (SplitKind::Stratified, "; classes keep their shares"),
        false => (SplitKind::Rows, ""),
    };
    let why = match &profile.test {
        Some(test) => {
            format!("nothing tells the rows of {} from those of {}{keep}", name(test), name(&profile.train))
        }
        None => format!("there is no test table to compare with{keep}"),
    };
    Split { kind, column: None, why }
}

fn name(table: &Table) -> String {
    table.file.display().to_string()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::profile;

    /// The cells of a row by its number, without the ID and the target.
    type Cells = fn(usize) -> String;

    fn split(header: &str, train: Cells, test: Cells) -> Split {
        let dir = tempfile::tempdir().unwrap();
        let row = |id: usize, cells: Cells| format!("{},{}", id + 1, cells(id));
        let rows = (0..60)
            .fold(format!("id,{header},y\n"), |text, id| format!("{text}{},{}\n", row(id, train), id % 2));
        fs::write(dir.path().join("train.csv"), rows).unwrap();
        let rows = (60..90).fold(format!("id,{header}\n"), |text, id| format!("{text}{}\n", row(id, test)));
        fs::write(dir.path().join("test.csv"), rows).unwrap();
        describe(&profile::read(dir.path()).unwrap(), Some("y"), Some("id"), true)
    }

    #[test]
    fn later_rows_are_found_by_dates_and_by_columns_that_mean_time() {
        let check = |header: &str, train: Cells, test: Cells, column: &str, why: &str| {
            let found = split(header, train, test);
            assert_eq!(
                (found.kind, found.column.as_deref()),
                (SplitKind::Time, Some(column)),
                "{}",
                found.why
            );
            assert_eq!(found.why, why);
        };
        let runs = |column: &str, first: &str, last: &str, next: &str| {
            format!("`{column}` runs from {first} to {last} in train.csv and from {next} on in test.csv")
        };
        let year: Cells = |id| (2000 + id / 10).to_string();
        check("year", year, year, "year", &runs("year", "2000", "2005", "2006"));
        let row: Cells = |id| format!("7,{id}");
        check("x,t", row, row, "t", &runs("t", "0", "59", "60"));
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
        check("IDs that continue", "x", |id| (id % 7).to_string(), |id| (id % 7).to_string());
        check("row numbers", "row,index", |id| format!("{id},{id}"), |id| format!("{id},{id}"));
        check("numbers of another size", "size", |id| id.to_string(), |id| id.to_string());
        check("years in both", "year", |id| (2000 + id % 9).to_string(), |id| (2000 + id % 9).to_string());
        check(
            "some later years",
            "year",
            |id| (2000 + id % 9).to_string(),
            |id| (2000 + id % 12).to_string(),
        );
        check("earlier years", "year", |id| (2000 + id % 9).to_string(), |id| (1990 + id % 9).to_string());
        check(
            "dates in both",
            "at",
            |id| format!("2024-01-{:02}", id % 28 + 1),
            |id| format!("2024-01-{:02}", id % 28 + 1),
        );
        check("one day", "at", |_| "2024-01-01".to_owned(), |_| "2024-01-01".to_owned());
    }

    #[test]
    fn targets_with_classes_keep_their_shares() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("train.csv"), "id,x,y\n1,2,0.5\n2,3,1.5\n").unwrap();
        let profile = profile::read(dir.path()).unwrap();
        let kind = |classification| describe(&profile, Some("y"), Some("id"), classification).kind;
        assert_eq!((kind(true), kind(false)), (SplitKind::Stratified, SplitKind::Rows));
    }
}
