//! The table of effects: for each receiver the effects of its methods or functions, each with the names that have it.
//!
//! A further function of a library is one more name in a row. A name with `*` stands for all that begin and end like it.

use ruff_python_ast::{CmpOp, Operator};

use super::{
    Attribute, Best, Columns, Draw, Effect, Expression, File, Items, Learn, Made, Make, New, Order, Python,
    Receiver, Rows, Score, Split, Stack, Statistic, Step, Test, Text, Values,
};
use crate::info::How;
use crate::rows::DivisionKind;
use crate::value::Role;

macro_rules! effect {
    ($kind:ident) => {
        Effect::$kind
    };
    (Setting($how:expr)) => {
        Effect::Setting($how)
    };
    ($kind:ident :: $($variant:tt)+) => {
        Effect::$kind($kind::$($variant)+)
    };
}

macro_rules! rows {
    ($($receiver:expr => { $([$($effect:tt)+] $names:literal;)* })*) => {
        &[$($(($receiver, effect!($($effect)+), $names),)*)*]
    };
}

/// Libraries, and parts of them, with the receivers that have their functions. Others are any library.
pub(super) const LIBRARIES: &[(&str, &[Receiver])] = &[
    ("metrics", &[Receiver::Library("metrics"), Receiver::Library("sklearn"), Receiver::Any]),
    ("pandas polars cudf dask", &[Receiver::Library("pandas"), Receiver::Any]),
    ("numpy scipy cupy jax np", &[Receiver::Library("numpy"), Receiver::Any]),
    (
        "torch",
        &[Receiver::Library("torch"), Receiver::Library("numpy"), Receiver::Library("losses"), Receiver::Any],
    ),
    ("F torchvision", &[Receiver::Library("losses"), Receiver::Any]),
    ("torchvision.datasets", &[Receiver::Library("torchvision.datasets")]),
    ("torchvision.models", &[Receiver::Library("torchvision.models")]),
    ("lightgbm xgboost catboost", &[Receiver::Library("lightgbm"), Receiver::Any]),
    ("sklearn", &[Receiver::Library("sklearn"), Receiver::Any]),
    ("sklearn.datasets", &[Receiver::Library("sklearn.datasets")]),
    ("statsmodels", &[Receiver::Library("statsmodels"), Receiver::Any]),
    ("dataclasses", &[Receiver::Library("dataclasses")]),
    ("itertools", &[Receiver::Library("itertools"), Receiver::Any]),
    ("os", &[Receiver::Library("os"), Receiver::Any]),
    ("math", &[Receiver::Library("math"), Receiver::Any]),
    ("random", &[Receiver::Library("random"), Receiver::Any]),
    ("statistics", &[Receiver::Library("statistics"), Receiver::Any]),
    ("json pickle joblib", &[Receiver::Library("pickle"), Receiver::Any]),
    ("PIL", &[]),
];

