"""Ensemble selection: the predictions of several solutions, combined by weights.

Each member is a complete script. It runs in a folder of its own, with the same input. The weights were chosen greedily
on the predictions for validation rows.
"""

import contextlib
import io
import os
import sys
import tempfile
import types

import pandas as pd

ID = "id"
BY = "mean"


def member_1():
    """phase2/path-1/t1/k0, validation score 0.7324754843338914."""
    return r'''
"""LightGBM for flight-delays: 5 folds, area under the ROC curve of the second class (the larger label)."""


# === Setup ===
import os

import numpy as np
import pandas as pd

SEED = 42
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

train = pd.read_csv("./input/train.csv")
test = pd.read_csv("./input/test.csv")

# Of all rows, since a part of them may lack a rare class.
CLASSES = pd.factorize(train[TARGET], sort=True)[1]

# The search uses a random part of the rows to stay fast.
# Every training row is used.
train = train.reset_index(drop=True)

# planes has one row for each key.
planes = pd.read_csv("./input/planes.csv").drop_duplicates(["tailnum"])
planes = planes.set_index(["tailnum"]).add_prefix("planes_").reset_index()
train = train.merge(planes, on=["tailnum"], how="left")
test = test.merge(planes, on=["tailnum"], how="left")

# weather has one row for each key.
weather = pd.read_csv("./input/weather.csv").drop_duplicates(["origin", "time_hour"])
weather = weather.set_index(["origin", "time_hour"]).add_prefix("weather_").reset_index()
train = train.merge(weather, on=["origin", "time_hour"], how="left")
test = test.merge(weather, on=["origin", "time_hour"], how="left")

y = train[TARGET].map({label: code for code, label in enumerate(CLASSES)}).to_numpy()


# === Folds ===
from sklearn.model_selection import StratifiedKFold

FOLDS = list(StratifiedKFold(n_splits=5, shuffle=True, random_state=SEED).split(train, y))


# === Metric ===
from sklearn.metrics import roc_auc_score


def metric(truth, predicted):
    """Area under the ROC curve of the second class (the larger label)."""
    return roc_auc_score(truth, predicted[:, 1])


# === Features: LightGBM ===
def features_lightgbm(frame):
    """Columns computed row by row, without learning."""
    x = frame[NUMERIC].astype(float)
    x[CATEGORICAL + MANY_LEVELS] = frame[CATEGORICAL + MANY_LEVELS].astype("str").fillna("missing")
    for column in DATES:
        moment = pd.to_datetime(frame[column], errors="coerce", format="mixed", utc=True)
        x[column + "_days"] = (moment - pd.Timestamp("2000-01-01", tz="UTC")) / pd.Timedelta(days=1)
        x[column + "_month"] = moment.dt.month.astype(float)
        x[column + "_weekday"] = moment.dt.day_of_week.astype(float)
    # Calendar parts, with the year's cycle on a circle so that December is next to January.
    for column in DATES:
        moment = pd.to_datetime(frame[column], errors="coerce", format="mixed", utc=True)
        x[column + "_year"] = moment.dt.year.astype(float)
        x[column + "_day"] = moment.dt.day.astype(float)
        x[column + "_hour"] = moment.dt.hour.astype(float)
        x[column + "_weekend"] = (moment.dt.day_of_week >= 5).astype(float)
        angle = 2 * np.pi * moment.dt.day_of_year / 365.25
        x[column + "_sin"], x[column + "_cos"] = np.sin(angle), np.cos(angle)
    return x


# === Encoding: LightGBM ===
from sklearn.model_selection import KFold
from sklearn.preprocessing import OneHotEncoder, TargetEncoder


def encode_lightgbm(fit, y_fit, others):
    """Matrices for fitting and predicting, learnt from the fitting rows."""
    frames = [fit, *others]
    numeric = list(fit.select_dtypes("number").columns)
    blocks = [[frame[numeric].to_numpy(dtype=float) for frame in frames]]
    # A small tree reaches any one category in a single split.
    switches = OneHotEncoder(handle_unknown="ignore", sparse_output=False, dtype=float).fit(fit[CATEGORICAL])
    blocks.append([switches.transform(frame[CATEGORICAL]) for frame in frames])
    # For columns with many categories, cross-fitted target means are better than codes.
    means = TargetEncoder(target_type="auto", cv=KFold(5, shuffle=True, random_state=SEED))
    blocks.append([means.fit_transform(fit[MANY_LEVELS], y_fit), *(means.transform(other[MANY_LEVELS]) for other in others)])
    return [np.hstack(parts) for parts in zip(*blocks)]


# === Model: LightGBM ===
from lightgbm import LGBMClassifier

PARAMS_LIGHTGBM = {
    "n_estimators": 250,
    "learning_rate": 0.04,
    "num_leaves": 8,
    "min_child_samples": 20,
    "subsample": 0.8,
    "subsample_freq": 1,
    "colsample_bytree": 0.5,
    "reg_lambda": 3.0,
}


def fit_predict_lightgbm(x, y_fit, others):
    """Class probabilities for each of `others`."""
    model = LGBMClassifier(**PARAMS_LIGHTGBM, random_state=SEED, n_jobs=THREADS, verbose=-1)
    model.fit(x, y_fit)
    return [model.predict_proba(other) for other in others]


# === Cross-validation ===
def out_of_fold(features, encode, fit_predict):
    """Out-of-fold predictions for the training rows, and the mean over folds for the test rows."""
    x_train, x_test = features(train), features(test)
    oof = np.zeros((len(train), len(CLASSES)))
    predicted = np.zeros((len(test), len(CLASSES)))
    for fit_rows, valid_rows in FOLDS:
        # A rare class may be missing in the fitting rows of a fold; its probability is 0 then.
        present, y_fit = np.unique(y[fit_rows], return_inverse=True)
        fit, valid, rest = encode(x_train.iloc[fit_rows], y_fit, [x_train.iloc[valid_rows], x_test])
        on_valid, on_test = fit_predict(fit, y_fit, [valid, rest])
        oof[np.ix_(valid_rows, present)] = on_valid
        predicted[:, present] += on_test / len(FOLDS)
    return oof, predicted


# === Training ===
oof, predicted = out_of_fold(features_lightgbm, encode_lightgbm, fit_predict_lightgbm)


# === Postprocessing ===
def postprocess(oof, predicted):
    """Class probabilities that add up to one."""
    oof, predicted = np.clip(oof, 1e-6, 1.0), np.clip(predicted, 1e-6, 1.0)
    return oof / oof.sum(axis=1, keepdims=True), predicted / predicted.sum(axis=1, keepdims=True)


# === Validation ===
def answers(values):
    """The columns of the submission with these predictions."""
    return {"delayed": values[:, 1]}


validated, final = postprocess(oof, predicted)
score = metric(y, validated)
print(f"Final Validation Performance: {score}")

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
'''


