//! What happens after a script has ended: its submission is checked and kept, its score verified, its folder removed.

use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mle_star::effects::{DataView, Purpose, ScriptRequest, Submission};
use mle_star::layout;
use mle_star::measure::Chance;
use mle_star::place::Place;
use mle_star::score::Printed;
use mle_star::stop::Trouble;
use mle_star_data::holdout::trim;
use mle_star_process::disk;

use super::seen::Seen;
use super::{LocalRunner, in_background};
use crate::script::evaluation::{Evaluation, Predictions, Verified};
use crate::script::submission::{check_submission, largest, too_large};
use crate::script::workplace::Workplace;

/// The largest file with scores of classes that is kept whole, in bytes. What is cut off cannot be combined.
const MOST_SCORES: u64 = 256 << 20;

/// What remains of a script after its folder was removed.
pub(super) struct Kept {
    pub(super) submission: Option<Submission>,
    pub(super) verified: Verified,
    /// What the predictions score by chance, if the target was permuted.
    pub(super) chance: Option<Chance>,
    /// Problems with the paths of what it wrote, or with the data.
    pub(super) notes: Vec<String>,
    /// The space left on a disk that is full even without the script's files.
    pub(super) disk_left: Option<String>,
}

/// Where the files of a script are kept.
pub(super) struct Places {
    /// What can be submitted.
    submission: PathBuf,
    /// The whole submission, if it has predictions for held-out rows. They stay apart from what can be submitted.
    with_held_out: Option<PathBuf>,
    /// The predictions behind the score.
    validation: PathBuf,
    /// The scores of the classes behind the predictions for validation rows and in the submission.
    class_scores: [PathBuf; 2],
}

impl LocalRunner {
    /// Checks and keeps the submission, verifies the score, checks that the data is unchanged, removes the folder.
    pub(super) async fn finish(
        &self,
        request: &ScriptRequest,
        (workplace, seen): (Workplace, Arc<Seen>),
        printed: Option<Printed>,
    ) -> Result<Kept, Trouble> {
        let setup = Arc::clone(&self.setup);
        let places = self.places(request);
        let evaluation = self.evaluation.clone();
        let (verifies, probes) = (request.purpose == Purpose::Score, request.purpose == Purpose::Probe);
        let view = request.data;
        let work = move || {
            let (evaluation, id_column) = (evaluation.as_deref(), setup.id_column.as_deref());
            let (written, refused) = opened(&workplace, layout::SUBMISSION)?;
            let submission = written.map(|written| places.keep(written, &seen, evaluation, id_column));
            let submission = submission.transpose()?;
            let mut notes: Vec<String> = refused.into_iter().collect();
            let mut verified = Verified::default();
            if let Some(evaluation) = evaluation.filter(|_| verifies) {
                let (written, refused) = opened(&workplace, layout::VALIDATION_PREDICTIONS)?;
                verified = written
                    .map(|file| places.verify(file, evaluation, printed))
                    .transpose()?
                    .unwrap_or_default();
                notes.extend(refused.into_iter().chain(verified.note.take()));
                if verified.measured.is_some() {
                    notes.extend(places.keep_class_scores(&workplace)?);
                }
            }
            let mut chance = None;
            if let Some(evaluation) = evaluation.filter(|_| probes) {
                let (written, refused) = opened(&workplace, layout::VALIDATION_PREDICTIONS)?;
                notes.extend(refused);
                match (written, seen.made.as_ref()) {
                    (Some(file), Some(made)) if view == DataView::ShuffledTarget => {
                        chance = evaluation.chance(file, &made.table).map_err(|why| notes.push(why)).ok();
                    }
                    (Some(file), _) => verified = evaluation.verify(file, None),
                    (None, _) => {}
                }
            }
            drop(workplace);
            notes.extend(seen.data.damage());
            if let Some(made) = &seen.made {
                // What is left is removed with the other working folders.
                let _ = fs::remove_dir_all(&made.folder);
            }
            Ok(Kept { submission, verified, chance, notes, disk_left: disk::left_if_full(&setup.run_folder) })
        };
        in_background(work).await?
    }

    fn places(&self, request: &ScriptRequest) -> Places {
        self.places_of(&request.place, &request.script, request.data)
    }