/// Receivers, effects and names.
pub(super) const ROWS: &[(Receiver, Effect, &str)] = rows! {
    Receiver::Table => {
        [Same] "copy astype infer_objects convert_dtypes ffill bfill rename_axis sort_index cast collect
            lazy tocsr toarray todense float cpu detach type to cuda long double half int bool contiguous
            clone unsqueeze requires_grad_ tolist to_list droplevel fill_null asfreq with_row_index items
            swaplevel";
        [Piped] "pipe";
        [Nothing] "info hist plot";
        [Make::Where] "nonzero";
        [Rows::Some] "dropna drop_duplicates head tail nlargest nsmallest truncate drop_nulls limit";
        [Rows::Sampled] "sample";
        [Rows::Queried] "query";
        [Rows::At] "take reindex";
        [Rows::Others] "difference";
        [Rows::Below] "append";
        [Rows::Repeated] "repeat";
        [Rows::Each { numbered: true }] "iterrows";
        [Rows::Each { numbered: false }] "itertuples iter_rows";
        [Rows::Renumbered] "reset_index";
        [Rows::Batches] "split chunk";
        [Columns::Index] "set_index";
        [Columns::Label] "to_frame alias";
        [Columns::Renamed] "rename";
        [Columns::Affixed] "add_prefix add_suffix";
        [Columns::Reshaped] "unstack stack to_dict permute";
        [Columns::Dropped] "drop";
        [Columns::Taken] "pop";
        [Columns::Selected] "select filter";
        [Columns::Typed] "select_dtypes";
        [Columns::Assigned] "assign";
        [Columns::Inserted] "insert";
        [Columns::Merged] "merge join";
        [Columns::Got] "get";
        [Columns::Extended] "with_columns";
        [Values::Array] "to_numpy ravel flatten reshape squeeze transpose view numpy rank argsort argmax
            softmax log_softmax sigmoid tanh relu exp log clamp square sqrt expm1 log1p nan_to_num";
        [Values::Cells] "where mask clip replace round abs";
        [Values::Filled] "fillna";
        [Values::Operator(Operator::Add)] "add";
        [Values::Operator(Operator::Sub)] "sub subtract";
        [Values::Operator(Operator::Mult)] "mul multiply";
        [Values::Operator(Operator::Div)] "div divide";
        [Values::Operator(Operator::Pow)] "pow";
        [Values::Product] "dot";
        [Values::Mapped] "map apply transform applymap map_elements";
        [Test::Compare(CmpOp::Eq)] "eq";
        [Test::Compare(CmpOp::NotEq)] "ne";
        [Test::Compare(CmpOp::Lt)] "lt";
        [Test::Compare(CmpOp::LtE)] "le";
        [Test::Compare(CmpOp::Gt)] "gt";
        [Test::Compare(CmpOp::GtE)] "ge";
        [Test::Among] "isin is_in";
        [Test::Between] "between is_between";
        [Test::Missing] "isna isnull";
        [Test::Present] "notna notnull";
        [Order::Sorted] "sort_values sort";
        [Order::Lagged] "shift cumcount";
        [Order::Differences] "diff pct_change";
        [Order::Cumulated] "cumsum cummax cummin cumprod";
        [Order::Window { itself: true }] "rolling expanding ewm";
        [Order::Window { itself: false }] "resample";
        [Order::Grouped] "groupby group_by";
        [Statistic::Mean] "mean median std var quantile mode agg aggregate";
        [Statistic::Sum] "max min sum count any all nunique skew kurt prod";
        [Statistic::Counts] "value_counts describe idxmax idxmin";
        [Statistic::Categories] "unique";
        [Statistic::Correlations] "corr corrwith cov";
        [Statistic::Pivot] "pivot_table pivot";
        [File::Written] "to_csv to_parquet to_pickle to_feather write_csv";
        [Columns::OfPandas] "to_pandas";
        [Attribute::Values] "values array real";
        [Attribute::Shape] "shape";
        [Attribute::Length] "size height";
        [Attribute::Transposed] "T";
        [Attribute::Unknown] "dtype dtypes";
        [Attribute::Names] "columns";
        [Attribute::Index] "index";
        [Attribute::Places] "iloc loc at iat";
        [Attribute::Texts] "str";
        [Attribute::Times] "dt";
        [Attribute::Categories] "cat";
    }
    Receiver::Polars => {
        [Same] "over rechunk shrink_to_fit";
        [Rows::Filtered] "filter";
        [Columns::Expressed] "select";
        [Values::Elementwise] "then otherwise replace_strict";
        [Order::Cumulated] "cum_sum cum_max cum_min cum_prod rolling_mean rolling_sum rolling_std
            rolling_min rolling_max rolling_median ewm_mean ewm_std";
    }
    Receiver::Group => {
        [Same] "reset_index";
        [Unknown] "groups indices get_group __iter__ head tail sample";
        [Order::Window { itself: true }] "rolling expanding ewm";
        [Order::Cumulated] "cumsum cummax cummin";
        [Order::Lagged] "shift cumcount ffill bfill ngroup";
        [Order::Differences] "diff pct_change";
        [Order::Ranked] "rank";
        [Statistic::Counts] "size count nunique len";
        [Values::Mapped] "transform apply";
    }
    Receiver::Library("pandas") => {
        [Expression::Named] "col";
        [Expression::All] "all exclude";
        [Expression::Value] "when lit";
        [Expression::Count] "len count";
        [Same] "from_pandas to_numeric get_dummies";
        [Make::Table] "DataFrame";
        [Make::Series] "Series";
        [Stack::Tables] "concat";
        [Columns::Merged] "merge merge_asof";
        [Values::Array] "qcut";
        [Values::Times] "to_datetime Timestamp datetime64";
        [Values::Cut] "cut";
        [Values::Codes] "factorize";
        [Test::Missing] "isna isnull";
        [Test::Present] "notna notnull";
        [Statistic::Pivot] "pivot_table";
        [Statistic::Crosstab] "crosstab";
    }
    Receiver::Library("numpy") => {
        [File::Array] "load genfromtxt loadtxt load_npz";
        [Make::Blank] "zeros empty";
        [Make::Constant] "ones full";
        [Make::BlankLike] "zeros_like ones_like empty_like full_like";
        [Make::Range] "arange";
        [Make::Candidates] "linspace logspace geomspace";
        [Make::Array] "array asarray ascontiguousarray ravel squeeze csr_matrix tensor from_numpy atleast_2d
            Tensor FloatTensor LongTensor";
        [Make::Positions] "flatnonzero";
        [Make::Where] "where nonzero select";
        [Make::Sorted] "argsort argpartition";
        [Make::Without] "delete";
        [Make::Others] "setdiff1d";
        [Make::Unique] "unique";
        [Stack::Below] "concatenate cat row_stack r_";
        [Stack::Rows] "vstack";
        [Stack::Row] "hstack";
        [Stack::Beside] "column_stack c_";
        [Stack::New] "stack";
        [Stack::Two] "append";
        [Rows::Repeated] "repeat tile";
        [Draw::Numbers] "rand random uniform normal randn random_sample standard_normal randint integers";
        [Draw::Permutation] "permutation randperm";
        [Draw::Rows] "choice";
        [Draw::Number] "dirichlet";
        [Draw::Generator] "default_rng RandomState";
        [Test::Among] "isin in1d";
        [Test::Finite] "isnan isfinite";
        [Test::Not] "logical_not invert";
        [Test::Compare(CmpOp::Eq)] "equal";
        [Test::Compare(CmpOp::NotEq)] "not_equal";
        [Values::Product] "dot matmul";
        [Statistic::MeanOf] "mean sum average nanmean nansum gmean";
        [Statistic::Spread] "median std var nanmedian nanstd percentile quantile prod mode";
        [Statistic::Best(Best::Value)] "max min amax amin nanmax nanmin";
        [Statistic::Best(Best::Place)] "argmax argmin nanargmax nanargmin";
        [Statistic::Bins] "bincount binned_statistic";
        [Statistic::AddedAt] "at";
        [Statistic::LeastSquares] "lstsq polyfit curve_fit nnls leastsq";
        [Unknown] "intersect1d histogram shuffle cov";
        [Attribute::Constant] "inf nan pi e";
    }
    Receiver::Library("torch") => {
        [Values::Best] "max min topk sort";
        // The same network, on several devices or made faster; positions in any order.
        [Itself] "compile DataParallel DistributedDataParallel SubsetRandomSampler SequentialSampler
            RandomSampler";
        [New::Tensors] "TensorDataset";
        [New::Loader] "DataLoader";
        [New::Parts] "random_split";
    }
    Receiver::List => {
        [Same] "copy";
        [Number] "index count";
        [Items::Added] "append add insert";
        [Items::Extended] "extend update";
        [Items::Removed] "remove";
        [Items::Sorted] "sort";
        [Statistic::MeanOf] "mean sum";
        [Statistic::Best(Best::Value)] "max min";
        [Statistic::Best(Best::Place)] "argmax argmin";
    }
    Receiver::Dict => {
        [Same] "copy";
        [Items::Extended] "update";
        [Items::Got] "get pop";
        [Items::Default] "setdefault";
        [Items::Keys] "keys";
        [Items::Values] "values";
        [Items::Pairs] "items";
    }
    Receiver::Names => {
        [Same] "tolist to_list copy sort_values unique";
        [Items::Added] "append insert extend add update";
        [Items::Removed] "drop difference remove";
        [Test::Among] "isin";
    }
    Receiver::Text => {
        [Itself] "resolve absolute expanduser as_posix";
        [Text::Formatted] "format";
        [Text::Joined] "join";
        [Text::Path] "joinpath";
        [Text::Starts] "startswith";
        [Text::Ends] "endswith";
        [Text::Replaced] "replace";
        [Text::Lower] "lower";
        [Text::Upper] "upper";
        [Text::Stripped] "strip";
        [File::Opened] "read_text read_bytes open";
        [File::Written] "write_text write_bytes";
        [File::Matching] "glob rglob";
        [File::InFolder] "iterdir";
        [Attribute::Folder] "parent parents";
        [Attribute::Itself] "name stem";
    }
    Receiver::Texts => {
        [Test::Part] "contains startswith endswith";
    }
    Receiver::Number => {
        [Columns::Label] "alias";
        [Statistic::Over] "over";
        [Statistic::Best(Best::Value)] "max min nlargest nsmallest sort_values";
        [Statistic::Best(Best::Place)] "argmax argmin idxmax idxmin argsort";
        [Attribute::Itself] "values array T str dt iloc loc";
        [Attribute::Unknown] "shape size columns";
        [Attribute::Found] "x";
    }
    Receiver::Estimator => {
        [Itself] "get_booster compile add set_output";
        [Learn::Fit { further: false }] "fit fit_generator fit_regularized";
        [Learn::Fit { further: true }] "partial_fit";
        [Learn::FitTransform] "fit_transform";
        [Learn::FitPredict] "fit_predict";
        [Learn::Transform] "transform";
        [Learn::Back] "inverse_transform";
        [Learn::Predict] "predict predict_proba decision_function predict_log_proba score_samples apply";
        [Learn::Score] "score evaluate";
        [Learn::Resample] "fit_resample fit_sample";
        [Learn::Nearest] "kneighbors query radius_neighbors query_radius";
        [Learn::Told(Attribute::Importances)] "get_support get_feature_importance feature_importance get_score
            get_fscore shap_values";
        [Learn::Told(Attribute::Results)] "evals_result get_evals_result";
        [Learn::Told(Attribute::BestScore)] "get_best_score";
        [Attribute::Itself] "best_estimator_ booster_ model";
        [Attribute::BestScore] "best_score_ best_score";
        [Attribute::History] "history";
        [Attribute::Results] "evals_result_";
        [Attribute::Importances] "feature_importances_ coef_ pvalues tvalues params ranking_ scores_ pvalues_
            support_";
    }
    Receiver::Network => {
        [Itself] "to cuda cpu float double half eval train requires_grad_";
        // What is kept under a condition depends on it.
        [Number] "state_dict get_weights";
        [Learn::Restored] "load_state_dict set_weights";
    }
    Receiver::Trainer => {
        [Step::Learnt] "backward";
        [Step::Begun] "step";
        [Step::Frozen] "eval";
        [Step::Open] "train";
    }
    Receiver::Context => {
        [Step::Frozen] "no_grad inference_mode";
        // If they are told so.
        [Step::Open] "set_grad_enabled";
    }
    Receiver::Decorator => {
        [Attribute::Itself] "*property";
    }
    Receiver::Reset => {
        [Learn::Restored] "set_weights load_weights load_state_dict reset_parameters clone_model load_model
            from_config apply deepcopy";
    }
    Receiver::Splitter => {
        [Split::Folds] "split";
    }
    Receiver::Study => {
        [Score::Trials] "optimize";
        [Attribute::BestScore] "best_value value values best_values";
        [Attribute::BestSettings] "best_params params";
    }
    Receiver::Builtin => {
        [Itself] "iter";
        [File::Printed] "print";
        [File::Opened] "open";
        [Text::Written] "str";
        [Make::Range] "range";
        [Statistic::MeanOf] "sum";
        [Statistic::Best(Best::Value)] "max min";
        [Statistic::Best(Best::Sorted)] "sorted";
        [Python::Length] "len";
        [Python::Number] "float int abs round";
        [Python::Next] "next";
        [Python::Attribute] "getattr";
        [Python::List] "list tuple set reversed frozenset";
        [Python::Dict] "dict";
        [Python::Zip] "zip";
        [Python::Enumerated] "enumerate";
        [Python::Mapped] "map";
    }
    Receiver::Library("math") => {
        [Itself] "sqrt log log1p exp";
        [Attribute::Constant] "inf nan pi e";
    }
    Receiver::Library("os") => {
        [Text::Path] "join";
    }
    Receiver::Library("random") => {
        [Draw::Number] "random uniform randint choice gauss normalvariate";
        [Draw::Few] "sample";
    }
    Receiver::Library("statistics") => {
        [Statistic::MeanOf] "mean fmean median";
    }
    Receiver::Library("dataclasses") => {
        [Python::Field] "field";
    }
    Receiver::Library("itertools") => {
        [Python::Product] "product";
        [Python::Combinations] "combinations permutations combinations_with_replacement";
    }
    Receiver::Library("pickle") => {
        [File::Loaded] "load";
    }
    Receiver::Library("sklearn") => {
        [Split::Shuffled] "shuffle";
        [Split::Drawn] "resample";
        [Learn::Scaled] "scale minmax_scale robust_scale quantile_transform";
    }
    Receiver::Library("sklearn.datasets") => {
        [Make::Example { parts: true }] "make_*";
        [Make::Example { parts: false }] "fetch_* load_*";
    }
    Receiver::Library("metrics") => {
        [Unknown] "silhouette_score make_scorer get_scorer";
        [Score::Metric { numbers: true }] "r2_score max_error roc_auc_score mean_squared_* root_mean_squared_*
            mean_absolute_* median_absolute_* *_deviance";
        [Score::Metric { numbers: false }] "*_score *_error *_loss *_corrcoef *_rate";
    }
    Receiver::Library("losses") => {
        [Score::Loss] "cross_entropy binary_cross_entropy binary_cross_entropy_with_logits *_loss";
    }
    Receiver::Library("torchvision.datasets") => {
        [Make::Known] "*";
    }
    Receiver::Library("torchvision.models") => {
        [Role::Model] "*";
    }
    Receiver::Library("statsmodels") => {
        [New::Statistical] "*";
    }
    Receiver::Library("lightgbm") => {
        [New::DataSet] "Dataset DMatrix QuantileDMatrix Pool";
        [New::Trained] "train";
        [Split::OfDataSet] "cv";
    }
    // Which categories there are says nothing of a row's target, so encoders of categories learn nothing.
    Receiver::Class => {
        [Role::Nothing] "FunctionTransformer Normalizer HashingVectorizer PolynomialFeatures Binarizer
            MultiLabelBinarizer FeatureHasher LabelBinarizer LabelEncoder OrdinalEncoder OneHotEncoder
            BinaryEncoder CountEncoder";
        [Role::TargetEncoder] "TargetEncoder CatBoostEncoder WOEEncoder LeaveOneOutEncoder JamesSteinEncoder
            MEstimateEncoder GLMMEncoder QuantileEncoder SummaryEncoder";
        [Role::Selector] "SelectKBest SelectPercentile RFE RFECV SelectFromModel SequentialFeatureSelector
            GenericUnivariateSelect SelectFdr SelectFpr SelectFwe BorutaPy";
        [Role::Sampler] "SMOTE SMOTENC SMOTEN ADASYN RandomOverSampler BorderlineSMOTE SVMSMOTE KMeansSMOTE
            SMOTEENN SMOTETomek";
        [Role::Search] "GridSearchCV RandomizedSearchCV HalvingGridSearchCV HalvingRandomSearchCV
            BayesSearchCV OptunaSearchCV";
        [Role::Transformer] "PCA IncrementalPCA KernelPCA SparsePCA TruncatedSVD FastICA NMF FactorAnalysis
            LatentDirichletAllocation TfidfVectorizer CountVectorizer TfidfTransformer KBinsDiscretizer
            PowerTransformer QuantileTransformer SplineTransformer KMeans MiniBatchKMeans GaussianMixture
            UMAP TSNE VarianceThreshold Tokenizer MissingIndicator RBFSampler Nystroem TextVectorization
            IsolationForest *Scaler *Imputer";
    }
    Receiver::Setting => {
        [Setting(How::Seed)] "random_state seed* *seed";
        [Setting(How::Rounds)] "n_estimators num_boost_round iterations num_iterations num_iteration n_rounds
            num_rounds nrounds epochs ntree_limit ntree_end iteration_range n_epochs";
    }
    Receiver::Maker => {
        [Made::Composed] "Pipeline make_pipeline FeatureUnion make_union make_imb_pipeline";
        [Made::ByColumns] "ColumnTransformer make_column_transformer";
        [Made::Choosing] "FunctionTransformer ColumnSelector DataFrameMapper ColumnTransformerWithNames";
        [Made::Projecting] "LinearDiscriminantAnalysis NeighborhoodComponentsAnalysis UMAP";
        [Made::ProjectingBoth] "PLSRegression PLSCanonical PLSSVD CCA";
        [Made::Predicting] "IsotonicRegression";
        [Made::Undersampling] "RandomUnderSampler NearMiss TomekLinks EditedNearestNeighbours ClusterCentroids";
        [Made::Training] "Sequential Model Functional";
        [Made::Loss] "*Loss";
        [Made::Doing] "Parallel";
        [Made::Explaining] "*Explainer";
    }
    Receiver::Any => {
        [Itself] "Path PurePath copy tqdm trange expanduser abspath basename delayed add_constant
            record_evaluation";
        [Python::Copied] "deepcopy";
        [Python::Cloned] "clone";
        [Python::Partial] "partial";
        [Python::Dict] "OrderedDict Counter SimpleNamespace";
        [Python::DefaultDict] "defaultdict";
        [Nothing] "seed manual_seed manual_seed_all set_seed set_random_seed seed_everything";
        [Text::Folder] "dirname";
        [File::Printed] "info write echo success";
        [File::Table] "read_* scan_*";
        [File::Opened] "open ZipFile TarFile unpack_archive extractall load load_file loadmat";
        [File::Written] "save savez savetxt dump";
        [File::Matching] "glob iglob rglob";
        [File::InFolder] "listdir iterdir scandir";
        [Split::Two] "train_test_split";
        [Split::Scores] "cross_val_score";
        [Split::AllScores] "cross_validate";
        [Split::Predictions] "cross_val_predict";
        [Role::Model] "create_model";
        [Score::Metric { numbers: true }] "rmse mae";
        [Score::Metric { numbers: false }] "mape smape rmsle quadratic_weighted_kappa qwk auc";
        [Score::Curve] "roc_curve precision_recall_curve det_curve";
        [Score::Association] "mutual_info_classif mutual_info_regression f_classif f_regression chi2
            r_regression pointbiserialr";
        [Score::Correlation] "pearsonr spearmanr kendalltau corrcoef";
        [Score::Samples] "ttest_ind mannwhitneyu ks_2samp f_oneway kruskal ranksums median_test";
        [Score::Permutation] "permutation_importance";
        [Score::Optimised] "minimize minimize_scalar differential_evolution fmin basinhopping dual_annealing
            brute shgo";
        [Draw::Trial] "suggest_float suggest_int suggest_categorical suggest_uniform suggest_loguniform
            suggest_discrete_uniform";
        [New::Study] "create_study";
        [New::Stopping] "early_stopping EarlyStopping";
        [New::Splitter(DivisionKind::Folds)] "KFold StratifiedKFold MultilabelStratifiedKFold LeaveOneOut";
        [New::Splitter(DivisionKind::ShuffledFolds)] "RepeatedKFold RepeatedStratifiedKFold";
        [New::Splitter(DivisionKind::Draws)] "ShuffleSplit StratifiedShuffleSplit";
        [New::Splitter(DivisionKind::Groups)] "GroupKFold StratifiedGroupKFold GroupShuffleSplit
            LeaveOneGroupOut LeavePGroupsOut PredefinedSplit";
        [New::Splitter(DivisionKind::Time)] "TimeSeriesSplit PurgedKFold PurgedGroupTimeSeriesSplit
            GroupTimeSeriesSplit";
    }
};
