"""How the predictions of two fits of one solution differ for the same rows.

A fit with more rows or another seed predicts almost the same. A script that depends on what is in its folder, or
that lines up predictions with the wrong rows, does not. `lab/refit.md` shows by how much fits differ.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from . import metrics, tables
from .aliases import Array
from .metrics import Metric
from .predictions import Layout
from .tables import Refused, Table, shown

MIN_CORRELATION = 0.4
"""Numbers of which two fits have a smaller rank correlation differ."""
CHANCE, MIN_CHANCE, MAX_CHANCE = 3.0, 0.05, 0.25
"""What is not larger than so many standard deviations of a correlation by chance may be chance; its bounds."""
LEVEL, SHIFT, LARGE_SHIFT = 0.09, 0.1, 0.3
"""Numbers are at another level if their means differ by the first part of the mean and by the second part of their
standard deviation, or by the third part of it alone."""
SCALE = 1.09
"""Numbers of which one fit predicts more than so many times the differences of the other have another scale."""
MIN_EQUAL_SHARE = 0.97
"""Labels of which so many are equal are alike, even if those of a rare label differ."""


def compare(metric: Metric | None, first: str | Table, second: str | Table, layout: Layout) -> dict[str, Any]:
    """Compares two files of predictions for the same rows. Without a known metric, cells are numbers."""
    columns, kind = layout.predicted(), metric and metric.kind
    if kind in ("guesses", "sets"):
        raise Refused("cells with several labels are not compared")
    if kind == "labels" and len(columns) > 1:
        raise Refused("several columns of labels are not compared")
    before, after = align_rows(first, second, layout)
    if kind == "labels":
        return _compare_labels(*(tables.mapped(side[columns[0]], tables.canonical) for side in (before, after)))
    sides = [np.stack([_numbers(side[name]) for name in columns], axis=1) for side in (before, after)]
    is_order = metric is not None and (
        metric.by_order or metric.name == "Pearson correlation" or kind == "probabilities"
    )
    if metric is None:
        is_order = bool(((sides[0] >= 0) & (sides[0] <= 1)).all())
    if len(columns) > 1 and (np.abs(sides[0].sum(axis=1) - 1.0) < 0.01).all():
        # The probabilities of rare classes are noise, so all columns count together.
        is_jump, _, words = _compare_numbers(sides[0].ravel(), sides[1].ravel(), is_order, metrics.pearson, len(before))
        return {"rows": len(before), "words": words, "is_jump": is_jump}
    pairs = zip(sides[0].T, sides[1].T, strict=True)
    each = [_compare_numbers(*pair, is_order, metrics.spearman, len(before)) for pair in pairs]
    # Those that jump come first, then the less alike.
    least = min(range(len(each)), key=lambda at: (not each[at][0], each[at][1]))
    is_jump, _, words = each[least]
    named = f", `{columns[least]}`" if len(columns) > 1 else ""
    return {"rows": len(before), "words": words + named, "is_jump": is_jump}


def align_rows(first: str | Table, second: str | Table, layout: Layout) -> tuple[Table, Table]:
    """Both tables, with the rows in the order of the first."""
    one, other = (tables.read(side) if isinstance(side, str) else side for side in (first, second))
    for side in (one, other):
        side.needs(layout.needed())
    if len(one) != len(other) or not len(one):
        raise Refused("the files have no rows, or not as many")
    place, is_known = tables.places(tables.row_keys(other, layout.id), tables.row_keys(one, layout.id))
    if not is_known.all():
        raise Refused("the files have other rows")
    return one, other.at(place)


def _numbers(cells: tables.Text) -> Array:
    found = tables.numbers(cells)
    wrong = np.flatnonzero(~np.isfinite(found))
    if len(wrong):
        raise Refused(f"{shown(cells[int(wrong[0])].strip())} is not a finite number")
    return found


def chance(rows: int) -> float:
    """The largest correlation of so many rows that may be chance."""
    return float(np.clip(CHANCE / rows**0.5, MIN_CHANCE, MAX_CHANCE))


def _compare_labels(before: tables.Text, after: tables.Text) -> dict[str, Any]:
    rows = pl.DataFrame({"before": before, "after": after})
    equal = float((before == after).to_numpy().mean())
    sizes = [rows[side].value_counts().rename({side: "label"}) for side in rows.columns]
    both = sizes[0].join(sizes[1], on="label")
    by_chance = float((both["count"] / len(before) * both["count_right"] / len(before)).sum())
    # Equal labels in all rows of both say nothing else.
    kappa = (equal - by_chance) / (1.0 - by_chance) if by_chance < 1 else 1.0
    is_jump = kappa < chance(len(before)) and equal < MIN_EQUAL_SHARE
    return {"rows": len(before), "words": f"{100.0 * equal:.1f} % of the labels are equal", "is_jump": is_jump}


def _compare_numbers(
    before: Array, after: Array, is_order: bool, correlation: metrics.Function, rows: int
) -> tuple[bool, float, str]:
    """Whether two columns of numbers differ by more than fits do, their correlation, -1 for none, and how alike they
    are, in words. Free are an order, and probabilities, of which fits have other means."""
    spreads = np.ptp(before), np.ptp(after)
    found = float(correlation(before, after)) if min(spreads) > 0 else None
    is_unlike = max(spreads) > 0 and (found is None or found < (chance(rows) if is_order else MIN_CORRELATION))
    is_jump = is_unlike or (not is_order and _is_at_another_level(before, after))
    known = "no correlation, because at least one of them is constant"
    means = f"mean {after.mean():.4f} instead of {before.mean():.4f}"
    words = f"{known if found is None else f'correlation {found:.2f}'}; {means}"
    words = f"{words}, standard deviation {after.std():.4f} instead of {before.std():.4f}"
    return bool(is_jump and (before != after).any()), -1.0 if found is None else found, words


def _is_at_another_level(before: Array, after: Array) -> bool:
    one, shift = abs(before.mean()), abs(after.mean() - before.mean())
    if np.ptp(before) == 0 and np.ptp(after) == 0:
        return bool(shift > LEVEL * one)
    covariance = ((before - before.mean()) * (after - after.mean())).mean()
    with np.errstate(all="ignore"):
        of_deviation, of_mean = shift / before.std(), shift / one
        # How many differences of the one are predicted for one difference of the other, by least squares.
        slope = np.fmax(covariance / before.var(), covariance / after.var())
    return bool(of_deviation > LARGE_SHIFT or (of_deviation > SHIFT and of_mean > LEVEL) or slope > SCALE)
