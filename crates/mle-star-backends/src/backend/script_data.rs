//! What a script sees of the data.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use std::{fs, io};

use mle_star_domain::effects::{DataView, ScriptRequest};
use mle_star_domain::layout;
use mle_star_domain::question::ImportanceRows;
use mle_star_domain::trouble::Trouble;
use mle_star_tables::walk::{is_run, walk};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use super::ScriptBackend;
use crate::runners::Source;
use crate::script::evaluation::{CopiedRows, EvaluationSetup, FoldFiles, Shuffle};
use crate::script::executor::{Executor, Input};
use crate::script::in_background;

/// The data that a script sees.
#[derive(Debug)]
pub(super) struct ScriptData {
    pub(super) shown: Arc<Input>,
    /// The data in the form that runners fetch, once one needs it.
    source: OnceCell<Arc<Source>>,
    pub(super) sample: Option<PathBuf>,
    /// The data's folder, if this program made it.
    pub(super) made: Option<MadeData>,
}

/// Data that this program made, removed when dropped.
#[derive(Debug)]
pub(super) struct MadeData {
    pub(super) folder: PathBuf,
    /// The training table with the permuted target, if the view has one.
    pub(super) shuffled: Option<Shuffle>,
}

/// A training table with permuted labels, as the data plane says.
#[derive(Deserialize)]
struct Permuted {
    table: PathBuf,
    blocks: Vec<u32>,
}

/// The data whose last validation fold is held out.
#[derive(Debug)]
pub(super) struct FoldData {
    data: Arc<ScriptData>,
    files: FoldFiles,
}

/// The folder of this data, among the working folders.
const LAST_FOLD: &str = "last-fold";

