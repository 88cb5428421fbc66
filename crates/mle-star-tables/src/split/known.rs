//! The columns whose roles are known.

use mle_star_domain::protocol::{Split, SplitKind};

use super::times;
use crate::profile::{Column, Profile, Table};

/// The columns whose roles are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Known<'a> {
    /// The column to predict.
    pub target: Option<&'a str>,
    /// The column with the row IDs.
    pub id: Option<&'a str>,
    /// The column that the user named for groups.
    pub group: Option<&'a str>,
    /// The column that the user named for times.
    pub time: Option<&'a str>,
    /// The column with the weights.
    pub weight: Option<&'a str>,
}

impl Known<'_> {
    /// The split by the columns that the user named; `None` if there are none.
    pub fn split(&self) -> Option<Split> {
        let (kind, column) = match (self.time, self.group) {
            (Some(time), _) => (SplitKind::Time, time),
            (None, group) => (SplitKind::Groups, group?),
        };
        // The rows of one time stay together anyway.
        let groups = self.group.filter(|group| *group != column).map(str::to_owned);
        Some(Split {
            kind,
            column: Some(column.to_owned()),
            why: "as given".to_owned(),
            groups,
            given: true,
            ..Split::default()
        })
    }

    /// Whether a column has another role than to tell groups or times.
    pub fn has_other_role(&self, profile: &Profile, name: &str) -> bool {
        is_taken(profile, self, name)
    }
}

/// The columns that may tell the time.
pub(super) fn candidates<'a>(profile: &'a Profile, known: &Known<'_>) -> Vec<&'a Column> {
    let columns = times::candidates(profile, known.target, known.id).into_iter();
    columns.filter(|column| known.weight != Some(column.name.as_str())).collect()
}

/// Whether a column has another role than to tell groups.
pub(super) fn is_taken(profile: &Profile, known: &Known<'_>, name: &str) -> bool {
    let is_asked = profile.sample.as_ref().is_some_and(|sample| sample.column(name).is_some());
    [known.target, known.id, known.weight].contains(&Some(name)) || is_asked
}

/// The name of a table's file.
pub(super) fn name(table: &Table) -> String {
    table.file.display().to_string()
}
