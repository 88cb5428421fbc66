//! Keeps the fitted model of a run in `final/`, if it predicts what the run submitted.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mle_star::result::{FinalResult, KeptModel, ModelKind, ModelRecord, SearchModels};
use mle_star_backends::backend::KEEPS_MODEL;
use mle_star_domain::config::Preset;
use mle_star_domain::layout;
use tokio::sync::watch;

use super::backends::Backends;
use super::{cancelled, dependence};
use crate::data_plane::{PlaneClient, readable};
use crate::error::RunError;
use crate::isolated::IsolatedScripts;
use crate::model::{Member, Members, ModelManifest, check, parts, refit};
use crate::open_run::OpenRun;
use crate::predict::RunTables;
use crate::runs::inputs;

/// A check may take so long, even if no time is left: Python with its libraries has to start.
const MIN_CHECK_TIMEOUT: Duration = Duration::from_secs(60);

/// In less time than this, no script ends.
const WORTHWHILE: Duration = Duration::from_secs(2);

/// Why a script of the offline agents keeps no model.
const NEEDS_DATA: &str =
    "its columns depend on earlier rows or on other tables, which only the data of the run has";

/// Moves a fitted model to `final/` that predicts what was submitted, and says how other rows are predicted. `found` is the script
/// run that may have left a model, or the reason why there is none; `search` are the models of the search; `submission` is the file
/// that the script of the result wrote.
pub async fn keep_model(
    run: &OpenRun,
    backends: &Backends,
    (result, submission): (&FinalResult, Option<&Path>),
    (found, search): (Result<KeptModel, String>, &SearchModels),
    cancel: &watch::Receiver<bool>,
) -> ModelRecord {
    let _ = fs::remove_file(dependence::file(&run.folder));
    if result.submission_path.is_empty() {
        let why = "there is no submission".to_owned();
        return ModelRecord { kind: ModelKind::None, why, ..ModelRecord::default() };
    }
    let kept = async {
        if run.frozen.config.preset == Preset::Paper {
            return Err("the preset `paper` keeps no model".to_owned());
        }
        let submission = submission.ok_or("the submission is gone")?;
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let in_words = |error: RunError| error.trouble.message;
        let mut files = readable(&backends.all_rows).map_err(|error| error.to_string())?;
        files.push(run.folder.clone());
        let plane =
            PlaneClient::open(&run.frozen.config, folder.path(), files, &|_| ()).await.map_err(in_words)?;
        let id = run.frozen.task.roles.id.as_deref();
        let tables = RunTables::open(&plane, &backends.all_rows, id).await.map_err(in_words)?;
        let keeper = ModelKeeper { run, backends, tables, plane, folder: folder.path() };
        let kept = match keeper.keep_submitted(result, submission, found, search).await {
            Ok(kept) => kept,
            Err(why) => keeper.keep_of_search(search, why).await?,
        };
        // The model is kept whatever becomes of this.
        tokio::select! {
            () = dependence::keep(&keeper, result, kept.milliseconds_per_row) => {}
            () = cancelled(cancel) => {}
        }
        Ok(kept)
    };
    kept.await.unwrap_or_else(|why| remove_model(run, why))
}

/// Removes a model that is not used, and says why.
pub fn remove_model(run: &OpenRun, why: impl Into<String>) -> ModelRecord {
    for part in parts(&run.folder.join(layout::FINAL)) {
        let _ = inputs::remove(&part);
    }
    refit(why.into())
}

/// The tools to check and keep a model of a run.
pub struct ModelKeeper<'run> {
    /// The run.
    pub run: &'run OpenRun,
    backends: &'run Backends,
    /// Its tables, with all rows.
    pub tables: RunTables,
    /// The data plane.
    pub plane: PlaneClient,
    /// The folder in which models are tried.
    pub folder: &'run Path,
}