def member_2():
    """Extra trees, phase3/extra-5, validation score 0.7219588615163837."""
    return r'''
"""Extra trees for flight-delays: 5 folds, area under the ROC curve of the second class (the larger label)."""


# === Setup ===
import os

import numpy as np
import pandas as pd

SEED = 42
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

train = pd.read_csv("./input/train.csv")
test = pd.read_csv("./input/test.csv")

# Of all rows, since a part of them may lack a rare class.
CLASSES = pd.factorize(train[TARGET], sort=True)[1]

# The search uses a random part of the rows to stay fast.
# Every training row is used.
train = train.reset_index(drop=True)

# planes has one row for each key.
planes = pd.read_csv("./input/planes.csv").drop_duplicates(["tailnum"])
planes = planes.set_index(["tailnum"]).add_prefix("planes_").reset_index()
train = train.merge(planes, on=["tailnum"], how="left")
test = test.merge(planes, on=["tailnum"], how="left")

# weather has one row for each key.
weather = pd.read_csv("./input/weather.csv").drop_duplicates(["origin", "time_hour"])
weather = weather.set_index(["origin", "time_hour"]).add_prefix("weather_").reset_index()
train = train.merge(weather, on=["origin", "time_hour"], how="left")
test = test.merge(weather, on=["origin", "time_hour"], how="left")

y = train[TARGET].map({label: code for code, label in enumerate(CLASSES)}).to_numpy()


# === Folds ===
from sklearn.model_selection import StratifiedKFold

FOLDS = list(StratifiedKFold(n_splits=5, shuffle=True, random_state=SEED).split(train, y))


# === Metric ===
from sklearn.metrics import roc_auc_score


def metric(truth, predicted):
    """Area under the ROC curve of the second class (the larger label)."""
    return roc_auc_score(truth, predicted[:, 1])


# === Features: Extra trees ===
def features_extra_trees(frame):
    """Columns computed row by row, without learning."""
    x = frame[NUMERIC].astype(float)
    x[CATEGORICAL + MANY_LEVELS] = frame[CATEGORICAL + MANY_LEVELS].astype("str").fillna("missing")
    for column in DATES:
        moment = pd.to_datetime(frame[column], errors="coerce", format="mixed", utc=True)
        x[column + "_days"] = (moment - pd.Timestamp("2000-01-01", tz="UTC")) / pd.Timedelta(days=1)
        x[column + "_month"] = moment.dt.month.astype(float)
        x[column + "_weekday"] = moment.dt.day_of_week.astype(float)
    return x


# === Encoding: Extra trees ===
from sklearn.model_selection import KFold
from sklearn.preprocessing import OrdinalEncoder, TargetEncoder


def encode_extra_trees(fit, y_fit, others):
    """Matrices for fitting and predicting, learnt from the fitting rows."""
    frames = [fit, *others]
    numeric = list(fit.select_dtypes("number").columns)
    blocks = [[frame[numeric].to_numpy(dtype=float) for frame in frames]]
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1).fit(fit[CATEGORICAL])
    blocks.append([codes.transform(frame[CATEGORICAL]) for frame in frames])
    # For columns with many categories, cross-fitted target means are better than codes.
    means = TargetEncoder(target_type="auto", cv=KFold(5, shuffle=True, random_state=SEED))
    blocks.append([means.fit_transform(fit[MANY_LEVELS], y_fit), *(means.transform(other[MANY_LEVELS]) for other in others)])
    return [np.hstack(parts) for parts in zip(*blocks)]


# === Model: Extra trees ===
from sklearn.ensemble import ExtraTreesClassifier

PARAMS_EXTRA_TREES = {
    "n_estimators": 150,
    "min_samples_leaf": 5,
    "max_features": 0.5,
}


def fit_predict_extra_trees(x, y_fit, others):
    """Class probabilities for each of `others`."""
    model = ExtraTreesClassifier(**PARAMS_EXTRA_TREES, random_state=SEED, n_jobs=THREADS)
    model.fit(x, y_fit)
    return [model.predict_proba(other) for other in others]


# === Cross-validation ===
def out_of_fold(features, encode, fit_predict):
    """Out-of-fold predictions for the training rows, and the mean over folds for the test rows."""
    x_train, x_test = features(train), features(test)
    oof = np.zeros((len(train), len(CLASSES)))
    predicted = np.zeros((len(test), len(CLASSES)))
    for fit_rows, valid_rows in FOLDS:
        # A rare class may be missing in the fitting rows of a fold; its probability is 0 then.
        present, y_fit = np.unique(y[fit_rows], return_inverse=True)
        fit, valid, rest = encode(x_train.iloc[fit_rows], y_fit, [x_train.iloc[valid_rows], x_test])
        on_valid, on_test = fit_predict(fit, y_fit, [valid, rest])
        oof[np.ix_(valid_rows, present)] = on_valid
        predicted[:, present] += on_test / len(FOLDS)
    return oof, predicted


# === Training ===
oof, predicted = out_of_fold(features_extra_trees, encode_extra_trees, fit_predict_extra_trees)


# === Postprocessing ===
def postprocess(oof, predicted):
    """Class probabilities that add up to one."""
    oof, predicted = np.clip(oof, 1e-6, 1.0), np.clip(predicted, 1e-6, 1.0)
    return oof / oof.sum(axis=1, keepdims=True), predicted / predicted.sum(axis=1, keepdims=True)


# === Validation ===
def answers(values):
    """The columns of the submission with these predictions."""
    return {"delayed": values[:, 1]}


validated, final = postprocess(oof, predicted)
score = metric(y, validated)
print(f"Final Validation Performance: {score}")

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
'''


