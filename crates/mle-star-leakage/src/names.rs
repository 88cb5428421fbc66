//! Names that say more than an effect: of metrics and of settings.

use crate::effects::{self, Effect, Receiver};
use crate::info::How;
use crate::value::Role;
use memchr::memmem;

/// Classes that choose columns by a function, or in a way that is not known.
const CHOOSERS: &str = "
        FunctionTransformer ColumnSelector DataFrameMapper ColumnTransformerWithNames";
/// Names of settings of models that say for how many rounds they are trained.
const ROUNDS: &str = "
        n_estimators num_boost_round iterations num_iterations num_iteration n_rounds num_rounds nrounds
        epochs ntree_limit ntree_end iteration_range n_epochs";
/// Classes that project features on axes that are learnt by the target, if they get one.
const PROJECTIONS: &str = "
        PLSRegression PLSCanonical CCA LinearDiscriminantAnalysis NeighborhoodComponentsAnalysis UMAP";
/// Classes that remove rows to balance classes.
const UNDERSAMPLERS: &str = "
        RandomUnderSampler NearMiss TomekLinks EditedNearestNeighbours ClusterCentroids";
/// Functions and classes that put several transformers and models together.
const COMPOSITIONS: &str = "
        Pipeline make_pipeline ColumnTransformer make_column_transformer FeatureUnion make_union
        make_imb_pipeline";
/// Functions whose names end like those of metrics.
const NO_METRICS: &str = "
        cross_val_score make_scorer permutation_test_score silhouette_score get_scorer";
/// Metrics, wherever they are defined.
const METRICS: &str = "
        rmse mae mape smape rmsle quadratic_weighted_kappa qwk auc";

/// Whether a name is one of several words.
pub(crate) fn is_one(words: &str, name: &str) -> bool {
    let is_space = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_whitespace);
    let (words, name) = (words.as_bytes(), name.as_bytes());
    !name.is_empty()
        && memmem::find_iter(words, name).any(|at| {
            is_space(at.checked_sub(1).map(|before| &words[before])) && is_space(words.get(at + name.len()))
        })
}

/// Whether a function compares true values with predictions.
pub(crate) fn is_metric(symbol: &str) -> bool {
    let name = symbol.rsplit('.').next().unwrap_or(symbol);
    let endings = ["_score", "_error", "_loss", "_deviance", "_corrcoef", "_rate"];
    let of_metrics = symbol.contains("metrics") && endings.iter().any(|end| name.ends_with(end));
    !is_one(NO_METRICS, name) && (of_metrics || is_one(METRICS, name))
}

/// Whether a metric compares numbers.
pub(crate) fn is_of_numbers(name: &str) -> bool {
    ["squared", "absolute", "r2_score", "_deviance", "max_error", "rmse", "mae", "roc_auc"]
        .iter()
        .any(|word| name.contains(word))
}

/// What a class of a library learns.
pub(crate) fn role(name: &str) -> Role {
    let transforms = name.ends_with("Scaler") || name.ends_with("Imputer");
    let other = if transforms { Role::Transformer } else { Role::Model };
    match effects::of(&[Receiver::Class], name) {
        Some(Effect::Role(role)) => role,
        _ => other,
    }
}

/// Whether a class projects features on axes that are learnt by the target, if it gets one.
pub(crate) fn projects_by_target(name: &str) -> bool {
    is_one(PROJECTIONS, name)
}

/// Whether a class chooses columns in a way that is not known.
pub(crate) fn chooses_columns(name: &str) -> bool {
    is_one(CHOOSERS, name)
}

/// How candidates differ that set this parameter of a model. A few numbers of rounds are as good as other settings.
pub(crate) fn setting(name: &str, open: How) -> How {
    let name = name.rsplit("__").next().unwrap_or(name);
    if name.contains("seed") || name == "random_state" {
        How::Seed
    } else if open == How::Open && is_one(ROUNDS, name) {
        How::Rounds
    } else {
        How::Setting
    }
}

/// Whether a class removes rows to balance classes.
pub(crate) fn removes_rows(name: &str) -> bool {
    is_one(UNDERSAMPLERS, name)
}

/// Whether a function or class puts several transformers and models together.
pub(crate) fn is_composition(name: &str) -> bool {
    is_one(COMPOSITIONS, name)
}

/// Whether functions with this name make networks, as classes do.
pub(crate) fn makes_models(symbol: &str) -> bool {
    symbol.starts_with("torchvision.models.") || symbol == "timm.create_model"
}
