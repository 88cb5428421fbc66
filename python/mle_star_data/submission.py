"""Checks a submission against the sample submission.

A submission is untrusted: it is read in pieces, so that it takes little memory; the file, its header and its rows have
size limits, and findings quote only the first wrong values, shortened.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import zip_longest

import numpy as np
import polars as pl

from . import tables
from .tables import Refused, Text

MAX_NAMED, MAX_LISTED, MAX_QUOTED_CHARS = 3, 20, 100
"""How many wrong values a finding names, how many columns have their own one, and how many characters are quoted."""
MAX_BYTES, SAMPLE_FACTOR = 1 << 30, 16
"""The size limit in bytes, or so many times the size of a large sample: a cell `0` may become one with all digits."""
MAX_HEADER = 1 << 20
"""By how much the header may be longer than the sample's."""
NO_TEXT = frozenset(["", "nan", "<na>"])
NO_NUMBER = NO_TEXT | {"na", "n/a", "none", "null", "nat"}
"""In a column of texts, `None` or `NA` may be a label; in a column of numbers it is a missing value."""


def check(file: str, sample: str | None, id_column: str | None) -> dict[str, object]:
    """The rows of a CSV file, and what is wrong with it.

    Against `sample`: the same columns in the same order, the same number of rows, the same IDs in the same order, no
    missing values where the sample has none, finite numbers where the sample has numbers. The IDs are in `id_column`,
    or else in the sample's first column. Without a sample, the file must parse and have a data row.
    """
    size = os.path.getsize(file) if os.path.isfile(file) else 0
    most = max(MAX_BYTES, SAMPLE_FACTOR * (os.path.getsize(sample) if sample and os.path.isfile(sample) else 0))
    if size > most:
        said = f"the file has {size >> 20} MiB; a submission has at most {most >> 20} MiB"
        return {"bytes": size, "rows": None, "findings": [said]}
    findings: list[str] = []
    try:
        if sample is None:
            rows = sum(len(piece) for piece in tables.pieces(file, MAX_HEADER))
        else:
            rows, findings = _check_against_sample(file, _sample(sample, id_column))
    except Refused as error:
        return {"bytes": size, "rows": None, "findings": [str(error)]}
    none = [] if rows else ["there is no data row below the header"]
    return {"bytes": size, "rows": rows, "findings": none + findings}


@dataclass
class _Expected:
    """What the sample requires of the values of a column."""

    numbers: bool = True
    has_value: bool = False
    may_be: set[str] = field(default_factory=set)
    """The missing values that occur."""
    constant: str | None = None
    """The value of all rows, if it is the same."""

    def see(self, cells: Text, is_first: bool) -> None:
        first = cells[0] if is_first else self.constant
        self.constant = first if first is not None and (cells == first).all() else None
        no_numbers = cells.filter(~np.isfinite(tables.numbers(cells)))
        missing = {cell.lower() for cell in no_numbers if len(cell) <= 4} & NO_NUMBER
        self.may_be |= missing
        others = [cell for cell in no_numbers if cell.lower() not in missing]
        self.has_value |= len(no_numbers) < len(cells) or bool(others)
        self.numbers = self.numbers and all(tables.as_number(cell) is not None for cell in others)

    def are_numbers(self) -> bool:
        return self.numbers and self.has_value


@dataclass
class _Sample:
    """The requirements of the sample submission."""

    names: list[str]
    wants: list[_Expected]
    rows: int
    id: int | None
    """The position of the ID column, if any: the named one, or else the first unless it is the only one or constant."""
    ids: Text


def _sample(file: str, id_column: str | None) -> _Sample:
    try:
        about = os.stat(file)
        return _read_sample(file, id_column, about.st_mtime_ns, about.st_size)
    except (Refused, OSError) as error:
        said = error if isinstance(error, Refused) else f"{tables.CANNOT}: {error}"
        raise Refused(f"the sample submission: {said}") from None


@lru_cache(maxsize=4)
def _read_sample(file: str, id_column: str | None, _time: int, _size: int) -> _Sample:
    """The sample, read again only if the file has changed."""
    pieces = tables.pieces(file, None)
    names = next(pieces).names
    wants, rows, ids = [_Expected() for _ in names], 0, []
    place = names.index(id_column) if id_column in names else 0
    for piece in pieces:
        for at, (want, cells) in enumerate(zip(wants, (cells.str.strip_chars() for cells in piece.cells), strict=True)):
            want.see(cells, rows == 0)
            if at == place:
                ids.append(cells)
        rows += len(piece)
    has_ids = id_column in names or (len(names) > 1 and (rows < 2 or wants[0].constant is None))
    return _Sample(names, wants, rows, place if has_ids else None, pl.concat([pl.Series([], dtype=pl.String), *ids]))


