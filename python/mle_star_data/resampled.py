"""Scores of the same rows for many weights at once, so that resampling hundreds of times takes milliseconds.

Each formula is prepared with truth and predictions once. It then takes a matrix of weights, one line for each
replicate, and gives their scores, not numbers where the metric is undefined. With weights of one, it equals the
metric's function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Scores = NDArray[np.float64]
Resampled = Callable[[Array], Scores]
Prepare = Callable[[Array, Array], Resampled]

SMALLEST = float(np.finfo(np.float64).eps)
MOST_CELLS = 4_000_000
"""So many cells of a matrix of weights are worked on at once."""


def in_pieces(score: Callable[[NDArray[np.float64]], Scores]) -> Resampled:
    """The scores of a few replicates after the other, which bounds the memory."""

    def all_of(weights: Array) -> Scores:
        step = max(1, MOST_CELLS // max(1, weights.shape[1]))
        with np.errstate(all="ignore"):
            pieces = [
                score(np.asarray(weights[at : at + step], dtype=np.float64)) for at in range(0, len(weights), step)
            ]
        return np.concatenate(pieces) if pieces else np.empty(0)

    return all_of


def mean_of_rows(rows: Callable[[Array, Array], Array], is_root: bool = False) -> Prepare:
    """The weighted mean of what each row has, or its root."""

    def prepare(truth: Array, predicted: Array) -> Resampled:
        with np.errstate(all="ignore"):
            losses = np.asarray(rows(truth, predicted), dtype=np.float64)

        def score(weights: Array) -> Scores:
            mean = (weights @ losses) / weights.sum(axis=1)
            return np.asarray(np.sqrt(mean) if is_root else mean)

        return in_pieces(score)

    return prepare


def hits(truth: Array, predicted: Array) -> Array:
    return np.asarray(truth == predicted)


def squares(truth: Array, predicted: Array) -> Array:
    return np.asarray((predicted - truth) ** 2)


def sizes(truth: Array, predicted: Array) -> Array:
    return np.asarray(np.abs(predicted - truth))


def log_squares(truth: Array, predicted: Array) -> Array:
    return np.asarray((np.log1p(predicted) - np.log1p(truth)) ** 2)


def shares(truth: Array, predicted: Array) -> Array:
    return np.asarray(np.abs(predicted - truth) / np.maximum(np.abs(truth), SMALLEST))


def symmetric_shares(truth: Array, predicted: Array) -> Array:
    both = np.abs(truth) + np.abs(predicted)
    return np.asarray(200.0 * np.abs(predicted - truth) / np.where(both > 0, both, 1.0))


def pinballs(quantile: float, truth: Array, predicted: Array) -> Array:
    return np.asarray(np.maximum(quantile * (truth - predicted), (quantile - 1.0) * (truth - predicted)))


def interval_scores(covered: float, truth: Array, predicted: Array) -> Array:
    lower, upper = predicted[:, 0], predicted[:, 1]
    outside = np.maximum(lower - truth, 0.0) + np.maximum(truth - upper, 0.0)
    return np.asarray(upper - lower + 2.0 / (1.0 - covered) * outside)


def log_losses(truth: Array, predicted: Array) -> Array:
    own = predicted[np.arange(len(truth)), truth]
    return np.asarray(-np.log(np.clip(own, SMALLEST, 1.0 - SMALLEST)))


def column_log_losses(truth: Array, predicted: Array) -> Array:
    own = np.where(np.eye(predicted.shape[1], dtype=bool)[truth], predicted, 1.0 - predicted)
    return np.asarray(-np.log(np.clip(own, SMALLEST, 1.0 - SMALLEST)).mean(axis=1))


def squares_of_classes(truth: Array, predicted: Array) -> Array:
    all_of = (predicted - np.eye(predicted.shape[1])[truth]) ** 2
    return np.asarray(all_of[:, 1] if predicted.shape[1] == 2 else all_of.sum(axis=1))


def gains(most: int, is_map: bool, truth: Array, predicted: Array) -> Array:
    found = predicted[:, :most] == truth[:, None]
    places = np.where(found.any(axis=1), found.argmax(axis=1) + 1.0, np.inf)
    return np.asarray(1.0 / places if is_map else np.isfinite(places))


def f1_of_sets(truth: Array, predicted: Array) -> Array:
    both, size = (truth & predicted).sum(axis=1), truth.sum(axis=1) + predicted.sum(axis=1)
    return np.asarray(np.where(size > 0, 2.0 * both / np.maximum(size, 1), 1.0))


def medians(truth: Array, predicted: Array) -> Resampled:
    """The weighted median of the absolute errors, the middle of two where they divide the rows equally."""
    errors = np.abs(predicted - truth)
    order = np.argsort(errors, kind="stable")
    errors = errors[order]

    def score(weights: Array) -> Scores:
        above = np.cumsum(weights[:, order], axis=1)
        half = above[:, -1:] / 2.0
        low, high = (above < half * (1 - 1e-12)).sum(axis=1), (above <= half * (1 + 1e-12)).sum(axis=1)
        most = len(errors) - 1
        found = (errors[np.minimum(low, most)] + errors[np.minimum(high, most)]) / 2.0
        return np.where(half[:, 0] > 0, found, np.nan)

    return in_pieces(score)


def r2(truth: Array, predicted: Array) -> Resampled:
    middle = truth - truth.mean()
    errors = (truth - predicted) ** 2

    def score(weights: Array) -> Scores:
        total = weights.sum(axis=1)
        mean = (weights @ middle) / total
        around = np.maximum(weights @ middle**2 - total * mean**2, 0.0)
        # Equal values are known exactly, whatever the rounding of their squares.
        around = np.where(_are_equal(weights, truth), 0.0, around)
        error = weights @ errors
        found = np.where(around > 0, 1.0 - error / around, np.where(error > 0, 0.0, 1.0))
        is_enough = ((weights > 0).sum(axis=1) >= 2) | (total >= 2.0)
        return np.where(is_enough & (total > 0), found, np.nan)

    return in_pieces(score)


def _are_equal(weights: Array, values: Array) -> Array:
    """Whether all values with a weight are equal."""
    if len(values) == 0 or (np.ptp(values) > 0 and len(values) > 1000):
        return np.zeros(len(weights), dtype=bool)
    low = np.where(weights > 0, values, np.inf).min(axis=1)
    return np.asarray(low == np.where(weights > 0, values, -np.inf).max(axis=1))


def correlations(by_rank: bool) -> Prepare:
    """Pearson's correlation, or that of the weighted ranks."""

    def prepare(truth: Array, predicted: Array) -> Resampled:
        sides = [ranking(side.tobytes()) if by_rank else _standardized(side) for side in (truth, predicted)]

        def score(weights: Array) -> Scores:
            one, other = (side.ranks(weights) if isinstance(side, Ranking) else side for side in sides)
            return _correlation(weights, one, other)

        return in_pieces(score)

    return prepare


