//! What happens after a script has ended: its submission is checked and kept, its score verified, its folder removed.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use mle_star_domain::effects::{DataView, Fits, Purpose, ScriptRequest, Submission, VariantScore};
use mle_star_domain::layout;
use mle_star_domain::measure::Chance;
use mle_star_domain::question::FileStem;
use mle_star_domain::score::Printed;
use mle_star_domain::trouble::Trouble;
use mle_star_process::disk;
use serde_json::{Value, json};
use tempfile::NamedTempFile;
use tokio::runtime::Handle;

use super::ScriptBackend;
use super::outputs::{Outputs, open_output};
use super::script_data::ScriptData;
use super::variants::variants;
use crate::script::evaluation::{Evaluator, MAX_PREDICTIONS_BYTES, Shuffle, ValidationCheck};
use crate::script::in_background;
use crate::script::plane::{Plane, absolute};
use crate::script::submission::{check_submission, largest, too_large};
use crate::script::watch;

/// The most bytes of a file with class scores that are kept. A longer file is not kept.
const MAX_SCORES_BYTES: u64 = 256 << 20;

/// What remains of a script after its folder was removed.
pub(super) struct StoredFiles {
    pub(super) submission: Option<Submission>,
    pub(super) verified: ValidationCheck,
    /// What the predictions score by chance, if the target was permuted.
    pub(super) chance: Option<Chance>,
    /// What its models were fitted on, if that was watched.
    pub(super) fits: Option<Fits>,
    /// Problems with the files that it wrote, and changes of the data.
    pub(super) notes: Vec<String>,
    /// The variants of an ablation study with their scores.
    pub(super) variants: Vec<VariantScore>,
    /// The space left on a disk that is full even without the script's files.
    pub(super) disk_left: Option<String>,
}

/// The paths where the files of a script are kept.
pub(super) struct StoredPaths {
    /// What can be submitted. The file is missing if the script predicts held-out rows only.
    submission: PathBuf,
    /// The whole submission, if it has predictions for held-out rows. They stay apart from what can be submitted.
    with_held_out: Option<PathBuf>,
    /// The validation predictions that the score is computed from.
    validation: PathBuf,
    /// The class probabilities: for the validation rows, and for the rows of the submission.
    class_scores: [PathBuf; 2],
}

impl ScriptBackend {
    /// Checks and keeps the submission, verifies the score, checks that the data is unchanged, removes the folder.
    pub(super) async fn finish(
        &self,
        request: &ScriptRequest,
        (outputs, data): (Outputs, Arc<ScriptData>),
        printed: Option<Printed>,
        ends: Instant,
    ) -> Result<StoredFiles, Trouble> {
        let setup = Arc::clone(&self.setup);
        let run = FileStem::new(&request.place, &request.script);
        let places = self.places_of(&run, request.data);
        let (evaluation, plane) = (self.evaluation.clone(), Arc::clone(&self.plane));
        let verifies = request.purpose == Purpose::Score;
        // Probes look for leaks. Runs that measure importance have the same purpose, but are no probes.
        let probes = request.purpose == Purpose::Probe && !measures_importance(request.data);
        let is_watched = watch::is_watched(request);
        let model = Self::max_model_bytes(request).map(|most| (self.kept_model(&run), most));
        let studies = request.purpose == Purpose::Ablation;
        let work = move || {
            let (evaluation, id_column) = (evaluation.as_deref(), setup.id_column.as_deref());
            let mut notes = Vec::new();
            let submission = open_output(&outputs, layout::SUBMISSION, &mut notes)?
                .map(|written| places.keep(written, &data, evaluation, (&plane, id_column, ends)))
                .transpose()?;
            let mut verified = ValidationCheck::default();
            if let Some(evaluation) = evaluation.filter(|scores| verifies && scores.setup.recomputes) {
                if let Some(file) = open_output(&outputs, layout::VALIDATION_PREDICTIONS, &mut notes)? {
                    verified = places.verify(file, evaluation, printed, ends)?;
                }
                notes.extend(verified.note.take());
                if verified.measured.is_some() {
                    places.keep_class_scores(&outputs, &mut notes)?;
                }
            }
            let mut scored = Vec::new();
            if let Some(evaluation) = evaluation.filter(|scores| studies && scores.setup.recomputes) {
                let kept = |stem: &FileStem| places.validation.with_file_name(format!("{}.csv", stem.name()));
                scored = variants(&outputs, &run, (evaluation, ends), kept, &mut notes)?;
            }
            let (mut chance, mut fits) = (None, None);
            if is_watched {
                fits = Some(watch::fits(open_output(&outputs, watch::REPORT, &mut notes)?));
            }
            if let Some(evaluation) = evaluation.filter(|_| probes)
                && let Some(written) = open_output(&outputs, layout::VALIDATION_PREDICTIONS, &mut notes)?
            {
                let file = kept_for_a_while(written, plane.folder())?;
                let shuffled = data.made.as_ref().and_then(|made| made.shuffled.as_ref());
                (verified, chance) = probed((evaluation, ends), file.path(), shuffled, &mut notes)?;
            }
            if let (Some((kept, most)), Outputs::Here(workplace)) = (model, &outputs) {
                let _ = fs::remove_dir_all(&kept);
                let taken = workplace.take_model(&kept, most);
                let failure = taken.as_ref().err().filter(|_| !verifies);
                notes.extend(failure.map(|error| format!("the fitted model is not kept: {error}")));
                if !matches!(taken, Ok(Some(_))) {
                    let _ = fs::remove_dir_all(&kept);
                }
            }
            drop(outputs);
            notes.extend(data.shown.data.damage());
            let disk_left = disk::left_if_full(&setup.run_folder);
            Ok(StoredFiles { submission, verified, chance, fits, notes, variants: scored, disk_left })
        };
        in_background(work).await?
    }

