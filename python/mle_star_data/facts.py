"""What is known of a folder of plain tables: its tables with their columns, which words are values, groups, media."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from . import naming
from .column_kinds import INSPECTED_ROWS, NUMBERS
from .files import ABOUT_THE_TASK, ROLES, likely, usual, walk
from .frames import Column, Source, Table, read
from .packing import members
from .tables import MISSING, Refused, canonical, unless_refused

IMAGES = frozenset(["jpg", "jpeg", "png", "tif", "tiff", "bmp", "gif", "dcm", "webp"])
SOUNDS = frozenset(["wav", "mp3", "ogg", "flac", "m4a", "aif", "aiff", "aifc"])
MAX_CLASSES = 2_000
REFUTING_ROWS = 25_000
"""Training rows whose values can refute that a column groups rows, before all rows are looked at."""
MIN_GROUPS, MIN_TEST_ROWS = 3, 10
"""Fewer groups are too few for folds; with fewer rows, unseen values may be chance."""

SAYS_MISSING = re.compile(
    "missing|unknown|unavailable|not (?:available|known|recorded|measured|provided|given|reported)"
    "|no (?:data|value|answer|information)|absent|blank|empty|unlabelled"
)
"""What says, in the same sentence, that a word stands for a missing value."""


@dataclass
class Folder:
    """The tables of a data folder. Columns of words that are values know them."""

    path: Path
    train: Table
    test: Table | None = None
    sample: Table | None = None
    auxiliary: list[Table] = field(default_factory=list)
    other_files: list[str] = field(default_factory=list)
    text_columns: list[dict[str, Any]] = field(default_factory=list)

    def tables(self) -> Iterator[Table]:
        """Those in which rows are named: the training table, the test table and the sample."""
        yield from (table for table in (self.train, self.test, self.sample) if table is not None)

    def in_test(self, name: str) -> bool:
        return self.test is not None and name in self.test

    def sample_columns(self) -> list[str]:
        return [] if self.sample is None else self.sample.names

    def sample_file(self) -> str:
        """The file of the sample."""
        return self.sample.file if self.sample else ""

    def targets(self, target: str, id_column: str | None) -> list[str]:
        """All columns to predict, if `target` is one: those of the sample that the training table has and the test
        table lacks, beside the ID. Otherwise `target` alone."""
        asked = [name for name in self.sample_columns() if name != id_column]
        found = [name for name in asked if name in self.train and not self.in_test(name)]
        return found if target in found else [target]

    def class_columns(self, target: str, asked: Sequence[str]) -> list[dict[str, Any]] | None:
        """The class that each of these columns of the sample is about, if every class of the training rows has one, and
        there are not too many."""
        column = self.train.column(target) if target in self.train else None
        if column is None or column.distinct > MAX_CLASSES or not 1 < len(column.unique) <= MAX_CLASSES:
            return None
        found = class_places(asked, sorted(column.unique))
        return [{"column": name, "class": one} for name, one in zip(asked, found, strict=True)] if found else None

    @cached_property
    def groups(self) -> list[dict[str, Any]]:
        test = self.test
        shared = [] if test is None else [name for name in self.train.names if name in test]
        return [one for name in shared if test and (one := group(self.train.column(name), test.column(name)))]

    @cached_property
    def media(self) -> dict[str, int]:
        return media(self.path, self.other_files)


def class_places(asked: Sequence[str], classes: Sequence[str]) -> list[str | None] | None:
    """The class that each column is about by its name; None for one that no row has."""
    spelt = {canonical(one): one for one in classes}
    found = naming.by_name(asked, list(spelt))
    return None if found is None else [spelt.get(one) for one in found]


def open_folder(path: Path, only: Sequence[str] | None = None, **known: Any) -> Folder:
    """Reads every table of a folder, or `only` some; of what is `known`, see `TextColumns`."""
    files = [name for name in list_files(path) if only is None or name in only or not name.lower().endswith(".csv")]
    tables = [name for name in files if "/" not in name and name.lower().endswith(".csv")]
    found = _roles(tables)
    if "train" not in found:
        raise Refused(f"no train.csv in {path}", "give the folder that holds train.csv, or the table itself")
    opened = {role: read(path / found[role], found[role]) for role in ROLES if role in found}
    folder = Folder(path, opened["train"], opened.get("test"), opened.get("sample"))
    for name in [name for name in files if name not in found.values()]:
        table = unless_refused(read, path / name, name) if name in tables else None
        folder.auxiliary += [] if table is None else [table]
        folder.other_files += [name] if table is None else []
    # Numbers to predict stay numbers, however long.
    new = {name for name in folder.train.names if folder.test is not None and name not in folder.test}
    asked = folder.sample_columns()
    predicted = {name for name in asked if not folder.in_test(name)} | new
    _use_words(folder, {}, predicted - set(asked[:1] if folder.test is None else ()))
    decided: list[dict[str, Any]] | None = known.pop("text_columns", None)
    if decided is None:
        # Read together: what words are looked for in, and what is predicted.
        train, wanted = folder.train, {*predicted, *asked[:1]}
        train.select([name for name, one in train.facts.items() if one["kind"] not in NUMBERS or name in wanted])
        decided = TextColumns(folder, **known).decide()
    folder.text_columns = decided
    _use_words(folder, {one["column"]: one.get("words", []) for one in folder.text_columns}, None)
    folder.text_columns += _long(folder)
    return folder


EMPTY = Table("train.csv", Source(pl.DataFrame(), pl.LazyFrame(), 0, {}))


def without_tables(path: Path) -> Folder:
    """The sample and the files of a folder whose training table is missing or cannot be read."""
    files = list_files(path)
    sample = files_by_role(path).get("sample")
    table = unless_refused(read, path / sample, sample) if sample else None
    return Folder(path, EMPTY, sample=table, other_files=files)


def files_by_role(path: Path) -> dict[str, str]:
    """The files of the training table, the test table and the sample."""
    return _roles(sorted(name for name in os.listdir(path) if name.lower().endswith(".csv") and name[0] != "."))


def table_of(folder: Path, role: str) -> str:
    """The file of a table of a folder."""
    if found := files_by_role(folder).get(role):
        return found
    raise Refused(f"the data has no {role} table")


def _roles(tables: Sequence[str]) -> dict[str, str]:
    """The files of the training table, the test table and the sample, by their names."""
    found: dict[str, str] = {}
    for name in tables:
        if role := usual(name[:-4]):
            found.setdefault(role, name)
    for role in ROLES:
        others = [(name, likely(name[:-4])) for name in tables if name not in found.values() and not usual(name[:-4])]
        ranks = sorted((rank[1], name) for name, rank in others if rank and rank[0] == role)
        if role not in found and ranks and all(rank > ranks[0][0] for rank, _ in ranks[1:]):
            found[role] = ranks[0][1]
    return found


def _use_words(folder: Folder, words: Mapping[str, Collection[str]], exact: Collection[str] | None) -> None:
    folder.train = folder.train.with_words(words, exact)
    folder.test = folder.test and folder.test.with_words(words, exact)
    folder.sample = folder.sample and folder.sample.with_words(words, exact)


def _long(folder: Folder) -> list[dict[str, Any]]:
    """The columns of other tables whose numbers are too long for a float."""
    known = {one["column"] for one in folder.text_columns}
    found = [one["name"] for table in folder.auxiliary for one in table.facts.values() if one["long"]]
    return [_text_column(name, [], LONG) for name in dict.fromkeys(found) if name not in known]


def list_files(path: Path) -> list[str]:
    """Every file below a data folder, but for hidden ones and those about the task; those of tables first."""
    if not path.is_dir():
        raise Refused(f"no such data folder: {path}", "check the path of the data folder")
    found = [str(file.relative_to(path)) for file in walk(path)]
    if not found:
        raise Refused(f"the data folder {path} is empty", "put train.csv, test.csv and sample_submission.csv into it")
    return sorted(name for name in found if not ABOUT_THE_TASK.fullmatch(name))


def media(path: Path, files: Iterable[str]) -> dict[str, int]:
    """How many images and sounds there are, in archives, too, and how many sounds have an image of their name."""
    found: dict[str, list[str]] = {"images": [], "sounds": []}
    for name in files:
        for member in members(path / name) if name.lower().endswith(".zip") else [name]:
            stem, _, ending = os.path.basename(member).rpartition(".")
            kind = "images" if ending.lower() in IMAGES else "sounds" if ending.lower() in SOUNDS else ""
            if kind and stem:
                found[kind].append(stem)
    images = set(found["images"])
    pictured = sum(stem in images for stem in found["sounds"])
    return {kind: len(stems) for kind, stems in found.items()} | {"pictured": pictured}


LONG = "no float holds its numbers"


def _text_column(column: str, words: Iterable[str], why: str) -> dict[str, Any]:
    return {"column": column, "words": sorted(words), "why": why}


@dataclass(frozen=True)
class TextColumns:
    """Which columns are read as text, and which words that look missing are their values: where the IDs, the sample
    or the description use them as such, or where the file of the training table marks missing cells."""

    folder: Folder
    description: str = ""
    id: str | None = None
    """The ID column, if the user named it."""
    marks_missing: bool = False

    def decide(self) -> list[dict[str, Any]]:
        id_column = self._id_column()
        found = [self._of_ids(id_column)] if id_column else []
        for column in map(self.folder.train.column, self.folder.train.names):
            if column.name != id_column:
                long = _text_column(column.name, [], LONG) if column.facts["long"] else None
                found.append(self._of_values(column) or long)
        return [one for one in found if one]

    def _id_column(self) -> str | None:
        """The given one, the first of the sample that the table to predict has, or one that is called an ID."""
        folder = self.folder
        predicted = {name.strip().lower(): name for name in reversed((folder.test or folder.train).names)}
        for name in (self.id, *folder.sample_columns()[:1]):
            if name is not None and (known := predicted.get(name.strip().lower())):
                return known
        rows = min(folder.train.rows, INSPECTED_ROWS)
        called = (folder.train.column(name) for name in folder.train.names if naming.says_id(name.strip()))
        return next((one.name for one in called if one.distinct + one.missing == rows), None)

    def _of_ids(self, name: str) -> dict[str, Any] | None:
        """The words that name rows. A word that several rows of a table have names none of them."""
        own = [table.column(name) for table in self.folder.tables() if name in table]
        words = {word for column in own for word, rows in _words(column).items() if rows == 1}
        is_text = words or any(column.facts["respelled"] or column.facts["long"] for column in own)
        return _text_column(name, words, "IDs are text unless all are numbers in one notation") if is_text else None

    def _of_values(self, column: Column) -> dict[str, Any] | None:
        """The words that are values of a column of the training table."""
        present = [] if column.kind in NUMBERS else list(_words(column))
        if not present:
            return None
        found, why = set(present), "the file of the training table marks missing cells"
        if not self.marks_missing:
            values = [value for value, _ in column.facts["top_values"]]
            of_sample = self._of_sample(column.name, present, values)
            found = of_sample.union(word for word in present if is_mentioned(self.description, word, values))
            why = f"{self.folder.sample_file()} has it" if of_sample else "the description has it among the values"
        return _text_column(column.name, found, why) if found else None

    def _of_sample(self, name: str, present: list[str], values: list[str]) -> set[str]:
        """Those of these words that the sample uses as values of a column, or as names of classes."""
        sample = self.folder.sample
        if sample is None or name in sample:
            return set() if sample is None else set(present).intersection(_words(sample.column(name)))
        asked = [name for name in sample.names if not self.folder.in_test(name)]
        return {word for word in present if values and class_places(asked, [*values, word])}


def _words(column: Column) -> dict[str, int]:
    """The words that look missing, with the number of their rows."""
    if column.missing == 0 and column.table.rows <= INSPECTED_ROWS and not column.table.words.get(column.name):
        return {}
    text = column.text.str.strip_chars()
    found = text.filter(text.is_in(list(MISSING - {""}))).value_counts()
    return dict(sorted(found.iter_rows()))


def is_mentioned(text: str, word: str, others: Sequence[str]) -> bool:
    """Whether a sentence of a description has a word among `others`, values of the same column, and says nothing of
    missing ones."""
    # Numbers and single letters are everywhere.
    telling = "|".join(re.escape(other) for other in others if sum(letter.isalpha() for letter in other) > 1)
    wanted, known = (re.compile(rf"(?<!\w)(?:{one})(?!\w)") for one in (re.escape(word), telling or "$^"))
    said = [one for one in re.split(r"[.?!;\n]", text) if wanted.search(one) and known.search(one)]
    return any(not SAYS_MISSING.search(one.lower()) for one in said)


def _hardly_any(part: int, whole: int) -> bool:
    return part * 100 <= whole


def group(train: Column, test: Column) -> dict[str, Any] | None:
    """What is known of a column that groups rows: its values repeat in the training table, and hardly any test row has
    one of them. If rows had been drawn at random, values of several training rows would also be in the test table."""
    rows, looked = train.table.rows, min(train.table.rows, INSPECTED_ROWS)
    known = {value for value, _ in train.facts["top_values"]}
    shared = sum(rows for value, rows in test.facts["top_values"] if value in known)
    repeats = MIN_GROUPS <= train.distinct < looked and train.kind in ("integer", "category") and not train.missing
    if not repeats or not _hardly_any(shared, min(test.table.rows, INSPECTED_ROWS)):
        return None
    first = train.inspected.head(REFUTING_ROWS).drop_nulls().unique()
    if not _hardly_any(int(test.values.is_in(first.implode()).sum()), test.table.rows):
        return None
    values, name = test.values.drop_nulls(), train.name
    is_known, counts = values.is_in(train.unique.implode()), train.values.value_counts()["count"]
    is_other = len(values) >= MIN_TEST_ROWS and _hardly_any(int(is_known.sum()), len(values))
    are_groups = len(counts) >= MIN_GROUPS and (counts == 1).sum() * 2 <= rows and not (counts * 2 > rows).any()
    fractions = any(_has_fractions(column.unique) for column in (train, test))
    if not is_other or not are_groups or fractions or train.values.null_count():
        return None
    ordered = _is_ordered(train.unique, values.filter(~is_known))
    return {"column": name, "groups": len(counts), "ordered": ordered} | group_by_name(name, train.kind, ordered)


def group_by_name(name: str, kind: str, ordered: bool) -> dict[str, bool]:
    """Whether values name groups rather than times, which can both be numbers that continue in the test table; and
    whether they are texts, or the column is called like things."""
    says_key = naming.says(name, naming.KEY)
    is_other = naming.says_time(name) or naming.says(name, naming.ROW)
    counts_groups = (says_key and not ordered) if is_other else (says_key or not ordered)
    return {"counts_groups": counts_groups, "is_name": kind == "category" or says_key}


def _has_fractions(values: pl.Series) -> bool:
    dotted = values.filter(values.str.contains(".", literal=True))
    return bool(dotted.cast(pl.Float64, strict=False).is_not_null().any())


def _is_ordered(known: pl.Series, unknown: pl.Series) -> bool:
    """Whether hardly any of the unknown values lies between the first and the last known one, like times or row
    numbers. Texts without digits have no order."""
    orders = _order(pl.concat([known, unknown]))
    order, other = orders[: len(known)], orders[len(known) :]
    first, last = order.min(), order.max()
    between = int(((other > first) & (other < last)).sum())
    return bool(first) and _hardly_any(between, len(unknown))


def _order(values: pl.Series) -> pl.Series:
    """The numbers in a value, which define its order: those of `2024-W05` are 2024 and 5."""
    numbers = values.cast(pl.Int64, strict=False)
    if not numbers.has_nulls():
        return pl.Series(numbers.to_numpy().astype(np.uint64) ^ np.uint64(1 << 63)).cast(pl.String).str.zfill(20)
    return values.str.extract_all("[0-9]+").list.eval(pl.element().str.zfill(20)).list.join(".")


def row_key(table: Table, train: Table) -> list[str]:
    """The columns of a further table that tell its rows apart: those that the training table has, too, perhaps with one
    more that it has in a role, such as `home_team` for `team`."""
    nameable = [one for one in table.facts.values() if one["kind"] not in ("number", "text")]
    known = [one for one in train.facts.values() if one["kind"] not in ("number", "text")]
    same = [one["name"] for one in nameable if one["name"] in {other["name"] for other in known}]
    wider = [one["name"] for one in nameable if one["name"] not in same and _is_in_role(one, table, known)]
    tried = [same, *([*same, name] for name in wider[:4])]
    return next((key for key in tried if key and table.select(key).n_unique() == table.rows), [])


def _is_in_role(one: Mapping[str, Any], table: Table, known: Sequence[Mapping[str, Any]]) -> bool:
    said = naming.plain(one["name"])
    names_something = naming.says(one["name"], naming.CODE) or one["kind"] == "category"
    repeats = one["distinct"] < min(table.rows, INSPECTED_ROWS)
    has_role = any(naming.says_role(other["name"], of) for other in known for of in (f"{said}id", said))
    return names_something and repeats and has_role
