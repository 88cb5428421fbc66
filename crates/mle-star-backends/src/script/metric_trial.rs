//! Tries a metric file on labelled rows, before a run begins.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mle_star_domain::task::{Answers, MetricFile};
use mle_star_metrics::labels::paired::KnownRows;
use mle_star_metrics::labels::{Columns, Layout};
use mle_star_process::machine::Machine;
use mle_star_process::sandbox::Isolation;

use super::environment::Environment;
use super::executor::{Executor, ExecutorSetup};
use super::grader::{Graded, Grader, Scored, TextTable, TrialForm};

/// More rows are not needed to see whether it works.
const ROWS: usize = 2_000;

/// What a metric file is tried with.
#[derive(Clone, Debug)]
pub struct MetricTrial {
    /// The file.
    pub file: MetricFile,
    /// The training table.
    pub train: PathBuf,
    /// Its columns.
    pub columns: Columns,
    /// The columns of a submission.
    pub header: Vec<String>,
    /// The column of a submission with the row IDs.
    pub id_column: Option<String>,
    /// Whether the sample submission has numbers where labels of two classes are predicted.
    pub with_probabilities: bool,
    /// The sample submission.
    pub sample: PathBuf,
    /// The interpreter.
    pub environment: Environment,
    /// The machine.
    pub machine: Machine,
    /// How the file is isolated.
    pub isolation: Isolation,
    /// How long it may take for a score.
    pub limit: Duration,
}

/// What a trial has shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// The columns that the file wants of the true values.
    pub answers: Answers,
    /// The score of predictions that are mostly right.
    pub score: f64,
    /// How long a score took, in seconds.
    pub seconds: f64,
    /// The number of rows.
    pub rows: usize,
    /// Whether it gives scores for resampled rows, too.
    pub resamples: bool,
}

/// Calls the file with labelled rows and predictions that are mostly right. It may want the true values in one of several forms.
///
/// # Errors
/// Why it gives no score, in one sentence.
pub async fn try_metric(trial: &MetricTrial) -> Result<Tried, String> {
    let folder = tempfile::tempdir().map_err(|error| format!("cannot make a folder: {error}"))?;
    let table = File::open(&trial.train);
    let table = table.map_err(|error| format!("cannot read {}: {error}", trial.train.display()))?;
    let known = KnownRows::read(table, &trial.columns).map_err(|error| error.to_string())?;
    let paired = known.first(ROWS, trial.header.len());
    let layout = Layout { header: &trial.header, id_column: trial.id_column.as_deref() };
    let graded = Graded { known: &known, columns: &trial.columns, paired: &paired, layout };
    let grader = trial.grader(folder.path())?;
    let (mut first, mut seen) = (None, Vec::new());
    for (form, answers) in trial.forms() {
        let Ok(truth) = graded.answers(answers, &trial.file) else { continue };
        // The same table once more gives nothing new.
        if seen.contains(&(truth.header.clone(), form.clone())) {
            continue;
        }
        seen.push((truth.header.clone(), form.clone()));
        let predictions = graded.trial_predictions(&form);
        match scored(&grader, &truth, &predictions, &graded).await {
            Ok(Scored { score, seconds, replicates }) => {
                let resamples = replicates.iter().any(Option::is_some);
                return Ok(Tried { answers, score, seconds, rows: paired.len(), resamples });
            }
            // Other columns do not make it faster, or repair it before it is called.
            Err(why) if why.contains("takes longer") || why.contains(" imports ") => return Err(why),
            Err(why) => _ = first.get_or_insert(why),
        }
    }
    Err(first.unwrap_or_else(|| format!("{} has no rows to be tried with", trial.file.name)))
}

async fn scored(
    grader: &Grader,
    truth: &TextTable,
    predictions: &TextTable,
    graded: &Graded<'_>,
) -> Result<Scored, String> {
    grader.score(truth, predictions, graded.paired.drawn(), 2).await
}

impl MetricTrial {
    /// The forms to try: with each form of predictions, the likely one first, each form of the true values.
    fn forms(&self) -> Vec<(TrialForm, Answers)> {
        let mut forms = vec![TrialForm::Labels, TrialForm::Probabilities];
        if self.with_probabilities {
            forms.reverse();
        }
        forms.extend(self.first_of_sample().map(TrialForm::Same));
        let all = [Answers::Targets, Answers::Submission, Answers::Named, Answers::All];
        forms.into_iter().flat_map(|form| all.map(|answers| (form.clone(), answers))).collect()
    }

    /// The predictions in the first row of the sample submission.
    fn first_of_sample(&self) -> Option<Vec<String>> {
        let mut table = csv::Reader::from_path(&self.sample).ok()?;
        let header: Vec<String> = table.headers().ok()?.iter().map(|name| name.trim().to_owned()).collect();
        let row = table.records().next()?.ok()?;
        let id = self.id_column.as_deref().map(str::trim);
        let cells = header.iter().zip(row.iter()).filter(|(name, _)| Some(name.as_str()) != id);
        Some(cells.map(|(_, cell)| cell.to_owned()).collect())
    }

    fn grader(&self, folder: &Path) -> Result<Grader, String> {
        let setup = ExecutorSetup {
            folder: folder.to_owned(),
            environment: self.environment.clone(),
            machine: self.machine.clone(),
            slots: 1,
            memory_limit_mib: None,
            isolation: self.isolation.clone(),
            warm_start: None,
        };
        let executor = Executor::new(setup, &[]).map_err(|trouble| trouble.message)?;
        let grader = Grader::new(self.file.clone(), Arc::new(executor), Arc::from([]), folder.to_owned());
        Ok(grader.with_limit(self.limit))
    }
}
