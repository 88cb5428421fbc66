"""The correlation of the errors of several files of predictions, which says whether combining them may help."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import metrics
from .aliases import Array
from .measure import mean_over_targets
from .predictions import Predictions


def agreement(files: Sequence[Sequence[Predictions]], replicates: int) -> dict[str, Any]:
    """The best file, how much larger the score of each is, and the correlation of the errors of each pair, which is
    that of the targets on average."""
    measured = [mean_over_targets(file, replicates) for file in files]
    sign = files[0][0].metric.sign()
    best = int(np.argmax([sign * one.score for one in measured]))
    with np.errstate(all="ignore"):
        each = np.array([np.corrcoef([errors(one) for one in target]) for target in zip(*files, strict=True)])
        known = np.isfinite(each)
        mean = np.where(known, each, 0.0).sum(axis=0) / known.sum(axis=0)
    correlations = [[one if np.isfinite(one) else None for one in line] for line in np.atleast_2d(mean).tolist()]
    differences = [one.minus(measured[best]) for one in measured]
    return {"rows": len(files[0][0]), "best": best, "differences": differences, "correlations": correlations}


def errors(predicted: Predictions) -> Array:
    """The error of each row. Numbers: predicted minus true. Labels: whether they are wrong. Probabilities: what the
    true class lacks, or the probability of a single column, less the mean within the true class, so that the shares
    of classes do not count; ranks instead if the metric is about order."""
    values = predicted.values
    if predicted.is_numbers:
        return np.asarray(values.mean(axis=1) - predicted.truth)
    if predicted.labels() is not None:
        return np.asarray(values[:, 0] != predicted.truth, dtype=np.float64)
    if predicted.cells.form == "per class":
        found = 1.0 - values[np.arange(len(values)), predicted.truth]
    elif predicted.metric.by_order:
        found = metrics.ranks(metrics.ties(values[:, 0]))
    else:
        found = values[:, 0].copy()
    for one in np.unique(predicted.truth):
        rows = predicted.truth == one
        # Around the first value, so that the mean of equal values is exact.
        found[rows] -= found[rows][0]
        found[rows] -= found[rows].mean()
    return found