def _standardized(values: Array) -> Array:
    spread = values.std()
    return np.asarray((values - values.mean()) / (spread if spread > 0 else 1.0))


def _correlation(weights: Array, one: Array, other: Array) -> Scores:
    total = weights.sum(axis=1)

    def mean(values: Array) -> Array:
        return np.asarray((weights * values).sum(axis=1) / total if values.ndim == 2 else weights @ values / total)

    of_one, of_other = mean(one), mean(other)
    variances = [mean(side**2) - middle**2 for side, middle in ((one, of_one), (other, of_other))]
    sizes_of = [np.maximum(mean(side**2), 1e-300) for side in (one, other)]
    # What is left of equal values is the rounding of their squares.
    is_constant = [variance <= 1e-13 * size for variance, size in zip(variances, sizes_of, strict=True)]
    found = (mean(one * other) - of_one * of_other) / np.sqrt(variances[0] * variances[1])
    return np.where(is_constant[0] | is_constant[1] | (total <= 0), np.nan, np.clip(found, -1.0, 1.0))


class Ranking:
    """Rows in the order of a value, the smallest first; equal values are one group."""

    def __init__(self, values: Array) -> None:
        self.order = np.argsort(values, kind="stable")
        ordered = np.asarray(values)[self.order]
        self.starts: Array = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
        self.group = np.empty(len(ordered), dtype=np.int64)
        self.group[self.order] = np.repeat(np.arange(len(self.starts)), np.diff([*self.starts, len(ordered)]))

    def sums(self, weights: Array) -> Array:
        """The weight of each group."""
        return np.asarray(np.add.reduceat(weights[:, self.order], self.starts, axis=1))

    def ranks(self, weights: Array) -> Array:
        """The rank of each row, if it were repeated as often as its weight says, less a half."""
        tied = self.sums(weights)
        return np.asarray((np.cumsum(tied, axis=1) - tied / 2.0)[:, self.group])


