//! Infers the fields of a task that nobody gave: target, metric, kinds and the description.

use std::fs;
use std::path::{Path, PathBuf};

use mle_star_backends::file_agents;
use mle_star_domain::config::{AgentsChoice, Config};
use mle_star_domain::metric::Direction;
use mle_star_domain::protocol::{Protocol, Split};
use mle_star_domain::task::{DataModality, MetricFile, Roles, Task, TaskType};
use mle_star_domain::trouble::Trouble;
use mle_star_tables::metrics::Metric;
use mle_star_tables::profile::Profile;
use mle_star_tables::relations::Relations;
use mle_star_tables::task_inference::{InferredTask, InferredValue, TaskHints};
use serde::Deserialize as _;
use serde_json::{Value, json};

use super::intake::{
    Intake, Location, Reader, classes_of_one_row, lost_classes, lost_columns, no_target, take_in,
};
use super::metric_file::OwnMetric;
use super::profile_data::{Data, for_offline};
use super::task_file::TaskFile;
use super::task_source::TaskSource;
use crate::error::RunError;
use crate::protocol;
use crate::runs::absolute;

/// What task file, options and description say of a task.
///
/// # Errors
/// The description cannot be read.
fn task_hints(
    source: &TaskSource,
    own: Option<&OwnMetric>,
    may_lack_tables: bool,
) -> Result<TaskHints, Trouble> {
    let TaskFile { task_type, data_modality, keys, .. } = source.file.clone();
    Ok(TaskHints {
        task_type,
        data_modality,
        metric: keys.metric.filter(|_| own.is_none()),
        metric_file: own.map(|own| named(&own.file)),
        direction: own.map(|own| own.direction).or(keys.direction),
        roles: keys.roles,
        folds: keys.folds,
        description: read_description(source)?.0,
        may_lack_tables,
        ..TaskHints::default()
    })
}

/// The metric of a file. Its own name may be that of another metric.
fn named(file: &MetricFile) -> String {
    format!("the metric of {}", file.name)
}

/// A task with every field filled in, and its data.
#[derive(Debug)]
pub struct InferredFolder {
    /// The data.
    pub data: Data,
    /// The inferred fields, with reasons and open questions.
    pub inferred: InferredTask,
    /// The description that was found; empty without any.
    pub description: String,
    /// The data as scripts see it.
    pub intake: Intake,
    /// The task.
    pub task: Task,
}

impl InferredFolder {
    fn new(
        source: &TaskSource,
        own: Option<&OwnMetric>,
        (data, mut inferred): (Data, InferredTask),
        description: String,
        intake: Intake,
    ) -> Result<Self, Trouble> {
        if let Some(own) = own {
            inferred.metric.clone_from(&own.name);
        }
        let mut task = task(source, inferred.clone(), (&data, description.clone()))?;
        task.metric_file = own.map(|own| own.file.clone());
        task.data_dir = absolute(&intake.folder())?;
        Ok(Self { data, inferred, description, intake, task })
    }

    /// How a run would evaluate solutions; `None` for the paper's way.
    ///
    /// # Errors
    /// The user's folds do not fit the labelled rows, or another setting contradicts them; there is no answer.
    pub fn protocol(&self, config: &Config) -> Result<Option<Protocol>, RunError> {
        protocol::decide(&self.task, config, &self.data, &self.intake)
    }

    /// Checks that the rows of the sample submission are in the test table, as the offline agents need it.
    ///
    /// # Errors
    /// The rows are not there.
    pub fn check_rows(&self) -> Result<(), RunError> {
        if self.data.profile.is_none() {
            return Ok(());
        }
        if let Some(trouble) = self.intake.id_unknown() {
            return Err(trouble.into());
        }
        let (folder, facts) = (&self.task.data_dir, &self.data.facts);
        let question = json!({ "question": "same_rows", "folder": folder, "facts": facts });
        self.intake.plane.ask::<Value>(question).map(drop)
    }

