//! Infers the task from a data folder and its description.
//!
//! [`infer`] fills in what the user left out. Each inferred value has a reason, so that it can be shown and
//! corrected.

mod columns;
mod fit;
mod kinds;
mod metric;
mod positive;
mod roles;
mod sample_classes;

use std::fmt;

use mle_star_domain::metric::Direction;
use mle_star_domain::task::{ColumnRoles, DataModality, Targets, TaskType};
use mle_star_domain::trouble::Trouble;

use super::description::Description;
use super::profile::{Profile, Unlabelled};
use mle_star_metrics::names::Metric;

pub(crate) use kinds::MOST_CLASSES;
pub use sample_classes::{CLASSES_WITHOUT_ROWS, ClassColumn, class_columns, columns_without_rows};

/// The values that the user gave; every `None` is inferred.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// The kind of problem.
    pub task_type: Option<TaskType>,
    /// The kind of data.
    pub data_modality: Option<DataModality>,
    /// The metric's name.
    pub metric: Option<String>,
    /// Which scores win.
    pub direction: Option<Direction>,
    /// The columns to predict; one text may also name several, separated by commas.
    pub target: Option<Targets>,
    /// The column with the row IDs.
    pub id: Option<String>,
    /// The roles of further columns.
    pub roles: ColumnRoles,
}

/// One inferred value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guess {
    /// The task's field, for example `target_column`.
    pub field: &'static str,
    /// Its value, as in a task file.
    pub value: String,
    /// The reason for this value.
    pub reason: String,
}

impl fmt::Display for Guess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.field, self.value, self.reason)
    }
}

/// The task as given and inferred.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inferred {
    /// The kind of problem.
    pub task_type: TaskType,
    /// The kind of data.
    pub data_modality: DataModality,
    /// The metric's name.
    pub metric: String,
    /// Which scores win.
    pub direction: Direction,
    /// The column to predict, if known; the first of several.
    pub target: Option<String>,
    /// All columns to predict.
    pub targets: Vec<String>,
    /// The column with the row IDs, if any.
    pub id: Option<String>,
    /// The roles of further columns.
    pub roles: ColumnRoles,
    /// The inferred values, in the order of a task file.
    pub guesses: Vec<Guess>,
    /// Why the target is unknown and how to set it, for agents that need it.
    pub target_unknown: Option<Trouble>,
}

/// Infers what was not given. `profile` is `None` for a folder without a training table; its sample submission and its
/// files are then in `unlabelled`.
///
/// # Errors
/// A given column is in no table, the metric and the direction contradict each other, or the metric or direction
/// is neither given nor inferable. The hint names the option to set.
pub fn infer(
    profile: Option<&Profile>,
    unlabelled: &Unlabelled,
    description: &str,
    given: &Given,
) -> Result<Inferred, Trouble> {
    let mut guesses = Vec::new();
    let text = Description::read(description);
    let metric = metric::name(&text, given, &mut guesses)?;
    let direction = metric::direction(&metric, &text, given.direction, &mut guesses)?;
    let mut roles = roles::named(profile, &given.roles)?;
    let (id, found) = match profile {
        Some(profile) => {
            let id = columns::id(profile, given, &mut guesses)?;
            let others = columns::Others { id: id.as_deref(), roles: &roles };
            let found = columns::target(profile, &text, given.target.as_ref(), others)?;
            (id, found)
        }
        None => columns::of_sample(unlabelled.sample.as_ref(), given, &mut guesses),
    };
    let (mut targets, target_unknown) = found_targets(found, &mut guesses);
    let target = targets.first().cloned();
    if let Some(profile) = profile {
        roles::check(profile, &roles, target.as_deref(), id.as_deref())?;
    }
    let sample = profile.map_or(&unlabelled.sample, |profile| &profile.sample);
    let columns = kinds::Columns {
        profile,
        sample: sample.as_ref(),
        media: profile.map_or(unlabelled.media, |profile| profile.media),
        target: target.as_deref(),
        id: id.as_deref(),
        roles: &roles,
    };
    let data_modality = kinds::modality(columns, given.data_modality, &mut guesses);
    let task_type = kinds::task_type(columns, &metric, data_modality, given.task_type, &mut guesses);
    if let (Some(profile), Some(target)) = (profile, target.as_deref()) {
        let metric = Metric::parse(&metric);
        fit::check(profile, target, metric)?;
        if given.metric.is_none() {
            fit::check_logarithm(target, metric)?;
        }
        let asked = positive::Asked { profile, target, id: id.as_deref(), metric, description: &text };
        roles.positive_class =
            positive::positive(asked, given.roles.positive_class.as_deref(), &mut guesses)?;
    }
    if let (Some(profile), [only]) = (profile, targets.as_slice()) {
        targets = profile.targets(only, id.as_deref()).into_iter().map(str::to_owned).collect();
    }
    Ok(Inferred {
        task_type,
        data_modality,
        metric,
        direction,
        target,
        targets,
        id,
        roles,
        guesses,
        target_unknown,
    })
}

