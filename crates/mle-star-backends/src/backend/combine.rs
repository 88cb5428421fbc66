//! The combination of kept predictions of earlier runs.

use std::fs::{self, File};
use std::sync::Arc;
use std::time::Instant;

use mle_star_domain::effects::{DataView, ScriptEnd, ScriptOutcome};
use mle_star_domain::place::Place;
use mle_star_domain::question::{CombinedBy, FileStem};
use mle_star_domain::trouble::Trouble;
use serde::de::IgnoredAny;
use serde_json::json;

use super::ScriptBackend;
use crate::script::in_background;

impl ScriptBackend {
    /// The combined predictions of runs with their weights, kept as if the script had written them at this place.
    pub(super) async fn combined(
        &self,
        place: &Place,
        (script, to): (&str, &FileStem),
        runs: &[(FileStem, f64)],
        by: CombinedBy,
        ends: Instant,
    ) -> Result<ScriptOutcome, Trouble> {
        let (began, data) = (Instant::now(), self.script_data(DataView::Search));
        let ended = |submission, notes| ScriptOutcome {
            duration_seconds: began.elapsed().as_secs_f64(),
            submission,
            notes,
            ..ScriptOutcome::of(ScriptEnd::Exited { code: 0 })
        };
        let Some(evaluation) = self.evaluation.clone() else {
            return Ok(ended(None, vec!["the metric is unknown".to_owned()]));
        };
        let saved = self.saved(place);
        fs::write(&saved, script).map_err(|error| Trouble::io("write", &saved, &error))?;
        let [validation, submission] =
            ["validation", "submission"].map(|name| self.plane.folder().join(format!("combined-{name}.csv")));
        let question = json!({
            "question": "combine", "runs": runs, "by": by, "validation": validation, "submission": submission,
        });
        if let Err(unanswered) = evaluation.ask::<IgnoredAny>(question, ends).await {
            return Ok(ended(None, vec![unanswered.reason()?]));
        }
        let (places, setup, plane) =
            (self.places_of(to, DataView::Search), Arc::clone(&self.setup), Arc::clone(&self.plane));
        let work = move || {
            let kept = places.validation();
            fs::copy(&validation, kept).map_err(|error| Trouble::io("write", kept, &error))?;
            // An earlier process may have been killed after this point.
            let _ = fs::remove_file(places.written());
            let file = File::open(&submission).map_err(|error| Trouble::io("read", &submission, &error))?;
            let checks = (&*plane, setup.id_column.as_deref(), ends);
            let kept = places.keep(file, &data, Some(&evaluation), checks);
            let _ = fs::remove_file(&submission);
            let _ = fs::remove_file(&validation);
            kept
        };
        let kept = in_background(work).await??;
        Ok(ended(Some(kept), Vec::new()))
    }
}
