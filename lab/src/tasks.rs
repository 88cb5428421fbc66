//! Generated tasks with hidden answers.
//!
//! A task and a seed determine every byte. Each task has noise that nobody can predict, so [`Written::best`] is what
//! somebody who knows the process would score.

mod amounts;
mod draw;
mod list;
mod meanings;
mod outcomes;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use mle_star_domain::protocol::{LabelColumns, SplitKind};
use mle_star_tables::metrics::Metric;
use serde_json::json;

use crate::interpreter::interpreter;
use crate::plane::Plane;

use draw::{Draw, Random, Row};

pub use list::TASKS;

/// The ID column of every task.
pub const ID: &str = "id";
/// The column to predict of every task.
pub const TARGET: &str = "target";

/// A task that can be drawn with any seed.
pub struct Task {
    /// Its name.
    pub name: &'static str,
    /// How submissions are scored.
    pub metric: Metric,
    /// How the test rows differ from the training rows.
    pub split: SplitKind,
    /// The column of the groups or of the time.
    pub column: Option<&'static str>,
    /// The numbers of training and test rows.
    pub rows: [usize; 2],
    /// What the rows are and what to predict, in one or two sentences.
    pub about: &'static str,
    draw: fn(&mut Random, [usize; 2]) -> Draw,
}

/// A task that has been written to a folder.
pub struct Written {
    /// The hidden score of the sample submission, which predicts the same for all rows.
    pub constant: f64,
    /// The hidden score of predictions by somebody who knows the process.
    pub best: f64,
}

/// Draws a task and writes it to a folder: `tasks/NAME/` with `train.csv`, `test.csv`, `sample_submission.csv`, further
/// tables and `description.md`, and `answers/NAME.csv`.
///
/// # Errors
/// A file cannot be written.
pub fn write(task: &'static Task, seed: u64, folder: &Path, name: &str) -> io::Result<Written> {
    let drawn = (task.draw)(&mut Random::new(task.name, seed), task.rows);
    let (data, hidden) = (folder.join("tasks").join(name), folder.join("answers"));
    fs::create_dir_all(&data)?;
    fs::create_dir_all(&hidden)?;
    let first_test = drawn.train.len() + 1;
    fs::write(data.join("train.csv"), table(&drawn.train, 1, true)?)?;
    fs::write(data.join("test.csv"), table(&drawn.test, first_test, false)?)?;
    for (name, text) in &drawn.others {
        fs::write(data.join(name), text)?;
    }
    fs::write(data.join("description.md"), task.description())?;
    let predicted = task.predicted_columns(&drawn.train);
    let header: Vec<String> = [ID.to_owned()].into_iter().chain(predicted).collect();
    let usual = task.constant(&drawn.train);
    let sample = submission(&header, first_test, drawn.test.iter().map(|_| usual.as_slice()))?;
    fs::write(data.join("sample_submission.csv"), &sample)?;
    let targets = drawn.test.iter().map(|row| std::slice::from_ref(&row.target));
    let answers = submission(&[ID.to_owned(), TARGET.to_owned()], first_test, targets)?;
    fs::write(hidden.join(format!("{name}.csv")), &answers)?;
    let best = submission(&header, first_test, drawn.test.iter().map(|row| row.best.as_slice()))?;
    let score = |submission: &str| task.score(&answers, &header, submission);
    Ok(Written { constant: score(&sample)?, best: score(&best)? })
}

impl Task {
    /// The description that agents get.
    fn description(&self) -> String {
        let better = self.metric.direction().comparative();
        format!(
            "{}\n\nSubmissions are scored by {}; {better} is better. They have the columns of \
             `sample_submission.csv` and one row for each row of `test.csv`.\n",
            self.about, self.metric
        )
    }

    /// The predicted columns: one for each class for log loss, otherwise the target.
    fn predicted_columns(&self, train: &[Row]) -> Vec<String> {
        match self.metric {
            Metric::LogLoss => counts(train).into_keys().map(str::to_owned).collect(),
            _ => vec![TARGET.to_owned()],
        }
    }

    /// The values of a submission that does not look at the features.
    fn constant(&self, train: &[Row]) -> Vec<String> {
        let counts = counts(train);
        match self.metric {
            Metric::LogLoss => vec![format!("{:.4}", 1.0 / counts.len() as f64); counts.len()],
            metric if metric.wants_probabilities() => vec!["0.5".to_owned()],
            metric if metric.is_for_regression() => vec![median(train)],
            // The class that is not the positive one would score 0.
            Metric::F1 => counts.keys().next_back().map(|label| (*label).to_owned()).into_iter().collect(),
            _ => counts
                .iter()
                .max_by_key(|(_, count)| **count)
                .map(|(label, _)| (*label).to_owned())
                .into_iter()
                .collect(),
        }
    }

    /// The score of a submission, all as texts.
    fn score(&self, answers: &str, header: &[String], submission: &str) -> io::Result<f64> {
        let folder = tempfile::tempdir()?;
        let [known, predicted] = ["answers.csv", "submission.csv"].map(|name| folder.path().join(name));
        fs::write(&known, answers)?;
        fs::write(&predicted, submission)?;
        let found = Plane::start(interpreter())?.ask(json!({
            "question": "score",
            "metric": self.metric.name(),
            "answers": known,
            "columns": LabelColumns::new(Some(ID.to_owned()), TARGET),
            "layout": { "header": header, "id": ID },
            "submission": predicted,
        }))?;
        found["score"].as_f64().ok_or_else(|| io::Error::other(found.to_string()))
    }
}

fn counts(rows: &[Row]) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    rows.iter().for_each(|row| *counts.entry(row.target.as_str()).or_default() += 1);
    counts
}

fn median(rows: &[Row]) -> String {
    let mut values: Vec<f64> = rows.iter().filter_map(|row| row.target.parse().ok()).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).map(f64::to_string).unwrap_or_default()
}

fn id(number: usize) -> String {
    number.to_string()
}

/// The CSV text of rows, numbered from `first`.
fn table(rows: &[Row], first: usize, labelled: bool) -> io::Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let names = rows.iter().take(1).flat_map(|row| &row.cells).map(|(name, _)| name.as_ref());
    writer.write_record([ID].into_iter().chain(names).chain(labelled.then_some(TARGET)))?;
    for (at, row) in rows.iter().enumerate() {
        let id = id(first + at);
        let cells = row.cells.iter().map(|(_, value)| value.as_str());
        writer.write_record(
            [id.as_str()].into_iter().chain(cells).chain(labelled.then_some(row.target.as_str())),
        )?;
    }
    text(writer)
}

/// The CSV text of IDs, numbered from `first`, and values.
fn submission<'a>(
    header: &[String],
    first: usize,
    rows: impl Iterator<Item = &'a [String]>,
) -> io::Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(header)?;
    for (at, values) in rows.enumerate() {
        let id = id(first + at);
        writer.write_record([id.as_str()].into_iter().chain(values.iter().map(String::as_str)))?;
    }
    text(writer)
}

fn text(writer: csv::Writer<Vec<u8>>) -> io::Result<String> {
    let bytes = writer.into_inner().map_err(|error| io::Error::other(error.to_string()))?;
    String::from_utf8(bytes).map_err(io::Error::other)
}
