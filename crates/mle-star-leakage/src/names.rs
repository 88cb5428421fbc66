//! Names of libraries: metrics, transformers, samplers and so on.

use crate::info::How;
use crate::rows::DivisionKind;
use crate::value::Role;

/// Classes that learn nothing.
const LEARN_NOTHING: &[&str] = &[
    "FunctionTransformer",
    "Normalizer",
    "HashingVectorizer",
    "PolynomialFeatures",
    "Binarizer",
    "MultiLabelBinarizer",
    "FeatureHasher",
    "LabelBinarizer",
    // Which categories there are says nothing of a row's target.
    "LabelEncoder",
    "OrdinalEncoder",
    "OneHotEncoder",
    "BinaryEncoder",
    "CountEncoder",
];
/// Classes that learn statistics of the target.
const TARGET_ENCODERS: &[&str] = &[
    "TargetEncoder",
    "CatBoostEncoder",
    "WOEEncoder",
    "LeaveOneOutEncoder",
    "JamesSteinEncoder",
    "MEstimateEncoder",
    "GLMMEncoder",
    "QuantileEncoder",
    "SummaryEncoder",
];
/// Classes that select features by the target.
const SELECTORS: &[&str] = &[
    "SelectKBest",
    "SelectPercentile",
    "RFE",
    "RFECV",
    "SelectFromModel",
    "SequentialFeatureSelector",
    "GenericUnivariateSelect",
    "SelectFdr",
    "SelectFpr",
    "SelectFwe",
    "BorutaPy",
];
/// Classes that repeat or generate rows.
const SAMPLERS: &[&str] = &[
    "SMOTE",
    "SMOTENC",
    "SMOTEN",
    "ADASYN",
    "RandomOverSampler",
    "BorderlineSMOTE",
    "SVMSMOTE",
    "KMeansSMOTE",
    "SMOTEENN",
    "SMOTETomek",
];
/// Searches over the settings of a model.
const SEARCHES: &[&str] = &[
    "GridSearchCV",
    "RandomizedSearchCV",
    "HalvingGridSearchCV",
    "HalvingRandomSearchCV",
    "BayesSearchCV",
    "OptunaSearchCV",
];
/// Classes that learn statistics without the target.
const TRANSFORMERS: &[&str] = &[
    "PCA",
    "IncrementalPCA",
    "KernelPCA",
    "SparsePCA",
    "TruncatedSVD",
    "FastICA",
    "NMF",
    "FactorAnalysis",
    "LatentDirichletAllocation",
    "TfidfVectorizer",
    "CountVectorizer",
    "TfidfTransformer",
    "KBinsDiscretizer",
    "PowerTransformer",
    "QuantileTransformer",
    "SplineTransformer",
    "KMeans",
    "MiniBatchKMeans",
    "GaussianMixture",
    "UMAP",
    "TSNE",
    "VarianceThreshold",
    "Tokenizer",
    "MissingIndicator",
    "RBFSampler",
    "Nystroem",
    "TextVectorization",
    "IsolationForest",
];

/// Whether a function compares true values with predictions.
pub(crate) fn is_metric(symbol: &str) -> bool {
    let name = symbol.rsplit('.').next().unwrap_or(symbol);
    if matches!(
        name,
        "cross_val_score" | "make_scorer" | "permutation_test_score" | "silhouette_score" | "get_scorer"
    ) {
        return false;
    }
    let of_metrics = symbol.contains("metrics");
    let ending = ["_score", "_error", "_loss", "_deviance", "_corrcoef", "_rate"]
        .iter()
        .any(|end| name.ends_with(end));
    (of_metrics && ending)
        || matches!(
            name,
            "rmse" | "mae" | "mape" | "smape" | "rmsle" | "quadratic_weighted_kappa" | "qwk" | "auc"
        )
}

/// What a class of a library learns.
pub(crate) fn role(name: &str) -> Role {
    let lists = [
        (LEARN_NOTHING, Role::Nothing),
        (TARGET_ENCODERS, Role::TargetEncoder),
        (SELECTORS, Role::Selector),
        (SAMPLERS, Role::Sampler),
        (SEARCHES, Role::Search),
        (TRANSFORMERS, Role::Transformer),
    ];
    let transforms = name.ends_with("Scaler") || name.ends_with("Imputer");
    let other = if transforms { Role::Transformer } else { Role::Model };
    lists.iter().find(|(names, _)| names.contains(&name)).map_or(other, |(_, role)| *role)
}

