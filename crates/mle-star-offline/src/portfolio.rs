//! The models that scripts are written with: families with a configuration, and which of them fit a task.
//!
//! Small configurations are better where noise prevails, large ones where the target follows from the columns. Nobody
//! knows beforehand, so both kinds are among the first.

use crate::families::{Family, ScriptModel};
use crate::history::Past;
use crate::problem::Problem;

/// The strategy that gives models a part of many columns.
pub(crate) const SELECTED_COLUMNS: &str = "selected columns";
/// The slugs of light models, which come first if the usual one takes long.
pub(crate) const FEW_TREES: &str = "lightgbm_few_trees";
pub(crate) const SINGLE_WORDS: &str = "tfidf_words";

/// A family with a configuration.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Model {
    /// The name in headings and prose.
    pub(crate) title: &'static str,
    /// The name in identifiers.
    pub(crate) slug: &'static str,
    pub(crate) family: Family,
    /// Parameters that differ from those of the family's template, as Python literals.
    pub(crate) parameters: &'static [(&'static str, &'static str)],
    /// The names of the strategies that are carried out from the start.
    pub(crate) strategies: &'static [&'static str],
    /// What it gets of the past of a row's series, if rows have series.
    pub(crate) past: Past,
    /// The models whose mean it is, by their names in identifiers; none if it is a model itself.
    pub(crate) mean_of: &'static [&'static str],
}

const fn plain(family: Family) -> Model {
    Model {
        title: family.title(),
        slug: family.slug(),
        family,
        parameters: &[],
        strategies: &[],
        past: Past::None,
        mean_of: &[],
    }
}

const fn variant(title: &'static str, slug: &'static str, family: Family) -> Model {
    Model { title, slug, ..plain(family) }
}

const fn in_time(
    title: &'static str,
    slug: &'static str,
    family: Family,
    strategies: &'static [&'static str],
    past: Past,
) -> Model {
    Model { strategies, past, ..variant(title, slug, family) }
}

/// The data decide on the number of trees: a few dozen where noise prevails, a thousand where the target follows from
/// the columns.
const EARLY: &[&str] = &["early stopping"];

/// Seasons and holidays.
const DATES: &[&str] = &["calendar parts of dates"];

static MODELS: [Model; 37] = [
    plain(Family::TfidfLinear),
    Model {
        parameters: &[("C", "8.0")],
        strategies: &["character pieces of texts"],
        ..variant("TF-IDF linear model of characters", "tfidf_characters", Family::TfidfLinear)
    },
    Model { strategies: EARLY, ..plain(Family::LightGbm) },
    Model { strategies: EARLY, ..plain(Family::XgBoost) },
    plain(Family::CatBoost),
    plain(Family::HistGradientBoosting),
    plain(Family::ExtraTrees),
    plain(Family::RandomForest),
    plain(Family::Linear),
    plain(Family::NeuralNetwork),
    plain(Family::Discriminant),
    Model {
        parameters: &[("n_estimators", "300"), ("min_samples_leaf", "1")],
        ..variant("Extra trees of single rows", "small_extra_trees", Family::ExtraTrees)
    },
    Model {
        parameters: &[("C", "1.0")],
        ..variant("Linear model with a small penalty", "linear_firm", Family::Linear)
    },
    Model {
        parameters: &[
            ("extra_trees", "True"),
            ("learning_rate", "0.06"),
            ("num_leaves", "16"),
            ("reg_lambda", "1.0"),
        ],
        strategies: &["target encoding inside the folds", "early stopping"],
        ..variant("LightGBM with random splits", "lightgbm_random", Family::LightGbm)
    },
    Model {
        parameters: &[
            ("learning_rate", "0.08"),
            ("num_leaves", "31"),
            ("colsample_bytree", "0.8"),
            ("reg_lambda", "1.0"),
        ],
        ..variant("Large LightGBM", "lightgbm_large", Family::LightGbm)
    },
    Model {
        parameters: &[
            ("learning_rate", "0.08"),
            ("max_depth", "6"),
            ("min_child_weight", "2"),
            ("colsample_bytree", "0.8"),
            ("reg_lambda", "1.0"),
        ],
        strategies: EARLY,
        ..variant("Deep XGBoost", "xgboost_deep", Family::XgBoost)
    },
    Model {
        parameters: &[("depth", "6"), ("learning_rate", "0.12")],
        strategies: EARLY,
        ..variant("Deep CatBoost", "catboost_deep", Family::CatBoost)
    },
    Model {
        // Few columns are left, so each tree looks at all of them.
        parameters: &[("rsm", "1.0")],
        strategies: &[SELECTED_COLUMNS],
        ..variant("CatBoost with selected columns", "catboost_selected", Family::CatBoost)
    },
    Model {
        parameters: &[("colsample_bytree", "0.8")],
        strategies: &[SELECTED_COLUMNS, "early stopping"],
        ..variant("LightGBM with selected columns", "lightgbm_selected", Family::LightGbm)
    },
    Model {
        strategies: &["piecewise curves of numbers"],
        ..variant("Linear model of curves", "linear_curves", Family::Linear)
    },
    Model {
        strategies: &["piecewise curves of numbers", "indicators of many categories"],
        ..variant("Linear model of indicators", "linear_indicators", Family::Linear)
    },
    Model { past: Past::Alone, ..plain(Family::Seasons) },
    plain(Family::Constant),
    Model { slug: "linear_quick", parameters: &[("max_iter", "300")], ..plain(Family::Linear) },
    variant("LightGBM of few trees", FEW_TREES, Family::LightGbm),
    variant("TF-IDF linear model of words", SINGLE_WORDS, Family::TfidfLinear),
    in_time("LightGBM with forecasts", "lightgbm_forecasts", Family::LightGbm, DATES, Past::Forecasts),
    Model {
        mean_of: &["seasons", "lightgbm_forecasts"],
        ..variant("Mean of seasons and LightGBM", "mean_of_forecasts", Family::LightGbm)
    },
    Model { strategies: DATES, ..variant("LightGBM with dates", "lightgbm_dates", Family::LightGbm) },
    in_time("LightGBM of distances", "lightgbm_distance", Family::LightGbm, DATES, Past::Distance),
    Model {
        mean_of: &["seasons", "lightgbm_distance"],
        ..variant("Mean of seasons and distances", "mean_of_distances", Family::LightGbm)
    },
    Model {
        strategies: &["calendar parts of dates", "logarithm of the target"],
        past: Past::Distance,
        ..variant("LightGBM of ratios", "lightgbm_ratio", Family::LightGbm)
    },
    in_time("LightGBM with windows", "lightgbm_windows", Family::LightGbm, &[], Past::Windows),
    in_time("CatBoost with windows", "catboost_windows", Family::CatBoost, &[], Past::Windows),
    in_time("CatBoost with forecasts", "catboost_forecasts", Family::CatBoost, DATES, Past::Forecasts),
    in_time("Extra trees of distances", "extra_trees_distance", Family::ExtraTrees, DATES, Past::Distance),
    in_time("Linear model of distances", "linear_distance", Family::Linear, DATES, Past::Distance),
];

