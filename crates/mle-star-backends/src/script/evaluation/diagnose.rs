//! Error analysis of the predictions that a script wrote.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use mle_star_domain::diagnostics::{Courses, DiagnosedRows, Diagnostics};
use serde_json::json;

use super::Evaluator;
use crate::script::plane::absolute;

/// The largest file of predictions that is read whole, in bytes.
const MAX_FILE_BYTES: u64 = 256 << 20;
/// How long it may take after a run has ended. What takes longer is left out.
const DIAGNOSIS_TIMEOUT: Duration = Duration::from_secs(60);

/// The files of predictions for labelled rows.
#[derive(Debug)]
pub(crate) struct PredictionFiles {
    /// The data folder of the search.
    pub(crate) data_dir: PathBuf,
    /// The predictions for held-out rows, and the probability of each class behind them.
    pub(crate) held_out: Option<[PathBuf; 2]>,
    /// The same for validation rows.
    pub(crate) validation: [PathBuf; 2],
    /// The columns that the worst rows are shown with, before others.
    pub(crate) columns: Vec<String>,
}

fn is_small(file: &&PathBuf) -> bool {
    fs::metadata(file).is_ok_and(|file| file.len() <= MAX_FILE_BYTES)
}

impl Evaluator {
    /// What is found in the predictions. Score and worst rows are those of held-out rows or, without any, of validation rows;
    /// parts are of both. `None` without predictions.
    pub(crate) async fn diagnose(&self, files: &PredictionFiles) -> Option<Diagnostics> {
        let other = self.diagnose_files(&files.validation, files, DiagnosedRows::Validation).await;
        let held_out = match &files.held_out {
            Some(paths) => self.diagnose_files(paths, files, DiagnosedRows::HeldOut).await,
            None => None,
        };
        let courses = self.courses(files).await;
        let Some(found) = held_out else { return other.map(|found| Diagnostics { courses, ..found }) };
        let further = other.into_iter().flat_map(|found| found.parts);
        Some(Diagnostics { parts: found.parts.into_iter().chain(further).collect(), courses, ..found })
    }

    /// Actual and predicted numbers over time, if there are any.
    async fn courses(&self, files: &PredictionFiles) -> Courses {
        let [validation, held_out] = [Some(&files.validation), files.held_out.as_ref()]
            .map(|both| both.map(|[predictions, _]| predictions).filter(is_small));
        let question = json!({
            "question": "courses",
            "files": [validation, held_out],
            "folder": absolute(&files.data_dir),
            "split": self.setup.split,
        });
        self.ask(question, Instant::now() + DIAGNOSIS_TIMEOUT).await.unwrap_or_default()
    }

    async fn diagnose_files(
        &self,
        [predictions, probabilities]: &[PathBuf; 2],
        of: &PredictionFiles,
        rows: DiagnosedRows,
    ) -> Option<Diagnostics> {
        let files = [Some(predictions).filter(is_small)?, probabilities];
        let files = files.map(|file| Some(file).filter(is_small));
        let question = json!({
            "question": "diagnose",
            "files": files,
            "of": rows,
            "folder": absolute(&of.data_dir),
            "columns": of.columns,
            "split": self.setup.split,
            "periods": self.setup.periods.as_ref().map(|periods| &periods.folds),
        });
        self.ask(question, Instant::now() + DIAGNOSIS_TIMEOUT).await.ok()
    }
}
