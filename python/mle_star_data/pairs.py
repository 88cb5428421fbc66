"""Pairs of columns that tell more of the target together than each of them tells alone.

An additive model of all columns says what to expect of a row. What it leaves is looked for in the cells of two columns
on one half of the rows, and measured on the other half."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from time import monotonic

import numpy as np
import polars as pl

from . import markdown as md
from . import relations
from .aliases import Array, Numbers
from .column_kinds import NUMBERS
from .frames import Column
from .relations import Codes

CELLS, COLUMNS, CLASSES, SECONDS = 4_000_000, 100, 4, 5.0
"""Cells of columns and outcomes, columns and classes that are looked at; after so long, nothing is found."""
FEW, CUTS, MANY_CUTS = 4_000, (0.33, 0.67), (0.1, 0.3, 0.5, 0.7, 0.9)
"""Quantiles between the levels of a number, up to so many rows and for more."""
TOP, RARER, MISSING, LEVELS = 6, 6, 7, 8
"""The most frequent levels of a category; the codes of the others and of missing values; all."""
FINE, ROWS_OF_LEVEL, SWEEPS, FURTHEST = 64, 20, 6, 2.0
"""The most levels of a column in the additive model, and the rows of one on average; passes over the columns; the
greatest step of log odds."""
TINY = 1e-12
NOTABLE, TESTED, SHOWN, ALIKE, MIN_UNITS, PASSES = 2.0, 40, 8, 0.5, 60, 6
"""Standard errors beyond chance of pairs that are measured; pairs that are measured and shown; the least correlation of
two of which one is shown; the fewest units; passes over rows and columns of tables."""


@dataclass(frozen=True)
class Pair:
    """The mean of an outcome in some of the rows that are measured: its `error` is the standard error, `expected` the
    mean by the additive model."""

    columns: tuple[str, str]
    where: str
    outcome: int
    rows: int
    mean: float
    error: float
    expected: float


def find(columns: Sequence[Column], values: Sequence[Numbers], are_classes: bool, units: Codes) -> list[Pair]:
    """The strongest pairs first. `values` are numbers, or of each class 1 in its rows and 0 elsewhere. Rows of a unit
    may depend on each other, and are in the same half."""
    fine = min(max(len(units) // (ROWS_OF_LEVEL * max(len(columns), 1)), LEVELS), FINE)
    levels = [one for one in (_levels(column, fine) for column in columns) if len(np.unique(one.codes)) > 1]
    count = int(units.max(initial=-1)) + 1
    if len(levels) < 2 or count < MIN_UNITS:
        return []
    half = (np.random.default_rng(0).permutation(count) % 2 == 1)[units]
    by_column = [one.fine for one in levels]
    outcomes = [_Outcome(one, _additive(by_column, one, are_classes), are_classes) for one in values]
    tables = _search([one.codes[~half] for one in levels], outcomes, ~half)
    sure, found = (2.0 * np.log(100.0 * max(len(tables), 1))) ** 0.5, []
    for table in tables:
        one, other, outcome = levels[table.one], levels[table.other], outcomes[table.outcome]
        cells = one.codes[half] * LEVELS + other.codes[half]
        weights = np.bincount(cells, outcome.weights[half], LEVELS**2).reshape(LEVELS, LEVELS)
        by_row = _centred(table.likely_effects(), weights).ravel()[cells]
        size, error = outcome.difference(by_row, half, units)
        where, chosen = _notable(one, other, table)
        rows = chosen.ravel()[cells]
        number = max(int(rows.sum()), 1)
        away, of_rows = outcome.difference(rows / number, half, units)
        if size >= sure * error and abs(away) >= of_rows:
            mean = float(outcome.values[half] @ rows) / number
            pair = Pair((one.name, other.name), where, table.outcome, number, mean, of_rows, mean - away)
            found.append((size / error, pair, by_row / np.sqrt(by_row @ by_row)))
    shown: list[tuple[Pair, Numbers]] = []
    for _, pair, by_row in sorted(found, key=lambda one: -one[0]):
        if all(pair.columns != other.columns and abs(by_row @ rows) < ALIKE for other, rows in shown):
            shown.append((pair, by_row))
    return [pair for pair, _ in shown[:SHOWN]]


@dataclass(frozen=True)
class _Table:
    """What an additive model leaves of an outcome in each cell of two columns, and the inverse of its variance.
    `surplus` is the part of the sum of squares beyond chance."""

    outcome: int
    one: int
    other: int
    effects: Array
    weights: Array
    surplus: float

    def likely_effects(self) -> Array:
        """The less certain an effect is, the nearer to none."""
        certain = self.weights * max(self.surplus, 1.0) / self.weights.sum()
        found: Array = self.effects * certain / (certain + 1.0)
        return found


def _search(codes: Sequence[Codes], outcomes: Sequence[_Outcome], half: Array) -> list[_Table]:
    """The pairs in which most is left in one half, of which the codes are given; none if it takes too long."""
    places, ends, shape = list(combinations(range(len(codes)), 2)), monotonic() + SECONDS, (LEVELS, LEVELS)
    left, weights = np.zeros((2, len(outcomes), len(places), *shape))
    parts = [(one.left[half], one.weights[half]) for one in outcomes]
    for at, (one, other) in enumerate(places):
        if monotonic() > ends:
            return []
        cells = codes[one] * LEVELS + codes[other]
        for outcome, each in enumerate(parts):
            left[outcome, at], weights[outcome, at] = (
                np.bincount(cells, part, LEVELS**2).reshape(shape) for part in each
            )
    filled = weights > 0
    # A cell with a row or two tells little.
    least = [0.5 if one.is_class else one.weights[0] for one in outcomes]
    weights += np.where(filled, np.reshape(least, (-1, 1, 1, 1)), 0.0)
    effects = _centred(left / np.maximum(weights, TINY), weights)
    sizes = (weights * effects**2).sum((-1, -2))
    free = filled.sum((-1, -2)) - filled.any(-1).sum(-1) - filled.any(-2).sum(-1) + 1
    beyond = np.where(free > 0, relations.normal(sizes, np.maximum(free, 1)), 0.0)
    best = [divmod(int(at), len(places)) for at in np.argsort(-beyond, axis=None)[:TESTED]]
    return [
        _Table(outcome, *places[at], effects[outcome, at], weights[outcome, at], (sizes - free)[outcome, at])
        for outcome, at in best
        if beyond[outcome, at] > NOTABLE
    ]


@dataclass(frozen=True)
class _Levels:
    """A column in few levels, `fine` in more, and sets of levels, 1 where they have one, in a few words."""

    name: str
    codes: Codes
    fine: Codes
    sets: Array
    texts: list[str]


def _levels(column: Column, fine: int) -> _Levels:
    is_number = column.kind in (*NUMBERS, "date")
    codes, further, sets, texts = _of_number(column, fine) if is_number else _of_category(column)
    has = np.array([[at in one for at in range(LEVELS)] for one in [*sets, [MISSING]]], dtype=np.float64)
    return _Levels(column.name, codes, further, has, [*texts, f"{md.name(column.name)} is missing"])


def _of_number(column: Column, fine: int) -> tuple[Codes, Codes, list[Sequence[int]], list[str]]:
    name, is_date = md.name(column.name), column.kind == "date"
    numbers = column.times if is_date else column.numbers
    cuts, codes = _cut(numbers, CUTS if len(numbers) <= FEW else MANY_CUTS)
    # Finer where values are rare, since they lie apart.
    reach = np.log(max(len(numbers) / ROWS_OF_LEVEL, 2.0))
    _, further = _cut(numbers, 1.0 / (1.0 + np.exp(-np.linspace(-reach, reach, fine - 1))))
    times = [str(np.datetime64(int(cut), "s")).removesuffix("T00:00:00") for cut in cuts] if is_date else []
    shown, last = times or list(map(md.number, cuts)), len(cuts)
    sets: list[Sequence[int]] = []
    texts = []
    for low, high in combinations(range(last + 2), 2):
        if 0 < high - low <= last:
            sets.append(range(low, high))
            least = f"{shown[low - 1]} < " if low and high <= last else ""
            texts.append(f"{least}{name} ≤ {shown[high - 1]}" if high <= last else f"{name} > {shown[low - 1]}")
    return codes, further, sets, texts


def _of_category(column: Column) -> tuple[Codes, Codes, list[Sequence[int]], list[str]]:
    name, values = md.name(column.name), column.values
    counts = values.drop_nulls().value_counts().sort(["count", values.name], descending=[True, False])
    levels = counts[values.name]
    top = levels.filter(counts["count"] >= relations.RARE).head(FINE)
    found = values.replace_strict(top, np.arange(len(top)), default=FINE, return_dtype=pl.Int64).to_numpy()
    further = np.where(values.is_null(), FINE + 1, found)
    codes = np.where(values.is_null(), MISSING, np.minimum(found, RARER))
    named = top.head(TOP)
    rarer = f"= {md.value(levels[-1])}" if len(levels) == len(named) + 1 else "is a rarer level"
    texts = [f"{name} {text}" for text in (*(f"= {md.value(value)}" for value in named), rarer)]
    return codes, further, [[at] for at in (*range(len(named)), RARER)], texts


def _cut(numbers: Numbers, at: Sequence[float] | Array) -> tuple[Numbers, Codes]:
    """Quantiles of numbers, and the codes of the ranges that end at them."""
    known = numbers[np.isfinite(numbers)]
    cuts = np.unique(np.quantile(known, at, method="inverted_cdf")) if len(known) else known
    cuts = cuts[cuts < known.max(initial=-np.inf)]
    missing = MISSING if len(cuts) < MISSING else len(cuts) + 1
    return cuts, np.where(np.isnan(numbers), missing, np.searchsorted(cuts, numbers))


@dataclass(frozen=True)
class _Outcome:
    """What an additive model expects of each row, and leaves."""

    values: Numbers
    expected: Numbers
    is_class: bool

    @cached_property
    def left(self) -> Numbers:
        return self.values - self.expected

    @cached_property
    def weights(self) -> Numbers:
        """The variance of what is left."""
        if self.is_class:
            return self.expected * (1.0 - self.expected)
        return np.full(len(self.left), (self.left**2).mean())

    def difference(self, pattern: Numbers, half: Array, units: Codes) -> tuple[float, float]:
        """The sum of what is left in one half, weighted by a pattern, with its standard error."""
        sums = np.bincount(units[half], pattern * self.left[half])
        variance = max(float((sums**2).sum()), float(pattern**2 @ self.weights[half]), TINY)
        return float(sums.sum()), variance**0.5


def _additive(columns: Sequence[Codes], values: Numbers, is_class: bool) -> Numbers:
    """What a sum of effects of the columns expects: of log odds for a class, else of values."""
    mean = float(values.mean())
    odds = max(mean, TINY) / max(1.0 - mean, TINY)
    level = np.full(len(values), np.log(odds) if is_class else mean)
    for _ in range(SWEEPS):
        for codes in columns:
            expected = 1.0 / (1.0 + np.exp(-level)) if is_class else level
            slope = np.bincount(codes, expected * (1.0 - expected) if is_class else None)
            step = np.bincount(codes, values - expected) / (slope + 1.0)
            level += (np.clip(step, -FURTHEST, FURTHEST) if is_class else step)[codes]
    return 1.0 / (1.0 + np.exp(-level)) if is_class else level


def _centred(effects: Array, weights: Array) -> Array:
    """Tables without the means of their rows and columns."""
    effects = np.where(weights > 0, effects, 0.0)
    for axis in (-1, -2) * PASSES:
        means = (weights * effects).sum(axis, keepdims=True) / np.maximum(weights.sum(axis, keepdims=True), TINY)
        effects = np.where(weights > 0, effects - means, 0.0)
    return effects


def _notable(one: _Levels, other: _Levels, table: _Table) -> tuple[str, Array]:
    """The cells of a table that differ most surely together, in words and as 1."""
    sums, variances = (one.sets @ cells @ other.sets.T for cells in (table.effects * table.weights, table.weights))
    first, second = divmod(int(np.argmax(np.abs(sums) / np.sqrt(np.maximum(variances, TINY)))), sums.shape[1])
    return f"{one.texts[first]} and {other.texts[second]}", np.outer(one.sets[first], other.sets[second])
