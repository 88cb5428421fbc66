"""Small histograms for people: the columns of the training table beside those of the test table, and the target by part
of the split."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import polars as pl

from . import dates
from .column_kinds import INSPECTED_ROWS, NUMBERS
from .frames import Column, Table

Parts = Sequence[tuple[str, pl.Series]]
"""Groups of rows with their names: texts, or numbers with NaN for none."""

MAX_COLUMNS, MAX_TYPICAL = 60, 1_000
"""The most columns that are drawn, and the most whose typical value is told."""
SAMPLE = 20_000
"""The most rows of a table that are counted."""
BINS, VALUES = 20, 8
"""The most bars of numbers, and the most of other values."""
FEW = 12
"""Whole numbers with at most so many values have a bar for each."""
TAIL = 0.005
"""What lies beyond these quantiles is counted in the outermost bins, if it would take half of the picture."""


def of_columns(train: Table, test: Table | None, first: Sequence[str], but: Collection[str]) -> list[dict[str, Any]]:
    """The histograms of the columns of a training table, `first` those of the targets."""
    names = sorted((name for name in train.names if name not in but), key=lambda name: name not in first)
    tables = [(name, table, _sampled(table)) for name, table in (("train", train), ("test", test)) if table is not None]
    others = [
        {"column": name, "typical": _typical(train.column(name), tables[0][2][name])}
        for name in names[MAX_COLUMNS:MAX_TYPICAL]
    ]
    return [_of_column(name, tables) for name in names[:MAX_COLUMNS]] + others


def _sampled(table: Table) -> pl.DataFrame:
    """Rows from everywhere in a table. Of those that are looked at, the first ones lie closer together."""
    frame, half = table.source.inspected, INSPECTED_ROWS // 2
    if table.rows > frame.height:
        frame = pl.concat([frame[:half].gather_every(max((table.rows - half) // half, 1)), frame[half:]])
    return frame.gather_every(-(-frame.height // SAMPLE) or 1)


def _of_column(name: str, tables: Sequence[tuple[str, Table, pl.DataFrame]]) -> dict[str, Any]:
    own = [(part, table.column(name), rows[name]) for part, table, rows in tables if name in table]
    train = own[0][1]
    values = [(part, column.cleaned(cells)) for part, column, cells in own]
    if train.kind in ("number", "date") or (train.kind == "integer" and train.distinct > FEW):
        values = [(part, numbers(train, cells)) for part, cells in values]
    elif train.kind == "text":
        values = [(part, cells[:0]) for part, cells in values]
    found = histogram(values, _day if train.kind == "date" else None)
    for part, (_, column, _) in zip(found["parts"], own, strict=True):
        part["missing"] = column.missing / max(min(column.table.rows, INSPECTED_ROWS), 1)
    return {"column": name, "typical": _typical(train, own[0][2])} | found


def numbers(like: Column, cells: pl.Series) -> pl.Series:
    """The numbers in cells, or the days since the beginning of 1970."""
    if like.kind == "date":
        return pl.Series(dates.seconds(cells, bool(like.facts["day_first"])) / dates.DAY)
    return cells.cast(pl.Float64, strict=False).fill_null(np.nan)


def _typical(column: Column, cells: pl.Series) -> str | None:
    """The median of numbers and dates, the most frequent of other values, as the table has it."""
    cells = column.cleaned(cells)
    if column.kind not in (*NUMBERS, "date"):
        return next((value for value, _ in column.facts["top_values"]), None)
    order = numbers(column, cells).fill_nan(None).arg_sort(nulls_last=True)
    known = len(cells) - cells.null_count()
    return cells[int(order[(known - 1) // 2])] if known else None


def histogram(parts: Parts, label: Callable[[float], str] | None = None) -> dict[str, Any]:
    """The number of rows of each part by bars that all of them share. Numbers have bins, of which the outermost also
    hold what lies beyond; other values a bar each, and one for those that are rarer."""
    known = [(name, own.drop_nulls().drop_nans() if own.dtype.is_float() else own.drop_nulls()) for name, own in parts]
    pooled = pl.concat([own for _, own in known])
    counts: list[Any] = [np.zeros(0, dtype=np.int64) for _ in known]
    found: dict[str, Any] = {"values": [], "ends": [], "labels": []}
    if len(pooled) and pooled.dtype.is_float() and np.isfinite(edges := _edges(pooled.to_numpy())).all():
        counts = [np.histogram(np.clip(own, edges[0], edges[-1]), edges)[0] for _, own in known]
        low, high, inner = float(edges[0]), float(edges[-1]), 0.5 if edges[0] % 1.0 == 0.5 else 0.0
        found |= {"ends": [low, high], "labels": [(label or _label)(end) for end in (low + inner, high - inner)]}
    elif len(pooled) and not pooled.dtype.is_float():
        values = _values(known[0][1], pooled)
        counts = [np.array([int((own == value).sum()) for value in values]) for _, own in known]
        rest = [len(own) - int(rows.sum()) for (_, own), rows in zip(known, counts, strict=True)]
        if any(rest):
            values, counts = [*values, ""], [np.append(*both) for both in zip(counts, rest, strict=True)]
        found["values"] = values
    told = [{"name": name, "rows": rows.tolist()} for (name, _), rows in zip(known, counts, strict=True)]
    return found | {"parts": told}


def _label(number: float) -> str:
    return f"{number:.0f}" if 1e4 <= abs(number) < 1e15 else f"{number:.4g}"


def _day(days: float) -> str:
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=days)).date().isoformat()


def _values(first: pl.Series, pooled: pl.Series) -> list[str]:
    """The values with most rows in the first part; numbers in their order."""
    counted = (first if len(first) else pooled).value_counts(name="rows")
    found = counted.sort(["rows", first.name], descending=[True, False])[first.name].to_list()
    numbers = pl.Series(found).cast(pl.Float64, strict=False)
    if len(found) <= FEW and not numbers.has_nulls():
        return [found[int(at)] for at in numbers.arg_sort()]
    return found[: VALUES + (len(found) == VALUES + 1)]


def _edges(numbers: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    finite = numbers[np.isfinite(numbers)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)
    inner = np.quantile(finite, [TAIL, 1.0 - TAIL]) if len(finite) else [low, high]
    if high - low > 2.0 * (inner[1] - inner[0]) > 0.0:
        low, high = (float(one) for one in inner)
    if (finite == np.floor(finite)).all():
        # Bins with more whole numbers than others would look like a pattern.
        low, step = np.floor(low) - 0.5, max(np.ceil((high - low + 1.0) / BINS), 1.0)
        return np.asarray(low + step * np.arange(np.ceil((high + 0.5 - low) / step) + 1.0))
    return np.linspace(low, high if high > low else low + max(abs(low), 1.0) * 1e-6, BINS + 1)
