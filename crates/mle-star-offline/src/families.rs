//! The model families that the rule-based agents use.

use serde::Serialize;

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
    TfidfLinear,
    NeuralNetwork,
    Discriminant,
    /// Forecasts from the past of each series alone.
    Seasons,
    /// The same prediction for every row.
    Constant,
}

/// A model in a script: its title, and the suffix of its functions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct ScriptModel {
    /// For example `LightGBM`.
    pub(crate) title: String,
    /// For example `lightgbm`.
    pub(crate) slug: String,
    /// Whether it has a function for the past of each row's series.
    pub(crate) has_history: bool,
    /// The names of its functions, as arguments of the script's cross-validation.
    pub(crate) functions: String,
}

impl ScriptModel {
    /// A model with these names.
    pub(crate) fn new(title: String, slug: String, has_history: bool) -> Self {
        let history = if has_history { format!(", history_{slug}") } else { String::new() };
        let functions = format!("features_{slug}, encode_{slug}, fit_{slug}{history}");
        Self { title, slug, has_history, functions }
    }
}

impl Family {
    /// The name in headings and prose.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::LightGbm => "LightGBM",
            Self::XgBoost => "XGBoost",
            Self::CatBoost => "CatBoost",
            Self::HistGradientBoosting => "Histogram gradient boosting",
            Self::ExtraTrees => "Extra trees",
            Self::RandomForest => "Random forest",
            Self::Linear => "Linear model",
            Self::TfidfLinear => "TF-IDF linear model",
            Self::NeuralNetwork => "Neural network",
            Self::Discriminant => "Linear discriminant analysis",
            Self::Seasons => "Seasons and levels",
            Self::Constant => "Constant",
        }
    }

    /// The name in identifiers and template names.
    pub(crate) const fn slug(self) -> &'static str {
        match self {
            Self::LightGbm => "lightgbm",
            Self::XgBoost => "xgboost",
            Self::CatBoost => "catboost",
            Self::HistGradientBoosting => "hist_gradient_boosting",
            Self::ExtraTrees => "extra_trees",
            Self::RandomForest => "random_forest",
            Self::Linear => "linear",
            Self::TfidfLinear => "tfidf_linear",
            Self::NeuralNetwork => "neural_network",
            Self::Discriminant => "discriminant",
            Self::Seasons => "seasons",
            Self::Constant => "constant",
        }
    }

    /// The template of its encoding.
    pub(crate) fn encoding(self) -> &'static str {
        match self {
            Self::CatBoost => "encoding_catboost",
            Self::Seasons | Self::Constant => "encoding_none",
            Self::Linear | Self::TfidfLinear | Self::NeuralNetwork | Self::Discriminant => "encoding_scaled",
            _ => "encoding_trees",
        }
    }

    /// The template of its features.
    pub(crate) fn features(self) -> &'static str {
        if matches!(self, Self::Seasons | Self::Constant) { "features_none" } else { "features" }
    }

    /// The family that a model name means, also as other authors write it.
    pub(crate) fn by_model_name(name: &str) -> Option<Self> {
        let name = name.to_lowercase();
        let means = |words: &[&str]| words.iter().any(|word| name.contains(word));
        let table: [(&[&str], Self); 10] = [
            (&["discriminant"], Self::Discriminant),
            (&["tf-idf", "tfidf", "bag of words", "naive bayes"], Self::TfidfLinear),
            (&["lightgbm", "lgbm"], Self::LightGbm),
            (&["xgb"], Self::XgBoost),
            (&["catboost"], Self::CatBoost),
            (&["hist"], Self::HistGradientBoosting),
            (&["extra"], Self::ExtraTrees),
            (&["forest"], Self::RandomForest),
            (&["logistic", "linear", "ridge", "lasso", "elastic", "svm", "svc"], Self::Linear),
            (&["neural", "mlp", "perceptron", "deep"], Self::NeuralNetwork),
        ];
        table.into_iter().find(|(words, _)| means(words)).map(|(_, family)| family)
    }

    /// The class for a short example, with its module.
    pub(crate) fn class(self, classification: bool) -> (&'static str, String) {
        let (module, stem) = match self {
            Self::LightGbm => ("lightgbm", "LGBM"),
            Self::XgBoost => ("xgboost", "XGB"),
            Self::CatBoost => ("catboost", "CatBoost"),
            Self::HistGradientBoosting => ("sklearn.ensemble", "HistGradientBoosting"),
            Self::ExtraTrees => ("sklearn.ensemble", "ExtraTrees"),
            Self::RandomForest => ("sklearn.ensemble", "RandomForest"),
            Self::NeuralNetwork => ("sklearn.neural_network", "MLP"),
            Self::Discriminant => {
                let module = "sklearn.discriminant_analysis";
                return (module, "LinearDiscriminantAnalysis".to_owned());
            }
            Self::Seasons => return ("sklearn.dummy", "DummyRegressor".to_owned()),
            Self::Constant => ("sklearn.dummy", "Dummy"),
            Self::Linear | Self::TfidfLinear if classification => {
                return ("sklearn.linear_model", "LogisticRegression".to_owned());
            }
            Self::Linear | Self::TfidfLinear => {
                return ("sklearn.linear_model", "Ridge".to_owned());
            }
        };
        (module, format!("{stem}{}", if classification { "Classifier" } else { "Regressor" }))
    }
}
