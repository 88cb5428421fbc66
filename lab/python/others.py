"""Submissions of other programs, with which runs are compared.

others.py FOLDER KIND SECONDS

writes FOLDER/against/KIND-SECONDS/TASK.csv for each task of FOLDER/tasks.json, unless it is there, and beside it the seconds
that it took. KIND is lightgbm or autogluon; its package must be installed (lightgbm 4, autogluon.tabular 1). The program sees the training table without its ID and only columns that the test table has. It uses
the cores that this process may use (`taskset`).
"""

import json
import os
import sys
import tempfile
import time
from pathlib import Path

CORES = len(os.sched_getaffinity(0))
# Before the libraries are imported, which read it once.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = str(CORES)

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402

TARGET = "target"
SEED = 1
REGRESSION = {"MAE", "RMSE", "RMSLE"}
PROBABILITY = {"ROC-AUC", "average precision"}
CLASS_PROBABILITIES = {"log loss"}
AUTOGLUON_METRICS = {
    "accuracy": "accuracy",
    "average precision": "average_precision",
    "F1": "f1",
    "log loss": "log_loss",
    "MAE": "mean_absolute_error",
    "quadratic weighted kappa": "quadratic_kappa",
    "RMSE": "root_mean_squared_error",
    "RMSLE": "root_mean_squared_error",
    "ROC-AUC": "roc_auc",
}


class Problem:
    """The tables of a data folder, and what to predict."""

    def __init__(self, folder: Path, metric: str, seconds: int) -> None:
        self.metric, self.seconds = metric, seconds
        train, test, sample = (pd.read_csv(folder / f"{name}.csv") for name in ("train", "test", "sample_submission"))
        self.id = sample.columns[0]
        self.ids = sample[self.id]
        self.x_test = test.set_index(self.id).loc[self.ids].reset_index(drop=True)
        self.x = train[self.x_test.columns].copy()
        target = train[TARGET]
        # RMSLE is the RMSE of logarithms.
        self.y = pd.Series(np.log1p(target)) if metric == "RMSLE" else target
        self.is_regression = metric in REGRESSION
        self.labels = [] if self.is_regression else sorted(target.unique())
        # Libraries do not agree on types of labels, so they get their positions.
        self.codes = self.y if self.is_regression else self.y.map({label: at for at, label in enumerate(self.labels)})
        self.wants_probabilities = metric in PROBABILITY | CLASS_PROBABILITIES

    def categories(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """The features of both tables, with texts as categories and dates as days."""
        both = pd.concat([self.x, self.x_test], ignore_index=True)
        for column in both.select_dtypes(exclude="number").columns:
            times = pd.to_datetime(both[column], format="ISO8601", errors="coerce", utc=True)
            if times.notna().all():
                both[column] = (times - pd.Timestamp("1970-01-01", tz="UTC")) / pd.Timedelta(days=1)
            else:
                both[column] = both[column].astype(object).astype("category")
        return both.iloc[: len(self.x)], both.iloc[len(self.x) :].reset_index(drop=True)

    def submission(self, predicted: np.ndarray) -> pd.DataFrame:
        """The file for numbers, for positions of labels, or for a column of probabilities for each label."""
        if self.metric in CLASS_PROBABILITIES:
            values = {str(label): predicted[:, at] for at, label in enumerate(self.labels)}
        elif self.metric in PROBABILITY:
            values = {TARGET: predicted[:, -1]}
        elif self.is_regression:
            values = {TARGET: np.expm1(predicted) if self.metric == "RMSLE" else predicted}
        else:
            values = {TARGET: [self.labels[int(position)] for position in predicted]}
        return pd.DataFrame({self.id: self.ids, **values})


def lightgbm(problem: Problem) -> np.ndarray:
    """The mean of five models, one for each fold, which decides when to stop; everything else is a default."""
    from lightgbm import LGBMClassifier, LGBMRegressor, early_stopping
    from sklearn.model_selection import KFold, StratifiedKFold

    x, x_test = problem.categories()
    model = LGBMRegressor if problem.is_regression else LGBMClassifier
    options = {"objective": "regression_l1"} if problem.metric == "MAE" else {}
    folds = (KFold if problem.is_regression else StratifiedKFold)(5, shuffle=True, random_state=SEED)
    parts = []
    for fit, stop in folds.split(x, problem.codes):
        fitted = model(n_estimators=1000, n_jobs=CORES, random_state=SEED, verbose=-1, **options).fit(
            x.iloc[fit],
            problem.codes.iloc[fit],
            eval_set=[(x.iloc[stop], problem.codes.iloc[stop])],
            callbacks=[early_stopping(50, verbose=False)],
        )
        parts.append(fitted.predict(x_test) if problem.is_regression else fitted.predict_proba(x_test))
    mean = np.mean(parts, axis=0)
    return mean if problem.is_regression or problem.wants_probabilities else mean.argmax(axis=1)


def autogluon(problem: Problem) -> np.ndarray:
    """The stacked models of the best preset that makes any in the time."""
    from autogluon.tabular import TabularPredictor

    if problem.is_regression:
        kind = "regression"
    else:
        kind = "binary" if len(problem.labels) == 2 else "multiclass"
    table = problem.x.assign(**{TARGET: problem.codes})
    for preset in ("best_quality", "medium_quality"):
        with tempfile.TemporaryDirectory() as folder:
            metric, models = AUTOGLUON_METRICS[problem.metric], f"{folder}/models"
            predictor = TabularPredictor(TARGET, problem_type=kind, eval_metric=metric, path=models, verbosity=1)
            try:
                predictor.fit(table, time_limit=problem.seconds, presets=preset, num_cpus=CORES, num_gpus=0)
                predict = predictor.predict_proba if problem.wants_probabilities else predictor.predict
                predicted = predict(problem.x_test).to_numpy()
            except (RuntimeError, AssertionError, ValueError) as error:
                print(f"autogluon: {preset} failed: {error}")
                continue
            print(f"autogluon: {preset}, {len(predictor.model_names())} models, best {predictor.model_best}")
            return predicted
    raise SystemExit("autogluon made no model")


KINDS = {"lightgbm": lightgbm, "autogluon": autogluon}


def main(folder: Path, kind: str, seconds: str) -> None:
    submissions = folder / "against" / f"{kind}-{seconds}"
    submissions.mkdir(parents=True, exist_ok=True)
    for name, task in json.loads((folder / "tasks.json").read_text()).items():
        file = submissions / f"{name}.csv"
        if not file.exists():
            start = time.monotonic()
            problem = Problem(folder / "tasks" / name, task["metric"], int(seconds))
            submission = problem.submission(KINDS[kind](problem))
            took = time.monotonic() - start
            file.with_suffix(".json").write_text(json.dumps({"seconds": took}))
            submission.to_csv(file, index=False)
            print(f"{name}: {took:.1f} s", flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
