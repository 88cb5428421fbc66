"""Scores of one model with many random seeds, on validation rows and on hidden rows.

Reads a JSON object from standard input: data (a folder with train.csv and test.csv), answers (a CSV file), metric,
split (rows, stratified, groups or time), column (of the groups or of the time, or null), seeds (their number),
replicates (the number of bootstrap replicates), split_seed. Prints a JSON line: validation and hidden have a score for
each seed, and replicates has a list of validation scores for each seed. Replicates are paired: the same rows are drawn
for all seeds.
"""

import json
import sys
import warnings
from pathlib import Path
from typing import Callable

import lightgbm
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn import metrics

Numbers = NDArray[np.float64]
VALIDATION_SHARE = 0.2
FOR_CLASSES = ["accuracy", "ROC-AUC", "average precision", "log loss"]


def probability_losses(answers: Numbers, predicted: Numbers) -> float:
    shares = predicted[np.arange(len(answers)), answers.astype(int)]
    return float(-np.log(np.clip(shares, 1e-15, 1)).mean())


def kappa(answers: Numbers, predicted: Numbers) -> float:
    grades = np.clip(predicted.round(), 0, 4)
    return float(metrics.cohen_kappa_score(answers.astype(int), grades.astype(int), weights="quadratic"))


SCORES: dict[str, Callable[[Numbers, Numbers], float]] = {
    "accuracy": lambda answers, predicted: float((answers == predicted.argmax(axis=1)).mean()),
    "ROC-AUC": lambda answers, predicted: float(metrics.roc_auc_score(answers, predicted[:, 1])),
    "average precision": lambda answers, predicted: float(metrics.average_precision_score(answers, predicted[:, 1])),
    "log loss": probability_losses,
    "MAE": lambda answers, predicted: float(np.abs(answers - predicted).mean()),
    "RMSE": lambda answers, predicted: float(np.sqrt(((answers - predicted) ** 2).mean())),
    "RMSLE": lambda answers, predicted: float(np.sqrt(((np.log1p(answers) - predicted) ** 2).mean())),
    "quadratic weighted kappa": kappa,
}


def features(table: pd.DataFrame, others: list[pd.DataFrame]) -> pd.DataFrame:
    """Joins the other tables by their common column; turns dates into days and texts into categories."""
    for other in others:
        table = table.merge(other, how="left", on=[name for name in other.columns if name in table.columns])
    for name in table.columns:
        if name == "date":
            table[name] = (pd.to_datetime(table[name]) - pd.Timestamp("2024-01-01")).dt.days
        elif not pd.api.types.is_numeric_dtype(table[name]):
            table[name] = table[name].astype("category")
    return table


def validation_rows(table: pd.DataFrame, split: str, column: str | None, seed: int) -> NDArray[np.bool_]:
    """Which rows are for validation: whole groups, the latest rows, or random rows."""
    random = np.random.default_rng(seed)
    if split == "groups":
        groups = np.sort(table[column].astype(str).unique())
        chosen = random.permutation(groups)[: int(len(groups) * VALIDATION_SHARE)]
        return table[column].astype(str).isin(chosen).to_numpy()
    key = table[column].to_numpy() if split == "time" else random.random(len(table))
    return key >= np.quantile(key, 1 - VALIDATION_SHARE)


def model(metric: str, seed: int) -> lightgbm.LGBMModel:
    """LightGBM that samples rows and columns, so that the seed matters."""
    kind = lightgbm.LGBMClassifier if metric in FOR_CLASSES else lightgbm.LGBMRegressor
    objective = {"objective": "regression_l1"} if metric == "MAE" else {}
    return kind(
        n_estimators=60, learning_rate=0.1, num_leaves=15, min_child_samples=20, subsample=0.7, subsample_freq=1,
        colsample_bytree=0.7, random_state=seed, num_threads=1, deterministic=True, verbose=-1, **objective,
    )  # fmt: skip


def main() -> None:
    task = json.load(sys.stdin)
    data, metric = Path(task["data"]), str(task["metric"])
    names = sorted(path.name for path in data.glob("*.csv"))
    others = [pd.read_csv(data / name) for name in names if name not in ("train.csv", "test.csv", "sample_submission.csv")]
    train, test = pd.read_csv(data / "train.csv"), pd.read_csv(data / "test.csv")
    answers = test[["id"]].merge(pd.read_csv(task["answers"]), on="id")["target"]
    # Both tables together, so that categories have the same codes.
    every = features(pd.concat([train.drop(columns="target"), test], ignore_index=True), others).drop(columns="id")
    known, test = every.iloc[: len(train)], every.iloc[len(train) :]
    held = validation_rows(known, task["split"], task["column"], task["split_seed"])
    if task["split"] == "groups":
        known, test = known.drop(columns=task["column"]), test.drop(columns=task["column"])
    labels = sorted(train["target"].unique()) if metric in FOR_CLASSES else None
    code = {label: number for number, label in enumerate(labels)} if labels is not None else None
    target, hidden = [
        (column.map(code) if code else column).to_numpy(dtype=np.float64) for column in (train["target"], answers)
    ]
    fitted = np.log1p(target) if metric == "RMSLE" else target
    score, random = SCORES[metric], np.random.default_rng(task["split_seed"])
    draws = [random.integers(0, held.sum(), held.sum()) for _ in range(task["replicates"])]
    result: dict[str, list[object]] = {"validation": [], "hidden": [], "replicates": []}
    for seed in range(task["seeds"]):
        one = model(metric, seed).fit(known[~held], fitted[~held])
        predict = one.predict_proba if labels is not None else one.predict
        predicted, truth = predict(known[held]), target[held]
        result["validation"].append(score(truth, predicted))
        result["replicates"].append([score(truth[draw], predicted[draw]) for draw in draws])
        result["hidden"].append(score(hidden, predict(test)))
    print(json.dumps(result))


warnings.simplefilter("ignore")
main()
