"""Tables of text: CSV files as the program and scripts write them, and the common form of IDs and labels."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from .bootstrap import mixed

Text = pl.Series
Found = TypeVar("Found")

WHOLE = re.compile(r"([+-]?)0*([0-9]+)(?:\.0*)?")
ROW_ID = "row_id"
"""The name of a column with row numbers, if no column names the rows."""
MISSING = frozenset(
    [
        *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A"),
        *("NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
    ]
)
"""What pandas reads as missing."""
SEPARATORS = "|;, "
"""What may stand between the labels of a cell. The first of them that occurs in a column separates in all of its
cells."""
CANNOT = "the file cannot be read"
MAX_ROW = 16 << 20
"""In bytes; of a cell, too."""
csv.field_size_limit(MAX_ROW)
PIECE = 20_000
"""Rows that are read at once."""
MAX_SHOWN = 40
"""In characters."""


WORD = 8
"""Bytes that are hashed at once."""


class Refused(Exception):
    """Why a question has no answer, in one sentence, and what to do."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


def unless_refused(call: Callable[..., Found], *arguments: Any) -> Found | None:
    """What a call returns; None if it is refused."""
    with suppress(Refused):
        return call(*arguments)
    return None


class Table:
    """The cells of a CSV file as text, by column."""

    def __init__(self, names: Sequence[str], cells: Sequence[Text]) -> None:
        self.names = list(names)
        self.cells = list(cells)

    def __len__(self) -> int:
        return len(self.cells[0]) if self.cells else 0

    def __getitem__(self, name: str) -> Text:
        return self.cells[self.names.index(name.strip())]

    def needs(self, names: Iterable[str]) -> None:
        """Raises if a column is missing."""
        missing = [name for name in names if name.strip() not in self.names]
        if missing:
            raise Refused(f"the file lacks these columns: {listed(missing)}; it has these: {listed(self.names)}")

    def ids(self, column: str | None) -> Text:
        """The cells of the column that names the rows; without one, their numbers from 0."""
        return pl.Series(range(len(self))).cast(pl.String) if column is None else self[column]

    def at(self, places: NDArray[Any]) -> Table:
        """These rows."""
        return Table(self.names, [cells[places] for cells in self.cells])


def read(file: str | Path) -> Table:
    """A CSV file whose cells are all text."""
    names = header(file)
    try:
        frame = pl.read_csv(file, infer_schema=False, empty_string_is_null=False)
        # What polars takes for a row may be an empty line, or lack cells.
        is_blank, lacks = pl.all_horizontal(pl.all() == ""), pl.any_horizontal(pl.all().is_null())
        is_odd = frame.width != len(names) or frame.select((is_blank | lacks).any()).item()
    except pl.exceptions.PolarsError:
        is_odd = True
    if is_odd:
        found = [one.cells for one in pieces(file)]
        return Table(names, [pl.concat(cells) for cells in zip(*found, strict=True)])
    return Table(names, frame.get_columns())


def pieces(file: str | Path, longest_header: int | None = None) -> Iterator[Table]:
    """The rows of a CSV file, some at a time. The first piece has only the names. Without a limit, rows have none."""
    try:
        with open(file, encoding="utf-8-sig", newline="") as text:
            reader = csv.reader(text if longest_header is None else _lines(text.readline, longest_header))
            names = [name.strip() for name in next(filter(None, reader), [])]
            if not names:
                raise Refused("the file is empty")
            yield Table(names, [pl.Series([], dtype=pl.String) for _ in names])
            row = 1
            while lines := list(islice(reader, PIECE)):
                cells = [line for line in lines if line]
                for at, line in enumerate(cells):
                    if len(line) != len(names):
                        raise Refused(f"row {row + at} has {len(line)} fields, but the header has {len(names)}")
                row += len(cells)
                if cells:
                    yield Table(names, [pl.Series(column, dtype=pl.String) for column in zip(*cells, strict=True)])
    except UnicodeDecodeError:
        raise Refused(f"row {undecodable(file)} is not UTF-8 text") from None
    except csv.Error as error:
        said = f"{_row(reader.line_num - 1)} is longer than {MAX_ROW >> 20} MiB"
        raise Refused(said if "field larger" in str(error) else f"{CANNOT}: {error}") from None
    except OSError as error:
        raise Refused(f"cannot read {file}: {error.strerror}") from None


def _lines(read: Callable[[int], str], longest: int) -> Iterator[str]:
    """Lines that are not too long; the first is the header."""
    at, most = 0, longest
    while line := read(most + 1):
        if len(line) > most:
            raise Refused(f"{_row(at)} is longer than {most >> 20} MiB")
        yield line
        at, most = at + 1, MAX_ROW


def _row(number: int) -> str:
    return f"row {number}" if number > 0 else "the header"


def undecodable(file: str | Path) -> int:
    """The number of the first row that is no UTF-8 text."""
    with open(file, "rb") as lines:
        for number, line in enumerate(lines):
            try:
                line.decode()
            except UnicodeDecodeError:
                return number
    return 0


