"""Reads cases from the standard input and prints the score of each, or nan."""

import json
import sys
import warnings

import numpy as np
from scipy import stats
from sklearn import metrics as m

warnings.simplefilter("ignore")


def f1(average):
    return lambda y, p, w, k: m.f1_score(y, p, average=average, sample_weight=w, zero_division=0)


def curve(function):
    def of(y, p, w, k):
        if k == 2:
            return function(y, p[:, 1], sample_weight=w)
        if function is m.roc_auc_score:
            return function(y, p, multi_class="ovr", sample_weight=w)
        return function(np.eye(k)[y.astype(int)], p, sample_weight=w)

    return of


def repeated(function):
    """For functions without weights."""

    def of(y, p, w, k):
        times = np.ones(len(y), dtype=int) if w is None else w.astype(int)
        return function(np.repeat(y, times), np.repeat(p, times))

    return of


def plain(function):
    return lambda y, p, w, k: function(y, p, sample_weight=w)


def smape(y, p):
    size = np.abs(y) + np.abs(p)
    return np.mean(np.divide(200 * np.abs(p - y), size, out=np.zeros_like(size), where=size > 0))


SCORES = {
    "accuracy": plain(m.accuracy_score),
    "balanced accuracy": plain(m.balanced_accuracy_score),
    "F1": lambda y, p, w, k: f1("binary" if k == 2 else "macro")(y, p, w, k),
    "macro F1": f1("macro"),
    "micro F1": f1("micro"),
    "weighted F1": f1("weighted"),
    "ROC-AUC": curve(m.roc_auc_score),
    "average precision": curve(m.average_precision_score),
    "log loss": lambda y, p, w, k: m.log_loss(y, p, sample_weight=w, labels=np.arange(k)),
    "Brier score": lambda y, p, w, k: m.brier_score_loss(
        y, p[:, 1] if k == 2 else p, sample_weight=w, **({} if k == 2 else {"labels": np.arange(k)})
    ),
    "MCC": plain(m.matthews_corrcoef),
    "quadratic weighted kappa": lambda y, p, w, k: m.cohen_kappa_score(
        y, p, weights="quadratic", sample_weight=w, labels=np.arange(k)
    ),
    "RMSE": plain(m.root_mean_squared_error),
    "MSE": plain(m.mean_squared_error),
    "MAE": plain(m.mean_absolute_error),
    "median absolute error": plain(m.median_absolute_error),
    "R2": plain(m.r2_score),
    "RMSLE": plain(m.root_mean_squared_log_error),
    "MAPE": plain(m.mean_absolute_percentage_error),
    "SMAPE": repeated(smape),
    "Spearman correlation": repeated(lambda y, p: stats.spearmanr(y, p).statistic),
    "Pearson correlation": repeated(lambda y, p: stats.pearsonr(y, p).statistic),
}

for case in json.load(sys.stdin):
    y, p, k = np.array(case["truth"]), np.array(case["predicted"]), case["classes"]
    weights = None if case["weights"] is None else np.array(case["weights"])
    if len(p) != len(y):
        p = p.reshape(len(y), k)
    print(repr(float(SCORES[case["metric"]](y, p, weights, k))))
