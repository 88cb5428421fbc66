//! Runs a run's scripts: what they see, where they run, and what becomes of the files that they write.
//!
//! A script runs in a new folder ([`Executor`]). Three things are kept: the script, its output up to a cap, and the files
//! with predictions that it wrote.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use mle_star::backend::ScriptRunner;
use mle_star::result::FinalPredictions;
use mle_star::stop::Stop;
use mle_star_domain::config::Switch;
use mle_star_domain::diagnostics::Diagnostics;
use mle_star_domain::effects::{Purpose, ScriptEnd, ScriptOutcome, ScriptRequest};
use mle_star_domain::layout;
use mle_star_domain::place::Place;
use mle_star_domain::question::{Answer, Copies, FileStem, ImportanceRows, Question};
use mle_star_domain::slot::Host;
use mle_star_domain::trouble::Trouble;
use mle_star_process::disk;
use mle_star_process::machine::Machine;
use mle_star_process::sandbox::{Isolation, Network};
use mle_star_process::warm::WarmStart;
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use crate::runners::fleet::{Fleet, RunOnFleet};
use crate::runners::protocol::{MAX_BYTES, RunSetup};
use crate::script::environment::Environment;
use crate::script::evaluation::{EvaluationSetup, Evaluator, PredictionFiles};
use crate::script::executor::{Execution, Executor, ExecutorSetup, Job};
use crate::script::plane::Plane;
use crate::script::{in_background, watch};
use outputs::Outputs;
use script_data::{FoldData, ScriptData};

/// A script with this line keeps its fitted model where it finds an empty folder for it. Others may make the folder themselves, and
/// fail if it exists.
pub const KEEPS_MODEL: &str = "\nif KEEPS_MODEL:";
/// The largest fitted model that is kept, in bytes.
pub const MAX_MODEL_BYTES: u64 = 4 << 30;
/// The largest model of a script of the search, which is one of many, in bytes. A larger one is fitted again if it is needed.
const MAX_SEARCH_MODEL_BYTES: u64 = 32 << 20;

mod combine;
mod finish;
mod outputs;
mod script_data;
mod variants;

/// The settings of a [`ScriptBackend`].
#[derive(Clone, Debug)]
pub struct ScriptSetup {
    /// The run's folder, which receives scripts, output, submissions and, while scripts run, their folders.
    pub run_folder: PathBuf,
    /// The data, which scripts see as `./input`.
    pub data_dir: PathBuf,
    /// The interpreter.
    pub environment: Environment,
    /// The machine that the slots share.
    pub machine: Machine,
    /// How many scripts run at once.
    pub slots: usize,
    /// The sample that submissions are compared with.
    pub sample_submission: Option<PathBuf>,
    /// The column with row IDs; `None`: the sample's first column.
    pub id_column: Option<String>,
    /// Memory limit of one script with everything it starts, in MiB; `None`: 90 % of the machine.
    pub memory_limit_mib: Option<u64>,
    /// How scripts are isolated.
    pub isolation: Isolation,
    /// How scripts are started warm; `None`: all start cold.
    pub warm_start: Option<WarmStart>,
    /// What the data plane may read beside the run's folder: the data with all rows.
    pub readable: Vec<PathBuf>,
    /// How the program computes scores itself; `None`: it does not.
    pub evaluation: Option<EvaluationSetup>,
    /// Runners on other machines; `None`: all scripts run on this one.
    pub fleet: Option<Fleet>,
}

/// Runs the scripts of a run.
#[derive(Clone, Debug)]
pub struct ScriptBackend {
    setup: Arc<ScriptSetup>,
    /// What scripts of the search see.
    search: Arc<ScriptData>,
    /// The data with the held-out rows, on which the submission script runs last; `None` if none are held out.
    all_rows: Option<Arc<ScriptData>>,
    /// What the comparison of tables sees, if rows are held out.
    compared: Option<Arc<ScriptData>>,
    plane: Arc<Plane>,
    evaluation: Option<Arc<Evaluator>>,
    /// Folders and files that scripts cannot read, apart from what they are given of them.
    hidden: Arc<[PathBuf]>,
    /// The data without the last fold, on which the importance of columns is measured if no rows are held out; made once needed.
    last_fold: Arc<OnceCell<Arc<FoldData>>>,
    executor: Arc<Executor>,
    /// This run on other machines.
    remote: Option<Arc<RunOnFleet>>,
}

