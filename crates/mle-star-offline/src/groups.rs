//! Folds by groups: for tasks whose test rows belong to other groups than the training rows.
//!
//! [`Grouping`] says by which column rows are grouped. It is chosen once, with the [`Problem`], because
//! scores over different folds do not compare. What the values show comes from the profile; whether
//! numbers that only ever rise count groups or time, only a column's name can tell.
//!
//! [`Problem`]: crate::problem::Problem

use serde::Serialize;

use mle_star_data::profile::{ColumnKind, GroupColumn, Table};

/// Drawing whole groups must leave this many; otherwise rows are drawn from all groups.
const FEWEST_DRAWN: usize = 20;

/// Words in names of columns that tell who or what a row is about.
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

/// Words in names of columns that tell when.
const TIME_WORDS: [&str; 16] = [
    "date", "day", "epoch", "hour", "index", "minute", "month", "period", "quarter", "row", "season",
    "second", "step", "time", "week", "year",
];

/// By which column rows are grouped, and what follows from it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Grouping {
    /// The column; no feature, as its values say nothing about the groups of the test table.
    pub(crate) column: String,
    /// Other columns that only name groups, no features either.
    pub(crate) others: Vec<String>,
    /// Groups among the training rows.
    pub(crate) groups: usize,
    /// Subsampling draws whole groups.
    pub(crate) drawn_whole: bool,
    /// Classes are of different sizes: folds keep their shares, as far as groups allow.
    pub(crate) stratified: bool,
}

impl Grouping {
    /// Is this a column that only names groups?
    pub(crate) fn names(&self, column: &str) -> bool {
        self.column == column || self.others.iter().any(|other| other == column)
    }
}

/// What the training table looks like to the choice of groups.
pub(crate) struct Rows<'a> {
    pub(crate) train: &'a Table,
    /// Rows that scripts of the search read.
    pub(crate) used: usize,
    /// Classes of different sizes, each with enough rows to be in every fold.
    pub(crate) unequal_classes: bool,
}

/// The grouping that train and test tables show, if any; `taken` columns are never asked.
pub(crate) fn grouping(
    found: &[GroupColumn],
    rows: &Rows<'_>,
    taken: impl Fn(&str) -> bool,
) -> Option<Grouping> {
    let is_text = |name: &str| rows.train.column(name).is_some_and(|c| c.kind == ColumnKind::Category);
    let is_name = |found: &GroupColumn| is_text(&found.column) || has_word(&found.column, &KEY_WORDS);
    let mut columns: Vec<&GroupColumn> =
        found.iter().filter(|found| !taken(&found.column) && counts_groups(found)).collect();
    // Rows of one patient are rows of one hospital: the fewest groups hold the others.
    columns.sort_by_key(|found| (!is_name(found), found.groups));
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

/// Do the values name groups rather than times? Both can be numbers of which the test table has later ones.
fn counts_groups(found: &GroupColumn) -> bool {
    let names_group = has_word(&found.column, &KEY_WORDS);
    if has_word(&found.column, &TIME_WORDS) {
        names_group && !found.ordered
    } else {
        names_group || !found.ordered
    }
}

/// Has the name one of these words? `patient_id`, `PatientID`, `patientid` and `patients` have `patient`.
fn has_word(name: &str, wanted: &[&str]) -> bool {
    let is_wanted = |word: &str| wanted.contains(&word);
    words(name).iter().any(|word| {
        is_wanted(word)
            || word.strip_suffix('s').is_some_and(is_wanted)
            || word.strip_suffix("id").is_some_and(is_wanted)
    })
}

/// The words of a name, in lower case, parted by marks, digits and capitals.
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
