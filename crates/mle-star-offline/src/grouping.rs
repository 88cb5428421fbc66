//! Folds by groups, for tasks whose test rows belong to other groups than the training rows.
//!
//! [`Grouping`] names the column that groups rows. It is chosen once, with the [`Problem`], because scores over
//! different folds are not comparable. The column itself is chosen by [`choose`].
//!
//! [`Problem`]: crate::problem::Problem

use mle_star_domain::protocol::{Split, SplitKind};
use serde::Serialize;

use mle_star_tables::profile::{GroupColumn, Profile};

/// If fewer whole groups than this would be drawn, rows are drawn from all groups instead.
const MIN_DRAWN: usize = 20;

/// The column that groups rows, and its consequences.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Grouping {
    /// The column. It is not a feature, as the test table has other values, or the user named it.
    pub(crate) column: String,
    /// Other columns that only name groups and are not features either.
    pub(crate) others: Vec<String>,
    /// Number of groups in the training table.
    pub(crate) groups: usize,
    /// Subsampling draws whole groups.
    pub(crate) drawn_whole: bool,
    /// Classes differ in size, so folds keep their shares as far as groups allow.
    pub(crate) stratified: bool,
    /// Whether the user named the column.
    pub(crate) given: bool,
    /// Whether rows may lack a group.
    pub(crate) gaps: bool,
}

impl Grouping {
    /// Whether this column only names groups.
    pub(crate) fn names(&self, column: &str) -> bool {
        self.column == column || self.others.iter().any(|other| other == column)
    }
}

/// What the grouping needs to know about the rows of the training table.
pub(crate) struct Rows {
    /// Number of rows that scripts of the search read.
    pub(crate) used: usize,
    /// Classes differ in size, and each has enough rows for every fold.
    pub(crate) unequal_classes: bool,
}

/// The column with the widest groups of rows, if any, and others that only name groups. `taken` columns have another role.
fn choose(profile: &Profile, taken: impl Fn(&str) -> bool) -> Option<(&GroupColumn, Vec<&GroupColumn>)> {
    let counts = |found: &&GroupColumn| !taken(&found.column) && found.counts_groups;
    let mut columns: Vec<&GroupColumn> = profile.groups.iter().filter(counts).collect();
    // Rows of one patient are rows of one hospital, so the column with the fewest groups is the widest.
    columns.sort_by_key(|found| (!found.is_name, found.groups));
    let (column, others) = columns.split_first()?;
    Some((column, others.iter().copied().filter(|found| found.is_name).collect()))
}

/// The grouping of train and test tables, by the column of the split if there is one. `taken` columns have another role.
pub(crate) fn grouping(
    split: Option<&Split>,
    profile: &Profile,
    rows: &Rows,
    taken: impl Fn(&str) -> bool,
) -> Option<Grouping> {
    if split.is_some_and(|split| split.kind != SplitKind::Groups) {
        return None;
    }
    let given = split.and_then(|split| split.column.as_deref());
    let found = choose(profile, |name| Some(name) != given && taken(name));
    let found = found.filter(|found| given.is_none_or(|given| found.0.column == given));
    let (chosen, others) = match (found, given) {
        (Some((column, others)), _) => (column.clone(), others),
        (None, given) => {
            let column = profile.train.column(given?)?;
            let (column, groups) = (column.name.clone(), column.distinct);
            (GroupColumn { column, groups, ..GroupColumn::default() }, Vec::new())
        }
    };
    let drawn = chosen.groups * rows.used / profile.train.rows.max(1);
    Some(Grouping {
        column: chosen.column.clone(),
        others: others.iter().map(|found| found.column.clone()).collect(),
        groups: chosen.groups,
        drawn_whole: drawn >= MIN_DRAWN,
        stratified: rows.unequal_classes && drawn >= MIN_DRAWN,
        given: split.is_some_and(|split| split.given),
        gaps: profile.train.column(&chosen.column).is_some_and(|column| column.missing > 0),
    })
}