    /// Where the files of a script are kept.
    pub(super) fn places_of(&self, place: &Place, script: &str, data: DataView) -> Places {
        let stem = place.file_stem();
        let holds_out = data == DataView::Search && self.whole.is_some();
        Places {
            submission: self.kept_submission(&stem, script),
            with_held_out: holds_out.then(|| self.kept_predictions(&stem, script)),
            validation: self.kept_validation(&stem, script),
            class_scores: self.kept_class_scores(&stem, script),
        }
    }
}

impl Places {
    /// The whole submission as the script wrote it.
    pub(super) fn written(&self) -> &Path {
        self.with_held_out.as_ref().unwrap_or(&self.submission)
    }

    /// The predictions behind the score, and the scores behind them.
    pub(super) fn of_validation(&self) -> Predictions {
        let [class_scores, _] = self.class_scores.clone();
        Predictions { labels: self.validation.clone(), class_scores }
    }

    /// The whole submission as the script wrote it, and the scores behind it.
    pub(super) fn of_submission(&self) -> Predictions {
        let [_, class_scores] = self.class_scores.clone();
        Predictions { labels: self.written().to_owned(), class_scores }
    }

    /// Keeps the scores of classes, if the script left them for all its predictions.
    fn keep_class_scores(&self, workplace: &Workplace) -> Result<Vec<String>, Trouble> {
        let names = [layout::VALIDATION_CLASS_SCORES, layout::SUBMISSION_CLASS_SCORES];
        let mut refusals = Vec::new();
        for (name, kept) in names.into_iter().zip(&self.class_scores) {
            let (written, refused) = opened(workplace, name)?;
            refusals.extend(refused);
            let Some(written) = written else { continue };
            let copied =
                File::create(kept).and_then(|mut copy| io::copy(&mut written.take(MOST_SCORES), &mut copy));
            copied.map_err(|error| Trouble::io("write", kept, &error))?;
        }
        Ok(refusals)
    }

    /// Scores predictions for validation rows, and keeps them if they have a score.
    fn verify(
        &self,
        mut predictions: File,
        evaluation: &Evaluation,
        printed: Option<Printed>,
    ) -> Result<Verified, Trouble> {
        let trouble = |error: io::Error| Trouble::io("write", &self.validation, &error);
        let verified = evaluation.verify(predictions.try_clone().map_err(trouble)?, printed);
        if verified.measured.is_some() {
            let mut copy = || {
                predictions.rewind()?;
                io::copy(&mut predictions, &mut File::create(&self.validation)?)
            };
            copy().map_err(trouble)?;
        }
        Ok(verified)
    }

    /// Keeps and checks a submission; without held-out rows too, if nothing is wrong with it.
    pub(super) fn keep(
        &self,
        written: File,
        seen: &Seen,
        evaluation: Option<&Evaluation>,
        id_column: Option<&str>,
    ) -> Result<Submission, Trouble> {
        let file = self.written();
        let kept = keep(written, file, seen.sample.as_deref(), id_column);
        let kept = kept.map_err(|error| Trouble::io("write", file, &error))?;
        let Some(whole) = &self.with_held_out else { return Ok(kept) };
        if !kept.findings.is_empty() {
            // Nobody is to score it. A submission that was too large is not there.
            let _ = fs::remove_file(whole);
        } else if let Some(evaluation) = evaluation
            && let Some(holdout) = &evaluation.setup.holdout
        {
            let id = evaluation.setup.id_column.as_deref();
            trim(whole, &holdout.sample, id.unwrap_or_default(), &self.submission)?;
        }
        Ok(kept)
    }
}

/// A file that the script wrote, or why it is not accepted.
fn opened(workplace: &Workplace, name: &str) -> Result<(Option<File>, Option<String>), Trouble> {
    let opened = workplace.output(name).map_err(|error| Trouble::io("read", workplace.folder(), &error))?;
    Ok(match opened {
        Ok(file) => (file, None),
        Err(refused) => (None, Some(refused)),
    })
}

/// Copies a submission to `kept` and checks it. A copy has neither the mode of the script's file nor its other names. A
/// submission that is too large is not copied.
fn keep(
    submission: File,
    kept: &Path,
    sample: Option<&Path>,
    id_column: Option<&str>,
) -> io::Result<Submission> {
    let (bytes, most) = (submission.metadata()?.len(), largest(sample));
    if bytes > most {
        return Ok(too_large(bytes, sample));
    }
    let mut fresh = File::create_new(kept)?;
    io::copy(&mut submission.take(most), &mut fresh)?;
    Ok(check_submission(kept, sample, id_column))
}
