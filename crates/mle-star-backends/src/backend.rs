//! The backend of scripts: what they see, where they run, and what becomes of the files that they write.
//!
//! A script runs in a new folder ([`Executor`]). Three things are kept: the script, its output up to a cap, and the files
//! with predictions that it wrote.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use mle_star::backend::ScriptRunner;
use mle_star::result::FinalPredictions;
use mle_star::stop::Stop;
use mle_star_domain::config::Switch;
use mle_star_domain::diagnostics::Diagnostics;
use mle_star_domain::effects::{
    Agreement, AgreementRequest, CombinationRequest, Comparison, ComparisonRequest, Importance,
    ImportanceRequest, ImportanceRows, Look, LookRequest, Member, Purpose, Refit, RefitRequest,
    ScriptOutcome, ScriptRequest, Selection, SelectionRequest,
};
use mle_star_domain::layout;
use mle_star_domain::place::Place;
use mle_star_domain::slot::Host;
use mle_star_domain::trouble::Trouble;
use mle_star_process::disk;
use mle_star_process::machine::Machine;
use mle_star_process::sandbox::{Isolation, Network};
use mle_star_process::warm::WarmStart;
use tokio::sync::OnceCell;

use crate::runners::fleet::{Fleet, RunOnFleet};
use crate::runners::protocol::{MOST_BYTES, RunSetup};
use crate::script::environment::Environment;
use crate::script::evaluation::{Copied, EvaluationSetup, Evaluator, Predicted};
use crate::script::executor::{Executed, Executor, ExecutorSetup, Job};
use crate::script::grader::Grader;
use crate::script::{in_background, watch};
use finish::Outputs;
use seen::{FoldData, ScriptData};

/// A script with this line keeps its fitted model where it finds an empty folder for it. Others may make the folder themselves, and
/// fail if it exists.
pub const KEEPS_MODEL: &str = "\nif KEEPS_MODEL:";
/// The largest fitted model that is kept, in bytes.
pub const MOST_OF_A_MODEL: u64 = 4 << 30;
/// The largest model of a script of the search, which is one of many, in bytes. A larger one is fitted again if it is needed.
const MOST_OF_A_SEARCH_MODEL: u64 = 32 << 20;

