//! Hidden answers: a table with what submissions are compared with.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use mle_star::result::FinalResult;
use mle_star_domain::task::TextColumn;
use mle_star_domain::trouble::Trouble;
use mle_star_metrics::labels::{Columns, Labels, Layout, Others, Unusable};
use mle_star_metrics::names::{Kind, Metric};
use mle_star_run::runs::absolute;
use serde::{Deserialize, Serialize};

use super::scale::{Grade, digest_of};

/// A table with hidden answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answers {
    /// Its absolute path.
    pub path: PathBuf,
    /// The BLAKE3 digest of the file.
    pub digest: String,
}

/// What the answers hold.
#[derive(Debug, PartialEq, Eq)]
enum Form {
    /// A column with the labels of each target.
    Targets(Columns),
    /// A column for each of these classes, which is 1 for the class of a row.
    PerClass(Vec<String>),
}

impl Answers {
    /// The answers of a task: the given table, or that of the task in the given folder.
    ///
    /// # Errors
    /// There are none, they cannot be read, or they are part of the data.
    pub fn find(name: &str, task: &Path, given: &Path, data_dir: &Path) -> Result<Self, Trouble> {
        let path = if given.is_dir() { in_folder(name, task, given)? } else { given.to_owned() };
        let unreadable = |error: io::Error| {
            let message = format!("cannot read the answers {}: {error}", path.display());
            Trouble::new(message, "check the path and its permissions")
        };
        let path = absolute(&path)?.canonicalize().map_err(unreadable)?;
        if data_dir.canonicalize().is_ok_and(|data| path.starts_with(data)) {
            let message = format!("the answers {} are in the data folder of the task {name}", path.display());
            return Err(Trouble::new(message, "move them where scripts and agents cannot read them"));
        }
        let digest = digest_of(&path).map_err(unreadable)?;
        Ok(Self { path, digest })
    }

    /// The grade of a run's submission.
    ///
    /// # Errors
    /// The answers cannot be used, or a file cannot be read. The submission is not the reason.
    pub fn grade(&self, name: &str, result: &FinalResult, submission: &Path) -> Result<Grade, Trouble> {
        let task = &result.task;
        let unusable = |why: String| {
            let message = format!("the answers {} cannot be used: {why}", self.path.display());
            Trouble::new(message, "correct the file, or give a grader for this task in a bench file")
        };
        let known = Metric::parse(&task.evaluation_metric).filter(|_| task.metric_file.is_none());
        let Some(metric) = known else {
            return Err(unusable(format!(
                "the program cannot compute the metric {}",
                task.evaluation_metric
            )));
        };
        let open = |path: &Path| {
            File::open(path).map_err(|error| {
                let message = format!("cannot read {} of the task {name}: {error}", path.display());
                Trouble::new(message, "check the file's permissions")
            })
        };
        let header = header_of(submission).map_err(|error| Trouble::io("read", submission, &error))?;
        let answers = header_of(&self.path).map_err(|error| unusable(error.to_string()))?;
        let named = task.id_column.clone().filter(|id| header.contains(id));
        let id = named.or_else(|| header.first().filter(|_| header.len() > 1).cloned());
        let form = form(metric, task.target(), id.as_deref(), &header, &answers);
        let weight = task.weight_column.clone().filter(|name| answers.contains(name));
        let labels = match form.map_err(unusable)? {
            Form::Targets(columns) => {
                let positive = task.positive_class.clone().filter(|_| columns.further.is_empty());
                let words = TextColumn::words_of(&task.text_columns, |name| {
                    name == columns.target || columns.further.iter().any(|other| other == name)
                });
                let columns = Columns { positive, words, weight, ..columns };
                let training = labels_of_training(&columns, metric, &task.data_dir);
                Labels::read_among(open(&self.path)?, &columns, metric, training.as_ref())
            }
            Form::PerClass(classes) => {
                let positive = task.positive_class.clone();
                let columns = Columns { id: id.clone(), positive, weight, ..Columns::default() };
                Labels::read_per_class(open(&self.path)?, &columns, &classes, metric)
            }
        };
        let labels = labels.map_err(|error: Unusable| unusable(error.to_string()))?;
        let layout = Layout { header: &header, id_column: id.as_deref() };
        // A submission predicts every row that has an answer; answers may cover a part of the test rows.
        let measured = labels.score(open(submission)?, &layout, Others::Ignore);
        Ok(match measured {
            Ok(score) => Grade { valid: true, score: Some(score), ..Grade::default() },
            Err(error) => Grade { why: error.to_string(), ..Grade::default() },
        })
    }
}

