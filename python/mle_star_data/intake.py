"""Makes plain tables of whatever people give.

Scripts see one form of data: a folder with comma-separated UTF-8 tables. Where a folder is not that already, one is
written: other formats become CSV, columns that only differ in case or blanks get one name, a column that counts rows
goes, an ID that is made of several columns becomes a column. Nothing is written into the user's folder, and plain files
are linked, not copied.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path
from typing import Any

import polars as pl

from . import formats, new_rows
from .aliases import Answer
from .files import ROLES, TableFile, find, link
from .naming import listed
from .tables import Refused
from .text_table import Ambiguous, Notation, Numbers, Table, is_blank, key

FURTHER = 256 << 20
"""The largest file beside the tables with a role that becomes CSV, in bytes. Scripts read larger ones as they are."""
MAX_PARTS, LONGEST, TRIED = 40, 3, 50
"""Columns that are tried as parts of an ID, the longest text between two, and the rows that are tried before all."""
NOTATION = "write numbers with a decimal point and without marks between thousands, and labels with blanks between them"


@dataclass
class InputTable:
    """A table with a role, and its columns as scripts see them."""

    found: TableFile
    path: Path
    given: list[str]
    """The names of the columns in the file."""
    table: Table | None = None
    """The table, if it was read: a plain file need not be."""
    damaged: Refused | None = None
    """Why it cannot be read. Agents that explore the data by themselves may still use it."""
    is_changed: bool = False
    """Whether columns were renamed, added or left out, or the file is not what scripts read."""
    names: dict[str, str] = field(default_factory=dict)
    """The name for scripts of each column that is kept, by its name in the file."""
    index: tuple[str, pl.Series] | None = None
    """An unnamed first column of row numbers, which was left out."""

    def __post_init__(self) -> None:
        self.names = {name: name for name in self.given}
        self.is_changed = self.table is not None and not self.table.is_plain

    @property
    def is_other_file(self) -> bool:
        """Whether scripts see another file than the user's."""
        return self.is_changed or self.found.file != self.found.plain

    def all(self) -> list[str]:
        return list(self.names.values())

    def find(self, name: str) -> str | None:
        """The column with this name, compared without case and blanks around it."""
        return _alike(self.all(), name)

    def read(self) -> Table:
        if self.table is None:
            self.table = _read(self.path, self.found.file)
        return self.table

    def plain(self) -> pl.DataFrame:
        return self.read().frame.select(list(self.names)).rename(self.names)

    def add(self, name: str, cells: pl.Series) -> None:
        """Puts a column before the others."""
        self.read().frame.insert_column(0, cells.alias(name))
        self.names, self.is_changed = {name: name} | self.names, True

    def numbers(self) -> list[Numbers]:
        return self.table.notation.numbers if self.table else []


