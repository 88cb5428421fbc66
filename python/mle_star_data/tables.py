"""Tables of text: CSV files as the program and scripts write them, and the common form of IDs and labels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Text = NDArray[np.object_]

WHOLE = re.compile(r"([+-]?)0*([0-9]+)(?:\.0*)?")
MISSING = frozenset(
    "|#N/A|#N/A N/A|#NA|-1.#IND|-1.#QNAN|-NaN|-nan|1.#IND|1.#QNAN|<NA>|N/A|NA|NULL|NaN|None|n/a|nan|null".split("|")
)
"""What pandas reads as missing."""
SEPARATORS = "|;, "
"""What may stand between the labels of a cell. The first of them that occurs in a column separates in all of its cells."""
LONGEST_SHOWN = 40
"""In characters."""


class Refused(Exception):
    """Why a question has no answer, in one sentence."""


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

    def at(self, places: NDArray[Any]) -> Table:
        """These rows."""
        return Table(self.names, [cells[places] for cells in self.cells])


def read(file: str | Path) -> Table:
    """A CSV file whose cells are all text."""
    try:
        frame = pd.read_csv(file, dtype=object, header=None, keep_default_na=False, na_filter=False, encoding="utf-8")
    except pd.errors.EmptyDataError:
        raise Refused("the file is empty") from None
    except pd.errors.ParserError as error:
        raise Refused(_sentence(error)) from None
    except UnicodeDecodeError:
        raise Refused("the file is not UTF-8 text") from None
    except (OSError, ValueError, OverflowError) as error:
        raise Refused(f"the file cannot be read: {error}") from None
    names = [str(name).strip() for name in frame.iloc[0]]
    cells = [frame[at].to_numpy(dtype=object)[1:] for at in range(len(names))]
    # A short row has no text in its last cells.
    if cells and len(cells[-1]) and (short := np.flatnonzero([not isinstance(cell, str) for cell in cells[-1]])).size:
        row = int(short[0])
        fields = sum(isinstance(column[row], str) for column in cells)
        raise Refused(f"row {row + 1} has {fields} fields, but the header has {len(names)}")
    return Table(names, cells)


def _sentence(error: Exception) -> str:
    found = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error))
    if found is None:
        return f"the file cannot be read: {' '.join(str(error).split())}"
    return f"row {int(found[2]) - 1} has {found[3]} fields, but the header has {found[1]}"


def header(file: str | Path) -> list[str]:
    """The names of the columns of a CSV file."""
    try:
        frame = pd.read_csv(file, dtype=object, header=None, nrows=1, keep_default_na=False, na_filter=False)
    except (pd.errors.EmptyDataError, pd.errors.ParserError, OSError, ValueError) as error:
        raise Refused(f"the file cannot be read: {error}") from None
    return [str(name).strip() for name in frame.iloc[0]]


def whole(text: str) -> str:
    """A whole number of any length without sign +, leading zeros or a fraction of zeros; other text as it is."""
    found = WHOLE.fullmatch(text)
    if found is None:
        return text
    digits = found[2].lstrip("0") or "0"
    return f"-{digits}" if found[1] == "-" and digits != "0" else digits


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


def canonical_ids(ids: Text) -> Text:
    """IDs agree whatever blanks are around them, or if they are the same whole number."""
    joined = "".join(ids)
    is_plain = joined.isascii() and joined.isdigit()
    if is_plain and not any(one == "" or (one[0] == "0" and len(one) > 1) for one in ids):
        return ids
    return np.array([whole(one.strip()) for one in ids], dtype=object)


def keys(ids: Text) -> NDArray[np.uint64]:
    """A hash of each ID: millions of rows need little memory, and their order is random."""
    return pd.util.hash_array(canonical_ids(ids), categorize=False)


def row_keys(table: Table, id_column: str | None) -> NDArray[np.uint64]:
    """The keys of the rows of a table. Without a column that names them, their number does, from 0."""
    if id_column is None:
        return keys(np.array([str(row) for row in range(len(table))], dtype=object))
    return keys(table[id_column])


def mapped(cells: Text, form: Any) -> Text:
    """`form` of each cell, called once for each different one."""
    codes, different = pd.factorize(cells)
    return np.array([form(cell) for cell in different], dtype=object)[codes]


def numbers(cells: Text) -> NDArray[np.float64]:
    """Cells as numbers; not a number for others."""
    found = pd.to_numeric(pd.Series(cells, dtype=object), errors="coerce")
    return np.asarray(found, dtype=np.float64)


def is_missing(cell: str) -> bool:
    return cell.strip() in MISSING


def separator(cells: Iterable[str]) -> str:
    """What separates labels in cells like these."""
    present = set("".join(set(cells)))
    return next((one for one in SEPARATORS if one in present), " ")


def labels_of(cell: str, between: str) -> list[str]:
    """The labels of a set in their common form and in order, each once. It may be written with a separator that stands before
    that of the known sets."""
    for other in SEPARATORS[: SEPARATORS.index(between)]:
        cell = cell.replace(other, between)
    parts = cell.split() if between == " " else cell.split(between)
    return sorted({canonical(part) for part in parts if part.strip()})


def in_order(names: Iterable[str]) -> list[str]:
    """Names of classes in order, by number if all are numbers."""
    names = list(names)
    of_numbers = [as_number(name) for name in names]
    if all(number is not None for number in of_numbers):
        return [name for _, name in sorted(zip(of_numbers, names, strict=True))]  # type: ignore[type-var]
    return sorted(names)


def shown(cell: str) -> str:
    """A cell for a sentence, shortened, in backticks."""
    start = cell[:LONGEST_SHOWN].encode("unicode_escape").decode() if not cell.isprintable() else cell[:LONGEST_SHOWN]
    return f"`{start}{'…' if len(cell) > LONGEST_SHOWN else ''}`"


def listed(names: Iterable[str]) -> str:
    """The first few names for a sentence."""
    names = list(names)
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(shown(name) for name in names[:5]) + more