impl Drop for MadeData {
    fn drop(&mut self) {
        // What is left is removed with the other working folders.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The same seed always, so that a repeated probe changes the same rows.
const SEED: u64 = 1;

impl ScriptBackend {
    /// The data of a view that all scripts share. For a view that is made for one script, and for one that is missing: the data
    /// of the search.
    pub(super) fn script_data(&self, view: DataView) -> Arc<ScriptData> {
        let other = match view {
            DataView::Compared => self.compared.as_ref(),
            DataView::Whole => self.all_rows.as_ref(),
            _ => None,
        };
        Arc::clone(other.unwrap_or(&self.search))
    }

    /// What this script sees of the data, which may be made for it.
    pub(super) async fn data_for(
        &self,
        request: &ScriptRequest,
        ends: Instant,
    ) -> Result<Arc<ScriptData>, Trouble> {
        let (view, stem) = (request.data, request.place.file_stem());
        match view {
            DataView::Search | DataView::Compared | DataView::Whole => Ok(self.script_data(view)),
            DataView::ShuffledTarget | DataView::ReplacedTestRows => {
                self.changed(view, &stem, ends).await.map(Arc::new)
            }
            DataView::LastFold => Ok(Arc::clone(&self.without_last_fold(ends).await?.data)),
            DataView::PermutedColumns | DataView::PermutedLastFold => {
                let on = match view {
                    DataView::PermutedColumns => ImportanceRows::HeldOut,
                    _ => ImportanceRows::LastFold,
                };
                let rows = self.copied_rows(on, ends).await?;
                self.permuted(&rows, &stem, ends).await.map(Arc::new)
            }
        }
    }

    /// The rows of which a script sees copies.
    pub(super) async fn copied_rows(&self, on: ImportanceRows, ends: Instant) -> Result<CopiedRows, Trouble> {
        if on == ImportanceRows::LastFold {
            let FoldFiles { input: folder, labels: ids, sample } =
                self.without_last_fold(ends).await?.files.clone();
            return Ok(CopiedRows { on, folder, ids, sample: Some(sample) });
        }
        let labels = self.evaluation.as_ref().and_then(|evaluation| evaluation.setup.labels());
        let ids = labels.ok_or_else(|| Trouble::new("no rows are held out", ""))?.to_owned();
        let (folder, sample) = (self.setup.data_dir.clone(), self.setup.sample_submission.clone());
        Ok(CopiedRows { on, folder, ids, sample })
    }

    /// The data whose last validation fold is held out, which is made once.
    async fn without_last_fold(&self, ends: Instant) -> Result<Arc<FoldData>, Trouble> {
        let make = async || self.holding_out_last_fold(ends).await.map(Arc::new);
        self.last_fold.get_or_try_init(make).await.cloned()
    }

    async fn holding_out_last_fold(&self, ends: Instant) -> Result<FoldData, Trouble> {
        let last_fold = self.evaluation.as_ref().and_then(|known| known.setup.last_fold.as_ref());
        let last_fold =
            last_fold.ok_or_else(|| Trouble::new("there is no validation fold to hold out", ""))?;
        let made = self.made_folder(LAST_FOLD)?;
        let _: Value = self.plane.ask_for(last_fold.question.clone(), &made.folder, ends).await?;
        let files = FoldFiles::within(&made.folder, last_fold);
        let hidden = self.hidden_for(ImportanceRows::LastFold)?;
        let data = ScriptData::new(&files.input, Some(files.sample.clone()), &hidden, &self.executor)?;
        Ok(FoldData { data: Arc::new(ScriptData { made: Some(made), ..data }), files })
    }

    /// A test table of copies of these rows.
    async fn permuted(&self, rows: &CopiedRows, stem: &str, ends: Instant) -> Result<ScriptData, Trouble> {
        let evaluation = self.evaluation.as_ref().ok_or_else(|| Trouble::new("no rows are held out", ""))?;
        let made = self.made_folder(&format!("{stem}.data"))?;
        let _: Value = self.plane.ask_for(evaluation.copies(rows), &made.folder, ends).await?;
        let hidden = self.hidden_for(rows.on)?;
        let sample = rows.sample.as_ref().and_then(|sample| Some(made.folder.join(sample.file_name()?)));
        let data = ScriptData::new(&made.folder, sample, &hidden, &self.executor)?;
        Ok(ScriptData { made: Some(made), ..data })
    }

    /// What is closed to scripts that predict these rows: for those of the last fold, also the tables of the search, which have
    /// their labels.
    fn hidden_for(&self, on: ImportanceRows) -> Result<Vec<PathBuf>, Trouble> {
        let mut hidden = self.hidden.to_vec();
        if on == ImportanceRows::LastFold {
            let original = self.evaluation.iter().flat_map(|known| &known.setup.closed);
            for folder in original.chain([&self.setup.data_dir]) {
                hidden.extend(with_runs(folder).map_err(|error| Trouble::io("read", folder, &error))?);
            }
        }
        Ok(hidden)
    }

    /// A new folder among the working folders.
    fn made_folder(&self, name: &str) -> Result<MadeData, Trouble> {
        let folder = self.setup.run_folder.join(layout::WORK).join(name);
        // An interrupted process may have left it.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).map_err(|error| Trouble::io("create", &folder, &error))?;
        Ok(MadeData { folder, shuffled: None })
    }

    /// The data of the search with a change.
    async fn changed(&self, view: DataView, stem: &str, ends: Instant) -> Result<ScriptData, Trouble> {
        let setup = &self.setup;
        let mut made = self.made_folder(&format!("{stem}.data"))?;
        let mut question = json!({ "folder": setup.data_dir, "seed": SEED });
        match self.evaluation.as_deref().filter(|_| view == DataView::ShuffledTarget) {
            Some(evaluation) => {
                question["question"] = json!("shuffle_targets");
                question["targets"] = json!(evaluation.targets());
                question["words"] = json!(evaluation.setup.columns.words);
                question["split"] = json!(evaluation.setup.split);
                let Permuted { table, blocks } = self.plane.ask_for(question, &made.folder, ends).await?;
                made.shuffled = Some(Shuffle { table: made.folder.join(table), blocks });
            }
            None => {
                question["question"] = json!("replace_test_rows");
                question["id"] = json!(setup.id_column);
                let _: Value = self.plane.ask_for(question, &made.folder, ends).await?;
            }
        }
        let data =
            ScriptData::new(&made.folder, setup.sample_submission.clone(), &self.hidden, &self.executor)?;
        Ok(ScriptData { made: Some(made), ..data })
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

    /// What scripts see of this folder. Their submissions are compared with the sample.
    pub(super) fn new(
        data_dir: &Path,
        sample: Option<PathBuf>,
        hidden: &[PathBuf],
        executor: &Executor,
    ) -> Result<Self, Trouble> {
        let shown = Arc::new(executor.prepare_input(data_dir, hidden)?);
        Ok(Self { shown, source: OnceCell::new(), sample, made: None })
    }
}

/// The folders and files that are closed to scripts, apart from what a script is given: run folders, and what holds the labels
/// of held-out rows. Other runs on the same data hold out the same rows.
pub(super) fn hidden(
    run_folder: &Path,
    evaluation: Option<&EvaluationSetup>,
) -> Result<Vec<PathBuf>, Trouble> {
    let mut hidden = vec![run_folder.to_owned()];
    let Some(setup) = evaluation.filter(|setup| setup.labels().is_some()) else { return Ok(hidden) };
    let beside = run_folder.parent().and_then(|folder| fs::read_dir(folder).ok());
    let others = beside.into_iter().flatten().flatten().map(|entry| entry.path());
    hidden.extend(others.filter(|folder| is_run(folder)));
    let with_labels = setup.holdout.iter().map(|rows| &rows.data_dir);
    for folder in setup.closed.iter().chain(with_labels) {
        let found = with_runs(folder).map_err(|error| Trouble::io("read", folder, &error))?;
        hidden.extend(found);
    }
    Ok(hidden)
}

/// This folder and the folders of runs in it, or this file.
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
