"""The training time in periods like that of the test table: as long, and as far from the rows that models learn from. A
model that is validated on such a period solves the task of the test table, only earlier."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from . import names
from .dates import ALL_UNITS, DAY
from .rows import Array, Keys, codes, drawn
from .split import (
    Course,
    Split,
    Tables,
    clock,
    may_have_unseen,
    mixed_missing,
    names_series,
    series,
    unseen,
)
from .tables import Refused

Numbers = NDArray[np.float64]

SHORTEST_OF_DAYS = 5.0 * DAY
"""Periods that are at least so long have whole days: nights without rows do not shift them."""
MOST_FOLDS = 5
STEPS, FEWEST_USUAL, USUAL_AMONG, USUAL_LENGTHS = 1.5, 3, 50, 4.0
"""A gap counts if it is longer than so many steps, unless so many differences are as long: one of so many, or one in so
many lengths of a period, such as nights and weekends."""
DENSER, LONGER, USUAL_STEPS = 1.5, 1.5, 0.95
EARLIEST, AFTER = -100.0, 0.5
"""The places of rows in no stretch, of which all models learn, and of rows without labels after their series."""
SMALLEST_NEW, NEW_BY, NEW_FACTOR, AS_LARGE, FEWEST_SERIES = 0.03, 0.02, 1.5, 0.9, 10
KNOWN_BEFORE = 0.5
"""About so many of the series are known in all periods."""
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
class Stretch:
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
        often = (
            alike * USUAL_AMONG >= len(steps)
            or alike * USUAL_LENGTHS * (shape.span + shape.step) >= times[-1] - times[0]
        )
        is_usual = alike >= FEWEST_USUAL and often
        return replace(shape, gap=gap) if gap > STEPS * shape.step and not is_usual else shape

    def before(self, times: Numbers) -> Stretch | None:
        """The period that ends with the last of these times. Half a step, because months differ in length."""
        if not len(times):
            return None
        start = learn = int(np.searchsorted(times, times[-1] - self.span - self.step / 2))
        if self.gap > 0:
            learn = int(np.searchsorted(times, times[start] - self.gap + self.step / 2))
        return Stretch(learn, start, len(times)) if learn > 0 else None

    def folds(self, times: Numbers) -> list[Stretch]:
        """The periods that can be validated, the earliest first: the rows before one are a quarter of all and reach as
        far as a period does."""
        found: list[Stretch] = []
        while len(found) < MOST_FOLDS and (fold := self.before(times[: found[-1].start] if found else times)):
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
    own: OwnEnds | None = None
    by_group: bool = False
    left_out: LeftOut | None = None

    @property
    def is_common(self) -> bool:
        """Whether periods begin and end at the same times for all rows, which keep their own."""
        return self.own is None and not self.by_group

    def note(self) -> str | None:
        if self.own is not None and self.own.shortened:
            return (
                "most series are too short for periods as long as their test rows, so periods are at most half as "
                "long as their series"
            )
        if self.later:
            are = "s are" if self.later > 1 else " is"
            return f"{self.later} labelled row{are} later than the test table and in no period"
        return None

    @cached_property
    def last(self) -> Stretch | None:
        """The period that ends with the last labelled row, if another one is left before it."""
        last = self.shape.before(self.days)
        return last if last and self.shape.folds(self.days[: last.learn]) else None

    def stretches(self, beside_held_out: bool) -> list[Stretch]:
        end = self.last.learn if beside_held_out and self.last else len(self.days)
        return self.shape.folds(self.days[:end])

    def bounds(self, stretch: Stretch) -> Bounds:
        at = self.ordered
        return Bounds(float(at[stretch.learn - 1]), float(at[stretch.start]), float(at[stretch.stop - 1]))

    def folds(self, beside_held_out: bool) -> list[Bounds]:
        """The periods that are validated, the earliest first. Beside a held-out period, they are earlier."""
        return [self.bounds(stretch) for stretch in self.stretches(beside_held_out)]

    def held_out(self) -> Bounds:
        if self.last is not None:
            return self.bounds(self.last)
        if self.own is not None:
            raise Refused("the series are too short for a held-out period beside a validated one")
        raise Refused(f"the training time is too short for a held-out period of {self.length()} beside a validated one")

    def is_too_late(self, bounds: Bounds) -> Array:
        """The rows that models of a period must not learn from."""
        late = self.times > bounds.learn
        return late if self.own is None else late | self.own.between

    def length(self) -> str:
        return self.own.length if self.own else self.words(self.shape.span + self.shape.step)

    def words(self, size: float) -> str:
        return words(self.clock, self.column, self.own.step if self.own else self.shape.step, size)

    def periods(self, held_out: int | None) -> dict[str, Any]:
        """The periods for people, with the number of held-out rows if the last period is held out."""
        folds, last = self.stretches(held_out is not None), self.last if held_out is not None else None
        told = [self.told(stretch) for stretch in folds]
        if held_out is not None and self.left_out:
            told = [one | {"rows": rows} for one, rows in zip(told, self.left_out.scored, strict=False)]
        gap = self.own.gap if self.own else max(self.shape.gap - self.shape.step, 0.0)
        size = gap
        if gap > 0 and self.clock not in ("number", "month-first", "day-first", *ALL_UNITS):
            # Numbers that are written dates have no unit: the largest difference.
            numbers = [
                [float(self.cell(at)) for at in (one.first, one.learn)]
                for one in map(self.bounds, [*folds, *filter(None, [last])])
            ]
            size = max((first - learn - 0.5 for first, learn in numbers), default=0.0)
        return {
            "train": self.told(Stretch(0, 0, len(self.ordered))),
            "test": self.test,
            "held_out": self.told(last) | {"rows": held_out} if last else None,
            "folds": told,
            "length": self.length(),
            "gap": self.words(gap) if gap > 0 else "",
            "gap_size": size,
        }

    def told(self, stretch: Stretch) -> dict[str, Any]:
        at = [float(self.ordered[stretch.start]), float(self.ordered[stretch.stop - 1])]
        moments = self.own.span(self, at) if self.own else at
        picture = self.own.picture(at) if self.own else at
        rows = stretch.stop - stretch.start
        return {"from": self.cell(moments[0]), "to": self.cell(moments[1]), "at": picture, "rows": rows}

    def cell(self, time: float) -> str:
        return self.tables.train.column(self.column).cell(np.argmax(self.cells == time))


def timeline(tables: Tables, split: Split) -> Timeline:
    """The times of a task that is split by time."""
    column = split["column"]
    course = clock(tables, column)
    if course is None:
        raise Refused(f"the values of `{column}` have no order of time")
    if split.get("series"):
        return _of_series(tables, course, split["series"])
    group = split.get("groups")
    times, labelled = course.train, tables.labelled
    if group:
        times = _firsts(times, tables.keys(group)[0], labelled)
    ordered = np.sort(times[labelled & ~np.isnan(times)])
    if not len(ordered):
        raise Refused(f"no labelled row has a value of `{column}`")
    if not tables.in_both(column) or tables.test is None:
        raise Refused(f"the test table has no `{column}`")
    test = course.test
    if group and (of_test := tables.keys(group)[1]) is not None:
        test = _firsts(test, of_test, ~np.isnan(test), once=True)
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
    if shape and course.clock != "number" and shape.step < DAY and shape.span >= SHORTEST_OF_DAYS:
        days = np.floor(ordered / DAY) * DAY
        shape = Shape.of(days, first // DAY * DAY, _last_day(test, first, end))
    if shape is None:
        raise Refused(f"all labelled rows have the same value of `{column}`")
    period = _test_period(course, first, end, [first, end])
    found = Timeline(
        tables, column, course.clock, course.train, times, shape, ordered, days, period, later, None, bool(group)
    )
    if not found.stretches(False):
        raise Refused(f"the training time is too short for periods of {found.length()} as in the test table")
    return found


def _test_period(course: Course, first: float, end: float, at: list[float]) -> dict[str, Any]:
    assert course.tables.test is not None
    return {"from": course.cell(True, first), "to": course.cell(True, end), "at": at, "rows": course.tables.test.rows}


def _firsts(times: Numbers, of: Keys, counted: Array, once: bool = False) -> Numbers:
    """For each row the time of the first counted row of its group; rows without a group keep their own."""
    at, count = codes(of)
    firsts = np.full(count + 1, np.inf)
    np.fmin.at(firsts, at[counted], times[counted])
    if once:
        return np.concatenate([firsts[:-1][np.isfinite(firsts[:-1])], times[(at < 0) & counted]])
    return np.where((at >= 0) & np.isfinite(firsts[at]), firsts[at], times)


def _last_day(times: Numbers, first: float, end: float) -> float:
    """The last day of a test table. One with less than a quarter of the usual rows, such as the first hour after
    midnight, does not count."""
    day = float(end // DAY * DAY)
    count = end // DAY - first // DAY + 1
    return day - DAY if (times >= day).sum() * 4 * count < len(times) else day


# Series that each end at a time of their own


@dataclass(frozen=True)
class OwnEnds:
    """Periods of series that each end at a time of their own: the last stretch of each series, the stretch before it,
    and so on. A stretch is like the test rows of its series: as many times, or as long, and after the same gap. Where
    test rows lie between training rows, as many are drawn from these instead. Rows have a place instead of a time: 0 in
    the last stretches, -1 in those before."""

    between: Array
    """The rows in the gap before the last stretches."""
    length: str
    gap: float
    """Beyond the usual step."""
    step: float
    shortened: bool
    """Stretches are at most half as long as their series, because most would be too short."""

    def span(self, of: Timeline, at: Sequence[float]) -> list[float]:
        """The first and the last time of the labelled rows with these places."""
        inside = of.cells[of.tables.labelled & (of.times >= at[0]) & (of.times <= at[1])]
        return [float(np.nanmin(inside)), float(np.nanmax(inside))]

    def picture(self, at: Sequence[float]) -> list[float]:
        return [self.begin(max(at[0], -MOST_FOLDS - 2.0)), at[1]]

    def begin(self, place: float) -> float:
        return place - (0.9 if self.gap > 0 else 1.0)


@dataclass
class _Series:
    """The different times of labelled rows of all series, by series and time, with the times of their test rows."""

    keys: Keys
    at: Array
    """The number of the series of each time."""
    times: Numbers
    start: Array
    asked: Array
    """For each series, the number of different later times of the test table."""
    within: Array
    """That of its other times."""
    first: Numbers
    """The first later time of the test table."""
    span: Numbers
    """From the first to the last of them."""

    @classmethod
    def of(cls, of_train: Keys, times: Numbers, of_test: Keys, asked: Numbers) -> _Series:
        known = pl.DataFrame({"of": of_train, "at": times}).unique().sort("of", "at")
        different, start = np.unique(known["of"].to_numpy(), return_index=True)
        last = pl.DataFrame({"of": different, "last": known["at"].to_numpy()[np.append(start[1:], len(known)) - 1]})
        test = pl.DataFrame({"of": of_test, "at": asked}).unique().join(last, on="of")
        late = pl.col("at").filter(pl.col("at") > pl.col("last"))
        test = test.group_by("of").agg(
            late.len().alias("asked"),
            (pl.len() - late.len()).alias("within"),
            late.min().alias("first"),
            (late.max() - late.min()).alias("span"),
        )
        whole = last.join(test, on="of", how="left", maintain_order="left").fill_null(0)
        codes = np.repeat(np.arange(len(different)), np.diff(np.append(start, len(known))))
        columns = [whole[name].to_numpy() for name in ("asked", "within", "first", "span")]
        return cls(different, codes, known["at"].to_numpy(), np.append(start, len(known)), *columns)

    @cached_property
    def size(self) -> Array:
        return np.diff(self.start)

    @cached_property
    def last(self) -> Numbers:
        """The last time of each series."""
        return np.asarray(self.times[self.start[1:] - 1])

    @cached_property
    def _order(self) -> tuple[Numbers, Array]:
        ranks = np.unique(self.times)
        return ranks, self.at * (len(ranks) + 1) + np.searchsorted(ranks, self.times)

    def before(self, of: Array, time: Numbers) -> Array:
        """How many times of these series are earlier."""
        ranks, order = self._order
        return np.searchsorted(order, of * (len(ranks) + 1) + np.searchsorted(ranks, time)) - self.start[of]

    def cut(
        self, by_length: bool, gap: float, step: float, shortened: bool
    ) -> tuple[list[tuple[Array, Array, Array]], Array]:
        """The stretches of all series, the last first: the times that are learnt from, where it starts and where it
        stops; and for each series their number. A quarter of the times are left to learn from."""
        every, size = np.arange(len(self.size)), self.size
        count, span = self.asked, self.span
        if shortened:
            count = np.minimum(count, np.maximum(size // 2, 1))
            span = np.minimum(span, (self.last - self.times[self.start[:-1]]) / 2)
        found, stop, open = [], size.copy(), self.asked > 0
        number = np.zeros(len(size), dtype=int)
        for _ in range(MOST_FOLDS + 1):
            end = self.times[self.start[:-1] + np.maximum(stop - 1, 0)]
            start = self.before(every, end - span - step / 2) if by_length else np.maximum(stop - count, 0)
            first = self.times[self.start[:-1] + np.minimum(start, size - 1)]
            learn = self.before(every, first - gap + step / 2) if gap > 0 else start
            open = open & (stop > 0) & (learn > 0) & (learn * 4 >= size)
            if not open.any():
                break
            found.append((np.where(open, learn, 0), np.where(open, start, 0), np.where(open, stop, 0)))
            number += open
            stop = np.where(open, learn, stop)
        return found, number

    def draw(self, stretches: list[tuple[Array, Array, Array]], shortened: bool) -> tuple[Array, Array]:
        """For each time the place for which it is drawn like the test times between labelled ones, and for each series
        the number of these places. Three quarters of the times before all stretches can be drawn."""
        before = self.size.copy()
        for learn, _, stop in stretches:
            before = np.where(stop > 0, learn, before)
        each = np.minimum(self.within, np.maximum(self.size // 2, 1)) if shortened else self.within
        places = np.where(each > 0, np.minimum(before * 3 // 4 // np.maximum(each, 1), MOST_FOLDS + 1), 0)
        inner = np.arange(len(self.at)) - self.start[self.at]
        number = drawn((self.times + 0.0).view(np.uint64) ^ self.keys[self.at], 0, "times")
        order = np.lexsort((number, inner >= before[self.at], self.at))
        rank = np.empty(len(order), dtype=int)
        rank[order] = np.arange(len(order)) - self.start[self.at[order]]
        place = rank // np.maximum(each, 1)[self.at]
        return np.where((inner < before[self.at]) & (place < places[self.at]), place, MOST_FOLDS + 1), places


def _of_series(tables: Tables, course: Course, columns: Sequence[str]) -> Timeline:
    """The times of series that each end at a time of their own."""
    of_train, of_test = tables.together(columns)
    short = Refused("the series are too short for periods")
    counted = tables.labelled & (of_train != 0) & ~np.isnan(course.train)
    asked = (of_test != 0) & ~np.isnan(course.test)
    all_series = _Series.of(of_train[counted], course.train[counted], of_test[asked], course.test[asked])
    late = all_series.asked > 0
    steps = np.sort(np.diff(all_series.times)[np.diff(all_series.at) == 0])
    if not late.any() or not len(steps):
        raise short
    step, usual = _of_share(steps, 0.5), _of_share(steps, USUAL_STEPS)
    gap = _of_share(np.sort((all_series.first - all_series.last)[late]), 0.5)
    gap = gap if gap > LONGER * usual else 0.0
    start = all_series.last - all_series.span - step / 2
    dense = late & (all_series.asked > 1) & (all_series.times[all_series.start[:-1]] <= start)
    later = all_series.size - all_series.before(np.arange(len(late)), start)
    density = _of_share(np.sort((later / np.maximum(all_series.asked, 1))[dense]), 0.5) if dense.any() else 1.0
    by_length = not 1 / DENSER <= density <= DENSER
    for shortened in (False, True):
        stretches, number = all_series.cut(by_length, gap, step, shortened)
        drawn_for, places = all_series.draw(stretches, shortened)
        places = np.where(number > 0, number, places)
        having = [int((places > place).sum()) for place in range(MOST_FOLDS + 1)]
        if having[0] * 2 >= ((all_series.asked + all_series.within) > 0).sum():
            break
    if not having[0]:
        raise short
    deepest = sum(count * 2 >= having[0] for count in having)
    place = drawn_for.copy()
    inner = np.arange(len(all_series.at)) - all_series.start[all_series.at]
    for number_of, (_, start_of, stop_of) in enumerate(stretches):
        inside = (inner >= start_of[all_series.at]) & (inner < stop_of[all_series.at])
        place[inside] = number_of
    of_time = np.where(place < deepest, -place.astype(float), EARLIEST)
    of_row, known = np.full(len(of_train), -1), np.isin(of_train, all_series.keys)
    of_row[known] = np.searchsorted(all_series.keys, of_train[known])
    timed = (of_row >= 0) & ~np.isnan(course.train)
    at = all_series.before(of_row[timed], course.train[timed])
    ended = at == all_series.size[of_row[timed]]
    placed = of_time[np.minimum(all_series.start[of_row[timed]] + at, len(of_time) - 1)]
    times = np.where(np.isnan(course.train), np.nan, EARLIEST)
    times[timed] = np.where(ended, np.where(places[of_row[timed]] > 0, AFTER, EARLIEST), placed)
    between = np.zeros(len(times), dtype=bool)
    if stretches:
        learn, begin, _ = stretches[0]
        between[timed] = (at >= learn[of_row[timed]]) & (at < begin[of_row[timed]])
    length = _length(all_series, late, step, course)
    own = OwnEnds(between, length, max(gap - step, 0.0), step, shortened)
    ends = course.test[~np.isnan(course.test)]
    test = _test_period(course, ends.min(), ends.max(), [own.begin(1.0), 1.0])
    ordered = np.sort(times[tables.labelled & ~np.isnan(times)])
    found = Timeline(
        tables, course.column, course.clock, course.train, times, Shape(0.0, 1.0), ordered, ordered, test, 0, own
    )
    if not found.stretches(False):
        raise short
    return found


def _length(of: _Series, late: Array, step: float, course: Course) -> str:
    span, asked = of.span[late], of.asked[late]
    if span.max() - span.min() <= step / 2:
        return words(course.clock, course.column, step, float(span.max()) + step)
    few, many = int(asked.min()), int(asked.max())
    return f"{few} to {many} times" if few < many else f"{many} time{'s' if many > 1 else ''}"


def _of_share(ordered: Array, share: float) -> float:
    return float(ordered[min(int(len(ordered) * share), len(ordered) - 1)])


# Series that only the test table has


@dataclass(frozen=True)
class LeftOut:
    """The rows that are left out to make periods like the test table: rows before the period in which their series is
    new, and rows of known series in a period, as far as they are more than the test table has."""

    history: Array
    unscored: Array
    scored: list[int]
    """The rows of each period that are scored, the earliest period first."""
    share: float


def new_series(of: Timeline, named: str | None, taken: Callable[[str], bool]) -> dict[str, Any] | None:
    """The columns whose series are new in clearly more rows of the test table than in earlier periods: where new series
    come all the time, earlier periods have as many."""
    tables, time = of.tables, of.column
    columns = may_have_unseen(tables, lambda name: name == time or taken(name))
    tables.train.load(columns)
    if tables.test is not None:
        tables.test.load(columns)
    found = []
    for name in columns:
        one = unseen(tables, [name])
        is_name = names.says(name, names.CODE) or tables.train.facts[name]["names_things"]
        is_name = is_name or (tables.train.kind(name) == "category" and one.known >= FEWEST_SERIES)
        if one.share >= SMALLEST_NEW and (is_name or names_series(tables, time, name)):
            found.append((one, is_name))
    if not found and len(columns := series(tables, time, taken)) > 1:
        one = unseen(tables, columns)
        found = [(one, all(names.says(name, names.KEY) for name in columns))] if one.share >= SMALLEST_NEW else []
    largest = max((one.share for one, _ in found), default=0.0)
    found = [(one, is_name) for one, is_name in found if one.share >= AS_LARGE * largest]
    # Rows of a product are rows of its brand, so the column with the fewest series is the widest.
    found.sort(
        key=lambda pair: (pair[0].columns[0] != named, pair[0].known < FEWEST_SERIES, not pair[1], pair[0].known)
    )
    for one, _ in found:
        before = _natural(of, tables.together(one.columns)[0])
        if one.share >= before + NEW_BY and one.share >= before * NEW_FACTOR:
            few = one.known < FEWEST_SERIES
            why = (
                f"training rows have only {one.known} of them; {FEWEST_SERIES} are needed to leave some out"
                if few
                else ""
            )
            return {"columns": list(one.columns), "test": one.share, "before": before, "search": None, "why": why}
    return None


def _natural(of: Timeline, keys: Keys) -> float:
    """The share of the rows of all periods whose series have no row that models learn from."""
    at, first = _first_times(of, keys)
    every, new = 0, 0
    for period in of.folds(False):
        rows = of.tables.labelled & (at >= 0) & period.has(of.times)
        every += int(rows.sum())
        new += int((first[at[rows]] > period.learn).sum())
    return new / max(every, 1)


def _first_times(of: Timeline, keys: Keys) -> tuple[Array, Numbers]:
    at, count = codes(keys)
    first = np.full(count + 1, np.inf)
    np.fmin.at(first, at, of.times)
    return at, first


def leave_out(of: Timeline, found: dict[str, Any], seed: int) -> Timeline:
    """Leaves series out before the held-out period and those before it, so that about the share of the test table of
    their rows is of new series. A series can be new only once: it is known in every later period. So the periods share
    the series among them, the last period first. Where that would leave hardly any series to learn from, fewer series
    are left out, and fewer rows of known ones are scored."""
    keys = drawn(mixed_missing(of.tables.together(found["columns"])[0]), seed, "series")
    keys[of.tables.together(found["columns"])[0] == 0] = 0
    at, first = _first_times(of, keys)
    held_out = [of.bounds(of.last)] if of.last else []
    periods, share = [*of.folds(True), *held_out], found["test"]
    most = 1.0 - KNOWN_BEFORE ** (1.0 / max(len(periods), 1))
    begins = np.full(len(first), -np.inf)
    unscored, scored, total_new = np.zeros(len(at), dtype=bool), [], 0
    for period in reversed(periods):
        rows = (at >= 0) & period.has(of.times)
        size = np.bincount(at[rows & of.tables.labelled], minlength=len(first))
        size[begins > -np.inf] = 0
        is_new = (first > period.learn) & (size > 0)
        every, new = int(size.sum()), int(size[is_new].sum())
        goal = min(share, max(most, new / max(every, 1))) * every
        known = np.flatnonzero((size > 0) & ~is_new)
        chosen = _nearest(size[known], goal - new)
        begins[known[chosen]] = period.first
        new += int(size[known[chosen]].sum())
        # The other series, so that the share is the test table's.
        rest = known[~chosen][::-1]
        kept = _nearest(size[rest], new * (1 - share) / share if new else every)
        unscored |= rows & np.isin(at, rest[~kept])
        scored.append(new + int(size[rest[kept]].sum()))
        total_new += new
    history = (at >= 0) & (begins[at] > -np.inf) & ~(of.times >= begins[at])
    left_out = LeftOut(history, unscored & ~history, scored[::-1], total_new / max(sum(scored), 1))
    return replace(of, left_out=left_out)


def _nearest(sizes: Array, rows: float) -> Array:
    """The first of these series that have about so many rows together."""
    return np.cumsum(sizes) - sizes / 2 <= rows


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
