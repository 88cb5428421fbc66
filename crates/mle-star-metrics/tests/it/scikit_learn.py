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


def order(p, k):
    """The classes of each row, the most probable first, and the first of equals."""
    return np.argsort(-p, axis=1, kind="stable")[:, :k]


def map3(y, p, w, k):
    gain = [sum((guess == label) / (place + 1) for place, guess in enumerate(row)) for label, row in zip(y, order(p, 3))]
    return np.average(gain, weights=w)


def top5(y, p, w, k):
    # top_k_accuracy_score of scikit-learn has another order of ties, and no binary probabilities of two columns.
    return np.average([label in row for label, row in zip(y, order(p, 5))], weights=w)


def gini(y, p):
    """Twice the area between the concentration curve and the diagonal, by the trapezoidal rule over groups of equals."""

    def area(values):
        steps = -np.unique(-values)
        of_rows = [0.0] + [np.mean(values >= step) for step in steps]
        of_losses = [0.0] + [np.sum(y[values >= step]) / np.sum(y) for step in steps]
        return 2 * np.trapezoid(of_losses, of_rows) - 1

    return area(p) / area(y) if np.ptp(y) > 0 else np.nan


def winkler(y, p, w, k):
    low, high = p[:, 0], p[:, 1]
    outside = np.where(y < low, low - y, np.where(y > high, y - high, 0.0))
    return np.average(high - low + 2 / 0.1 * outside, weights=w)


def sets(average):
    def of(y, p, w, k):
        bits = lambda sets: (sets.astype(int)[:, None] >> np.arange(3)) & 1
        y, p = bits(y), bits(p)
        if average == "samples":
            # Two empty sets agree.
            return np.average([1.0 if not (a | b).any() else 2 * (a & b).sum() / (a.sum() + b.sum()) for a, b in zip(y, p)], weights=w)
        seen = np.ones(3, dtype=bool)
        if average == "macro":
            rows = np.ones(len(y), dtype=bool) if w is None else w > 0
            seen = (y | p)[rows].any(axis=0)
        return m.f1_score(y[:, seen], p[:, seen], average=average, sample_weight=w, zero_division=0)

    return of


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
    "mean column-wise log loss": lambda y, p, w, k: np.mean(
        [m.log_loss(y == c, p[:, c], sample_weight=w, labels=[0, 1]) for c in range(k)]
    ),
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
    "MAP@3": map3,
    "top-5 accuracy": top5,
    "normalized Gini": repeated(gini),
    "pinball loss 0.9": lambda y, p, w, k: m.mean_pinball_loss(y, p, sample_weight=w, alpha=0.9),
    "interval score 0.9": winkler,
    "sample-averaged F1": sets("samples"),
    "micro F1 of sets": sets("micro"),
    "macro F1 of sets": sets("macro"),
    "Pearson correlation": repeated(lambda y, p: stats.pearsonr(y, p).statistic),
}

for case in json.load(sys.stdin):
    y, p, k = np.array(case["truth"]), np.array(case["predicted"]), case["classes"]
    weights = None if case["weights"] is None else np.array(case["weights"])
    if len(p) != len(y):
        p = p.reshape(len(y), -1)
    print(repr(float(SCORES[case["metric"]](y, p, weights, k))))
