//! Infers the kind of problem and the kind of data.

use std::path::{Path, PathBuf};

use mle_star::task::{DataModality, TaskType};
use serde_json::Value;

use super::Guess;
use crate::profile::{Column, ColumnKind, Profile};
use mle_star_metrics::names::Metric;

/// An integer target with at most this many distinct values is treated as classes.
pub(crate) const MOST_CLASSES: usize = 30;
/// Minimum number of files of a kind for a data set of that kind.
const MANY_FILES: usize = 10;

const IMAGES: [&str; 9] = ["jpg", "jpeg", "png", "tif", "tiff", "bmp", "gif", "dcm", "webp"];
const SOUNDS: [&str; 6] = ["wav", "mp3", "ogg", "flac", "m4a", "aif"];

/// The tables, and the columns that are not features.
#[derive(Clone, Copy)]
pub(super) struct Columns<'a> {
    pub(super) profile: Option<&'a Profile>,
    /// Files that are not tables.
    pub(super) files: &'a [PathBuf],
    pub(super) target: Option<&'a str>,
    pub(super) id: Option<&'a str>,
}

/// The given modality, otherwise inferred from the files and the features.
pub(super) fn modality(
    columns: Columns<'_>,
    given: Option<DataModality>,
    guesses: &mut Vec<Guess>,
) -> DataModality {
    if let Some(given) = given {
        return given;
    }
    let (modality, reason) = columns.modality();
    guesses.push(Guess { field: "data_modality", value: file_name_of(&modality), reason });
    modality
}

/// The given task type, otherwise inferred from the metric, the target and the modality.
pub(super) fn task_type(
    columns: Columns<'_>,
    metric: &str,
    modality: DataModality,
    given: Option<TaskType>,
    guesses: &mut Vec<Guess>,
) -> TaskType {
    if let Some(given) = given {
        return given;
    }
    let (is_regression, reason) = columns.is_regression(metric);
    let task_type = match (is_regression, modality) {
        (true, _) => TaskType::Regression,
        (false, DataModality::Image) => TaskType::ImageClassification,
        (false, DataModality::Audio) => TaskType::AudioClassification,
        (false, DataModality::Text) => TaskType::TextClassification,
        (false, DataModality::Tabular | DataModality::Mixed) => TaskType::Classification,
    };
    guesses.push(Guess { field: "task_type", value: file_name_of(&task_type), reason });
    task_type
}

impl<'a> Columns<'a> {
    fn features(self) -> impl Iterator<Item = &'a Column> {
        let columns = self.profile.into_iter().flat_map(|profile| &profile.train.columns);
        let targets = self.profile.zip(self.target).map(|(profile, target)| profile.targets(target, self.id));
        let targets = targets.unwrap_or_else(|| self.target.into_iter().collect());
        columns.filter(move |column| {
            let name = column.name.as_str();
            Some(name) != self.id && !targets.contains(&name)
        })
    }

    fn modality(self) -> (DataModality, String) {
        let texts = self.features().filter(|column| column.kind == ColumnKind::Text).count();
        let others = self.features().count() - texts;
        for (endings, modality, word) in
            [(&IMAGES[..], DataModality::Image, "images"), (&SOUNDS[..], DataModality::Audio, "sound files")]
        {
            let count = self.files_ending_in(endings);
            if count >= MANY_FILES {
                let modality = if others > 3 { DataModality::Mixed } else { modality };
                return (modality, format!("the data folder holds {count} {word}"));
            }
        }
        if texts > 0 && others <= texts {
            return (DataModality::Text, format!("{texts} of {} features hold free text", texts + others));
        }
        let reason = match self.profile {
            Some(_) => format!("train.csv has {} features", texts + others),
            None => "no training table was read".to_owned(),
        };
        (DataModality::Tabular, reason)
    }

    fn files_ending_in(self, endings: &[&str]) -> usize {
        let ending = |path: &Path| path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        self.files
            .iter()
            .filter(|file| ending(file).is_some_and(|ending| endings.contains(&ending.as_str())))
            .count()
    }

    fn is_regression(self, metric: &str) -> (bool, String) {
        if let Some(known) = Metric::parse(metric) {
            let compared = if known.is_for_regression() { "numbers" } else { "classes" };
            return (known.is_for_regression(), format!("{known} is a metric for {compared}"));
        }
        let target = self.target.and_then(|target| self.profile?.train.column(target));
        match target {
            Some(column) if column.kind == ColumnKind::Float => {
                (true, format!("\"{}\" holds fractions", column.name))
            }
            Some(column) if column.kind == ColumnKind::Integer && column.distinct > MOST_CLASSES => {
                (true, format!("\"{}\" holds {} different numbers", column.name, column.distinct))
            }
            Some(column) => {
                (false, format!("\"{}\" holds {} different values", column.name, column.distinct))
            }
            None => (false, "most tasks are, and the target is not known".to_owned()),
        }
    }
}

/// The spelling of an enum value in files.
fn file_name_of(word: &impl serde::Serialize) -> String {
    match serde_json::to_value(word) {
        Ok(Value::String(name)) => name,
        _ => String::new(),
    }
}
