"""Tables of text: CSV files as the program and scripts write them, and the common form of IDs and labels."""

from __future__ import annotations

import csv
import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .resampled import mixed

Text = NDArray[np.object_]

WHOLE = re.compile(r"([+-]?)0*([0-9]+)(?:\.0*)?")
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
LONGEST_CELL = 16 << 20
"""In bytes."""
csv.field_size_limit(LONGEST_CELL)
LONGEST_SHOWN = 40
"""In characters."""


LONGEST_KEY = 64
"""The longest ID that is hashed as it is, in bytes."""


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
        with open(file, encoding="utf-8-sig", newline="") as text:
            rows = [row for row in csv.reader(text) if row]
    except UnicodeDecodeError:
        raise Refused(f"row {undecodable(file)} is not UTF-8 text") from None
    except csv.Error as error:
        is_long = "field larger" in str(error)
        raise Refused(f"a row is longer than {LONGEST_CELL >> 20} MiB" if is_long else f"{CANNOT}: {error}") from None
    except OSError as error:
        raise Refused(f"cannot read {file}: {error.strerror}") from None
    if not rows:
        raise Refused("the file is empty")
    names = [name.strip() for name in rows[0]]
    wrong = next((at for at, row in enumerate(rows) if len(row) != len(names)), None)
    if wrong is not None:
        raise Refused(f"row {wrong} has {len(rows[wrong])} fields, but the header has {len(names)}")
    columns = zip(*rows[1:], strict=True) if len(rows) > 1 else ([] for _ in names)
    return Table(names, [np.array(list(cells), dtype=object) for cells in columns])


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
    try:
        with open(file, encoding="utf-8-sig", newline="") as text:
            return [name.strip() for name in next(csv.reader(text), [])]
    except (OSError, ValueError, csv.Error) as error:
        raise Refused(f"{CANNOT}: {error}") from None


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
    texts = [one.encode() for one in canonical_ids(ids)]
    texts = [one if len(one) <= LONGEST_KEY else hashlib.blake2b(one).digest() for one in texts]
    widths = np.array([len(one) // 8 + 1 for one in texts], dtype=np.int64)
    width = int(widths.max(initial=1))
    words = np.array(texts, dtype=f"S{8 * width}").reshape(-1, 1).view(np.uint64).reshape(-1, width)
    found = np.zeros(len(texts), dtype=np.uint64)
    for at in range(width):
        # The key of an ID depends on no other ID.
        found = np.where(at < widths, mixed(found ^ words[:, at]), found)
    return found


def row_keys(table: Table, id_column: str | None) -> NDArray[np.uint64]:
    """The keys of the rows of a table. Without a column that names them, their number does, from 0."""
    if id_column is None:
        return keys(np.array([str(row) for row in range(len(table))], dtype=object))
    return keys(table[id_column])


def mapped(cells: Text, form: Callable[[str], Any]) -> Text:
    """`form` of each cell, called once for each different one."""
    known = {cell: form(cell) for cell in dict.fromkeys(cells)}
    return np.array([known[cell] for cell in cells], dtype=object)


def numbers(cells: Text) -> NDArray[np.float64]:
    """Cells as numbers; not a number for others."""
    try:
        found = cells.astype(np.float64)
    except ValueError:
        found = np.array([_number(cell) for cell in cells], dtype=np.float64)
    # Python takes 1_000 for a number.
    return np.where(["_" in cell for cell in cells], np.nan, found) if "_" in "".join(cells) else found


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return float("nan")


def is_missing(cell: str) -> bool:
    return cell.strip() in MISSING


def separator(cells: Iterable[str]) -> str:
    """What separates labels in cells like these."""
    present = set("".join(set(cells)))
    return next((one for one in SEPARATORS if one in present), " ")


def labels_of(cell: str, between: str) -> list[str]:
    """The labels of a set in their common form and in order, each once. It may be written with a separator that
    stands before that of the known sets."""
    for other in SEPARATORS[: SEPARATORS.index(between)]:
        cell = cell.replace(other, between)
    parts = cell.split() if between == " " else cell.split(between)
    return sorted({canonical(part) for part in parts if part.strip()})


def in_order(names: Iterable[str]) -> list[str]:
    """Names of classes in order, by number if all are numbers."""
    names = list(names)
    of_numbers = [as_number(name) for name in names]
    if all(number is not None for number in of_numbers):
        return [name for _, name in sorted(zip(of_numbers, names, strict=True))]
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
