"""Actual and predicted numbers over time, for people: a line for each series."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from . import tables
from .aliases import Array
from .labels import Labels
from .partitions import PartitionedRows
from .predictions import Predictions

MAX_SERIES = 9
MAX_POINTS = 400
"""The most points of a series; more times are averaged."""
LABELS = 5
HELD_OUT = 1 << 30
"""In place of a fold."""


class Part(NamedTuple):
    """Labelled rows of a table, and the predictions of some of them."""

    rows: PartitionedRows
    labels: Labels
    predicted: Predictions
    folds: Array


def courses(parts: Sequence[Part], time: str, series: Sequence[str]) -> dict[str, Any]:
    """The mean of the first target at each time of each series, those with most predicted rows, and the time that
    each fold and the held-out rows take; empty if the column holds no times."""
    frames = [_frame(part, time, series) for part in parts]
    known = pl.concat([frame for frame in frames if frame is not None]) if frames[0] is not None else pl.DataFrame()
    if known.is_empty() or known["predicted"].is_null().all():
        return {}
    sizes = known.group_by("series").agg(pl.col("predicted").count(), pl.col("actual").mean())
    sizes = sizes.sort(["predicted", "actual"], descending=True)
    names = sizes["series"].head(MAX_SERIES).sort().to_list()
    first, last = float(known["time"].min()), float(known["time"].max())  # type: ignore[arg-type]
    lines = [_points(known.filter(pl.col("series") == name), first, last) for name in names]
    is_date = parts[0].rows.table.kind(time) not in ("number", "integer")
    return {
        "time": time,
        "target": parts[0].predicted.target,
        "labels": [_label(moment, is_date) for moment in np.linspace(first, last, LABELS)],
        "ends": [first, last],
        "spans": _spans(known),
        "series": [{"name": name, "points": line.rows()} for name, line in zip(names, lines, strict=True)],
        "left_out": sizes.height - len(names),
        "averages": any(line.height < known["time"].n_unique() // 2 for line in lines),
    }


def _frame(part: Part, time: str, series: Sequence[str]) -> pl.DataFrame | None:
    times = part.rows.times(time)
    if times is None:
        return None
    values = [part.rows.table.column(name).values.fill_null("") for name in series if name in part.rows.table]
    named = pl.DataFrame(values).select(pl.concat_str(pl.all(), separator=", ")).to_series() if values else pl.lit("")
    own = part.predicted
    rows = pl.DataFrame({"key": tables.keys(part.rows.ids), "time": times}).with_columns(series=named)
    actual = pl.DataFrame({"key": part.labels.keys, "actual": part.labels.targets[0].values})
    predicted = pl.DataFrame({"key": own.keys, "predicted": own.values.mean(axis=1), "fold": part.folds})
    found = rows.drop_nans("time").join(actual, on="key").join(predicted, on="key", how="left")
    return found.with_columns(pl.col("actual", "predicted").cast(pl.Float64), pl.col("fold").cast(pl.Int64))


def _points(rows: pl.DataFrame, first: float, last: float) -> pl.DataFrame:
    """Time, actual and predicted number."""
    if rows["time"].n_unique() > MAX_POINTS:
        width = (last - first) / MAX_POINTS
        at = ((pl.col("time") - first) / width).floor().clip(0, MAX_POINTS - 1)
        rows = rows.with_columns(time=first + (at + 0.5) * width)
    found = rows.group_by("time").agg(pl.col("actual", "predicted").mean()).sort("time")
    return found.with_columns(pl.col("actual", "predicted").round_sig_figs(6))


def _spans(rows: pl.DataFrame) -> list[dict[str, Any]]:
    """The first and the last time of each fold and of the held-out rows; none if they overlap."""
    ends = pl.col("time").min().alias("from"), pl.col("time").max().alias("to")
    found = rows.drop_nulls("fold").filter(pl.col("fold") >= 0).group_by("fold").agg(ends).sort("from").to_dicts()
    if any(one["to"] > other["from"] for one, other in pairwise(found)):
        return []
    for one in found:
        fold = one.pop("fold")
        one["name"] = "held out" if fold == HELD_OUT else f"fold {fold + 1}"
    return found


def _label(moment: float, is_date: bool) -> str:
    return datetime.fromtimestamp(moment, UTC).date().isoformat() if is_date else f"{moment:.6g}"
