"""A plain table (comma-separated UTF-8 text with a header) as a frame of text columns, read once.

    table = read("train.csv")
    table.rows, table.names, table.column("price").numbers

Cells are text as in the file, an empty cell is the empty text, and nothing is null in `text`. `values` are without
blanks around them and null where missing. What is asked of a column is computed when it is asked for first, and kept.
"""

from __future__ import annotations

import csv
import mmap
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from . import column_kinds, dates
from .aliases import Numbers
from .tables import MAX_ROW, MISSING, Refused, undecodable

LARGE = 1 << 27
"""Files of more bytes are read by columns."""
CHUNK_BYTES = 1 << 24
READABLE = "check that the file is complete and readable"


def read(path: str | Path, shown: str | None = None) -> Table:
    """The table in a file, which messages call `shown`. It is opened once, as long as the file is the same. Of a large
    one, the rows that are looked at are in memory, and the columns that are asked for."""
    path, name = Path(path), shown or Path(path).name
    try:
        file = path.stat()
    except OSError as error:
        raise Refused(f"cannot open {name}: {error.strerror}", "check that the file is there and readable") from None
    return Table(name, _opened(path, name, file.st_mtime_ns, file.st_size))


@lru_cache(maxsize=8)
def _opened(path: Path, name: str, changed: int, size: int) -> Source:
    names = header(path, name)
    try:
        if size > LARGE and (large := _large(path, names)):
            return large
        frame = pl.read_csv(path, infer_schema=False, empty_string_is_null=False, new_columns=names)
        # An empty line is no row.
        if any(not any(row) for row in frame.filter(frame.to_series(0) == "").iter_rows()):
            frame = _by_rows(path, name, names)
    except pl.exceptions.PolarsError:
        frame = _by_rows(path, name, names)
    if frame.height == 0:
        raise Refused(f"{name} has no rows below its header", "check that the file is complete")
    return Source(frame, frame.lazy(), frame.height, frame.to_dict(), path)


def _large(path: Path, names: list[str]) -> Source | None:
    """A table of many rows; None for one that has few, or empty lines."""
    lines = Lines(path, names)
    inspected_rows = column_kinds.inspected_rows(len(lines))
    if inspected_rows is None or lines.has_blank:
        return None
    source = pl.scan_csv(path, infer_schema=False, empty_string_is_null=False, new_columns=names)
    return Source(lines.frame(inspected_rows), source, len(lines), {}, path, lines)


