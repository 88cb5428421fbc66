//! The tables and the columns that holding rows out needs.

use super::off::{Off, off, unreadable};
use crate::labelled::Labelled;
use crate::profile::{Profile, Table};
use crate::table;

/// The columns with a role in holding rows out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Roles<'a> {
    /// The column to predict, or one of several.
    pub target: Option<&'a str>,
    /// The column with the row IDs.
    pub id: Option<&'a str>,
    /// The column with the weights of rows.
    pub weight: Option<&'a str>,
}

/// The tables and the columns that holding rows out needs.
#[derive(Clone, Debug)]
pub(super) struct Tables<'a> {
    pub(super) train: &'a table::Table,
    pub(super) test: &'a table::Table,
    pub(super) sample: &'a table::Table,
    /// All columns with labels, and whether they have numbers.
    pub(super) targets: Vec<(&'a str, bool)>,
    /// The column with the row IDs, which all three tables have.
    pub(super) id: &'a str,
    /// The number of test rows.
    pub(super) test_rows: u64,
}

impl<'a> Tables<'a> {
    /// The labelled rows.
    pub(super) fn labelled(&self) -> Labelled<'a> {
        Labelled { train: self.train, targets: self.targets.clone(), id: Some(self.id) }
    }
}

/// The tables, if their columns fit together.
pub(super) fn tables<'a>(profile: &'a Profile, roles: &Roles<'a>) -> Result<Tables<'a>, Off> {
    let read = &*profile.tables;
    let Some(train) = &read.train else { return off("there is no training table") };
    let (Some(test_table), Some(test)) = (&profile.test, &read.test) else {
        return off("there is no test table");
    };
    let (Some(sample_table), Some(sample)) = (&profile.sample, &read.sample) else {
        return off("there is no sample submission");
    };
    let Some(target) = roles.target.filter(|target| profile.train.column(target).is_some()) else {
        return off("the target is not known");
    };
    let all = [&profile.train, test_table, sample_table];
    let in_all = |id: &&str| *id != target && all.iter().all(|table| table.column(id).is_some());
    let Some(id) = roles.id.filter(in_all) else {
        let names = all.map(|table| table.file.display().to_string()).join(", ");
        return off(format!("no column with row IDs is common to {names}"));
    };
    let targets = profile.targets(target, Some(id));
    columns(&profile.train, test_table, sample_table, &targets, id)?;
    let targets = Labelled::of(profile, target, Some(id)).map_err(|error| unreadable(train, &error))?.targets;
    let test_rows = test_table.rows as u64;
    Ok(Tables { train, test, sample, targets, id, test_rows })
}

/// Checks that the columns and the numbers of rows fit together.
fn columns(train: &Table, test: &Table, sample: &Table, targets: &[&str], id: &str) -> Result<(), Off> {
    let names = |table: &'_ Table, wanted: &dyn Fn(&str) -> bool| {
        let names = table.columns.iter().map(|column| column.name.as_str()).filter(|name| wanted(name));
        names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    };
    let [train_name, test_name, sample_name] = [train, test, sample].map(|table| table.file.display());
    let further =
        names(sample, &|name| name != id && !targets.contains(&name) && train.column(name).is_some());
    if !further.is_empty() {
        return off(format!(
            "{sample_name} has further columns of {train_name} besides the target: {further}"
        ));
    }
    let lacking = names(test, &|name| !targets.contains(&name) && train.column(name).is_none());
    if !lacking.is_empty() {
        return off(format!("{test_name} has columns that {train_name} lacks: {lacking}"));
    }
    if test.rows != sample.rows {
        return off(format!("{test_name} has {} rows, but {sample_name} has {}", test.rows, sample.rows));
    }
    Ok(())
}