    /// The files that are wanted of a script that runs elsewhere, with the most bytes of each that are sent.
    pub(super) fn outputs(&self, request: &ScriptRequest, data: &ScriptData) -> Vec<(&'static str, u64)> {
        let mut outputs = vec![(layout::SUBMISSION, largest(data.sample.as_deref()))];
        if self.evaluation.is_some() && matches!(request.purpose, Purpose::Score | Purpose::Probe) {
            outputs.push((layout::VALIDATION_PREDICTIONS, MAX_PREDICTIONS_BYTES));
            let scores = [layout::VALIDATION_CLASS_SCORES, layout::SUBMISSION_CLASS_SCORES];
            outputs.extend(scores.map(|name| (name, MAX_SCORES_BYTES)));
        }
        if self.evaluation.is_some() && request.purpose == Purpose::Ablation {
            outputs.extend(layout::VARIANTS.map(|name| (name, MAX_PREDICTIONS_BYTES)));
        }
        if watch::is_watched(request) {
            outputs.push((watch::REPORT, watch::MAX_REPORT_BYTES));
        }
        // One byte more than is read shows that a file is too large.
        outputs.into_iter().map(|(name, most)| (name, most + 1)).collect()
    }

    /// Where the files of a run are kept.
    pub(super) fn places_of(&self, run: &FileStem, data: DataView) -> StoredPaths {
        let holds_out = data == DataView::Search && self.all_rows.is_some();
        StoredPaths {
            submission: self.kept_submission(run),
            with_held_out: holds_out.then(|| self.kept_predictions(run)),
            validation: self.kept_validation(run),
            class_scores: self.kept_class_scores(run),
        }
    }
}

impl StoredPaths {
    /// The whole submission as the script wrote it.
    pub(super) fn written(&self) -> &Path {
        self.with_held_out.as_ref().unwrap_or(&self.submission)
    }

    /// The validation predictions that the score is computed from.
    pub(super) fn validation(&self) -> &Path {
        &self.validation
    }

    /// Keeps the files with class probabilities that the script left, each of the two on its own.
    fn keep_class_scores(&self, outputs: &Outputs, notes: &mut Vec<String>) -> Result<(), Trouble> {
        let names = [layout::VALIDATION_CLASS_SCORES, layout::SUBMISSION_CLASS_SCORES];
        for (name, kept) in names.into_iter().zip(&self.class_scores) {
            let Some(written) = open_output(outputs, name, notes)? else { continue };
            let copied = File::create(kept)
                .and_then(|mut copy| io::copy(&mut written.take(MAX_SCORES_BYTES + 1), &mut copy))
                .and_then(|bytes| if bytes > MAX_SCORES_BYTES { fs::remove_file(kept) } else { Ok(()) });
            copied.map_err(|error| Trouble::io("write", kept, &error))?;
        }
        Ok(())
    }

