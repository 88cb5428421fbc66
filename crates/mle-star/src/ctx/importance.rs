//! How much the score of a script depends on each column: where its runs stand, and what the program makes of them.

use serde_json::json;

use super::Ctx;
use crate::journal::{Entry, Outcome};
use crate::record::Kind;
use crate::stop::Stop;
use mle_star_domain::effects::{DataView, Importance, ImportanceRequest, ImportanceRows};
use mle_star_domain::place::{Name, Place};

impl Outcome for Importance {}

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

    /// Why the script at this place cannot see copies of these rows; `None` if it can, or ran on them in an earlier process.
    pub(crate) async fn lacks_copies(&self, on: ImportanceRows) -> Result<Option<String>, Stop> {
        let (place, journal) = (self.place.named(Name::Copies), self.run.journal);
        let entry = Entry::new(&place, Kind::Probe, &json!({ "on": on }), &json!({}))?;
        if !journal.has(&entry)? && journal.has_any(&self.place.named(Name::Run), Kind::Script)? {
            return Ok(None);
        }
        self.fence_unless_recorded(&entry)?;
        let lacks = self.or_interrupted(self.run.outside.scripts.lacks_copies(on));
        let found = journal.once(entry, async {
            let why = lacks.await??;
            Ok::<_, Stop>(Importance::unknown(why.unwrap_or_default()))
        });
        Ok(Some(found.await?.value.failure).filter(|why| !why.is_empty()))
    }

    /// How much worse the run of a script at this place predicts the copies of rows in which a column is permuted. The rows as
    /// they are were predicted by `known`, a run and its script, too.
    pub(crate) async fn importance(
        &self,
        script: &str,
        on: ImportanceRows,
        known: (Place, String),
    ) -> Result<Importance, Stop> {
        let (place, run) = (self.place.named(Name::Importance), self.place.named(Name::Run));
        let input = json!({"script": script, "known": {"run": known.0, "script": known.1}, "held_out": self.holdout_digest()});
        let at = place.clone();
        let entry = Entry::new(&at, Kind::Probe, &input, &json!({"run": run}))?;
        self.fence_unless_recorded(&entry)?;
        let direction = self.task().metric_direction;
        let request = ImportanceRequest { place, run, script: script.to_owned(), known, on, direction };
        let found = self.or_interrupted(self.run.outside.scripts.importance(&request));
        Ok(self.run.journal.once(entry, async { found.await? }).await?.value)
    }
}
