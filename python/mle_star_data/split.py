"""How the test rows differ from the training rows: they are later, they belong to other groups, or nothing tells them
apart. Training and validation rows of a script should differ in the same way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy.special import gammaln

from . import dates, naming
from .aliases import Array, Keys, Numbers
from .column_kinds import EXACT, HUGE, INSPECTED_ROWS, NUMBERS
from .frames import Table
from .rows import joint_keys, keys, numbered

Split = dict[str, Any]

WRITTEN = {"year-and-month": 100, "year-and-week": 100, "year-month-day": 10_000}
MIN_VALUES = 5
"""With fewer times in the test table, later ones may be chance."""
MAX_EARLY_SHARE = 0.01
"""With a larger share of training rows that are not earlier than the test table, the test table is not later."""
MIN_SERIES, AMONG, CHANCES = 5, 3, 5.0
"""Fewer series may end before their test rows by chance; so may as many among so many, or so many times as many."""
MAX_NEW, MIN_NEW, BY, FACTOR, AS_LARGE, MIN_KNOWN = 0.5, 0.05, 0.05, 1.5, 0.9, 10
"""From the first share of test rows with new groups on, groups stay whole; from the second on, they are told. A share
is clearly larger than by chance by this difference and this factor."""
MAX_CANDIDATES, MAX_TOGETHER, MIN_ROWS, MIN_MEETINGS = 24, 6, 3, 20.0
PARTS = (("year", 1_600, 2_199), ("month", 1, 12), ("day", 1, 31))


@dataclass(frozen=True)
class Roles:
    """The columns whose roles are known, and whether the target has classes."""

    target: str | None = None
    targets: Sequence[str] = ()
    id: str | None = None
    group: str | None = None
    time: str | None = None
    weight: str | None = None
    classes: bool = False


@dataclass
class Tables:
    """The plain tables of a task."""

    folder: Path
    train: Table
    test: Table | None
    sample: Table | None
    roles: Roles
    groups: Sequence[dict[str, Any]] = ()
    """The columns whose values repeat in the training table, and of which at most one test row in a hundred has one."""
    cached_keys: dict[str, tuple[Keys, Keys | None]] = field(default_factory=dict)

    def in_both(self, name: str) -> bool:
        return self.test is not None and name in self.test and name in self.train

    def are_alike(self, name: str) -> bool:
        """Whether both tables have a column, which holds numbers in both or in none."""
        kinds = {table.kind(name) in NUMBERS for table in (self.train, self.test) if table is not None}
        return self.in_both(name) and len(kinds) == 1

    def as_numbers(self, name: str) -> bool:
        """Whether the cells of a column are compared as numbers, which have to be exact."""
        tables = [one for one in (self.train, self.test, self.sample) if one is not None and name in one]
        exact = (max(map(abs, _range(table, name)), default=0.0) < EXACT for table in tables)
        return all(table.kind(name) in NUMBERS for table in tables) and all(exact)

    def keys(self, name: str) -> tuple[Keys, Keys | None]:
        """The keys of a column of both tables."""
        if name not in self.cached_keys:
            of_test = self.keys_of(self.test, name) if self.test and name in self.test else None
            self.cached_keys[name] = self.keys_of(self.train, name), of_test
        return self.cached_keys[name]

    def keys_of(self, table: Table, name: str) -> Keys:
        return keys(table.column(name).values, self.as_numbers(name))

    def head(self, name: str) -> tuple[Keys, Keys]:
        """The keys of the first rows of both tables."""
        assert self.test is not None
        as_numbers = self.as_numbers(name)
        return keys(self.train.column(name).inspected, as_numbers), keys(self.test.column(name).inspected, as_numbers)

    def forget(self, kept: Iterable[str | None]) -> None:
        """Frees the memory of other columns."""
        left = {name for name in kept if name is not None}
        self.cached_keys = {name: keys for name, keys in self.cached_keys.items() if name in left}
        for table in (self.train, self.test):
            if table is not None:
                table.forget(left)

    def joint_keys(self, columns: Sequence[str]) -> tuple[Keys, Keys]:
        """The keys of rows of both tables by several columns."""
        both = [self.keys(name) for name in columns]
        return joint_keys([one for one, _ in both]), joint_keys([other for _, other in both if other is not None])

    def ids(self, table: Table) -> Keys:
        id = self.roles.id
        if not id or id not in table:
            return numbered(table.rows)
        return self.keys(id)[0] if table is self.train else self.keys_of(table, id)

    @cached_property
    def labelled(self) -> Array:
        """The training rows with all labels, without numbers that no score should depend on."""
        found = np.ones(self.train.rows, dtype=bool)
        for name in self.roles.targets:
            found &= self.train.column(name).values.is_not_null().to_numpy()
            if self.train.kind(name) in NUMBERS:
                found &= ~(np.abs(self.train.column(name).numbers) >= HUGE)
        return found

    def is_taken(self, name: str) -> bool:
        """Whether a column has another role than to tell groups or times."""
        asked = self.sample is not None and name in self.sample
        return asked or name in (self.roles.target, self.roles.id, self.roles.weight)


@dataclass
class TimeColumn:
    """The times of a column in both tables, in one of the orders that its values may have."""

    tables: Tables
    column: str
    clock: str
    train: Numbers
    test: Numbers

    def in_series(self, columns: Sequence[str]) -> list[pl.DataFrame]:
        """The rows of each table that have a time and values in these columns: number, key of the values, and time."""
        both = zip(self.tables.joint_keys(columns), (self.train, self.test), strict=True)
        frames = (pl.DataFrame({"of": of, "at": at}).with_row_index("row") for of, at in both)
        return [frame.filter((pl.col("of") != 0) & pl.col("at").is_not_nan()) for frame in frames]

    @cached_property
    def ends(self) -> tuple[float, float, float, float]:
        """The first and the last time of the training table and of the test table."""
        lows, highs = ([of.reduce(one, initial=np.nan) for one in (self.train, self.test)] for of in (np.fmin, np.fmax))
        return lows[0], highs[0], lows[1], highs[1]

    @property
    def values(self) -> int:
        return int((~np.isnan(self.test)).sum())

    @property
    def later(self) -> int:
        return int((self.test > self.ends[1]).sum())

    def is_later(self) -> bool:
        """Whether nearly all values of the test table are later, or all but those of the boundary day."""
        touches = self.clock != "number" and self.ends[2] // dates.DAY >= self.ends[1] // dates.DAY
        enough = self.later * 2 > self.values if touches else self.later * 100 >= self.values * 99
        return self.values >= MIN_VALUES and enough

    def cell(self, of_test: bool, time: float) -> str:
        """A time as the table has it."""
        table, times = (self.tables.test, self.test) if of_test else (self.tables.train, self.train)
        return table.column(self.column).cell(np.argmax(times == time)) if table else ""

    def evidence(self) -> str:
        first, last, next_, _ = self.ends
        train, test = files(self.tables)
        start, end, begin = self.cell(False, first), self.cell(False, last), self.cell(True, next_)
        if next_ >= last:
            return f"`{self.column}` runs from {start} to {end} in {train} and from {begin} on in {test}"
        later = f"{self.later} of {self.values} rows of {test}"
        return f"`{self.column}` ends with {end} in {train} and is later in {later}"

    def but_for_few(self) -> str | None:
        """That the test table is later but for a few training rows that are later than all of it, such as those with a
        mistake in the year."""
        known = self.train[~np.isnan(self.train)]
        late = int((known > self.ends[3]).sum())
        meets = ((known >= self.ends[2]) & (known <= self.ends[3])).any()
        if self.values < MIN_VALUES or meets or not 0 < late <= MAX_EARLY_SHARE * len(known):
            return None
        begin, test = self.cell(True, self.ends[2]), files(self.tables)[1]
        rows = f"all but {late} of the {len(known)} training rows"
        return f"`{self.column}` begins with {begin} in {test} and is earlier in {rows}"

    def earlier(self) -> str | None:
        if not (self.ends[3] < self.ends[0] and self.values >= MIN_VALUES):
            return None
        train, test = files(self.tables)
        last, first = self.cell(True, self.ends[3]), self.cell(False, self.ends[0])
        ends = f"`{self.column}` ends with {last} there and begins with {first} in {train}"
        return f"the rows of {test} are earlier: {ends}"

    def overlaps(self) -> bool:
        known = self.train[~np.isnan(self.train)]
        return bool((known >= self.ends[2]).sum() > MAX_EARLY_SHARE * len(known))


def describe(tables: Tables) -> Split:
    """How the test rows differ. What the user named wins; groups that go on in a later test table are series, and do
    not stay whole. An ID cannot tell times: IDs usually continue even if test rows were drawn at random."""
    roles = tables.roles
    if roles.time:
        return _split_by_given_time(tables, roles.time)
    if roles.group:
        return _split_by_given_group(tables, roles.group)
    if tables.test is None:
        return random_split(tables, "there is no test table to compare with")
    # In one go.
    codes = may_have_unseen(tables, tables.is_taken)
    for table in (tables.train, tables.test):
        table.load([*(name for name in (roles.id, *roles.targets) if name), *_candidates(tables), *codes])
    if found := by_time(tables) or _by_groups(tables):
        return found
    new = new_groups(tables)
    if new is not None and new.share >= MAX_NEW:
        return {"kind": "groups", "column": new.columns[0], "why": _new_words(tables, new)}
    return random_split(tables, _ambiguity(tables, new))


def random_split(tables: Tables, why: str) -> Split:
    keep = "; classes keep their shares" if tables.roles.classes else ""
    return {"kind": "stratified" if tables.roles.classes else "rows", "column": None, "why": why + keep}


def files(tables: Tables) -> tuple[str, str]:
    return tables.train.file, tables.test.file if tables.test else ""


def clock(tables: Tables, column: str) -> TimeColumn | None:
    """The order of a column's values; of several, the one in which the test table is later. Numbers that are written
    dates everywhere are dates."""
    found = time_columns(tables, [column])
    later = next((one for one in found if one.is_later()), None)
    written = next((one for one in found if one.clock in WRITTEN), None)
    return written or later or (found[0] if found else None)


def by_time(tables: Tables) -> Split | None:
    found = _candidate_time_columns(tables)
    for one in found:
        if one.is_later():
            return _later(one.column, one.evidence())
    for one in found:
        if why := one.but_for_few():
            return _later(one.column, why)
    for one in found:
        if split := _with_own_ends(one):
            return split
    return None


def _later(column: str, why: str) -> Split:
    return {"kind": "time", "column": column, "why": why}


def _split_by_given_time(tables: Tables, time: str) -> Split:
    split = _later(time, "as given") | {"given": True}
    found = time_columns(tables, [time])
    if not any(one.is_later() or one.but_for_few() for one in found):
        for one in found:
            if own := _with_own_ends(one):
                return own | {"why": f"as given; {own['why']}", "given": True}
    group = tables.roles.group
    if group is None or group == time:
        return split
    go_on, begin_together = _groups_in_time(tables, group, found)
    if not go_on and not begin_together:
        return split | {"groups": group}
    why = f"all groups of `{group}` begin at the same time"
    if go_on:
        why = f"the groups of `{group}` go on in the test table"
    return split | {"why": f"as given; {why}, so they are series, not kept whole"}


def _split_by_given_group(tables: Tables, group: str) -> Split:
    split = {"kind": "groups", "column": group, "why": "as given", "given": True}
    later = by_time(tables) if tables.test else None
    if later is None or later["column"] == group or not tables.in_both(group):
        return split
    go_on, begin_together = _groups_in_time(tables, group, time_columns(tables, [later["column"]]))
    if go_on:
        why = f"the groups of `{group}` go on in the test table, so they are series, not kept whole"
        return later | {"why": f"{later['why']}; {why}"}
    if begin_together:
        return split | {"why": f"as given; the test rows are also later: {later['why']}"}
    return later | {"groups": group, "why": f"{later['why']}; whole groups of `{group}` as given"}


def _groups_in_time(tables: Tables, group: str, found: Sequence[TimeColumn]) -> tuple[bool, bool]:
    """Whether more than half of the test rows have groups of the training table, and whether nearly all groups begin at
    the same time."""
    course = next((one for one in found if one.is_later()), found[0] if found else None)
    if course is None or not tables.in_both(group):
        return False, False
    train, test = course.in_series([group])
    known = test.join(train, on="of", how="semi").height
    firsts = train.group_by("of").agg(pl.col("at").min())["at"]
    return known * 2 > test.height, int((firsts == firsts.min()).sum()) * 10 >= len(firsts) * 9


def _with_own_ends(course: TimeColumn) -> Split | None:
    """The split by series of which (nearly) each ends at a time of its own, before its test rows."""
    tables, roles = course.tables, course.tables.roles
    named = [roles.group] if roles.group and roles.group != course.column and tables.in_both(roles.group) else None
    columns = named or series(tables, course.column)
    if not columns or not course.overlaps():
        return None
    train, test = course.in_series(columns)
    last = train.group_by("of").agg(pl.col("at").max().alias("last"), pl.len().alias("rows"))
    is_later = (pl.col("at") > pl.col("last")).all()
    both = test.join(last, on="of").group_by("of").agg(pl.col("rows").first(), is_later=is_later, test=pl.len())
    count, later = both.height, int(both["is_later"].sum())
    # The chance that all test rows are the last ones of their series: one in so many choices.
    each = gammaln(both["test"] + 1) + gammaln(both["rows"] + 1) - gammaln(both["test"] + both["rows"] + 1)
    go_on = int(both["test"].sum()) * 2 > test.height
    if not go_on or later < max(MIN_SERIES, count / AMONG, CHANCES * float(np.exp(each).sum())):
        return None
    train_file, test_file = files(tables)
    others = "; some test rows of the others lie between their training rows" if later < count else ""
    of = f"{later} of {count} series by {naming.listed(columns, ' and ')}"
    than = f"than those of {train_file}, but not than those of other series{others}"
    why = f"in {of}, all rows of {test_file} are later in `{course.column}` {than}"
    return _later(course.column, why) | {"series": list(columns), "within": later < count}


# Times


def _candidates(tables: Tables) -> list[str]:
    """The columns that may tell the time: dates, texts that name parts of years, and numbers whose name says so or that
    are like those of a Unix clock or like 202401. Dates come first."""
    train, test, roles = tables.train, tables.test, tables.roles
    assert test is not None
    free = [name for name in train.names if name in test and name not in (roles.target, roles.weight)]
    found = [name for name in free if train.kind(name) == test.kind(name) == "date"]
    for name in free:
        says = naming.says_time(name)
        is_code = naming.says(name, naming.KEY | naming.COUNTER)
        is_part = train.facts[name]["unit"] and test.facts[name]["unit"]
        if is_part and name != roles.id and (says or not is_code):
            found.append(name)
    for name in free:
        both = (train.kind(name), test.kind(name))
        is_like = name != roles.id and (_is_unix(train, name) or _is_written(train, name))
        if all(kind in NUMBERS for kind in both) and (naming.says_time(name) or is_like):
            found.append(name)
    return found


def _candidate_time_columns(tables: Tables) -> list[TimeColumn]:
    """Numbers that only look like written dates have to be such dates everywhere."""
    is_sure = {name for name in tables.train.names if naming.says_time(name) or _is_unix(tables.train, name)}
    return [one for one in time_columns(tables, _candidates(tables)) if one.clock != "number" or one.column in is_sure]


def time_columns(tables: Tables, columns: Sequence[str]) -> list[TimeColumn]:
    """The times of these columns in every order in which all values are times."""
    found = []
    for name in columns:
        if name not in tables.train:
            continue
        texts = [table.column(name).values for table in (tables.train, tables.test) if table and name in table]
        for one in _clocks(tables.train, name):
            times = [read(one, text) for text in texts]
            if all((np.isnan(at) == text.is_null().to_numpy()).all() for at, text in zip(times, texts, strict=True)):
                found.append(TimeColumn(tables, name, one, times[0], times[1] if len(times) > 1 else np.zeros(0)))
    return found


def read(clock: str, texts: pl.Series) -> Numbers:
    """The place of each text in time, in seconds for dates; not a number where it has none."""
    if clock in ("month-first", "day-first"):
        return dates.seconds(texts, clock == "day-first")
    if clock in dates.ALL_UNITS:
        known = {text: dates.part_of_year(text, clock) for text in texts.drop_nulls().unique()}
        return texts.replace_strict(known, default=None, return_dtype=pl.Float64).fill_null(np.nan).to_numpy()
    number = texts.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
    if clock == "number":
        return np.where(np.isfinite(number), number, np.nan)
    year, rest = np.divmod(number, WRITTEN[clock])
    if clock == "year-and-month":
        days = dates._days(year, rest, 1.0)
    elif clock == "year-and-week":
        days = np.where((rest >= 1) & (rest <= 53), dates._days(year, 1.0, 1.0) + 7 * (rest - 1), np.nan)
    else:
        days = dates._days(year, rest // 100, rest % 100)
    return np.where(number == np.floor(number), days * dates.DAY, np.nan)


def _clocks(table: Table, name: str) -> Sequence[str]:
    if table.kind(name) == "date":
        return ("month-first", "day-first")
    if table.kind(name) in NUMBERS:
        return (*WRITTEN, "number") if _is_written(table, name) else ("number",)
    return dates.ALL_UNITS if table.facts[name]["unit"] else ()


def _range(table: Table, name: str) -> tuple[float, float]:
    low, high = table.facts[name].get("range") or (np.nan, np.nan)
    return low, high


def _is_unix(table: Table, name: str) -> bool:
    """Whether all values are seconds, or thousandths and so on of them, since 1970, between 2001 and 2040."""
    low, high = _range(table, name)
    fits = any(1e9 <= low / scale < high / scale < 2.2e9 for scale in (1.0, 1e3, 1e6, 1e9))
    return fits and not naming.says(name, naming.KEY | naming.COUNTER)


def _is_written(table: Table, name: str) -> bool:
    """Whether all numbers may be written dates of at least two years."""
    low, high = _range(table, name)
    months = low >= 190_001 and high <= 209_953 and low // 100 < high // 100
    days = low >= 19_000_101 and high <= 20_991_231 and low // 10_000 < high // 10_000
    return table.kind(name) == "integer" and (months or days) and not naming.says(name, naming.KEY | naming.COUNTER)


# Groups


def _groups(tables: Tables) -> list[dict[str, Any]]:
    """The columns that group rows, the widest first: rows of one patient are rows of one hospital. Texts and columns
    that say so name groups rather than count."""
    found = (group for group in tables.groups if not tables.is_taken(group["column"]))
    return sorted(found, key=lambda group: (not group["is_name"], group["groups"]))


def _by_groups(tables: Tables) -> Split | None:
    column = next((group["column"] for group in _groups(tables) if group["counts_groups"]), None)
    if column is None:
        return None
    train, test = files(tables)
    why = f"the values of `{column}` repeat in {train}, and at most 1 in 100 rows of {test} has one of them"
    return {"kind": "groups", "column": column, "why": why}


@dataclass(frozen=True)
class UnseenValues:
    """What test rows have in some columns that no training row has."""

    columns: Sequence[str]
    share: float
    by_chance: float
    """The share that as many training rows would have if they were drawn at random."""
    known: int


def may_have_unseen(tables: Tables, taken: Callable[[str], bool]) -> list[str]:
    """The columns whose values may name things, and of which the test table may have other ones."""
    found = []
    for name, about in tables.train.facts.items():
        repeats = 1 < about["distinct"] <= min(tables.train.rows, INSPECTED_ROWS) / 2
        if about["kind"] not in ("category", "integer") or not repeats or taken(name) or naming.says_time(name):
            continue
        if tables.are_alike(name):
            train, test = tables.head(name)
            if tables.train.rows > INSPECTED_ROWS or not np.isin(test, train).all():
                found.append(name)
    return found


def unseen(tables: Tables, columns: Sequence[str]) -> UnseenValues:
    of_train, of_test = (pl.Series("of", of) for of in tables.joint_keys(columns))
    known = of_train.filter(of_train != 0).value_counts()
    sizes = known["count"].to_numpy().astype(float)
    tested = len(of_test) / max(len(of_train) + len(of_test), 1)
    alone = float((sizes * tested ** (sizes - 1)).sum()) / max(len(of_train), 1)
    new = (~of_test.is_in(known["of"].implode()) & (of_test != 0)).sum()
    return UnseenValues(columns, int(new) / max(len(of_test), 1), alone, len(known))


def names_things(tables: Tables, name: str) -> bool:
    """Whether a column names things."""
    about = tables.train.facts[name]
    return bool(about["kind"] == "category" or about["says_code"] or about["names_things"])


def new_groups(tables: Tables) -> UnseenValues | None:
    """The column with the most test rows of new groups, though not all; of several, the widest."""
    others = {*_candidates(tables), *(group["column"] for group in tables.groups)}
    may_name = may_have_unseen(tables, lambda name: name in others or tables.is_taken(name))
    columns = [name for name in may_name if names_things(tables, name) and not naming.says(name, naming.ROW)]
    for table in (tables.train, tables.test):
        if table is not None:
            table.load(columns)
    found = [unseen(tables, [name]) for name in columns]
    found = [one for one in found if one.share >= max(one.by_chance + BY, one.by_chance * FACTOR, MIN_NEW)]
    found = [one for one in found if one.known >= MIN_KNOWN]
    largest = max((one.share for one in found), default=0.0)
    return min((one for one in found if one.share >= AS_LARGE * largest), key=lambda one: one.known, default=None)


def _new_words(tables: Tables, found: UnseenValues) -> str:
    train, test = files(tables)
    have = f"{found.share * 100:.0f} % of the rows of {test} have"
    return f"{have} a value of `{found.columns[0]}` that no row of {train} has"


# What may tell rows apart, although the program does not split by it


def _ambiguity(tables: Tables, new: UnseenValues | None) -> str:
    """What may tell the rows of both tables apart, with the option that decides."""
    train, test = files(tables)
    found = _candidate_time_columns(tables)
    for one in found:
        if why := one.earlier():
            return why
    if other := next((group["column"] for group in _groups(tables) if not group["counts_groups"]), None):
        hint = "name it with --time-column or --group-column"
        unknown = f"whether `{other}` counts time or names groups is unknown: {hint}"
        return f"at most 1 in 100 rows of {test} has a value of `{other}` that is in {train}, but {unknown}"
    if columns := _dates_in_parts(tables):
        hint = "write them in one column, such as 2024-01, and name it with --time-column"
        return f"the rows of {test} are later by {naming.listed(columns, ' and ')} together: {hint}"
    if new:
        return f"{_new_words(tables, new)}: to validate on other values, name it with --group-column"
    return f"nothing tells the rows of {test} from those of {train}"


def _dates_in_parts(tables: Tables) -> list[str]:
    """Columns of years, months and days that are later dates together."""
    assert tables.test is not None

    def fits(table: Table, name: str, least: int, most: int) -> bool:
        low, high = _range(table, name)
        return table.kind(name) == "integer" and low >= least and high <= most

    columns: list[str] = []
    for word, least, most in PARTS:
        both = [name for name in tables.train.names if name in tables.test and naming.says(name, frozenset([word]))]
        found = [name for name in both if all(fits(one, name, least, most) for one in (tables.train, tables.test))]
        if not found:
            break
        columns.append(found[0])
    if len(columns) < 2:
        return []
    at = [
        sum(table.column(name).numbers * 100.0**-place for place, name in enumerate(columns))
        for table in (tables.train, tables.test)
    ]
    return columns if np.nanmin(at[1]) > np.nanmax(at[0]) else []


# Series


def series(tables: Tables, time: str, taken: Callable[[str], bool] | None = None) -> list[str]:
    """The column, or the two or three together, that name the series of rows with times in the column `time`: rows of
    the same store, sensor or person at different times. A series has at most one row at a time, so its rows meet the
    same time again far less often than values that have nothing to do with time. The first rows of both tables are
    looked at."""
    taken = taken or tables.is_taken
    others = {group["column"] for group in tables.groups}
    candidates = [name for name in _may_name_series(tables) if name != time and not taken(name) and name not in others]
    candidates = candidates[:MAX_CANDIDATES]
    if not candidates:
        return []
    assert tables.test is not None
    times = keys(tables.train.column(time).inspected, tables.as_numbers(time))
    timed = times != 0
    # A missing value is a value, too.
    heads = {name: [np.where(of == 0, np.uint64(1), of) for of in tables.head(name)] for name in candidates}

    def fits(columns: Sequence[str]) -> int | None:
        of_train, of_test = (joint_keys([heads[name][side] for name in columns]) for side in (0, 1))
        found = _is_series(of_train[timed], times[timed], all(naming.says(name, naming.KEY) for name in columns))
        is_whole = tables.train.rows <= INSPECTED_ROWS
        is_known = not is_whole or np.isin(of_test, of_train).sum() * 2 > len(of_test)
        return found if is_known else None

    for count in (1, 2, 3):
        sets = combinations(candidates if count == 1 else candidates[:MAX_TOGETHER], count)
        found = [(size, columns) for columns in sets if (size := fits(columns)) is not None]
        if found:
            # The widest series have the most history.
            return list(min(found, key=lambda one: one[0])[1])
    return []


def _may_name_series(tables: Tables) -> list[str]:
    """Columns of both tables whose values can name series, the most promising first."""

    def can(name: str, about: dict[str, Any]) -> bool:
        nameable = about["kind"] not in ("number", "text", "date", "empty")
        repeats = 1 < about["distinct"] <= min(tables.train.rows, INSPECTED_ROWS) / MIN_ROWS and about["missing"] == 0
        return bool(nameable and repeats and tables.are_alike(name) and not naming.says_time(name))

    found = [name for name, about in tables.train.facts.items() if can(name, about)]
    return sorted(found, key=lambda name: (not naming.says(name, naming.KEY), tables.train.kind(name) in NUMBERS))


def _is_series(of: Keys, times: Keys, named: bool) -> int | None:
    """The number of series if the keys name series. If hardly any two rows have the same time, only the name of a
    column shows that."""

    def pairs(of: Keys) -> tuple[int, float]:
        sizes = np.unique(of, return_counts=True)[1].astype(float)
        return len(sizes), float((sizes * (sizes - 1) / 2).sum())

    count, most = pairs(of)
    cells, meetings = pairs(joint_keys([of, times]))
    by_chance = most * pairs(times)[1] / max(len(of) * (len(of) - 1) / 2, 1.0)
    rarely = named and meetings <= by_chance if by_chance < MIN_MEETINGS else meetings * 4 <= by_chance
    return count if count > 1 and cells >= count * MIN_ROWS and rarely else None