    /// Scores predictions for validation rows, and keeps them if they have a score.
    fn verify(
        &self,
        predictions: File,
        evaluation: &Evaluator,
        printed: Option<Printed>,
        ends: Instant,
    ) -> Result<ValidationCheck, Trouble> {
        let trouble = |error: io::Error| Trouble::io("write", &self.validation, &error);
        let bytes = predictions.metadata().map_err(trouble)?.len();
        if bytes > MAX_PREDICTIONS_BYTES {
            let (mib, most) = (bytes >> 20, MAX_PREDICTIONS_BYTES >> 20);
            let why = format!("the file has {mib} MiB; it has at most {most} MiB");
            return Ok(ValidationCheck::cannot_be_scored(&why));
        }
        let mut copy = File::create(&self.validation).map_err(trouble)?;
        io::copy(&mut predictions.take(MAX_PREDICTIONS_BYTES), &mut copy).map_err(trouble)?;
        let verified = Handle::current().block_on(evaluation.verify(&self.validation, printed, ends))?;
        if verified.measured.is_none() {
            fs::remove_file(&self.validation).map_err(trouble)?;
        }
        Ok(verified)
    }

    /// Keeps and checks a submission. If nothing is wrong with it, its rows that are not held out are what can be submitted. If
    /// the held-out rows are a whole period of time (`is_period`), no row is left.
    pub(super) fn keep(
        &self,
        written: File,
        data: &ScriptData,
        evaluation: Option<&Evaluator>,
        (plane, id_column, ends): (&Plane, Option<&str>, Instant),
    ) -> Result<Submission, Trouble> {
        let file = self.written();
        let sample = data.sample.as_deref();
        let kept = match keep(written, file, sample).map_err(|error| Trouble::io("write", file, &error))? {
            Some(too_large) => too_large,
            None => Handle::current().block_on(check_submission(plane, file, sample, id_column, ends))?,
        };
        let Some(whole) = &self.with_held_out else { return Ok(kept) };
        if !kept.findings.is_empty() {
            // A submission with findings must not be scored. One that was too large was never copied.
            let _ = fs::remove_file(whole);
        } else if let Some(evaluation) = evaluation
            && let Some(holdout) = &evaluation.setup.holdout
            && !holdout.is_period
        {
            let (sample, id) = (&holdout.sample, evaluation.setup.id_column.as_deref().unwrap_or_default());
            let question =
                json!({ "question": "trim", "submission": whole, "sample": absolute(sample), "id": id });
            let trimmed = plane.ask_for::<Value>(question, &self.submission, ends);
            Handle::current().block_on(trimmed)?;
        }
        Ok(kept)
    }
}

/// Whether a run on this data measures how important columns are. Its validation predictions are not used.
fn measures_importance(data: DataView) -> bool {
    matches!(data, DataView::PermutedColumns | DataView::LastFold | DataView::PermutedLastFold)
}

/// Copies a submission to `kept`. A copy has neither the mode nor the hard links of the script's file. A submission that is too
/// large is not copied; the check says so.
fn keep(submission: File, kept: &Path, sample: Option<&Path>) -> io::Result<Option<Submission>> {
    let (bytes, most) = (submission.metadata()?.len(), largest(sample));
    if bytes > most {
        return Ok(Some(too_large(bytes, sample)));
    }
    let mut fresh = File::create_new(kept)?;
    io::copy(&mut submission.take(most), &mut fresh)?;
    Ok(None)
}

/// The score of the predictions of a probe, and what they score by chance if the target was permuted.
fn probed(
    (evaluation, ends): (&Evaluator, Instant),
    file: &Path,
    shuffled: Option<&Shuffle>,
    notes: &mut Vec<String>,
) -> Result<(ValidationCheck, Option<Chance>), Trouble> {
    let Some(shuffled) = shuffled else {
        return Ok((Handle::current().block_on(evaluation.verify(file, None, ends))?, None));
    };
    let chance = match Handle::current().block_on(evaluation.chance(file, shuffled, ends)) {
        Ok(found) => Some(found),
        Err(unanswered) => {
            notes.push(unanswered.reason()?);
            None
        }
    };
    Ok((ValidationCheck::default(), chance))
}

/// A copy of a file that a script wrote, where the data plane can read it.
fn kept_for_a_while(written: File, folder: &Path) -> Result<NamedTempFile, Trouble> {
    let copied = NamedTempFile::new_in(folder).and_then(|mut copy| {
        io::copy(&mut written.take(MAX_PREDICTIONS_BYTES), copy.as_file_mut())?;
        Ok(copy)
    });
    copied.map_err(|error| Trouble::io("write", folder, &error))
}