    /// Finds out how columns and tables relate, where test rows differ like this. The facts keep it.
    ///
    /// # Errors
    /// The data cannot be read.
    pub fn relate(&mut self, split: Option<&Split>) -> Result<(), RunError> {
        let Data { facts, profile: Some(profile), .. } = &mut self.data else { return Ok(()) };
        facts["split"] = json!(split);
        let question = json!({ "question": "relations", "folder": self.task.data_dir, "facts": facts });
        facts["relations"] = self.intake.plane.ask(question)?;
        let unreadable = |error| Trouble::new(format!("cannot read how tables relate: {error}"), "report it");
        profile.relations = Relations::deserialize(&facts["relations"]).map_err(unreadable)?;
        Ok(())
    }

    /// What was found, changed and left out in its data, a line each.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = self.intake.lines();
        if let Some((profile, target)) = self.data.profile.as_ref().zip(self.task.target()) {
            let targets = profile.targets(target, self.task.roles.id.as_deref());
            lines.extend(lost_columns(profile, &targets));
            lines.extend(lost_classes(profile));
            lines.extend(targets.iter().filter_map(|target| classes_of_one_row(profile, target)));
        }
        lines
    }
}

/// Infers the task of a run.
///
/// # Errors
/// A question that only the user can answer, or a task that the chosen agents cannot solve.
pub fn infer_for_run(
    source: &TaskSource,
    own: Option<&OwnMetric>,
    place: Location<'_>,
    reader: Reader<'_>,
    is_offline: bool,
) -> Result<InferredFolder, RunError> {
    let given = task_hints(source, own, !is_offline)?;
    let mut intake = take_in(source, place, reader)?;
    let data = Data::inspect(&intake, &given);
    let data = if is_offline { data.map_err(for_offline)? } else { data? };
    let mut inferred = InferredTask::parse(&data.facts)?;
    if let (true, Some(profile)) = (is_offline, &data.profile) {
        check_for_offline(profile, &inferred, own.is_some())?;
    }
    let data = whole_tables(data, &given, &mut inferred, &mut intake, reader)?;
    let mut folder = InferredFolder::new(source, own, (data, inferred), given.description, intake)?;
    let (mut text, mut guess) = read_description(source)?;
    if text.trim().is_empty() {
        let found = guess.map(|found| format!("{} is blank", found.value));
        let reason = found.unwrap_or_else(|| "there is no description".to_owned());
        text = one_sentence(&folder.inferred);
        guess = Some(InferredValue { field: "description".to_owned(), value: text.clone(), reason });
    }
    folder.inferred.guesses.extend(guess);
    // The description in the `task.json` of a run has it already.
    if let Some(own) = own.map(OwnMetric::described).filter(|own| !text.contains(own)) {
        text = format!("{}\n\n{own}\n", text.trim_end());
    }
    folder.task.description = text;
    Ok(folder)
}

/// Infers a task from a data folder or a table as `run` does, for `init`. Where questions are open, nothing is made.
///
/// # Errors
/// The data cannot be read, or what is given does not fit it.
pub fn infer_folder(
    source: &TaskSource,
    own: Option<&OwnMetric>,
    reader: Reader<'_>,
) -> Result<InferredFolder, RunError> {
    let given = task_hints(source, own, true)?;
    let mut intake = take_in(source, Location::Temporary, reader)?;
    let mut data = Data::inspect(&intake, &given)?;
    if let Some(unread) = data.unread.clone().filter(|_| data.is_bare()) {
        return Err(unread.into());
    }
    let mut inferred = InferredTask::parse_with_open_questions(&data.facts)?;
    if inferred.questions.is_empty() {
        data = whole_tables(data, &given, &mut inferred, &mut intake, reader)?;
    }
    Ok(InferredFolder::new(source, own, (data, inferred), given.description, intake)?)
}

/// The data with the tables that the task lacks, which are made.
fn whole_tables(
    data: Data,
    given: &TaskHints,
    inferred: &mut InferredTask,
    intake: &mut Intake,
    reader: Reader<'_>,
) -> Result<Data, RunError> {
    let Some(profile) = &data.profile else { return Ok(data) };
    let known = TaskHints {
        task_type: Some(inferred.task_type),
        data_modality: Some(inferred.data_modality),
        metric: given.metric_file.is_none().then(|| inferred.metric.clone()),
        direction: Some(inferred.direction),
        roles: inferred.roles.clone(),
        text_columns: Some(profile.text_columns.clone()),
        ..given.clone()
    };
    let unknown = inferred.target_unknown.clone().unwrap_or_else(no_target);
    let Some(id) = intake.complete(&data, &known, &unknown, reader.config.seed)? else { return Ok(data) };
    inferred.guesses.extend(made_id(inferred.roles.id.as_ref(), id.as_ref()));
    inferred.roles.id.clone_from(&id);
    Data::inspect(intake, &TaskHints { roles: Roles { id, ..known.roles }, ..known })
}

