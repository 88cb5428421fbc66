"""Rows of tables, known by a hash of their content."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_COLUMNS = 256
MOST_TWINS = 0.2
"""Where more rows than this have an equal one, rows are not known by their content."""


def known_rows(data: Any) -> Any:
    """A hash of each row's content; None if it is no table that is known, or has no rows."""
    given = getattr(data, "_mle_star_rows", None)
    if given is not None:
        return given
    import numpy as np

    if hasattr(data, "tocsr"):
        table = data.tocsr()
        weights = np.random.default_rng(1).random(table.shape[1])
        # Row by row in the same order, so that equal rows have equal sums.
        return np.asarray(table.astype(np.float64) @ weights).view(np.uint64)
    if type(data).__module__.startswith("polars"):
        data = data.to_pandas()
    if hasattr(data, "iloc"):
        columns = [data] if data.ndim == 1 else [data.iloc[:, at] for at in picked(data.shape[1])]
    elif isinstance(data, (np.ndarray, list, tuple)) and len(data):
        array = np.asarray(data)
        if array.ndim > 2:
            array = array.reshape(len(array), -1)
        columns = [array] if array.ndim == 1 else [array[:, at] for at in picked(array.shape[1])]
    else:
        return None
    if not columns or not len(columns[0]):
        return None
    hashes = np.full(len(columns[0]), 0x9E3779B97F4A7C15, np.uint64)
    with np.errstate(over="ignore"):
        for column in columns:
            hashes = (hashes ^ bits(column)) * np.uint64(0xBF58476D1CE4E5B9)
            hashes ^= hashes >> np.uint64(29)
    return hashes


def picked(columns: int) -> Sequence[int]:
    """The columns that are hashed."""
    step = -(-columns // MOST_COLUMNS)
    return range(0, columns, max(step, 1))


def bits(column: Any) -> Any:
    """A number for each value. Equal values have equal numbers, whatever their type."""
    import numpy as np

    kind = getattr(getattr(column, "dtype", None), "kind", "O")
    if kind in "fiub":
        values = np.asarray(column).astype(np.float64) + 0.0
        values[np.isnan(values)] = np.nan
        return values.view(np.uint64)
    values = np.asarray(column, dtype=object)
    return np.fromiter((hash(str(value)) & 0xFFFFFFFFFFFFFFFF for value in values), np.uint64, len(values))


def twins(rows: Any) -> float:
    """The share of rows with an equal one."""
    import numpy as np

    _, counts = np.unique(rows, return_counts=True)
    return float(counts[counts > 1].sum() / max(len(rows), 1))


def are_distinct(rows: Any) -> bool:
    """Are rows known by their content?"""
    return twins(rows) <= MOST_TWINS
