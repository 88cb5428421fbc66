"""Linear model of curves for flight-delays: 5 folds, ROC-AUC."""


# === Setup ===
import os

import numpy as np
import pandas as pd
import scipy.linalg
from threadpoolctl import threadpool_limits

SEED = 42
# The algebra of numpy and of scipy: its threads wait for each other, which takes longer than the work where a core is busy.
threadpool_limits(1, user_api="blas")
# Where there is an empty folder for it, the fitted model is kept.
KEEPS_MODEL = os.path.isdir("./final/model") and not os.listdir("./final/model")
# All scripts validate on the same rows, so that they can be combined.
SAMPLE_SEED = 42
# More threads cost more than they save on a table of this size.
THREADS = 1


# === Data ===
TARGET = "delayed"
ID = "id"
NUMERIC = [
    "month", "day", "sched_dep_time", "sched_arr_time", "distance", "planes_year", "planes_seats",
    "weather_temp", "weather_humid", "weather_wind_dir", "weather_wind_speed", "weather_precip",
    "weather_pressure", "weather_visib",
]
CATEGORICAL = ["carrier", "origin", "planes_engine"]
MANY_LEVELS = ["tailnum", "dest", "planes_manufacturer", "planes_model"]
DATES = ["time_hour"]
# These have a time of day.
WITH_HOURS = ["time_hour"]

train = pd.read_csv("./input/train.csv")
test = pd.read_csv("./input/test.csv")

# How the columns of the test table are read. Those without any value are read as in the training table.
KINDS = {name: (train if name in train and test[name].isna().all() else test)[name].dtype for name in test}

# Of all rows, since a part of them may lack a rare class.
CLASSES = pd.factorize(train[TARGET], sort=True)[1]

# The search uses a random part of the rows to stay fast.
# Every training row is used.
train = train.reset_index(drop=True)

# planes has one row for each key.
planes_table = pd.read_csv("./input/planes.csv").drop_duplicates(["tailnum"])
planes_table = planes_table.set_index(["tailnum"]).add_prefix("planes_").reset_index()

# weather has one row for each key.
weather_table = pd.read_csv("./input/weather.csv").drop_duplicates(["origin", "time_hour"])
weather_table = weather_table.set_index(["origin", "time_hour"]).add_prefix("weather_").reset_index()


def prepared(table):
    """The rows of a table with further columns, each computed from its own row."""
    table = table.copy(deep=False)
    table = table.merge(planes_table, on=["tailnum"], how="left")
    table = table.merge(weather_table, on=["origin", "time_hour"], how="left")
    return table


train, test = prepared(train), prepared(test)

y = train[TARGET].map({label: code for code, label in enumerate(CLASSES)}).to_numpy()


# === Folds ===
# All scripts validate on the same folds, so that their scores can be compared.
# The program that made this script wrote the file; a copy lies beside it.
folds = pd.read_csv("./input/folds.csv")
fold = train["id"].map(folds.groupby("id")["fold"].first()).to_numpy(dtype=float)
FOLDS = [(np.flatnonzero(fold != number), np.flatnonzero(fold == number)) for number in np.unique(fold)]


# === Metric ===
import numpy as np
from sklearn import metrics


def score(truth, predicted, weight=None):
    """The area under the ROC curve: of the second of two classes, else of each class against the rest, averaged."""
    columns = [1] if predicted.shape[1] == 2 else np.unique(truth)
    found = [metrics.roc_auc_score(truth == one, predicted[:, one], sample_weight=weight) for one in columns]
    return float(np.mean(found))


metric = score


# === Features: Linear model of curves ===
def features_linear_curves(frame):
    """Columns computed row by row, without learning."""
    x = frame[NUMERIC].astype(float)
    x[CATEGORICAL + MANY_LEVELS] = frame[CATEGORICAL + MANY_LEVELS].astype("str").fillna("missing")
    for column in DATES:
        moment = pd.to_datetime(frame[column], errors="coerce", format="mixed", utc=True)
        x[column + "_days"] = (moment - pd.Timestamp("2000-01-01", tz="UTC")) / pd.Timedelta(days=1)
        x[column + "_month"] = moment.dt.month.astype(float)
        x[column + "_weekday"] = moment.dt.day_of_week.astype(float)
        if column in WITH_HOURS:
            x[column + "_hour"] = moment.dt.hour + moment.dt.minute / 60
    return x


# === Encoding: Linear model of curves ===
from sklearn.preprocessing import SplineTransformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler, TargetEncoder


def encode_linear_curves(fit, y_fit):
    """The matrix of the fitting rows, and what makes one of other rows. It is learnt from the fitting rows."""
    numeric = list(fit.select_dtypes("number").columns)
    # Columns: their values for the fitting rows, and what finds them for other rows.
    blocks = []
    fill = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    scale = make_pipeline(fill, StandardScaler()).fit(fit[numeric].to_numpy(dtype=float))
    scaled = lambda rows: scale.transform(rows[numeric].to_numpy(dtype=float))
    blocks.append((scaled(fit), scaled))
    switches = OneHotEncoder(handle_unknown="ignore", sparse_output=False, dtype=float).fit(fit[CATEGORICAL])
    blocks.append((switches.transform(fit[CATEGORICAL]), lambda rows: switches.transform(rows[CATEGORICAL])))
    # For columns with many categories, cross-fitted target means replace thousands of indicators.
    means = TargetEncoder(target_type="auto", cv=KFold(5, shuffle=True, random_state=SEED))
    encoded = means.fit_transform(fit[MANY_LEVELS], y_fit)
    level = StandardScaler().fit(encoded)
    blocks.append((level.transform(encoded), lambda rows: level.transform(means.transform(rows[MANY_LEVELS]))))
    # Splines let a linear model learn curves.
    curves = make_pipeline(
        SimpleImputer(strategy="median", keep_empty_features=True),
        StandardScaler(),
        SplineTransformer(n_knots=5, degree=3, knots="quantile", include_bias=False),
    ).fit(fit[numeric].to_numpy(dtype=float))
    curves_of = lambda rows: curves.transform(rows[numeric].to_numpy(dtype=float))
    blocks.append((curves_of(fit), curves_of))
    known, makers = zip(*blocks)
    return np.hstack(known), lambda rows: np.hstack([maker(rows) for maker in makers])


