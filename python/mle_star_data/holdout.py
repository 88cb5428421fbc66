"""Labelled rows that no script sees before the final choice, and the folds of the others. Rows are drawn by their IDs
and a seed: the same whatever their order, the order of columns, or the machine."""

from __future__ import annotations

import bz2
import csv
import gzip
import lzma
import os
import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from . import tables as texts
from .aliases import Array, Keys
from .files import walk
from .naming import listed
from .periods import Timeline, firsts
from .rows import digest, drawn, in_classes, keys, numbered
from .split import Split, Tables, clock
from .tables import Refused

AUTO, AUTO_FROM, MAX_AUTO = 0.15, 2_000, 0.3
"""The usual share, the labelled rows from which on it is held out, and the largest share of rows at the last time."""
MIN_LABELLED, MIN_HELD, MIN_CLASS, MIN_GROUPS = 50, 20, 5, 10
MAX_DENSITY = 1.5
"""A period with more than so many rows for each row of the test table has as many as the test table."""
MAX_SHOWN_FILES = 500
"""Scripts are shown at most so many files and folders beside the tables, each by itself."""
FOLDS, EARLIER = 5, (0.55, 0.7, 0.85)
MIN_OF_LAST_FOLD, MIN_GIVEN, MAX_GIVEN = 10, 3, 100
PART = 1 << 20
TEXTS = (".csv", ".tsv", ".txt", ".dat", ".bak", ".old", ".orig")
TYPED = (".json", ".jsonl", ".ndjson", ".parquet", ".feather", ".arrow", ".xlsx")
CLOSED = (".xls", ".ods", ".pkl", ".pickle", ".h5", ".hdf5", ".npz", ".sqlite", ".db")
PACKED: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
ENDINGS = (".zip", ".zst", *PACKED)
NAMED_ROWS, MIN_NAMED = 20, 2
"""The first rows whose files are looked for; fewer with a file may be chance."""
SAME_DATA = "check that both files belong to the same data set"
UNIQUE = "give each labelled row exactly one fold, or leave `folds` (--folds) out"


@dataclass(frozen=True)
class Share:
    """How many of the labelled rows are held out: a share, or the usual one of a large table; at most this number."""

    share: float | None
    most: int = 20_000


@dataclass(frozen=True)
class HoldoutPlan:
    """The rows that are held out, as numbers of the training table."""

    held: Array
    left_out: Array
    """Rows that are in no table of the search."""
    labelled: int
    seed: int
    digest: str
    by: str | None
    """The column whose equal values make rows dependent."""
    come_first: bool
    """Held-out rows are earlier than all test rows."""
    is_period: bool = False
    """The held-out rows are the whole test table of the search."""

    def holdout(self) -> dict[str, Any]:
        found = {"state": "on", "rows": len(self.held), "of": self.labelled, "seed": self.seed, "digest": self.digest}
        return found | ({"period": True} if self.is_period else {})

    def kept(self, rows: int) -> Array:
        """Whether scripts of the search have a row in their training table."""
        found = np.ones(rows, dtype=bool)
        found[self.held] = found[self.left_out] = False
        return found


def hold_out(tables: Tables, split: Split, times: Timeline | None, share: Share, seed: int) -> HoldoutPlan:
    """The labelled rows that are held out: they differ from those that remain as test rows differ from training rows.
    For later times, they are the last period of the training time, and become the whole test table of the search."""
    checked(tables)
    if times is None:
        held, labelled = choose(tables, split, share, seed)
        return _plan(tables, held, labelled, split, seed)
    held, left_out = _period(tables, times, share, seed)
    by = cluster(split, len(times.folds(True)) + 1)
    found = _plan(tables, held, len(times.ordered), split, seed)
    return replace(found, left_out=left_out, by=by, is_period=True)


def _plan(tables: Tables, held: Array, labelled: int, split: Split, seed: int) -> HoldoutPlan:
    of, none = digest(tables.ids(tables.train)[held]), np.zeros(0, dtype=int)
    return HoldoutPlan(held, none, labelled, seed, of, cluster(split, 0), split["kind"] == "time")


def cluster(split: Split, periods: int) -> str | None:
    """The column whose equal values make rows dependent. Few periods do not show how scores vary: then rows of one
    series belong together."""
    only = split.get("series") or []
    return only[0] if len(only) == 1 and periods < 3 else split.get("groups") or split.get("column")


# Whether rows can be held out