class InputData:
    """What a folder or a table file holds, and what has to change."""

    def __init__(self, data: Path, sheet: str | None, asked_id: str | None) -> None:
        self.files, self.sheet = find(data), sheet
        self.tables: dict[str, InputTable] = {}
        self.notes: list[str] = []
        self.id_unknown: Refused | None = None
        for role in ROLES:
            if found := self.files.roles.get(role):
                self.tables[role] = self._input_table(found)
        self.further = list(self._other_tables())
        changed = [(one.found, one.table) for one in self.tables.values() if one.is_other_file]
        for found, table in [*changed, *self.further]:
            self.notes += [f"{found.file} is read as {found.plain}"] * found.is_renamed
            self.notes += [f"{found.file}: {note}" for note in (table.notes if table else [])]
        for one in self.tables.values():
            for column in one.table.notation.ambiguous if one.table else ():
                raise ambiguous(one.found.file, column)
        self._drop_indices()
        self._spell_alike()
        if (sample := self.tables.get("sample")) and (test := self.tables.get("test")):
            _find_ids(self, sample, test, asked_id)

    def _input_table(self, found: TableFile) -> InputTable:
        path, train = self.files.folder / found.file, self.tables.get("train")
        try:
            is_csv = found.file.lower().endswith(".csv")
            names = _named(found.file, lambda: formats.plain_names(path)) if is_csv else None
            if names is not None:
                return InputTable(found, path, names)
            table = _read(path, found.file, self.sheet, train.table.notation if train and train.table else None)
            return InputTable(found, path, table.frame.columns, table)
        except Refused as refused:
            if not found.is_plain_by_name:
                raise
            return InputTable(found, path, _named(found.file, lambda: formats.header(path)), damaged=refused)

    def _other_tables(self) -> Iterator[tuple[TableFile, Table]]:
        """The tables without a role that are not plain and can become so."""
        for found in self.files.others:
            path = self.files.folder / found.file
            with suppress(Refused, OSError):
                if found.is_rare or path.stat().st_size > FURTHER:
                    continue
                if found.is_plain_by_name and formats.plain_names(path) is not None:
                    continue
                table = _read(path, found.file, self.sheet)
                if not (found.file == found.plain and table.is_plain):
                    yield found, table

    def _drop_indices(self) -> None:
        """Leaves out an unnamed first column of whole numbers, no two of them equal."""
        dropped = []
        for one in self.tables.values():
            if len(one.given) < 2 or one.given[0].strip() not in ("", "Unnamed: 0") or one.damaged:
                continue
            numbers = one.read().frame.to_series(0).str.strip_chars().cast(pl.UInt64, strict=False)
            if numbers.len() and not numbers.null_count() and numbers.is_unique().all():
                del one.names[one.given[0]]
                one.index, one.is_changed = (one.given[0], numbers), True
                dropped.append(one.found.file)
        if dropped:
            self.notes.append(f"the unnamed first column of {', '.join(dropped)} numbers the rows; it is no feature")

    def _spell_alike(self) -> None:
        """Names that differ only in case and blanks become those of the training table, or else of the test table."""
        tables = list(self.tables.values())
        for at, one in enumerate(tables):
            for other in tables[:at]:
                alike, own = _by_key(other.all()), _by_key(one.all())
                renamed = {name: alike[key(name)] for name in own.values() if alike.get(key(name), name) != name}
                if renamed:
                    one.names = {given: renamed.get(name, name) for given, name in one.names.items()}
                    one.is_changed = True
                    are = "is" if len(renamed) == 1 else "are"
                    old, new = listed(renamed), listed(renamed.values())
                    self.notes.append(f"{old} of {one.found.file} {are} {new} of {other.found.file}")

    def leave_out(self, targets: Sequence[str]) -> None:
        """Leaves out the columns of the test table that are to be predicted."""
        for target in targets:
            test = self.tables.get("test")
            if test is None or (name := test.find(target)) is None:
                continue
            is_empty = is_blank(test.plain()[name])
            test.names = {given: one for given, one in test.names.items() if one != name}
            test.is_changed = True
            what = f"the target `{name}`: the column is left out, and no script sees its values"
            what = f"the empty column `{name}`, which is to be predicted" if is_empty else what
            self.notes.append(f"{test.found.file} has {what}")

    def may_have_target(self) -> bool:
        """Whether the test table may have a column to predict: it has one of the sample submission beside its first
        column, or all of the training table."""
        train, test, sample = (self.tables.get(role) for role in ("train", "test", "sample"))
        if test is None:
            return False
        of_sample = sample is not None and any(test.find(name) for name in sample.all()[1:])
        return of_sample or (train is not None and all(test.find(name) for name in train.all()))

    def submission(self) -> Answer | None:
        """How a submission is written as the user's sample has it; `None` if it is the file that a script wrote."""
        sample = self.tables.get("sample")
        if sample is None:
            return None
        commas = {one.name for one in sample.numbers() if one.is_translated and one.decimal == ","}
        index = None
        if sample.index and (start := _counts_from(sample.index[1])) is not None:
            index = [sample.index[0], start]
        fields = [{"name": name, "given": given, "has_comma": given in commas} for given, name in sample.names.items()]
        differs = index or any(one["name"] != one["given"] or one["has_comma"] for one in fields)
        return {"index": index, "columns": fields} if differs else None

    def reading(self) -> Answer:
        """How later files with rows to predict are read."""
        numbers = self.tables["train"].numbers() if "train" in self.tables else []
        # Numbers that need no translation say nothing of other files.
        numbers = numbers if any(one.is_translated for one in numbers) else []
        commas, points = ([one.name for one in numbers if one.decimal == decimal] for decimal in ",.")
        return {"sheet": self.sheet, "commas": commas, "points": points}

    def answer(self) -> Answer:
        tables, files = self.tables, self.files
        train = tables.get("train")
        is_other = any(one.is_other_file for one in tables.values())
        every = [one.found for one in tables.values()] + [found for found, _ in self.further]
        return {
            "is_plain": files.is_folder and not self.further and not is_other,
            "is_single": list(tables) == ["train"],
            "lacks_sample": set(tables) == {"train", "test"},
            "may_have_target": self.may_have_target(),
            "marks_missing": bool(train and train.table and train.table.format in ("parquet", "arrow")),
            "name": train.found.file if train else "train.csv",
            "instead": [[found.plain, found.file] for found in every if found.is_renamed],
            "told": self.notes,
            "submission": self.submission(),
            "reading": self.reading(),
            "id_unknown": _as_answer(self.id_unknown),
            "damaged": _as_answer(next((one.damaged for one in tables.values() if one.damaged), None)),
        }

    def write(self, into: Path) -> None:
        """Writes the plain tables into an empty folder, and links everything else."""
        files, written = self.files, [one.found for one in self.tables.values() if one.is_other_file]
        written += [found for found, _ in self.further]
        try:
            if files.is_folder:
                link(files.folder, into, [*(found.file.split("/")[0] for found in written), *files.copies])
            for one in self.tables.values():
                if one.is_changed:
                    _write(one.plain(), into / one.found.plain)
                elif one.is_other_file or not files.is_folder:
                    (into / one.found.plain).symlink_to(one.path.resolve())
            for found, table in self.further:
                _write(table.frame, into / found.plain)
        except OSError as error:
            hint = "check that the disk is not full and that the data did not change"
            raise Refused(f"cannot write in {into.name}: {error.strerror}", hint) from None


