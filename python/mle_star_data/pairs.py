"""Pairs of columns that tell more of the target together than each of them tells alone: what an additive model of all
columns leaves is looked for in the cells of two columns on one half of the rows, and measured on the other half."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl

from . import markdown as md
from . import relations
from .aliases import Array, Numbers
from .column_kinds import NUMBERS
from .frames import Column
from .relations import Codes

CELLS, COLUMNS, CLASSES = 4_000_000, 100, 4
"""Cells of columns, once for each class, columns and classes that are looked at: two seconds."""
FEW, CUTS, MANY_CUTS = 4_000, (0.33, 0.67), (0.1, 0.3, 0.5, 0.7, 0.9)
"""Quantiles between the levels of a number, up to so many rows and for more."""
RARER, MISSING, LEVELS = 6, 7, 8
"""The code of levels after the most frequent ones of a category, and of missing values."""
FINE, ROWS_OF_LEVEL = 64, 20
"""The most levels of a column in the additive model, and the rows of one on average."""
SWEEPS, FURTHEST = 6, 2.0
"""Passes of the additive model over the columns, and its greatest step of log odds."""
NOTABLE = 2.0
"""Standard errors beyond chance, on the first half, of pairs that are measured on the second."""
TESTED, SHOWN = 40, 8
"""Pairs that are measured, and shown."""
ALIKE = 0.5
"""The correlation of two pairs of which one is shown."""
MIN_UNITS = 60
"""The fewest units in which pairs are looked for."""
TINY = 1e-12


@dataclass(frozen=True)
class Pair:
    """The mean of an outcome in some of the rows that are measured, with its standard error, and the mean that the
    additive model expects."""

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
    levels = [one for one in (_Levels(column, fine) for column in columns) if len(np.unique(one.codes)) > 1]
    count = int(units.max(initial=-1)) + 1
    if len(levels) < 2 or count < MIN_UNITS:
        return []
    half = (np.random.default_rng(0).permutation(count) % 2 == 1)[units]
    found = [pair for at in range(len(values)) for pair in _of_outcome(levels, values, at, are_classes, half, units)]
    shown: list[tuple[Pair, Numbers]] = []
    for _, pair, by_row in sorted(found, key=lambda one: -one[0]):
        if all(pair.columns != other.columns and abs(by_row @ rows) < ALIKE for other, rows in shown):
            shown.append((pair, by_row))
    return [pair for pair, _ in shown[:SHOWN]]


def _of_outcome(
    levels: Sequence[_Levels], values: Sequence[Numbers], outcome: int, is_class: bool, half: Array, units: Codes
) -> Iterator[tuple[float, Pair, Numbers]]:
    """The pairs of one outcome, with their sizes in standard errors and the pattern of each by row."""
    expected = _additive([one.fine for one in levels], values[outcome], is_class)
    left = values[outcome] - expected
    variance = expected * (1.0 - expected) if is_class else np.full(len(left), left.var())

    def difference(by_row: Numbers) -> tuple[float, float]:
        """The sum of what is left in the second half with these weights, and its standard error."""
        sums = np.bincount(units[half], by_row * left[half])
        return float(sums.sum()), max(float(sums @ sums), float(by_row**2 @ variance[half]), TINY) ** 0.5

    pairs, codes = list(combinations(range(len(levels)), 2)), [one.codes[~half] for one in levels]
    parts = left[~half], variance[~half]
    sums, weights = np.swapaxes([_tables(codes[one], codes[other], parts) for one, other in pairs], 0, 1)
    filled = weights > 0
    # A cell with a row or two tells little.
    weights = weights + filled * (0.5 if is_class else left.var())
    effects = _centred(sums / np.maximum(weights, TINY), weights)
    free = filled.sum((1, 2)) - filled.any(1).sum(1) - filled.any(2).sum(1) + 1
    surplus = (weights * effects**2).sum((1, 2)) - free
    beyond = np.where(free > 0, relations.normal(surplus + free, np.maximum(free, 1)), 0.0)
    best = [at for at in np.argsort(-beyond)[: TESTED // len(values)] if beyond[at] > NOTABLE]
    sure = (2.0 * np.log(100.0 * max(len(best), 1) * len(values))) ** 0.5
    for at in best:
        one, other = (levels[place] for place in pairs[at])
        cells = one.codes[half], other.codes[half]
        # The less certain an effect is, the nearer to none it is taken to be.
        certain = weights[at] * max(surplus[at], 1.0) / weights[at].sum()
        pattern = _centred(effects[at] * certain / (certain + 1.0), _tables(*cells, [variance[half]])[0])
        size, error = difference(by_row := pattern[cells])
        away, of = (one.sets @ table @ other.sets.T for table in (effects[at] * weights[at], weights[at]))
        first, second = divmod(int(np.argmax(np.abs(away) / np.sqrt(np.maximum(of, TINY)))), len(other.sets))
        rows = np.outer(one.sets[first], other.sets[second])[cells]
        number = max(int(rows.sum()), 1)
        by, of_rows = difference(rows / number)
        if size >= sure * error and abs(by) >= of_rows:
            mean, where = float(values[outcome][half] @ rows) / number, f"{one.texts[first]} and {other.texts[second]}"
            pair = Pair((one.name, other.name), where, outcome, number, mean, of_rows, mean - by)
            yield size / error, pair, by_row / np.linalg.norm(by_row)


class _Levels:
    """A column in few levels, and in more of them that are `fine`; sets of levels, 1 where they have one, in words."""

    def __init__(self, column: Column, fine: int) -> None:
        self.name, name, values = column.name, md.name(column.name), column.values
        if column.kind in (*NUMBERS, "date"):
            is_date = column.kind == "date"
            numbers = column.times if is_date else column.numbers
            cuts, self.codes = _cut(numbers, CUTS if len(numbers) <= FEW else MANY_CUTS)
            # Finer where values are rare, since they lie apart.
            reach = np.log(max(len(numbers) / ROWS_OF_LEVEL, 2.0))
            _, self.fine = _cut(numbers, 1.0 / (1.0 + np.exp(-np.linspace(-reach, reach, fine - 1))))
            shown = [str(np.datetime64(int(cut), "s"))[:16] if is_date else md.number(cut) for cut in cuts]
            last = len(cuts) + 1
            ranges = [(0, at) for at in range(1, last)] + [(at, last) for at in range(1, last)]
            self.texts = [f"{name} {sign} {cut.removesuffix('T00:00')}" for sign in "≤>" for cut in shown]
        else:
            counts = values.drop_nulls().value_counts().sort(["count", values.name], descending=[True, False])
            levels = counts[values.name]
            top = levels.filter(counts["count"] >= relations.RARE).head(FINE)
            found = values.replace_strict(top, np.arange(len(top)), default=FINE, return_dtype=pl.Int64).to_numpy()
            self.fine = np.where(values.is_null(), FINE + 1, found)
            self.codes = np.where(values.is_null(), MISSING, np.minimum(found, RARER))
            few = min(len(top), RARER)
            ranges = [(at, at + 1) for at in (*range(few), RARER)]
            rarer = f"= {md.value(levels[few])}" if len(levels) == few + 1 else "is a rarer level"
            self.texts = [f"{name} {text}" for text in (*(f"= {md.value(value)}" for value in top.head(few)), rarer)]
        self.texts.append(f"{name} is missing")
        self.sets = np.array(
            [[low <= at < high for at in range(LEVELS)] for low, high in [*ranges, (MISSING, LEVELS)]], float
        )


def _tables(one: Codes, other: Codes, parts: Sequence[Numbers]) -> list[Array]:
    """The sums of numbers by row in the cells of two columns."""
    cells = one * LEVELS + other
    return [np.bincount(cells, part, LEVELS**2).reshape(LEVELS, LEVELS) for part in parts]


def _cut(numbers: Numbers, at: Sequence[float] | Array) -> tuple[Numbers, Codes]:
    """Quantiles of numbers, and the codes of the ranges that end at them."""
    known = numbers[np.isfinite(numbers)]
    cuts = np.unique(np.quantile(known, at, method="inverted_cdf")) if len(known) else known
    cuts = cuts[cuts < known.max(initial=-np.inf)]
    missing = MISSING if len(cuts) < MISSING else len(cuts) + 1
    return cuts, np.where(np.isnan(numbers), missing, np.searchsorted(cuts, numbers))


def _additive(columns: Sequence[Codes], values: Numbers, is_class: bool) -> Numbers:
    """What a sum of effects of the columns expects: of log odds for a class, else of values."""
    mean = float(values.mean())
    level = np.full(len(values), np.log(max(mean, TINY) / max(1.0 - mean, TINY)) if is_class else mean)
    for _ in range(SWEEPS):
        for codes in columns:
            expected = 1.0 / (1.0 + np.exp(-level)) if is_class else level
            rows = np.bincount(codes, expected * (1.0 - expected) if is_class else None)
            step = np.bincount(codes, values - expected) / (rows + 1.0)
            level += (np.clip(step, -FURTHEST, FURTHEST) if is_class else step)[codes]
    return 1.0 / (1.0 + np.exp(-level)) if is_class else level


def _centred(effects: Array, weights: Array) -> Array:
    """Tables without the means of their rows and columns, in several passes."""
    for axis in (-1, -2) * 6:
        means = (weights * effects).sum(axis, keepdims=True) / np.maximum(weights.sum(axis, keepdims=True), TINY)
        effects = np.where(weights > 0, effects - means, 0.0)
    return effects
