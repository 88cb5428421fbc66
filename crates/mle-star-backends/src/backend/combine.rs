//! Ensemble selection: weights for the kept predictions of earlier runs, and their combination.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use mle_star_domain::effects::{DataView, ScriptEnd, ScriptOutcome};
use mle_star_domain::layout;
use mle_star_domain::place::Place;
use mle_star_domain::question::{CombinedBy, Kept, Selection};
use mle_star_domain::trouble::Trouble;

use super::ScriptBackend;
use super::finish::KeptPaths;
use crate::script::evaluation::{Evaluator, Predictions};
use crate::script::in_background;

/// Weights for the predictions behind the scores of runs, each of which took so many seconds.
pub(super) fn selected(
    evaluation: &Evaluator,
    runs: &[(KeptPaths, f64)],
    seconds: f64,
) -> Result<Selection, String> {
    let files: Vec<(Predictions, f64)> =
        runs.iter().map(|(places, took)| (places.of_validation(), *took)).collect();
    // Scripts leave those of the submission apart from those of the validation rows.
    let has_class_scores = runs.iter().all(|(places, _)| places.of_submission().class_scores.exists());
    let (found, by) = evaluation.select(&files, seconds, has_class_scores)?;
    Ok(Selection {
        weights: found.weights,
        by,
        measured: Some(found.measured),
        is_better: found.is_better,
        lead: found.lead,
        failure: String::new(),
    })
}

impl ScriptBackend {
    /// The combined predictions of runs with their weights, kept as if the script had written them at this place.
    pub(super) async fn combined(
        &self,
        place: &Place,
        (script, to): (&str, &Kept),
        (runs, by): (&[(Kept, f64)], CombinedBy),
        evaluation: Arc<Evaluator>,
    ) -> Result<ScriptOutcome, Trouble> {
        let (began, setup, seen) = (Instant::now(), Arc::clone(&self.setup), self.seen(DataView::Search));
        let places = self.places_of(to, DataView::Search);
        let members =
            runs.iter().map(|(run, weight)| (self.places_of(run, DataView::Search), *weight)).collect();
        let (saved, script, stem) = (self.saved(place), script.to_owned(), place.file_stem());
        let work = move || {
            let combination = Combination { members, by, evaluation: &evaluation };
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
