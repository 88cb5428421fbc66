//! Columns of earlier targets, for tasks whose test rows are later rows of the same series (the days of a store).

use mle_star_tables::profile::Profile;
use mle_star_tables::series;
use serde::Serialize;

use crate::problem::Problem;

/// The shares of more classes would be too many columns.
const MOST_CLASSES: usize = 15;

/// Earlier targets of the series that rows belong to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct History {
    /// The columns that name a series.
    pub(crate) series: Vec<String>,
}

impl Problem {
    /// This problem with the history of its series, if the test rows are later rows of the same series and there is one
    /// target, a number or one of a few classes.
    pub(crate) fn with_history(self, profile: &Profile) -> Self {
        let time = self.time.as_ref().filter(|_| self.classes <= MOST_CLASSES && self.several.is_empty());
        let history = time.and_then(|time| {
            let taken = |name: &str| name == self.target || self.id.as_deref() == Some(name);
            let series = series::columns(profile, &time.column, taken);
            (!series.is_empty()).then_some(History { series })
        });
        Self { history, ..self }
    }
}