# === Model: Linear model of curves ===
from sklearn.linear_model import LogisticRegression

PARAMS_LINEAR_CURVES = {
    "C": 0.3,
    "max_iter": 3000,
}


def fit_linear_curves(x, y_fit):
    """Class probabilities; the result is what predicts other rows."""
    model = LogisticRegression(**PARAMS_LINEAR_CURVES, random_state=SEED)
    model.fit(x, y_fit)
    return lambda rows: model.predict_proba(rows)


# === Cross-validation ===
def out_of_fold(features, encode, fit):
    """Out-of-fold predictions for the training rows, the mean over folds for the test rows, and what finds that for others."""
    x_train, x_test = features(train), features(test)

    def learnt_from(fit_rows):
        """What a model of the fitting rows predicts for others."""
        # Every class has fitting rows in every fold.
        present, y_fit = np.unique(y[fit_rows], return_inverse=True)
        matrix, encoded = encode(x_train.iloc[fit_rows], y_fit)
        predict = fit(matrix, y_fit)
        return lambda rows: predict(encoded(rows))

    oof = np.zeros((len(train), len(CLASSES)))
    predicted = np.zeros((len(test), len(CLASSES)))
    models = []
    for fit_rows, valid_rows in FOLDS:
        model = learnt_from(fit_rows)
        oof[valid_rows] = model(x_train.iloc[valid_rows])
        predicted += model(x_test) / len(FOLDS)
        # Otherwise a model is not needed any more.
        models.extend([model] if KEEPS_MODEL else [])

    def predict(rows):
        x = features(rows)
        return sum(model(x) / len(models) for model in models)

    return oof, predicted, predict


# === Training ===
oof, predicted, predict = out_of_fold(features_linear_curves, encode_linear_curves, fit_linear_curves)


# === Postprocessing ===
def decide(values):
    """Class probabilities that add up to one."""
    values = np.clip(values, 1e-6, 1.0)
    return values / values.sum(axis=1, keepdims=True)


def postprocess(oof):
    """The decided out-of-fold predictions, and what decides others."""
    return decide(oof), decide


# === Validation ===
def answers(values):
    """The columns of the submission with these predictions."""
    return {"delayed": values[:, 1]}


validated, decide = postprocess(oof)
final = decide(predicted)
performance = metric(y, validated)
print(f"Final Validation Performance: {performance}")

# The rows behind the score with their predictions, so that it can be computed again.
checked = train[["id"]].assign(**answers(validated))
os.makedirs("./final", exist_ok=True)
checked.to_csv("./final/validation_predictions.csv", index=False)


# === Submission ===
submission = pd.read_csv("./input/sample_submission.csv")
# Rows are matched by ID to keep the order of the sample submission.
rows = pd.Series(np.arange(len(test)), index=test[ID]).reindex(submission[ID]).to_numpy()
final = final[rows]
os.makedirs("./final", exist_ok=True)
submission.assign(**answers(final)).to_csv("./final/submission.csv", index=False)


# === Other rows ===
COLUMNS = list(dict.fromkeys([*submission.columns, *answers(final)]))


def read(file, at_once):
    """The rows of a file like the test table, so many at a time."""
    is_number = lambda kind: pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_bool_dtype(kind)
    texts = {name: str for name, kind in KINDS.items() if not pd.api.types.is_numeric_dtype(kind)}
    options = {}
    for rows in pd.read_csv(file, dtype=texts, chunksize=at_once, low_memory=False, **options):
        # Words among numbers count as missing.
        for name, kind in KINDS.items():
            if is_number(kind) and not is_number(rows[name].dtype):
                rows[name] = pd.to_numeric(rows[name], errors="coerce")
        yield rows


def answers_of(rows):
    """The columns of the submission for other rows."""
    values = decide(predict(prepared(rows)))
    found = answers(values)
    table = pd.DataFrame({name: np.asarray(found[name] if name in found else rows.get(name)) for name in COLUMNS}, index=rows.index)
    return table, None


if KEEPS_MODEL:
    import cloudpickle

    class Keeper(cloudpickle.Pickler):
        """Writes boosters as the files of their libraries, and everything else into one file."""

        def persistent_id(self, value):
            library, kind = type(value).__module__.split(".")[0], type(value).__qualname__
            endings = {("lightgbm", "Booster"): "txt", ("xgboost", "Booster"): "ubj", ("catboost", "CatBoostClassifier"): "cbm", ("catboost", "CatBoostRegressor"): "cbm"}
            if (library, kind) not in endings:
                return None
            # Values stay in memory, so their numbers are theirs.
            number = kept.setdefault(id(value), len(kept) + 1)
            name = f"{library}-{number}.{endings[library, kind]}"
            value.save_model(f"./final/model/{name}")
            return library, kind, name

    kept = {}
    with open("./final/model/model.pickle", "wb") as file:
        Keeper(file).dump((read, answers_of))