mod combine;
mod finish;
mod seen;

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
    /// What the submission script sees last, if rows are held out.
    whole: Option<Arc<ScriptData>>,
    /// What the comparison of tables sees, if rows are held out.
    compared: Option<Arc<ScriptData>>,
    evaluation: Option<Arc<Evaluator>>,
    /// The folders and files of which scripts see only what they are given.
    closed: Arc<[PathBuf]>,
    /// What scripts see that tell how much they depend on each column, if no rows are held out, once one needs it.
    last_fold: Arc<OnceCell<Arc<FoldData>>>,
    executor: Arc<Executor>,
    /// This run on other machines.
    elsewhere: Option<Arc<RunOnFleet>>,
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
        rows.map(|_| seen::create_predictions(&run_folder)).transpose()?;
        let closed = seen::closed(&run_folder, setup.evaluation.as_ref())?;
        let executor = Executor::new(setup.executor(&run_folder), &closed)?;
        let search = Arc::new(ScriptData::of_search(&setup, &closed, &executor)?);
        let whole =
            rows.map(|rows| ScriptData::of_submission(rows, &closed, &executor)).transpose()?.map(Arc::new);
        let compared = rows.map(|rows| ScriptData::of_comparison(rows, &closed, &executor));
        let compared = compared.transpose()?.map(Arc::new);
        let setup = Arc::new(ScriptSetup { run_folder, data_dir, ..setup });
        let elsewhere = setup.fleet.as_ref().map(|fleet| Arc::new(fleet.register(setup.elsewhere(&closed))));
        let (closed, executor): (Arc<[PathBuf]>, _) = (closed.into(), Arc::new(executor));
        let evaluation = setup.evaluation.clone().map(|evaluation| {
            let folder = setup.run_folder.join(layout::WORK);
            let grader = |file| Grader::new(file, Arc::clone(&executor), Arc::clone(&closed), folder);
            let grader = evaluation.metric_file.clone().map(grader);
            Arc::new(Evaluator::new(evaluation, grader))
        });
        let last_fold = Arc::default();
        Ok(Self { setup, search, whole, compared, evaluation, closed, last_fold, executor, elsewhere })
    }

    /// Begins to start the first slot's worker, so that it may be ready for the first script. The others are started
    /// with their first script.
    pub fn warm_up(&self) {
        self.executor.warm_up();
    }

    /// Waits until the worker of `slot` is ready, or has failed; for measurements.
    pub async fn warmed_up(&self, slot: usize) {
        self.executor.warmed_up(slot).await;
    }

    /// The submission that `script` wrote when it ran at the place with the file stem `stem`; `None` if it wrote none, or
    /// predicted an earlier period instead of the rows of the test table.
    pub fn submission(&self, stem: &str, script: &str) -> Option<PathBuf> {
        Some(self.kept_submission(stem, script)).filter(|file| file.exists())
    }

    /// The name contains the script's digest: if a run is resumed with a larger limit, another script may run at the
    /// same place.
    fn kept_submission(&self, stem: &str, script: &str) -> PathBuf {
        let digest = blake3::hash(script.as_bytes()).to_hex();
        self.setup.run_folder.join(layout::SUBMISSIONS).join(format!("{stem}.{}.csv", &digest[..8]))
    }

    /// The predictions behind a script's score.
    fn kept_validation(&self, stem: &str, script: &str) -> PathBuf {
        let submission = self.kept_submission(stem, script);
        self.setup.run_folder.join(layout::VALIDATION).join(submission.file_name().unwrap_or_default())
    }

    /// The scores of the classes behind the predictions of a script.
    fn kept_class_scores(&self, stem: &str, script: &str) -> [PathBuf; 2] {
        let file = self.kept_validation(stem, script);
        [layout::VALIDATION_CLASS_SCORES, layout::SUBMISSION_CLASS_SCORES]
            .map(|name| file.with_extension(name))
    }

    /// A submission with predictions for held-out rows.
    fn kept_predictions(&self, stem: &str, script: &str) -> PathBuf {
        let submission = self.kept_submission(stem, script);
        let folder = self.setup.run_folder.join(layout::HOLDOUT).join(layout::PREDICTIONS);
        folder.join(submission.file_name().unwrap_or_default())
    }

    /// Where the predictions of these runs are right and where they are wrong; `None` if there are none, or if the program
    /// does not know how to read them.
    ///
    /// # Errors
    /// The work in the background was ended.
    pub async fn diagnose(&self, of: &FinalPredictions) -> Result<Option<Diagnostics>, Trouble> {
        let Some(evaluation) = self.evaluation.clone() else { return Ok(None) };
        let scores = |(run, script): &(Place, String)| self.kept_class_scores(&run.file_stem(), script);
        let held_out = of.held_out.as_ref().map(|known| {
            let (run, script) = (known.0.file_stem(), &known.1);
            let file = match &self.whole {
                Some(_) => self.kept_predictions(&run, script),
                None => self.kept_submission(&run, script),
            };
            let [_, scores] = scores(known);
            [file, scores]
        });
        let [of_validation, _] = scores(&of.validation);
        let (run, script) = &of.validation;
        let validation = [self.kept_validation(&run.file_stem(), script), of_validation];
        let files = Predicted { folder: self.setup.data_dir.clone(), held_out, validation };
        in_background(move || evaluation.diagnose(&files)).await
    }

    /// Writes the script, and removes what an earlier process may have left at its place.
    async fn prepare(&self, request: &ScriptRequest) -> Result<(), Trouble> {
        let (stem, script) = (request.place.file_stem(), request.script.clone());
        let kept = [Self::kept_submission, Self::kept_predictions, Self::kept_validation];
        let stale = kept.map(|kept| kept(self, &stem, &script));
        let stale = stale.into_iter().chain(self.kept_class_scores(&stem, &script));
        let saved = self.setup.run_folder.join(layout::SOLUTIONS).join(format!("{stem}.py"));
        let work = move || {
            stale.for_each(|file| drop(fs::remove_file(file)));
            fs::write(&saved, &script).map_err(|error| Trouble::io("write", &saved, &error))
        };
        in_background(work).await?
    }

    /// The most bytes of the model that this run may keep. Any script of the search may write what is submitted.
    fn most_of_a_model(request: &ScriptRequest) -> Option<u64> {
        match request.purpose {
            Purpose::Submission => Some(MOST_OF_A_MODEL),
            Purpose::Score if request.script.contains(KEEPS_MODEL) => Some(MOST_OF_A_SEARCH_MODEL),
            _ => None,
        }
        .filter(|_| request.slot.host == Host::HERE)
    }

    /// The fitted model that `script` kept when it ran at the place with the file stem `stem`.
    pub fn model(&self, stem: &str, script: &str) -> Option<PathBuf> {
        Some(self.kept_model(stem, script)).filter(|folder| folder.exists())
    }

    /// Where the model is kept that `script` leaves at this place.
    pub fn kept_model(&self, stem: &str, script: &str) -> PathBuf {
        let submission = self.kept_submission(stem, script);
        let name = submission.file_stem().unwrap_or_default();
        self.setup.run_folder.join(layout::WORK).join(layout::MODEL).join(name)
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
            keeps_model: request.script.contains(KEEPS_MODEL) && Self::most_of_a_model(request).is_some(),
            heard: None,
        }
    }

    /// Runs a script on the machine of its slot. The inner error says why its runner was lost.
    async fn execute(
        &self,
        request: &ScriptRequest,
        seen: &ScriptData,
    ) -> Result<Result<(Box<Executed>, Outputs), String>, Trouble> {
        let (job, host) = (self.job(request), request.slot.host);
        let elsewhere = self.elsewhere.as_ref().filter(|_| host != Host::HERE);
        let Some(elsewhere) = elsewhere else {
            let (executed, workplace) = self.executor.execute(&job, Arc::clone(&seen.shown)).await?;
            return Ok(Ok((Box::new(executed), Outputs::Here(workplace))));
        };
        if job.script.len() > MOST_BYTES {
            let message = format!("a script has more than the {} MiB that a runner takes", MOST_BYTES >> 20);
            return Err(Trouble::resumable(message, "run scripts on this machine alone"));
        }
        let source = seen.source().await?;
        let logs = ["stdout", "stderr"].map(|stream| self.executor.log(&job.stem, stream));
        let folder = self.setup.run_folder.join(layout::WORK).join(format!("{}.received", job.stem));
        let outputs = self.outputs(request, seen);
        let ran = elsewhere.run(host, &job, &source, &outputs, (logs, folder)).await;
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

impl ScriptSetup {
    /// Scripts one after another on this machine, isolated, cold, without network, held-out rows or a sample submission.
    pub fn new(run_folder: PathBuf, data_dir: PathBuf, environment: Environment, machine: Machine) -> Self {
        Self {
            run_folder,
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

    fn elsewhere(&self, closed: &[PathBuf]) -> RunSetup {
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
            closed: closed.to_vec(),
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
        let seen = self.seen_by(request).await?;
        self.prepare(request).await?;
        let (executed, outputs) = match self.execute(request, &seen).await? {
            Ok(ran) => ran,
            Err(reason) => return Ok(ScriptOutcome::lost(reason)),
        };
        let Executed { outcome, printed, lacked_room } = *executed;
        let kept = self.finish(request, (outputs, seen), printed).await?;
        if let Some(left) = kept.disk_left.filter(|_| lacked_room) {
            return Err(Stop::Outside(self.disk_is_full(&left)));
        }
        let by_file =
            self.evaluation.as_ref().is_some_and(|evaluation| evaluation.setup.metric_file.is_some());
        // A script may print another metric than that of a file.
        let score = match &kept.verified.measured {
            Some(measured) if by_file => Some(measured.score),
            None if by_file && request.purpose == Purpose::Submission => None,
            _ => outcome.score,
        };
        Ok(ScriptOutcome {
            score,
            submission: kept.submission,
            notes: outcome.notes.into_iter().chain(kept.notes).collect(),
            measured: kept.verified.measured,
            mismatch: kept.verified.mismatch,
            chance: kept.chance,
            fits: kept.fits,
            ..outcome
        })
    }

    async fn look(&self, request: &LookRequest) -> Result<Look, Stop> {
        let stem = request.run.file_stem();
        let submission = match &self.whole {
            Some(_) => self.kept_predictions(&stem, &request.script),
            None => self.kept_submission(&stem, &request.script),
        };
        let (evaluation, part) = (self.evaluation.clone(), request.part);
        let work = move || match evaluation {
            Some(evaluation) => evaluation.look(&submission, part),
            None => Err("the program cannot compute the metric".to_owned()),
        };
        Ok(match in_background(work).await? {
            Ok(measured) => Look { measured: Some(measured), failure: String::new() },
            Err(failure) => Look { measured: None, failure },
        })
    }

    async fn compare_fits(&self, request: &RefitRequest) -> Result<Refit, Stop> {
        let kept = |(run, script): &(Place, String)| self.kept_submission(&run.file_stem(), script);
        let (first, second, evaluation) =
            (kept(&request.first), kept(&request.second), self.evaluation.clone());
        let work = move || match evaluation {
            Some(evaluation) => evaluation.compare_fits(&first, &second),
            None => Err("the form of the predictions is not known".to_owned()),
        };
        let failed = |failure| Refit { failure, ..Refit::default() };
        Ok(in_background(work).await?.unwrap_or_else(failed))
    }

    async fn compare(&self, request: &ComparisonRequest) -> Result<Comparison, Stop> {
        let file = |one: &Member| self.kept_validation(&one.run.file_stem(), &one.script);
        let (one, other, evaluation) = (file(&request.one), file(&request.other), self.evaluation.clone());
        let work = move || match evaluation {
            Some(evaluation) => evaluation.compare(&one, &other),
            None => Err("the program cannot compute the metric".to_owned()),
        };
        Ok(match in_background(work).await? {
            Ok((rows, difference)) => Comparison { rows: rows as u64, difference, failure: String::new() },
            Err(failure) => Comparison { failure, ..Comparison::default() },
        })
    }

    async fn agreement(&self, request: &AgreementRequest) -> Result<Agreement, Stop> {
        let file = |one: &Member| self.kept_validation(&one.run.file_stem(), &one.script);
        let (files, evaluation): (Vec<_>, _) =
            (request.members.iter().map(file).collect(), self.evaluation.clone());
        let work = move || match evaluation {
            Some(evaluation) => evaluation.agreement(&files),
            None => Err("the program cannot compute the metric".to_owned()),
        };
        let failed = |failure| Agreement { failure, ..Agreement::default() };
        Ok(in_background(work).await?.unwrap_or_else(failed))
    }

    async fn select(&self, request: &SelectionRequest) -> Result<Selection, Stop> {
        Ok(self.select_weights(request).await?)
    }

    async fn lacks_copies(&self, on: ImportanceRows) -> Result<Option<String>, Stop> {
        let Some(evaluation) = self.evaluation.clone() else {
            return Ok(Some("the program cannot compute the metric".to_owned()));
        };
        if let Some(why) = evaluation.computes_no_importance() {
            return Ok(Some(why));
        }
        let lacks = |trouble: Trouble| Ok(Some(trouble.message));
        let rows = match self.copied_rows(on).await {
            Ok(rows) => rows,
            Err(trouble) => return lacks(trouble),
        };
        let copies = in_background(move || evaluation.copies(&rows)).await?;
        copies.map_or_else(lacks, |_| Ok(None))
    }

    async fn importance(&self, request: &ImportanceRequest) -> Result<Importance, Stop> {
        let (known, script) = (&request.known.0.file_stem(), &request.known.1);
        let rows = match self.copied_rows(request.on).await {
            Ok(rows) => rows,
            Err(trouble) => return Ok(Importance::unknown(trouble.message)),
        };
        let files = Copied {
            rows,
            predicted: self.kept_submission(&request.run.file_stem(), &request.script),
            known: match &self.whole {
                Some(_) => self.kept_predictions(known, script),
                None => self.kept_submission(known, script),
            },
        };
        let (evaluation, direction) = (self.evaluation.clone(), request.direction);
        let work = move || match evaluation {
            Some(evaluation) => evaluation.importance(&files, direction),
            None => Err("the program cannot compute the metric".to_owned()),
        };
        Ok(in_background(work).await?.unwrap_or_else(Importance::unknown))
    }

    async fn combine(&self, request: &CombinationRequest) -> Result<ScriptOutcome, Stop> {
        Ok(self.combine_predictions(request).await?)
    }
}