impl ScriptBackend {
    /// The backend of one run. Records size and time of every data file, to notice changes later.
    ///
    /// # Errors
    /// The data folder cannot be read, or the run's folder cannot be created.
    pub fn new(setup: ScriptSetup) -> Result<Self, Trouble> {
        for name in [layout::SOLUTIONS, layout::SUBMISSIONS, layout::VALIDATION] {
            let folder = setup.run_folder.join(name);
            fs::create_dir_all(&folder).map_err(|error| Trouble::io("create", &folder, &error))?;
        }
        let absolute = |path: &Path| path.canonicalize().map_err(|error| Trouble::io("read", path, &error));
        let (run_folder, data_dir) = (absolute(&setup.run_folder)?, absolute(&setup.data_dir)?);
        let rows = setup.evaluation.as_ref().and_then(|evaluation| evaluation.holdout.as_ref());
        rows.map(|_| script_data::create_predictions(&run_folder)).transpose()?;
        let hidden = script_data::hidden(&run_folder, setup.evaluation.as_ref())?;
        let executor = Executor::new(setup.executor(&run_folder), &hidden)?;
        let data = |folder: &Path, sample: Option<&PathBuf>| {
            ScriptData::new(folder, sample.cloned(), &hidden, &executor).map(Arc::new)
        };
        let search = data(&setup.data_dir, setup.sample_submission.as_ref())?;
        let all_rows = rows.map(|rows| data(&rows.data_dir, Some(&rows.sample))).transpose()?;
        let compared = rows.map(|rows| data(&rows.compared, None)).transpose()?;
        let setup = Arc::new(ScriptSetup { run_folder, data_dir, ..setup });
        let remote = setup.fleet.as_ref().map(|fleet| Arc::new(fleet.register(setup.remote(&hidden))));
        let (hidden, executor): (Arc<[PathBuf]>, _) = (hidden.into(), Arc::new(executor));
        let (run_folder, known) = (&setup.run_folder, setup.evaluation.as_ref());
        let files = known.into_iter().flat_map(EvaluationSetup::files).chain(samples(&setup));
        let files = files.chain(setup.readable.iter().cloned());
        let plane = Plane::new(Arc::clone(&executor), setup.environment.clone(), run_folder, files)?;
        let plane = Arc::new(plane);
        let evaluator = |known| Evaluator::new(known, Arc::clone(&plane), run_folder, all_rows.is_some());
        let evaluation = setup.evaluation.clone().map(evaluator).transpose()?.map(Arc::new);
        let last_fold = Arc::default();
        Ok(Self { setup, search, all_rows, compared, plane, evaluation, hidden, last_fold, executor, remote })
    }

    /// Begins to start the first slot's worker, so that it may be ready for the first script. The others are started
    /// with their first script.
    pub fn warm_up(&self) {
        self.executor.warm_up();
        let plane = Arc::clone(&self.plane);
        tokio::spawn(async move { plane.warm_up().await });
    }

    /// Waits until the worker of `slot` is ready, or has failed; for measurements.
    pub async fn warmed_up(&self, slot: usize) {
        self.executor.warmed_up(slot).await;
    }

    /// The submission that a run wrote; `None` if it wrote none, or predicted an earlier period instead of the rows of the test
    /// table.
    pub fn submission(&self, run: &FileStem) -> Option<PathBuf> {
        Some(self.kept_submission(run)).filter(|file| file.exists())
    }

    fn kept_submission(&self, run: &FileStem) -> PathBuf {
        self.kept(Path::new(layout::SUBMISSIONS), run)
    }

    /// The predictions behind a script's score.
    fn kept_validation(&self, run: &FileStem) -> PathBuf {
        self.kept(Path::new(layout::VALIDATION), run)
    }

