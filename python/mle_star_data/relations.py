"""What relates the columns of the training table: those from which the target follows, those that name series of rows
at different times, and how the target differs between the levels of a category and the fifths of a number, with
standard errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from . import facts, links, names, split
from .facts import Folder
from .frames import Column, Source, Table
from .kinds import NUMBERS
from .links import Known
from .tables import Refused

Numbers = NDArray[np.float64]
Codes = NDArray[np.int64]

DETERMINED_IN, FEWEST_ROWS, FEWEST_VALUES, ROWS_OF_CLASS = 20_000, 50, 12, 20
"""The first rows in which the target has to follow, and the fewest; the fewest different numbers that can be sorted
without chance; the rows of a class on average."""
UNLIKELY = 20.0
"""A column is named if it would determine the target by chance less often than once in `e` to the power of this."""
RARE, LEVELS, PARTS = 10, 12, 5
"""A level with fewer rows is one of the rare ones. Whole numbers with at most so many values are levels; others are cut
into so many parts with as many rows."""


def relations(folder: str, told: Mapping[str, Any]) -> dict[str, Any]:
    """The links of the further tables with their cutoffs, and what relates columns; see `opened`."""
    data = opened(folder, told)
    target, id = data.target, data.told.get("id")
    found = links.find(data.folder, target, id)
    but = [*data.targets, *([id] if id else [])]
    time = data.later_in if data.later_in in data.folder.train.facts else None
    roles = data.told.get("roles", {})
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
    split, test = data.split, data.folder.test
    columns = dict.fromkeys([split.get("column"), split.get("groups"), *(split.get("series") or [])])
    found = {}
    for name in columns:
        if name is not None and test is not None and name in test:
            sizes = test.column(name).text.value_counts()["count"].to_numpy().astype(np.float64)
            found[name] = {"groups": float(sizes.sum() ** 2 / np.square(sizes).sum()), "rows": float(sizes.sum())}
    return found


@dataclass(frozen=True)
class Data:
    """A folder of plain tables, and what is known of it: the answer of `inspect`, with the `split` that a plan found
    and the `period` of the rows to predict, which are the test table of this folder."""

    folder: Folder
    told: Mapping[str, Any]

    @property
    def target(self) -> str | None:
        return next(iter(self.told["targets"]), None)

    @property
    def targets(self) -> list[str]:
        return [] if self.target is None else self.folder.targets(self.target, self.told.get("id"))

    @cached_property
    def tables(self) -> split.Tables:
        """The training table and the test table, as those who look for times read them."""

        test = self.folder.test
        return split.Tables(self.folder.path, self.folder.train, test, None, split.Roles(), self.folder.groups)

    @property
    def split(self) -> Mapping[str, Any]:
        return self.told.get("split") or {}

    def role(self, name: str) -> str:
        """What part in the task a column that is no target has; `feature` for none."""
        roles = self.told.get("roles", {})
        for role in ("weight", "group", "time"):
            if name != self.told.get("id") and name == roles.get(role):
                return role
        if name == self.told.get("id") or name in (roles.get("ignored") or ()):
            return "id" if name == self.told.get("id") else "ignored"
        if name == self.split.get("column") and self.split.get("kind") in ("time", "groups"):
            return "later" if self.split["kind"] == "time" else "others"
        return "others" if any(group["column"] == name for group in self.folder.groups) else "feature"

    def is_feature(self, name: str) -> bool:
        return self.role(name) == "feature"

    @property
    def later_in(self) -> str | None:
        """The column by which the rows to predict are later, if they are."""
        return self.split.get("column") if self.split.get("kind") == "time" else None


def opened(folder: str, told: Mapping[str, Any]) -> Data:
    """The data of a question. What is known of a table holds for one with as many rows; held-out rows that a folder for
    scripts has in its test table are seen there."""
    tables = {role: told[role] for role in ("train", "test", "sample") if told.get(role)}
    if "train" not in tables:
        raise Refused("there is no training table")
    words = [(one["column"], tuple(one.get("words", ())), one["why"]) for one in told.get("text_columns", ())]
    data = Data(_open(folder, tuple(words)), told)
    known = {one["file"]: one for one in [*tables.values(), *told.get("auxiliary", ())]}
    for table in [*data.folder.tables(), *data.folder.auxiliary]:
        one = known.get(table.file)
        if one and one["rows"] == table.rows and [column["name"] for column in one["columns"]] == table.names:
            table.facts = {column["name"]: column for column in one["columns"]}
    return data


@lru_cache(maxsize=1)
def _open(folder: str, words: tuple[tuple[str, tuple[str, ...], str], ...]) -> Folder:
    decided = [{"column": column, "words": list(found), "why": why} for column, found, why in words]
    return facts.open_folder(Path(folder), text_columns=decided)


# Columns from which the target follows


def determinants(train: Table, target: str, but: Sequence[str]) -> list[str]:
    """The columns from which the target follows in all of the first rows: equal values have equal targets, or the
    values sort the targets. Such a column may be made from the target, or recorded after it."""
    head = of_frame(train, train.source.looked.head(DETERMINED_IN))
    has = head.column(target).values.is_not_null()
    labels, numbers = codes(head.column(target).values), head.column(target).numbers
    counts = np.bincount(labels[has.to_numpy()])
    rows, classes = int(counts.sum()), int((counts > 0).sum())
    if rows < FEWEST_ROWS:
        return []
    same = float(((counts / rows) ** 2).sum())
    # Not by chance, and not because groups of rows share their class, or each has a number of its own.
    are_classes = classes * ROWS_OF_CLASS <= rows

    def follows(name: str) -> bool:
        known = train.facts[name]
        may_repeat = are_classes and (known["distinct"] <= 2 * classes or not has.all())
        may_sort = known["kind"] in NUMBERS and classes >= FEWEST_VALUES and bool(np.isfinite(numbers[has]).all())
        if not (may_repeat or may_sort):
            return False
        column = head.column(name)
        filled = np.flatnonzero((has & column.values.is_not_null()).to_numpy())
        if may_sort and (known["kind"] == "integer" or np.isfinite(column.numbers[filled]).all()):
            order = filled[np.lexsort((numbers[filled], column.numbers[filled]))]
            steps, targets = np.diff(column.numbers[order]), np.diff(numbers[order])
            is_one = not np.any(targets[steps == 0])
            sorts = is_one and bool(np.all(targets >= 0) or np.all(targets <= 0))
            if sorts and len(filled) >= FEWEST_ROWS and len(np.unique(numbers[filled])) >= FEWEST_VALUES:
                return True
        of = codes(column.values.gather(filled))
        values = len(np.unique(of))
        again = len(filled) - values
        may_repeat = may_repeat and again >= FEWEST_ROWS and values <= 2 * classes
        is_one = may_repeat and len(np.unique(of * (labels.max() + 1) + labels[filled])) == values
        return bool(is_one and -np.log(same) * again > UNLIKELY)

    return [name for name in train.names if name != target and name not in but and follows(name)]


def of_frame(table: Table, frame: pl.DataFrame) -> Table:
    """Some rows and columns of a table."""
    loaded = dict(zip(frame.columns, frame.get_columns(), strict=True))
    return Table(table.file, Source(frame, frame.lazy(), frame.height, loaded), table.words)


def codes(values: pl.Series) -> Codes:
    """A number for each different value; missing values are equal."""
    unique = values.unique()
    found: Codes = values.replace_strict(unique, np.arange(len(unique)), return_dtype=pl.Int64).to_numpy()
    return found


def together(keys: Sequence[Codes]) -> Codes:
    """One code for the values of several columns."""
    both = keys[0]
    for other in keys[1:]:
        both = codes(pl.Series(both * (other.max(initial=0) + 1) + other))
    return both


# How the target differs between groups of rows


@dataclass(frozen=True)
class Mean:
    """The mean of a group of rows, and its standard error as if rows were independent; not finite for a single row."""

    mean: float
    error: float
    rows: int


@dataclass(frozen=True)
class Strength:
    """The share of the variance that groups explain beyond chance; how far this is above chance in standard errors; the
    list of values whose groups differ most."""

    share: float
    beyond: float
    most: int


class Outcomes:
    """Labels of rows as numbers: one list for a number or for two classes, one for each of several classes, which are 1
    in their rows and 0 elsewhere. The ranks of numbers decide how strong an effect is."""

    def __init__(self, values: list[Numbers], classes: Sequence[str] = ()) -> None:
        self.values, self.classes = values, list(classes)
        judged = values if classes else [pl.Series(one).rank("average").to_numpy() - 1.0 for one in values]
        self.judged = [one - one.mean() for one in judged]
        self.squares = [float((one**2).sum()) for one in self.judged]

    def explained(self, groups: Codes) -> Strength | None:
        """None for fewer than two groups, or if all values are equal."""
        sizes = np.bincount(groups)
        filled = sizes > 0
        sums = (np.bincount(groups, one)[filled] for one in self.judged)
        between = np.array([float((one**2 / sizes[filled]).sum()) for one in sums])
        all, rows, free = sum(self.squares), len(groups), len(sizes) - 1.0
        if free < 1 or all <= 0.0 or rows <= free + 1.0:
            return None
        by_chance, part = free / (rows - 1.0), between.sum() / all
        # Kruskal and Wallis's H, and Light and Margolin's C for several classes.
        kinds = max(len(self.judged) - 1.0, 1.0)
        shares = np.divide(between, self.squares, out=np.zeros_like(between), where=np.array(self.squares) > 0)
        beyond = _normal((rows - 1.0) * kinds * part, free * kinds)
        return Strength(max(float(part - by_chance) / (1.0 - by_chance), 0.0), beyond, int(np.argmax(shares)))

    def means(self, list_: int, groups: Codes) -> list[Mean]:
        values = self.values[list_]
        shift = float(values.mean())
        rows = np.bincount(groups).astype(float)
        sums, squares = np.bincount(groups, values - shift), np.bincount(groups, (values - shift) ** 2)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = sums / rows
            # A share of 0 or 1 in a few rows has an error, too: one more row of each kind (Agresti and Coull).
            smooth = (sums + shift * rows + 1.0) / (rows + 2.0)
            variance = smooth * (1.0 - smooth) if self.classes else np.maximum(squares - sums * mean, 0) / (rows - 1)
            error = np.sqrt(variance / rows)
        found = zip(mean + shift, error, rows, strict=True)
        return [Mean(float(one), float(wide), int(many)) for one, wide, many in found]

    def distances(self, list_: int, groups: Codes) -> Numbers:
        """How far the ranks, or the share of a class, of each group are from those of all rows, in standard errors."""
        values, rows = self.judged[list_], np.bincount(groups)
        with np.errstate(divide="ignore", invalid="ignore"):
            far: Numbers = np.bincount(groups, values) / np.sqrt(rows * np.mean(values**2))
        return np.where(np.isfinite(far), far, 0.0)


def _normal(value: float, free: float) -> float:
    """The distance of a value from what is expected of a chi-squared distribution, in standard errors of a normal one
    (Wilson and Hilferty)."""
    spread = 2.0 / (9.0 * free)
    return float((np.cbrt(value / free) - (1.0 - spread)) / np.sqrt(spread))


@dataclass(frozen=True)
class Grouped:
    """The rows of a column in groups: those with an order are all told; `rest` are the rare levels together and the
    rows without a value, which are told last."""

    groups: Codes
    names: list[str]
    ordered: bool
    rest: list[int]


def grouped(
    column: Column, known: Known, rows: int, shown: Callable[[str], str], number: Callable[[float], str]
) -> Grouped:
    """The groups of a column of a table with so many rows. Few numbers have an order; keys have none."""
    repeats, few = known["distinct"] * 3 <= rows, known["distinct"] <= LEVELS
    is_key = repeats and names.says(known["name"], names.KEY)
    if known["kind"] == "boolean" or (known["kind"] == "integer" and (few or is_key)) or (
        known["kind"] == "category" and repeats
    ):  # fmt: skip
        return _levels(column.values, known["kind"] in NUMBERS and few, shown)
    if known["kind"] in NUMBERS:
        return _parts(column.numbers, number)
    return Grouped(column.values.is_null().to_numpy().astype(np.int64), ["there", "missing"], True, [1])


def _levels(values: pl.Series, ordered: bool, shown: Callable[[str], str]) -> Grouped:
    counts = list(values.drop_nulls().value_counts().iter_rows())
    if ordered:
        counts.sort(key=lambda one: (_as_number(one[0]), one[0]))
    else:
        counts.sort(key=lambda one: (-one[1], one[0]))
    common = [text for text, rows in counts if rows >= RARE]
    told, rest, place = [shown(text) for text in common], [], {text: at for at, text in enumerate(common)}
    if rare := len(counts) - len(common):
        rest.append(len(told))
        told.append(f"{rare:,} level{'s' if rare > 1 else ''} with fewer than {RARE} rows")
    missing = len(told)
    if values.null_count():
        rest.append(missing)
        told.append("missing")
    texts = [text for text, _ in counts]
    at = values.replace_strict(texts, [place.get(text, len(common)) for text in texts], default=None,
                               return_dtype=pl.Int64) if texts else values.cast(pl.Int64, strict=False)  # fmt: skip
    return Grouped(at.fill_null(missing).to_numpy(), told, ordered, rest)


def _as_number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return np.inf


def _parts(numbers: Numbers, number: Callable[[float], str]) -> Grouped:
    """Parts with about as many rows, and the rows without a number."""
    empty = np.isnan(numbers)
    ordered = np.sort(numbers[~empty])
    ends = [-(-len(ordered) * part // PARTS) - 1 for part in range(1, PARTS + 1)]
    cuts = np.unique(ordered[[max(end, 0) for end in ends]]) if len(ordered) else ordered
    told = [f"≤{number(float(cut))}" for cut in cuts]
    at = np.minimum(np.searchsorted(cuts, numbers), max(len(cuts) - 1, 0))
    rest = [len(told)] if empty.any() else []
    return Grouped(np.where(empty, len(told), at).astype(np.int64), told + ["missing"] * len(rest), True, rest)
