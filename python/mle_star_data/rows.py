"""The rows of plain tables: hashes of cells that are the same on every machine, and rows as they are written."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from .aliases import Array, Keys
from .bootstrap import mixed
from .frames import Table
from .tables import hashed


def keys(texts: pl.Series, as_numbers: bool) -> Keys:
    """A hash of each cell. Numbers are the same however they are written."""
    if as_numbers:
        numbers = texts.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy() + 0.0
        return np.where(np.isnan(numbers), np.uint64(0), mixed(numbers.view(np.uint64)))
    return np.where(texts.is_null().to_numpy(), np.uint64(0), hashed(texts.fill_null("")))


def joint_keys(several: Sequence[Keys]) -> Keys:
    """A hash of the cells of each row in several columns; 0 where one is missing."""
    found = several[0]
    for other in several[1:]:
        found = np.where((found == 0) | (other == 0), np.uint64(0), mixed(found ^ mixed(other)))
    return found


def drawn(of: Keys, seed: int, use: str) -> Keys:
    """A random number for each key. Other uses of a seed have other numbers."""
    salt = hashlib.blake2b(f"{seed} {use}".encode(), digest_size=8).digest()
    return mixed(of ^ np.frombuffer(salt, dtype=np.uint64))


def numbered(rows: int) -> Keys:
    """The keys of rows that their number names."""
    return mixed(np.arange(1, rows + 1, dtype=np.uint64))


def digest(of: Keys) -> str:
    """What tells one set of rows from another, whatever their order."""
    return hashlib.blake2b(np.sort(of).tobytes(), digest_size=32).hexdigest()


def codes(of: Keys) -> tuple[Array, int]:
    """A number from 0 for each different key, and how many there are; -1 for missing ones."""
    different = pl.Series(of).unique().sort().to_numpy()
    found = np.searchsorted(different, of)
    has_missing = len(different) > 0 and different[0] == 0
    return (found - 1, len(different) - 1) if has_missing else (found, len(different))


def in_classes(numbers: Keys, classes: Keys) -> tuple[Array, Array]:
    """The order of rows by class, within a class by their numbers, and the class of each row."""
    at, count = codes(classes)
    order = np.argsort(numbers)
    # Small numbers are sorted faster.
    small = at.astype(np.int16) if count < 2**15 else at
    return order[np.argsort(small[order], kind="stable")], at


def at(table: Table, is_wanted: Array) -> pl.DataFrame:
    """Some rows."""
    if table.source.lines:
        return table.source.lines.frame(np.flatnonzero(is_wanted))
    return table.source.lazy.filter(pl.lit(pl.Series(is_wanted))).collect()


def copy(table: Table, is_wanted: Array, into: Path) -> None:
    """Writes some rows as they are written there."""
    if table.source.lines:
        table.source.lines.copy(is_wanted, into)
    else:
        write(at(table, is_wanted), into)


def write(frame: pl.DataFrame | pl.LazyFrame, into: Path) -> None:
    """Writes cells as they are; an empty line would be no row."""
    cells = frame.lazy()
    if cells.collect_schema().len() > 1:
        # In one expression, since a `replace` of each column takes the square of their number.
        cells = cells.with_columns(pl.when(pl.col(pl.String) != "").then(pl.col(pl.String)))
    cells.sink_csv(into)
