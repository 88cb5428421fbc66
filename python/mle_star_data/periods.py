"""The training time in periods like that of the test table: as long, and as far from the rows that models learn from. A
model that is validated on such a period solves the task of the test table, only earlier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from .aliases import Array, Keys, Numbers
from .dates import ALL_UNITS, DAY
from .rows import codes
from .split import Split, Tables, TimeColumn, clock, new_groups
from .tables import Refused

MIN_OF_DAYS = 5.0 * DAY
"""Periods that are at least so long have whole days: nights without rows do not shift them."""
MAX_FOLDS = 5
STEPS, MIN_USUAL, USUAL_AMONG, USUAL_LENGTHS = 1.5, 3, 50, 4.0
"""A gap counts if it is longer than so many steps, unless so many differences are as long: one of so many, or one in so
many lengths of a period, such as nights and weekends."""
EARLIEST, BETWEEN = -100.0, 0.5
"""The places of rows in no stretch, of which all models learn, and of those in the gap before the last stretches."""
LONGER, USUAL_STEPS = 1.5, 0.95
"""Series have a gap before their test rows if it is so much longer than all but a few of their steps."""
NEW_BY, NEW_FACTOR = 0.02, 1.5
"""By how much more new series the test table has than earlier periods if that is told."""
WEEK, MONTH = 7.0 * DAY, 30.436875 * DAY
UNITS = ((DAY, "day"), (3600.0, "hour"), (60.0, "minute"), (1.0, "second"))


@dataclass(frozen=True)
class Bounds:
    """The first and the last time of a period, and the last time of the rows that its models learn from."""

    learn: float
    first: float
    last: float

    def has(self, times: Numbers) -> Array:
        return (times >= self.first) & (times <= self.last)


@dataclass(frozen=True)
class Period:
    """The labelled rows of a period by their places in the order of time: those before `learn` are learnt from."""

    learn: int
    start: int
    stop: int


@dataclass(frozen=True)
class Shape:
    """What a period is like, in the unit of the times; the gap before it is 0 unless it is longer than usual."""

    span: float
    step: float
    gap: float = 0.0

    @classmethod
    def of(cls, times: Numbers, first: float, last: float) -> Shape | None:
        """The shape of a test table after training rows at these times, which ascend."""
        steps = np.diff(times)
        steps = np.sort(steps[steps > 0])
        if not len(steps):
            return None
        shape = cls(last - first, float(steps[len(steps) * 5 // 100]))
        gap = first - times[-1]
        alike = len(steps) - int(np.searchsorted(steps * STEPS, gap))
        among_steps = alike * USUAL_AMONG >= len(steps)
        in_time = alike * USUAL_LENGTHS * (shape.span + shape.step) >= times[-1] - times[0]
        is_usual = alike >= MIN_USUAL and (among_steps or in_time)
        return replace(shape, gap=gap) if gap > STEPS * shape.step and not is_usual else shape

    def before(self, times: Numbers) -> Period | None:
        """The period that ends with the last of these times. Half a step, because months differ in length."""
        if not len(times):
            return None
        start = learn = int(np.searchsorted(times, times[-1] - self.span - self.step / 2))
        if self.gap > 0:
            learn = int(np.searchsorted(times, times[start] - self.gap + self.step / 2))
        return Period(learn, start, len(times)) if learn > 0 else None

    def folds(self, times: Numbers) -> list[Period]:
        """The periods that can be validated, the earliest first: the rows before one are a quarter of all and reach as
        far as a period does."""
        found: list[Period] = []
        while len(found) < MAX_FOLDS and (fold := self.before(times[: found[-1].start] if found else times)):
            if times[fold.learn - 1] - times[0] < self.span - self.step / 2 or fold.learn * 4 < len(times):
                break
            found.append(fold)
        return found[::-1]


@dataclass(frozen=True)
class Timeline:
    """The times of the training rows and of the test rows."""

    tables: Tables
    column: str
    clock: str
    cells: Numbers
    """The time of each training row in its own cell."""
    times: Numbers
    """The same, or that of the first row of its group, or the place of its stretch; not a number if it has none."""
    shape: Shape
    ordered: Numbers
    """The times of the labelled rows that are not later than the test table, in ascending order."""
    days: Numbers
    """The days of these times where periods have whole days, else the same."""
    test: dict[str, Any]
    later: int = 0
    own: SeriesEnds | None = None
    by_group: bool = False

    def note(self) -> str | None:
        if self.later:
            are = "s are" if self.later > 1 else " is"
            return f"{self.later} labelled row{are} later than the test table and in no period"
        return None

    @cached_property
    def last(self) -> Period | None:
        """The period that ends with the last labelled row, if another one is left before it."""
        last = self.shape.before(self.days)
        return last if last and self.shape.folds(self.days[: last.learn]) else None

    def stretches(self, beside_held_out: bool) -> list[Period]:
        end = self.last.learn if beside_held_out and self.last else len(self.days)
        return self.shape.folds(self.days[:end])

    def bounds(self, period: Period) -> Bounds:
        at = self.ordered
        return Bounds(float(at[period.learn - 1]), float(at[period.start]), float(at[period.stop - 1]))

    def folds(self, beside_held_out: bool) -> list[Bounds]:
        """The periods that are validated, the earliest first. Beside a held-out period, they are earlier."""
        return [self.bounds(period) for period in self.stretches(beside_held_out)]

    def held_out(self) -> Bounds:
        if self.last is not None:
            return self.bounds(self.last)
        if self.own is not None:
            raise Refused("the series are too short for a held-out period beside a validated one")
        raise Refused(f"the training time is too short for a held-out period of {self.length()} beside a validated one")

    def length(self) -> str:
        return self.own.length if self.own else self.words(self.shape.span + self.shape.step)

    def words(self, size: float) -> str:
        return words(self.clock, self.column, self.own.step if self.own else self.shape.step, size)

    def periods(self, held_out: int | None) -> dict[str, Any]:
        """The periods for people, with the number of held-out rows if the last period is held out."""
        folds, last = self.stretches(held_out is not None), self.last if held_out is not None else None
        told = [self.for_people(period) for period in folds]
        gap = self.own.gap if self.own else max(self.shape.gap - self.shape.step, 0.0)
        size = gap
        if gap > 0 and self.clock not in ("number", "month-first", "day-first", *ALL_UNITS):
            # Numbers that are written dates have no unit: the largest difference.
            every = map(self.bounds, [*folds, *filter(None, [last])])
            apart = [float(self.cell(one.first)) - float(self.cell(one.learn)) - 0.5 for one in every]
            size = max(apart, default=0.0)
        return {
            "train": self.for_people(Period(0, 0, len(self.ordered))),
            "test": self.test,
            "held_out": self.for_people(last) | {"rows": held_out} if last else None,
            "folds": told,
            "length": self.length(),
            "gap": self.words(gap) if gap > 0 else "",
            "gap_size": size,
        }

    def for_people(self, period: Period) -> dict[str, Any]:
        at = [float(self.ordered[period.start]), float(self.ordered[period.stop - 1])]
        moments, rows = at, period.stop - period.start
        if self.own:
            inside = self.cells[self.tables.labelled & (self.times >= at[0]) & (self.times <= at[1])]
            moments, at = [inside.min(), inside.max()], [max(at[0], -MAX_FOLDS - 2.0) - 1.0, at[1]]
        return {"from": self.cell(moments[0]), "to": self.cell(moments[1]), "at": at, "rows": rows}

    def cell(self, time: float) -> str:
        return self.tables.train.column(self.column).cell(np.argmax(self.cells == time))


def timeline(tables: Tables, split: Split) -> Timeline:
    """The times of a task that is split by time."""
    column = split["column"]
    course = clock(tables, column)
    if course is None:
        raise Refused(f"the values of `{column}` have no order of time")
    if split.get("series"):
        return _series_timeline(tables, course, split["series"])
    group = split.get("groups")
    times, labelled = course.train, tables.labelled
    if group:
        times = firsts(times, tables.keys(group)[0], labelled)
    ordered = np.sort(times[labelled & ~np.isnan(times)])
    if not len(ordered):
        raise Refused(f"no labelled row has a value of `{column}`")
    if not tables.in_both(column) or tables.test is None:
        raise Refused(f"the test table has no `{column}`")
    test = course.test
    if group and (of_test := tables.keys(group)[1]) is not None:
        test = firsts(test, of_test, ~np.isnan(test), once=True)
    test = test[~np.isnan(test)]
    if not len(test):
        raise Refused(f"no row of the test table has a value of `{column}`")
    # What is later than the test table is in no period before it.
    known = int(np.searchsorted(ordered, test.max(), side="right"))
    later, ordered = len(ordered) - known, ordered[:known]
    if not known:
        raise Refused(f"the rows of the test table are earlier in `{column}` than all labelled rows")
    # If nearly all of its rows are later, those few that are not do not count.
    late = test > ordered[-1]
    counted = test if late.sum() * 100 < len(test) * 99 else test[late]
    first, end = float(counted.min()), float(counted.max())
    shape, days = Shape.of(ordered, first, end), ordered
    if shape and course.clock != "number" and shape.step < DAY and shape.span >= MIN_OF_DAYS:
        days = np.floor(ordered / DAY) * DAY
        shape = Shape.of(days, first // DAY * DAY, _last_day(test, first, end))
    if shape is None:
        raise Refused(f"all labelled rows have the same value of `{column}`")
    period = _test_period(course, first, end, [first, end])
    found = Timeline(
        tables, column, course.clock, course.train, times, shape, ordered, days, period, later, by_group=bool(group)
    )
    if not found.stretches(False):
        raise Refused(f"the training time is too short for periods of {found.length()} as in the test table")
    return found


def _test_period(course: TimeColumn, first: float, end: float, at: list[float]) -> dict[str, Any]:
    assert course.tables.test is not None
    return {"from": course.cell(True, first), "to": course.cell(True, end), "at": at, "rows": course.tables.test.rows}


def firsts(times: Numbers, of: Keys, counted: Array, once: bool = False) -> Numbers:
    """For each row the time of the first counted row of its group; rows without a group keep their own."""
    at, count = codes(of)
    first = np.full(count + 1, np.inf)
    np.fmin.at(first, at[counted], times[counted])
    if once:
        return np.concatenate([first[:-1][np.isfinite(first[:-1])], times[(at < 0) & counted]])
    return np.where((at >= 0) & np.isfinite(first[at]), first[at], times)


def _last_day(times: Numbers, first: float, end: float) -> float:
    """The last day of a test table. One with less than a quarter of the usual rows, such as the first hour after
    midnight, does not count."""
    day = float(end // DAY * DAY)
    count = end // DAY - first // DAY + 1
    return day - DAY if (times >= day).sum() * 4 * count < len(times) else day


# Series that each end at a time of their own


class SeriesEnds(NamedTuple):
    """Stretches of series that each end at a time of their own."""

    length: str
    gap: float
    """Beyond the usual step."""
    step: float


def _series_timeline(tables: Tables, course: TimeColumn, columns: Sequence[str]) -> Timeline:
    """Series that each end at a time of their own: the last stretch of each series, the stretch before it, and so on.
    A stretch has as many times as the test rows of its series, and the same gap before it. Rows have a place instead of
    a time: 0 in the last stretches, -1 in those before. Most of the series have to reach a stretch, and a quarter of
    the times of each are left to learn from."""
    rows, asked = course.in_series(columns)
    at, both = pl.col("at"), pl.col("asked") + pl.col("between")
    steps = rows.sort("of", "at").select(at.diff().over("of")).filter(at > 0)["at"].to_numpy()
    test = asked.group_by("of").agg(asked=at.n_unique(), span=at.max() - at.min(), first=at.min())
    apart = rows.group_by("of").agg(at.max()).join(test, on="of").select(pl.col("first") - at).to_series().to_numpy()
    if not len(steps) or not len(apart):
        raise Refused("the series are too short for periods")
    step, gap = float(np.median(steps)), float(np.median(apart))
    gap = gap - step if gap > LONGER * np.quantile(steps, USUAL_STEPS) else 0.0
    rank = at.rank("dense", descending=True).over("of").cast(pl.Int64) - 1
    rows = rows.join(test, on="of").with_columns(rank=rank, between=pl.lit(round(gap / step)))
    rows = rows.with_columns(place=pl.col("rank") // both, deepest=at.n_unique().over("of") * 3 // (both * 4))
    having = [rows.filter(pl.col("deepest") > place)["of"].n_unique() for place in range(MAX_FOLDS + 1)]
    deepest = sum(count * 2 >= max(having[0], 1) for count in having)
    rows = rows.filter((pl.col("place") < pl.col("deepest")) & (pl.col("place") < deepest))
    inside = rows["rank"] % (rows["asked"] + rows["between"]) < rows["asked"]
    times = np.full(tables.train.rows, EARLIEST)
    times[rows["row"].to_numpy()] = np.where(inside, -rows["place"], np.where(rows["place"] == 0, BETWEEN, EARLIEST))
    times[np.isnan(course.train)] = np.nan
    few, many = test["asked"].to_numpy().min(), test["asked"].to_numpy().max()
    spans = test["span"].to_numpy()
    length = f"{few} to {many} times" if few < many else _counted(many, "time")
    if spans.max() - spans.min() <= step / 2:
        length = words(course.clock, course.column, step, spans[0] + step)
    ends = asked["at"].to_numpy()
    period = _test_period(course, ends.min(), ends.max(), [0.0, 1.0])
    ordered, own = np.sort(times[tables.labelled & (times <= 0)]), SeriesEnds(length, gap, step)
    found = Timeline(
        tables, course.column, course.clock, course.train, times, Shape(0.0, 1.0), ordered, ordered, period, own=own
    )
    if not deepest or not found.stretches(False):
        raise Refused("the series are too short for periods")
    return found


# Series that only the test table has


def new_series(of: Timeline) -> dict[str, Any] | None:
    """The column whose series are new in clearly more rows of the test table than in earlier periods: where new series
    come all the time, earlier periods have as many."""
    one = new_groups(of.tables)
    before = _natural(of, of.tables.joint_keys(one.columns)[0]) if one else 0.0
    if one is None or one.share < max(before + NEW_BY, before * NEW_FACTOR):
        return None
    why = "the rows of training series stay in the training table"
    return {"columns": list(one.columns), "test": one.share, "before": before, "search": None, "why": why}


def _natural(of: Timeline, keys: Keys) -> float:
    """The share of the rows of all periods whose series have no row that models learn from."""
    at, count = codes(keys)
    first = np.full(count + 1, np.inf)
    np.fmin.at(first, at, of.times)
    every, new = 0, 0
    for period in of.folds(False):
        rows = of.tables.labelled & (at >= 0) & period.has(of.times)
        every += int(rows.sum())
        new += int((first[at[rows]] > period.learn).sum())
    return new / max(every, 1)


def words(clock: str, column: str, step: float, size: float) -> str:
    """A length of time: `28 days`, `24 months`, or `12 steps of week` for a column of numbers."""
    if clock == "number":
        is_steps = _is_whole(size / step)
        return f"{_counted(size / step, 'step') if is_steps else _number(size)} of `{column}`"
    if step >= 360 * DAY:
        return _counted(round(size / (12 * MONTH)), "year")
    if step >= 27.5 * DAY:
        return _counted(round(size / MONTH), "month")
    if _is_whole(step / WEEK):
        return _counted(round(size / WEEK), "week")
    unit, name = next(((unit, name) for unit, name in UNITS if size >= 0.99 * unit), UNITS[-1])
    return _counted(size / unit, name)


def _is_whole(count: float) -> bool:
    return abs(count - round(count)) <= 0.05 and count >= 0.5


def _counted(count: float, name: str) -> str:
    text = f"{count:.0f}" if _is_whole(count) or count >= 20 else f"{count:.1f}"
    return f"{text} {name}{'' if text == '1' else 's'}"


def _number(size: float) -> str:
    if size >= 100:
        return f"{size:.0f}"
    return f"{size:.{2 if size >= 1 else 4}f}".rstrip("0").rstrip(".")
