//! Scores scripts' predictions by labels that scripts do not see, by asking the data plane, the Python process that reads tables.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use std::{fs, io};

use mle_star_domain::layout;
use mle_star_domain::measure::interval::{Groups, MIN_PERIODS};
use mle_star_domain::measure::{Chance, Measurement};
use mle_star_domain::protocol::{LabelColumns, Periods, Split, SplitKind};
use mle_star_domain::score::Printed;
use mle_star_domain::task::MetricFile;
use mle_star_domain::trouble::Trouble;
use mle_star_tables::metrics::Metric;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::plane::{Answer, Plane, PlaneError, absolute};

pub(crate) use copies::CopiedRows;
pub(crate) use diagnose::PredictionFiles;
pub(crate) use last_fold::FoldFiles;
pub use last_fold::LastFold;

mod copies;
mod diagnose;
mod last_fold;

/// The maximum size of a file with predictions, in bytes.
pub(crate) const MAX_PREDICTIONS_BYTES: u64 = 1 << 30;
/// The file with what the data plane is told of a run, in its folder.
const SETUP: &str = "setup.json";

/// What the program needs to compute scores itself.
#[derive(Clone, Debug)]
pub struct EvaluationSetup {
    /// The metric. With a metric file, one for the same kind of predictions, which computes no score.
    pub metric: Metric,
    /// The file that computes the metric, if it is not one of the program's own.
    pub metric_file: Option<MetricFile>,
    /// The training table as scripts of the search see it.
    pub train: PathBuf,
    /// The columns of the training table that a score depends on.
    pub columns: LabelColumns,
    /// The columns of a submission.
    pub header: Vec<String>,
    /// The column of a submission with the row IDs.
    pub id_column: Option<String>,
    /// The number of training rows that scripts of the search are told to use at most.
    pub subsample_limit: usize,
    /// How the test rows differ from the training rows, if that is known.
    pub split: Option<Split>,
    /// The number of test rows, without held-out ones.
    pub test_rows: Option<u64>,
    /// For a split by groups, how many rows each group of the test table has; empty if that is not known.
    pub test_groups: Option<Groups>,
    /// Whether the scores of scripts are computed from their validation predictions.
    pub recomputes: bool,
    /// The held-out rows, if there are any.
    pub holdout: Option<HoldoutSetup>,
    /// The file with the folds that scripts of the search find with their data, if there is one.
    pub folds: Option<PathBuf>,
    /// The file with seasonal naive forecasts of the rows of the folds, if there is one.
    pub seasonal_naive: Option<PathBuf>,
    /// For a split by time, the periods.
    pub periods: Option<Periods>,
    /// Whether the score of rows of several periods is the mean of the periods' scores.
    pub mean_over_periods: bool,
    /// The labels of the test table, if the program knows them.
    pub test_labels: Option<PathBuf>,
    /// Holds out the rows of the last validation fold, if no others are held out and there are folds.
    pub last_fold: Option<LastFold>,
    /// Folders and files that contain labels of held-out rows or of the test table and are therefore hidden from the
    /// scripts of the search.
    pub closed: Vec<PathBuf>,
}

/// The files that scoring held-out rows needs.
#[derive(Clone, Debug)]
pub struct HoldoutSetup {
    /// The original data, which finalization sees.
    pub data_dir: PathBuf,
    /// The original sample submission.
    pub sample: PathBuf,
    /// Whether the held-out rows are the whole test table of the search. Scripts of the search then predict none of the
    /// original test rows.
    pub is_period: bool,
    /// The labels of the held-out rows.
    pub labels: PathBuf,
    /// Folder with the training and the test table, which the program's own script compares before the search, to find
    /// out how their rows differ.
    pub compared: PathBuf,
}

/// Asks the data plane about the predictions of a run.
#[derive(Debug)]
pub(crate) struct Evaluator {
    pub(crate) setup: EvaluationSetup,
    plane: Arc<Plane>,
    /// The file with what the data plane is told of the run.
    told: PathBuf,
}

/// A training table with permuted labels.
#[derive(Debug)]
pub(crate) struct Shuffle {
    /// The file.
    pub(crate) table: PathBuf,
    /// The block of each of its rows, among whose labelled rows the labels were permuted.
    pub(crate) blocks: Vec<u32>,
}

/// The score of a script's validation predictions.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ValidationCheck {
    pub(crate) measured: Option<Measurement>,
    /// What is wrong with the predictions, for the agent that repairs the script.
    pub(crate) mismatch: Option<String>,
    /// Why the program could not compute the score, or what else the script printed.
    pub(crate) note: Option<String>,
}

impl ValidationCheck {
    pub(crate) fn cannot_be_scored(why: &str) -> Self {
        let name = layout::VALIDATION_PREDICTIONS;
        let mismatch = Some(format!("./{}/{name} cannot be scored: {why}", layout::FINAL));
        Self { mismatch, ..Self::default() }
    }
}

