//! Scores by a metric file.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::OnceLock;

use mle_star_domain::measure::{Difference, Measurement};
use mle_star_domain::protocol::HoldoutPart;
use mle_star_metrics::intervals::Folds;
use mle_star_metrics::labels::paired::KnownRows;
use mle_star_metrics::labels::{Columns, Layout, Others};
use tokio::runtime::Handle;

use super::{
    EvaluationSetup, HOLDOUT_REPLICATES, LARGEST, REPLICATES, ValidationCheck, fewest_rows, opened, table,
};
use crate::script::grader::{Graded, Grader, IntervalTarget};

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
        let known = self.search.get_or_init(read).as_ref();
        let (known, interval) = match known.and_then(|known| Ok((known, self.interval(setup)?))) {
            Ok(known) => known,
            Err(why) => {
                let note = Some(format!("scores are not recomputed: {why}"));
                return ValidationCheck { note, ..ValidationCheck::default() };
            }
        };
        let rows = Scored { known, columns: &setup.columns, wanted: None, interval };
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
        let folds_digest = setup.folds.as_ref().and_then(|_| Some(known.digest_in(self.folds(setup).ok()?)));
        let on_folds = folds_digest.as_ref() == Some(&measured.rows_digest);
        ValidationCheck { measured: Some(Measurement { on_folds, ..measured }), ..ValidationCheck::default() }
    }

    /// The folds that scripts find with their data.
    fn folds(&self, setup: &EvaluationSetup) -> Result<&Folds, &String> {
        self.folds.get_or_init(|| setup.all_folds()).as_ref()
    }

    /// What the intervals of validation scores are for.
    fn interval(&self, setup: &EvaluationSetup) -> Result<IntervalTarget<'_>, &String> {
        let folds = self.folds(setup)?;
        let periods = setup.periods.as_ref().map(|_| folds);
        Ok(IntervalTarget { interval_for: setup.interval_for(), periods, averages: setup.mean_over_periods })
    }

    /// Compares two files of validation predictions on the rows that both have: their number, and the difference of the scores.
    /// There is none for too few rows.
    ///
    /// # Errors
    /// Why they cannot be compared.
    pub(super) fn compare(
        &self,
        setup: &EvaluationSetup,
        layout: &Layout<'_>,
        files: [&Path; 2],
    ) -> Result<(usize, Option<Difference>), String> {
        let read = || known(&setup.train, &setup.columns);
        let known = self.search.get_or_init(read).as_ref().map_err(Clone::clone)?;
        let mut is_common = vec![true; known.len()];
        for file in files {
            let paired = known.paired(opened(file)?, layout, Others::Reject, None);
            let paired = paired.map_err(|error| error.to_string())?;
            let has: HashSet<usize> = paired.places.into_iter().collect();
            is_common
                .iter_mut()
                .enumerate()
                .for_each(|(place, is_common)| *is_common &= has.contains(&place));
        }
        let rows = is_common.iter().filter(|is_common| **is_common).count();
        let fewest = fewest_rows(known.len(), setup.subsample_limit, setup.split.as_ref());
        if rows < fewest.max(1) {
            return Ok((rows, None));
        }
        let interval = self.interval(setup).map_err(Clone::clone)?;
        let scored = Scored { known, columns: &setup.columns, wanted: Some(&is_common), interval };
        let [one, other] = files.map(|file| {
            let file =
                File::open(file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
            self.measure(&scored, layout, file, Others::Reject, REPLICATES)
        });
        let (one, other) = (one?, other?);
        // A metric file may have no score for resampled rows. Then the scores alone decide.
        let by_scores = || Difference { by: one.score - other.score, standard_error: 0.0 };
        Ok((rows, Some(one.difference(&other).unwrap_or_else(by_scores))))
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
        let interval = IntervalTarget { interval_for: setup.interval_for(), periods: None, averages: false };
        let rows = Scored { known, columns: &columns, wanted: wanted.as_deref(), interval };
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
        Handle::current().block_on(self.grader.measure(graded, replicates, rows.interval))
    }
}

/// Rows to score.
struct Scored<'a> {
    known: &'a KnownRows,
    columns: &'a Columns,
    /// Which of them count; `None` for all.
    wanted: Option<&'a [bool]>,
    interval: IntervalTarget<'a>,
}

fn known(file: &Path, columns: &Columns) -> Result<KnownRows, String> {
    KnownRows::read(table(file)?, columns).map_err(|error| error.to_string())
}
