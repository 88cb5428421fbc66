"""Scores of predictions with their standard errors and 95 % intervals, by the bootstrap."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import bootstrap, intervals, tables
from .aliases import Array, Keys
from .intervals import Scale, Target
from .labels import clusters_if_few, drawn_units
from .predictions import Predictions
from .tables import Refused, unless_refused

ROW_REPLICATES = 100
"""Replicates that draw single rows, for the variance within groups."""
ENOUGH_ROWS = 500
"""So many rows are enough for the score of a period, even if it has far more."""


@dataclass(frozen=True)
class Folds:
    """The folds of rows, by their keys."""

    keys: Keys = field(default_factory=lambda: np.empty(0, dtype=np.uint64))
    folds: Array = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @classmethod
    def read(cls, file: str) -> Folds:
        """The folds in a CSV table that has the row ID, and `fold`, from 0."""
        table = tables.read(file)
        ids = next(name for name in table.names if name != "fold")
        return cls(tables.keys(table[ids]), tables.numbers(table["fold"]).astype(np.int64))

    def of(self, keys: Keys) -> Array:
        """The fold of each row; -1 for none."""
        place, is_known = tables.places(self.keys, keys)
        found = np.full(len(keys), -1)
        found[is_known] = self.folds[place[is_known]]
        return found

    def places(self, keys: Keys) -> dict[int, Array]:
        """The places of the rows of each fold that is predicted for the most part, the first fold first."""
        of_rows, found = self.of(keys), {}
        for fold in np.unique(of_rows[of_rows >= 0]):
            places = np.flatnonzero(of_rows == fold)
            if 2 * len(places) >= (self.folds == fold).sum() or len(places) >= ENOUGH_ROWS:
                found[int(fold)] = places
        return found

    def of_rows(self, keys: Keys) -> Array | None:
        """The fold of each row, if each is in one, there are several, and all are predicted for the most part."""
        places = self.places(keys)
        is_whole = len(places) > 1 and sum(len(rows) for rows in places.values()) == len(keys)
        return self.of(keys) if is_whole else None


@dataclass(frozen=True)
class Scoring:
    """What scores of rows depend on beside their labels."""

    target: Target = field(default_factory=Target)
    """What intervals are for."""
    folds: Folds = field(default_factory=Folds)
    """The periods of the rows, for an interval of one more."""
    averages: bool = False
    """Whether the score of rows of several periods is the mean of the periods' scores."""
    naive: tuple[Keys, Array] | None = None
    """Forecasts that a score stands beside, by the keys of the rows."""

    def in_folds(self, predicted: Sequence[Predictions]) -> list[Predictions]:
        folds = self.folds.of_rows(predicted[0].keys) if self.averages else None
        return [replace(one, folds=folds) for one in predicted]


@dataclass(frozen=True)
class Estimate:
    """The score of rows, with those of its replicates; not numbers where the metric is undefined."""

    score: float
    replicates: Array
    is_defined: Array

    is_mean: bool = False
    """Whether it is the mean of the scores of several targets."""

    def error(self) -> float | None:
        """The standard error. Replicates that repeat a score do not count; in a mean, they make the spread too
        small."""
        spread = intervals.deviation(self.replicates if self.is_mean else self.replicates[self.is_defined])
        return None if spread is None else (spread / self.share() ** 0.5 if self.is_mean else spread)

    def share(self) -> float:
        """The share of the replicates that have a score of their own."""
        return float(self.is_defined.mean()) if len(self.is_defined) else 1.0

    def minus(self, other: Estimate) -> dict[str, float] | None:
        """How much larger this score is than another one of the same rows, with the standard error of the
        difference."""
        count = min(len(self.replicates), len(other.replicates))
        spread = intervals.deviation(self.replicates[:count] - other.replicates[:count])
        if spread is None:
            return None
        share = min(self.share(), other.share())
        return {"by": self.score - other.score, "standard_error": spread / share**0.5 if share > 0 else 0.0}


