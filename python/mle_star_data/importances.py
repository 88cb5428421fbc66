"""How much the score of a script depends on each column: it predicts copies of labelled rows, in each of which one
column is permuted, and every copy is scored."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from . import intervals, measure, predictions, refit, tables
from .labels import Labels
from .measure import Estimate, Scoring
from .predictions import Layout
from .tables import Refused, Table

TOO_FAR = 3.0
"""A score that differs by more than so many standard errors of the paired difference is that of another prediction."""
NEGLIGIBLE = 0.25
"""What is smaller than this part of the score's standard error does not matter."""


def importance(
    known: Labels, rows: Scoring, layout: Layout, predicted: str, before: str, copies: dict[str, Any], replicates: int
) -> dict[str, Any]:
    """How much worse the score of each column's copies is. `copies` has the IDs of the copied rows, the names of the
    columns, and how often each was permuted; the first copy has the rows as they are."""
    ids, columns = pl.Series(copies["ids"], dtype=pl.String), copies["columns"]
    table, times = tables.read(predicted), copies["repetitions"]
    count = 1 + len(columns) * times
    if len(table) != len(ids) * count:
        raise Refused(f"the script predicted {len(table)} rows")
    table.needs([layout.id or ""])
    each = [_named(table.at(np.arange(at * len(ids), (at + 1) * len(ids))), layout, ids) for at in range(count)]
    own, permuted = each[0], each[1:]
    if all((copy[name] == own[name]).all() for copy in permuted for name in layout.predicted()):
        raise Refused("the script predicts the same whatever the columns of the test table hold")

    def scored(copy: Table) -> Estimate:
        return measure.mean_over_targets(rows.in_folds(predictions.of_table(copy, known, layout, "reject")), replicates)

    first = scored(own)
    _check_predictions(first, own, before, layout, ids, known, scored)
    found = []
    for at, column in enumerate(columns):
        after = [scored(copy) for copy in permuted[at * times : (at + 1) * times]]
        found.append(_column_importance(column, first, after, known.metric.sign()))
    found.sort(key=lambda one: -one["difference"])
    return {"rows": len(ids), "repetitions": times, "columns": found}


def _named(table: Table, layout: Layout, ids: tables.Text) -> Table:
    cells = [
        ids if name == (layout.id or "").strip() else cells
        for name, cells in zip(table.names, table.cells, strict=True)
    ]
    return Table(table.names, cells)


def _check_predictions(
    first: Estimate, own: Table, before: str, layout: Layout, ids: tables.Text, known: Labels, scored: Any
) -> None:
    """Raises if the rows as they are were predicted otherwise in their own table."""
    table = tables.read(before)
    table.needs([layout.id or ""])
    place, is_known = tables.places(tables.row_keys(table, layout.id), tables.keys(ids))
    if not is_known.all():
        raise Refused("the predictions of the same rows are not kept")
    same = _named(table.at(place), layout, ids)

    def differs(words: str) -> Refused:
        what = "the script predicts the same rows otherwise when the test table holds copies of them"
        return Refused(f"{what} ({words}): it uses statistics of the test table, or the order of its rows")

    try:
        alike = refit.compare(known.metric, same, own, layout)
    except Refused:
        alike = {"is_jump": False}
    if alike["is_jump"]:
        raise differs(alike["words"])
    measured: Estimate = scored(same)
    gap = first.minus(measured)
    if gap is None:
        return
    least = max(TOO_FAR * gap["standard_error"], NEGLIGIBLE * (measured.error() or 0.0))
    if abs(gap["by"]) > least:
        raise differs(f"they score {first.score:.6f} instead of {measured.score:.6f}")


def _column_importance(column: str, before: Estimate, after: list[Estimate], sign: float) -> dict[str, Any]:
    by = [-sign * (one.score - before.score) for one in after]
    difference, times = float(np.mean(by)), len(after)
    of_rows = intervals.deviation(np.mean([one.replicates - before.replicates for one in after], axis=0))
    of_permutations = (intervals.deviation(by) or 0.0) / times**0.5
    reach = None if of_rows is None else intervals.HALF_WIDTH * float(np.hypot(of_rows, of_permutations))
    interval = None if reach is None else [difference - reach + 0.0, difference + reach + 0.0]
    # No difference is no negative zero.
    return {"column": column, "difference": difference + 0.0, "interval": interval}