class Lines:
    """Where the rows of a file lie, which can then be read and copied without reading the others."""

    def __init__(self, path: Path, names: Sequence[str]) -> None:
        self.path, self.names = path, names
        ends, at, quotes = [], 0, 0
        with open(path, "rb") as file:
            self.has_returns = file.readline().endswith(b"\r\n")
            file.seek(0)
            while part := file.read(CHUNK_BYTES):
                cells = np.frombuffer(part, np.uint8)
                found = np.flatnonzero(cells == ord("\n"))
                if quotes or b'"' in part:
                    # A line that ends inside of quotes goes on.
                    of = np.flatnonzero(cells == ord('"'))
                    found = found[(np.searchsorted(of, found) + quotes) % 2 == 0]
                    quotes = (quotes + len(of)) % 2
                ends.append(found + at + 1)
                at += len(part)
        if not ends[-1].size or ends[-1][-1] < at:
            ends.append(np.array([at]))
        self.bounds = np.concatenate(ends)
        self.has_blank = bool((np.diff(self.bounds) <= 1 + self.has_returns).any())

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def frame(self, rows: NDArray[Any]) -> pl.DataFrame:
        """Some rows."""
        with open(self.path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
            part = b"".join([text[self.bounds[row] : self.bounds[row + 1]] for row in rows])
        names, io = list(self.names), BytesIO(part)
        return pl.read_csv(io, has_header=False, infer_schema=False, empty_string_is_null=False, new_columns=names)

    def copy(self, is_wanted: NDArray[Any], into: Path) -> None:
        """Writes some rows as they lie there."""
        edges = np.flatnonzero(np.diff(is_wanted, prepend=False, append=False))
        with open(self.path, "rb") as file, open(into, "wb") as out:
            out.write(pl.DataFrame(schema=list(self.names)).write_csv().encode())
            for first, end in self.bounds[edges].reshape(-1, 2).tolist():
                file.seek(first)
                for at in range(first, end, CHUNK_BYTES):
                    out.write(file.read(min(CHUNK_BYTES, end - at)))


def header(path: Path, name: str) -> list[str]:
    """The names of the columns. One without a name is named by its position, as in pandas."""
    names = next(_rows(path, name), [])
    if not names:
        raise Refused(f"{name} is empty", "check that the file is complete")
    names = [one or f"Unnamed: {at}" for at, one in enumerate(names)]
    if len(set(names)) < len(names):
        twice = next(one for at, one in enumerate(names) if one in names[:at])
        hint = "rename or remove one of them; column names must be unique"
        raise Refused(f'{name} has two columns named "{twice}"', hint)
    return names


def _rows(path: Path, name: str) -> Iterator[list[str]]:
    """All rows, with the header; an empty line is none."""
    csv.field_size_limit(MAX_ROW)
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            yield from (row for row in csv.reader(file) if row)
    except UnicodeDecodeError:
        raise Refused(f"row {undecodable(path)} of {name} is not UTF-8 text", READABLE) from None
    except (OSError, csv.Error) as error:
        raise Refused(f"cannot read {name}: {error}", READABLE) from None


def _by_rows(path: Path, name: str, names: list[str]) -> pl.DataFrame:
    """A table with quotes inside of cells, which polars does not read, or with empty lines, which it takes for rows."""
    rows = list(_rows(path, name))[1:]
    odd = next((at for at, row in enumerate(rows) if len(row) != len(names)), None)
    if odd is not None:
        hint = "correct that row; a comma inside a value needs quotes around the value"
        raise Refused(f"row {odd + 1} of {name} has {len(rows[odd])} cells, the header has {len(names)}", hint)
    return pl.DataFrame(dict(zip(names, zip(*rows, strict=True), strict=True)), dict.fromkeys(names, pl.String))


@dataclass
class Source:
    """Where the cells of a table are."""

    inspected: pl.DataFrame
    """The rows that are looked at, or all."""
    lazy: pl.LazyFrame
    rows: int
    loaded: dict[str, pl.Series]
    path: Path = Path()
    lines: Lines | None = None
    """Those of a large table."""
    described: dict[Any, dict[str, dict[str, Any]]] = field(default_factory=dict)


class Table:
    """The columns of a plain table."""

    def __init__(self, file: str, source: Source, words: Mapping[str, Collection[str]] | None = None) -> None:
        self.file, self.source, self.words = file, source, dict(words or {})
        """`words` that look missing, such as `NA`, are values of a column."""
        self._exact: frozenset[str] = frozenset()
        self._columns: dict[str, Column] = {}
        self.names = source.inspected.columns
        self._known = frozenset(self.names)

    @property
    def rows(self) -> int:
        return self.source.rows

    @property
    def frame(self) -> pl.DataFrame:
        """All cells, which take twice the memory of the file."""
        return self.select(self.names)

    def select(self, names: Sequence[str]) -> pl.DataFrame:
        """Some columns. Those of a large table are read together, and kept."""
        loaded = self.source.loaded
        if new := [name for name in names if name not in loaded]:
            read = self.source.lazy.select(new).collect(engine="streaming")
            loaded.update(zip(new, read.get_columns(), strict=True))
        return pl.DataFrame([loaded[name] for name in names])

    def load(self, names: Iterable[str]) -> None:
        """Reads these columns in one go."""
        self.select([name for name in dict.fromkeys(names) if name in self])

    def column(self, name: str) -> Column:
        if name not in self._columns:
            self._columns[name] = Column(self, name)
        return self._columns[name]

    def kind(self, name: str) -> str:
        """Empty for a column that the table lacks."""
        return str(self.facts[name]["kind"]) if name in self else ""

    def forget(self, kept: Collection[str]) -> None:
        """Frees the memory of other columns."""
        self._columns = {name: one for name, one in self._columns.items() if name in kept}
        if self.rows > self.source.inspected.height:
            self.source.loaded = {name: one for name, one in self.source.loaded.items() if name in kept}

    def __contains__(self, name: object) -> bool:
        return name in self._known

    def with_words(self, words: Mapping[str, Collection[str]], exact: Collection[str] | None = None) -> Table:
        """The same table, in which further words are values, and numbers of any length are numbers in some columns."""
        known = {name: one for name, one in words.items() if name in self and one}
        exact = self._exact if exact is None else frozenset(exact)
        if not known and exact == self._exact:
            return self
        table = Table(self.file, self.source, self.words | known)
        table._exact = exact
        if "facts" in self.__dict__ and exact == self._exact:
            new = column_kinds.describe(self.source.inspected.select(list(known)), table.words, exact)
            table.facts = self.facts | {one["name"]: one for one in new}
        return table

    @cached_property
    def facts(self) -> dict[str, dict[str, Any]]:
        """What is known of each column from the rows that are looked at: see `column_kinds.describe`."""
        known, asked = self.source.described, repr((sorted(self.words.items()), sorted(self._exact)))
        if asked not in known:
            described = column_kinds.describe(self.source.inspected, self.words, self._exact)
            known[asked] = {one["name"]: one for one in described}
        return known[asked]


@dataclass(eq=False, repr=False)
class Column:
    """A column, by row."""

    table: Table
    name: str

    @property
    def facts(self) -> dict[str, Any]:
        return self.table.facts[self.name]

    @property
    def kind(self) -> str:
        """`integer`, `number`, `boolean`, `date`, `category`, `text` or `empty`."""
        return str(self.facts["kind"])

    @property
    def missing(self) -> int:
        """Cells without a value, of the rows that are looked at."""
        return int(self.facts["missing"])

    @property
    def distinct(self) -> int:
        """Different values in the rows that are looked at."""
        return int(self.facts["distinct"])

    @property
    def inspected(self) -> pl.Series:
        """The values of the rows that are looked at."""
        return self.cleaned(self.table.source.inspected[self.name])

    def cell(self, row: Any) -> str:
        """A cell for people: 1950 for the number 1950.0."""
        return re.sub(r"^(-?[0-9]+)\.0+$", r"\1", self.values[int(row)] or "")

    @property
    def text(self) -> pl.Series:
        """The cells as in the file; never null."""
        return self.table.select([self.name]).to_series()

    @cached_property
    def values(self) -> pl.Series:
        """The cells without blanks around them; null where missing."""
        return self.cleaned(self.text)

    def cleaned(self, cells: pl.Series) -> pl.Series:
        """Cells of this column without blanks around them; null where missing."""
        text = cells.str.strip_chars()
        missing = MISSING.difference(self.table.words.get(self.name, ()))
        return text.set(text.is_in(list(missing)), None)

    @cached_property
    def numbers(self) -> Numbers:
        """Not a number where a cell is missing or no number."""
        return self.values.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()

    @cached_property
    def times(self) -> Numbers:
        """Seconds since the beginning of 1970, if these are dates or name parts of years; else not a number."""
        if self.kind == "date":
            return dates.seconds(self.values, bool(self.facts["day_first"]))
        if (unit := self.facts["unit"]) is None:
            return np.full(self.table.rows, np.nan)
        seconds = [dates.part_of_year(value, unit) for value in self.unique]
        found = self.values.replace_strict(self.unique, seconds, default=None, return_dtype=pl.Float64)
        return found.fill_null(np.nan).to_numpy()

    @cached_property
    def unique(self) -> pl.Series:
        """The different values of all rows."""
        return self.values.drop_nulls().unique()

    def share_in(self, other: Column) -> float | None:
        """The share of the different values that the other column has, too; None without values."""
        return float(self.unique.is_in(other.unique.implode()).mean()) if len(self.unique) else None  # type: ignore[arg-type]
