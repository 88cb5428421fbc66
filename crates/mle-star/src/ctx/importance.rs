//! How much the score of a script depends on each column: where its runs stand, and what the program makes of them.

use super::Ctx;
use mle_star_domain::effects::DataView;
use mle_star_domain::question::ImportanceRows;

impl Ctx<'_> {
    /// This place, with a script that sees copies of these rows, in each of which one column is permuted.
    #[must_use]
    pub(crate) fn permuting(&self, on: ImportanceRows) -> Self {
        let data = match on {
            ImportanceRows::HeldOut => DataView::PermutedColumns,
            ImportanceRows::LastFold => DataView::PermutedLastFold,
        };
        Self { place: self.place.importance(), data, ..self.clone() }
    }

    /// This place, with a script that sees the rows of the last fold in the test table, as they are.
    #[must_use]
    pub(crate) fn without_last_fold(&self) -> Self {
        Self { place: self.place.unpermuted(), data: DataView::LastFold, ..self.clone() }
    }
}
