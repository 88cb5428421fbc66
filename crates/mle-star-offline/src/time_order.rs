//! Validation on later rows, for tasks whose test rows are later than the training rows.

use mle_star_domain::protocol::{Split, SplitKind};
use serde::Serialize;

use mle_star_tables::profile::{ColumnKind, Profile};

/// The column that orders rows by time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct TimeOrder {
    pub(crate) column: String,
    /// Whether it has dates as text; if not, its values are in order as they are.
    pub(crate) is_date: bool,
    /// Whether its dates begin with the day: `31.01.2024`.
    pub(crate) day_first: bool,
    /// The column whose groups stay whole, if any. A group is as late as its first row.
    pub(crate) groups: Option<String>,
}

/// The order of a split by time; `None` for other splits, and for a column that has no two times.
pub(crate) fn time_order(split: Option<&Split>, profile: &Profile) -> Option<TimeOrder> {
    let split = split?;
    let column = profile.train.column(split.column.as_deref()?)?;
    let twin = profile.test.as_ref().and_then(|test| test.column(&column.name));
    (split.kind == SplitKind::Time && column.distinct > 1).then(|| TimeOrder {
        column: column.name.clone(),
        is_date: column.kind == ColumnKind::Date,
        day_first: column.day_first || twin.is_some_and(|twin| twin.day_first),
        groups: split.groups.clone(),
    })
}