/// The labels of the training table, if that can be read: answers need not have all of their classes.
fn labels_of_training(columns: &Columns, metric: Metric, data_dir: &Path) -> Option<Labels> {
    // Its rows need no names here.
    let columns = Columns { id: None, ..columns.clone() };
    let train = File::open(data_dir.join("train.csv")).ok()?;
    Labels::read(train, &columns, metric).ok()
}

/// The answers of a task in a folder with those of several.
fn in_folder(name: &str, task: &Path, folder: &Path) -> Result<PathBuf, Trouble> {
    let own = task.file_name().map(|own| own.to_string_lossy().into_owned()).unwrap_or_default();
    let names = [name.to_owned(), own];
    let of_name = |name: &String| {
        [format!("{name}.csv"), format!("{name}/answers.csv"), format!("{name}/prepared/private/test.csv")]
    };
    let found = names.iter().flat_map(of_name).map(|file| folder.join(file)).find(|file| file.is_file());
    found.ok_or_else(|| {
        let message = format!("no answers for the task {name} in {}", folder.display());
        Trouble::new(
            message,
            format!("add {name}.csv, {name}/answers.csv or {name}/prepared/private/test.csv"),
        )
    })
}

/// What the answers hold, by the columns of the submission and theirs. Columns of a submission are those of the target,
/// of several targets, or of the classes of the target; then the answers may have the target or the same columns.
fn form(
    metric: Metric,
    target: Option<&str>,
    id: Option<&str>,
    submission: &[String],
    answers: &[String],
) -> Result<Form, String> {
    let predicted: Vec<String> =
        submission.iter().filter(|name| Some(name.as_str()) != id).cloned().collect();
    let targets = |target: &str| {
        let is_asked = has(&predicted, target);
        let further = predicted.iter().filter(|name| is_asked && *name != target).cloned().collect();
        Form::Targets(Columns {
            id: id.map(str::to_owned),
            target: target.to_owned(),
            further,
            ..Columns::default()
        })
    };
    let lacks = |column: &&String| !answers.contains(column);
    match (target, predicted.as_slice()) {
        (Some(target), several) if has(several, target) || has(answers, target) => Ok(targets(target)),
        (_, [only]) => Ok(targets(only)),
        (target, several) => match (several.iter().find(lacks), target, metric.kind()) {
            (Some(column), Some(target), _) => Err(format!(
                "the file has neither the target {target} nor the column {column} of the submission"
            )),
            (Some(column), None, _) => Err(format!("the file lacks the column {column} of the submission")),
            (None, _, Kind::Labels | Kind::Probabilities | Kind::Guesses) => {
                Ok(Form::PerClass(several.to_vec()))
            }
            (None, None, _) => several
                .first()
                .map(|first| targets(first))
                .ok_or_else(|| "the submission predicts nothing".to_owned()),
            (None, Some(target), _) => Err(format!(
                "the submission has several columns, but {metric} is about the column {target}, which neither has"
            )),
        },
    }
}

fn has(columns: &[String], name: &str) -> bool {
    columns.iter().any(|column| column == name)
}

fn header_of(table: &Path) -> io::Result<Vec<String>> {
    let mut reader = csv::Reader::from_path(table).map_err(io::Error::other)?;
    let header = reader.headers().map_err(io::Error::other)?;
    Ok(header.iter().map(|name| name.trim().to_owned()).collect())
}