/// For numbers that go on in time, before the other models. What a series was is a matter of variants: with and without it
/// are both among the first.
const IN_TIME: &str = "seasons lightgbm_forecasts lightgbm_dates lightgbm_distance mean_of_forecasts linear_distance \
    lightgbm_windows catboost_forecasts mean_of_distances catboost lightgbm_ratio extra_trees_distance";

/// For classes that go on in time.
const CLASSES_IN_TIME: &str = "lightgbm_windows lightgbm catboost_windows catboost";

/// The first three models are of different families; variants of a family come later. The first one is quick and seldom poor: in
/// a short run it may be the only one.
const WITHOUT_TEXTS: &str = "lightgbm catboost linear_indicators lightgbm_large linear_curves neural_network catboost_selected \
    catboost_deep lightgbm_selected lightgbm_random extra_trees xgboost linear discriminant \
    small_extra_trees linear_firm xgboost_deep random_forest hist_gradient_boosting";

const WITH_TEXTS: &str = "tfidf_linear lightgbm tfidf_characters catboost lightgbm_large extra_trees linear_curves \
    lightgbm_random xgboost catboost_deep random_forest hist_gradient_boosting";

impl Model {
    /// Its names and functions.
    pub(crate) fn member(&self, problem: &Problem) -> ScriptModel {
        ScriptModel::new(self.title.to_owned(), self.slug.to_owned(), self.past_in(problem) != Past::None)
    }

    /// The models of a script.
    pub(crate) fn models(&'static self) -> Vec<&'static Self> {
        match self.mean_of {
            [] => vec![self],
            slugs => slugs.iter().filter_map(|slug| Self::by_slug(slug)).collect(),
        }
    }

    /// What it gets of the past in this problem.
    pub(crate) fn past_in(&self, problem: &Problem) -> Past {
        match (self.past, problem.classification) {
            _ if problem.history.is_none() => Past::None,
            (Past::Forecasts | Past::Distance | Past::Alone, true) => Past::Windows,
            (past, _) => past,
        }
    }

    /// The plain model of a family.
    pub(crate) fn of(family: Family) -> &'static Self {
        Self::named(family.slug())
    }

