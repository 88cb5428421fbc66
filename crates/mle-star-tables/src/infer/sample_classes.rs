//! The classes that the columns of the sample submission are about.

use std::collections::BTreeSet;

use crate::metrics::places_of_columns;

use crate::profile::{Profile, ROWS_LOOKED_AT};

/// The largest number of classes that are looked at.
const MOST: usize = 2_000;

/// What scripts predict for classes that no training row has, as a sentence goes on.
pub const CLASSES_WITHOUT_ROWS: &str =
    "together they get the probability of one row more, 1 / (training rows + 1), and the others the rest";

/// A column of the sample submission that is about a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassColumn {
    /// Its name.
    pub column: String,
    /// The class as the training table has it; `None` if no training row has it.
    pub class: Option<String>,
}

/// The classes that these columns of the sample submission are about, if every class of the training table has one of them.
pub fn class_columns(profile: &Profile, target: &str, columns: &[String]) -> Option<Vec<ClassColumn>> {
    let classes: Vec<String> = classes(profile, target)?.into_iter().collect();
    let places = places_of_columns(columns, &classes).filter(|_| classes.len() > 1)?;
    let class = |(column, place): (&String, Option<usize>)| ClassColumn {
        column: column.clone(),
        class: place.and_then(|place| classes.get(place).cloned()),
    };
    Some(columns.iter().zip(places).map(class).collect())
}

/// The columns of the sample submission for classes that no training row has.
pub fn columns_without_rows(profile: &Profile, target: &str, id: Option<&str>) -> Vec<String> {
    let in_test = |name: &str| profile.test.as_ref().is_some_and(|test| test.column(name).is_some());
    let names = profile.sample.iter().flat_map(|sample| &sample.columns).map(|column| column.name.as_str());
    let columns: Vec<String> =
        names.filter(|name| Some(*name) != id && !in_test(name)).map(str::to_owned).collect();
    // A training table with more values has other columns than this sample.
    let fits = |distinct: usize| (2..columns.len()).contains(&distinct);
    if !profile.train.column(target).is_some_and(|column| fits(column.distinct)) {
        return Vec::new();
    }
    let found = class_columns(profile, target, &columns).unwrap_or_default();
    found.into_iter().filter(|column| column.class.is_none()).map(|column| column.column).collect()
}

/// The values of the target; `None` if there are too many or they cannot be read.
fn classes(profile: &Profile, target: &str) -> Option<BTreeSet<String>> {
    let column = profile.train.column(target).filter(|column| column.distinct <= MOST)?;
    // Of larger tables, only some rows were looked at.
    if column.distinct <= column.top_values.len() && profile.train.rows <= ROWS_LOOKED_AT {
        return Some(column.top_values.iter().map(|(value, _)| value.clone()).collect());
    }
    let table = profile.tables.train().ok()?;
    let mut classes = BTreeSet::new();
    let place = table.position(target).ok()?;
    table
        .each(&[place], |row| {
            classes.extend(row.value(0).map(str::to_owned));
            classes.len() <= MOST
        })
        .ok()?;
    (classes.len() <= MOST).then_some(classes)
}
