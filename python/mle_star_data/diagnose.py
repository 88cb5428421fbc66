"""Error analysis of predictions: their worst rows, errors, curves, calibration, and scores by parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from . import tables
from .aliases import Array
from .histograms import histogram
from .intervals import HALF_WIDTH
from .labels import Labels, positive_of
from .measure import Scoring, score_at
from .partitions import Partition, even_parts
from .predictions import Layout, Others, Predictions, of_table, read
from .selection import class_columns, number_text
from .tables import Refused, Text

MAX_TARGETS = 4
MAX_PARTS = 12
"""The most parts of one division that are told."""
WORST = 10
"""The most rows that are told."""
MAX_POINTS = 500
"""The most rows that are drawn one by one."""
MAX_CLASSES = 12
"""The most classes in a table of true and predicted classes."""
THRESHOLD = 0.5
"""A row is counted as of the second class above this probability."""
MAX_CURVES = 6
"""The most classes with curves, if there are more than two."""
CURVE = 150
"""The most points of a curve."""
BINS = 10
MIN_BIN_ROWS = 10
"""The fewest rows of a bin, if there are more."""
MIN_PROBABILITY = 1e-15
"""The smallest probability whose logarithm counts."""


def diagnose(
    labels: Labels,
    rows: Scoring,
    predictions: str,
    class_scores: str | None,
    layout: Layout,
    others: Others,
    divisions: Sequence[Partition],
) -> dict[str, Any]:
    """What is found in a CSV file of predictions. `class_scores` has the probability of each class behind predicted
    labels. Weights count in scores only. Of parts without an order, the one with the worst score is the first."""
    table = tables.read(predictions)
    predicted = rows.in_folds(of_table(table, labels, layout, others))
    ids = table.ids(layout.id)[tables.places(tables.row_keys(table, layout.id), predicted[0].keys)[0]]
    likely = _class_scores(labels, class_scores, layout, others)
    targets = []
    for at, one in enumerate(predicted[:MAX_TARGETS]):
        fits = at < len(likely) and np.array_equal(likely[at].keys, one.keys)
        told = _numbers(one, ids) if one.is_numbers else _classes(one, likely[at] if fits else None, ids)
        targets.append({"target": one.target, "classes": None, "numbers": None, "worst": [], "loss": ""} | told)
    score = score_at(predicted)
    return {
        "of": "validation",
        "rows": len(predicted[0]),
        "score": score,
        "parts": [found | {"score": score} for one in divisions if (found := _parts(predicted, one)) is not None],
        "targets": targets,
        "targets_left_out": max(len(predicted) - MAX_TARGETS, 0),
    }


def _class_scores(labels: Labels, file: str | None, layout: Layout, others: Others) -> list[Predictions]:
    with suppress(Refused):
        return [] if file is None else read(file, labels, Layout(class_columns(file, layout.id), layout.id), others)
    return []


def _parts(predicted: Sequence[Predictions], by: Partition) -> dict[str, Any] | None:
    """The scores of the parts; `None` if there are not several."""
    keys = tables.keys(pl.Series(by.ids, dtype=pl.String))
    part_of = dict(zip(keys.tolist(), by.parts, strict=True))
    own = np.array([part_of.get(key, -1) for key in predicted[0].keys.tolist()], dtype=np.int64)
    sizes = np.bincount(own[(own >= 0) & (own < len(by.names))], minlength=len(by.names))
    filled = np.flatnonzero(sizes)
    if len(filled) < 2:
        return None
    parts = []
    for part in np.sort(filled[np.argsort(-sizes[filled], kind="stable")][:MAX_PARTS]):
        score = score_at([replace(one, folds=None) for one in predicted], np.flatnonzero(own == part))
        parts.append({"name": by.names[part], "rows": int(sizes[part]), "score": score})
    if not by.is_ordered:
        sign = predicted[0].metric.sign()
        parts.sort(key=lambda part: np.inf if part["score"] is None else sign * part["score"])
    return {"of": "validation", "by": by.by, "parts": parts, "left_out": max(len(filled) - MAX_PARTS, 0)}


def _worst(losses: Array, ids: Text, words: Callable[[int], tuple[str, str]]) -> list[dict[str, Any]]:
    """The rows with the largest loss."""
    found = []
    for row in np.argsort(-losses, kind="stable")[:WORST]:
        if losses[row] > 0:
            truth, told = words(int(row))
            loss = float(losses[row])
            found.append({"id": ids[int(row)].strip(), "truth": truth, "predicted": told, "loss": loss, "cells": []})
    return found


def _numbers(own: Predictions, ids: Text) -> dict[str, Any]:
    truth = own.truth
    middle = own.values.mean(axis=1)
    errors = middle - truth
    sizes = np.sort(np.abs(errors))
    # Keys are hashes in ascending order, so every nth of them is a draw.
    drawn = slice(None, None, max(-(-len(truth) // MAX_POINTS), 1))

    def words(row: int) -> tuple[str, str]:
        return number_text(float(truth[row])), " to ".join(number_text(float(one)) for one in own.values[row])

    numbers = {
        "points": np.stack([truth, middle], axis=1)[drawn].tolist(),
        "spread": histogram([("rows", pl.Series(errors))]),
        "mean": float(errors.mean()),
        "median_size": float(sizes[(len(sizes) - 1) // 2]),
        "most": float(sizes[-(-len(sizes) * 9 // 10) - 1]),
    }
    loss = "the distance between prediction and truth"
    return {"numbers": numbers, "loss": loss, "worst": _worst(np.abs(errors), ids, words)}


class _Scores:
    """A score for each class of each row."""

    def __init__(self, own: Predictions) -> None:
        self.is_one_column = own.cells.form == "positive"
        self.values, whole = own.values, True
        self.positive = positive_of(own.names[: own.known], own.positive) if own.known == 2 else None
        if self.is_one_column:
            self.positive = own.cells.positive
            self.values = np.repeat(1.0 - own.values, max(len(own.names), 2), axis=1)
            self.values[:, self.positive] = own.values[:, 0]
        else:
            whole = bool((np.abs(own.values.sum(axis=1) - 1.0) < 1e-3).all())
        self.are_probabilities = whole and bool(((own.values >= -1e-9) & (own.values <= 1.0 + 1e-9)).all())

    @classmethod
    def of(cls, own: Predictions | None) -> _Scores | None:
        return cls(own) if own is not None and own.cells.form in ("positive", "per class") else None

    def most_likely(self) -> Array:
        """The class with the largest score in each row."""
        if self.is_one_column and self.positive is not None:
            return np.where(self.values[:, self.positive] > THRESHOLD, self.positive, int(self.positive == 0))
        return np.asarray(self.values.argmax(axis=1))


def _classes(own: Predictions, likely: Predictions | None, ids: Text) -> dict[str, Any]:
    from sklearn.metrics import confusion_matrix

    scores, names, truth = _Scores.of(own) or _Scores.of(likely), own.names, own.truth
    labels = None
    if own.cells.form in ("label", "guesses"):
        labels = np.maximum(own.values[:, 0], 0).astype(np.int64)
    elif scores is not None and own.cells.form != "set" and (not scores.is_one_column or scores.are_probabilities):
        labels = scores.most_likely()
    confusion = []
    if labels is not None and len(names) <= MAX_CLASSES:
        confusion = confusion_matrix(truth, labels, labels=np.arange(len(names))).tolist()
    are_probabilities = scores is not None and scores.are_probabilities
    about = scores.positive if scores is not None and are_probabilities else None
    classes = {
        "names": names,
        "confusion": confusion,
        "threshold": THRESHOLD if own.cells.form == "positive" and labels is not None else None,
        "curves": [] if scores is None else _curves(scores, own),
        "calibration": _calibration(scores, truth) if scores is not None and are_probabilities else [],
        "calibrated": None if about is None else names[about],
    }
    return {"classes": classes, **_losses(own, scores if are_probabilities else None, labels, ids)}


def _losses(own: Predictions, scores: _Scores | None, labels: Array | None, ids: Text) -> dict[str, Any]:
    """What the loss is, and the rows with the largest."""
    names, truth = own.names, own.truth
    if scores is not None:
        of_truth = scores.values[np.arange(len(truth)), truth]
        told = scores.most_likely() if labels is None else labels

        def words(row: int) -> tuple[str, str]:
            true = names[truth[row]]
            return true, f"{names[told[row]]} ({of_truth[row]:.3f} for {true})"

        worst = _worst(-np.log(np.clip(of_truth, MIN_PROBABILITY, 1.0)), ids, words)
        return {"loss": "the negative logarithm of the probability of the true class", "worst": worst}
    if labels is None:
        return {}
    found = labels
    worst = _worst((found != truth).astype(np.float64), ids, lambda row: (names[truth[row]], names[found[row]]))
    return {"loss": "1 for a wrong class", "worst": worst}


def _curves(scores: _Scores, own: Predictions) -> list[dict[str, Any]]:
    """The curves of the class that a binary metric is about, or else of the classes with most rows."""
    from sklearn import metrics

    counts = np.bincount(own.truth, minlength=len(own.names))
    classes = np.arange(own.known) if scores.positive is None else np.array([scores.positive])
    classes = classes[(counts[classes] > 0) & (counts[classes] < len(own))]
    told = []
    for one in classes[np.argsort(-counts[classes], kind="stable")][:MAX_CURVES]:
        is_own, score = own.truth == one, scores.values[:, one]
        wrong, right, _ = metrics.roc_curve(is_own, score, drop_intermediate=False)
        precision, recall, _ = metrics.precision_recall_curve(is_own, score)
        curve = {
            "class": own.names[one],
            "share": float(is_own.mean()),
            "roc": _thinned(np.stack([wrong, right], axis=1)),
            "area": float(metrics.auc(wrong, right)),
            # The last point belongs to no threshold.
            "precision": _thinned(np.stack([recall, precision], axis=1)[-2::-1]),
            "average_precision": float(metrics.average_precision_score(is_own, score)),
        }
        told.append(curve)
    return told


def _thinned(points: Array) -> list[list[float]]:
    """At most so many points, with the first and the last."""
    found: list[list[float]] = points[np.unique(np.linspace(0, len(points) - 1, CURVE).astype(int))].tolist()
    return found


def _calibration(scores: _Scores, truth: Array) -> list[dict[str, Any]]:
    """How often probabilities come true: of the class that a binary metric is about, or of the most probable class."""
    told = scores.most_likely() if scores.positive is None else np.full(len(truth), scores.positive)
    probabilities = scores.values[np.arange(len(truth)), told]
    _, group, sizes = np.unique(probabilities, return_inverse=True, return_counts=True)
    # Rows with the same probability are in one bin.
    bins = even_parts(sizes, max(-(-len(truth) // BINS), MIN_BIN_ROWS))[group]
    counts = np.bincount(bins)
    predicted, observed = (np.bincount(bins, weights=one) / counts for one in (probabilities, told == truth))
    return [
        {"rows": rows, "predicted": mean, "observed": share, "interval": _wilson(share, rows)}
        for rows, mean, share in zip(counts.tolist(), predicted.tolist(), observed.tolist(), strict=True)
    ]


def _wilson(share: float, rows: int) -> list[float]:
    """Wilson's 95 % interval of a share."""
    square = HALF_WIDTH**2 / rows
    middle = (share + square / 2) / (1 + square)
    reach = (share * (1 - share) * square + square**2 / 4) ** 0.5 / (1 + square)
    return [max(middle - reach, 0.0), min(middle + reach, 1.0)]
