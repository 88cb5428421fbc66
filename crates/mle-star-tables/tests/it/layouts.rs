//! What is understood of each data layout of MLE-bench Lite.

use std::collections::BTreeMap;

use mle_star_domain::metric::Direction;
use mle_star_domain::task::{DataModality, TaskType};
use mle_star_needs::{ask, inspect};
use mle_star_tables::intake::InputData;
use mle_star_tables::profile::Profile;
use mle_star_tables::task_inference::InferredTask;

use serde_json::json;

use super::miniatures::ALL;

use DataModality::{Audio, Image, Mixed, Tabular, Text};
use TaskType::{
    AudioClassification, Classification, ImageClassification, ImageToImage, Regression, SequenceToSequence,
    TextClassification,
};

/// What is expected of a competition. Of several targets, `targets` has the number.
struct Expected {
    name: &'static str,
    data: (DataModality, TaskType),
    metric: &'static str,
    target: Option<&'static str>,
    targets: usize,
    id: Option<&'static str>,
    /// Parts of what agents are told.
    told: &'static [&'static str],
}

#[rustfmt::skip]
const EXPECTED: [Expected; 22] = [
    Expected { name: "aerial-cactus-identification", data: (Image, ImageClassification), metric: "ROC-AUC",
        target: Some("has_cactus"), targets: 1, id: Some("id"), told: &[
            "- `train.zip` (archive): 60 .jpg files",
            "5 of them: 32×32 RGB; values of `id` name them, as names",
        ] },
    Expected { name: "aptos2019-blindness-detection", data: (Image, ImageClassification),
        metric: "quadratic weighted kappa", target: Some("diagnosis"), targets: 1, id: Some("id_code"), told: &[
            "- `train_images`: 60 .png files, 2.",
            "5 of them: 540×420 grey; values of `id_code` name them, without their ending",
        ] },
    Expected { name: "denoising-dirty-documents", data: (Image, ImageToImage), metric: "RMSE",
        target: Some("value"), targets: 1, id: Some("id"), told: &[
            "- `sampleSubmission.csv`: 3,200 rows; columns `id` (category, such as `1_10_1`, `1_10_10`), `value` (always `1`)",
            "- `train`: 6 .png files", "- `train_cleaned`: 6 .png files", "- `test`: 2 .png files",
        ] },
    Expected { name: "detecting-insults-in-social-commentary", data: (Text, TextClassification),
        metric: "ROC-AUC", target: Some("Insult"), targets: 1, id: None, told: &[
            "- `sample_submission_null.csv`: 12 rows", "| `Comment` | text | 0% |",
        ] },
    Expected { name: "dog-breed-identification", data: (Image, ImageClassification), metric: "log loss",
        target: Some("breed"), targets: 1, id: Some("id"), told: &[
            "- `labels.csv`: 60 rows, 2 columns", "`affenpinscher` (always `0.25`)",
            "4 classes: `affenpinscher` 15 (25%)",
        ] },
    Expected { name: "dogs-vs-cats-redux-kernels-edition", data: (Image, ImageClassification), metric: "log loss",
        target: Some("label"), targets: 1, id: Some("id"), told: &[
            "- `train.zip` (archive): 60 .jpg files", "names begin with `cat.` (30) or `dog.` (30)",
        ] },
    Expected { name: "histopathologic-cancer-detection", data: (Image, ImageClassification), metric: "ROC-AUC",
        target: Some("label"), targets: 1, id: Some("id"), told: &[
            "- `train_labels.csv`: 60 rows", "- `train`: 60 .tif files", "2 classes: `0` 30 (50%), `1` 30 (50%)",
        ] },
    Expected { name: "jigsaw-toxic-comment-classification-challenge", data: (Text, TextClassification),
        metric: "mean column-wise ROC-AUC", target: Some("toxic"), targets: 6, id: Some("id"), told: &[
            "| `comment_text` | text |", "`identity_hate` (60 rows)", "`severe_toxic` (60 rows)",
        ] },
    Expected { name: "leaf-classification", data: (Mixed, Classification), metric: "log loss",
        target: Some("species"), targets: 1, id: Some("id"), told: &[
            "- `train.csv`: 60 rows, 194 columns", "- `images`: 72 .jpg files",
            "values of `id` name them, without their ending", "more number columns: `margin",
        ] },
    Expected { name: "mlsp-2013-birds", data: (Audio, AudioClassification), metric: "ROC-AUC",
        target: Some("Probability"), targets: 1, id: Some("Id"), told: &[
            "20 .wav files", "16000 Hz, 1 channel, 10 s", "60 .bmp files", "in 3 folders",
            "such as `essential_data/rec_labels_test_hidden.txt`; begins with the lines `rec_id,[labels]`, `0,0,7`",
            "such as `essential_data/rec_id2filename.txt`; begins with the lines `rec_id,filename`, `0,PC1_",
        ] },
    Expected { name: "new-york-city-taxi-fare-prediction", data: (Tabular, Regression), metric: "RMSE",
        target: Some("fare_amount"), targets: 1, id: Some("key"), told: &[
            "- `labels.csv`: 60 rows, 8 columns", "- 1 .rtf file", "`fare_amount` (60 rows): minimum 3.5",
        ] },
    Expected { name: "nomad2018-predict-transparent-conductors", data: (Tabular, Regression), metric: "RMSLE",
        target: Some("formation_energy_ev_natom"), targets: 2, id: Some("id"), told: &[
            "- `train`: 60 .xyz files, ", "in 60 folders (`train/1`, `train/10`, `train/11`, …)",
            "begins with the lines `#======`", "values of `id` name their folders", "`bandgap_energy_ev` (60 rows)",
        ] },
    Expected { name: "plant-pathology-2020-fgvc7", data: (Image, ImageClassification), metric: "mean column-wise ROC-AUC",
        target: Some("healthy"), targets: 4, id: Some("image_id"), told: &[
            "- `images`: 72 .jpg files", "names begin with `Test_` (12) or `Train_` (60)",
        ] },
    Expected { name: "random-acts-of-pizza", data: (Mixed, Classification), metric: "ROC-AUC",
        target: Some("requester_received_pizza"), targets: 1, id: Some("request_id"), told: &[
            "- `train.csv` (`./input` has it instead of `train.json`): 60 rows, 12 columns",
            "| `request_text_edit_aware` | text |", "Only in `train.csv`: `request_number_of_comments_at_retrieval`",
        ] },
    Expected { name: "ranzcr-clip-catheter-line-classification", data: (Image, ImageClassification),
        metric: "ROC-AUC", target: Some("ETT - Abnormal"), targets: 11, id: Some("StudyInstanceUID"), told: &[
            "- `train.csv`: 60 rows, 13 columns", "`Swan Ganz Catheter Present` (60 rows)",
            "- `train_annotations.csv`: 60 rows, joins on `StudyInstanceUID`", "- `test`: 12 .jpg files",
        ] },
    Expected { name: "siim-isic-melanoma-classification", data: (Mixed, Classification), metric: "ROC-AUC",
        target: Some("target"), targets: 1, id: Some("image_name"), told: &[
            "Only in `train.csv`: `diagnosis`, `benign_malignant`", "- `train`: 60 .dcm files",
            "- `jpeg`: 72 .jpg files", "in 2 folders (`jpeg/test`, `jpeg/train`)", "- `tfrecords`: 4 .tfrec files",
        ] },
    Expected { name: "spooky-author-identification", data: (Text, TextClassification), metric: "log loss",
        target: Some("author"), targets: 1, id: Some("id"), told: &[
            "`EAP` (always `0.4`)", "3 classes: `EAP` 20 (33%)", "| `text` | text |",
        ] },
    Expected { name: "tabular-playground-series-dec-2021", data: (Tabular, Classification), metric: "accuracy",
        target: Some("Cover_Type"), targets: 1, id: Some("Id"), told: &["- `train.csv`: 60 rows, 46 columns"] },
    Expected { name: "tabular-playground-series-may-2022", data: (Tabular, Classification), metric: "ROC-AUC",
        target: Some("target"), targets: 1, id: Some("id"), told: &["- `train.csv`: 60 rows, 33 columns", "`f_27`"] },
    Expected { name: "text-normalization-challenge-english-language", data: (Text, SequenceToSequence),
        metric: "accuracy", target: Some("after"), targets: 1, id: Some("id"), told: &[
            "- `en_train.csv`: 600 rows, 6 columns", "- `en_test_2.csv`: 60 rows, 4 columns",
        ] },
    Expected { name: "text-normalization-challenge-russian-language", data: (Text, SequenceToSequence),
        metric: "accuracy", target: Some("after"), targets: 1, id: Some("id"), told: &[
            "- `ru_train.csv`: 600 rows, 6 columns", "- `ru_sample_submission_2.csv`: 60 rows",
        ] },
    Expected { name: "the-icml-2013-whale-challenge-right-whale-redux", data: (Audio, AudioClassification),
        metric: "ROC-AUC", target: Some("probability"), targets: 1, id: Some("clip"), told: &[
            "- `train2.zip` (archive): 60 .aif files", "names end with `_0` (54) or `_1` (6) before the ending",
            "5 of them: 2000 Hz, 1 channel, 2 s", "- `sampleSubmission.csv`: 12 rows; columns `clip`",
        ] },
];