def take_in(
    data: str,
    sheet: str | None = None,
    id: str | None = None,
    into: str | None = None,
    leave_out: Sequence[str] = (),
) -> Answer:
    """What a data folder or a table file holds. If it is not plain, plain tables are written to the new folder
    `into`."""
    found = InputData(Path(data), sheet, id)
    found.leave_out(leave_out)
    answer = found.answer()
    if into is not None and not answer["is_plain"]:
        Path(into).mkdir(exist_ok=True)
        found.write(Path(into))
    return answer


def read_rows(
    file: str, reading: Answer, layout: Answer, names: str, into: str, spellings: Answer | None = None
) -> Answer:
    """Writes the columns of the test table of a table in any format as plain CSV, with cells as the run's tables spell
    them. The answer has the names of the rows: their own, or their numbers, from 0; and what is odd about the cells."""
    path, id = Path(file), layout["id"]
    known = [(",", name) for name in reading["commas"]] + [(".", name) for name in reading["points"]]
    like = Notation([Numbers(name, decimal) for decimal, name in known])
    table = _read(path, path.name, reading["sheet"], like)
    given = {name: _alike(table.frame.columns, name) for name in [*layout["columns"], *([id] if id else [])]}
    if lacking := [name for name, one in given.items() if one is None and name != id]:
        others = ", ".join(name for name in layout["columns"] if name != id)
        raise Refused(f'{path.name} has no column "{lacking[0]}"', f"the run predicts rows with the columns {others}")
    for column in table.notation.ambiguous:
        # A point stays a decimal point, as in plain tables, and lists of labels stay texts.
        if column.name in given.values() and "," in column.example and not column.may_be_lists:
            raise ambiguous(path.name, column)
    own = given.get(id)
    named = pl.int_range(table.frame.height, eager=True).cast(pl.String)
    if own is not None and names != "numbers":
        named = table.frame[own].fill_null("")
    cells = [
        (named if (one := given[name]) in (None, own) else table.frame[str(one)]).alias(name)
        for name in layout["columns"]
    ]
    frame, notes = new_rows.match_spelling(pl.DataFrame(cells), spellings or {})
    _write(frame, Path(into))
    return {"names": named.to_list(), "notes": notes}


def ambiguous(file: str, column: Ambiguous) -> Refused:
    return Refused(f"`{column.name}` of {file} can be read in two ways: {column.readings()}", NOTATION)


def _named(file: str, read: Callable[[], Any]) -> Any:
    """What is read of a file. A refusal begins with its name."""
    try:
        return read()
    except Refused as refused:
        raise Refused(f"{file}: {refused}", refused.hint) from None


def _read(path: Path, file: str, sheet: str | None = None, like: Notation | None = None) -> Table:
    table: Table = _named(file, lambda: formats.read(path, sheet, like))
    return table


