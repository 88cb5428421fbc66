//! What the past of a series says about its later rows, for tasks whose test rows are later rows of the same series (the days
//! of a store).

use mle_star_tables::profile::{INFERENCE_ROWS, Profile};
use serde::Serialize;

use crate::row_time::TimeColumn;

/// The series that rows belong to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct History {
    /// The columns that name a series; none if all rows are one series.
    pub(crate) series: Vec<String>,
}

/// What a model gets of the past of a row's series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Past {
    /// Nothing.
    None,
    /// Means over windows, as columns.
    Windows,
    /// Simple forecasts, as columns.
    Forecasts,
    /// The same columns, and it predicts the distance from their weighted mean.
    Distance,
    /// Their weighted mean is the prediction.
    Alone,
}

impl History {
    /// The history of the series in a table ordered by time; `None` if no columns name series and several rows have the
    /// same time.
    pub(crate) fn of(profile: &Profile, time: &TimeColumn) -> Option<Self> {
        let series = profile.relations.series.clone();
        (!series.is_empty() || is_one_series(profile, time)).then_some(Self { series })
    }
}

impl Past {
    /// The template of its function; `None` if it has none.
    pub(crate) fn template(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Windows => Some("history/windows"),
            Self::Forecasts | Self::Distance => Some("history/forecast"),
            Self::Alone => Some("history/seasons"),
        }
    }
}

/// Whether hardly any two rows have the same time.
fn is_one_series(profile: &Profile, time: &TimeColumn) -> bool {
    let rows = profile.train.rows.min(INFERENCE_ROWS);
    let times = profile.train.column(&time.column).map_or(0, |column| column.distinct);
    time.groups.is_none() && times * 20 >= rows * 19
}