/// The guess that tells of an ID column which was made, if there was none before.
fn made_id(before: Option<&String>, id: Option<&String>) -> Option<InferredValue> {
    let value = id.filter(|id| before != Some(id))?.clone();
    Some(InferredValue { field: "id_column".into(), value, reason: "made: it numbers the rows".into() })
}

/// Infers a task as `run` does, also from data for which nothing names a metric.
///
/// # Errors
/// The data cannot be read, or a given column is in no table.
pub fn infer_without_metric(source: &TaskSource, reader: Reader<'_>) -> Result<InferredFolder, RunError> {
    let given = task_hints(source, None, false)?;
    let intake = take_in(source, Location::Temporary, reader)?;
    let any = (Some("any".to_owned()), Some(Direction::Maximize));
    let mut data = Data::inspect(&intake, &given)?;
    let mut inferred = InferredTask::parse(&data.facts);
    if inferred.is_err() {
        data = Data::inspect(&intake, &TaskHints { metric: any.0, direction: any.1, ..given.clone() })?;
        inferred = InferredTask::parse(&data.facts);
    }
    Ok(InferredFolder::new(source, None, (data, inferred?), given.description, intake)?)
}

/// Checks that the run writes outside its data; `makes_output` also creates the folders for its output and its calls, so
/// that an unwritable folder is reported now and not hours later.
///
/// # Errors
/// A path inside the data folder, or an output folder that cannot be made.
pub fn check_outputs(
    data_dir: &Path,
    output_dir: Option<&Path>,
    config: &Config,
    makes_output: bool,
) -> Result<(), Trouble> {
    if let (true, Some(folder)) = (makes_output, output_dir) {
        fs::create_dir_all(folder).map_err(|error| {
            let message = format!("cannot create the output folder {}: {error}", folder.display());
            Trouble::new(message, "set another output_dir, or leave it out")
        })?;
    }
    let calls = config.agents_dir.as_deref().filter(|_| config.agents == AgentsChoice::Files);
    outside_the_data("agents_dir", calls, data_dir)?;
    if let (true, Some(folder)) = (makes_output, calls) {
        file_agents::check_folder(folder)?;
    }
    outside_the_data("log_file", config.log_file.as_deref(), data_dir)
}

/// The description of the task file, else `description.md` beside the data or the task, and where it was found; empty without
/// any.
fn read_description(source: &TaskSource) -> Result<(String, Option<InferredValue>), Trouble> {
    if let Some(text) = &source.file.description {
        return Ok((text.clone(), None));
    }
    let beside = source.path.as_ref().and_then(|path| path.parent());
    // MLE-bench keeps the description two folders above the tables in some versions.
    let above = source.data_dir.parent().and_then(Path::parent);
    let above = above.filter(|_| source.data_dir.ends_with("prepared/public"));
    let folders = [Some(source.data_dir.as_path()), beside, above].into_iter().flatten();
    let Some(path) = folders.map(|folder| folder.join("description.md")).find(|path| path.is_file()) else {
        return Ok((String::new(), None));
    };
    let text = fs::read_to_string(&path).map_err(|error| {
        Trouble::new(format!("cannot read {}: {error}", path.display()), "save it as UTF-8 text")
    })?;
    let reason = "found beside the data".to_owned();
    let guess = InferredValue { field: "description".to_owned(), value: path.display().to_string(), reason };
    Ok((text, Some(guess)))
}

/// A description made from the other fields of a task.
fn one_sentence(inferred: &InferredTask) -> String {
    let targets: Vec<String> = inferred.targets().iter().map(|name| format!("`{name}`")).collect();
    let target = if targets.is_empty() { "the target".to_owned() } else { targets.join(", ") };
    let better = match inferred.direction {
        Direction::Maximize => "larger",
        Direction::Minimize => "smaller",
    };
    format!(
        "Predict {target} for every row of the test data. Submissions are evaluated by {} ({better} is better).",
        inferred.metric
    )
}