/// Whether a class projects features on axes that are learnt by the target, if it gets one.
pub(crate) fn projects_by_target(name: &str) -> bool {
    matches!(
        name,
        "PLSRegression"
            | "PLSCanonical"
            | "CCA"
            | "LinearDiscriminantAnalysis"
            | "NeighborhoodComponentsAnalysis"
            | "UMAP"
    )
}

/// How candidates differ that set this parameter of a model. A few numbers of rounds are as good as other settings.
pub(crate) fn setting(name: &str, open: How) -> How {
    let rounds = matches!(
        name,
        "n_estimators"
            | "num_boost_round"
            | "iterations"
            | "num_iterations"
            | "num_iteration"
            | "n_rounds"
            | "num_rounds"
            | "nrounds"
            | "epochs"
            | "ntree_limit"
            | "ntree_end"
            | "iteration_range"
            | "n_epochs"
    );
    if name.contains("seed") || name == "random_state" {
        How::Seed
    } else if rounds && open == How::Open {
        How::Rounds
    } else {
        How::Setting
    }
}

/// Whether a class removes rows to balance classes.
pub(crate) fn removes_rows(name: &str) -> bool {
    matches!(
        name,
        "RandomUnderSampler" | "NearMiss" | "TomekLinks" | "EditedNearestNeighbours" | "ClusterCentroids"
    )
}

/// Whether a function or class puts several transformers and models together.
pub(crate) fn is_composition(name: &str) -> bool {
    matches!(
        name,
        "Pipeline"
            | "make_pipeline"
            | "ColumnTransformer"
            | "make_column_transformer"
            | "FeatureUnion"
            | "make_union"
            | "make_imb_pipeline"
    )
}

/// How a splitter divides rows.
pub(crate) fn division(name: &str) -> Option<DivisionKind> {
    Some(match name {
        "KFold"
        | "StratifiedKFold"
        | "RepeatedKFold"
        | "RepeatedStratifiedKFold"
        | "MultilabelStratifiedKFold"
        | "LeaveOneOut" => DivisionKind::Folds,
        "ShuffleSplit" | "StratifiedShuffleSplit" => DivisionKind::Draws,
        "GroupKFold"
        | "StratifiedGroupKFold"
        | "GroupShuffleSplit"
        | "LeaveOneGroupOut"
        | "LeavePGroupsOut"
        | "PredefinedSplit" => DivisionKind::Groups,
        "TimeSeriesSplit" | "PurgedKFold" | "PurgedGroupTimeSeriesSplit" | "GroupTimeSeriesSplit" => {
            DivisionKind::Time
        }
        _ => return None,
    })
}

/// Whether the name of a file says that it holds labels which no script may see.
pub(crate) fn is_of_labels(path: &str) -> bool {
    let path = path.to_lowercase();
    let parts: Vec<&str> = path.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".").collect();
    let Some((file, folders)) = parts.split_last() else { return false };
    let words: Vec<&str> = file.split(|letter: char| !letter.is_alphanumeric()).collect();
    // `sample_solution.csv` shows the layout.
    if words.iter().any(|word| matches!(*word, "sample" | "template" | "example")) {
        return false;
    }
    let has = |options: &[&str]| options.iter().any(|option| words.contains(option));
    let is_code = [".py", ".ipynb", ".md", ".yaml", ".yml", ".html", ".png", ".log"];
    if is_code.iter().any(|ending| file.ends_with(ending)) {
        return false;
    }
    // Labels of training rows.
    let of_training = |word: &str| matches!(word, "train" | "training");
    if words.iter().any(|word| of_training(word))
        || (!has(&["test"]) && folders.iter().any(|folder| of_training(folder)))
    {
        return false;
    }
    // What stands for a part that is not known may be `sample`.
    if file.contains('*') && has(&["solution", "solutions"]) {
        return false;
    }
    let of_labels = has(&["labels", "label", "targets", "target", "truth"]);
    // Held-out rows without labels are no secret.
    let held_out = |words: &[&str]| {
        let pair = |one, other| words.contains(&one) && words.contains(&other);
        words.contains(&"holdout") || words.contains(&"heldout") || pair("held", "out") || pair("hold", "out")
    };
    let secret = has(&["answers", "answer", "solution", "solutions", "private", "groundtruth"])
        || (has(&["ground"]) && has(&["truth"]))
        || (of_labels && (has(&["test"]) || held_out(&words)));
    // An absolute path may lead through a system's own `/private`.
    let mut folders = folders.iter().skip(usize::from(path.starts_with('/')));
    secret || folders.any(|name| matches!(*name, "answers" | "private") || (of_labels && held_out(&[name])))
}