def header(file: str | Path) -> list[str]:
    """The names of the columns of a CSV file."""
    return next(pieces(file)).names


def whole(text: str) -> str:
    """A whole number of any length without sign +, leading zeros or a fraction of zeros; other text as it is."""
    found = WHOLE.fullmatch(text)
    if found is None:
        return text
    digits = found[2].lstrip("0") or "0"
    return f"-{digits}" if found[1] == "-" and digits != "0" else digits


@lru_cache(maxsize=1 << 16)
def canonical(label: str) -> str:
    """The common form of a label, so that `1`, `1.0` and ` 1` agree, and `True` and `true`."""
    label = label.strip()
    short = whole(label)
    if short is not label:
        return short
    if label.lower() in ("true", "false"):
        return label.lower()
    number = as_number(label)
    if number is None:
        return label
    return repr(int(number)) if number.is_integer() and abs(number) < 1e16 else repr(number)


def as_number(text: str) -> float | None:
    """A finite number."""
    if "_" in text:
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    return number if np.isfinite(number) else None


def keys(ids: Text) -> NDArray[np.uint64]:
    """A hash of each ID: millions of rows need little memory, and their order is random. IDs agree whatever blanks are
    around them, or if they are the same whole number."""
    texts = ids.str.strip_chars()
    return hashed(texts.str.replace(r"^\+?(-?)0*([0-9]+)(?:\.0*)?$", "$1$2").str.replace("^-0$", "0"))


def hashed(texts: pl.Series) -> NDArray[np.uint64]:
    """A hash of each text, which depends on no other one."""
    found, at = np.zeros(len(texts), dtype=np.uint64), np.arange(len(texts))
    data, place = (texts + "\0" * WORD).cast(pl.Binary), 0
    while len(data):
        words = data.bin.slice(place, WORD).bin.reinterpret(dtype=pl.UInt64, endianness="little").to_numpy()
        found[at] = mixed(found[at] ^ words)
        place += WORD
        is_longer = (data.bin.size() >= place + WORD).to_numpy()
        at, data = at[is_longer], data.filter(pl.Series(is_longer))
    return found


def row_keys(table: Table, id_column: str | None) -> NDArray[np.uint64]:
    """The keys of the rows of a table. Without a column that names them, their number does, from 0."""
    return keys(table.ids(id_column))


def places(known: NDArray[np.uint64], wanted: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The place of each wanted key among known ones, and whether it is one of them."""
    if not len(known):
        return np.zeros(len(wanted), dtype=np.int64), np.zeros(len(wanted), dtype=bool)
    order = np.argsort(known, kind="stable")
    place = order[np.minimum(np.searchsorted(known[order], wanted), len(known) - 1)]
    return place, known[place] == wanted


def mapped(cells: Text, form: Callable[[str], Any]) -> pl.Series:
    """`form` of each cell, called once for each different one, the first one first."""
    different = cells.unique(maintain_order=True)
    return cells.replace_strict(different, [form(cell) for cell in different])


def numbers(cells: Text) -> NDArray[np.float64]:
    """Cells as numbers; not a number for others."""
    return cells.str.strip_chars().cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()


def are_missing(cells: Text, but: Iterable[str] = ()) -> NDArray[np.bool_]:
    """Which cells have no value. Words such as `None` may be values."""
    return cells.str.strip_chars().is_in(list(MISSING.difference(but))).to_numpy()


def is_missing(cell: str) -> bool:
    return cell.strip() in MISSING


def separator(cells: Text) -> str:
    """What separates labels in cells like these."""
    return next((one for one in SEPARATORS if cells.str.contains(one, literal=True).any()), " ")


def labels_of(cell: str, between: str) -> list[str]:
    """The labels of a set in their common form and in order, each once. It may be written with a separator that
    stands before that of the known sets."""
    for other in SEPARATORS[: SEPARATORS.index(between)]:
        cell = cell.replace(other, between)
    parts = cell.split() if between == " " else cell.split(between)
    return sorted({canonical(part) for part in parts if part.strip()})


def as_set(between: str, cell: str) -> str:
    """The common form of a set of labels."""
    return between.join(labels_of(cell, between))


def in_order(names: Iterable[str]) -> list[str]:
    """Names of classes in order, by number if all are numbers."""
    names = list(names)
    of_numbers = [as_number(name) for name in names]
    if all(number is not None for number in of_numbers):
        return [name for _, name in sorted(zip(of_numbers, names, strict=True))]
    return sorted(names)


def shown(cell: str) -> str:
    """A cell for a sentence, shortened, in backticks."""
    start = cell[:MAX_SHOWN].encode("unicode_escape").decode() if not cell.isprintable() else cell[:MAX_SHOWN]
    return f"`{start}{'…' if len(cell) > MAX_SHOWN else ''}`"


def listed(names: Iterable[str]) -> str:
    """The first few names for a sentence."""
    names = list(names)
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(shown(name) for name in names[:5]) + more