/// The task without a metric file.
fn task(
    source: &TaskSource,
    inferred: InferredTask,
    (data, description): (&Data, String),
) -> Result<Task, Trouble> {
    let (file, profile) = (source.file.clone(), data.profile.as_ref());
    let is_column = |from: &String| profile.is_some_and(|profile| profile.train.column(from).is_some());
    let whole = |from: String| -> Result<String, Trouble> {
        Ok(if is_column(&from) { from } else { absolute(Path::new(&from))?.display().to_string() })
    };
    let data_dir = source.data_dir.canonicalize().map_or_else(|_| absolute(&source.data_dir), Ok)?;
    outside_the_data("output_dir", file.output_dir.as_deref(), &data_dir)?;
    // The journal keeps paths as text.
    if let Some(path) = file.output_dir.iter().chain([&data_dir]).find(|path| path.to_str().is_none()) {
        let message = format!("path is not valid UTF-8: {}", path.display());
        return Err(Trouble::new(message, "rename the folder, or use a symbolic link to it"));
    }
    Ok(Task {
        competition_id: file.competition_id.unwrap_or_else(|| source.name.clone()),
        task_type: inferred.task_type,
        data_modality: inferred.data_modality,
        evaluation_metric: inferred.metric,
        metric_direction: inferred.direction,
        description,
        data_dir,
        output_dir: file.output_dir.as_deref().map(absolute).transpose()?,
        roles: inferred.roles,
        folds: inferred.folds.map(whole).transpose()?,
        text_columns: profile.map(|profile| profile.text_columns.clone()).unwrap_or_default(),
        columns: Vec::new(),
        metric_file: None,
        reference_discussions: file.reference_discussions,
        baseline_solution: file.baseline_solution,
    })
}

/// A run must not change the data that it reads.
fn outside_the_data(key: &str, path: Option<&Path>, data_dir: &Path) -> Result<(), Trouble> {
    let Some(path) = path else { return Ok(()) };
    let data_dir = real(&absolute(data_dir)?);
    if !real(&absolute(path)?).starts_with(&data_dir) {
        return Ok(());
    }
    let message = format!("{key} is inside the data folder: {}", path.display());
    Err(Trouble::new(message, format!("set {key} to a path outside {}", data_dir.display())))
}

/// The path with symbolic links resolved, as far as it exists.
fn real(path: &Path) -> PathBuf {
    path.ancestors().find_map(|above| above.canonicalize().ok()).unwrap_or_else(|| path.to_owned())
}

/// The offline agents need a metric that they can compute, a target, and tables that agree.
fn check_for_offline(profile: &Profile, inferred: &InferredTask, has_file: bool) -> Result<(), Trouble> {
    if !has_file && Metric::parse(&inferred.metric).is_none() {
        let message = format!("the offline agents do not know the metric \"{}\"", inferred.metric);
        return Err(Trouble::new(message, format!("give one of these with --metric: {}", Metric::listed())));
    }
    if inferred.task_type == TaskType::SequenceToSequence {
        let message = "the offline agents predict numbers and classes, and this task asks for texts";
        return Err(Trouble::new(
            message,
            "use a model: --agents claude, or give another --task-type if it asks for classes",
        ));
    }
    if let Some(trouble) = only_media(profile, inferred) {
        return Err(trouble);
    }
    match &inferred.target_unknown {
        Some(trouble) => Err(trouble.clone()),
        None => Ok(()),
    }
}

/// A task about images or sounds whose tables only have their names.
fn only_media(profile: &Profile, inferred: &InferredTask) -> Option<Trouble> {
    let what = match inferred.data_modality {
        DataModality::Image => "images",
        DataModality::Audio => "sounds",
        DataModality::Tabular | DataModality::Text | DataModality::Mixed => return None,
    };
    let in_train =
        |name: &str| Some(name) != inferred.roles.id.as_deref() && profile.train.column(name).is_some();
    let test = profile.test.iter().flat_map(|test| &test.columns);
    let message = format!("the offline agents work on tables, and the data of this task are {what}");
    let has_features = test.into_iter().any(|column| in_train(&column.name));
    (!has_features).then(|| Trouble::new(message, "use a model: --agents claude"))
}