@lru_cache(maxsize=2)
def ranking(values: bytes) -> Ranking:
    """The ranking of these numbers: the truth is often that of the call before."""
    return Ranking(np.frombuffer(values))


def ginis(truth: Array, predicted: Array) -> Resampled:
    """The Gini coefficient of the order by predictions, divided by that of the order by truth."""
    by_truth, by_prediction = Ranking(truth), Ranking(predicted)
    middle = truth - truth.mean()

    def score(weights: Array) -> Scores:
        total = weights.sum(axis=1)
        mean = (weights @ middle) / total

        def shared(ranking: Ranking) -> Array:
            ranks = ranking.ranks(weights)
            return np.asarray((weights * middle * ranks).sum(axis=1) / total - mean * total / 2.0)

        best = shared(by_truth)
        found = np.clip(shared(by_prediction) / best, -1.0, 1.0)
        return np.where((best > 1e-12 * total * np.abs(middle).max()) & (total > 0), found, np.nan)

    return in_pieces(score)


def curves(kind: Literal["roc", "precision", "gini"], each: bool = False) -> Prepare:
    """The area under the curve of the second of two classes, else of each class with rows, averaged."""

    def prepare(truth: Array, predicted: Array) -> Resampled:
        count = predicted.shape[1]
        classes = [1] if count == 2 and not each else range(count)
        curve = precision_curve if kind == "precision" else roc_curve
        areas = [curve(truth == one, predicted[:, one]) for one in classes]

        def score(weights: Array) -> Scores:
            found = np.stack([area(weights) for area in areas])
            known = np.isfinite(found)
            mean = np.where(known, found, 0.0).sum(axis=0) / known.sum(axis=0)
            return np.asarray(2.0 * mean - 1.0 if kind == "gini" else mean)

        return in_pieces(score)

    return prepare


def _falling(is_positive: Array, scores: Array, weights: Array, ranking: Ranking) -> tuple[Array, Array]:
    """The positive and the other weight of each group of equal scores, the largest score first."""
    ordered = weights[:, ranking.order]
    sums = [
        np.add.reduceat(side, ranking.starts, axis=1)[:, ::-1]
        for side in (ordered * is_positive[ranking.order], ordered)
    ]
    return sums[0], sums[1] - sums[0]


def roc_curve(is_positive: Array, scores: Array) -> Resampled:
    ranking = Ranking(scores)

    def area(weights: Array) -> Scores:
        positive, other = _falling(is_positive, scores, weights, ranking)
        above = np.cumsum(positive, axis=1) - positive
        whole = (other * (above + positive / 2.0)).sum(axis=1)
        return np.asarray(whole / (positive.sum(axis=1) * other.sum(axis=1)))

    return area


def precision_curve(is_positive: Array, scores: Array) -> Resampled:
    ranking = Ranking(scores)

    def area(weights: Array) -> Scores:
        positive, other = _falling(is_positive, scores, weights, ranking)
        found, all_of = np.cumsum(positive, axis=1), np.cumsum(positive + other, axis=1)
        precision = np.divide(found, all_of, out=np.zeros_like(found), where=all_of > 0)
        return np.asarray((positive * precision).sum(axis=1) / positive.sum(axis=1))

    return area


Counted = Literal["balanced accuracy", "f1", "macro f1", "weighted f1", "mcc", "kappa"]


def counts(kind: Counted) -> Prepare:
    """Metrics of the weights by true and predicted class."""

    def prepare(truth: Array, predicted: Array) -> Resampled:
        classes = int(max(truth.max(initial=0), predicted.max(initial=0))) + 1
        codes, place = np.unique(truth * classes + predicted, return_inverse=True)
        rows, columns = codes // classes, codes % classes
        of_truth, of_predicted = np.eye(classes)[rows], np.eye(classes)[columns]
        right = of_truth * (rows == columns)[:, None]
        distances = (rows - columns).astype(np.float64) ** 2

        def score(weights: Array) -> Scores:
            pairs = np.stack([np.bincount(place, weights=one, minlength=len(codes)) for one in weights])
            tally = Tally(pairs @ right, pairs @ of_truth, pairs @ of_predicted, pairs @ distances)
            return np.where(tally.total > 0, tally.score(kind), np.nan)

        return in_pieces(score)

    return prepare