def member_3():
    """phase2/path-0/t1/k1, validation score 0.7283090169815833."""
    return r'''
"""LightGBM for flight-delays: 5 folds, area under the ROC curve of the second class (the larger label)."""


# === Setup ===
import os

import numpy as np
import pandas as pd

SEED = 42
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

train = pd.read_csv("./input/train.csv")
test = pd.read_csv("./input/test.csv")

# Of all rows, since a part of them may lack a rare class.
CLASSES = pd.factorize(train[TARGET], sort=True)[1]

# The search uses a random part of the rows to stay fast.
# Every training row is used.
train = train.reset_index(drop=True)

# planes has one row for each key.
planes = pd.read_csv("./input/planes.csv").drop_duplicates(["tailnum"])
planes = planes.set_index(["tailnum"]).add_prefix("planes_").reset_index()
train = train.merge(planes, on=["tailnum"], how="left")
test = test.merge(planes, on=["tailnum"], how="left")

# weather has one row for each key.
weather = pd.read_csv("./input/weather.csv").drop_duplicates(["origin", "time_hour"])
weather = weather.set_index(["origin", "time_hour"]).add_prefix("weather_").reset_index()
train = train.merge(weather, on=["origin", "time_hour"], how="left")
test = test.merge(weather, on=["origin", "time_hour"], how="left")

y = train[TARGET].map({label: code for code, label in enumerate(CLASSES)}).to_numpy()


# === Folds ===
from sklearn.model_selection import StratifiedKFold

FOLDS = list(StratifiedKFold(n_splits=5, shuffle=True, random_state=SEED).split(train, y))


# === Metric ===
from sklearn.metrics import roc_auc_score


def metric(truth, predicted):
    """Area under the ROC curve of the second class (the larger label)."""
    return roc_auc_score(truth, predicted[:, 1])


# === Features: LightGBM ===
def features_lightgbm(frame):
    """Columns computed row by row, without learning."""
    x = frame[NUMERIC].astype(float)
    x[CATEGORICAL + MANY_LEVELS] = frame[CATEGORICAL + MANY_LEVELS].astype("str").fillna("missing")
    for column in DATES:
        moment = pd.to_datetime(frame[column], errors="coerce", format="mixed", utc=True)
        x[column + "_days"] = (moment - pd.Timestamp("2000-01-01", tz="UTC")) / pd.Timedelta(days=1)
        x[column + "_month"] = moment.dt.month.astype(float)
        x[column + "_weekday"] = moment.dt.day_of_week.astype(float)
    return x


# === Encoding: LightGBM ===
from sklearn.model_selection import KFold
from sklearn.preprocessing import OneHotEncoder, TargetEncoder


def encode_lightgbm(fit, y_fit, others):
    """Matrices for fitting and predicting, learnt from the fitting rows."""
    frames = [fit, *others]
    numeric = list(fit.select_dtypes("number").columns)
    blocks = [[frame[numeric].to_numpy(dtype=float) for frame in frames]]
    # A small tree reaches any one category in a single split.
    switches = OneHotEncoder(handle_unknown="ignore", sparse_output=False, dtype=float).fit(fit[CATEGORICAL])
    blocks.append([switches.transform(frame[CATEGORICAL]) for frame in frames])
    # For columns with many categories, cross-fitted target means are better than codes.
    means = TargetEncoder(target_type="auto", cv=KFold(5, shuffle=True, random_state=SEED))
    blocks.append([means.fit_transform(fit[MANY_LEVELS], y_fit), *(means.transform(other[MANY_LEVELS]) for other in others)])
    # The frequency of each category in the fitting rows.
    for column in CATEGORICAL + MANY_LEVELS:
        shares = fit[column].value_counts(normalize=True)
        blocks.append([frame[column].map(shares).fillna(0.0).to_numpy(dtype=float)[:, None] for frame in frames])
    return [np.hstack(parts) for parts in zip(*blocks)]


# === Model: LightGBM ===
from lightgbm import LGBMClassifier

PARAMS_LIGHTGBM = {
    "n_estimators": 500,
    "learning_rate": 0.02,
    "num_leaves": 8,
    "min_child_samples": 20,
    "subsample": 0.8,
    "subsample_freq": 1,
    "colsample_bytree": 0.5,
    "reg_lambda": 3.0,
}


def fit_predict_lightgbm(x, y_fit, others):
    """Class probabilities for each of `others`."""
    model = LGBMClassifier(**PARAMS_LIGHTGBM, random_state=SEED, n_jobs=THREADS, verbose=-1)
    model.fit(x, y_fit)
    return [model.predict_proba(other) for other in others]


# === Cross-validation ===
def out_of_fold(features, encode, fit_predict):
    """Out-of-fold predictions for the training rows, and the mean over folds for the test rows."""
    x_train, x_test = features(train), features(test)
    oof = np.zeros((len(train), len(CLASSES)))
    predicted = np.zeros((len(test), len(CLASSES)))
    for fit_rows, valid_rows in FOLDS:
        # A rare class may be missing in the fitting rows of a fold; its probability is 0 then.
        present, y_fit = np.unique(y[fit_rows], return_inverse=True)
        fit, valid, rest = encode(x_train.iloc[fit_rows], y_fit, [x_train.iloc[valid_rows], x_test])
        on_valid, on_test = fit_predict(fit, y_fit, [valid, rest])
        oof[np.ix_(valid_rows, present)] = on_valid
        predicted[:, present] += on_test / len(FOLDS)
    return oof, predicted


# === Training ===
oof, predicted = out_of_fold(features_lightgbm, encode_lightgbm, fit_predict_lightgbm)


# === Postprocessing ===
def postprocess(oof, predicted):
    """Class probabilities that add up to one."""
    oof, predicted = np.clip(oof, 1e-6, 1.0), np.clip(predicted, 1e-6, 1.0)
    return oof / oof.sum(axis=1, keepdims=True), predicted / predicted.sum(axis=1, keepdims=True)


# === Validation ===
def answers(values):
    """The columns of the submission with these predictions."""
    return {"delayed": values[:, 1]}


validated, final = postprocess(oof, predicted)
score = metric(y, validated)
print(f"Final Validation Performance: {score}")

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
'''


