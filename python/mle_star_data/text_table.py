"""A table of text, as it is read from a file of any format, and its numbers as people write them: with a decimal comma,
with marks between thousands, with a currency."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import polars as pl

from .tables import Refused, shown

BLANKS = " \t\n\x0b\x0c\r"
HEADER = "the first row must name the columns"
GROUP_MARKS = " \u00a0\u202f\u2009'\u2019"
"""The marks that may stand between groups of three digits, besides point and comma."""
MISSING = [
    *("", "na", "n/a", "#n/a", "nan", "-nan", "null", "none", "nil", "missing", "-", "--", "?", "."),
    *("inf", "-inf", "infinity", "-infinity"),
]
"""Words for missing numbers, in lower case."""
SIGNS = "$€£%\u2212"
AFFIX = "^([-+\u2212]?) ?[$€£]? ?([-+\u2212]?)([0-9.,].*?) ?%?$"
"""A number with a currency, `%` or the minus sign U+2212."""
MARK = rf"[0-9][.,{GROUP_MARKS}][0-9]|[.,][0-9]|[0-9][.,]|[{SIGNS}] ?[0-9]|[0-9] ?%"
LIKE_NUMBERS = rf"^\s*[-+{SIGNS} ]*[0-9.,][-0-9.,eE+{GROUP_MARKS}]*[{SIGNS} ]*\s*$"
RARE = [*b"\"$%' ", 0xC2, 0xE2]
"""Bytes of which a comma-separated text has one if a number of it has another mark than a point."""
TRIED_ROWS = 1000
"""The rows from which it is seen that a column holds texts."""
MIN_MARKED_CELLS = 5
"""The fewest cells with a mark that make a column a possible list of labels."""


@dataclass(frozen=True)
class Numbers:
    """A column whose numbers have marks, and how they are read."""

    name: str
    decimal: str | None
    thousands: str | None = None
    signs: str = ""
    example: str = ""

    @property
    def is_translated(self) -> bool:
        return self.decimal == "," or self.thousands is not None or bool(self.signs)

    def note(self) -> str:
        """What is said of a column that is translated."""
        words = [f"`{self.thousands}` between thousands"] if self.thousands else []
        words += ["decimal comma"] if self.decimal == "," else []
        words += [f"`{sign}`" if sign != "\u2212" else "the minus sign U+2212" for sign in self.signs]
        return f"the numbers of `{self.name}` have {' and '.join(words)}: {self.example}"


@dataclass
class Notation:
    """How a table writes its numbers."""

    numbers: list[Numbers] = field(default_factory=list)
    ambiguous: list[Ambiguous] = field(default_factory=list)


@dataclass(frozen=True)
class Ambiguous:
    """A column whose numbers can be read in two ways, such as `1,234`. Its cells stay as they are."""

    name: str
    example: str
    may_be_lists: bool
    fits_comma: bool

    def readings(self) -> str:
        plain = re.sub("[,.]", "", self.example)
        as_decimal = self.example.replace(",", ".") if self.fits_comma or "," not in self.example else plain
        labels = f"the labels {self.example.replace(',', ' and ')}"
        return f"{self.example} is {as_decimal} or {labels if self.may_be_lists else plain}"


def key(name: str) -> str:
    """A name without case and blanks around it."""
    return name.strip().lower()


class Tally:
    """What the cells of a column have in common, all of which are numbers."""

    def __init__(self, numbers: pl.Series, marked: pl.Series, signs: str, example: str) -> None:
        self.marked, self.signs, self.numbers, self.example = marked, signs, numbers, example
        self.has_point, self.has_comma = _any(marked, r"\."), _any(marked, ",")
        self.blanks = [blank for blank in GROUP_MARKS if _any(marked, blank)]
        self.fits = {decimal: self._fits(decimal) for decimal in ".,"}

    def thousands(self, decimal: str) -> str | None:
        other, has_other = (",", self.has_comma) if decimal == "." else (".", self.has_point)
        return self.blanks[0] if self.blanks else other if has_other else None

    def certain(self) -> str | None:
        """The decimal mark, if only one fits and the column shows it."""
        fits = [decimal for decimal in ".," if self.fits[decimal]]
        return fits[0] if len(fits) == 1 and (self.has_point or self.has_comma) else None

    def is_usual(self) -> bool:
        return self.certain() == "." and not (self.has_comma or self.blanks or self.signs)

    def may_be_lists(self) -> bool:
        """Whether the cells with marks may as well be two labels each, such as `2,7`."""
        are_pairs = _all_match(self.marked, r"^(0|[1-9][0-9]{0,17}),(0|[1-9][0-9]{0,17})$")
        if len(self.marked) < MIN_MARKED_CELLS or self.fits["."] or not are_pairs:
            return False
        first, second = (self.marked.str.replace(cut, "").cast(pl.Int64) for cut in (",.*", ".*,"))
        return bool((first < second).all()) and first.n_unique() > 1

    def _fits(self, decimal: str) -> bool:
        between = self.blanks[0] if self.blanks else "," if decimal == "." else "."
        return len(self.blanks) < 2 and _all_match(self.numbers, _number(decimal, between))


def _number(decimal: str, between: str) -> str:
    """The pattern of numbers with this decimal mark, and this mark between thousands."""
    point, mark = f"[{decimal}]", f"[{between}]"
    groups = rf"[1-9][0-9]{{0,2}}({mark}[0-9]{{3}})+"
    plain = rf"((0|[1-9][0-9]*)({point}[0-9]*)?|{point}[0-9]+)([eE][-+]?[0-9]{{1,3}})?"
    return rf"^[-+]?(({groups})({point}[0-9]*)?|{plain})$"


def _any(cells: pl.Series, pattern: str) -> bool:
    return bool(cells.str.contains(pattern).any())


def _all_match(cells: pl.Series, pattern: str) -> bool:
    return bool(cells.str.contains(pattern).all())


def tally(cells: pl.Series) -> Tally | None:
    """What the cells of a column have in common; `None` if one of them is no number, or none has a mark."""
    if cells.len() > TRIED_ROWS:
        # Columns of text, and of numbers with a decimal point, are known by their first rows.
        first = tally(cells.head(TRIED_ROWS))
        if (first and first.is_usual()) or not _are_numbers(cells.head(TRIED_ROWS)):
            return first
    if not _any(cells, MARK) or not _are_numbers(cells):
        return None
    numbers = cells.drop_nulls().str.strip_chars()
    numbers = numbers.filter(numbers.str.contains("[0-9]"))
    signs = "".join(sign for sign in SIGNS if numbers.str.contains(sign, literal=True).any())
    marked = numbers.filter(numbers.str.contains(MARK))
    example = str(marked.first())
    if signs:
        example = str(numbers.filter(numbers.str.contains(f"[{SIGNS}]")).first())
        numbers, marked = unsigned(numbers), unsigned(marked)
    found = Tally(numbers, marked, signs, example)
    return found if any(found.fits.values()) else None


def unsigned(numbers: pl.Series) -> pl.Series:
    """Numbers without currency and `%`, with the sign `-`."""
    return numbers.str.replace(AFFIX, "$1$2$3").str.replace("\u2212", "-", literal=True)


def _are_numbers(cells: pl.Series) -> bool:
    """Whether cells begin and end like numbers, or are words for missing ones."""
    others = cells.filter(~cells.str.contains(LIKE_NUMBERS)).unique()
    return others.len() <= 2 * len(MISSING) and bool(others.str.strip_chars().str.to_lowercase().is_in(MISSING).all())


def decide(frame: pl.DataFrame, delimiter: str, like: Notation | None) -> Notation:
    """Decides how the numbers of all columns are read. A column alone decides where only one decimal mark fits all of
    its cells. Where both fit (`1,234`), these decide, in this order: the same column of a table `like` this one, the
    other columns, those of `like`, the delimiter. What may be lists of labels (`2,7`) is text where other columns have
    decimal points, numbers where they have decimal commas."""
    marked = frame.select(pl.all().str.contains(MARK).any()).row(0) if frame.height else ()
    tallies = {
        name: one
        for name, is_marked in zip(frame.columns, marked, strict=False)
        if is_marked and (one := tally(frame[name]))
    }
    lists = {name for name, one in tallies.items() if delimiter != ";" and one.may_be_lists()}
    known = {key(one.name): one.decimal for one in (like.numbers if like else []) if one.decimal}
    seen = {one.certain() for name, one in tallies.items() if name not in lists} - {None} or set(known.values())
    found = Notation()
    for name, one in tallies.items():
        is_list, of_name = name in lists and "," not in seen, known.get(key(name), "")
        decimal = one.certain() or (of_name if one.fits.get(of_name) else _others_mark(one, seen, delimiter))
        shows = one.has_point or one.has_comma
        if is_list and "." in seen:
            continue
        if is_list or (decimal is None and shows):
            found.ambiguous.append(Ambiguous(name, one.example, name in lists, one.fits[","]))
            continue
        thousands = one.thousands(decimal or ".")
        found.numbers.append(Numbers(name, decimal if shows else None, thousands, one.signs, one.example))
    return found


def _others_mark(one: Tally, seen: set[str | None], delimiter: str) -> str | None:
    """The decimal mark that all other columns have. In a file that has both, a point stays a decimal point. Where none
    has one, programs separate cells by semicolons where the comma is the decimal mark, and by commas where it is
    not."""
    if len(seen) == 1:
        return next(iter(seen))
    if seen:
        return None if one.has_comma else "."
    if one.has_comma:
        return {";": ",", ",": "."}.get(delimiter)
    return None if delimiter == ";" else "."


def translated(cells: pl.Series, how: Numbers) -> pl.Series:
    """Cells as numbers with a decimal point and without further marks. Words for missing numbers stay as they are."""
    made = cells.str.strip_chars()
    if how.signs:
        made = unsigned(made)
    if how.thousands:
        made = made.str.replace_all(how.thousands, "", literal=True)
    if how.decimal == ",":
        made = made.str.replace(",", ".", literal=True)
    return made.zip_with(cells.str.contains("[0-9]"), cells)


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

    def in_one_notation(self, like: Notation | None = None) -> Table:
        """The table with numbers that have a decimal point and no other mark, in columns where all cells agree."""
        if not self.may_have_marks:
            return self
        self.notation = decide(self.frame, self.delimiter, like)
        for how in self.notation.numbers:
            if how.is_translated:
                self.frame = self.frame.with_columns(translated(self.frame[how.name], how))
                self.notes.append(how.note())
                self.is_plain = False
        self.is_plain &= not self.notation.ambiguous
        return self


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
