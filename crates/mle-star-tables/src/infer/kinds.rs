//! Infers the kind of problem and the kind of data.

use mle_star_domain::task::{ColumnRoles, DataModality, TaskType};
use serde_json::Value;

use super::Guess;
use super::fit::has_fractions;
use crate::media::Media;
use crate::metrics::{Kind, Metric};
use crate::profile::{Column, ColumnKind, Profile, ROWS_LOOKED_AT, Table};

/// An integer target with at most this many distinct values is treated as classes.
pub(crate) const MOST_CLASSES: usize = 30;
/// Minimum number of files of a kind for a data set of that kind.
const MANY_FILES: usize = 10;

/// Minimum number of other features of images, sounds and long texts for mixed data.
const MANY_FEATURES: usize = 4;
/// Texts with this many characters on average are long.
const LONG: f64 = 60.0;
/// A sample submission with this many rows for each image asks for the pixels of images.
const ROWS_OF_AN_IMAGE: usize = 100;

/// The tables, and the columns that are not features.
#[derive(Clone, Copy)]
pub(super) struct Columns<'a> {
    pub(super) profile: Option<&'a Profile>,
    pub(super) sample: Option<&'a Table>,
    /// Images and sounds.
    pub(super) media: Media,
    pub(super) target: Option<&'a str>,
    pub(super) id: Option<&'a str>,
    pub(super) roles: &'a ColumnRoles,
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
    let special = columns.asks_for_pixels(modality).or_else(|| columns.rewrites());
    let (task_type, reason) = special.unwrap_or_else(|| {
        let (is_regression, reason) = columns.is_regression(metric);
        let task_type = match (is_regression, modality) {
            (true, _) => TaskType::Regression,
            (false, DataModality::Image) => TaskType::ImageClassification,
            (false, DataModality::Audio) => TaskType::AudioClassification,
            (false, DataModality::Text) => TaskType::TextClassification,
            (false, DataModality::Tabular | DataModality::Mixed) => TaskType::Classification,
        };
        (task_type, reason)
    });
    guesses.push(Guess { field: "task_type", value: file_name_of(&task_type), reason });
    task_type
}

