//! The time column of a chronological split: how scripts parse it and sort rows by it.

use mle_star_domain::protocol::{Split, SplitKind};
use std::borrow::Cow;

use serde::Serialize;

use mle_star_tables::profile::{Column, ColumnKind, Profile};

/// The column that orders rows by time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct TimeColumn {
    pub(crate) column: String,
    /// Whether it has dates as text, at least after scripts have made them; if not, its values are in order as they are.
    pub(crate) is_date: bool,
    /// Whether its dates begin with the day: `31.01.2024`.
    pub(crate) day_first: bool,
    /// The part of a year that its texts name where pandas reads no dates, as `week` for `2024-W05`. Scripts make dates of them.
    pub(crate) unit: Option<String>,
    /// The column whose groups stay whole, if any. A group is as late as its first row.
    pub(crate) groups: Option<String>,
    /// The columns that name series which each end at a time of their own; none if they end together.
    pub(crate) series: Vec<String>,
}

/// The time column of a split by time; `None` for other splits, and for a column with one time only. Times that are the row
/// IDs stay texts, because the submission repeats them.
pub(crate) fn row_time(split: Option<&Split>, profile: &Profile, id: Option<&str>) -> Option<TimeColumn> {
    let split = split?;
    let column = profile.train.column(split.column.as_deref()?)?;
    let test_column = profile.test.as_ref().and_then(|test| test.column(&column.name));
    let unit = column.unit.clone().filter(|_| id != Some(&column.name));
    (split.kind == SplitKind::Time && column.distinct > 1).then(|| TimeColumn {
        column: column.name.clone(),
        is_date: column.kind == ColumnKind::Date || unit.is_some(),
        unit,
        day_first: column.day_first || test_column.is_some_and(|twin| twin.day_first),
        groups: split.groups.clone(),
        series: split.series.clone(),
    })
}

/// The profile after scripts have made dates of the times.
pub(crate) fn with_parsed_times<'a>(profile: &'a Profile, time: Option<&TimeColumn>) -> Cow<'a, Profile> {
    let Some(time) = time.filter(|time| time.unit.is_some()) else { return Cow::Borrowed(profile) };
    let mut dated = profile.clone();
    let tables = [Some(&mut dated.train), dated.test.as_mut()].into_iter().flatten();
    let columns = tables.flat_map(|table| &mut table.columns);
    let of_time = |column: &&mut Column| column.name == time.column;
    columns.filter(of_time).for_each(|column| column.kind = ColumnKind::Date);
    Cow::Owned(dated)
}
