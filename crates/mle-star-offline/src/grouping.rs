//! Folds by groups, for tasks whose test rows belong to other groups than the training rows.
//!
//! [`Grouping`] names the column that groups rows. It is chosen once, with the [`Problem`], because scores over
//! different folds are not comparable. The profile shows which columns have other values in the test table; only
//! a column's name shows whether increasing numbers count groups or time.
//!
//! [`Problem`]: crate::problem::Problem

use mle_star::protocol::{Split, SplitKind};
use serde::Serialize;

use mle_star_data::profile::{ColumnKind, GroupColumn, Table};

/// If fewer whole groups than this would be drawn, rows are drawn from all groups instead.
const FEWEST_DRAWN: usize = 20;

/// Words in column names that identify the subject of a row.
const KEY_WORDS: [&str; 48] = [
    "author",
    "batch",
    "case",
    "client",
    "cluster",
    "code",
    "customer",
    "device",
    "document",
    "driver",
    "engine",
    "family",
    "farm",
    "field",
    "group",
    "hospital",
    "house",
    "household",
    "id",
    "ids",
    "individual",
    "key",
    "machine",
    "member",
    "participant",
    "patient",
    "person",
    "place",
    "plant",
    "player",
    "plot",
    "scene",
    "school",
    "sensor",
    "session",
    "shop",
    "site",
    "speaker",
    "station",
    "store",
    "student",
    "subject",
    "team",
    "unit",
    "user",
    "vehicle",
    "video",
    "well",
];

/// Words in column names that mean time.
const TIME_WORDS: [&str; 16] = [
    "date", "day", "epoch", "hour", "index", "minute", "month", "period", "quarter", "row", "season",
    "second", "step", "time", "week", "year",
];

/// The column that groups rows, and its consequences.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Grouping {
    /// The column. It is not a feature, as the test table has other values.
    pub(crate) column: String,
    /// Other columns that only name groups and are not features either.
    pub(crate) others: Vec<String>,
    /// Number of groups in the training table.
    pub(crate) groups: usize,
    /// Subsampling draws whole groups.
    pub(crate) drawn_whole: bool,
    /// Classes differ in size, so folds keep their shares as far as groups allow.
    pub(crate) stratified: bool,
}

impl Grouping {
    /// Whether this column only names groups.
    pub(crate) fn names(&self, column: &str) -> bool {
        self.column == column || self.others.iter().any(|other| other == column)
    }
}

/// What the choice of groups needs to know about the training table.
pub(crate) struct Rows<'a> {
    pub(crate) train: &'a Table,
    /// Number of rows that scripts of the search read.
    pub(crate) used: usize,
    /// Classes differ in size, and each has enough rows for every fold.
    pub(crate) unequal_classes: bool,
}

/// The grouping of train and test tables by the column of the split or, without a split, by what the profile shows.
/// `taken` columns have another role.
pub(crate) fn grouping(
    split: Option<&Split>,
    found: &[GroupColumn],
    rows: &Rows<'_>,
    taken: impl Fn(&str) -> bool,
) -> Option<Grouping> {
    let is_text = |name: &str| rows.train.column(name).is_some_and(|c| c.kind == ColumnKind::Category);
    let is_name = |found: &GroupColumn| is_text(&found.column) || has_word(&found.column, &KEY_WORDS);
    if split.is_some_and(|split| split.kind != SplitKind::Groups) {
        return None;
    }
    let given = split.and_then(|split| split.column.as_deref());
    let is_given = |found: &GroupColumn| given == Some(found.column.as_str());
    let unseen = given.filter(|_| !found.iter().any(is_given)).and_then(|name| rows.train.column(name));
    let unseen = unseen.map(|c| GroupColumn { column: c.name.clone(), groups: c.distinct, ordered: false });
    let fits = |found: &&GroupColumn| is_given(found) || (!taken(&found.column) && counts_groups(found));
    let mut columns: Vec<&GroupColumn> = found.iter().chain(&unseen).filter(fits).collect();
    // Rows of one patient are rows of one hospital, so the column with the fewest groups is the widest.
    columns.sort_by_key(|found| (!is_given(found), !is_name(found), found.groups));
    let (chosen, others) = columns.split_first()?;
    let drawn = chosen.groups * rows.used / rows.train.rows.max(1);
    Some(Grouping {
        column: chosen.column.clone(),
        others: others.iter().filter(|found| is_name(found)).map(|found| found.column.clone()).collect(),
        groups: chosen.groups,
        drawn_whole: drawn >= FEWEST_DRAWN,
        stratified: rows.unequal_classes && drawn >= FEWEST_DRAWN,
    })
}

/// Whether the values name groups rather than times. Both can be numbers that continue in the test table.
fn counts_groups(found: &GroupColumn) -> bool {
    let names_group = has_word(&found.column, &KEY_WORDS);
    if has_word(&found.column, &TIME_WORDS) {
        names_group && !found.ordered
    } else {
        names_group || !found.ordered
    }
}

/// Whether the name contains one of these words. `patient_id`, `PatientID`, `patientid` and `patients` contain
/// `patient`.
fn has_word(name: &str, wanted: &[&str]) -> bool {
    let is_wanted = |word: &str| wanted.contains(&word);
    words(name).iter().any(|word| {
        is_wanted(word)
            || word.strip_suffix('s').is_some_and(is_wanted)
            || word.strip_suffix("id").is_some_and(is_wanted)
    })
}

/// The words of a name in lower case, split at punctuation, digits and capitals.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_lower = false;
    for letter in name.chars() {
        if !letter.is_alphabetic() || (letter.is_uppercase() && after_lower) {
            words.push(String::new());
        }
        after_lower = letter.is_lowercase();
        if let (true, Some(word)) = (letter.is_alphabetic(), words.last_mut()) {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_groups_from_times() {
        let check = |name: &str, rising: bool, shuffled: bool| {
            let found = |ordered| GroupColumn { column: name.to_owned(), groups: 40, ordered };
            assert_eq!(
                (counts_groups(&found(true)), counts_groups(&found(false))),
                (rising, shuffled),
                "{name}"
            );
        };
        for name in
            ["patient_id", "PatientID", "patientid", "Patients", "group", "unit_nr", "user.key", "ids"]
        {
            check(name, true, true);
        }
        for name in ["x", "altitude", "humid", "grid", "valid", "covid"] {
            check(name, false, true);
        }
        for name in ["time_id", "weekId", "dayKey"] {
            check(name, false, true);
        }
        for name in ["year", "Week", "day_of_study", "row", "time_step", "months"] {
            check(name, false, false);
        }
    }
}