    /// A submission with predictions for held-out rows.
    fn kept_predictions(&self, run: &FileStem) -> PathBuf {
        self.kept(&Path::new(layout::HOLDOUT).join(layout::PREDICTIONS), run)
    }

    fn kept(&self, folder: &Path, run: &FileStem) -> PathBuf {
        self.setup.run_folder.join(folder).join(format!("{}.csv", run.name()))
    }

    /// The file with the predictions for the rows whose labels are known to the program alone.
    fn kept_held_out(&self, run: &FileStem) -> PathBuf {
        if self.all_rows.is_some() { self.kept_predictions(run) } else { self.kept_submission(run) }
    }

    /// The scores of the classes behind the predictions of a script.
    fn kept_class_scores(&self, run: &FileStem) -> [PathBuf; 2] {
        let file = self.kept_validation(run);
        [layout::VALIDATION_CLASS_SCORES, layout::SUBMISSION_CLASS_SCORES]
            .map(|name| file.with_extension(name))
    }

    /// Where the predictions of these runs are right and where they are wrong; `None` if there are none, or if the program
    /// does not know how to read them. The worst rows are shown with these columns, before others.
    pub async fn diagnose(&self, of: &FinalPredictions, columns: Vec<String>) -> Option<Diagnostics> {
        let evaluation = self.evaluation.as_ref()?;
        let held_out = of.held_out.as_ref().map(|run| {
            let [_, scores] = self.kept_class_scores(run);
            [self.kept_held_out(run), scores]
        });
        let [scores, _] = self.kept_class_scores(&of.validation);
        let validation = [self.kept_validation(&of.validation), scores];
        let files = PredictionFiles { data_dir: self.setup.data_dir.clone(), held_out, validation, columns };
        evaluation.diagnose(&files).await
    }

    /// The copies of labelled rows in which one column is permuted, or why there are none.
    async fn copies(
        &self,
        evaluation: &Arc<Evaluator>,
        on: ImportanceRows,
        ends: Instant,
    ) -> Result<Value, String> {
        if let Some(why) = evaluation.computes_no_importance() {
            return Err(why);
        }
        let rows = self.copied_rows(on, ends).await.map_err(|trouble| trouble.message)?;
        if evaluation.setup.id_column.is_none() {
            return Err("rows have no ID".to_owned());
        }
        self.plane.ask(evaluation.copies(&rows), ends).await.map_err(|why| Trouble::from(why).message)
    }

    /// Writes the script, and removes what an earlier process may have left at its place.
    async fn prepare(&self, request: &ScriptRequest) -> Result<(), Trouble> {
        let run = FileStem::new(&request.place, &request.script);
        let kept = [Self::kept_submission, Self::kept_predictions, Self::kept_validation];
        let stale = kept.map(|kept| kept(self, &run)).into_iter().chain(self.kept_class_scores(&run));
        let (saved, script) = (self.saved(&request.place), request.script.clone());
        let work = move || {
            stale.for_each(|file| drop(fs::remove_file(file)));
            fs::write(&saved, &script).map_err(|error| Trouble::io("write", &saved, &error))
        };
        in_background(work).await?
    }

    /// Where the script of a place is saved.
    fn saved(&self, place: &Place) -> PathBuf {
        self.setup.run_folder.join(layout::SOLUTIONS).join(format!("{}.py", place.file_stem()))
    }

    /// The most bytes of the model that this run may keep. Any script of the search may write what is submitted.
    fn max_model_bytes(request: &ScriptRequest) -> Option<u64> {
        match request.purpose {
            Purpose::Submission => Some(MAX_MODEL_BYTES),
            Purpose::Score if request.script.contains(KEEPS_MODEL) => Some(MAX_SEARCH_MODEL_BYTES),
            _ => None,
        }
        .filter(|_| request.slot.host == Host::HERE)
    }

    /// The fitted model that a run kept.
    pub fn model(&self, run: &FileStem) -> Option<PathBuf> {
        Some(self.kept_model(run)).filter(|folder| folder.exists())
    }