def checked(tables: Tables) -> None:
    """Refuses tables whose rows cannot be held out."""
    train, test, sample, roles = tables.train, tables.test, tables.sample, tables.roles
    if test is None:
        raise Refused("there is no test table")
    if sample is None:
        raise Refused("there is no sample submission")
    if roles.target not in train:
        raise Refused("the target is not known")
    every = (train, test, sample)
    if roles.id is None or roles.id == roles.target or not all(roles.id in table for table in every):
        raise Refused(f"no column with row IDs is common to {', '.join(table.file for table in every)}")
    further = [name for name in sample.names if name != roles.id and name not in roles.targets and name in train]
    if further:
        raise Refused(f"{sample.file} has further columns of {train.file} besides the target: {listed(further)}")
    if lacking := [name for name in test.names if name not in roles.targets and name not in train]:
        raise Refused(f"{test.file} has columns that {train.file} lacks: {listed(lacking)}")
    if test.rows != sample.rows:
        raise Refused(f"{test.file} has {test.rows} rows, but {sample.file} has {sample.rows}")
    _check_files(tables)
    _check_ids(tables)
    _check_places(tables)


def _check_ids(tables: Tables) -> None:
    """Each ID names one row of the training or of the test table, and the sample submission has those of the test
    table."""
    assert tables.test is not None
    assert tables.sample is not None
    of, name = {}, tables.roles.id
    for table in (tables.test, tables.train):
        of[table.file] = ids = np.sort(tables.ids(table))
        if len(ids) and ids[0] == 0:
            raise Refused(f"a value of `{name}` is missing in {table.file}")
        if (ids[1:] == ids[:-1]).any():
            raise Refused(f"a value of `{name}` occurs twice in {table.file}")
    train, test = tables.train.file, tables.test.file
    if np.isin(of[test], of[train]).any():
        others = f"give the rows of {test} and of the sample submission other IDs"
        raise Refused(f"a value of `{name}` occurs both in {train} and in {test}; {others}")
    if not np.array_equal(np.sort(tables.ids(tables.sample)), of[test]):
        raise Refused(f"{test} and {tables.sample.file} have different values of `{name}`")


def same_rows(tables: Tables) -> None:
    """Refuses a sample submission that has other rows than the test table."""
    test, sample, name = tables.test, tables.sample, tables.roles.id
    if test is None or sample is None:
        return
    if test.rows != sample.rows:
        rows = f"{sample.file} has {sample.rows} rows and {test.file} has {test.rows}"
        raise Refused(f"{rows}: they disagree", SAME_DATA)
    if name is None or name not in test or name not in sample:
        return
    of_test, of_sample = tables.ids(test), tables.ids(sample)
    for table, own, other in ((sample, of_sample, of_test), (test, of_test, of_sample)):
        only = table.column(name).values.filter(pl.Series(~np.isin(own, other))).sort()
        if len(only):
            message = f"{sample.file} and {test.file} disagree: {name} {only[0]} is only in {table.file}"
            raise Refused(message, SAME_DATA)


def files_beside(tables: Tables) -> Iterator[Path]:
    """The files of the data folder beside the three tables."""
    own = {table.source.path for table in (tables.train, tables.test, tables.sample) if table is not None}
    return (path for path in walk(tables.folder) if path not in own)


def _check_files(tables: Tables) -> None:
    """No other file may have labels of training rows: any other table with the IDs and a target."""
    train = os.stat(tables.train.source.path)
    beside = set[Path]()
    for path in files_beside(tables):
        shown = path.relative_to(tables.folder)
        beside.add(Path(shown.parts[0]))
        if os.path.samestat(os.stat(path), train):
            raise Refused(f"{shown} is another name of {tables.train.file}")
        inside = zipfile.ZipFile(path).namelist() if zipfile.is_zipfile(path) else []
        if any(map(is_named_train, [path.name, *(one for one in inside if not one.startswith("__MACOSX"))])):
            raise Refused(f"{shown} may have the labels of the training rows as well")
        for names in headers(path):
            if tables.roles.id in names and not names.isdisjoint(tables.roles.targets) and _has_rows(tables, path):
                raise Refused(f"{shown} has labels of training rows as well")
    if len(beside) > MAX_SHOWN_FILES:
        lie = f"{len(beside)} files and folders lie beside {tables.train.file}"
        raise Refused(f"{lie}, more than {MAX_SHOWN_FILES}; move them to a folder")


