//! Classes that only the sample submission has.

use std::collections::BTreeSet;

use crate::profile::Profile;

/// The largest number of classes that are looked at.
const MOST: usize = 2_000;

/// The classes for which the sample submission has a column but the training table no row. Columns are called like the
/// classes, which may have a common prefix; at least two must be found in the training table.
pub fn classes_only_in_sample(profile: &Profile, target: &str, id: Option<&str>) -> Vec<String> {
    let columns = profile.sample.iter().flat_map(|sample| &sample.columns).map(|column| column.name.as_str());
    let columns: Vec<&str> = columns.filter(|name| Some(*name) != id).collect();
    let Some(classes) = classes(profile, target).filter(|classes| columns.len() > classes.len()) else {
        return Vec::new();
    };
    let prefixes = columns.iter().flat_map(|column| {
        let ends = column.char_indices().map(|(at, _)| at).filter(|at| classes.contains(&column[*at..]));
        ends.map(|at| &column[..at])
    });
    let fits = |prefix: &&str| {
        let rest: Vec<&str> = columns.iter().filter_map(|column| column.strip_prefix(*prefix)).collect();
        rest.len() == columns.len() && classes.iter().all(|class| rest.contains(&class.as_str()))
    };
    let Some(prefix) = prefixes.filter(|_| classes.len() > 1).find(fits) else { return Vec::new() };
    let names = columns.iter().filter_map(|column| column.strip_prefix(prefix));
    names.filter(|name| !classes.contains(*name)).map(str::to_owned).collect()
}

/// The values of the target; `None` if there are too many or they cannot be read.
fn classes(profile: &Profile, target: &str) -> Option<BTreeSet<String>> {
    let column = profile.train.column(target).filter(|column| column.distinct <= MOST)?;
    if column.distinct <= column.top_values.len() {
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