    /// Where the model is kept that a run leaves.
    pub fn kept_model(&self, run: &FileStem) -> PathBuf {
        self.setup.run_folder.join(layout::WORK).join(layout::MODEL).join(run.name())
    }

    fn job(&self, request: &ScriptRequest) -> Job {
        let watched = self.evaluation.as_ref().filter(|_| watch::is_watched(request));
        Job {
            stem: request.place.file_stem(),
            script: request.script.clone(),
            timeout: request.timeout,
            slot: request.slot.index,
            // The user gets the submission script, and it has to run once as it will run there. A script whose fits are
            // watched imports libraries while they are watched.
            may_be_warm: request.purpose != Purpose::Submission && watched.is_none(),
            modules: watched.map_or_else(Vec::new, |evaluation| watch::modules(&evaluation.setup)),
            keeps_model: request.script.contains(KEEPS_MODEL) && Self::max_model_bytes(request).is_some(),
            heard: None,
        }
    }

    /// Runs a script on the machine of its slot. The inner error says why its runner was lost.
    async fn execute(
        &self,
        request: &ScriptRequest,
        data: &ScriptData,
    ) -> Result<Result<(Box<Execution>, Outputs), String>, Trouble> {
        let (job, host) = (self.job(request), request.slot.host);
        let remote = self.remote.as_ref().filter(|_| host != Host::HERE);
        let Some(remote) = remote else {
            let (executed, workplace) = self.executor.execute(&job, Arc::clone(&data.shown)).await?;
            return Ok(Ok((Box::new(executed), Outputs::Here(workplace))));
        };
        if job.script.len() > MAX_BYTES {
            let message = format!("a script has more than the {} MiB that a runner takes", MAX_BYTES >> 20);
            return Err(Trouble::resumable(message, "run scripts on this machine alone"));
        }
        let source = data.source().await?;
        let logs = ["stdout", "stderr"].map(|stream| self.executor.log(&job.stem, stream));
        let folder = self.setup.run_folder.join(layout::WORK).join(format!("{}.received", job.stem));
        let outputs = self.outputs(request, data);
        let ran = remote.run(host, &job, &source, &outputs, (logs, folder)).await;
        if let Some(left) = disk::left_if_full(&self.setup.run_folder).filter(|_| ran.is_err()) {
            // Its files could not be received.
            return Err(self.disk_is_full(&left));
        }
        if let Some(why) = source.unreadable().filter(|_| ran.is_err()) {
            return Err(Trouble::resumable(why, "make the file of the data readable again"));
        }
        Ok(ran.map(|(executed, received)| (executed, Outputs::There(received))))
    }

    fn disk_is_full(&self, left: &str) -> Trouble {
        let folder = self.setup.run_folder.display();
        Trouble::resumable(
            format!("the disk of {folder} is full: a script could not write its files, {left} left"),
            "free disk space",
        )
    }
}

/// The samples that submissions are compared with.
fn samples(setup: &ScriptSetup) -> impl Iterator<Item = PathBuf> {
    let holdout = setup.evaluation.as_ref().and_then(|evaluation| evaluation.holdout.as_ref());
    let samples = [setup.sample_submission.as_ref(), holdout.map(|rows| &rows.sample)];
    samples.map(Option::<&PathBuf>::cloned).into_iter().flatten()
}

impl ScriptSetup {
    /// Scripts one after another on this machine, isolated, cold, without network, held-out rows or a sample submission.
    pub fn new(run_folder: PathBuf, data_dir: PathBuf, environment: Environment, machine: Machine) -> Self {
        Self {
            run_folder,
            readable: vec![data_dir.clone()],
            data_dir,
            environment,
            machine,
            slots: 1,
            sample_submission: None,
            id_column: None,
            memory_limit_mib: None,
            isolation: Isolation::new(Network::Denied),
            warm_start: None,
            evaluation: None,
            fleet: None,
        }
    }

