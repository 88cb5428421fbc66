//! Validation on later rows, for tasks whose test rows are later than the training rows.

use mle_star::protocol::{Split, SplitKind};
use serde::Serialize;

use mle_star_data::profile::{Column, ColumnKind, Table};

/// The column that orders rows by time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct TimeOrder {
    pub(crate) column: String,
    /// Whether it has dates as text; if not, its values are in order as they are.
    pub(crate) is_date: bool,
    /// Whether its dates begin with the day: `31.01.2024`.
    pub(crate) day_first: bool,
}

/// The order of a split by time; `None` for other splits, and for a column that has no two times.
pub(crate) fn time_order(split: &Split, train: &Table) -> Option<TimeOrder> {
    let column = train.column(split.column.as_deref()?)?;
    (split.kind == SplitKind::Time && column.distinct > 1).then(|| TimeOrder {
        column: column.name.clone(),
        is_date: column.kind == ColumnKind::Date,
        day_first: begins_with_day(column),
    })
}

/// A first number that is too large for a month is a day.
fn begins_with_day(column: &Column) -> bool {
    let first = |date: &String| date.split(|c: char| !c.is_ascii_digit()).next()?.parse::<u32>().ok();
    let mut dates = column.top_values.iter().map(|(date, _)| date);
    dates.any(|date| first(date).is_some_and(|number| (13..=31).contains(&number)))
}
