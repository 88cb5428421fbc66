"""A table of text, as it is read from a file of any format, and how its numbers are written."""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from .number_notation import Notation
from .tables import Refused, shown

BLANKS = " \t\n\x0b\x0c\r"
HEADER = "the first row must name the columns"


@dataclass
class Table:
    """A table whose columns are text."""

    frame: pl.DataFrame
    notes: list[str] = field(default_factory=list)
    """What is unusual about the file, was translated or left out, a sentence each."""
    is_plain: bool = False
    """Whether the file is what scripts read: comma-separated UTF-8 of which nothing is translated or left out."""
    delimiter: str = ","
    may_have_marks: bool = True
    """Whether numbers may have other marks than a decimal point."""
    format: str = "text"
    notation: Notation = field(default_factory=Notation)

    @property
    def names(self) -> list[str]:
        return self.frame.columns


def without_empty_ends(frame: pl.DataFrame, names: list[str], notes: list[str]) -> Table:
    """Leaves out columns without name and content, and rows without content, at the end."""
    width = len(names)
    while width and not names[width - 1].strip(BLANKS) and is_blank(frame.to_series(width - 1)):
        width -= 1
    check_names(names[:width])
    kept, rows = frame if width == frame.width else frame.select(frame.columns[:width]), frame.height
    if rows and not any((cell or "").strip(BLANKS) for cell in kept.row(rows - 1)):
        filled = kept.select(pl.any_horizontal(pl.all().str.strip_chars(BLANKS) != "").arg_true().last()).item()
        rows = 0 if filled is None else filled + 1
    empty = [(len(names) - width, "column"), (frame.height - rows, "row")]
    if words := [f"{count} empty {what}{'' if count == 1 else 's'}" for count, what in empty if count]:
        notes.append(f"{' and '.join(words)} at the end left out")
    kept.columns = names[:width]
    return Table(kept.head(rows), notes, is_plain=not notes)


def is_blank(cells: pl.Series) -> bool:
    return not (cells.str.strip_chars(BLANKS) != "").any()


def check_names(names: list[str]) -> None:
    places: dict[str, int] = {}
    for at, name in enumerate(names, 1):
        if (first := places.setdefault(name, at)) != at:
            what = f"are both called {shown(name)}" if name else "have no name"
            raise Refused(f"columns {first} and {at} {what}", f"rename one of them; {HEADER}")


def times(cells: pl.Series) -> pl.Series:
    """Times as text, without a fraction of zeros; dates where all are midnight."""
    cells = cells if (cells.str.contains(r"\.[0-9]*[1-9]")).any() else cells.str.replace(r"\.0+", "")
    is_date = cells.len() > cells.null_count() and cells.str.contains("^[-0-9]+ 00:00:00$").all()
    return cells.str.replace(" 00:00:00$", "") if is_date else cells