def _has_rows(tables: Tables, path: Path) -> bool:
    """Whether a table with the IDs and a target has training rows; so is one that is no plain table."""
    if path.suffix.lower() != ".csv" or tables.roles.id is None:
        return True
    try:
        ids = pl.read_csv(path, infer_schema=False).rename(str.strip)[tables.roles.id].str.strip_chars()
    except (pl.exceptions.PolarsError, OSError):
        return True
    return bool(np.isin(keys(ids, tables.as_numbers(tables.roles.id)), tables.ids(tables.train)).any())


def headers(path: Path) -> Iterator[set[str]]:
    """The names of the columns of a table, or of those in an archive; nothing for other files. What is no text has all
    words in it as names."""
    name = path.name.lower()
    try:
        if name.endswith((".zip", ".xlsx")):
            with zipfile.ZipFile(path) as archive:
                for member in archive.namelist():
                    with archive.open(member) as file:
                        if name.endswith(".xlsx"):
                            yield _words(file.read())
                        elif member.lower().endswith(TEXTS):
                            yield _header(file.readline(PART))
        elif name.endswith(".parquet"):
            yield set(pl.read_parquet_schema(path))
        elif name.endswith((".feather", ".arrow")):
            yield set(pl.read_ipc_schema(path))
        elif name.endswith(".zst"):
            one = pl.read_csv(path, has_header=False, n_rows=1, separator="\n", quote_char=None, infer_schema=False)
            yield _header(one.item().encode())
        elif name.endswith((*TEXTS, *PACKED)):
            with PACKED.get(path.suffix.lower(), open)(path, "rb") as file:
                yield _header(file.readline(PART))
        elif name.endswith((*TYPED, *CLOSED)):
            with open(path, "rb") as file:
                start = file.read(PART)
                file.seek(max(os.path.getsize(path) - PART, 0))
                yield _words(start + file.read(PART))
    except (pl.exceptions.PolarsError, OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, zipfile.BadZipFile):
        return


def _words(data: bytes) -> set[str]:
    """Each run of letters, digits and underlines, and what stands between marks."""
    return {
        found.decode(errors="replace").strip() for found in re.findall(rb"\w+|(?<=[\">])[^\"<>]{1,200}(?=[\"<])", data)
    }


def _header(line: bytes) -> set[str]:
    text = line.decode("utf-8-sig", errors="replace").rstrip("\r\n")
    separator = max(",;\t|", key=text.count)
    return {name.strip() for name in next(csv.reader([text], delimiter=separator), [])}


def is_named_train(path: str) -> bool:
    """Whether a file is called `train`, with the ending of a table."""
    stem, _, ending = path.lower().rpartition("/")[2].partition(".")
    return stem == "train" and f".{ending}".endswith((*TEXTS, *TYPED, *CLOSED, *(f".csv{one}" for one in ENDINGS)))


def _check_places(tables: Tables) -> None:
    """The files of training rows, such as the image of each row, and those of test rows must lie in the same folders: a
    held-out row becomes a row of the test table, but its files stay where they are."""
    files: dict[str, set[str]] = {}
    for path in files_beside(tables):
        inside = [path.relative_to(tables.folder)]
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                inside += [inside[0] / member for member in archive.namelist()]
        for one in inside:
            for name, folder in ((one.stem, one.parent), (one.name, one.parent), (one.parent.name, one.parent.parent)):
                files.setdefault(name, set()).add(str(folder))
    if not files or tables.test is None:
        return
    known = min(tables.train.rows, NAMED_ROWS)
    kinds = ("category", "integer")
    may_name = [
        name for name, one in tables.train.facts.items() if one["kind"] in kinds and one["distinct"] * 2 > known
    ]
    places = []
    for table in (tables.train, tables.test):
        cells = [table.column(name).inspected.head(NAMED_ROWS).drop_nulls() for name in may_name if name in table]
        named = files.keys() & {value for values in cells for value in values}
        places.append(set[str]().union(*(files[name] for name in named if len(named) >= MIN_NAMED)))
    if places[0] and places[1] and places[0] != places[1]:
        raise Refused(f"files of training rows lie in {min(places[0])}, those of test rows in {min(places[1])}")


# Which rows


def choose(tables: Tables, split: Split, share: Share, seed: int) -> tuple[Array, int]:
    """The rows that are drawn as `split` says that test rows differ, and the number of labelled rows."""
    rows = np.flatnonzero(tables.labelled)
    if split["kind"] == "groups":
        held = _draw_groups(tables, rows, group_column(tables, split), share, seed)
    elif split["kind"] == "time":
        held = _latest(tables, rows, split, share)
    else:
        classes = drawn(_classes(tables, split)[rows], seed, "rows")
        held = _stratified(drawn(tables.ids(tables.train)[rows], seed, "rows"), classes, share)
    if held.sum() < MIN_HELD:
        raise Refused(f"only {held.sum()} rows could be held out; {MIN_HELD} are needed")
    return rows[held], len(rows)


