//! How the descriptions of all competitions of MLE-bench are read, as a page of the book.
//!
//! `MLE_STAR_TEST_MLEBENCH` names a checkout of openai/mle-bench; `INSTA_UPDATE=always` writes the page.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use mle_star_needs::needs;
use mle_star_tables::description::{Description, MetricReading, metric};
use mle_star_tables::metrics::Metric;

/// The commit whose descriptions the page is about.
const COMMIT: &str = "783b15af77404fbaffe7255b0c4a934b46153389";

/// What the graders compute, and the built-in metric that is the same; empty for none. From their `grade.py`.
const GRADERS: [(&str, &str, &str); 82] = [
    ("3d-object-detection-for-autonomous-vehicles", "mAP of boxes", ""),
    ("AI4Code", "Kendall's tau", ""),
    ("aerial-cactus-identification", "ROC-AUC", "ROC-AUC"),
    ("alaska2-image-steganalysis", "weighted ROC-AUC", ""),
    ("aptos2019-blindness-detection", "quadratic kappa", "quadratic weighted kappa"),
    ("billion-word-imputation", "mean Levenshtein distance", ""),
    ("bms-molecular-translation", "mean Levenshtein distance", ""),
    ("cassava-leaf-disease-classification", "accuracy", "accuracy"),
    ("cdiscount-image-classification-challenge", "accuracy", "accuracy"),
    ("chaii-hindi-and-tamil-question-answering", "Jaccard index of words", ""),
    ("champs-scalar-coupling", "mean of the logarithms of MAE by type", ""),
    ("denoising-dirty-documents", "RMSE", "RMSE"),
    ("detecting-insults-in-social-commentary", "ROC-AUC", "ROC-AUC"),
    ("dog-breed-identification", "log loss", "log loss"),
    ("dogs-vs-cats-redux-kernels-edition", "log loss", "log loss"),
    ("facebook-recruiting-iii-keyword-extraction", "micro F1 of sets", "micro F1 of sets"),
    ("freesound-audio-tagging-2019", "label-weighted ranking precision", ""),
    ("google-quest-challenge", "mean Spearman correlation of columns", "Spearman"),
    ("google-research-identify-contrails-reduce-global-warming", "Dice coefficient", ""),
    ("h-and-m-personalized-fashion-recommendations", "MAP@12", "MAP@12"),
    ("herbarium-2020-fgvc7", "macro F1", "macro F1"),
    ("herbarium-2021-fgvc8", "macro F1", "macro F1"),
    ("herbarium-2022-fgvc9", "macro F1", "macro F1"),
    ("histopathologic-cancer-detection", "ROC-AUC", "ROC-AUC"),
    ("hms-harmful-brain-activity-classification", "Kullback-Leibler divergence", ""),
    ("hotel-id-2021-fgvc8", "MAP@5", "MAP@5"),
    ("hubmap-kidney-segmentation", "mean Dice coefficient", ""),
    ("icecube-neutrinos-in-deep-ice", "mean angular error", ""),
    ("imet-2020-fgvc7", "micro F1 of sets", "micro F1 of sets"),
    ("inaturalist-2019-fgvc6", "1 - accuracy", ""),
    ("invasive-species-monitoring", "ROC-AUC", "ROC-AUC"),
    ("iwildcam-2019-fgvc6", "macro F1", "macro F1"),
    ("iwildcam-2020-fgvc7", "accuracy", "accuracy"),
    ("jigsaw-toxic-comment-classification-challenge", "mean ROC-AUC of columns", "mean column-wise ROC-AUC"),
    ("jigsaw-unintended-bias-in-toxicity-classification", "means of ROC-AUC of groups", ""),
    ("kuzushiji-recognition", "F1 of boxes", ""),
    ("leaf-classification", "log loss", "log loss"),
    ("learning-agency-lab-automated-essay-scoring-2", "quadratic kappa", "quadratic weighted kappa"),
    ("lmsys-chatbot-arena", "log loss", "log loss"),
    ("ml2021spring-hw2", "accuracy", "accuracy"),
    ("mlsp-2013-birds", "ROC-AUC", "ROC-AUC"),
    ("movie-review-sentiment-analysis-kernels-only", "accuracy", "accuracy"),
    ("multi-modal-gesture-recognition", "Levenshtein distances by gesture", ""),
    ("new-york-city-taxi-fare-prediction", "RMSE", "RMSE"),
    ("nfl-player-contact-detection", "MCC", "MCC"),
    ("nomad2018-predict-transparent-conductors", "mean RMSLE of columns", "RMSLE"),
    ("osic-pulmonary-fibrosis-progression", "modified Laplace log likelihood", ""),
    ("paddy-disease-classification", "accuracy", "accuracy"),
    ("petfinder-pawpularity-score", "RMSE", "RMSE"),
    ("plant-pathology-2020-fgvc7", "mean ROC-AUC of columns", "mean column-wise ROC-AUC"),
    ("plant-pathology-2021-fgvc8", "micro F1 of sets", "micro F1 of sets"),
    ("plant-seedlings-classification", "micro F1", "micro F1"),
    ("playground-series-s3e18", "mean ROC-AUC of columns", "mean column-wise ROC-AUC"),
    ("predict-volcanic-eruptions-ingv-oe", "MAE", "MAE"),
    ("random-acts-of-pizza", "ROC-AUC", "ROC-AUC"),
    ("ranzcr-clip-catheter-line-classification", "mean ROC-AUC of columns", "mean column-wise ROC-AUC"),
    ("rsna-2022-cervical-spine-fracture-detection", "weighted log loss of labels", ""),
    ("rsna-breast-cancer-detection", "probabilistic F1", ""),
    ("rsna-miccai-brain-tumor-radiogenomic-classification", "ROC-AUC", "ROC-AUC"),
    ("seti-breakthrough-listen", "ROC-AUC", "ROC-AUC"),
    ("siim-covid19-detection", "mAP of boxes", ""),
    ("siim-isic-melanoma-classification", "ROC-AUC", "ROC-AUC"),
    ("smartphone-decimeter-2022", "percentiles of distances", ""),
    ("spaceship-titanic", "accuracy", "accuracy"),
    ("spooky-author-identification", "log loss", "log loss"),
    ("stanford-covid-vaccine", "mean RMSE of columns", "MCRMSE"),
    ("statoil-iceberg-classifier-challenge", "log loss", "log loss"),
    ("tabular-playground-series-dec-2021", "accuracy", "accuracy"),
    ("tabular-playground-series-may-2022", "ROC-AUC", "ROC-AUC"),
    ("tensorflow-speech-recognition-challenge", "accuracy", "accuracy"),
    ("tensorflow2-question-answering", "micro F1 of answers", ""),
    ("text-normalization-challenge-english-language", "accuracy", "accuracy"),
    ("text-normalization-challenge-russian-language", "accuracy", "accuracy"),
    ("tgs-salt-identification-challenge", "mAP of masks", ""),
    ("the-icml-2013-whale-challenge-right-whale-redux", "ROC-AUC", "ROC-AUC"),
    ("tweet-sentiment-extraction", "Jaccard index of words", ""),
    ("us-patent-phrase-to-phrase-matching", "Pearson correlation", "Pearson"),
    ("uw-madison-gi-tract-image-segmentation", "Dice coefficient and Hausdorff distance", ""),
    ("ventilator-pressure-prediction", "MAE of some rows", ""),
    ("vesuvius-challenge-ink-detection", "F0.5 of pixels", ""),
    ("vinbigdata-chest-xray-abnormalities-detection", "mAP of boxes", ""),
    ("whale-categorization-playground", "MAP@5", "MAP@5"),
];

