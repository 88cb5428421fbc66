"""The folders that scripts see, and the files of labels that they do not see. Rows are written as they lie in the
tables. A folder is complete whenever it has its name."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from .aliases import Answer, Array
from .dates import DAY
from .facts import table_of
from .files import link
from .frames import Table
from .frames import read as read_table
from .holdout import HoldoutPlan, names_rows
from .periods import Timeline
from .rows import at, codes, copy, drawn, keys, numbered, write
from .split import Split, Tables, read, series
from .tables import MISSING, ROW_ID, Refused, places

FOLDS = "folds.csv"
DONORS = 1_000
"""Rows of the sample submission whose values held-out rows get."""
YEAR, WEEK = 365.25 * DAY, 7 * DAY
OWN_TIMES = 0.9
"""A single series has a row of its own at this share of its times at least."""
EARLIER = 3
"""Seasons before the latest known one that are looked for, where values are missing."""
REPETITIONS, MAX_COPIED, MAX_CELLS, MIN_COPIED = 5, 200_000, 20_000_000, 100
NEW = "\0new"
MIN_OF_BLOCK, BLOCKS_OF_TIMES = 50, 10
Fill = Callable[[Path], Any]


def complete(into: Path, fill: Fill) -> Any:
    """Makes a file or a folder that has its name once it is complete; replaces an earlier one."""
    part = into.with_name(f".{into.name}.part")
    _remove(part)
    part.parent.mkdir(parents=True, exist_ok=True)
    try:
        found = fill(part)
        if into.is_dir() and not into.is_symlink():
            _remove(into)
        part.rename(into)
    except BaseException:
        _remove(part)
        raise
    return found


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


# The data without held-out rows


def search(tables: Tables, plan: HoldoutPlan, folds: Array | None, into: Path, labels: Path) -> None:
    """Writes the data that scripts of the search see, and the labels that they do not see. The training table lacks the
    held-out rows; the test table and the sample submission have them without labels: beside their own rows or, if they
    are a period, instead of them."""
    train, test, sample = tables.train, tables.test, tables.sample
    assert test is not None
    assert sample is not None
    kept = plan.kept(train.rows)
    is_held = np.zeros(train.rows, dtype=bool)
    is_held[plan.held] = True
    held = at(train, is_held)

    def fill(part: Path) -> None:
        link(tables.folder, part, {train.file, test.file, sample.file, FOLDS if folds is not None else train.file})
        copy(train, kept, part / train.file)
        turns = _turns(plan, 0 if plan.is_period else test.rows)
        for table, donors in ((test, 0), (sample, DONORS)):
            write(_extended(table, held, tables.roles.targets, turns, plan.seed, donors), part / table.file)
        if folds is not None:
            write_folds(tables, folds, plan, part / FOLDS)

    names = dict.fromkeys([tables.roles.id, *tables.roles.targets, plan.by, tables.roles.weight])
    complete(labels, partial(_secret, held.select(name for name in names if name in held.columns)))
    complete(into, fill)


def _turns(plan: HoldoutPlan, others: int) -> Array:
    """For each row of the test table of the search, whether it is held out. The sample submission has the same turns,
    so that the orders of both agree as before."""
    is_held = np.zeros(len(plan.held) + others, dtype=bool)
    if plan.come_first:
        is_held[: len(plan.held)] = True
    else:
        is_held[np.argsort(drawn(numbered(len(is_held)), plan.seed, "turns"))[: len(plan.held)]] = True
    return is_held


def _extended(
    table: Table, held: pl.DataFrame, targets: Sequence[str], turns: Array, seed: int, donors: int
) -> pl.DataFrame:
    """A table with held-out rows of the training table where it is their turn. Labels have no place there: columns that
    do not come from the training table have cells of some rows of their own, or none."""
    own, count = table.frame, min(table.rows, donors)
    fills = own[np.sort(np.argsort(drawn(numbered(own.height), seed, "donors"))[:count])]
    at = (drawn(numbered(len(held)), seed, "fill") % np.uint64(max(count, 1))).astype(np.int64)
    empty = pl.Series([""]).new_from_index(0, len(held))

    def cells(name: str) -> pl.Series:
        is_feature = name in held.columns and name not in targets
        return held[name] if is_feature else fills[name].gather(at) if count else empty

    made = pl.DataFrame([cells(name).alias(name) for name in own.columns])
    order = np.empty(len(turns), dtype=int)
    order[turns], order[~turns] = np.arange(len(held)) + own.height, np.arange((~turns).sum())
    return pl.concat([own, made])[order]


def link_all_rows(tables: Tables, folds: Array | None, into: Path) -> None:
    """Links to the data, and the folds of all rows."""

    def fill(part: Path) -> None:
        link(tables.folder, part, [FOLDS] if folds is not None else [])
        if folds is not None:
            write_folds(tables, folds, None, part / FOLDS)

    complete(into, fill)


def write_folds(tables: Tables, folds: Array, plan: HoldoutPlan | None, into: Path) -> None:
    """The ID and the fold of each row that is validated, in the order of the training table that scripts see."""
    _validated(tables, folds, plan, pl.Series("fold", folds), into)


def _validated(tables: Tables, folds: Array, plan: HoldoutPlan | None, cells: pl.Series, into: Path) -> None:
    kept = plan.kept(len(folds)) if plan else np.ones(len(folds), dtype=bool)
    name = tables.roles.id if plan is not None or names_rows(tables) else None
    id = tables.train.column(name).values if name and name != "fold" else pl.Series(np.cumsum(kept) - 1)
    frame = pl.DataFrame([id.alias(name if name and name != "fold" else "row"), cells])
    frame.filter(pl.Series((folds >= 0) & kept)).write_csv(into)


# Seasonal naive forecasts


def seasonal_naive(times: Timeline, plan: HoldoutPlan | None, folds: Array, into: Path) -> bool:
    """What any forecast is to be compared with: the target that the series of a row had at the same time of the week,
    if times are a day apart or less, or of the year, if they are further apart. The value is the latest one that models
    of the row's period know; where there is none, the last known value of the series; for a new series the mean of all
    known values. Returns whether there are any."""
    tables, targets = times.tables, times.tables.roles.targets
    if times.own or times.by_group or len(targets) != 1 or tables.train.kind(targets[0]) not in ("integer", "number"):
        return False
    columns = series(tables, times.column, lambda name: name in (tables.roles.id, *targets))
    of = codes(tables.joint_keys(columns)[0])[0] if columns else np.zeros(tables.train.rows, dtype=int)
    value, at = tables.train.column(targets[0]).numbers, times.times
    kept = plan.kept(len(at)) if plan else True
    known = np.flatnonzero(tables.labelled & kept & np.isfinite(value) & ~np.isnan(at))
    known = known[np.lexsort((at[known], of[known]))]
    steps = np.diff(at[known])[(np.diff(of[known]) == 0) & (np.diff(at[known]) > 0)]
    own_times = len(np.unique(at[known])) >= OWN_TIMES * len(known)
    if not len(steps) or not (columns or own_times):
        return False
    step = float(np.sort(steps)[len(steps) // 2])
    seasons = _seasons(times.clock, step)
    history = pl.DataFrame({"of": of[known], "at": at[known], "value": value[known]}).sort("at")
    forecast = np.full(len(at), np.nan)
    for fold, period in enumerate(times.folds(plan is not None and plan.is_period)):
        rows = np.flatnonzero(folds == fold)
        asked = pl.DataFrame({"row": rows, "of": of[rows], "at": at[rows]})
        forecast[rows] = _forecasts(history.filter(pl.col("at") <= period.learn), asked, period.learn, step, seasons)
    complete(into, lambda part: _validated(tables, folds, plan, pl.Series(targets[0], forecast), part))
    return True


def _seasons(clock: str, step: float) -> tuple[float, ...]:
    """The lengths of the seasons that are looked for, the best first. Numbers have none: their unit is not known."""
    if clock == "number" or step > 0.3 * YEAR:
        return ()
    return (WEEK, DAY) if step < DAY else (WEEK,) if step <= 1.5 * DAY else (YEAR,)


def _forecasts(
    known: pl.DataFrame, asked: pl.DataFrame, learn: float, step: float, seasons: tuple[float, ...]
) -> Array:
    """The value of the same season, else the last one of the series, else the mean of all."""
    found = []
    for season, earlier in product(seasons, range(EARLIER)):
        # A leap year is longer than the mean one.
        latest = ((pl.col("at") - learn - step / 2) / season).ceil().clip(1)
        wanted = asked.with_columns(at=pl.col("at") - (latest + earlier) * season).sort("at")
        near = wanted.join_asof(known, on="at", by="of", strategy="nearest", tolerance=step / 2, check_sortedness=False)
        found.append(near.sort("row")["value"])
    last = known.group_by("of", maintain_order=True).agg(pl.col("value").last())
    found += [asked.join(last, on="of", how="left", maintain_order="left")["value"]]
    frame = pl.DataFrame({str(at): one for at, one in enumerate(found)})
    return frame.select(pl.coalesce(pl.all()).fill_null(known["value"].mean())).to_series().to_numpy()


# Test rows of a single table, and sample submissions


def free_name(tables: Iterable[Table]) -> str:
    """The name of a column with row numbers, which no column has."""
    taken, name = {column for table in tables for column in table.names}, ROW_ID
    while name in taken:
        name += "_"
    return name


def divide(
    tables: Tables, held: Array, sample: Sequence[tuple[str, str]], by: str | None, into: Path
) -> dict[str, Any]:
    """Divides the training table into a training table, a test table and a sample submission, and writes the labels of
    the test rows. Rows without any label are in neither table."""
    train, targets = tables.train, list(tables.roles.targets)
    id = tables.roles.id or free_name([train])
    has_label = np.zeros(train.rows, dtype=bool)
    for name in targets:
        has_label |= train.column(name).values.is_not_null().to_numpy()
    kept = has_label.copy()
    kept[held] = False
    is_held = np.zeros(train.rows, dtype=bool)
    is_held[held] = True
    test = at(train, is_held)
    if not tables.roles.id:
        test.insert_column(0, pl.Series(id, held).cast(pl.String))
    further = [name for name in dict.fromkeys([by, tables.roles.weight]) if name and name not in (id, *targets)]
    complete(into / "labels.csv", lambda part: _secret(test.select(id, *targets, *further), part))
    write(test.drop(targets), into / "test.csv")
    test.select(id, *(pl.lit(value).alias(name) for name, value in sample)).write_csv(into / "sample_submission.csv")
    cells = at(train, ~has_label).select(targets)
    words = sorted({cell.strip() for name in targets for cell in cells[name].unique()} - {""})
    named = train.source.lazy if tables.roles.id else train.source.lazy.with_row_index(id)
    rest = named.filter(pl.lit(pl.Series(kept)))
    # The table that is divided may be the one that is written.
    complete(into / "train.csv", partial(write, rest))
    return {"id": id, "unlabelled": int((~has_label).sum()), "words": words}


def _secret(frame: pl.DataFrame, into: Path) -> None:
    """Only this user may read it."""
    with open(os.open(into, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        frame.write_csv(file)


def make_sample(tables: Tables, sample: Sequence[tuple[str, str]], into: Path) -> dict[str, Any]:
    """Writes the sample submission of a task that has none. Where the tables have no ID column, both get one: the row
    number of the test table, which the training table goes on counting from."""
    assert tables.test is not None
    given = tables.roles.id if tables.roles.id in tables.test else None
    id, first = given or free_name([tables.train, tables.test]), 0
    ids = tables.test.source.lazy.select(given).collect()[given] if given else pl.Series(range(tables.test.rows))
    made = pl.DataFrame([ids.alias(id)]).with_columns(pl.lit(value).alias(name) for name, value in sample)
    into.mkdir(parents=True, exist_ok=True)
    made.write_csv(into / "sample_submission.csv")
    for table in () if given else (tables.test, tables.train):
        complete(into / table.file, partial(table.source.lazy.with_row_index(id, first).sink_csv))
        first += table.rows
    return {"id": id, "has_made_ids": given is None}


# Submissions and copies of the data


def trim(submission: str | Path, sample: str | Path, id: str, into: str | Path) -> Answer:
    """Takes the predictions for held-out rows out of a submission: writes the rows whose IDs the original sample
    submission has, in its order."""
    given, asked = (read_table(path) for path in (submission, sample))
    texts = [table.column(id).text.str.strip_chars() for table in (given, asked)]
    as_numbers = all(text.str.contains(r"^[+-]?\d{1,15}(\.0*)?$").all() for text in texts)
    rows, has = places(*(keys(text, as_numbers) for text in texts))
    if not has.all():
        lacking = f"it has no row with {id} {texts[1].filter(~has)[0]}"
        raise Refused(f"cannot take the rows of the sample submission from {submission}: {lacking}")
    complete(Path(into), partial(write, given.frame[rows]))
    return {}


def permuted(
    folder: str | Path, ids: str | Path, id: str, kept: Sequence[str], into: str | Path | None = None
) -> Answer:
    """Copies of labelled rows: one as they are, then one for each column and repetition, in which that column is
    permuted. So the importance of every column takes one fit. Makes a copy of the folder whose test table they are, if
    `into` is given."""
    path = Path(folder)
    train, test, sample = (table_of(path, role) for role in ("train", "test", "sample"))
    frames = [_whole(path / name) for name in (test, sample)]
    wanted = pl.read_csv(ids, infer_schema=False)[id].str.strip_chars()
    rows = frames[0].filter(pl.col(id).str.strip_chars().is_in(wanted.implode()))
    columns = [name for name in rows.columns if name not in (id, *kept)]
    if not len(rows) or not columns:
        raise Refused("the test table has no row or no column to permute")
    budget = min(MAX_COPIED, MAX_CELLS // len(rows.columns))
    most = min(budget // (1 + len(columns)), len(rows))
    if most < min(len(rows), MIN_COPIED):
        few = min(len(rows), MIN_COPIED)
        raise Refused(f"the table has {len(columns)} columns, too many to permute each of them for {few} rows")
    times = min(max((budget // most - 1) // len(columns), 1), REPETITIONS)
    rows = rows[np.sort(_shuffled(len(rows), "rows")[:most])]
    found = {"ids": rows[id].to_list(), "columns": columns, "repetitions": times}
    if into is None:
        return found
    copies = [rows]
    for name in columns:
        copies += [rows.with_columns(rows[name].gather(_shuffled(most, f"{name} {again}"))) for again in range(times)]
    own = rows.select(pl.col(id)).join(frames[1], on=id, how="left", maintain_order="left").select(frames[1].columns)
    if own.null_count().sum_horizontal().item():
        raise Refused("the sample lacks rows of the test table")
    made, answers = pl.concat(copies), pl.concat([own] * len(copies))
    further, fresh = _further_tables(path, [train, test, sample], made[id].str.strip_chars()), None
    if further is not None:
        tables = [table for table in (_whole(path / train), frames[0], *further.values()) if id in table.columns]
        fresh = _new_ids(pl.concat([table[id].str.strip_chars() for table in tables]), len(made))
    if further is None or fresh is None:
        further = {}
    else:
        named = pl.DataFrame({id: made[id].str.strip_chars(), NEW: fresh})
        made, answers = (table.with_columns(fresh.alias(id)) for table in (made, answers))
        for name, table in further.items():
            copied = named.join(table.with_columns(pl.col(id).str.strip_chars()), on=id)
            further[name] = pl.concat([table, copied.drop(id).rename({NEW: id}).select(table.columns)])
    link(path, Path(into), [test, sample, *further])
    for name, table in {test: made, sample: answers, **further}.items():
        table.write_csv(Path(into, name))
    return found


def _whole(path: Path) -> pl.DataFrame:
    return read_table(path).source.lazy.collect().fill_null("")


def _shuffled(count: int, use: str) -> Array:
    return np.argsort(drawn(numbered(count), 1, use), kind="stable")


def _further_tables(folder: Path, but: Sequence[str], ids: pl.Series) -> dict[str, pl.DataFrame] | None:
    """The further tables that have most of these IDs in their column of the same name. None if a file may refer to IDs
    in another way, or has too many rows of them."""
    found, copies = {}, len(ids) / ids.n_unique()
    known = {*but, FOLDS, "description.md"}
    for name in sorted(name for name in os.listdir(folder) if not name.startswith(".") and name not in known):
        if not name.endswith(".csv"):
            return None
        table = _whole(folder / name)
        texts = [table[one].str.strip_chars() for one in table.columns]
        refers = [text.name for text in texts if np.mean(ids.is_in(text.implode()).to_numpy()) > 0.5]
        if refers not in ([], [ids.name]) or (refers and len(table) * len(texts) * copies > MAX_CELLS):
            return None
        if refers:
            found[name] = table
    return found


def _new_ids(known: pl.Series, count: int) -> pl.Series | None:
    """New IDs like these: further numbers, with as many digits if these begin with zeros, between the same texts; or
    others of as many hexadecimal digits. None if IDs may tell something."""
    before, digits, after = known.str.extract_groups(r"^(\D*)([0-9]{1,10})(\D*)$").struct.unnest().get_columns()
    lengths = known.str.len_chars().unique()
    if digits.null_count() == 0 and before.n_unique() == after.n_unique() == 1:
        is_padded = digits.str.contains("^0.").any()
        numbers = np.arange(count) + digits.cast(pl.Int64).to_numpy().max() + 1
        width, most = (len(digits[0]), 10 ** len(digits[0])) if is_padded else (1, 2**31)
        if numbers[-1] >= most or (is_padded and len(lengths) > 1):
            return None
        return pl.Series([f"{before[0]}{number:0{width}}{after[0]}" for number in numbers])
    if not known.str.contains("^[0-9a-f-]{16,}$").all() or len(lengths) > 1:
        return None
    letters, rng = np.array([list(one) for one in known.unique().sort()]), np.random.default_rng(0)
    letters = letters[rng.integers(len(letters), size=(count, letters.shape[1])), np.arange(letters.shape[1])]
    found = pl.Series(["".join(one) for one in letters])
    return None if found.is_in(known.implode()).any() or found.n_unique() < count else found


def shuffle_targets(
    folder: Path | str, targets: Sequence[str], words: Sequence[str], split: Split | None, seed: int, into: Path | str
) -> Answer:
    """Makes a copy of the data in which labels are permuted among the labelled rows, within groups or blocks of time if
    the split is by them: a script without a leak scores no better than chance. `words` look missing, but are labels."""
    path = Path(folder)
    train = table_of(path, "train")
    frame = _whole(path / train)
    missing = sorted(MISSING.difference(words))
    cells = frame.select(pl.all().str.strip_chars())
    rows = np.flatnonzero(~cells.select(pl.any_horizontal(pl.col(targets).is_in(missing))).to_series().to_numpy())
    labels = frame.select(pl.concat_str(targets, separator="\x1f")).to_series()[rows]
    column = split.get("column") if split and split["kind"] in ("groups", "time") else None
    blocks = np.zeros(len(rows), dtype=int)
    if split and column in cells.columns:
        values = cells[column].replace(list(MISSING), [None] * len(MISSING))[rows]
        blocks = _blocks(values, split["kind"] == "time", codes(keys(labels, False))[0])
    order = np.lexsort((drawn(numbered(len(rows)), seed, "labels"), blocks))
    moved = np.empty(len(rows), dtype=int)
    moved[np.argsort(blocks, kind="stable")] = order
    place = np.arange(len(frame))
    place[rows] = rows[moved]
    link(path, Path(into), [train])
    frame.with_columns(frame[name].gather(place) for name in targets).write_csv(Path(into, train))
    of_rows = np.zeros(len(frame), dtype=int)
    of_rows[rows] = blocks
    return {"table": train, "blocks": of_rows.tolist()}


def _blocks(texts: pl.Series, by_time: bool, labels: Array) -> Array:
    """The block of each row: whole groups, or neighbouring times, joined until a block has enough rows with different
    labels."""
    clocks = (read(clock, texts.drop_nulls()) for clock in ("number", "month-first", "day-first"))
    times = next((at for at in clocks if not np.isnan(at).any()), None)
    if by_time and times is not None:
        value = np.full(len(texts), -np.inf)
        value[texts.is_not_null().to_numpy()] = times
        unit = np.unique(value, return_inverse=True)[1]
    else:
        unit = texts.fill_null("").rank("dense").to_numpy().astype(int) - 1
    fewest = max(MIN_OF_BLOCK, -(-len(texts) // BLOCKS_OF_TIMES)) if by_time else MIN_OF_BLOCK
    before = np.cumsum(np.bincount(unit)) - np.bincount(unit)
    while True:
        found = np.unique(before // fewest, return_inverse=True)[1][unit]
        have = pl.DataFrame({"block": found, "label": labels}).group_by("block").agg(pl.col("label").n_unique())
        if len(have) == 1 or (have["label"] > 1).all():
            return np.asarray(found)
        fewest *= 2


def replace_test_rows(folder: str | Path, id: str | None, seed: int, into: str | Path) -> Answer:
    """Makes a copy of the data with half of the test rows replaced by the others, but for their IDs: a validation score
    does not depend on them."""
    path = Path(folder)
    test = table_of(path, "test")
    frame = _whole(path / test)
    replaced = drawn(numbered(len(frame)), seed, "replaced rows") % np.uint64(2) == 0
    others = np.flatnonzero(~replaced)
    place = np.arange(len(frame))
    if len(others):
        numbers = drawn(numbered(len(frame)), seed, "drawn rows") % np.uint64(len(others))
        place = np.where(replaced, others[numbers.astype(int)], place)
    link(path, Path(into), [test])
    made = frame[place]
    (made.with_columns(frame[id]) if id in frame.columns else made).write_csv(Path(into, test))
    return {}