    /// The model with exactly this slug, which the table has.
    pub(crate) fn named(slug: &str) -> &'static Self {
        MODELS.iter().find(|model| model.slug == slug).unwrap_or(&MODELS[2])
    }

    /// The model with this slug, ignoring a number at its end (`lightgbm_2`).
    pub(crate) fn by_slug(slug: &str) -> Option<&'static Self> {
        let stem = slug.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('_');
        MODELS.iter().find(|model| model.slug == stem)
    }

    /// The model that a name means, including names by other authors.
    pub(crate) fn by_name(name: &str) -> Option<&'static Self> {
        let exact = MODELS.iter().find(|model| model.title.eq_ignore_ascii_case(name.trim()));
        exact.or_else(|| Family::by_model_name(name).map(Self::of))
    }
}

/// The models that fit a task, in the order in which they are worth their time.
pub(crate) fn ranked(problem: &Problem) -> Vec<&'static Model> {
    let columns = &problem.columns;
    let texts = !columns.texts.is_empty();
    let only_texts = texts && problem.width() == columns.texts.len();
    let slugs = match (texts, only_texts) {
        (_, true) => "tfidf_linear tfidf_characters lightgbm extra_trees xgboost",
        (true, _) => WITH_TEXTS,
        (false, _) => WITHOUT_TEXTS,
    };
    let fits = |model: &&Model| match model.slug {
        // More curves than this are slow, and the strategy leaves them out.
        "linear_curves" => (1..=40).contains(&columns.numeric.len()),
        "discriminant" => has_small_classes(problem) && problem.weight.is_none(),
        "small_extra_trees" | "linear_firm" => has_small_classes(problem),
        "linear_indicators" => !columns.many_levels.is_empty(),
        "catboost_selected" | "lightgbm_selected" => selects_columns(problem),
        _ => true,
    };
    let mut models: Vec<&Model> = slugs.split(' ').filter_map(Model::by_slug).filter(fits).collect();
    // Among so many columns, some look useful by chance.
    if !texts && selects_columns(problem) {
        models.sort_by_key(|model| !["lightgbm", "catboost_selected"].contains(&model.slug));
    }
    // If nothing decides on the number of its trees, the small model is poor where there is much to learn. Many columns
    // and one tree for each class slow the large one down.
    if !texts && !stops_early(problem) && problem.classes <= 2 && !problem.is_wide() {
        models.sort_by_key(|model| model.slug != "lightgbm_large");
    }
    // With few rows of each class, these are seldom poor, and each takes seconds.
    if has_small_classes(problem) && !texts {
        let first = ["discriminant", "small_extra_trees", "linear_firm"];
        models.sort_by_key(|model| first.iter().position(|slug| *slug == model.slug).unwrap_or(first.len()));
    }
    // Boosted trees fit one tree per class in each round.
    if problem.classes > 20 {
        models.sort_by_key(|model| {
            matches!(model.family, Family::LightGbm | Family::CatBoost | Family::XgBoost)
        });
    }
    with_those_in_time(problem, models)
}

/// The models after those for series, if rows have series.
fn with_those_in_time(problem: &Problem, models: Vec<&'static Model>) -> Vec<&'static Model> {
    let first: Vec<&str> = match (&problem.history, problem.classification) {
        (None, _) => return models,
        (Some(_), true) => CLASSES_IN_TIME.split(' ').collect(),
        (Some(_), false) => IN_TIME.split(' ').collect(),
    };
    // Ratios need a target that can be a logarithm, and another one than the target itself.
    let fits = |model: &&Model| {
        model.slug != "lightgbm_ratio" || problem.scale == "plain" && problem.target_range.0 >= 0.0
    };
    let mut all: Vec<_> = first.iter().filter_map(|slug| Model::by_slug(slug)).filter(fits).collect();
    all.extend(models.into_iter().filter(|model| !first.contains(&model.slug)));
    all
}

/// Whether there are many classes with few rows each.
pub(crate) fn has_small_classes(problem: &Problem) -> bool {
    const MANY: usize = 10;
    const FEW_ROWS: usize = 50;
    problem.classes >= MANY && problem.used_rows <= problem.classes * FEW_ROWS && problem.several.is_empty()
}

/// Whether a table has many numeric columns, and a target by which trees can choose among them quickly. With fewer columns,
/// most are useful.
pub(crate) fn selects_columns(problem: &Problem) -> bool {
    problem.columns.numeric.len() >= 100 && problem.several.is_empty() && problem.classes <= 20
}

/// Whether a part of the fitting rows can tell how many trees are enough.
pub(crate) fn stops_early(problem: &Problem) -> bool {
    // Rows of fitted groups or times would stop too late, and models do not know them.
    let alike = problem.grouping.is_none() && problem.time.is_none();
    // Every class needs rows in both parts.
    let divisible =
        !problem.classification || problem.stratified && problem.classes * 20 <= problem.used_rows;
    alike && divisible && problem.used_rows >= 200
}
