//! Hidden answers: a table with what submissions are compared with.

use std::io;
use std::path::{Path, PathBuf};

use mle_star::result::FinalResult;
use mle_star_domain::protocol::LabelColumns;
use mle_star_domain::task::TextColumn;
use mle_star_domain::trouble::Trouble;
use mle_star_run::data_plane;
use mle_star_run::metrics::{Kind, Metric};
use mle_star_run::runs::absolute;
use mle_star_run::runtime::block_on;
use serde::Deserialize;
use serde_json::json;

/// A table with hidden answers.
#[derive(Clone, Debug)]
pub struct HiddenAnswers {
    /// Its absolute path.
    path: PathBuf,
}

impl HiddenAnswers {
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
        Ok(Self { path })
    }

    /// The score of a run's submission, or why it has none.
    ///
    /// # Errors
    /// The answers cannot be used, or a file cannot be read. The submission is not the reason.
    pub fn score(&self, result: &FinalResult, submission: &Path) -> Result<Result<f64, String>, Trouble> {
        let task = &result.task;
        let unusable = |why: String| {
            let message = format!("the answers {} cannot be used: {why}", self.path.display());
            Trouble::new(message, "correct the file")
        };
        let known = Metric::parse(&task.evaluation_metric).filter(|_| task.metric_file.is_none());
        let Some(metric) = known else {
            return Err(unusable(format!(
                "the program cannot compute the metric {}",
                task.evaluation_metric
            )));
        };
        let header = header_of(submission).map_err(|error| Trouble::io("read", submission, &error))?;
        let answers = header_of(&self.path).map_err(|error| unusable(error.to_string()))?;
        let named = task.roles.id.clone().filter(|id| header.contains(id));
        let id = named.or_else(|| header.first().filter(|_| header.len() > 1).cloned());
        let (mut columns, classes) =
            form(metric, task.target(), id.as_deref(), &header, &answers).map_err(unusable)?;
        let is_asked = |name: &str| name == columns.target || has(&columns.further, name);
        columns.words = TextColumn::words_of(&task.text_columns, is_asked);
        columns.positive = task.roles.positive.clone().filter(|_| columns.further.is_empty());
        columns.weight = task.roles.weight.clone().filter(|name| answers.contains(name));
        let submission = absolute(submission)?;
        let training = Some(absolute(&task.data_dir)?.join("train.csv")).filter(|train| train.is_file());
        // A submission predicts every row that has an answer; answers may cover a part of the test rows.
        let question = json!({
            "question": "score",
            "metric": metric.name(),
            "answers": self.path,
            "columns": columns,
            "layout": { "header": header, "id": id },
            "submission": &submission,
            "classes": classes,
            "training": training,
        });
        let files = [Some(self.path.clone()), Some(submission), training].into_iter().flatten();
        let asked = block_on(data_plane::ask(&result.config, files, question, &|_| ()));
        let asked = asked.map_err(|failure| failure.trouble)?.map_err(|error| error.trouble)?;
        match asked.map_err(unusable)? {
            ScoreReply { unusable: Some(why), .. } => Err(unusable(why)),
            ScoreReply { score: Some(score), failure: None, .. } => Ok(Ok(score)),
            ScoreReply { failure, .. } => Ok(Err(failure.unwrap_or_else(|| "it has no score".to_owned()))),
        }
    }
}

/// The answer of the data plane.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ScoreReply {
    score: Option<f64>,
    /// What is wrong with the submission.
    failure: Option<String>,
    /// What is wrong with the answers.
    unusable: Option<String>,
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
/// of several targets, or of the classes of the target; then the answers may have the target or the same columns, which are
/// returned: each is 1 for the class of a row.
fn form(
    metric: Metric,
    target: Option<&str>,
    id: Option<&str>,
    submission: &[String],
    answers: &[String],
) -> Result<(LabelColumns, Option<Vec<String>>), String> {
    let predicted: Vec<String> =
        submission.iter().filter(|name| Some(name.as_str()) != id).cloned().collect();
    let of_id = || LabelColumns { id: id.map(str::to_owned), ..LabelColumns::default() };
    let targets = |target: &str| {
        let is_asked = has(&predicted, target);
        let further = predicted.iter().filter(|name| is_asked && *name != target).cloned().collect();
        (LabelColumns { target: target.to_owned(), further, ..of_id() }, None)
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
                Ok((of_id(), Some(several.to_vec())))
            }
            (None, None, _) => several
                .first()
                .map(|first| targets(first))
                .ok_or("the submission predicts nothing".to_owned()),
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