impl<'a> Columns<'a> {
    /// The columns that both tables have, beside the ID and the targets.
    fn features(self) -> impl Iterator<Item = &'a Column> {
        let columns = self.profile.into_iter().flat_map(|profile| &profile.train.columns);
        let test = self.profile.and_then(|profile| profile.test.as_ref());
        let targets = self.profile.zip(self.target).map(|(profile, target)| profile.targets(target, self.id));
        let targets = targets.unwrap_or_else(|| self.target.into_iter().collect());
        columns.filter(move |column| {
            let name = column.name.as_str();
            let in_test = test.is_none_or(|test| test.column(name).is_some());
            in_test && Some(name) != self.id && !targets.contains(&name) && !self.roles.is_no_feature(name)
        })
    }

    fn modality(self) -> (DataModality, String) {
        let texts = self.features().filter(|column| column.kind == ColumnKind::Text).count();
        let long =
            self.features().filter(|column| column.kind == ColumnKind::Text && column.mean_length >= LONG);
        let (long, others) = (long.count(), self.features().count() - texts);
        if let Some((modality, reason)) = self.modality_of_files() {
            let modality = if others >= MANY_FEATURES { DataModality::Mixed } else { modality };
            return (modality, reason);
        }
        if let Some((_, reason)) = self.rewrites() {
            return (DataModality::Text, reason);
        }
        if texts > 0 && others <= texts {
            return (DataModality::Text, format!("{texts} of {} features hold free text", texts + others));
        }
        if long > 0 && others >= MANY_FEATURES {
            return (DataModality::Mixed, format!("{long} of {} features hold long texts", texts + others));
        }
        let reason = match self.profile {
            Some(profile) => format!("{} has {} features", profile.train.file.display(), texts + others),
            None => "no training table was read".to_owned(),
        };
        (DataModality::Tabular, reason)
    }

    fn modality_of_files(self) -> Option<(DataModality, String)> {
        let Media { images, sounds, pictured } = self.media;
        let holds = |what: String| format!("the data folder holds {what}");
        match (images >= MANY_FILES, sounds >= MANY_FILES) {
            (true, true) if pictured * 2 >= sounds => {
                Some((DataModality::Audio, holds(format!("{sounds} sound files, and images of them"))))
            }
            (true, true) => {
                Some((DataModality::Mixed, holds(format!("{images} images and {sounds} sound files"))))
            }
            (true, false) => Some((DataModality::Image, holds(format!("{images} images")))),
            (false, true) => Some((DataModality::Audio, holds(format!("{sounds} sound files")))),
            (false, false) => None,
        }
    }

    /// Whether the sample submission has so many rows that they are the pixels of images.
    fn asks_for_pixels(self, modality: DataModality) -> Option<(TaskType, String)> {
        let sample = self.sample?;
        let asks = modality == DataModality::Image && sample.rows >= ROWS_OF_AN_IMAGE * self.media.images;
        let (file, rows, images) = (sample.file.display(), sample.rows, self.media.images);
        asks.then(|| (TaskType::ImageToImage, format!("{file} has {rows} rows for {images} images")))
    }

    /// Whether the target is the same as a feature in most rows, so that half of its frequent values are the feature's: texts are
    /// rewritten.
    fn rewrites(self) -> Option<(TaskType, String)> {
        let is_text = |column: &Column| matches!(column.kind, ColumnKind::Category | ColumnKind::Text);
        let target = self.profile?.train.column(self.target?)?;
        let in_feature =
            |feature: &Column, value: &str| feature.top_values.iter().any(|(own, _)| own == value);
        let kept = |feature: &&Column| {
            let same = target.top_values.iter().filter(|(value, _)| in_feature(feature, value)).count();
            is_text(feature) && feature.distinct > MOST_CLASSES && same * 2 >= target.top_values.len()
        };
        let may_be = is_text(target) && target.distinct > MOST_CLASSES;
        let is_same =
            |feature: &&Column| self.are_mostly_equal(&target.name, &feature.name).unwrap_or_default();
        let feature = self.features().filter(|_| may_be).filter(kept).find(is_same)?;
        let reason = format!("\"{}\" is \"{}\" in most rows", target.name, feature.name);
        Some((TaskType::SequenceToSequence, reason))
    }

    /// Whether two columns of the training table are equal in most of the first rows that have both.
    fn are_mostly_equal(self, one: &str, other: &str) -> Option<bool> {
        let train = self.profile?.tables.train().ok()?;
        let places = train.positions([one, other]).ok()?;
        let (mut rows, mut equal) = (0, 0);
        train
            .each(&places, |row| {
                if let (Some(one), Some(other)) = (row.value(0), row.value(1)) {
                    rows += 1;
                    equal += usize::from(one == other);
                }
                rows < ROWS_LOOKED_AT
            })
            .ok()?;
        Some(equal * 2 > rows)
    }

    fn is_regression(self, metric: &str) -> (bool, String) {
        if let Some(known) = Metric::parse(metric).filter(|known| known.kind() != Kind::Order) {
            let compared = if known.is_for_regression() { "numbers" } else { "classes" };
            return (known.is_for_regression(), format!("{known} is a metric for {compared}"));
        }
        let target = self.target.and_then(|target| self.profile?.train.column(target));
        target
            .map_or_else(|| (false, "most tasks are, and the target is not known".to_owned()), holds_numbers)
    }
}

/// Whether a target holds numbers rather than classes, and why.
pub(super) fn holds_numbers(target: &Column) -> (bool, String) {
    let Column { name, kind, distinct, .. } = target;
    if *kind == ColumnKind::Float && has_fractions(target) {
        return (true, format!("\"{name}\" holds fractions"));
    }
    if kind.is_number() && *distinct > MOST_CLASSES {
        return (true, format!("\"{name}\" holds {distinct} different numbers"));
    }
    (false, format!("\"{name}\" holds {distinct} different values"))
}

/// The spelling of an enum value in files.
fn file_name_of(word: &impl serde::Serialize) -> String {
    match serde_json::to_value(word) {
        Ok(Value::String(name)) => name,
        _ => String::new(),
    }
}
