"""How the further tables of a folder join the training table, the test table and each other, as those of a database do;
and which of their rows are known too early: a table of purchases may say more about the customers of old training rows
than about those of new test rows, because what was bought after the date of the row is there, too."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path

import numpy as np
import polars as pl

from . import dates, naming
from .aliases import Facts
from .column_kinds import INSPECTED_ROWS, NUMBERS
from .facts import Folder, row_key
from .frames import Table

Fits = Callable[[Facts, Facts], bool]

NAMEABLE = ("integer", "boolean", "date", "category", "empty")
"""Kinds of columns that may name something: neither measured numbers nor sentences."""
BARE = ("id", "index", "no", "row", "unnamed0")
"""Names of columns that number the rows of any table."""
NAMES = ("code", "id", "key", "name")
"""Names of columns that name the rows of any table, so that other tables may call them like the table."""
PLURALS = (("ies", "y"), ("ches", "ch"), ("shes", "sh"), ("sses", "ss"), ("xes", "x"), ("s", ""))
SHARE, OF_ROLE, FEW = 0.5, 0.8, 0.1
"""Fewer values in common with a key are chance: for a name, for a role, for a table that just has numbers of rows."""
MIN_VALUES, MIN_OF_TABLE = 3, 10
"""Columns and tables with fewer words have some in common by chance."""
MAX_TABLES = MAX_SHARED = MAX_LINKS = 12
MAX_ROLES = 4
SHIFT, ENOUGH = 0.1, 0.2
"""A table needs a cutoff if training and test rows differ by more than this in their share of later rows. Rows of the
same date, or earlier ones, are of use if at least this share of the rows has some."""


@dataclass(frozen=True)
class Link:
    """A further table that joins another one; `to` is None for the training table and the test table."""

    table: int
    to: int | None
    own: tuple[str, ...]
    columns: tuple[str, ...]
    unique: bool
    """Whether each key occurs once in the table."""


def find(folder: Folder, target: str | None, id: str | None) -> list[Link]:
    """The links of the further tables. A table has several if several columns refer to it, or several tables look its
    rows up; none if it joins neither the training table and the test table nor a table that does."""
    return _Links(folder, target, id).all() if folder.auxiliary else []


@cache
def letters(text: str) -> str:
    return "".join(letter for letter in text.lower() if letter.isalnum())


def same_type(one: Facts, other: Facts) -> bool:
    """Whether both columns hold numbers, or both texts; a day never equals a day with a time."""
    has_clock = [
        known["kind"] == "date" and any(":" in value for value, _ in known["top_values"]) for known in (one, other)
    ]
    return (one["kind"] in NUMBERS) == (other["kind"] in NUMBERS) and has_clock[0] == has_clock[1]


def could_be(one: Facts, named: Facts) -> bool:
    """Whether values of one column can be those of the other. Scripts read truth values unlike other words."""
    low, high = one["range"] or (-np.inf, np.inf)
    least, most = named["range"] or (-np.inf, np.inf)
    same_kind = (one["kind"] == "boolean") == (named["kind"] == "boolean") and same_type(one, named)
    return same_kind and one["kind"] in NAMEABLE and low <= most and least <= high


class _Named:
    """A table with its columns by the letters of their names, and what one of its rows may be called."""

    def __init__(self, table: Table, train: Table, targets: Sequence[str]) -> None:
        self.table, self.train = table, train
        wanted = [one for one in table.facts.values() if one["kind"] in NAMEABLE and one["name"] not in targets]
        self.columns = {letters(one["name"]): one for one in wanted if letters(one["name"])}
        stem = letters(Path(table.file).stem)
        singular = [stem.removesuffix(end) + instead for end, instead in PLURALS if stem.endswith(end)]
        self.names = [name for name in (*singular, stem) if name]
        self.place = {name: at for at, name in enumerate(table.names)}
        self.is_whole = table.rows <= INSPECTED_ROWS

    @cached_property
    def row_key(self) -> list[str]:
        return row_key(self.table, self.train)

    def names_its_rows(self, one: Facts) -> bool:
        return not one["missing"] and bool(one["distinct"] == min(self.table.rows, INSPECTED_ROWS))

    def are_key(self, columns: Sequence[str]) -> bool:
        """Whether these columns tell the rows apart."""
        known = [self.table.facts[name] for name in columns]
        if len(known) == 1 and (known[0]["missing"] or known[0]["distinct"] == self.table.rows):
            return not known[0]["missing"]
        return bool(columns) and sorted(columns) == sorted(self.row_key)

    def reference(self, other: _Named, fits: Fits) -> tuple[Facts, Facts] | None:
        """A column that names the rows of the table, and one of another table that refers to it. Codes come first, and
        columns named like the table."""
        pairs = []
        for said, own in self.columns.items():
            if self.names_its_rows(own):
                is_code = naming.says(own["name"], naming.CODE | naming.COUNTER) or said in self.names
                found = [other.columns[one] for one in self.said(said, own) if one in other.columns]
                pairs += [(not is_code, self.place[own["name"]], own, one) for one in found if _refers(one, own)]
        pairs = [pair for pair in pairs if fits(pair[2], pair[3])]
        return min(pairs, key=lambda pair: pair[:2])[2:] if pairs else None

    def said(self, said: str, own: Facts) -> list[str]:
        """What other tables may call a column, such as `store_id` or `store` for `id` of `stores.csv`; letters only."""
        found = [f"{name}{said}" for name in self.names] + (self.names if said in NAMES else [])
        if said not in BARE:
            parts = naming.words(own["name"])
            found += [said, f"{said}id", *(["".join(parts[:-1])] if len(parts) > 1 and parts[-1] == "id" else [])]
        return found

    def said_in_roles(self, said: str, own: Facts) -> list[str]:
        """What columns in roles may end with. Numbers such as `num_stores` are no stores."""
        plural = self.names[-1] if len(self.names) > 1 and own["kind"] in NUMBERS else None
        return [one for one in self.said(said, own) if plural is None or not one.startswith(plural)]

    def may_be_referred_to(self, said: str, own: Facts) -> bool:
        """Whether a column names something: as its name says, or words, or each day."""
        if own["kind"] in ("boolean", "date"):
            return bool(own["kind"] == "date") and self.names_its_rows(own)
        if own["kind"] == "category" and not own["nearly_numbers"]:
            return not naming.says_time(own["name"])
        # Several ratings may be equal, and then they name nothing.
        return (self.names_its_rows(own) and said in self.names) or naming.says(own["name"], naming.CODE)

    def is_of_times(self, link: Link) -> bool:
        """Whether a link joins several rows of a day, or another time, to every row of it."""
        is_time = [naming.says_time(name) or self.table.facts[name]["kind"] == "date" for name in link.own]
        return not link.unique and all(is_time)


def _refers(one: Facts, own: Facts) -> bool:
    return one["distinct"] > 1 and could_be(one, own)


class _Links:
    """The links found so far."""

    def __init__(self, folder: Folder, target: str | None, id: str | None) -> None:
        self.folder, self.id = folder, id
        self.sides = [side for side in (folder.train, folder.test) if side is not None]
        self.targets = [] if target is None else folder.targets(target, id)
        self.train = _Named(folder.train, folder.train, self.targets)
        self.tables = [_Named(table, folder.train, self.targets) for table in folder.auxiliary]
        self.found: list[Link] = []
        self.by_names: set[int] = set()
        self.by_roles = 0

    def all(self) -> list[Link]:
        self.by_name(is_last=False)
        self.by_role()
        self.summaries()
        self.indirect_ones()
        self.by_name(is_last=True)
        self.indirect_ones()
        self.shared()
        return self.found

    def is_linked(self, at: int) -> bool:
        return any(link.table == at for link in self.found)

    def by_name(self, is_last: bool) -> None:
        """Every table may call its rows `id`, and have some of every day: such a name alone is the last resort."""
        rows = sum(side.rows for side in self.sides)
        for at in [at for at in range(len(self.tables)) if not self.is_linked(at)]:
            has_all_rows = abs(self.tables[at].table.rows - rows) * 100 <= rows
            link = self.direct(at, is_last or has_all_rows or letters(self.id or "") not in BARE)
            if link and (is_last or not self.tables[at].is_of_times(link)):
                self.by_names.add(at)
                self.found.append(link)

    def indirect_ones(self) -> None:
        """Adds the tables that join those that are linked, those that join these, and so on."""
        for link in self.found:  # It grows.
            left = MAX_TABLES - sum(one.to is not None for one in self.found)
            free = [at for at in range(len(self.tables)) if not self.is_linked(at)]
            self.found += [one for at in free if (one := self.indirect(at, link.table))][: max(left, 0)]

    def shared(self) -> None:
        """Adds links of tables that several tables look up. Who joins by the same key has the row already, and tables
        with a row for the same key have nothing to tell."""
        added: list[Link] = []
        for to in sorted({link.table for link in self.found}):
            named, own = self.tables[to], [link for link in self.found if link.table == to and link.to is None]
            joined = {name for link in own for name in link.own}
            for link in [self.indirect(at, to) for at in range(len(self.tables)) if self.is_shared(at, to)]:
                column = named.table.facts[link.columns[0]] if link and link.unique else None
                if link and column and column["name"] not in joined and not named.names_its_rows(column):
                    added.append(link)
        self.found += added[:MAX_SHARED]

    def is_shared(self, at: int, by: int) -> bool:
        own = [link for link in self.found if link.table == at]
        alone = all(link.unique and link.to != by for link in own)
        return bool(own) and at not in self.by_names and alone and not self.leads_to(by, at)

    def leads_to(self, at: int, other: int) -> bool:
        ways = [link.to for link in self.found if link.table == at and link.to is not None]
        return at == other or any(self.leads_to(to, other) for to in ways)

    def direct(self, at: int, may_join_by_id: bool) -> Link | None:
        """The link to the training table and the test table."""
        same = self.key(at, [*self.targets, *([] if may_join_by_id else [self.id])])
        if same is None or same.columns != (self.id,):
            return same or self.by_similar_name(at)
        if letters(same.columns[0]) in BARE:
            return same if self.names_rows_of_both(same) else None
        return self.by_similar_name(at) or same

    def key(self, at: int, excluded: Collection[str | None]) -> Link | None:
        """A single column of all tables that names the rows of the further one, or else all that look like keys."""
        named = self.tables[at]
        shared = [
            name
            for name, one in named.table.facts.items()
            if one["kind"] in NAMEABLE and one["distinct"] > 0 and name not in excluded
            if all(name in side.facts and same_type(one, side.facts[name]) for side in self.sides)
        ]
        keys = tuple(next(([name] for name in shared if named.are_key([name])), shared))
        return Link(at, None, keys, keys, named.are_key(keys)) if keys else None

    def names_rows_of_both(self, link: Link) -> bool:
        """Whether numbers of rows are those of the further table, too."""
        named, name = self.tables[link.table], link.columns[0]
        own = named.table.column(link.own[0])
        is_small = all(table.rows <= INSPECTED_ROWS for table in [*self.sides, named.table])
        sides = [side for side in self.sides if name in side.facts]
        shares = [side.column(name).share_in(own) if is_small else None for side in sides]
        has_most = all(share is None or share >= FEW for share in shares)
        return has_most and all(could_be(side.facts[name], own.facts) for side in sides)

    def by_similar_name(self, at: int) -> Link | None:
        test = self.folder.test

        def fits(own: Facts, one: Facts) -> bool:
            twin = test is None or (one["name"] in test.facts and could_be(test.facts[one["name"]], own))
            return one["name"] != self.id and twin

        found = self.tables[at].reference(self.train, fits)
        return _link(at, None, found, True) if found else None

    def indirect(self, at: int, to: int) -> Link | None:
        """The link of a table to another further one: one of both has a row for each key. Either may lack rows, such as
        the days that are no holidays."""
        one, other = self.tables[at], self.tables[to]

        def has_common(own: Facts, column: Facts) -> bool:
            if not (one.is_whole and other.is_whole):
                return True
            both = one.table.column(own["name"]), other.table.column(column["name"])
            shares = [both[0].share_in(both[1]), both[1].share_in(both[0])]
            return max((share for share in shares if share is not None), default=1.0) >= SHARE

        if found := one.reference(other, has_common):
            return _link(at, to, found, True)
        if turned := other.reference(one, lambda own, column: has_common(column, own)):
            return _link(at, to, (turned[1], turned[0]), False)
        return None

    # Several columns that refer to the rows of the same table: `home_team` and `away_team` for `team` of `teams.csv`.

    def by_role(self) -> None:
        """Adds links to tables of which a column names the row, alone or with the keys of a link that is there."""
        for at, named in enumerate(self.tables):
            found = next((link for link in self.found if link.table == at and link.to is None), None)
            natural = found or self.direct(at, may_join_by_id=False)
            if natural and natural.columns == (self.id,):
                continue  # A table by the ID tells about one row each.
            tried = [self.in_role(at, role, natural, named) for role in self.roles(at, natural)]
            self.add([link for link in tried if link][: MAX_ROLES - (natural is not None)])

    def in_role(self, at: int, role: tuple[Facts, Facts], natural: Link | None, named: _Named) -> Link | None:
        """Teams of a season are found by `home_team` and `season`."""
        own, column = role
        if named.names_its_rows(own):
            return _link(at, None, role, True)
        if natural is None:
            return None
        keys = dict(zip(natural.own, natural.columns, strict=True)) | {own["name"]: column["name"]}
        link = replace(natural, own=tuple(keys), columns=tuple(keys.values()), unique=True)
        return link if len(keys) > 1 and named.are_key(link.own) else None

    def summaries(self) -> None:
        """Adds links to tables that have several rows for what a column refers to, if nothing else links them."""
        for at, named in enumerate(self.tables):
            other = self.direct(at, may_join_by_id=True)
            is_free = (other is None or named.is_of_times(other)) and not self.is_linked(at)
            if is_free and named.is_whole:
                self.add([_link(at, None, role, False) for role in self.roles(at, None)[:MAX_ROLES]])

    def add(self, links: list[Link]) -> None:
        links = links[: max(MAX_LINKS - self.by_roles, 0)]
        self.by_roles += len(links)
        self.found += links

    def roles(self, at: int, natural: Link | None) -> list[tuple[Facts, Facts]]:
        """The columns of a table that others refer to beside those of a link, in the order of the training table."""
        named = self.tables[at]
        owns = [(own, named.said_in_roles(said, own)) for said, own in named.columns.items()
                if named.may_be_referred_to(said, own)]  # fmt: skip
        owns.sort(key=lambda one: (not named.names_its_rows(one[0]), not naming.says(one[0]["name"], naming.CODE),
                                   named.place[one[0]["name"]]))  # fmt: skip
        used = {self.id, *self.targets, *(natural.columns if natural else ())}
        found = []
        for name, column in self.folder.train.facts.items() if owns else ():
            if name in used or (column["kind"] in NUMBERS and naming.says_measure(name)):
                continue
            fits = [one for one in owns if self.has_most(column, one[0], named)]
            by_name = [own for own, said in fits if any(naming.says_role(name, one) for one in said)]
            by_values = [own for own, _ in fits if _has_names(column, own, named)]
            found += [(own, column) for own in (by_name or by_values)[:1]]
        return found

    def has_most(self, column: Facts, own: Facts, named: _Named) -> bool:
        """Whether a table has most values of a column of the training table and the test table."""
        name = column["name"]
        if name == own["name"] or not _refers(column, own):
            return False
        for side in self.sides:
            if name not in side.facts or not could_be(side.facts[name], own):
                return False
            if named.is_whole and (side.column(name).share_in(named.table.column(own["name"])) or 0.0) < OF_ROLE:
                return False
        return True


def _link(at: int, to: int | None, found: tuple[Facts, Facts], unique: bool) -> Link:
    return Link(at, to, (found[0]["name"],), (found[1]["name"],), unique)


def _has_names(column: Facts, own: Facts, named: _Named) -> bool:
    """Whether words of a column name rows of a table, whatever it is called: `origin` has codes of airports."""
    are_words = all(one["kind"] == "category" and not one["nearly_numbers"] for one in (column, own))
    has_many = column["distinct"] >= MIN_VALUES and own["distinct"] >= MIN_OF_TABLE
    return are_words and has_many and named.is_whole and named.names_its_rows(own)


# Rows that are known too early


@dataclass(frozen=True)
class Date:
    column: str
    day_first: bool


@dataclass(frozen=True)
class BridgeTable:
    """A table between a further table and the training table: from payments, by accounts, to clients. Its columns that
    name its rows, and the same columns of the further table."""

    table: int
    columns: tuple[str, ...]
    own: tuple[str, ...]


@dataclass(frozen=True)
class Cutoff:
    """The date before which the rows of a further table have to be; its own rows are known from their last date on."""

    date: Date
    own_dates: tuple[Date, ...]
    own: tuple[str, ...]
    columns: tuple[str, ...]
    way: BridgeTable | None
    lag: float = 0.0
    """The days from the end of the table to the test rows, in the median. Training rows must not know what happened in
    so many days before them either."""


def cutoffs(
    folder: Folder, links: Sequence[Link], link: Link, time: str | None, but: Collection[str | None] = ()
) -> list[Cutoff]:
    """The cutoffs of a table, if summaries of all its rows say something else about training rows than about test rows,
    or if it would join by a date that hardly any row has; one for each column that refers to the table on the way.
    Dates of `but` do not count."""
    if link.to is not None and link.unique:
        return []
    if link.to is None:
        tried = [_cutoff(folder, link, link, None, time, but)]
    else:
        way = BridgeTable(link.to, link.columns, link.own)
        ways = [one for one in links if one.table == link.to and one.to is None]
        tried = [_cutoff(folder, one, link, way, time, but) for one in ways]
    found = [one for one in tried if one is not None]
    return [cutoff for cutoff, _ in found] if any(is_needed for _, is_needed in found) else []


def _cutoff(
    folder: Folder, direct: Link, link: Link, way: BridgeTable | None, time: str | None, but: Collection[str | None]
) -> tuple[Cutoff, bool] | None:
    table, test = folder.auxiliary[link.table], folder.test
    known = [one for one in table.facts.values() if one["kind"] == "date" and _have_numbers(one)]
    known = [one for one in known if one["name"] not in but]
    own_dates = tuple(Date(one["name"], one["day_first"]) for one in known)
    is_date = [name in {date.column for date in own_dates} for name in link.own]
    if test is None or not own_dates or (way and any(is_date)) or (link.unique and not any(is_date)):
        return None
    name = link.columns[is_date.index(True)] if any(is_date) else _date_of(folder.train, test, time)
    told = [side.facts[name] for side in (folder.train, test) if name in side.facts] if name else []
    if name is None or not all(_have_numbers(one) for one in told):
        return None
    date = Date(name, any(one["day_first"] for one in told))
    is_date = is_date if way is None else [False] * len(direct.own)
    both = [both for both, no in zip(zip(direct.own, direct.columns, strict=True), is_date, strict=True) if not no]
    own, columns = tuple(one for one, _ in both), tuple(other for _, other in both)
    if way and way.columns == own:
        # The rows name the keys themselves: sales have the employee whose number the training table has.
        own, way = way.own, None
    if not own:
        return None
    rows = _moments(table, way.own if way else own, own_dates)
    if way:
        between = folder.auxiliary[way.table]
        pairs = pl.DataFrame({"key": keys(between, way.columns), "to": keys(between, own)}).drop_nulls()
        rows = rows.join(pairs.unique("key", keep="last"), on="key").select(key="to", at="at")
    sides = [_moments(side, columns, (date,)) for side in (folder.train, test)]
    if not all(len(one) for one in (rows, *sides)):
        return None
    (together, earlier, later, variance), of_test = (_met(rows, side) for side in sides)
    is_needed = abs(later - of_test[2]) > SHIFT + 2.0 * (variance + of_test[3]) ** 0.5
    if any(is_date):
        is_needed = together < ENOUGH <= earlier or of_test[0] < ENOUGH <= of_test[1]
    middle, end = sides[1]["at"].sort()[len(sides[1]) // 2], rows["at"].to_numpy().max()
    return Cutoff(date, own_dates, own, columns, way, max(0.0, float(middle - end) / dates.DAY)), is_needed


def _have_numbers(known: Facts) -> bool:
    """Whether the dates have two numbers or more. Scripts read dates with one, such as `Feb-24`, in another way."""
    return all(len(re.findall("[0-9]+", value)) > 1 for value, _ in known["top_values"])


def _date_of(train: Table, test: Table, time: str | None) -> str | None:
    """The column that tells the date of the rows of both tables, if it is clear which one does."""
    both = [name for name, one in train.facts.items()
            if one["kind"] == "date" and name in test.facts and test.facts[name]["kind"] == "date"]  # fmt: skip
    return time if time in both else both[0] if len(both) == 1 else None


def keys(table: Table, columns: Iterable[str]) -> pl.Series:
    """One text for the key of each row; null where a part is missing. As numbers, 7.0 is 7."""
    parts = {}
    for at, name in enumerate(columns):
        column = table.column(name)
        is_number = table.facts[name]["kind"] == "number"
        parts[str(at)] = column.values.str.replace(r"\.0*$", "") if is_number else column.values
    return pl.DataFrame(parts).select(pl.concat_str(pl.all(), separator="\0")).to_series()


def _moments(table: Table, columns: Sequence[str], moments: Sequence[Date]) -> pl.DataFrame:
    """The key and the last moment of each row that has both."""
    times = [dates.seconds(table.column(date.column).values, date.day_first) for date in moments]
    frame = pl.DataFrame({"key": keys(table, columns), "at": np.fmax.reduce(times)})
    return frame.filter(pl.col("key").is_not_null() & pl.col("at").is_not_nan())


def _met(known: pl.DataFrame, rows: pl.DataFrame) -> tuple[float, float, float, float]:
    """The shares of rows that find a row of the same moment in a further table, and an earlier one; the mean share of
    later ones, with its variance."""
    known = known.sort("at").with_columns(n=pl.int_range(1, pl.len() + 1).over("key"))
    rows = rows.sort("at").join(known.group_by("key").len(), on="key", how="left", maintain_order="left")
    until, before = (
        rows.join_asof(known, on="at", by="key", allow_exact_matches=is_with, check_sortedness=False)["n"]
        for is_with in (True, False)
    )
    counts = [one.cast(pl.Float64).fill_null(0.0).to_numpy() for one in (rows["len"], until, before)]
    later = (counts[0] - counts[1]) / np.maximum(counts[0], 1)
    together, earlier = np.mean(counts[1] > counts[2]), np.mean(counts[2] > 0)
    return float(together), float(earlier), float(np.mean(later)), float(np.var(later)) / len(later)