/// The columns to predict, or why they are unknown. A guess is told.
fn found_targets(found: columns::Target, guesses: &mut Vec<Guess>) -> (Vec<String>, Option<Trouble>) {
    match found {
        columns::Target::Given(name) => (vec![name], None),
        columns::Target::Several(names) => (names, None),
        columns::Target::Guessed(guess) => {
            let name = guess.value.clone();
            guesses.push(guess);
            (vec![name], None)
        }
        columns::Target::Unknown(why) => (Vec::new(), Some(why)),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::media::Media;
    use crate::profile;

    const TRAIN: (&str, &str) = ("train.csv", "id,age,town,price\n1,20,a,10.5\n2,30,b,11.5\n3,40,a,9\n");
    const TEST: (&str, &str) = ("test.csv", "id,age,town\n4,20,a\n5,30,b\n");
    const SAMPLE: (&str, &str) = ("sample_submission.csv", "id,price\n4,0\n5,0\n");

    fn profile_of(files: &[(&str, &str)]) -> Profile {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(dir.path().join(name), text).unwrap();
        }
        profile::read(dir.path()).unwrap()
    }

    fn given(change: impl FnOnce(&mut Given)) -> Given {
        let mut given = Given { metric: Some("RMSE".to_owned()), ..Given::default() };
        change(&mut given);
        given
    }

    #[test]
    fn target_and_id_follow_from_the_tables() {
        let check = |files: &[(&str, &str)], description: &str, target: Option<&str>, id: Option<&str>| {
            let found =
                infer(Some(&profile_of(files)), &Unlabelled::default(), description, &given(|_| ())).unwrap();
            assert_eq!((found.target.as_deref(), found.id.as_deref()), (target, id), "{files:?}");
            assert_eq!(found.target_unknown.is_some(), target.is_none());
            assert!(found.guesses.iter().all(|guess| !guess.reason.is_empty()));
        };
        check(&[TRAIN, TEST, SAMPLE], "", Some("price"), Some("id"));
        check(&[TRAIN, TEST], "", Some("price"), Some("id"));
        check(&[TRAIN, SAMPLE], "", Some("price"), Some("id"));
        check(&[TRAIN], "", None, Some("id"));
        let both = ("sample_submission.csv", "id,price,age\n4,0,0\n5,0,0\n");
        check(&[TRAIN, ("test.csv", "id,town\n4,a\n5,b\n"), both], "", Some("price"), Some("id"));
        check(&[TRAIN, TEST, both], "", Some("price"), Some("id"));
        let with_target = ("test.csv", "id,age,town,price\n4,20,a,\n5,30,b,\n");
        check(&[TRAIN, with_target, SAMPLE], "", Some("price"), Some("id"));
        let answer = ("sample_submission.csv", "price\n0\n0\n");
        check(&[TRAIN, with_target, answer], "", Some("price"), Some("id"));
        check(&[TRAIN], "Predict the `price` of a house.", Some("price"), Some("id"));
        check(&[("train.csv", "a,target\n1,2\n1,3\n")], "", Some("target"), None);
        let two = ("train.csv", "id,a,x,kind\n1,1,0,cat\n2,1,0,dog\n");
        let classes = ("sample_submission.csv", "id,cat,dog\n3,0,1\n");
        let given = Given { metric: Some("accuracy".to_owned()), ..Given::default() };
        let found = infer(
            Some(&profile_of(&[two, ("test.csv", "id,a\n3,1\n"), classes])),
            &Unlabelled::default(),
            "",
            &given,
        );
        assert_eq!(found.unwrap().target.as_deref(), Some("kind"));
    }

    #[test]
    fn an_id_of_the_test_table_alone_names_its_rows() {
        let files = [("train.csv", "a,y\n1,2\n2,3\n"), ("test.csv", "row_id,a\n5,1\n6,2\n")];
        let found = infer(Some(&profile_of(&files)), &Unlabelled::default(), "", &given(|_| ())).unwrap();
        assert_eq!(found.id.as_deref(), Some("row_id"));
    }

    #[test]
    fn columns_that_the_sample_repeats_ask_for_no_classes() {
        let files = [
            ("train.csv", "id,day,y\n1,4,Stayed\n2,5,Churned\n"),
            ("test.csv", "id,day\n3,6\n4,7\n"),
            ("sample_submission.csv", "id,day,y\n3,6,0\n4,7,0\n"),
        ];
        let positive = |description: &str| {
            let given = Given { metric: Some("AUC".to_owned()), ..Given::default() };
            let found = infer(Some(&profile_of(&files)), &Unlabelled::default(), description, &given);
            found.map(|found| found.roles.positive_class)
        };
        let said = positive("Predict the probability that a customer churned.").unwrap();
        assert_eq!(said.as_deref(), Some("Churned"));
        assert!(positive("").is_err());
    }

    #[test]
    fn a_class_of_numbers_with_a_point_can_be_the_positive_one() {
        let profile = profile_of(&[("train.csv", "id,a,y\n1,4,1.0\n2,5,0.0\n3,6,\n")]);
        let roles = ColumnRoles { positive_class: Some("0".to_owned()), ..ColumnRoles::default() };
        let given = Given {
            metric: Some("F1".to_owned()),
            target: Some("y".to_owned().into()),
            roles,
            ..Given::default()
        };
        let found = infer(Some(&profile), &Unlabelled::default(), "", &given).unwrap();
        assert!(found.roles.positive_class.is_some_and(|label| label.parse() == Ok(0.0)));
    }

    #[test]
    fn texts_are_rewritten_if_they_stay_in_most_rows() {
        let check = |town: fn(usize) -> usize, expected: TaskType| {
            let rows: String =
                (0..400).map(|at| format!("{at},town{},town{}\n", at % 40, town(at))).collect();
            let profile = profile_of(&[("train.csv", &format!("id,from,y\n{rows}"))]);
            let given = Given {
                metric: Some("accuracy".to_owned()),
                target: Some("y".to_owned().into()),
                ..Given::default()
            };
            let found = infer(Some(&profile), &Unlabelled::default(), "", &given).unwrap();
            assert_eq!(found.task_type, expected);
        };
        check(|at| at % 40, TaskType::SequenceToSequence);
        check(|at| (at + 1) % 40, TaskType::Classification);
    }

    #[test]
    fn without_a_sample_the_first_column_can_name_the_rows() {
        let check = |header: &str, first: &dyn Fn(usize) -> String, expected: Option<&str>| {
            let rows = |range: std::ops::Range<usize>, label: &str| {
                range.map(|row| format!("{},{}{label}\n", first(row), row % 3)).collect::<String>()
            };
            let train = format!("{header},a,target\n{}", rows(0..30, ",1"));
            let test = format!("{header},a\n{}", rows(30..60, ""));
            let files = [("train.csv", train.as_str()), ("test.csv", test.as_str())];
            for files in [&files[..], &files[..1]] {
                let found = infer(Some(&profile_of(files)), &Unlabelled::default(), "", &given(|_| ()));
                assert_eq!(found.unwrap().id.as_deref(), expected, "{header} {files:?}");
            }
        };
        check("flat", &|row| format!("F{}", 1000 + row), Some("flat"));
        check("code", &|row| (500 + row).to_string(), Some("code"));
        check("code", &|row| (500 + row / 2).to_string(), None);
        check("area", &|row| (row * row * 40).to_string(), None);
        check("price", &|row| format!("{row}.5"), None);
        check("year", &|row| (1960 + row).to_string(), None);
        check("note", &|row| format!("a note {row}"), None);
    }

    #[test]
    fn classes_that_only_the_sample_has_are_found() {
        let check = |kinds: &[&str], sample: &str, expected: &[&str]| {
            let rows: String = kinds.iter().enumerate().map(|(id, kind)| format!("{id},{kind}\n")).collect();
            let files = [
                ("train.csv", format!("id,kind\n{rows}")),
                ("sample_submission.csv", format!("{sample}\n8,0,0,0\n")),
            ];
            let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
            assert_eq!(columns_without_rows(&profile_of(&files), "kind", Some("id")), expected, "{sample}");
        };
        check(&["cat", "dog", "cat"], "id,cat,dog,emu", &["emu"]);
        check(&["cat", "dog", "cat"], "id,p_emu,p_cat,p_dog", &["p_emu"]);
        check(&["cat", "dog", "cat"], "id,Emu share,Cat share,Dog share", &["Emu share"]);
        check(&["1", "2", "1"], "id,class_1,class_2,class_3", &["class_3"]);
        check(&["cat", "dog", "emu"], "id,p_emu,p_cat,p_dog", &[]);
        check(&["cat", "dog", "cat"], "id,a,b,c", &[]);
    }

    #[test]
    fn several_targets_are_those_of_the_sample() {
        let train = ("train.csv", "id,a,x,y\n1,1,0.5,2.5\n2,1,1.5,3.5\n");
        let test = ("test.csv", "id,a\n3,1\n4,2\n");
        let sample = ("sample_submission.csv", "id,x,y\n3,0,0\n4,0,0\n");
        let targets = |files: &[(&str, &str)], target: Option<Targets>| {
            infer(Some(&profile_of(files)), &Unlabelled::default(), "", &given(|given| given.target = target))
        };
        let check = |files: &[(&str, &str)], target: Option<Targets>, expected: &[&str]| {
            assert_eq!(targets(files, target.clone()).unwrap().targets, expected, "{target:?}");
        };
        let list =
            |names: &[&str]| Targets::from(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        let all = [train, test, sample];
        check(&all, None, &["x", "y"]);
        check(&all, Some(list(&["y", "x"])), &["x", "y"]);
        check(&all, Some(Targets::One("x, y".to_owned())), &["x", "y"]);
        check(&[train, test], Some(Targets::One("y,x".to_owned())), &["y", "x"]);
        check(&[train], Some(list(&["x"])), &["x"]);
        check(&[("train.csv", "\"x,y\",a\n1,2\n2,3\n")], Some(Targets::One("x,y".to_owned())), &["x,y"]);
        for (names, odd) in [
            (&["x", "a"][..], "\"y\""),
            (&["x", "y", "a"], "\"a\""),
            (&["x", "z"], "\"z\""),
            (&["x", "x"], "twice"),
        ] {
            let trouble = targets(&all, Some(list(names))).unwrap_err();
            assert!(trouble.message.contains(odd), "{trouble}");
        }
    }

    #[test]
    fn kinds_follow_from_metric_target_and_features() {
        let check = |train: &str, metric: &str, task_type, modality| {
            let given = Given {
                metric: Some(metric.to_owned()),
                direction: Metric::parse(metric).is_none().then_some(Direction::Maximize),
                target: Some("y".to_owned().into()),
                ..Given::default()
            };
            let found = infer(Some(&profile_of(&[("train.csv", train)])), &Unlabelled::default(), "", &given)
                .unwrap();
            assert_eq!((found.task_type, found.data_modality), (task_type, modality), "{train} {metric}");
        };
        check("a,y\n1,0\n2,1\n", "RMSE", TaskType::Regression, DataModality::Tabular);
        check("a,y\n1,0\n2,1\n", "accuracy", TaskType::Classification, DataModality::Tabular);
        check("a,y\n1,x\n2,z\n", "energy score", TaskType::Classification, DataModality::Tabular);
        check("a,y\n1,0.5\n2,1.5\n", "pearson correlation", TaskType::Regression, DataModality::Tabular);
        let text = "t,y\nwhat a fine day,0\nit rained all night,1\n";
        check(text, "F1", TaskType::TextClassification, DataModality::Text);
    }

    #[test]
    fn files_tell_the_kind_of_data_without_a_training_table() {
        let check = |media: Media, modality, task_type, reason: &str| {
            let given = Given { metric: Some("accuracy".to_owned()), ..Given::default() };
            let found = infer(None, &Unlabelled { sample: None, media }, "", &given).unwrap();
            assert_eq!((found.data_modality, found.task_type), (modality, task_type), "{media:?}");
            let guess = found.guesses.iter().find(|guess| guess.field == "data_modality").unwrap();
            assert_eq!(guess.reason, reason);
        };
        let image = (DataModality::Image, TaskType::ImageClassification);
        let images = Media { images: 12, ..Media::default() };
        check(images, image.0, image.1, "the data folder holds 12 images");
        let audio = (DataModality::Audio, TaskType::AudioClassification);
        let sounds = Media { sounds: 10, ..Media::default() };
        check(sounds, audio.0, audio.1, "the data folder holds 10 sound files");
        let pictured = Media { images: 30, sounds: 10, pictured: 10 };
        check(pictured, audio.0, audio.1, "the data folder holds 10 sound files, and images of them");
        let both = Media { images: 30, sounds: 10, pictured: 1 };
        let mixed = (DataModality::Mixed, TaskType::Classification);
        check(both, mixed.0, mixed.1, "the data folder holds 30 images and 10 sound files");
        let unknown = (DataModality::Tabular, TaskType::Classification);
        check(Media { images: 3, ..Media::default() }, unknown.0, unknown.1, "no training table was read");
    }

    #[test]
    fn metric_and_direction_are_given_or_found() {
        let profile = profile_of(&[TRAIN, TEST, SAMPLE]);
        let check = |description: &str, metric: Option<&str>, expected: (&str, Direction)| {
            let given = Given { metric: metric.map(str::to_owned), ..Given::default() };
            let found = infer(Some(&profile), &Unlabelled::default(), description, &given).unwrap();
            assert_eq!((found.metric.as_str(), found.direction), expected);
        };
        check("Evaluated by mean absolute error.", None, ("MAE", Direction::Minimize));
        check("Evaluated by mean absolute error.", Some("AUC"), ("AUC", Direction::Maximize));
        check(
            "Lower is better. The metric counts words.",
            Some("word error rate"),
            ("word error rate", Direction::Minimize),
        );
        check(
            "Submissions are scored by mean IoU. The largest score wins.",
            Some("mean IoU"),
            ("mean IoU", Direction::Maximize),
        );
    }

    #[test]
    fn what_cannot_be_right_is_named_with_the_option_to_give() {
        let profile = profile_of(&[TRAIN, TEST, SAMPLE]);
        let check = |given: Given, message: &str, hint: &str| {
            let trouble = infer(Some(&profile), &Unlabelled::default(), "", &given).unwrap_err();
            assert!(trouble.message.contains(message), "{trouble}");
            assert!(trouble.hint.contains(hint), "{}", trouble.hint);
        };
        check(Given::default(), "metric", "--metric");
        for metric in ["zorp", "energy score", "neg_mean_squared_error", "word error rate"] {
            check(given(|g| g.metric = Some(metric.to_owned())), metric, "--direction");
        }
        check(given(|g| g.direction = Some(Direction::Maximize)), "RMSE", "minimize");
        check(
            given(|g| g.target = Some("prize".to_owned().into())),
            "\"prize\" is not in train.csv",
            "price",
        );
        check(given(|g| g.id = Some("key".to_owned())), "\"key\" is not in sample_submission.csv", "id");
    }
}
