"""Ensembles: weights for the predictions of several scripts, the files that these weights combine, and the correlation
of errors, which says whether combining may help.

Weights come from greedy forward selection with replacement (Caruana et al., *Ensemble selection from libraries of
models*, 2004): each round adds the member whose predictions improve the mean of those chosen so far the most. A
member's weight is how often it was chosen, on average over bootstrap samples of the rows. Improvements are those of the
task's metric; of accuracy with probabilities, those of log loss.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from . import bootstrap, measure, metrics, predictions, tables
from .aliases import Array, Keys
from .labels import Labels, drawn_units
from .measure import Estimate, Scoring
from .metrics import Metric
from .predictions import Layout, Predictions
from .tables import Refused, Text, shown

NO_IDS = pl.Series([], dtype=pl.String)
ROUNDS = 25
CANDIDATES = 20
"""The most members to choose from: the best by their own scores."""
BAGS = 10
"""Bootstrap samples of rows whose weights are averaged."""
BAGS_FROM = 2**40
"""No replicate of a score has such a number."""
MAX_ROWS = 10_000
"""A bag is drawn from about this many rows at most, other ones each time."""
MIN_WEIGHT = 0.03
"""Members with less weight are left out: each of them has to run."""
MAX_VALUES = 50_000_000
"""The most values of all members in memory. Members that come later get no weight."""
MIN_MEMBERS = 4
"""As many members are read whatever their size."""
FOLDS = 4
"""Folds of the honest score."""
MIN_GAIN = 1e-5
"""An improvement counts if it is at least this share of the score."""
PATIENCE = 6
"""Rounds without an improvement, after which a search ends. Labels often need a third member to change."""
OF_EQUAL_VOTES = 1e-9
"""What the first member's vote counts more than its weight, and each further one half of that: of labels with equal
votes, that of the earliest member is written, and counts in the search."""


@dataclass(frozen=True)
class _Target:
    """What the members predict for one target."""

    rows: Predictions
    members: Array
    """The values of each member, a line for each row; labels as one value for each class."""

    def at(self, places: Array) -> _Target:
        return _Target(self.rows.at(places), np.take(self.members, places, axis=1))

    def by_probabilities(self) -> _Target:
        """Compares by log loss instead of accuracy if all members give probabilities. The share of correct labels
        changes in steps, so its best weights are often those that fit these rows by chance."""
        if self.rows.metric.name != "accuracy" or self.rows.cells.form != "per class":
            return self
        found = replace(self, rows=replace(self.rows, metric=metrics.BY_NAME["log loss"]))
        whole = np.ones((1, len(self.rows)))
        return found if all(np.isfinite(found.goodness(one, whole)[0]) for one in self.members) else self

    def mean(self, votes: Array) -> Array:
        """The weighted mean of the members."""
        if self.rows.labels() is not None:
            votes = votes + np.where(votes > 0, OF_EQUAL_VOTES * 0.5 ** (np.cumsum(votes > 0) - 1.0), 0.0)
        return np.asarray(np.tensordot(votes / votes.sum(), self.members, 1))

    def ranked(self, values: Array) -> Array:
        """Ranks, if the metric is about the order: scores of members may have any scale, and rows of different folds,
        whose weights differ, are compared."""
        if not self.rows.metric.by_order:
            return values
        return np.stack([metrics.ranks(metrics.ties(column)) for column in values.T], axis=1) / len(values)

    def decide(self, values: Array) -> Array:
        """What a file would hold: the values, or the labels with the largest ones."""
        if self.rows.labels() is None:
            return values
        values, rows = values.copy(), np.arange(len(values))
        width = int(self.rows.values.shape[1])
        found = np.empty((len(values), width))
        for place in range(width):
            largest = values.argmax(axis=1)
            found[:, place] = np.where(values[rows, largest] > 0, largest, -1)
            values[rows, largest] = -1.0
        return found

    def goodness(self, values: Array, weights: Array) -> Array:
        """The score of values for each line of weights of the rows, larger if it is better; infinitely bad for none."""
        try:
            found = self.rows.scores(weights, self.decide(values))
        except Refused:
            return np.full(len(weights), -np.inf)
        return np.where(np.isfinite(found), self.rows.metric.sign() * found, -np.inf)


@dataclass(frozen=True)
class _Library:
    """The members to choose from."""

    targets: list[_Target]
    durations: Array
    limit: float

    def predicted(self, values: Sequence[Array]) -> list[Predictions]:
        """What a file would hold with these values of each target."""
        pairs = zip(self.targets, values, strict=True)
        return [replace(target.rows, values=target.decide(one)) for target, one in pairs]

    def goodness(self, votes: Array, weights: Array) -> Array:
        found = [target.goodness(target.mean(votes), weights) for target in self.targets]
        return np.asarray(np.mean(found, axis=0))

    def combined(self, weights: Array, folds: Array) -> list[Array]:
        """The values of each target, with weights that are chosen on the other folds."""
        found = []
        for target in self.targets:
            of_folds = [target.ranked(target.mean(one)) for one in weights]
            found.append(np.choose(folds[:, None], of_folds))
        return found

    def best(self, weights: Array) -> Array:
        """For each line of weights of the rows, all weight for the best member; none if no member has a score."""
        alone = np.eye(len(self.durations))
        own = np.stack([self.goodness(one, weights) for one in alone], axis=1)
        return np.asarray(alone[own.argmax(axis=1)] * np.isfinite(own).any(axis=1)[:, None])

    def weights(self, sets: Array, units: Keys, own: Array) -> Array:
        """The weights of the members for each set of rows, by bags of them."""
        targets = [target.by_probabilities() for target in self.targets]
        rows = self.targets[0].rows
        # Several targets have the same rows, and classes of their own.
        has_classes = len(targets) == 1 and not rows.is_numbers
        classes = rows.truth if has_classes else np.zeros(len(units), dtype=np.int64)
        bags = np.stack([_bag(number, units, classes) for number in range(BAGS)])
        sums = np.zeros((len(sets), len(self.durations)))
        # Bags of the same rows are searched together.
        for some in [bags] if len(units) <= MAX_ROWS else [bag[None] for bag in bags]:
            places = np.flatnonzero(some.any(axis=0))
            library = replace(self, targets=[target.at(places) for target in targets])
            weights = sets[:, None, places] * (some * own)[None, :, places]
            found = library.search(weights.reshape(-1, len(places)))
            sums += found.reshape(len(sets), len(some), -1).sum(axis=1)
        return np.stack([self.without_the_least(one) for one in sums])

    def without_the_least(self, weights: Array) -> Array:
        """Weights that add up to 1, without the least ones as long as they are small, or the members take too long."""
        while weights.sum() > 0:
            weights = weights / weights.sum()
            least = int(np.where(weights > 0, weights, np.inf).argmin())
            if weights[least] >= MIN_WEIGHT and self.durations[weights > 0].sum() <= self.limit:
                break
            weights[least] = 0.0
        return weights

    def search(self, weights: Array) -> Array:
        """The weights after the best round of a greedy search for each line of weights of the rows."""
        lines, members = len(weights), len(self.durations)
        counts = np.zeros((lines, members), dtype=np.int64)
        best, best_counts, best_round = np.full(lines, -np.inf), counts.copy(), np.zeros(lines, dtype=np.int64)
        own = self.goodness_with_each(counts, np.ones(counts.shape, dtype=bool), weights)
        places = np.argsort(np.argsort(-own, axis=1, kind="stable"), axis=1)
        known = np.isfinite(own) & (places < CANDIDATES)
        runs = np.ones(lines, dtype=bool)
        for at in range(1, ROUNDS + 1):
            used = (counts > 0) @ self.durations
            fits = known & runs[:, None] & ((counts > 0) | (used[:, None] + self.durations <= self.limit))
            goodness = np.where(fits, own, -np.inf) if at == 1 else self.goodness_with_each(counts, fits, weights)
            most = goodness.max(axis=1)
            runs &= np.isfinite(most)
            # Of equal ones, but for rounding, the one that was chosen least often: labels often need a third vote to
            # change.
            is_best = goodness >= (most - 1e-13 * np.abs(most))[:, None]
            chosen = np.where(is_best, counts, ROUNDS + 1).argmin(axis=1)
            counts[runs, chosen[runs]] += 1
            is_better = runs & (most > best + np.where(best == -np.inf, 0.0, MIN_GAIN * np.abs(best)))
            best, best_round = np.where(is_better, most, best), np.where(is_better, at, best_round)
            best_counts[is_better] = counts[is_better]
            runs &= at - best_round < PATIENCE
            if not runs.any():
                break
        return np.asarray(best_counts / np.maximum(best_counts.sum(axis=1, keepdims=True), 1))

    def goodness_with_each(self, counts: Array, fits: Array, weights: Array) -> Array:
        """How good the mean is for each line and each member that fits, if it is chosen once more. Lines that have
        chosen the same members are worked on together."""
        lines, members = np.nonzero(fits)
        votes = counts[lines]
        votes[np.arange(len(lines)), members] += 1
        different, group = np.unique(votes, axis=0, return_inverse=True)
        found = np.full(fits.shape, -np.inf)
        for number, one in enumerate(different):
            same = np.flatnonzero(group == number)
            found[lines[same], members[same]] = self.goodness(one.astype(np.float64), weights[lines[same]])
        return found


def _bag(number: int, units: Keys, classes: Array) -> Array:
    """What each row counts in a bootstrap sample, which is from at most about so many rows. They are in a random order.
    Of classes, each gives as many, so that the rows of a rare one are in every bag; together, they count as much as all
    of their class. Rows with equal units are drawn together."""
    _, group, sizes = np.unique(classes, return_inverse=True, return_counts=True)
    share = MAX_ROWS if len(units) <= MAX_ROWS else max(MAX_ROWS // len(sizes), 1)
    place = np.empty(len(units), dtype=np.int64)
    place[np.argsort(group, kind="stable")] = np.concatenate([np.arange(size) for size in sizes])
    steps = -(-sizes // share)
    is_kept = place % steps[group] == (number % steps)[group]
    stands_for = sizes / np.maximum(np.bincount(group, weights=is_kept), 1.0)
    return np.asarray(next(bootstrap.draws(units, 1, BAGS_FROM + number)) * stands_for[group] * is_kept)


def select(
    labels: Labels,
    rows: Scoring,
    files: Sequence[str],
    seconds: Sequence[float],
    layout: Layout,
    limit: float,
    replicates: int,
) -> dict[str, Any] | None:
    """Weights for files whose scripts run in `limit` seconds together.

    The weighted mean of labels is the label with the largest weight; of guesses, those with the largest weights, where
    the second guess of a member has half of its weight, the third a third, and so on. With several targets, a member
    has the same weight for all of them. Members whose rows or columns differ from those of the first one get no weight.
    `measured` is the score of the weighted mean, where the weights for each fold come from the other folds. `lead` is
    how much larger it is than that of the member with the best score, which is chosen for each fold by the other folds,
    too.

    `None` if fewer than two members get a weight, if a fold of rows cannot be scored without the others, or for labels
    of several targets.
    """
    if not files or (len(labels.targets) > 1 and labels.metric.kind in ("labels", "guesses", "sets")):
        return None
    first, members, used = _members(labels, rows, files, layout)
    units = drawn_units(first[0].keys, first[0].units)
    # The lower bits of a key are those of a hash.
    folds = ((units >> np.uint64(7)) % np.uint64(FOLDS)).astype(np.int64)
    others = np.stack([folds != fold for fold in range(FOLDS)]).astype(np.float64)
    own = np.ones(len(units)) if first[0].weights is None else first[0].weights
    targets = [_Target(one, np.stack(values)) for one, values in zip(first, members, strict=True)]
    library = _Library(targets, np.asarray(seconds, dtype=np.float64)[used], limit)
    chosen = library.weights(np.concatenate([np.ones((1, len(units))), others]), units, own)
    best = library.best(others * own)
    if (chosen[0] > 0).sum() < 2 or not chosen.any(axis=1).all() or not best.any(axis=1).all():
        return None
    measured = measure.measurement(library.predicted(library.combined(chosen[1:], folds)), rows, replicates)
    of_best = measure.mean_over_targets(library.predicted(library.combined(best, folds)), replicates)
    scores = np.array(measured["replicates"])
    is_defined = np.arange(len(scores)) < measured.get("defined", len(scores))
    sign = labels.metric.sign()
    weights = np.zeros(len(files))
    weights[used] = chosen[0]
    return {
        "weights": [float(one) for one in weights],
        "measured": measured,
        "lead": Estimate(measured["score"], scores, is_defined).minus(of_best),
        "is_better": bool(sign * measured["score"] > sign * of_best.score),
    }


def _members(
    labels: Labels, rows: Scoring, files: Sequence[str], layout: Layout
) -> tuple[list[Predictions], list[list[Array]], list[int]]:
    """The first file, the values of the files that match it for each target, and the numbers of these files."""
    first = rows.in_folds(predictions.read(files[0], labels, layout, "reject"))
    members, used = [[_as_numbers(one)] for one in first], [0]
    most = max(MAX_VALUES // max(sum(values[0].size for values in members), 1), MIN_MEMBERS)
    for at, file in enumerate(files[1:most], 1):
        with suppress(Refused):
            found = rows.in_folds(predictions.read(file, labels, layout, "reject"))
            if all(one.matches(other) for one, other in zip(found, first, strict=True)):
                used.append(at)
                for values, one in zip(members, found, strict=True):
                    values.append(_as_numbers(one))
    return first, members, used


def _as_numbers(file: Predictions) -> Array:
    """Predictions as numbers that have a mean: a label becomes a one at its class, the second guess a half, and so
    on."""
    classes = file.labels()
    if classes is None:
        return file.values
    found = np.zeros((len(file), classes))
    for place in reversed(range(file.values.shape[1])):
        rows = np.flatnonzero(file.values[:, place] >= 0)
        found[rows, file.values[rows, place].astype(np.int64)] = 1.0 / (place + 1)
    return found


def class_columns(file: str, id_column: str | None) -> list[str]:
    """The columns of a CSV file with scores of classes. The first one names the row and counts only if `id_column` is
    known."""
    return [*([] if id_column is None else [id_column]), *tables.header(file)[1:]]


def combine(metric: Metric, files: Sequence[tuple[float, str]], layout: Layout, out: str) -> None:
    """Writes a CSV file with the weighted average of several files of the same layout and rows, in the order of the
    first.

    Numbers and probabilities are the mean. The one column of a metric of labels is the label with the largest weight,
    the first file's of equal ones, or the next file's if it has none of them. Of guesses, the first counts one, the
    second a half, and so on; those that count most are kept. Of sets, the one with the largest weight is kept.
    """
    if len(layout.predicted()) != 1 or metric.kind not in ("labels", "guesses", "sets"):
        ids, sums, total = _sums(files, layout)
        _write(out, layout, ids, [[number_text(one) for one in column.tolist()] for column in (sums / total).T])
        return
    aligned = list(_aligned(files, layout, lambda cells, _: cells.str.strip_chars().to_numpy()))
    weights, cells = [weight for weight, _, _ in aligned], [columns[0] for _, _, columns in aligned]
    ids = aligned[0][1]
    if metric.kind == "guesses":
        between = tables.separator(pl.Series(np.concatenate(cells)))
        known = {row: _combined_guesses(row, weights, between, metric.guesses) for row in set(zip(*cells, strict=True))}
        _write(out, layout, ids, [[known[row] for row in zip(*cells, strict=True)]])
        return
    form = partial(tables.as_set, " ") if metric.kind == "sets" else tables.canonical
    forms = np.stack([tables.mapped(pl.Series(column), form).to_numpy() for column in cells])
    # Of several spellings, the first counts.
    written = dict(zip(forms.ravel()[::-1], np.concatenate(cells)[::-1], strict=True))
    votes = sum(weight * (forms == other) for weight, other in zip(weights, forms, strict=True))
    winner = np.asarray(votes).argmax(axis=0)
    _write(out, layout, ids, [[written[one] for one in forms[winner, np.arange(len(ids))]]])


def combine_classes(files: Sequence[tuple[float, str]], classes: Layout, layout: Layout, out: str) -> None:
    """Like `combine` for files that have a column with scores for each class. The one predicted column of `layout` gets
    the class with the largest average, the first one of equals."""
    ids, sums, _ = _sums(files, classes)
    names = classes.predicted()
    _write(out, layout, ids, [[names[at] for at in sums.argmax(axis=1)]])


def _sums(files: Sequence[tuple[float, str]], layout: Layout) -> tuple[Text, Array, float]:
    """The IDs, the weighted sums of numbers, and the sum of the weights."""
    ids, sums, total = NO_IDS, np.zeros((0, 0)), 0.0
    for weight, names, columns in _aligned(files, layout, _finite):
        numbers = weight * np.stack(columns, axis=1).astype(np.float64)
        ids, sums, total = names, numbers if total == 0 else sums + numbers, total + weight
    return ids, sums, total


def _finite(cells: Text, ids: Text) -> Array:
    found = tables.numbers(cells)
    for row in np.flatnonzero(~np.isfinite(found))[:1]:
        cell = shown(cells[int(row)].strip())
        raise Refused(f"the row with ID {shown(ids[int(row)])} has {cell}, which is not a finite number")
    return found


def _aligned(
    files: Sequence[tuple[float, str]], layout: Layout, form: Callable[[Text, Text], Array]
) -> Iterator[tuple[float, Text, list[Array]]]:
    """The weight of each file, the IDs of the first one, and the columns of predictions in the order of these."""
    if not files:
        raise Refused("there is no file to average")
    first, ids = np.empty(0, dtype=np.uint64), NO_IDS
    for at, (weight, file) in enumerate(files):
        try:
            table = tables.read(file)
            table.needs([*layout.predicted(), *([] if layout.id is None else [layout.id])])
            keys, own = tables.row_keys(table, layout.id), table.ids(layout.id)
            if at == 0:
                first, ids = keys, own
            place, order = _places(first, ids, keys, own), np.empty(len(first), dtype=np.int64)
            order[place] = np.arange(len(place))
            columns = [form(table[name], own)[order] for name in layout.predicted()]
        except Refused as error:
            raise Refused(f"file {at + 1}: {error}") from None
        yield weight, ids, columns


def _places(first: Keys, ids: Text, keys: Keys, own: Text) -> Array:
    """The place of each row among those of the first file."""
    if not len(first):
        raise Refused("the file has no rows")
    place, is_known = tables.places(first, keys)
    counts = np.bincount(place[is_known], minlength=len(first))
    odd = (own.filter(~is_known), "is not in the first file"), (ids.filter(counts > 1), "occurs more than once")
    for names, what in (*odd, (ids.filter(counts == 0), "is missing")):
        if len(names):
            raise Refused(f"the ID {shown(names[0])} {what}")
    return place


def _combined_guesses(cells: Sequence[str], weights: Sequence[float], between: str, most: int) -> str:
    """The guesses that count most in the cells of several files. Equal labels may be written in different forms."""
    sums: dict[str, float] = {}
    written: dict[str, str] = {}
    for cell, weight in zip(cells, weights, strict=True):
        parts = cell.split() if between == " " else [part.strip() for part in cell.split(between) if part.strip()]
        forms: dict[str, str] = {}
        for part in parts:
            forms.setdefault(tables.canonical(part), part)
        for place, (one, part) in enumerate(forms.items()):
            sums[one] = sums.get(one, 0.0) + weight / (place + 1)
            written.setdefault(one, part)
    return between.join(written[one] for one in sorted(sums, key=lambda one: -sums[one])[:most])


def number_text(number: float) -> str:
    """A number without a fraction of zeros."""
    return repr(number).removesuffix(".0")


def _write(out: str, layout: Layout, ids: Text, columns: Sequence[Sequence[str]]) -> None:
    names = [name.strip() for name in layout.header]
    predicted = iter(columns)
    is_id = [layout.id is not None and name == layout.id.strip() for name in names]
    cells = [ids if one else next(predicted, [""] * len(ids)) for one in is_id]
    try:
        with open(out, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(layout.header)
            writer.writerows(zip(*cells, strict=True))
    except OSError as error:
        raise Refused(f"the averages cannot be written: {error}") from None


# How alike scripts are


def agreement(files: Sequence[Sequence[Predictions]], replicates: int) -> dict[str, Any]:
    """The best file, how much larger the score of each is, and the correlation of the errors of each pair, which is
    that of the targets on average."""
    measured = [measure.mean_over_targets(file, replicates) for file in files]
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
