//! The model families that rules can write, and which of them fit a task.

use serde::Serialize;

use crate::problem::Problem;

/// A family of models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Family {
    LightGbm,
    XgBoost,
    CatBoost,
    HistGradientBoosting,
    ExtraTrees,
    RandomForest,
    Linear,
    Neighbors,
    TfidfLinear,
}

/// A model's place in a script: how people call it, and what its functions end in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Member {
    /// For example `LightGBM`.
    pub(crate) title: String,
    /// For example `lightgbm`.
    pub(crate) slug: String,
}

const ALL: [Family; 9] = [
    Family::TfidfLinear,
    Family::LightGbm,
    Family::XgBoost,
    Family::CatBoost,
    Family::HistGradientBoosting,
    Family::ExtraTrees,
    Family::RandomForest,
    Family::Linear,
    Family::Neighbors,
];

impl Family {
    /// The name in prose and headings.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::LightGbm => "LightGBM",
            Self::XgBoost => "XGBoost",
            Self::CatBoost => "CatBoost",
            Self::HistGradientBoosting => "Histogram gradient boosting",
            Self::ExtraTrees => "Extra trees",
            Self::RandomForest => "Random forest",
            Self::Linear => "Linear model",
            Self::Neighbors => "Nearest neighbours",
            Self::TfidfLinear => "TF-IDF linear model",
        }
    }

    /// The name in identifiers and template names.
    pub(crate) fn slug(self) -> &'static str {
        match self {
            Self::LightGbm => "lightgbm",
            Self::XgBoost => "xgboost",
            Self::CatBoost => "catboost",
            Self::HistGradientBoosting => "hist_gradient_boosting",
            Self::ExtraTrees => "extra_trees",
            Self::RandomForest => "random_forest",
            Self::Linear => "linear",
            Self::Neighbors => "neighbors",
            Self::TfidfLinear => "tfidf_linear",
        }
    }

    /// The template of its encoding.
    pub(crate) fn encoding(self) -> &'static str {
        match self {
            Self::CatBoost => "encoding_catboost",
            Self::Linear | Self::Neighbors | Self::TfidfLinear => "encoding_scaled",
            _ => "encoding_trees",
        }
    }

    /// Title and slug.
    pub(crate) fn member(self) -> Member {
        Member { title: self.title().to_owned(), slug: self.slug().to_owned() }
    }

    /// The family with this slug, a number at its end ignored (`lightgbm_2`).
    pub(crate) fn by_slug(slug: &str) -> Option<Self> {
        let stem = slug.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('_');
        ALL.into_iter().find(|family| family.slug() == stem)
    }

    /// The family that a model's name means; names from elsewhere included.
    pub(crate) fn by_model_name(name: &str) -> Option<Self> {
        let name = name.to_lowercase();
        let means = |words: &[&str]| words.iter().any(|word| name.contains(word));
        let table: [(&[&str], Self); 9] = [
            (&["tf-idf", "tfidf", "bag of words", "naive bayes"], Self::TfidfLinear),
            (&["lightgbm", "lgbm"], Self::LightGbm),
            (&["xgb"], Self::XgBoost),
            (&["catboost"], Self::CatBoost),
            (&["hist"], Self::HistGradientBoosting),
            (&["extra"], Self::ExtraTrees),
            (&["forest"], Self::RandomForest),
            (&["logistic", "linear", "ridge", "lasso", "elastic", "svm", "svc"], Self::Linear),
            (&["neighbo", "knn", "k-nn"], Self::Neighbors),
        ];
        table.into_iter().find(|(words, _)| means(words)).map(|(_, family)| family)
    }

    /// The class that a short example constructs, with its module.
    pub(crate) fn class(self, classification: bool) -> (&'static str, String) {
        let (module, stem) = match self {
            Self::LightGbm => ("lightgbm", "LGBM"),
            Self::XgBoost => ("xgboost", "XGB"),
            Self::CatBoost => ("catboost", "CatBoost"),
            Self::HistGradientBoosting => ("sklearn.ensemble", "HistGradientBoosting"),
            Self::ExtraTrees => ("sklearn.ensemble", "ExtraTrees"),
            Self::RandomForest => ("sklearn.ensemble", "RandomForest"),
            Self::Neighbors => ("sklearn.neighbors", "KNeighbors"),
            Self::Linear | Self::TfidfLinear if classification => {
                return ("sklearn.linear_model", "LogisticRegression".to_owned());
            }
            Self::Linear | Self::TfidfLinear => return ("sklearn.linear_model", "Ridge".to_owned()),
        };
        (module, format!("{stem}{}", if classification { "Classifier" } else { "Regressor" }))
    }
}

/// The families that fit a task, the most promising first.
pub(crate) fn ranked(problem: &Problem) -> Vec<Family> {
    let rows = problem.used_rows;
    let texts = !problem.columns.texts.is_empty();
    let only_text = texts && problem.width() == problem.columns.texts.len();
    if only_text {
        return vec![Family::TfidfLinear, Family::LightGbm, Family::ExtraTrees, Family::XgBoost];
    }
    let mut families = Vec::new();
    if texts {
        families.push(Family::TfidfLinear);
    }
    // Small tables favour smooth and averaged models; large ones favour boosting.
    if rows < 2_000 {
        families.extend([Family::LightGbm, Family::Linear, Family::ExtraTrees, Family::CatBoost]);
    } else {
        families.extend([Family::LightGbm, Family::CatBoost, Family::XgBoost, Family::ExtraTrees]);
    }
    families.extend([Family::HistGradientBoosting, Family::RandomForest]);
    // The scaled encoding turns texts into sparse words, which is the text model already listed.
    if !texts && rows >= 2_000 {
        families.push(Family::Linear);
    }
    // Distances mean little in high dimensions and are slow on many rows.
    if !texts && rows <= 20_000 && problem.width() <= 60 {
        families.push(Family::Neighbors);
    }
    if rows < 2_000 {
        families.push(Family::XgBoost);
    }
    // Every class costs boosted trees one more tree a round.
    if problem.classes > 20 {
        families.sort_by_key(|family| matches!(family, Family::LightGbm | Family::CatBoost));
    }
    families
}