MEMBERS = [
    (member_1, 0.45454545454545453),
    (member_2, 0.36363636363636365),
    (member_3, 0.18181818181818182),
]

FILES = ["submission.csv", "validation_predictions.csv"]
if BY == "class_scores":
    FILES += ["submission_class_scores.csv", "validation_class_scores.csv"]


def predictions_of(member) -> list[pd.DataFrame]:
    """Runs a member and returns the tables that it wrote, as text."""
    home, main = os.getcwd(), sys.modules["__main__"]
    with tempfile.TemporaryDirectory(dir=home) as folder:
        os.symlink(os.path.join(home, "input"), os.path.join(folder, "input"))
        os.mkdir(os.path.join(folder, "final"))
        # Libraries that start processes look functions up in the main module.
        module = sys.modules["__main__"] = types.ModuleType("__main__")
        os.chdir(folder)
        try:
            # The scores of members are not the score of the ensemble.
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(member(), f"{member.__name__}.py", "exec"), vars(module))
        except SystemExit as end:
            if end.code:
                raise
        finally:
            os.chdir(home)
            sys.modules["__main__"] = main
        files = [os.path.join(folder, "final", name) for name in FILES]
        tables = [pd.read_csv(file, dtype=str, keep_default_na=False) for file in files]
    return [table.rename(columns=str.strip) for table in tables]


