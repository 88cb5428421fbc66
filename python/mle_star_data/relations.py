"""What relates the columns of the training table: those from which the target follows, those that name series of rows
at different times, and how the target differs between the levels of a category and the fifths of a number, with
standard errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from . import facts, intervals, links, split
from .aliases import Facts, Numbers
from .column_kinds import INSPECTED_ROWS, NUMBERS
from .facts import Folder
from .frames import Column, Source, Table
from .tables import Refused

Codes = NDArray[np.int64]

DETERMINED_IN, MIN_ROWS, MIN_VALUES, ROWS_OF_CLASS = 20_000, 50, 12, 20
"""The first rows in which the target has to follow, and the fewest; the fewest different numbers that can be sorted
without chance; the rows of a class on average."""
UNLIKELY = 20.0
"""A column is named if it would determine the target by chance less often than once in `e` to the power of this."""
RARE, LEVELS, PARTS = 10, 12, 5
"""A level with fewer rows is one of the rare ones. Whole numbers with at most so many values are levels; others are cut
into so many parts with as many rows."""


def relations(folder: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    """The links of the further tables with their cutoffs, and what relates columns; see `open_data`."""
    data = open_data(folder, facts)
    target, id = data.target, data.facts.get("id")
    found = links.find(data.folder, target, id)
    but = [*data.targets, *([id] if id else [])]
    time = data.later_in if data.later_in in data.folder.train.facts else None
    roles = data.facts.get("roles", {})
    # No model may use them.
    left_out = {*(roles.get("ignored") or ()), roles.get("weight"), data.split.get("groups")}
    used = [link for link in found if not left_out.intersection(link.columns)]
    by = data.split.get("series") or (split.series(data.tables, time, {*but, *left_out}.__contains__) if time else [])
    return {
        "links": [
            asdict(link) | {"cutoffs": [asdict(one) for one in links.cutoffs(data.folder, used, link, time, left_out)]}
            for link in found
        ],
        "determinants": determinants(data.folder.train, target, but) if target else [],
        "series": by,
        "test_groups": _test_groups(data),
    }


def _test_groups(data: Data) -> dict[str, dict[str, float]]:
    """The rows of the test table in groups, by each column that may name groups: as many groups of equal size would be
    as certain."""
    test, split = data.folder.test, data.split
    wanted = dict.fromkeys([split.get("column"), split.get("groups"), *(split.get("series") or [])])
    counts = {name: test.column(name).text.value_counts()["count"] for name in wanted if test and name in test}
    return {name: intervals.effective_groups(rows.to_numpy()) for name, rows in counts.items()}


@dataclass(frozen=True)
class Data:
    """A folder of plain tables, and what is known of it: the answer of `inspect`, with the `split` that a plan found
    and the `period` of the rows to predict, which are the test table of this folder."""

    folder: Folder
    facts: Mapping[str, Any]

    @property
    def target(self) -> str | None:
        return next(iter(self.facts["targets"]), None)

    @property
    def targets(self) -> list[str]:
        return [] if self.target is None else self.folder.targets(self.target, self.facts.get("id"))

    @cached_property
    def tables(self) -> split.Tables:
        """The training table and the test table, as those who look for times read them."""

        test = self.folder.test
        return split.Tables(self.folder.path, self.folder.train, test, None, split.Roles(), self.folder.groups)

    @property
    def split(self) -> Mapping[str, Any]:
        return self.facts.get("split") or {}

    def role(self, name: str) -> str:
        """What part in the task a column that is no target has; `feature` for none."""
        roles, split = self.facts.get("roles", {}), self.split
        if name == self.facts.get("id"):
            return "id"
        for role in ("weight", "group", "time"):
            if name == roles.get(role):
                return role
        if name in (roles.get("ignored") or ()):
            return "ignored"
        if name == split.get("column") and split.get("kind") in ("time", "groups"):
            return "later" if split["kind"] == "time" else "others"
        return "others" if any(group["column"] == name for group in self.folder.groups) else "feature"

    @property
    def dependent(self) -> str | None:
        """The column of groups or times by which rows may depend on each other."""
        of_kind = self.split.get("column") if self.split.get("kind") in ("time", "groups") else None
        return self.split.get("groups") or of_kind

    @cached_property
    def series(self) -> list[str]:
        """The columns that name series of rows at different times, if the rows to predict are later."""
        time = self.later_in
        if time is None or time not in self.folder.train:
            return []
        return split.series(self.tables, time, {*self.targets, self.facts.get("id")}.__contains__)

    @property
    def later_in(self) -> str | None:
        """The column by which the rows to predict are later, if they are."""
        return self.split.get("column") if self.split.get("kind") == "time" else None


def open_data(folder: str, facts: Mapping[str, Any]) -> Data:
    """The data of a question. What is known of a table holds for one with as many rows, and for one of which it is
    known from a part; else held-out rows that a folder for scripts has in its test table are seen there."""
    tables = {role: facts[role] for role in ("train", "test", "sample") if facts.get(role)}
    if "train" not in tables:
        raise Refused("there is no training table")
    words = [(one["column"], tuple(one.get("words", ())), one["why"]) for one in facts.get("text_columns", ())]
    known = {one["file"]: one for one in [*tables.values(), *facts.get("auxiliary", ())]}
    # The program's own file of folds is none of the data.
    data = Data(_open(folder, tuple(words), (*known, *facts.get("other_files", ()))), facts)
    for table in [*data.folder.tables(), *data.folder.auxiliary]:
        one = known.get(table.file)
        is_same = one is not None and (one["rows"] == table.rows or min(one["rows"], table.rows) > INSPECTED_ROWS)
        if one and is_same and [column["name"] for column in one["columns"]] == table.names:
            table.facts = {column["name"]: column for column in one["columns"]}
    return data


@lru_cache(maxsize=1)
def _open(folder: str, words: tuple[tuple[str, tuple[str, ...], str], ...], tables: tuple[str, ...]) -> Folder:
    decided = [{"column": column, "words": list(found), "why": why} for column, found, why in words]
    return facts.open_folder(Path(folder), tables, text_columns=decided)


# Columns from which the target follows


def determinants(train: Table, target: str, but: Sequence[str]) -> list[str]:
    """The columns from which the target follows in all of the first rows: equal values have equal targets, or the
    values sort the targets. Such a column may be made from the target, or recorded after it."""
    head = table_of_frame(train, train.source.inspected.head(DETERMINED_IN))
    labels = pl.DataFrame({"label": head.column(target).values, "y": head.column(target).numbers})
    counts = labels["label"].drop_nulls().value_counts()["count"]
    rows, classes = int(counts.sum()), len(counts)
    same = float(((counts / max(rows, 1)) ** 2).sum())
    # Not by chance, and not because groups of rows share their class, or each has a number of its own.
    are_classes = classes * ROWS_OF_CLASS <= rows

    def follows(name: str) -> bool:
        column, known = head.column(name), train.facts[name]
        both = labels.with_columns(value=column.values, x=column.numbers).drop_nulls()
        enough = both.height >= MIN_ROWS and both["y"].n_unique() >= MIN_VALUES
        if known["kind"] in NUMBERS and enough and np.isfinite(both.select("x", "y").to_numpy()).all():
            x, y = both.sort("x", "y").select("x", "y").to_numpy().T
            if not np.diff(y)[np.diff(x) == 0].any() and (np.all(np.diff(y) >= 0) or np.all(np.diff(y) <= 0)):
                return True
        values = both["value"].n_unique()
        may_repeat = are_classes and values <= 2 * classes and (known["distinct"] <= 2 * classes or rows < head.rows)
        again = both.height - values if may_repeat else 0
        is_one = again >= MIN_ROWS and both.select("value", "label").n_unique() == values
        return bool(is_one and -np.log(same) * again > UNLIKELY)

    if rows < MIN_ROWS:
        return []
    return [name for name in train.names if name != target and name not in but and follows(name)]


def table_of_frame(table: Table, frame: pl.DataFrame, facts: dict[str, Facts] | None = None) -> Table:
    """Some rows and columns of a table, with what is known of its columns if it holds for these rows."""
    found = Table(table.file, Source(frame, frame.lazy(), frame.height, frame.to_dict()), table.words)
    if facts is not None:
        found.facts = facts
    return found


def codes(values: pl.Series) -> Codes:
    """A number for each different value; missing values are equal."""
    unique = values.unique()
    found: Codes = values.replace_strict(unique, np.arange(len(unique)), return_dtype=pl.Int64).to_numpy()
    return found


# How the target differs between groups of rows


def explained_variance(values: Sequence[Numbers], groups: Codes, columns: int) -> float:
    """The share of the variance that groups of rows explain beyond chance; 0 if the strongest of so many columns that
    tell nothing reaches it in one of a hundred tables. `values` are ranks, or of each class 1 in its rows and 0
    elsewhere."""
    sizes, rows = np.bincount(groups), len(groups)
    away = [one - one.mean() for one in values]
    between = sum(float((np.bincount(groups, one) ** 2 / np.maximum(sizes, 1)).sum()) for one in away)
    every, free = sum(float((one**2).sum()) for one in away), int((sizes > 0).sum()) - 1.0
    if free < 1 or every <= 0.0 or rows <= max(free + 1.0, MIN_ROWS):
        return 0.0
    by_chance, part, kinds = free / (rows - 1.0), between / every, max(len(values) - 1.0, 1.0)
    # Kruskal and Wallis's H, and Light and Margolin's C for several classes.
    beyond = normal((rows - 1.0) * kinds * part, free * kinds)
    is_sure = beyond >= (2.0 * np.log(100.0 * columns)) ** 0.5
    return max((part - by_chance) / (1.0 - by_chance), 0.0) if is_sure else 0.0


def normal(value: Any, free: Any) -> Any:
    """The distance of values from what is expected of a chi-squared distribution, in standard errors of a normal one
    (Wilson and Hilferty)."""
    spread = 2.0 / (9.0 * free)
    return (np.cbrt(value / free) - (1.0 - spread)) / np.sqrt(spread)


def group_codes(column: Column, known: Facts) -> Codes:
    """The groups of a column: levels, of which the rare ones are one; fifths of a number; else rows with and without a
    value."""
    values, rows = column.values, len(column.values)
    repeats = known["distinct"] * 3 <= rows
    if known["kind"] in NUMBERS and not (known["kind"] == "integer" and known["distinct"] <= LEVELS):
        numbers = column.numbers
        cuts = np.nanquantile(numbers, np.arange(1, PARTS) / PARTS) if np.isfinite(numbers).any() else numbers[:0]
        return np.where(np.isnan(numbers), PARTS, np.searchsorted(np.unique(cuts), numbers))
    if known["kind"] not in ("boolean", "integer", "category") or not (repeats or known["kind"] == "boolean"):
        return values.is_null().to_numpy().astype(np.int64)
    found = codes(values)
    return np.where(np.bincount(found)[found] >= RARE, found, found.max() + 1)