impl ModelKeeper<'_> {
    /// Keeps the model that predicts what was submitted; the error says why there is none.
    async fn keep_submitted(
        &self,
        result: &FinalResult,
        submission: &Path,
        found: Result<KeptModel, String>,
        search: &SearchModels,
    ) -> Result<ModelRecord, String> {
        let found = found?;
        let folder = tempfile::tempdir_in(self.folder).map_err(|error| error.to_string())?;
        let model = match (self.model(&found), &search.combined) {
            (Some(model), _) => model,
            (None, _) if result.not_run.is_none() => self.fitted_again(&found.script, folder.path()).await?,
            (None, Some((by, members))) => self.combined(by, members, folder.path())?,
            (None, None) => return Err("its script had no time to keep one".to_owned()),
        };
        self.keep_if_it_predicts(&model, submission, folder.path()).await
    }

    /// Keeps the model of the best solution of the search that has one, because of `why`.
    async fn keep_of_search(&self, search: &SearchModels, why: String) -> Result<ModelRecord, String> {
        let with_model = |(name, found): &(String, KeptModel)| {
            let written = self.backends.scripts.submission(&found.files())?;
            Some((name.clone(), self.model(found)?, written))
        };
        let Some((name, model, written)) = search.solutions.iter().find_map(with_model) else {
            return Err(why);
        };
        let folder = tempfile::tempdir_in(self.folder).map_err(|error| error.to_string())?;
        match self.keep_if_it_predicts(&model, &written, folder.path()).await {
            Ok(kept) => Ok(ModelRecord { why: format!("of {name}, because {why}"), ..kept }),
            Err(_) => Err(why),
        }
    }

    /// The model of a script that runs once more for it: in the search, nothing is kept.
    async fn fitted_again(&self, script: &str, folder: &Path) -> Result<PathBuf, String> {
        if !script.contains(KEEPS_MODEL) && !script.contains(layout::PREDICT) {
            let of_rules = self.run.rules.is_some();
            return Err(if of_rules { NEEDS_DATA } else { "the script keeps no model" }.to_owned());
        }
        let longest = time_left(self.run);
        if longest < WORTHWHILE {
            return Err("no time was left to fit it once more".to_owned());
        }
        let isolated = self.isolated(folder, &[]).await?;
        let model = isolated.model(script, &self.backends.all_rows, longest).await;
        model.map_err(|error| error.trouble.message)
    }

    /// Scripts that cannot read the `closed` folders.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub async fn isolated(&self, folder: &Path, closed: &[PathBuf]) -> Result<IsolatedScripts, String> {
        let (config, environment) = (&self.run.frozen.config, self.backends.environment.clone());
        let isolated = IsolatedScripts::new(folder, config, closed, environment).await;
        isolated.map_err(|error| error.trouble.message)
    }

    fn model(&self, found: &KeptModel) -> Option<PathBuf> {
        self.backends.scripts.model(&found.files())
    }

    /// The models of solutions that were combined by their predictions, as one.
    fn combined(&self, by: &str, members: &[(KeptModel, f64)], folder: &Path) -> Result<PathBuf, String> {
        let whole = folder.join("combined");
        let mut names = Vec::new();
        for (number, (found, weight)) in members.iter().enumerate() {
            let model = self.model(found).ok_or("not all solutions that are combined kept a fitted model")?;
            let name = format!("member_{}", number + 1);
            inputs::copy(&model, &whole.join(&name)).map_err(|error| error.to_string())?;
            names.push(Member { folder: name, weight: *weight });
        }
        let members = Members { by: by.to_owned(), members: names };
        members.write(&whole).map_err(|error| error.to_string())?;
        Ok(whole)
    }

    /// Moves a model to `final/` and checks it against the submission that it belongs to; the error says why it is not used.
    async fn keep_if_it_predicts(
        &self,
        model: &Path,
        submission: &Path,
        folder: &Path,
    ) -> Result<ModelRecord, String> {
        let (run, tables) = (self.run, &self.tables);
        let record = ModelManifest::of(model, tables, &self.backends.environment)?;
        let last = run.folder.join(layout::FINAL);
        let cannot = |error: std::io::Error| format!("it cannot be written: {error}");
        place(model, &last).and_then(|()| record.write(&last)).map_err(cannot)?;
        let closed = [run.folder.clone(), run.frozen.task.data_dir.clone()];
        let isolated = self.isolated(folder, &closed).await?;
        // A script that never ends is no reason to use up the time.
        let longest = (time_left(run) / 10).max(MIN_CHECK_TIMEOUT);
        let checked = check(&isolated, (&last, submission), (tables, &self.plane), folder, longest).await?;
        ModelManifest::read(&last).map_err(|trouble| trouble.message)?;
        Ok(ModelRecord {
            kind: ModelKind::Fitted,
            why: String::new(),
            rows: Some(checked.rows),
            bytes: Some(record.bytes(&last)),
            milliseconds_per_row: Some(checked.milliseconds_per_row),
        })
    }
}

/// The time that is left of the run's limit.
fn time_left(run: &OpenRun) -> Duration {
    let limit = run.frozen.config.time_limit_seconds as f64;
    Duration::from_secs_f64((limit - run.journal.elapsed()).max(0.0))
}

/// Moves a model to `final/`, across file systems too.
fn place(model: &Path, last: &Path) -> std::io::Result<()> {
    let into = last.join(layout::MODEL);
    let _ = fs::remove_dir_all(&into);
    fs::rename(model, &into).or_else(|_| inputs::copy(model, &into))
}