const BEFORE: &str = "# Metrics of MLE-bench's descriptions

The description of each of MLE-bench's 82 competitions is read as `mle-star init` reads it. Each metric is the one that the
competition's grader computes, or it is refused, and `--metric` or `--metric-file` decides.
";

fn competitions() -> PathBuf {
    Path::new(&std::env::var_os("MLE_STAR_TEST_MLEBENCH").unwrap_or_default()).join("mlebench/competitions")
}

/// Whether the program's score is the grader's; that of several targets is the mean over them in any case.
fn is_same(metric: Metric, grader: &str) -> bool {
    Metric::parse(grader).is_some_and(|grader| grader.of_column() == metric.of_column())
}

#[test]
fn metrics_of_mle_bench_are_read_right_or_refused() {
    needs!(Named("MLE_STAR_TEST_MLEBENCH"));
    let folder = competitions();
    let has_text = |entry: &fs::DirEntry| entry.path().join("description.md").is_file();
    let found = fs::read_dir(&folder).unwrap().flatten().filter(has_text);
    let found: BTreeSet<String> = found.map(|entry| entry.file_name().into_string().unwrap()).collect();
    assert_eq!(found, GRADERS.iter().map(|(name, ..)| (*name).to_owned()).collect());
    let (mut rows, mut wrong, mut right) = (String::new(), Vec::new(), 0);
    for (name, computes, grader) in GRADERS {
        let text = fs::read_to_string(folder.join(name).join("description.md")).unwrap();
        let read = match metric(&Description::read(&text), false) {
            MetricReading::Known { metric, .. } if is_same(metric, grader) => {
                right += 1;
                metric.to_string()
            }
            MetricReading::Known { metric, from } => {
                wrong.push(format!("{name}: {metric} from {from}, not {computes}"));
                continue;
            }
            MetricReading::Unknown { phrase, .. } | MetricReading::Contrast { phrase, .. } => {
                format!("refused: \"{phrase}\"")
            }
            MetricReading::Several(readings) => format!("refused: {} readings", readings.len()),
            MetricReading::None => "refused: no metric".to_owned(),
        };
        writeln!(rows, "| {name} | {computes} | {read} |").unwrap();
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let built_in = GRADERS.iter().filter(|(.., grader)| !grader.is_empty()).count();
    let text = format!(
        "{BEFORE}\n{right} of the {built_in} metrics that are built in are read right, none is read wrong, and {} descriptions \
         are refused. They are those of [openai/mle-bench](https://github.com/openai/mle-bench) at commit `{}`.\n\n\
         | competition | the grader computes | read as |\n|---|---|---|\n{rows}",
        GRADERS.len() - right,
        &COMMIT[..12],
    );
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/mle-bench-metrics.md");
    mle_star_needs::assert_file(&page, &text);
}
