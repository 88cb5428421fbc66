//! What a script sees of the data.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use mle_star_domain::effects::{DataView, ScriptRequest};
use mle_star_domain::layout;
use mle_star_domain::trouble::Trouble;
use mle_star_tables::altered::{self, Shuffled};
use mle_star_tables::missing::Words;
use mle_star_tables::walk::{is_run, walk};
use tokio::sync::OnceCell;

use super::{ScriptBackend, ScriptSetup};
use crate::runners::Source;
use crate::script::evaluation::{EvaluationSetup, HoldoutSetup};
use crate::script::executor::{Executor, Shown};
use crate::script::in_background;

/// The data that a script sees.
#[derive(Debug)]
pub(super) struct ScriptData {
    pub(super) shown: Arc<Shown>,
    /// The data in the form that runners fetch, once one needs it.
    source: OnceCell<Arc<Source>>,
    pub(super) sample: Option<PathBuf>,
    /// The data's own folder, if it is made for one script.
    pub(super) made: Option<ChangedData>,
}

/// Data that is made for one script.
#[derive(Debug)]
pub(super) struct ChangedData {
    pub(super) folder: PathBuf,
    /// Its training table, if the target is permuted.
    pub(super) shuffled: Option<Shuffled>,
}

impl Drop for ChangedData {
    fn drop(&mut self) {
        // What is left is removed with the other working folders.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Every run of a probe changes the same rows.
const SEED: u64 = 1;

impl ScriptBackend {
    /// What a script sees of the data.
    pub(super) fn seen(&self, view: DataView) -> Arc<ScriptData> {
        let other = match view {
            DataView::Search
            | DataView::ShuffledTarget
            | DataView::ReplacedTestRows
            | DataView::PermutedColumns => None,
            DataView::Compared => self.compared.as_ref(),
            DataView::Whole => self.whole.as_ref(),
        };
        Arc::clone(other.unwrap_or(&self.search))
    }

    /// What this script sees of the data, which may be made for it.
    pub(super) async fn seen_by(&self, request: &ScriptRequest) -> Result<Arc<ScriptData>, Trouble> {
        let (runner, view, stem) = (self.clone(), request.data, request.place.file_stem());
        match view {
            DataView::Search | DataView::Compared | DataView::Whole => Ok(self.seen(view)),
            DataView::ShuffledTarget | DataView::ReplacedTestRows | DataView::PermutedColumns => {
                in_background(move || runner.changed(view, &stem).map(Arc::new)).await?
            }
        }
    }

    /// The data of the search with a change.
    fn changed(&self, view: DataView, stem: &str) -> Result<ScriptData, Trouble> {
        let setup = &self.setup;
        let folder = setup.run_folder.join(layout::WORK).join(format!("{stem}.data"));
        // An interrupted process may have left it.
        let _ = fs::remove_dir_all(&folder);
        let mut sample = setup.sample_submission.clone();
        let shuffled = match (view, self.evaluation.as_deref()) {
            (DataView::PermutedColumns, Some(evaluation)) => {
                sample = Some(evaluation.copies(&setup.data_dir)?.write(&setup.data_dir, &folder)?);
                None
            }
            (DataView::ShuffledTarget, Some(evaluation)) => {
                let (targets, split) = (evaluation.targets(), evaluation.setup.split.as_ref());
                let words = Words::of(evaluation.setup.columns.words.iter().map(String::as_str));
                let labels = (targets.as_slice(), words);
                Some(altered::shuffle_targets(&setup.data_dir, labels, split, SEED, &folder)?)
            }
            _ => {
                altered::replace_test_rows(&setup.data_dir, setup.id_column.as_deref(), SEED, &folder)?;
                None
            }
        };
        let seen = ScriptData::new(&folder, sample, &self.closed, &self.executor)?;
        Ok(ScriptData { made: Some(ChangedData { folder, shuffled }), ..seen })
    }
}

impl ScriptData {
    /// The data for runners. It is read whole.
    pub(super) async fn source(&self) -> Result<Arc<Source>, Trouble> {
        let read = async || {
            let shown = Arc::clone(&self.shown);
            in_background(move || {
                let cannot = |error| Trouble::io("read", shown.data.folder(), &error);
                Source::new(&shown.data).map(Arc::new).map_err(cannot)
            })
            .await?
        };
        self.source.get_or_try_init(read).await.cloned()
    }

    /// What scripts of the search see.
    pub(super) fn of_search(
        setup: &ScriptSetup,
        closed: &[PathBuf],
        executor: &Executor,
    ) -> Result<Self, Trouble> {
        Self::new(&setup.data_dir, setup.sample_submission.clone(), closed, executor)
    }

    /// What the comparison of training and test table sees.
    pub(super) fn of_comparison(
        rows: &HoldoutSetup,
        closed: &[PathBuf],
        executor: &Executor,
    ) -> Result<Self, Trouble> {
        Self::new(&rows.compared, None, closed, executor)
    }

    /// What the submission script sees.
    pub(super) fn of_submission(
        rows: &HoldoutSetup,
        closed: &[PathBuf],
        executor: &Executor,
    ) -> Result<Self, Trouble> {
        Self::new(&rows.data_dir, Some(rows.sample.clone()), closed, executor)
    }

    fn new(
        data_dir: &Path,
        sample: Option<PathBuf>,
        closed: &[PathBuf],
        executor: &Executor,
    ) -> Result<Self, Trouble> {
        let shown = Arc::new(executor.show(data_dir, closed)?);
        Ok(Self { shown, source: OnceCell::new(), sample, made: None })
    }
}

/// The folders and files of which scripts see only what they are given: those of runs, and those with the labels of held-out
/// rows. Other runs on the same data hold out the same rows.
pub(super) fn closed(
    run_folder: &Path,
    evaluation: Option<&EvaluationSetup>,
) -> Result<Vec<PathBuf>, Trouble> {
    let mut closed = vec![run_folder.to_owned()];
    let Some(setup) = evaluation.filter(|setup| setup.labels().is_some()) else { return Ok(closed) };
    let beside = run_folder.parent().and_then(|folder| fs::read_dir(folder).ok());
    let others = beside.into_iter().flatten().flatten().map(|entry| entry.path());
    closed.extend(others.filter(|folder| is_run(folder)));
    let with_labels = setup.holdout.iter().map(|rows| &rows.data_dir);
    for folder in setup.closed.iter().chain(with_labels) {
        let found = with_runs(folder).map_err(|error| Trouble::io("read", folder, &error))?;
        closed.extend(found);
    }
    Ok(closed)
}

fn with_runs(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let real = folder.canonicalize()?;
    if real.is_file() {
        return Ok(vec![real]);
    }
    let runs: Vec<PathBuf> = walk(&real)?.left_out(&real).filter(|folder| is_run(folder)).collect();
    Ok(runs.into_iter().chain([real]).collect())
}

/// Creates the folder for predictions of held-out rows.
pub(super) fn create_predictions(run_folder: &Path) -> Result<(), Trouble> {
    let folder = run_folder.join(layout::HOLDOUT).join(layout::PREDICTIONS);
    fs::create_dir_all(&folder).map_err(|error| Trouble::io("create", &folder, &error))
}
