"""Partial dependence: the mean prediction of a fitted model for a sample of rows, if a column has the same value in all
of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from . import frames, histograms
from .aliases import Answer, Array
from .column_kinds import NUMBERS
from .frames import Column

CURVES = 5
TRIED = 24
"""The most columns that are tried if nobody knows the strongest."""
VALUES, ROWS = 20, 500
RARE = 0.025
"""Beyond these quantiles a model has seen little."""
LINES = 3
"""The most predicted columns, or classes, with a line."""
FEW_LABELS = 12


def dependence_rows(files: Sequence[str], columns: Sequence[str], layout: Answer, most: float, into: str) -> Answer:
    """Writes copies of rows of the first of these tables with all columns, one for each value of each column; about
    `most` rows. Without `columns`, the first ones are tried."""
    tables = [frames.read(file) for file in files]
    table = next((one for one in tables if all(name in one for name in layout["columns"])), tables[-1])
    named = list(columns)[:CURVES] or [name for name in table.names if name != layout["id"]][:TRIED]
    grids = [(name, *_grid(table.column(name))) for name in named if name in layout["columns"]]
    grids = [(name, cells, at) for name, cells, at in grids if len(cells) > 1]
    frame = table.select(layout["columns"])
    rows = max(min(ROWS, int(most) // max(sum(len(cells) for _, cells, _ in grids), 1)), 1)
    sample = frame.gather_every(-(-frame.height // rows))
    copies = [sample.with_columns(pl.lit(cell).alias(name)) for name, cells, _ in grids for cell in cells]
    made = pl.concat([sample[:0], *copies])
    # A combination of models looks rows up by their names.
    names = {layout["id"]: pl.int_range(made.height, eager=True)} if layout["id"] in made.columns else {}
    made.with_columns(**names).write_csv(into)
    told = [{"column": name, "values": cells, "at": at} for name, cells, at in grids]
    return {"rows": sample.height, "ordered": bool(columns), "columns": told}


def _grid(column: Column) -> tuple[list[str], list[float] | None]:
    """Values of a column; those of numbers and dates at even quantiles, with the numbers."""
    if column.kind in (*NUMBERS, "date"):
        cells = column.inspected.drop_nulls()
        found = pl.DataFrame({"cell": cells, "at": histograms.numbers(column, cells)}).drop_nans().sort("at")
        if found["at"].n_unique() > VALUES:
            places = np.quantile(np.arange(found.height), np.linspace(RARE, 1.0 - RARE, VALUES), method="nearest")
            found = found[places.astype(int).tolist()]
        found = found.unique("at", keep="first").sort("at")
        return found["cell"].to_list(), found["at"].to_list()
    values = [] if column.kind == "text" else [value for value, _ in column.facts["top_values"]]
    return values[: histograms.VALUES], None


def dependence(predicted: str, grid: Answer, layout: Answer, is_regression: bool) -> Answer:
    """The curves of the strongest columns, from the predictions for the rows of `dependence_rows`."""
    frame, rows = frames.read(predicted).frame, grid["rows"]
    outcomes = _outcomes([frame[name] for name in layout["header"] if name != layout["id"]], is_regression)
    curves, first = [], 0
    for one in grid["columns"]:
        last = first + len(one["values"]) * rows
        means = [(name, numbers[first:last].reshape(-1, rows).mean(axis=1)) for name, numbers in outcomes]
        spread = max(
            float(np.ptp(mean)) / (float(outcome.std()) or 1.0)
            for (_, mean), (_, outcome) in zip(means, outcomes, strict=True)
        )
        curves.append((spread, one | {"lines": [{"name": name, "means": mean.tolist()} for name, mean in means]}))
        first = last
    if not grid["ordered"]:
        curves.sort(key=lambda one: -one[0])
    return {"rows": rows, "ordered": grid["ordered"], "curves": [curve for _, curve in curves[:CURVES]]}


def _outcomes(columns: Sequence[pl.Series], is_regression: bool) -> list[tuple[str, Array]]:
    """What is averaged: predicted numbers, or which class is predicted."""
    found: list[tuple[str, Array]] = []
    for cells in columns[:LINES]:
        numbers = cells.cast(pl.Float64, strict=False)
        are_labels = not is_regression and cells.n_unique() <= FEW_LABELS and bool((numbers % 1.0 == 0.0).all())
        if numbers.has_nulls() or are_labels:
            labels = cells.value_counts(sort=True)[cells.name].head(LINES).sort().to_list()
            labels = labels[1:] if len(labels) == 2 else labels
            found += [(f"share of {label}", (cells == label).cast(pl.Float64).to_numpy()) for label in labels]
        else:
            found.append((cells.name, numbers.to_numpy()))
    return found[:LINES]