    fn remote(&self, hidden: &[PathBuf]) -> RunSetup {
        RunSetup {
            // The fleet has its own numbers.
            run: 0,
            environment: self.environment.clone(),
            any_python: false,
            slots: 1,
            memory_limit_mib: self.memory_limit_mib,
            network: match self.isolation.network {
                Network::Allowed => Switch::On,
                Network::Denied => Switch::Off,
            },
            warm_start: self.warm_start.is_some(),
            closed: hidden.to_vec(),
        }
    }

    fn executor(&self, folder: &Path) -> ExecutorSetup {
        ExecutorSetup {
            folder: folder.to_owned(),
            environment: self.environment.clone(),
            machine: self.machine.clone(),
            slots: self.slots,
            memory_limit_mib: self.memory_limit_mib,
            isolation: self.isolation.clone(),
            warm_start: self.warm_start.clone(),
        }
    }
}

#[async_trait]
impl ScriptRunner for ScriptBackend {
    async fn run(&self, request: &ScriptRequest) -> Result<ScriptOutcome, Stop> {
        let ends = Instant::now() + request.time_left;
        let data = self.data_for(request, ends).await?;
        self.prepare(request).await?;
        let (executed, outputs) = match self.execute(request, &data).await? {
            Ok(ran) => ran,
            Err(reason) => return Ok(ScriptOutcome::lost(reason)),
        };
        let (has_sample, submits) = (data.sample.is_some(), request.purpose == Purpose::Submission);
        let Execution { outcome, printed, lacked_room } = *executed;
        let kept = self.finish(request, (outputs, data), printed, ends).await?;
        if let Some(left) = kept.disk_left.filter(|_| lacked_room) {
            return Err(Stop::Outside(self.disk_is_full(&left)));
        }
        let by_file =
            self.evaluation.as_ref().is_some_and(|evaluation| evaluation.setup.metric_file.is_some());
        // A script may print another metric than that of a file.
        let score = match &kept.verified.measured {
            Some(measured) if by_file => Some(measured.score),
            None if by_file && submits => None,
            _ => outcome.score,
        };
        let is_valid = kept.submission.as_ref().is_some_and(|submission| submission.findings.is_empty());
        let trusts = self.evaluation.as_ref().is_none_or(|evaluation| !evaluation.setup.recomputes);
        let is_scored = kept.verified.measured.is_some() || request.purpose == Purpose::Score && trusts;
        // Without a sample, nobody knows how many rows a submission has.
        let is_whole = has_sample && is_valid && (submits || is_scored);
        let is_late = outcome.end == ScriptEnd::Answered && !is_whole;
        Ok(ScriptOutcome {
            end: if is_late { ScriptEnd::TimedOut } else { outcome.end },
            score,
            submission: kept.submission,
            notes: outcome.notes.into_iter().chain(kept.notes).collect(),
            measured: kept.verified.measured,
            mismatch: kept.verified.mismatch,
            chance: kept.chance,
            fits: kept.fits,
            variants: kept.variants,
            ..outcome
        })
    }

    async fn answer(&self, place: &Place, question: &Question, time_left: Duration) -> Result<Answer, Stop> {
        let ends = Instant::now() + time_left;
        let Some(evaluation) = self.evaluation.clone() else {
            return Ok(question.unanswered("the program cannot compute the metric"));
        };
        let mut asked = json!(question);
        match question {
            Question::Combine { runs, by, to, script, measured } => {
                let outcome = self.combined(place, (script, to), runs, *by, ends).await?;
                return Ok(Box::new(ScriptOutcome { measured: Some(measured.clone()), ..outcome }).into());
            }
            Question::Copies { on } | Question::Importance { on, .. } => {
                match self.copies(&evaluation, *on, ends).await {
                    Err(why) => return Ok(question.unanswered(why)),
                    Ok(_) if matches!(question, Question::Copies { .. }) => {
                        return Ok(Copies::default().into());
                    }
                    Ok(copies) => asked["copies"] = copies,
                }
            }
            _ => {}
        }
        match evaluation.ask(asked, ends).await {
            Ok(answer) => Ok(answer),
            Err(unanswered) => Ok(question.unanswered(unanswered.reason()?)),
        }
    }
}