def _classes(tables: Tables, split: Split) -> Keys:
    """The class of each row that rows are drawn by; one for all if they are not."""
    is_stratified = split["kind"] == "stratified"
    return tables.keys(tables.roles.targets[0])[0] if is_stratified else np.zeros(tables.train.rows, np.uint64)


def group_column(tables: Tables, split: Split) -> str:
    column = split.get("column")
    if column not in tables.train:
        raise Refused("the column that tells test rows from training rows is not known")
    return str(column)


def _check_share(share: Share, labelled: int) -> float:
    of, fewest = (AUTO, AUTO_FROM) if share.share is None else (share.share, MIN_LABELLED)
    if not 0 < of < 1:
        raise Refused(f"the share of held-out rows is {of:g}, not between 0 and 1")
    if labelled < fewest:
        raise Refused(f"only {labelled} rows are labelled; {fewest} are needed")
    return of


def _wanted(share: Share, labelled: int) -> int:
    wanted = min(rounded(_check_share(share, labelled) * labelled), share.most)
    if wanted < MIN_HELD:
        raise Refused(f"only {wanted} rows would be held out; {MIN_HELD} are needed")
    return wanted


def rounded(number: float) -> int:
    return int(np.floor(number + 0.5))


def _stratified(numbers: Keys, classes: Keys, share: Share) -> Array:
    """The rows with the smallest numbers of each class, so that classes keep their shares. Rare classes remain."""
    part = _wanted(share, len(numbers)) / len(numbers)
    order, at = in_classes(numbers, classes)
    sizes = np.bincount(at)
    counted = np.where(sizes >= MIN_CLASS, sizes, 0)
    # Rounding the sum of the shares keeps the number of all rows right.
    quota = np.diff(np.floor(np.cumsum(part * counted) + 0.5), prepend=0.0).astype(int)
    rank = np.arange(len(at)) - (np.cumsum(sizes) - sizes)[at[order]]
    found = np.zeros(len(at), dtype=bool)
    found[order[rank < np.minimum(quota, np.maximum(sizes - 1, 0))[at[order]]]] = True
    return found