fn check(expected: &Expected) {
    let name = expected.name;
    let miniature = ALL.iter().find(|miniature| miniature.name == name).unwrap();
    let dir = tempfile::tempdir().unwrap();
    miniature.write(dir.path());
    let description = std::fs::read_to_string(dir.path().join("description.md")).unwrap();

    let plain = tempfile::tempdir().unwrap();
    let taken_in = ask(&json!({ "question": "take_in", "data": dir.path(), "into": plain.path() }));
    let look: InputData = serde_json::from_value(taken_in).unwrap();
    let data_dir = if look.is_plain { dir.path() } else { plain.path() };
    let facts = inspect(data_dir, &json!({ "description": description, "may_lack_tables": true }));
    let (profile, task) = (Profile::of(&facts).unwrap(), InferredTask::parse(&facts).unwrap());

    assert_eq!((task.data_modality, task.task_type), expected.data, "{name}");
    assert_eq!(task.metric, expected.metric, "{name}");
    let is_loss = ["RMSE", "RMSLE", "log loss"].contains(&expected.metric);
    assert_eq!(task.direction == Direction::Minimize, is_loss, "{name}");
    assert_eq!(
        (task.roles.first_target(), task.roles.id.as_deref()),
        (expected.target, expected.id),
        "{name}"
    );
    if let (Some(profile), Some(target)) = (&profile, task.roles.first_target()) {
        assert_eq!(profile.targets(target, task.roles.id.as_deref()).len(), expected.targets, "{name}");
    }
    let instead: BTreeMap<_, _> = look.instead.into_iter().collect();
    let asked = json!({ "question": "describe", "folder": data_dir, "facts": facts, "instead": instead });
    let told = ask(&asked)["text"].as_str().unwrap().to_owned();
    for part in expected.told {
        assert!(told.contains(part), "{name}: {part}\n{told}");
    }
    assert!(told.chars().count() <= 7_500, "{name}");
}

#[test]
fn every_layout_of_mle_bench_lite_is_understood() {
    let wrong: Vec<&str> = EXPECTED
        .iter()
        .filter(|expected| std::panic::catch_unwind(|| check(expected)).is_err())
        .map(|expected| expected.name)
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}