class Tally:
    """Weights of rows, by class: whose class is predicted, that have it, for which it is predicted; and the weight
    of all rows times the squared distance of their classes."""

    def __init__(self, right: Array, truth: Array, predicted: Array, distance: Array) -> None:
        self.right, self.truth, self.predicted, self.distance = right, truth, predicted, distance
        self.total = truth.sum(axis=1)

    def score(self, kind: Counted) -> Scores:
        if kind == "balanced accuracy":
            return _mean_where(self.right / self.truth, self.truth > 0)
        if kind == "mcc":
            return self._mcc()
        if kind == "kappa":
            return self._kappa()
        size = self.truth + self.predicted
        f1 = np.where(size > 0, 2.0 * self.right / np.where(size > 0, size, 1.0), 0.0)
        if kind == "f1":
            return np.asarray(f1[:, 1] if f1.shape[1] > 1 else np.zeros(len(f1)))
        if kind == "weighted f1":
            return np.asarray((self.truth * f1).sum(axis=1) / self.total)
        return _mean_where(f1, size > 0)

    def _mcc(self) -> Scores:
        total = self.total
        of_both = self.right.sum(axis=1) * total - (self.truth * self.predicted).sum(axis=1)
        product = _spread(self.predicted) * _spread(self.truth)
        return np.where(product > 0, of_both / np.sqrt(product), 0.0)

    def _kappa(self) -> Scores:
        places = np.arange(self.truth.shape[1], dtype=np.float64)
        total = self.total
        by_chance = total * (self.truth @ places**2 + self.predicted @ places**2)
        by_chance = by_chance - 2.0 * (self.truth @ places) * (self.predicted @ places)
        is_one = _spread(self.truth + self.predicted) <= 0
        return np.where(is_one | (by_chance <= 0), np.nan, 1.0 - self.distance * total / by_chance)


def _spread(of_class: Array) -> Array:
    """The square of the sum less the squares of the counts: exactly 0 if all are in one class."""
    total = of_class.sum(axis=1, keepdims=True)
    found = (of_class * (total - of_class)).sum(axis=1)
    return np.where((of_class > 0).sum(axis=1) > 1, found, 0.0)


def _mean_where(values: Array, known: Array) -> Scores:
    return np.asarray(np.where(known, values, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1))


def sets(is_micro: bool) -> Prepare:
    """F1 of the labels of sets: over all decisions, or averaged over the labels."""

    def prepare(truth: Array, predicted: Array) -> Resampled:
        both, size = (truth & predicted).astype(np.float64), truth.astype(np.float64) + predicted

        def score(weights: Array) -> Scores:
            hits_of, sizes_of = weights @ both, weights @ size
            if is_micro:
                whole = sizes_of.sum(axis=1)
                found = np.where(whole > 0, 2.0 * hits_of.sum(axis=1) / np.where(whole > 0, whole, 1.0), 0.0)
            else:
                found = _mean_where(2.0 * hits_of / np.where(sizes_of > 0, sizes_of, 1.0), sizes_of > 0)
            return np.where(weights.sum(axis=1) > 0, found, np.nan)

        return in_pieces(score)

    return prepare


MIX = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def mixed(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finalizer of splitmix64: every bit of the input changes half of the bits of the output."""
    with np.errstate(over="ignore"):
        bits = bits + MIX[0]
        bits = (bits ^ (bits >> np.uint64(30))) * MIX[1]
        bits = (bits ^ (bits >> np.uint64(27))) * MIX[2]
    return bits ^ (bits >> np.uint64(31))


def seed(replicate: int) -> NDArray[np.uint64]:
    return mixed(np.array([(replicate + 1) * int(MIX[0]) % 2**64], dtype=np.uint64))


def _counts_of_poisson() -> NDArray[np.uint8]:
    """How often a row is drawn, by the first 16 of random bits: Poisson's distribution with mean 1."""
    term, sums = float(np.exp(-1.0)), list[float]()
    for at in range(12):
        sums.append((sums[-1] if sums else 0.0) + term)
        term /= at + 1
    return np.searchsorted(sums, (np.arange(2**16) + 0.5) / 2**16).astype(np.uint8)


POISSON = _counts_of_poisson()


def draws(units: NDArray[np.uint64], replicates: int, first: int = 0) -> Iterator[NDArray[np.uint8]]:
    """How often each unit is drawn in each replicate. It depends on the unit and the number of the replicate alone,
    so that the replicates of two scripts are paired, whatever rows they share."""
    for replicate in range(first, first + replicates):
        yield POISSON[(mixed(units ^ seed(replicate)) >> np.uint64(48)).astype(np.int64)]
