//! Scores by a metric file.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::OnceLock;

use mle_star_domain::measure::Measurement;
use mle_star_domain::protocol::HoldoutPart;
use mle_star_metrics::intervals::Folds;
use mle_star_metrics::labels::paired::KnownRows;
use mle_star_metrics::labels::{Columns, Layout, Others};
use tokio::runtime::Handle;

use super::{EvaluationSetup, HOLDOUT_REPLICATES, LARGEST, REPLICATES, ValidationCheck, fewest_rows, table};
use crate::script::grader::{Graded, Grader, Unknown};

/// Computes scores with a metric file.
#[derive(Debug)]
pub(super) struct ByFile {
    grader: Grader,
    search: OnceLock<Result<KnownRows, String>>,
    holdout: OnceLock<Result<KnownRows, String>>,
    folds: OnceLock<Result<Folds, String>>,
}

impl ByFile {
    pub(super) fn new(grader: Grader) -> Self {
        Self { grader, search: OnceLock::new(), holdout: OnceLock::new(), folds: OnceLock::new() }
    }

    /// Why the program leaves something out.
    pub(super) fn computes_no(&self, what: &str) -> String {
        format!("the metric is that of {}, so the program does not compute {what}", self.grader.file().name)
    }

    /// Scores a script's validation predictions. What the script printed does not count.
    pub(super) fn verify(
        &self,
        setup: &EvaluationSetup,
        layout: &Layout<'_>,
        name: &str,
        predictions: File,
    ) -> ValidationCheck {
        let read = || known(&setup.train, &setup.columns);
        let folds = || self.folds.get_or_init(|| setup.periods_of_rows()).as_ref();
        let known = self.search.get_or_init(read).as_ref().and_then(|known| Ok((known, folds()?)));
        let (known, folds) = match known {
            Ok(known) => known,
            Err(why) => {
                let note = Some(format!("scores are not recomputed: {why}"));
                return ValidationCheck { note, ..ValidationCheck::default() };
            }
        };
        let unknown = Unknown { interval_for: setup.interval_for(), folds };
        let rows = Scored { known, columns: &setup.columns, wanted: None, unknown };
        let measured = match self.measure(&rows, layout, predictions, Others::Reject, REPLICATES) {
            Ok(measured) => measured,
            Err(why) => return ValidationCheck::mismatch(format!("{name} cannot be scored: {why}")),
        };
        let fewest = fewest_rows(known.len(), setup.subsample_limit, setup.split.as_ref());
        if measured.rows < fewest as u64 {
            let (rows, labelled) = (measured.rows, known.len());
            return ValidationCheck::mismatch(format!(
                "{name} has {rows} of {labelled} labelled rows, too few for a score: validate on at least {fewest} rows."
            ));
        }
        ValidationCheck { measured: Some(measured), ..ValidationCheck::default() }
    }

    /// Scores the predictions for held-out rows in a submission.
    ///
    /// # Errors
    /// Why there is no score.
    pub(super) fn look(
        &self,
        setup: &EvaluationSetup,
        layout: &Layout<'_>,
        submission: &Path,
        part: HoldoutPart,
    ) -> Result<Measurement, String> {
        let columns = Columns { id: setup.id_column.clone(), ..setup.columns.clone() };
        let read = || {
            let holdout = setup.holdout.as_ref().ok_or("no rows are held out")?;
            known(&holdout.labels, &columns)
        };
        let known = self.holdout.get_or_init(read).as_ref().map_err(Clone::clone)?;
        let wanted: Option<Vec<bool>> = match part {
            HoldoutPart::Whole => None,
            HoldoutPart::Choosing => Some(known.first_half()),
            HoldoutPart::Reporting => {
                Some(known.first_half().into_iter().map(|is_first| !is_first).collect())
            }
        };
        let file = File::open(submission).map_err(|error| format!("it left no valid submission: {error}"))?;
        let unknown = Unknown { interval_for: setup.interval_for(), folds: &Folds::default() };
        let rows = Scored { known, columns: &columns, wanted: wanted.as_deref(), unknown };
        self.measure(&rows, layout, file, Others::Ignore, HOLDOUT_REPLICATES)
    }

    fn measure(
        &self,
        rows: &Scored<'_>,
        layout: &Layout<'_>,
        predictions: File,
        others: Others,
        replicates: usize,
    ) -> Result<Measurement, String> {
        let paired = rows.known.paired(predictions.take(LARGEST), layout, others, rows.wanted);
        let paired = paired.map_err(|error| error.to_string())?;
        let graded = Graded { known: rows.known, columns: rows.columns, paired: &paired, layout: *layout };
        // Scores are computed on threads for blocking work.
        Handle::current().block_on(self.grader.measure(graded, replicates, rows.unknown))
    }
}

/// Rows to score.
struct Scored<'a> {
    known: &'a KnownRows,
    columns: &'a Columns,
    /// Which of them count; `None` for all.
    wanted: Option<&'a [bool]>,
    unknown: Unknown<'a>,
}

fn known(file: &Path, columns: &Columns) -> Result<KnownRows, String> {
    KnownRows::read(table(file)?, columns).map_err(|error| error.to_string())
}
