//! The columns that join an auxiliary table to the training table and the test table.

use super::profile::{Column, ColumnKind, Profile, ROWS_LOOKED_AT, Table};
use crate::column_names::{says_code, says_time};

/// The columns that join an auxiliary table, and whether they identify each of its rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    /// Their names, the same in all tables.
    pub(crate) columns: Vec<String>,
    /// Whether each key occurs once.
    pub(crate) unique: bool,
}

/// The key of an auxiliary table: a single column that identifies each row, otherwise all shared columns that look like
/// keys. `None` if there is none beside the `excluded` columns.
pub(crate) fn key(profile: &Profile, table: &Table, excluded: &[&str]) -> Option<Key> {
    let sides = [Some(&profile.train), profile.test.as_ref()];
    let is_shared = |column: &&Column| {
        let twin = |side: &&Table| {
            side.column(&column.name).is_some_and(|twin| same_type(column, twin) && alike(column, twin))
        };
        !excluded.contains(&column.name.as_str()) && column.distinct > 0 && sides.iter().flatten().all(twin)
    };
    let shared: Vec<&Column> =
        table.columns.iter().filter(is_shared).filter(|one| is_nameable(one)).collect();
    let single = shared.iter().find(|column| names_rows(std::slice::from_ref(*column), table));
    let keys = single.map_or(shared.as_slice(), std::slice::from_ref);
    let columns: Vec<String> = keys.iter().map(|key| key.name.clone()).collect();
    (!columns.is_empty()).then(|| Key { unique: names_rows(keys, table), columns })
}

/// Whether values of this column can name something.
pub(crate) fn is_nameable(column: &Column) -> bool {
    !matches!(column.kind, ColumnKind::Float | ColumnKind::Text)
}

/// Whether whole numbers are the names of things, such as shops, of which a table with this many rows has several rows each.
/// Their column says so, or they are scattered.
pub fn names_things(column: &Column, rows: usize) -> bool {
    // A tree takes fewer apart by itself.
    const FEWEST: usize = 25;
    // Larger numbers have no exact form as floats.
    const LARGEST: f64 = 9e15;
    let is_exact = column.range.is_some_and(|(low, high)| low >= -LARGEST && high <= LARGEST);
    let looked = rows.min(ROWS_LOOKED_AT).saturating_sub(column.missing);
    let repeats = |times: usize| column.distinct >= FEWEST && column.distinct * times <= looked;
    // Scattered numbers may be amounts, which repeat seldom.
    let is_code = says_code(&column.name) && repeats(3) || column.scattered && repeats(8);
    column.kind == ColumnKind::Integer && is_exact && is_code && !says_time(&column.name)
}

/// Whether both columns hold numbers, or both hold texts.
pub(crate) fn same_type(one: &Column, other: &Column) -> bool {
    one.kind.is_number() == other.kind.is_number()
}

/// Whether dates can be equal as texts: a day never equals a day with a time.
pub(crate) fn alike(one: &Column, other: &Column) -> bool {
    one.has_clock() == other.has_clock()
}

/// Whether the key columns identify each row.
pub(crate) fn names_rows(keys: &[&Column], table: &Table) -> bool {
    match keys {
        [] => false,
        [single] if single.missing > 0 => false,
        [single] if single.distinct == table.rows => true,
        // Every row was read for the row key; distinct values are counted in the first ones only.
        _ => keys.len() == table.row_key.len() && keys.iter().all(|key| table.row_key.contains(&key.name)),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::profile;

    #[test]
    fn keys_are_shared_columns() {
        let check = |table: &str, columns: &[&str], unique: bool| {
            let dir = tempfile::tempdir().unwrap();
            let files = [
                ("train", "store,day,at,x,y\na,1,2024-01-05 13:00,0.5,0\nb,1,2024-01-06 13:00,0.7,1\n"),
                ("test", "store,day,at,x\na,2,2024-01-07 13:00,0.1\n"),
                ("more", table),
            ];
            for (name, text) in files {
                fs::write(dir.path().join(format!("{name}.csv")), text).unwrap();
            }
            let profile = profile::read(dir.path()).unwrap();
            let found = key(&profile, &profile.auxiliary[0], &["y"]);
            let columns: Vec<String> = columns.iter().map(|name| (*name).to_owned()).collect();
            assert_eq!(found, (!columns.is_empty()).then_some(Key { columns, unique }), "{table}");
        };
        check("store,size\na,3\nb,4\n", &["store"], true);
        check("store,size\na,3\na,4\n", &["store"], false);
        check("store,day,size\na,1,3\na,2,4\nb,1,3\n", &["store", "day"], true);
        check("store,day,size\na,1,3\na,1,4\nb,1,3\n", &["store", "day"], false);
        check("day,size\nmonday,3\n", &[], false);
        check(
            "store,at,size\na,2024-01-05 13:00,3\na,2024-01-06 13:00,4\nb,2024-01-05 13:00,4\n",
            &["store", "at"],
            true,
        );
        // A day with a time is never equal to a day.
        check("store,at,size\na,2024-01-05,3\na,2024-01-06,4\nb,2024-01-05,4\n", &["store"], false);
        check("x,y\n0.5,1\n", &[], false);
    }

    #[test]
    fn codes_are_numbers_with_gaps_or_with_a_name_that_says_so() {
        let check = |header: &str, cell: fn(usize) -> usize, expected: bool| {
            let dir = tempfile::tempdir().unwrap();
            let rows = (0..400).map(|row| format!("{},0\n", cell(row))).collect::<String>();
            fs::write(dir.path().join("train.csv"), format!("{header},y\n{rows}")).unwrap();
            let profile = profile::read(dir.path()).unwrap();
            assert_eq!(names_things(&profile.train.columns[0], 400), expected, "{header}");
        };
        check("shop", |row| row % 40, true);
        check("zip_code", |row| 10_000 + row % 40, true);
        check("customer", |row| 9_200_000_000_000_000_000 + row % 40, false);
        check("x", |row| (row % 40).pow(2) * 7 + 3, true);
        check("x", |row| row % 40, false);
        // All are multiples of a hundred, or few of them are large.
        check("price", |row| row % 40 * 100 + 5, false);
        check("votes", |row| if row % 8 == 0 { row % 40 * 911 } else { row % 35 }, false);
        // Few rows of each, few values, times, and no whole numbers.
        check("shop", |row| row / 2, false);
        check("shop", |row| row % 9, false);
        check("store_hour", |row| row % 24, false);
    }

    #[test]
    fn a_large_table_has_unique_keys_if_all_its_rows_show_it() {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in [("train", "store,y\na,1\nb,0\n"), ("more", "store,size\na,3\nb,4\n")] {
            fs::write(dir.path().join(format!("{name}.csv")), text).unwrap();
        }
        let mut profile = profile::read(dir.path()).unwrap();
        profile.auxiliary[0].rows = 3_000_000;
        let unique = |profile: &Profile| key(profile, &profile.auxiliary[0], &["y"]).unwrap().unique;
        assert!(unique(&profile));
        profile.auxiliary[0].row_key.clear();
        assert!(!unique(&profile));
    }
}
