"""The rows of plain tables: columns as text, hashes of cells that are the same on every machine, and rows as they lie
in a file."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from . import frames
from .frames import Table
from .resampled import mixed
from .tables import Refused

Array = NDArray[Any]
Keys = NDArray[np.uint64]
"""A hash of each cell; 0 where it is missing."""

MOST_AT_ONCE = 1 << 24
"""Bytes in which line ends are looked for at once."""
WORD = 8


def keys(texts: pl.Series, as_numbers: bool) -> Keys:
    """A hash of each cell. Numbers are the same however they are written."""
    if as_numbers:
        numbers = texts.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy() + 0.0
        return np.where(np.isnan(numbers), np.uint64(0), mixed(numbers.view(np.uint64)))
    found = np.zeros(len(texts), dtype=np.uint64)
    missing, at = texts.is_null().to_numpy(), None
    data = (texts.fill_null("") + "\0" * WORD).cast(pl.Binary)
    place = 0
    while len(data):
        words = data.bin.slice(place, WORD).bin.reinterpret(dtype=pl.UInt64, endianness="little").to_numpy()
        if at is None:
            found = mixed(words)
        else:
            found[at] = mixed(found[at] ^ words)
        place += WORD
        is_longer = (data.bin.size() >= place + WORD).to_numpy()
        at = np.flatnonzero(is_longer) if at is None else at[is_longer]
        data = data.filter(pl.Series(is_longer))
    return np.where(missing, np.uint64(0), found)


def together(several: Sequence[Keys]) -> Keys:
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


@dataclass
class Lines:
    """The rows of a CSV file as bytes."""

    path: Path
    names: list[str]
    starts: Array
    """Where each row begins. The first one is the header."""
    stops: Array
    end: bytes
    """What ends a row."""

    @classmethod
    def of(cls, table: Table) -> Lines:
        """The rows of a table. Where quotes stand within cells, no line end does."""
        for quoted in (True, False):
            found = cls.read(table.source.path, quoted)
            if len(found) == table.rows:
                return found
        raise Refused(f"{table.file} is another table than the one that was planned with")

    @classmethod
    def read(cls, path: Path, quoted: bool = True) -> Lines:
        ends, quotes, size = [], 0, os.path.getsize(path)
        with open(path, "rb") as file:
            for start in range(0, size, MOST_AT_ONCE):
                part = np.frombuffer(file.read(MOST_AT_ONCE), dtype=np.uint8)
                found = np.flatnonzero(part == 10)
                if quoted and ((marks := np.flatnonzero(part == 34)).size or quotes):
                    # A line end within quotes ends no row.
                    found = found[(np.searchsorted(marks, found) + quotes) % 2 == 0]
                    quotes = (quotes + len(marks)) % 2
                ends.append(found + (start + 1))
            ended = np.concatenate([*ends, [size]])
            file.seek(max(int(ended[0]) - 2, 0))
            end = b"\r\n" if file.read(2) == b"\r\n" else b"\n"
        starts = np.concatenate([[0], ended[:-1]])
        # An empty line is no row.
        is_row = ended - starts > len(end)
        if (short := np.flatnonzero((ended - starts <= 2) & (ended > starts))).size:
            is_row[short] = np.memmap(path, dtype=np.uint8, mode="r")[starts[short]] > 13
        return cls(path, frames.header(path, path.name), starts[is_row], ended[is_row], end)

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def header(self) -> bytes:
        return next(iter(self._runs(np.array([-1])))).rstrip(b"\r\n") + self.end

    def frame(self, rows: Array) -> pl.DataFrame:
        """These rows as cells of text, as they are written."""
        data = self.header + b"".join(self._runs(rows))
        return pl.read_csv(data, infer_schema=False, empty_string_is_null=False, new_columns=self.names)

    def write(self, rows: Array, file: IO[bytes]) -> None:
        """Writes these rows as they are, in this order."""
        for run in self._runs(rows):
            file.write(run)

    def _runs(self, rows: Array) -> Iterator[bytes]:
        """The bytes of rows, those of neighbours together."""
        rows = np.asarray(rows, dtype=np.int64) + 1
        cuts = np.flatnonzero(self.starts[rows[1:]] != self.stops[rows[:-1]]) + 1
        firsts = rows[np.concatenate([[0], cuts])] if len(rows) else rows
        lasts = rows[np.concatenate([cuts - 1, [len(rows) - 1]])] if len(rows) else rows
        with open(self.path, "rb") as file:
            for start, stop in zip(self.starts[firsts].tolist(), self.stops[lasts].tolist(), strict=True):
                file.seek(start)
                for at in range(start, stop, MOST_AT_ONCE):
                    part = file.read(min(MOST_AT_ONCE, stop - at))
                    yield part
                if not part.endswith(b"\n"):
                    yield self.end


def csv_lines(frame: pl.DataFrame, end: bytes) -> list[bytes]:
    """Rows of text as they are written, each with its end."""
    text = frame.write_csv(include_header=False, line_terminator="\x1e").encode()
    return [line + end for line in text.split(b"\x1e")[:-1]]