@dataclass
class _WrongRows:
    """The number of wrong rows and the first of them."""

    count: int = 0
    first: list[str] = field(default_factory=list)

    def add(self, cell: str | None = None, row: int | None = None) -> None:
        self.count += 1
        if len(self.first) < MAX_NAMED:
            where = [] if row is None else [f"row {row}"]
            self.first.append(" in ".join(([] if cell is None else [quoted(cell)]) + where))

    def finding(self, column: str, what: str) -> list[str]:
        said = f"column {quoted(column)}: {self.count} {what}, first {', '.join(self.first)}"
        return [said] if self.count else []


def _check_against_sample(file: str, sample: _Sample) -> tuple[int, list[str]]:
    """The number of rows and the findings."""
    longest = MAX_HEADER + sum(len(name.encode()) + 3 for name in sample.names)
    pieces = tables.pieces(file, longest)
    names = next(pieces).names
    checks = [(name, want, _WrongRows(), _WrongRows()) for name, want in zip(sample.names, sample.wants, strict=True)]
    checks = [one for one in checks if one[0] in names]
    name = None if sample.id is None else sample.names[sample.id]
    rows, other = 0, None
    for piece in pieces:
        same = None
        if name is not None and name in names and other is None:
            found, wanted = piece[name].str.strip_chars(), sample.ids[rows : rows + len(piece)]
            differ = (found[: len(wanted)] != wanted[: len(found)]).arg_true()
            if not len(differ) and len(found) == len(wanted):
                same = name
            elif len(differ):
                at = int(differ[0])
                other = f"from row {rows + at + 1} on: {quoted(found[at])} instead of {quoted(wanted[at])}"
        for column, want, missing, no_numbers in checks:
            # What the sample has is right.
            if column != same:
                _observe(piece[column].str.strip_chars(), want, missing, no_numbers, rows)
        rows += len(piece)
    findings = _column_findings(names, sample.names)
    if rows != sample.rows:
        findings.append(f"there are {rows} data rows; the sample submission has {sample.rows}")
    if name is not None and name in names and (rows != sample.rows or other is not None):
        ids = (cell.strip() for piece in tables.pieces(file, longest) for cell in piece[name])
        findings += _id_findings(name, ids, sample.ids, other)
    for column, _, missing, no_numbers in checks:
        findings += missing.finding(column, "values are missing")
        findings += no_numbers.finding(column, "values are not finite numbers")
    return rows, findings


def _observe(cells: Text, want: _Expected, missing: _WrongRows, no_numbers: _WrongRows, before: int) -> None:
    """Looks for wrong values in further cells."""
    are_numbers = want.are_numbers()
    words = NO_NUMBER if are_numbers else NO_TEXT
    may_be = bool(want.may_be & words)
    suspects = np.flatnonzero(~np.isfinite(tables.numbers(cells))) if are_numbers else range(len(cells))
    for at in suspects:
        cell = cells[int(at)]
        if len(cell) <= 4 and cell.lower() in words:
            if not may_be:
                missing.add(row=before + int(at) + 1)
        elif are_numbers and tables.as_number(cell) is None:
            no_numbers.add(cell, before + int(at) + 1)


def _column_findings(found: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """How the columns differ."""
    missing = [f"column {quoted(name)} is missing" for name in wanted if name not in set(found)]
    index = "a column without a name is not in the sample submission (write the file with index=False)"
    others = [name for name in found if name not in set(wanted)]
    surplus = [f"column {quoted(name)} is not in the sample submission" if name else index for name in others]
    findings = []
    for all_of, what in ((missing, "columns are missing"), (surplus, "columns are not in the sample submission")):
        more = [f"{len(all_of) - MAX_LISTED} more {what}"] if len(all_of) > MAX_LISTED else []
        findings += all_of[:MAX_LISTED] + more
    if not findings and list(found) != list(wanted):
        pairs = enumerate(zip_longest(found, wanted), 1)
        at, names = next((at, names) for at, names in pairs if names[0] != names[1])
        here, there = ("none" if name is None else quoted(name) for name in names)
        findings.append(f"the columns are other ones than the sample's from column {at} on: {here} instead of {there}")
    return findings


def _id_findings(column: str, found: Iterator[str], wanted: Text, other: str | None) -> list[str]:
    """The IDs in which two columns differ, or the row from which their order differs."""
    missing, unknown, repeated = _WrongRows(), _WrongRows(), _WrongRows()
    left = Counter(wanted)
    for row, one in enumerate(found, 1):
        if one not in left:
            unknown.add(one, row)
        elif left[one]:
            left[one] -= 1
        else:
            repeated.add(one, row)
    for one in +left:
        missing.add(one)
    findings = missing.finding(column, "ids of the sample are missing")
    findings += unknown.finding(column, "ids are not in the sample")
    findings += repeated.finding(column, "ids are repeated")
    if not findings and other is not None:
        findings.append(f"column {quoted(column)}: the ids are in another order than the sample's {other}")
    return findings


def quoted(name: str) -> str:
    """A name or value for findings, which appear in journals and prompts."""
    return f"`{name}`" if len(name) <= MAX_QUOTED_CHARS else f"`{name[:MAX_QUOTED_CHARS]}...` ({len(name)} characters)"
