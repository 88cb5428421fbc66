"""Labelled rows in parts, by folds, times and groups, each of which `diagnose` scores; and cells of single rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from . import tables
from .aliases import Numbers
from .facts import table_of
from .frames import Table, read

TIMES = 10
"""Times are divided into about this many parts."""
CELLS, LONGEST = 5, 40
"""Cells of a row that are shown, and their longest text in characters."""
PERIOD = "period"


@dataclass(frozen=True)
class Partition:
    """The part of each row, by the row's ID."""

    by: str
    ids: Sequence[str]
    parts: Sequence[int]
    names: Sequence[str]
    is_ordered: bool
    """Whether the order of parts means something."""


@dataclass(frozen=True)
class PartitionedRows:
    """The rows of a table of a data folder; the number of a row, from 0, is its ID without a column of IDs."""

    folder: str
    role: str
    id: str | None

    @cached_property
    def table(self) -> Table:
        path = Path(self.folder)
        file = table_of(path, self.role)
        return read(path / file, file)

    @cached_property
    def ids(self) -> pl.Series:
        if self.id is None:
            return pl.int_range(self.table.rows, eager=True).cast(pl.String)
        return self.table.column(self.id).text.str.strip_chars()

    def by(self, split: Mapping[str, Any] | None, folds: str | None, periods: Sequence[Any] | None) -> list[Partition]:
        """The divisions that a split suggests. What cannot be read divides nothing."""
        split = split or {}
        kind, column = split.get("kind"), split.get("column")
        found = list(_by_folds(folds, periods)) if self.role == "train" and folds is not None else []
        if kind == "time" and not any(one.by == PERIOD for one in found):
            found += self._by_time(column)
        groups = [column if kind == "groups" else None, split.get("groups"), *(split.get("series") or [])]
        for name in groups:
            found += self._by_groups(name)
        return found

    def _known(self, name: str | None) -> tuple[list[str], pl.Series]:
        """The IDs of the rows with a value in a column, and the values."""
        if name is None or name not in self.table:
            return [], pl.Series([], dtype=pl.String)
        values = self.table.column(name).values
        has = values.is_not_null()
        return self.ids.filter(has).to_list(), values.filter(has)

    def _by_groups(self, name: str | None) -> Iterator[Partition]:
        ids, values = self._known(name)
        if ids:
            names = sorted(values.unique())
            place = {value: at for at, value in enumerate(names)}
            yield Partition(str(name), ids, [place[value] for value in values], names, False)

    def _by_time(self, name: str | None) -> Iterator[Partition]:
        """Parts with about the same number of rows, the earliest first. Rows of the same time are in one part."""
        ids, values = self._known(name)
        times = self.times(name)
        if times is None:
            return
        times = times[~np.isnan(times)]
        _, first, part, counts = np.unique(times, return_index=True, return_inverse=True, return_counts=True)
        of_moment = even_parts(counts, -(-len(ids) // TIMES))
        own = (np.flatnonzero(of_moment == one) for one in range(of_moment[-1] + 1))
        said = [_range(values[int(first[at[0]])], values[int(first[at[-1]])]) for at in own]
        yield Partition(str(name), ids, of_moment[part].tolist(), said, True)

    def times(self, name: str | None) -> Numbers | None:
        """The times in a column, not a number where it has none; `None` if it holds others than times."""
        ids, _ = self._known(name)
        column = self.table.column(str(name)) if ids else None
        both = (column.numbers, column.times) if column else ()
        return next((one for one in both if np.isfinite(one).sum() == len(ids)), None)

    def cells(self, wanted: Sequence[str], first: Sequence[str], but: Sequence[str]) -> list[list[tuple[str, str]]]:
        """A few cells of rows, each with its column: those of the first columns, then others."""
        of_table = [name for name in self.table.names if name not in but and name != self.id]
        names = list(dict.fromkeys([*(name for name in first if name in of_table), *of_table]))[:CELLS]
        places, known = tables.places(tables.keys(self.ids), tables.keys(pl.Series(wanted, dtype=pl.String)))
        rows = self.table.select(names)
        both = zip(places.tolist(), known.tolist(), strict=True)
        return [[(name, rows[name][place][:LONGEST]) for name in names] if is_known else [] for place, is_known in both]


def even_parts(counts: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Divides values in order, which have so many rows, into parts of about this size."""
    found, rows = np.zeros(len(counts), dtype=np.int64), 0
    for at, count in enumerate(counts.tolist()):
        is_next = at > 0 and rows + count // 2 >= size
        found[at] = found[at - 1] + is_next
        rows = count if is_next else rows + count
    return found


def _by_folds(file: str, periods: Sequence[Any] | None) -> Iterator[Partition]:
    table = read(file)
    id = next(name for name in table.names if name != "fold")
    folds = table.column("fold").numbers
    count = int(folds.max()) + 1
    has_periods = len(periods or []) >= count
    names = [_range(one["from"], one["to"]) for one in (periods or [])[:count]]
    names = names if has_periods else [str(fold + 1) for fold in range(count)]
    ids = table.column(id).text.str.strip_chars().to_list()
    yield Partition(PERIOD if has_periods else "fold", ids, folds.astype(int).tolist(), names, True)


def _range(start: str, end: str) -> str:
    return start if start == end else f"{start} to {end}"
