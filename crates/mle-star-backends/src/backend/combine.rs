//! Ensemble selection: weights for the kept predictions of earlier runs, and their combination.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use mle_star_domain::effects::{
    CombinationRequest, CombinedBy, DataView, Member, ScriptEnd, ScriptOutcome, Selection, SelectionRequest,
};
use mle_star_domain::layout;
use mle_star_domain::trouble::Trouble;

use super::ScriptBackend;
use super::finish::KeptPaths;
use crate::script::evaluation::{Evaluator, Predictions};
use crate::script::in_background;

impl ScriptBackend {
    /// Weights for the predictions behind the scores of earlier runs.
    pub(super) async fn select_weights(&self, request: &SelectionRequest) -> Result<Selection, Trouble> {
        let failed = |failure: String| Selection { failure, ..Selection::default() };
        let Some(evaluation) = self.evaluation.clone() else {
            return Ok(failed("the program cannot compute the metric".to_owned()));
        };
        let of = |member: &Member| self.places_of(&member.run, &member.script, DataView::Search);
        let files: Vec<(Predictions, f64)> =
            request.members.iter().map(|member| (of(member).of_validation(), member.seconds)).collect();
        let seconds = request.seconds;
        // Scripts leave those of the submission apart from those of the validation rows.
        let has_class_scores =
            request.members.iter().all(|member| of(member).of_submission().class_scores.exists());
        let selected = in_background(move || evaluation.select(&files, seconds, has_class_scores)).await?;
        Ok(selected.map_or_else(failed, |(found, by)| Selection {
            weights: found.weights,
            by,
            measured: Some(found.measured),
            is_better: found.is_better,
            lead: found.lead,
            failure: String::new(),
        }))
    }

    /// The combined predictions of earlier runs, kept as if the script had written them.
    pub(super) async fn combine_predictions(
        &self,
        request: &CombinationRequest,
    ) -> Result<ScriptOutcome, Trouble> {
        let (began, setup, seen) = (Instant::now(), Arc::clone(&self.setup), self.seen(DataView::Search));
        let places = self.places_of(&request.place, &request.script, DataView::Search);
        let of = |member: &Member| self.places_of(&member.run, &member.script, DataView::Search);
        let members = request.members.iter().map(|(member, weight)| (of(member), *weight)).collect();
        let (stem, script, by) = (request.place.file_stem(), request.script.clone(), request.by);
        let evaluation = self.evaluation.clone();
        let work = move || {
            let Some(evaluation) = evaluation else { return Ok(Err("the metric is unknown".to_owned())) };
            let combination = Combination { members, by, evaluation: &evaluation };
            let saved = setup.run_folder.join(layout::SOLUTIONS).join(format!("{stem}.py"));
            fs::write(&saved, &script).map_err(|error| Trouble::io("write", &saved, &error))?;
            let submission = setup.run_folder.join(layout::WORK).join(format!("{stem}.csv"));
            let validation = combination.write(&places.of_validation().labels, KeptPaths::of_validation)?;
            let written = validation.and(combination.write(&submission, KeptPaths::of_submission)?);
            let kept = written.map(|()| {
                // An earlier process may have been killed after this point.
                let _ = fs::remove_file(places.written());
                let file =
                    File::open(&submission).map_err(|error| Trouble::io("read", &submission, &error))?;
                places.keep(file, &seen, Some(&evaluation), setup.id_column.as_deref())
            });
            let _ = fs::remove_file(&submission);
            kept.map_or_else(|why| Ok(Err(why)), |kept| kept.map(Ok))
        };
        let (submission, notes) = match in_background(work).await?? {
            Ok(submission) => (Some(submission), Vec::new()),
            Err(why) => (None, vec![why]),
        };
        Ok(ScriptOutcome {
            duration_seconds: began.elapsed().as_secs_f64(),
            submission,
            notes,
            measured: Some(request.measured.clone()),
            ..ScriptOutcome::of(ScriptEnd::Exited { code: 0 })
        })
    }
}

/// Files of earlier runs with their weights.
struct Combination<'a> {
    members: Vec<(KeptPaths, f64)>,
    by: CombinedBy,
    evaluation: &'a Evaluator,
}

impl Combination<'_> {
    /// Writes the combination of one kind of file. The inner error says why the files cannot be combined.
    fn write(&self, to: &Path, which: fn(&KeptPaths) -> Predictions) -> Result<Result<(), String>, Trouble> {
        let files: Vec<(Predictions, f64)> =
            self.members.iter().map(|(places, weight)| (which(places), *weight)).collect();
        let out = File::create(to).map_err(|error| Trouble::io("write", to, &error))?;
        Ok(self.evaluation.combine(&files, self.by, BufWriter::new(out)))
    }
}