@lru_cache(maxsize=8)
def _draws(units: bytes, replicates: int) -> NDArray[np.uint8]:
    """The draws of these units, which scripts often share."""
    found = list(bootstrap.draws(np.frombuffer(units, dtype=np.uint64), replicates))
    return np.array(found, dtype=np.uint8).reshape(replicates, len(units) // 8)


def draw_counts(units: Keys, replicates: int) -> NDArray[np.uint8]:
    if len(units) * replicates > 50_000_000:
        return np.stack(list(bootstrap.draws(units, replicates)))
    return _draws(units.tobytes(), replicates)


def target_score(predicted: Predictions, replicates: int, units: Keys | None = None) -> Estimate:
    """The score of one target with its replicates."""
    score = predicted.score()
    counts = draw_counts(drawn_units(predicted.keys, predicted.units) if units is None else units, replicates)
    found = predicted.scores(counts if predicted.weights is None else counts * predicted.weights)
    is_defined = np.isfinite(found)
    return Estimate(score, np.where(is_defined, found, score), is_defined)


def mean_over_targets(predicted: Sequence[Predictions], replicates: int, alone: bool = False) -> Estimate:
    """The mean score over the targets. With `alone`, each row is drawn by itself."""
    each = [target_score(one, replicates, one.keys if alone else None) for one in predicted]
    if len(each) == 1:
        return each[0]
    worst = min(each, key=lambda one: one.is_defined.sum())
    score = float(np.mean([one.score for one in each]))
    return Estimate(score, np.mean([one.replicates for one in each], axis=0), worst.is_defined, is_mean=True)


def digest(keys: Keys) -> str:
    """A digest of row keys, the same in any order."""
    return hashlib.blake2b(np.sort(keys).tobytes(), digest_size=32).hexdigest()


def measurement(predicted: Sequence[Predictions], rows: Scoring, replicates: int) -> dict[str, Any]:
    """The score with its uncertainty. The interval is for the score on the test rows, as far as they are known."""
    metric = predicted[0].metric
    measured = mean_over_targets(predicted, replicates)
    keys, units = predicted[0].keys, predicted[0].units
    scale, error = Scale(metric.least, metric.most, metric.is_error), measured.error()
    if error is None:
        raise Refused(f"{metric.name} has no standard error, since there are too few rows")
    found = with_uncertainty(measured, keys, units, scale)
    found["mean_over_periods"] = predicted[0].folds is not None
    constants = [one for one in map(constant, predicted) if one is not None]
    if len(constants) == len(predicted):
        found["constant"] = float(np.mean(constants))
    if len(predicted) == 1 and (naive := _naive(predicted[0], rows)) is not None:
        found["seasonal_naive"] = naive

    def periods() -> list[tuple[int, int, float]]:
        scored = [(fold, len(at), score_at(predicted, at)) for fold, at in rows.folds.places(keys).items()]
        return [(fold, count, score) for fold, count, score in scored if score is not None]

    def by_rows() -> float | None:
        alone = unless_refused(mean_over_targets, predicted, ROW_REPLICATES, True)
        return None if alone is None else alone.error()

    scores: Callable[[Iterable[Array]], list[float | None]] = lambda parts: [score_at(predicted, at) for at in parts]  # noqa: E731
    return for_target(found, measured, units, rows.target, scale, periods, scores, by_rows)


def with_uncertainty(measured: Estimate, keys: Keys, units: Keys, scale: Scale) -> dict[str, Any]:
    """What is known of a score by its replicates."""
    error = measured.error()
    count = int(measured.is_defined.sum())
    values = measured.replicates[measured.is_defined]
    if measured.is_mean and error is not None:
        # Replicates that repeat a target's score make the spread too small.
        values = measured.score + (measured.replicates - measured.score) / measured.share() ** 0.5
        values = np.clip(values, scale.low, scale.high)
    return {
        "score": measured.score,
        "rows": len(keys),
        "clusters": clusters_if_few(keys, units),
        "rows_digest": digest(keys),
        "standard_error": error,
        "interval": None if error is None else intervals.percentile_interval(measured.score, error, values, scale),
        "bounds": scale.bounds(),
        "replicates": [float(one) for one in measured.replicates],
        "defined": count if count < len(measured.replicates) else None,
    }


def without_empty(found: dict[str, Any]) -> dict[str, Any]:
    """Leaves out what is not known, but for what readers expect."""
    kept = ("standard_error", "interval", "replicates")
    return {
        name: value
        for name, value in found.items()
        if name in kept or not (value is None or value is False or value == [])
    }


def for_target(
    found: dict[str, Any],
    measured: Estimate,
    units: Keys,
    target: Target,
    scale: Scale,
    periods: Callable[[], list[tuple[int, int, float]]],
    scores: Callable[[Iterable[Array]], list[float | None]],
    by_rows: Callable[[], float | None],
) -> dict[str, Any]:
    """What is known of a score with the interval for the target: by the scores of periods, each with its fold and its
    rows; or by the scores of the rows at some places, and the standard error of single rows."""
    if target.kind == "rows":
        found["interval"] = intervals.widen(measured.score, found["interval"], found["rows"], target.rows, scale)
        return without_empty(found)
    why = found.pop("no_interval", None)
    if target.kind == "period":
        scored = periods()
        found["interval"] = intervals.next_period([score for *_, score in scored], scale)
        found["periods"] = [{"fold": fold, "rows": rows, "score": score} for fold, rows, score in scored]
        known = None if scored else why
        found["no_interval"] = None if found["interval"] else known or intervals.too_few_periods_message(len(scored))
    else:
        groups, sizes = np.unique(units, return_counts=True)
        by_groups = measured.error()
        if len(groups) <= intervals.FEW_GROUPS:
            without = scores(np.flatnonzero(units != group) for group in groups)
            by_groups = intervals.jackknife_error([one for one in without if one is not None], len(groups))
        errors, error = (by_groups, by_rows()), found["standard_error"]
        found |= intervals.for_other_groups(measured.score, errors, sizes, target, scale, error, why)
    return without_empty(found | {"clusters": None})


def score_at(predicted: Sequence[Predictions], places: Array | None = None) -> float | None:
    """The mean score over the targets, at these places; `None` if there is none."""
    if places is not None and not len(places):
        return None
    scores = [unless_refused((one if places is None else one.at(places)).score) for one in predicted]
    known = [score for score in scores if score is not None]
    return float(np.mean(known)) if len(known) == len(scores) else None


def _naive(predicted: Predictions, rows: Scoring) -> float | None:
    """The score of a seasonal naive forecast of the same rows."""
    if rows.naive is None or not predicted.is_numbers or predicted.cells.form != "number":
        return None
    keys, values = rows.naive
    place, is_known = tables.places(keys, predicted.keys)
    if not is_known.all():
        return None
    return unless_refused(predicted.score, values[place][:, None])


def constant(predicted: Predictions) -> float | None:
    """The score of the best of a few constants: mean, median (the upper of two) and geometric mean of numbers;
    shares of classes; the most frequent labels. `None` where a constant has no score."""
    lines = (np.tile(line, (len(predicted), 1)) for line in _constants(predicted))
    scores = [score for line in lines if (score := unless_refused(predicted.score, line)) is not None]
    pick = min if predicted.metric.is_error else max
    return pick(scores, default=None)


def _constants(predicted: Predictions) -> list[list[float]]:
    truth, form = predicted.truth, predicted.cells.form
    if predicted.is_numbers:
        if form != "number":
            return []
        found = [float(truth.mean()), float(np.sort(truth)[len(truth) // 2])]
        return [[one] for one in [*found, *([float(np.expm1(np.log1p(truth).mean()))] if truth.min() >= 0 else [])]]
    shares = np.bincount(truth, minlength=max(len(predicted.names), predicted.values.shape[1])) / max(len(truth), 1)
    if form == "per class":
        return [[float(one) for one in shares[: predicted.values.shape[1]]]]
    if form == "positive":
        return [[float(shares[predicted.cells.positive])]]
    return [[float(one)] for one in np.argsort(-shares, kind="stable")[:3]] if form == "label" else []


def forecasts(file: str) -> tuple[Keys, Array]:
    """The forecasts in a CSV table with the row ID and the target."""
    table = tables.read(file)
    return tables.keys(table.cells[0]), tables.numbers(table.cells[1])


def on_common_rows(files: Sequence[Sequence[Predictions]], rows: Scoring) -> list[list[Predictions]]:
    """The predictions for the rows that all files have."""
    common = files[0][0].keys
    for file in files[1:]:
        common = np.intersect1d(common, file[0].keys, assume_unique=True)
    return [rows.in_folds([one.at(np.flatnonzero(np.isin(one.keys, common))) for one in file]) for file in files]
