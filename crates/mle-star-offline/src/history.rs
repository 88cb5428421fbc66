//! Columns of earlier targets, for tasks whose test rows are later rows of the same series (the days of a store).

use mle_star_tables::profile::Profile;
use mle_star_tables::series;
use serde::Serialize;

/// Earlier targets of the series that rows belong to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct History {
    /// The columns that name a series.
    pub(crate) series: Vec<String>,
}

impl History {
    /// The history of the series in a table ordered by the column `time`; `None` if no columns name series. `taken` are the
    /// columns that name none.
    pub(crate) fn of(profile: &Profile, time: &str, taken: impl Fn(&str) -> bool) -> Option<Self> {
        let series = series::columns(profile, time, taken);
        (!series.is_empty()).then_some(Self { series })
    }
}