def _draw_groups(tables: Tables, rows: Array, column: str, share: Share, seed: int) -> Array:
    wanted = _wanted(share, len(rows))
    of = tables.keys(column)[0][rows]
    different, at, sizes = np.unique(drawn(of, seed, "rows")[of != 0], return_inverse=True, return_counts=True)
    if len(different) < MIN_GROUPS:
        raise Refused(f"`{column}` has only {len(different)} groups with labels; {MIN_GROUPS} are needed")
    chosen, held, limit = np.zeros(len(different), dtype=bool), 0, min(share.most, wanted + wanted // 2)
    for group, size in enumerate(sizes.tolist()):
        # A very large group remains.
        if held < wanted and held + size <= limit:
            chosen[group], held = True, held + size
    if chosen.sum() < 2:
        raise Refused(f"the groups of `{column}` are too large to hold some of them out")
    found = np.zeros(len(rows), dtype=bool)
    found[of != 0] = chosen[at]
    return found


def _latest(tables: Tables, rows: Array, split: Split, share: Share) -> Array:
    """The latest rows: about as many as wanted, with all rows of the same time."""
    column = group_column(tables, split)
    times = _times(tables, split)
    if times is None:
        raise Refused(f"the values of `{column}` have no order of time")
    wanted = _wanted(share, len(rows))
    at = np.sort(times[rows][~np.isnan(times[rows])])
    if not len(at):
        raise Refused(f"no labelled row has a value of `{column}`")
    if at[0] == at[-1]:
        raise Refused(f"all labelled rows have the same value of `{column}`")
    limit = min(rounded((MAX_AUTO if share.share is None else 0.5) * len(at)), len(at) // 2)
    wanted, most = (min(max(count, 1), max(limit, 1)) for count in (wanted, share.most))
    starts = [int(np.searchsorted(at, at[len(at) - wanted], side)) for side in ("left", "right")]
    sizes = [len(at) - start for start in starts if 1 <= len(at) - start <= limit]
    if not sizes:
        raise Refused(f"too many rows have the last value of `{column}`")
    size = min(sizes, key=lambda size: (size > most, abs(size - wanted)))
    return np.asarray(times[rows] >= at[len(at) - size])


def _times(tables: Tables, split: Split) -> Array | None:
    times, group = clock(tables, split["column"]), split.get("groups")
    if times is not None and group:
        return firsts(times.train, tables.keys(group)[0], tables.labelled)
    return None if times is None else times.train


def _period(tables: Tables, times: Timeline, share: Share, seed: int) -> tuple[Array, Array]:
    """The labelled rows of the last period, some of them drawn if it has many more rows than the test table; and those
    that are neither held out nor early enough to learn from."""
    assert tables.test is not None
    timed, every = len(times.ordered), int(tables.labelled.sum())
    try:
        _check_share(share, timed)
    except Refused:
        _check_share(share, every)
        raise Refused(f"only {timed} of {every} labelled rows have a time up to that of the test table") from None
    bounds = times.held_out()
    held = np.flatnonzero(tables.labelled & bounds.has(times.times))
    fewest = max(tables.test.rows, MIN_HELD)
    if len(held) > MAX_DENSITY * fewest:
        numbers = drawn(tables.ids(tables.train)[held], seed, "rows")
        held = np.sort(held[np.argsort(numbers, kind="stable")[:fewest]])
    if len(held) < MIN_HELD:
        raise Refused(f"the last period has only {len(held)} rows; {MIN_HELD} are needed")
    # Models of a period must not learn from later rows.
    return held, np.setdiff1d(np.flatnonzero(times.times > bounds.learn), held)


def last_fold(tables: Tables, split: Split, times: Timeline | None, own: Array | None, seed: int) -> HoldoutPlan:
    """Holds out the rows of the last fold, or the last period. Nothing depends on them but what is told of a script
    that is final, so they may be fewer than rows that decide."""
    if times is not None and own is None:
        return hold_out(tables, split, times, Share(0.5, 1 << 62), seed)
    if own is not None and own.max() + 1 < MIN_GIVEN:
        raise Refused(f"only {own.max() + 1} folds are given; {MIN_GIVEN} are needed")
    checked(tables)
    found = folds(tables, split, times, own, None, seed)
    is_last = tables.labelled & (found == found.max()) & (found >= 0)
    if split["kind"] == "stratified":
        # A script cannot learn a class that it does not see.
        classes = _classes(tables, split)
        is_last &= np.isin(classes, classes[tables.labelled & ~is_last])
    held = np.flatnonzero(is_last)
    if len(held) < MIN_OF_LAST_FOLD:
        raise Refused(f"the last fold has only {len(held)} rows; {MIN_OF_LAST_FOLD} are needed")
    return _plan(tables, held, int(tables.labelled.sum()), split, seed)


# Folds


def folds(
    tables: Tables, split: Split, times: Timeline | None, own: Array | None, plan: HoldoutPlan | None, seed: int
) -> Array:
    """The fold of each training row, from 0; -1 for rows that are not validated."""
    if own is not None:
        return np.where(plan.kept(len(own)), own, -1) if plan else own
    left = tables.labelled & (plan.kept(tables.train.rows) if plan else True)
    found = np.full(tables.train.rows, -1)
    if split["kind"] == "time" and times is not None:
        beside = plan is not None and plan.is_period
        for fold, period in enumerate(times.folds(beside)):
            found[left & (found < 0) & period.has(times.times)] = fold
        return found
    rows = np.flatnonzero(left)
    if split["kind"] == "time" and (at := _times(tables, split)) is not None:
        timed = rows[~np.isnan(at[rows])]
        ordered = np.sort(at[timed])
        starts = {ordered[int(share * len(ordered))] for share in EARLIER if len(ordered)} - set(ordered[:1])
        if starts:
            found[timed] = np.searchsorted(sorted(starts), at[timed], side="right") - 1
            return found
    if split["kind"] == "groups":
        of = tables.keys(split["column"])[0][rows]
        alone = drawn(numbered(tables.train.rows)[rows], seed, "alone")
        of = np.where(of == 0, alone, drawn(of, seed, "folds"))
        _, at, sizes = np.unique(of, return_inverse=True, return_counts=True)
        if len(sizes) > 1:
            found[rows] = _even(sizes)[at]
            return found
    ids, classes = (drawn(of[rows], seed, "folds") for of in (tables.ids(tables.train), _classes(tables, split)))
    order, _ = in_classes(ids, classes)
    found[rows[order]] = np.arange(len(rows)) % FOLDS
    return found


def _even(sizes: Array) -> Array:
    """The fold of each group, so that all have about as many rows: the largest groups first, each to the smallest
    fold."""
    rows = [0] * min(FOLDS, len(sizes))
    found = np.empty(len(sizes), dtype=int)
    for group in np.argsort(-sizes, kind="stable").tolist():
        found[group] = fold = rows.index(min(rows))
        rows[fold] += int(sizes[group])
    return found


def own_folds(tables: Tables, given: str) -> Array:
    """The folds that the user gives: a column of the training table, or a CSV file with row IDs and `fold`. They are
    numbered in the order of their names."""
    train, path = tables.train, Path(given)
    if given in train:
        names = train.column(given).values
        if (without := np.flatnonzero(tables.labelled & names.is_null().to_numpy())).size:
            raise Refused(f"row `{_id(tables, without[0])}` of {train.file} has no fold in `{given}`", UNIQUE)
    elif path.is_file():
        names = _folds_of_file(tables, path)
    else:
        hint = "name the column with the fold of each row, or a CSV file with row IDs and `fold`"
        raise Refused(f"folds: `{path.name}` is neither a column of {train.file} nor a file", hint)
    names = names.filter(pl.Series(tables.labelled))
    different = names.unique().to_list()
    if not 2 <= len(different) <= MAX_GIVEN:
        has = "has one fold for all labelled rows; at least two are needed"
        if different[1:]:
            has = f"has {len(different)} folds; at most {MAX_GIVEN} are possible"
        raise Refused(f"folds: `{path.name}` {has}", UNIQUE)
    found = np.full(train.rows, -1)
    found[tables.labelled] = names.replace_strict(texts.in_order(different), list(range(len(different)))).to_numpy()
    return found


def _id(tables: Tables, row: Any) -> str:
    return tables.train.column(tables.roles.id).cell(row) if tables.roles.id else str(row)


def _folds_of_file(tables: Tables, path: Path) -> pl.Series:
    train, id = tables.train, tables.roles.id
    frame = pl.read_csv(path, infer_schema=False).with_columns(pl.all().str.strip_chars())
    frame, name = frame.rename(lambda name: name.strip().lower()), (id or "row").lower()
    if not {name, "fold"} <= set(frame.columns):
        hint = "write a CSV file with a line for each row: its ID and its fold"
        columns = listed(frame.columns)
        raise Refused(f"{path.name} has the columns {columns}, not `{id or 'row'}` and `fold`", hint)
    frame = frame.filter(pl.col("fold") != "")
    as_numbers = id is not None and tables.as_numbers(id)
    of_row = train.column(id).values if id else pl.Series(range(train.rows)).cast(pl.String)
    given = frame.select("fold", pl.col(name).alias("row"), pl.Series("key", keys(frame[name], as_numbers)))
    own = pl.DataFrame({"key": keys(of_row, as_numbers)})
    if len(twice := given.filter(pl.col("key").is_duplicated())):
        raise Refused(f"{path.name} has the row `{twice['row'][0]}` twice", UNIQUE)
    found = own.join(given, on="key", how="left", maintain_order="left")["fold"]
    if (without := np.flatnonzero(tables.labelled & found.is_null().to_numpy())).size:
        raise Refused(f"row `{_id(tables, without[0])}` of {train.file} has no fold in {path.name}", UNIQUE)
    asked = [pl.DataFrame({"key": tables.ids(tables.test)})] if tables.test and id in tables.test else []
    unknown = given.join(pl.concat([own, *asked]), on="key", how="anti")["row"].sort()
    if len(unknown):
        raise Refused(f"{path.name} has a fold for the row `{unknown[0]}`, which {train.file} does not have", UNIQUE)
    return found


def names_rows(tables: Tables) -> bool:
    """Whether each training row has an ID of its own."""
    name = tables.roles.id
    if name is None or name == "fold" or name not in tables.train:
        return False
    ids = tables.ids(tables.train)
    return bool(ids.all()) and len(np.unique(ids)) == len(ids)


def has_rare_class(tables: Tables, held: int) -> str | None:
    """The first of several targets with a class that too few held-out rows would have. The draw is stratified by one
    target only."""
    if not tables.roles.classes or len(tables.roles.targets) < 2:
        return None
    columns = tables.train.facts
    return next((name for name in tables.roles.targets if columns[name]["rarest"] * held < 10), None)