def combined(tables: list[pd.DataFrame], weights: list[float]) -> pd.DataFrame:
    """The weighted mean of numbers, or the label with the largest weight, in the rows of the first table."""
    first = tables[0]
    for column in first.columns.drop([ID], errors="ignore"):
        values = [table[column] for table in in_rows_of(first, tables)]
        if all(value.equals(values[0]) for value in values):
            continue
        if BY == "votes":
            first[column] = largest([pd.get_dummies(value) for value in values], weights)
        else:
            first[column] = sum(value.astype(float) * weight for value, weight in zip(values, weights))
    return first


def decided(first: pd.DataFrame, scores: list[pd.DataFrame], weights: list[float]) -> pd.DataFrame:
    """The class with the largest weighted score, in the rows of the first table of predictions."""
    (column,) = first.columns.drop([ID], errors="ignore")
    # The first column names the row.
    classes = [table.iloc[:, 1:].astype(float) for table in in_rows_of(first, scores)]
    return first.assign(**{column: largest(classes, weights)})


def in_rows_of(first: pd.DataFrame, tables: list[pd.DataFrame]) -> list[pd.DataFrame]:
    """The tables with their rows in the order of the first one."""
    return tables if ID is None else [table.set_index(ID).loc[first[ID]].reset_index() for table in tables]


def largest(scores: list[pd.DataFrame], weights: list[float]) -> pd.Series:
    """The column with the largest weighted sum in each row."""
    weighted = pd.concat([score * weight for score, weight in zip(scores, weights)])
    return weighted.fillna(0.0).groupby(level=0).sum().idxmax(axis=1)


weights = [weight for _, weight in MEMBERS]
tables = [predictions_of(member) for member, _ in MEMBERS]
os.makedirs("final", exist_ok=True)
for position in range(2):
    of_members = [files[position::2] for files in tables]
    predictions = [files[0] for files in of_members]
    if BY == "class_scores":
        table = decided(predictions[0], [files[1] for files in of_members], weights)
    else:
        table = combined(predictions, weights)
    table.to_csv(os.path.join("final", FILES[position]), index=False)
print(f"Combined the predictions of {len(MEMBERS)} solutions.")