def _write(frame: pl.DataFrame, into: Path) -> None:
    # What stands there may be a link to the user's file.
    into.unlink(missing_ok=True)
    # A line without cells is no row.
    (frame.fill_null("") if frame.width == 1 else frame).write_csv(into)


def _as_answer(refused: Refused | None) -> Answer | None:
    return None if refused is None else {"message": str(refused), "hint": refused.hint or ""}


def _alike(names: Sequence[str], name: str) -> str | None:
    """The column with this name or, without one, the only one but for case and blanks around it."""
    alike = [other for other in names if key(other) == key(name)]
    return name if name in alike else alike[0] if len(alike) == 1 else None


def _by_key(names: Sequence[str]) -> dict[str, str]:
    counts = Counter(map(key, names))
    return {key(name): name for name in names if counts[key(name)] == 1}


def _counts_from(numbers: pl.Series) -> int | None:
    """The first number, if the others go on from it one by one."""
    first = int(numbers[0])
    return first if (numbers == pl.int_range(first, first + numbers.len(), eager=True)).all() else None


def _find_ids(data: InputData, sample: InputTable, test: InputTable, asked: str | None) -> None:
    """Finds the row IDs of the sample submission in the test table: in a column, or in two columns together, which get
    a column with them."""
    if len(sample.names) < 2:
        return
    name = (sample.find(asked) if asked else None) or sample.all()[0]
    if of_test := test.find(name) or (test.find(asked) if asked else None):
        _check_shown(data, sample, test, name, of_test)
        return
    train, ids = data.tables.get("train"), sample.plain()[name].fill_null("")
    if not ids.len():
        return
    if joined := _joined(test.plain().select(list(test.names.values())[:MAX_PARTS]), ids):
        parts, between = joined
        for table in (test, train):
            if table is not None and set(parts) <= set(table.names.values()):
                table.add(name, _join(table.plain(), parts, between))
        by = f", joined by `{between}`" if between else ""
        data.notes.append(f"the ID `{name}`, such as `{ids[0]}`, is made of `{parts[0]}` and `{parts[1]}`{by}")
    elif train is None or train.find(name) is None:
        lacks = f"{test.found.file} has no such column, and no columns that make it together"
        message = f"`{name}` of {sample.found.file} names rows, such as `{ids[0]}`, but {lacks}"
        data.id_unknown = Refused(message, "give the ID of both tables the same name, or name it with --id-column")


def _check_shown(data: InputData, sample: InputTable, test: InputTable, name: str, of_test: str) -> None:
    """Tells apart the IDs that a workbook shows as 0000221 and holds as 221."""
    if test.table is None or test.table.format == "text" or sample.find(name) is None:
        return
    shown, held = sample.plain()[name], test.plain()[of_test]
    other = shown.filter(~shown.is_in(held.unique().implode()))
    if other.len() and shown.str.replace("^0+([0-9])", "$1").is_in(held.unique().implode()).all():
        short = other.str.replace("^0+([0-9])", "$1")[0]
        message = f"`{name}` of {sample.found.file} has {other[0]} where {test.found.file} has {short}"
        hint = "a workbook may show zeros that its cells do not hold: format the column as text and write the zeros"
        data.id_unknown = Refused(message, hint)


def _join(frame: pl.DataFrame, parts: Sequence[str], between: str) -> pl.Series:
    return frame.select(pl.concat_str([pl.col(part).fill_null("") for part in parts], separator=between)).to_series()


def _joined(frame: pl.DataFrame, ids: pl.Series) -> tuple[tuple[str, str], str] | None:
    """The two columns that make the IDs together, and the text between them."""
    wanted = ids.unique()
    cells = frame.fill_null("").row(0) if frame.height else ()
    for (one, begin), (last, end) in permutations(zip(frame.columns, cells, strict=False), 2):
        # Texts with a letter or digit between the cells are IDs of other rows.
        middle = wanted.str.extract(f"^{re.escape(begin)}([^\\pL\\pN]{{0,{LONGEST}}}){re.escape(end)}$").drop_nulls()
        for between in middle.unique(maintain_order=True) if begin and end else ():
            if _join(frame.head(TRIED), (one, last), between).is_in(wanted.implode()).all():
                made = _join(frame, (one, last), between)
                if made.n_unique() == made.len() == wanted.len() and made.is_in(wanted.implode()).all():
                    return (one, last), between
    return None
