"""Recomputes the score of a finished script from its validation predictions and the training table.

The file `check.json` says what the task is: metric, column of the time, and rows that a script may read.
"""

import json

import numpy as np
import pandas as pd
from scipy import stats
from sklearn import metrics


def recomputed():
    how = json.load(open("check.json"))
    train = pd.read_csv("input/train.csv")
    sample = pd.read_csv("input/sample_submission.csv")
    table = pd.read_csv("final/validation_predictions.csv")
    assert list(table.columns) == list(sample.columns), list(table.columns)
    assert table["id"].is_unique, "an id is repeated"
    names = train["id"] if "id" in train else pd.Series(np.arange(len(train)))
    rows = pd.Index(names).get_indexer(table["id"])
    assert (rows >= 0).all(), "an id is not in the training table"
    truth = train["target"].iloc[rows]
    assert truth.notna().all(), "a row without a target is validated"
    right_number(how, train, rows)
    weighted = {"sample_weight": train[how["weight"]].iloc[rows]} if how.get("weight") else {}
    return score(how["metric"], truth, table, np.unique(train["target"].dropna()), weighted)


def right_number(how, train, rows):
    """Every labelled row that is read, or the later part of them."""
    labelled = train["target"].notna()
    read = min(labelled.sum(), how["limit"])
    if how["time"] is None:
        assert len(rows) == read, f"{len(rows)} of {read} rows"
        return
    assert 0.1 * read < len(rows) < 0.9 * read, f"{len(rows)} of {read} rows"
    if read == labelled.sum():
        times = train[how["time"]]
        times = times if pd.api.types.is_numeric_dtype(times) else pd.to_datetime(times)
        is_validated = np.isin(np.arange(len(train)), rows)
        assert times[is_validated].min() > times[labelled & ~is_validated].max(), "a validated row is not later"


def score(metric, truth, table, classes, weighted):
    if metric in FOR_NUMBERS:
        return FOR_NUMBERS[metric](truth.to_numpy(), table["target"].to_numpy(), **weighted)
    if metric in ("ROC-AUC", "average precision", "log loss", "Brier score"):
        positions = np.searchsorted(classes, truth)
        if "target" in table:
            second = table["target"]
            if metric == "log loss":
                return metrics.log_loss(positions, np.column_stack([1.0 - second, second]), labels=[0, 1])
            ranked = {
                "ROC-AUC": metrics.roc_auc_score,
                "average precision": metrics.average_precision_score,
                "Brier score": metrics.brier_score_loss,
            }
            return ranked[metric](positions, second)
        # The sample has the classes in their order.
        shares = table.drop(columns="id").to_numpy()
        # Classes that no training row has come last.
        width = shares.shape[1]
        is_class = np.eye(width)[positions]
        if metric == "log loss":
            return metrics.log_loss(positions, shares, labels=np.arange(width), **weighted)
        if metric == "Brier score":
            return ((shares - is_class) ** 2).sum(axis=1).mean()
        shares, is_class = shares[:, : len(classes)], is_class[:, : len(classes)]
        if metric == "average precision":
            return metrics.average_precision_score(is_class, shares)
        return metrics.roc_auc_score(is_class, shares)
    predicted = table["target"]
    assert set(predicted) <= set(classes), set(predicted)
    if metric == "F1":
        return metrics.f1_score(truth, predicted, pos_label=classes[-1], **weighted)
    return FOR_LABELS[metric](truth, predicted)


def smape(truth, predicted, sample_weight=None):
    shares = 200 * np.abs(predicted - truth) / (np.abs(predicted) + np.abs(truth))
    return np.average(shares, weights=sample_weight)


FOR_NUMBERS = {
    "RMSE": metrics.root_mean_squared_error,
    "MSE": metrics.mean_squared_error,
    "MAE": metrics.mean_absolute_error,
    "median absolute error": metrics.median_absolute_error,
    "RMSLE": metrics.root_mean_squared_log_error,
    "MAPE": metrics.mean_absolute_percentage_error,
    "SMAPE": smape,
    "R2": metrics.r2_score,
    "Spearman correlation": lambda truth, predicted: stats.spearmanr(truth, predicted).statistic,
    "Pearson correlation": lambda truth, predicted: stats.pearsonr(truth, predicted).statistic,
}
FOR_LABELS = {
    "accuracy": metrics.accuracy_score,
    "balanced accuracy": metrics.balanced_accuracy_score,
    "macro F1": lambda truth, predicted: metrics.f1_score(truth, predicted, average="macro"),
    "micro F1": lambda truth, predicted: metrics.f1_score(truth, predicted, average="micro"),
    "weighted F1": lambda truth, predicted: metrics.f1_score(truth, predicted, average="weighted"),
    "MCC": metrics.matthews_corrcoef,
    "quadratic weighted kappa": lambda truth, predicted: metrics.cohen_kappa_score(
        truth, predicted, weights="quadratic"
    ),
}