impl EvaluationSetup {
    /// The file with the labels of held-out rows, or else with those of the test table.
    pub(crate) fn labels(&self) -> Option<&Path> {
        self.holdout.as_ref().map(|rows| &rows.labels).or(self.test_labels.as_ref()).map(PathBuf::as_path)
    }

    /// The files and folders that the data plane reads beside the run's folder.
    pub(crate) fn files(&self) -> impl Iterator<Item = PathBuf> {
        let files = [self.labels(), self.folds.as_deref(), self.seasonal_naive.as_deref()];
        let files = [Some(self.train.as_path())].into_iter().chain(files).flatten();
        files.map(Path::to_owned).collect::<Vec<_>>().into_iter()
    }

    /// What the data plane is told. Scripts of the search predict held-out rows, too, if there are any (`holds_out`).
    fn to_json(&self, run_folder: &Path, holds_out: bool) -> Value {
        json!({
            "metric": self.metric.name(),
            "metric_file": self.metric_file.as_ref().map(MetricFile::to_json),
            "train": absolute(&self.train),
            "columns": self.columns,
            "header": self.header,
            "id_column": self.id_column,
            "subsample_limit": self.subsample_limit,
            "by_time": self.split.as_ref().is_some_and(|split| split.kind == SplitKind::Time),
            "target": self.interval_target(),
            "labels": self.labels().map(absolute),
            "folds": self.folds.as_deref().map(absolute),
            "has_periods": self.periods.is_some(),
            "mean_over_periods": self.mean_over_periods,
            "seasonal_naive": self.seasonal_naive.as_deref().map(absolute),
            "folder": absolute(run_folder),
            "holds_out": holds_out,
        })
    }

    /// What intervals are for: one more period, other groups, or other rows. Series that end at different times count as groups if
    /// there are too few periods for an interval.
    fn interval_target(&self) -> Value {
        let has_few = self.periods.as_ref().map_or(0, Periods::count) < MIN_PERIODS;
        let has_own_ends = self.split.as_ref().is_some_and(Split::has_own_ends);
        let are_groups = has_few && has_own_ends && self.test_groups.is_some();
        match self.split.as_ref().map(|split| split.kind) {
            Some(SplitKind::Time) if !are_groups => json!({ "kind": "period" }),
            Some(SplitKind::Groups | SplitKind::Time) => {
                let Groups { groups, rows } = self.test_groups.unwrap_or(Groups { groups: 0.0, rows: 0.0 });
                json!({ "kind": "groups", "rows": self.test_rows, "groups": groups, "rows_of_groups": rows })
            }
            Some(SplitKind::Rows | SplitKind::Stratified) | None => {
                json!({ "kind": "rows", "rows": self.test_rows })
            }
        }
    }
}

impl Evaluator {
    /// # Errors
    /// What the data plane is told cannot be written.
    pub(crate) fn new(
        setup: EvaluationSetup,
        plane: Arc<Plane>,
        run_folder: &Path,
        holds_out: bool,
    ) -> Result<Self, Trouble> {
        let setup_file = plane.folder().join(SETUP);
        let written = fs::write(&setup_file, setup.to_json(run_folder, holds_out).to_string());
        written.map_err(|error: io::Error| Trouble::io("write", &setup_file, &error))?;
        Ok(Self { setup, plane, told: setup_file })
    }

    /// Asks a question about this run.
    ///
    /// # Errors
    /// There is no answer.
    pub(crate) async fn ask<T: DeserializeOwned>(&self, mut question: Value, ends: Instant) -> Answer<T> {
        question["setup"] = json!(self.told);
        self.plane.ask(question, ends).await
    }

    /// Scores a script's validation predictions. Another score that it printed is a note. Predictions that cannot be scored in
    /// time fail, since what a script prints of them may be wrong.
    ///
    /// # Errors
    /// The data plane cannot be used.
    pub(crate) async fn verify(
        &self,
        file: &Path,
        printed: Option<Printed>,
        ends: Instant,
    ) -> Result<ValidationCheck, Trouble> {
        let question = json!({ "question": "validation", "file": file, "printed": printed });
        match self.ask(question, ends).await {
            Ok(checked) => Ok(checked),
            Err(late @ PlaneError::Late(_)) => Ok(ValidationCheck::cannot_be_scored(&late.reason()?)),
            Err(unanswered) => {
                let note = Some(format!("scores are not recomputed: {}", unanswered.reason()?));
                Ok(ValidationCheck { note, ..ValidationCheck::default() })
            }
        }
    }

    /// The columns with labels.
    pub(crate) fn targets(&self) -> Vec<String> {
        let columns = &self.setup.columns;
        std::iter::once(&columns.target).chain(&columns.further).cloned().collect()
    }

    /// The score of the validation predictions of a script that was trained on permuted labels. A script without a leak
    /// scores here as if by chance.
    ///
    /// # Errors
    /// Why there is no score.
    pub(crate) async fn chance(&self, file: &Path, train: &Shuffle, ends: Instant) -> Answer<Chance> {
        let question = json!({
            "question": "chance", "file": file, "table": train.table, "blocks": train.blocks,
        });
        self.ask(question, ends).await
    }
}
