"""What the training rows tell about time, where the test rows are later: the series, their step and gaps, how strong
day, week and year are, how the level moves from period to period, and what is known of later rows. In a large table,
whole series are left out, or stretches of rows if there are no series."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray

from . import dates, periods, shown, split
from .frames import Column
from .kinds import LOOKED_AT
from .relations import Codes, Data, Numbers, codes, of_frame, together

ROWS, STRETCH, OF_TIME = 300_000, 1_000, 8.0
"""About so many rows are looked at; rows without series in stretches of this length. A test table without a known
period counts as long as this part of the training time."""
EARLIER, FEWEST_SERIES, FEWEST_ROWS = 4, 5, 50
COLUMNS, NAMES = 40, 12
WEEK, YEAR = 7.0 * dates.DAY, 365.25 * dates.DAY
# 1 January 1970 was a Thursday.
WEEKDAYS = ("Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday")
HOURS = tuple(f"{hour}:00" for hour in range(24))
MONTHS = tuple(month.capitalize() for month in dates.MONTHS)


def sample(rows: int, most: int) -> NDArray[np.bool_]:
    """Which of so many rows are looked at: multiples of the golden ratio are spread evenly and have no period."""
    if rows <= most:
        return np.ones(rows, dtype=bool)
    below = np.uint64((2**64 - 1) // rows * most)
    return np.arange(rows, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) <= below


@dataclass(frozen=True)
class Course:
    """The labelled rows that are looked at, by series and time."""

    column: str
    clock: str
    names: Sequence[str]
    """The columns that name the series."""
    at: Numbers
    value: Numbers
    of: Codes
    """The series of each row."""
    starts: Codes
    """The first row of each series, and the end."""
    count: int
    rows: int
    """All series and rows, whether they are looked at or not."""
    step: float
    period: float

    @property
    def span(self) -> float:
        return float(self.at.max() - self.at.min() + self.step)

    def words(self, length: float) -> str:
        return periods.words(self.clock, self.column, self.step, length)


def section(data: Data, values: Numbers, target: str, room: int) -> str:
    """The facts about time. `values` are the labels as numbers, not a number without one; without a `target` in words,
    they are classes of which none is told."""
    train, name = data.folder.train, data.later_in
    if name is None or name not in train.facts:
        return ""
    found = split.clock(data.tables, name)
    if found is None:
        return ""
    clock, at = found.clock, found.train
    by = split.series(data.tables, name, {*data.targets, data.told.get("id")}.__contains__)
    has = np.flatnonzero(np.isfinite(at) & np.isfinite(values))
    of = together([codes(Column(train, one).values.gather(has)) for one in by]) if by else np.zeros(len(has), np.int64)
    if by:
        numbers = np.unique(of, return_inverse=True)[1]
        wide = int(numbers.max(initial=-1)) + 1
        chosen = sample(wide, max(wide * ROWS // max(train.rows, 1), 1)) if train.rows > ROWS else np.ones(wide, bool)
        kept = chosen[numbers]
    else:
        kept = sample(train.rows, ROWS)[np.arange(len(has)) // STRETCH]
    has_kept, of_kept = has[kept], of[kept]
    order = np.lexsort((at[has_kept], of_kept))
    at_kept, of_kept = at[has_kept][order], of_kept[order]
    steps = np.diff(at_kept)[np.diff(of_kept) == 0]
    steps = np.sort(steps[steps > 0])
    if not len(steps):
        return ""
    step = float(steps[len(steps) // 2])
    span = float(at_kept.max() - at_kept.min()) + step
    first, last = data.told.get("period") or (0.0, span / OF_TIME - step)
    starts = np.append(np.flatnonzero(np.diff(of_kept, prepend=-1)), len(of_kept))
    course = Course(name, clock, by, at_kept, values[has_kept][order], of_kept, starts, len(np.unique(of)) if by else 1,
                    len(has), step, last - first + step)  # fmt: skip
    lines = [*_told(course), *([*_seasons(course, target), *_drift(course, target)] if target else [])]
    return shown.section("Time", lines + _known(data, course, np.sort(has_kept)), room)


def _told(course: Course) -> Iterator[str]:
    """The series and their step."""
    looked, step = len(course.at), course.words(course.step)
    if not course.names:
        sampled = f" (all that follows: of {looked:,} of them)" if looked < course.rows else ""
        yield (
            f"- No columns name series: {course.rows:,} rows{sampled} at {len(np.unique(course.at)):,} different times "
            f"over {course.words(course.span)}, usually {step} apart"
        )
        return
    rows = np.sort(np.diff(course.starts))
    size = f"{rows[-1]:,} rows each"
    if rows[0] < rows[-1]:
        size = f"{rows[len(rows) // 2]:,} rows each in the median ({rows[0]:,} to {rows[-1]:,})"
    first, last = course.at[course.starts[:-1]], course.at[course.starts[1:] - 1]
    inner = np.diff(course.of) == 0
    missing = np.where(inner, np.maximum(np.floor(np.diff(course.at) / course.step + 0.5) - 1, 0), 0)
    gaps = np.add.reduceat(np.append(missing, 0.0), course.starts[:-1])
    steps = float((np.floor((last - first) / course.step + 0.5) + 1).sum())
    told = f"gaps in {int((gaps > 0).sum()):,} of them, {shown.percent(gaps.sum() / steps)} of all steps"
    by = " and ".join(shown.name(name) for name in course.names)
    sampled = " (all that follows: of a sample of the series)" if looked < course.rows else ""
    yield f"- {course.count:,} series by {by}{sampled}: {size}, a step of {step}; {told if gaps.any() else 'no gaps'}"
    late, early = int((first > first.min() + course.step / 2).sum()), int((last < last.max() - course.step / 2).sum())
    if late + early:
        yield f"- Series that begin later than the first: {late:,}; that end earlier than the last: {early:,}"


def _seasons(course: Course, target: str) -> Iterator[str]:
    """How much of the target's variance hour, day of the week and month explain, after the mean of the surrounding
    stretch is subtracted (adjusted R² of the detrended target)."""
    if course.clock == "number" or len(course.at) < FEWEST_ROWS:
        return
    step, span, at, day = course.step, course.span, course.at, dates.DAY
    months = (at // day).astype(np.int64).astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) % 12
    every = [
        (
            step <= day / 4 and span >= 2 * day,
            "hour of the day",
            "a day",
            day,
            (at % day // 3600).astype(np.int64),
            HOURS,
        ),
        (
            step <= 1.5 * day and span >= 8 * WEEK,
            "day of the week",
            "four weeks",
            4 * WEEK,
            (at // day % 7).astype(np.int64),
            WEEKDAYS,
        ),
        (step <= 0.3 * YEAR and span >= 2 * YEAR, "month", "a year", YEAR, months, MONTHS),
    ]
    found = [_season(course, *one[1:]) for one in every if one[0]]
    if told := "; ".join(one for one in found if one):
        yield f"- Seasons of {target}, of the variance around the mean of each series and stretch: {told}"


def _season(course: Course, name: str, within: str, stretch: float, place: Codes, words: Sequence[str]) -> str | None:
    part = ((course.at.max() + course.step / 2 - course.at) // stretch).astype(np.int64)
    starts = np.flatnonzero((np.diff(part, prepend=-1) != 0) | (np.diff(course.of, prepend=-1) != 0))
    sizes = np.diff(np.append(starts, len(part)))
    away = course.value - np.repeat(np.add.reduceat(course.value, starts) / sizes, sizes)
    rows, sums = np.bincount(place), np.bincount(place, away)
    seen = np.flatnonzero(rows)
    all, free = float((away**2).sum()), len(away) - len(starts)
    by_chance = (len(seen) - 1.0) / free if free else 1.0
    if len(seen) < 2 or all <= 0 or not 0 <= by_chance < 1:
        return None
    means = sums[seen] / rows[seen]
    share = max((float((sums[seen] * means).sum()) / all - by_chance) / (1.0 - by_chance), 0.0)
    level = float(course.value.mean())

    def far(at: int) -> str:
        is_relative = level > 0 and abs(means[at] / level) < 10
        how = f"{100 * means[at] / level:+.0f}%" if is_relative else shown.signed(float(means[at]))
        return f"{words[seen[at]]} {how}"

    last = len(means) - 1 - int(np.argmax(means[::-1]))
    ends = f" (lowest {far(int(np.argmin(means)))}, highest {far(last)})" if share >= 0.005 else ""
    return f"{name} {shown.percent(share)} within {within}{ends}"


def _drift(course: Course, target: str) -> Iterator[str]:
    """How the level of the target moves from one period to the next, of each series; of few series, of all times."""
    by_series = len(course.starts) > FEWEST_SERIES
    back = np.floor((course.at.max() + course.step / 2 - course.at) / course.period)
    frame = pl.DataFrame({"back": back, "key": course.of if by_series else course.at, "value": course.value})
    frame = frame.filter(pl.col("back") < EARLIER + 2).group_by("back", "key").agg(pl.col("value").mean())
    periods = [frame.filter(pl.col("back") == at).sort("key") for at in range(EARLIER + 2)]
    changes = []
    for now, before in pairwise(periods):
        both = now.join(before, on="key", maintain_order="left")
        moved = (both["value"] - both["value_right"]).to_numpy()
        one, other = now["value"].to_numpy(), before["value"].to_numpy()
        with np.errstate(divide="ignore", invalid="ignore"):
            if len(moved) >= FEWEST_SERIES:
                spread = _variance(moved)
                changes.append((moved.mean(), np.sqrt(spread / len(moved)), len(moved), np.sqrt(spread)))
            elif len(one) and len(other):
                error = np.sqrt(_variance(one) / len(one) + _variance(other) / len(other))
                changes.append((one.mean() - other.mean(), error, 0, 0.0))
            else:
                break
    if not changes:
        return
    change, error, count, spread = changes[0]
    places = shown.decimals(error) if 0 < error < np.inf else 8
    places = 0 if error == np.inf else places
    level, earlier_level = (float(one["value"].to_numpy().mean()) for one in periods[:2])
    how = f" ±{error:.{places}f}" if np.isfinite(error) else ""
    between = f", standard deviation between {count:,} series {shown.number(float(spread))}" if count else ""
    earlier = ", ".join(f"{one[0]:+.{places}f}" for one in changes[1:])
    history = f"; the changes before that, latest first: {earlier}" if earlier else ""
    yield (
        f"- Level of {target} in the last {course.words(course.period)}: {level:.{places}f}, in those before "
        f"{earlier_level:.{places}f}; change {change:+.{places}f}{how}{between}{history}"
    )


def _variance(values: Numbers) -> float:
    return float(((values - values.mean()) ** 2).sum() / (len(values) - 1)) if len(values) > 1 else float("nan")


def _known(data: Data, course: Course, rows: Codes) -> list[str]:
    """A line with the columns that both tables have, by what their values depend on, and one with those that only the
    training table has."""
    train, test = data.folder.train, data.folder.test
    if test is None:
        return []
    is_asked = [
        name
        for name, one in train.facts.items()
        if name not in data.targets and name not in course.names and one["kind"] != "empty" and data.is_feature(name)
    ]
    asked = [name for name in is_asked if name in test.facts][:COLUMNS]
    cells = train.source.looked.select(course.column, *course.names, *asked)
    looked = of_frame(train, cells[rows] if train.rows <= LOOKED_AT else cells)
    time = codes(looked.column(course.column).values)
    of = together([codes(looked.column(one).values) for one in course.names]) if course.names else time * 0
    repeats = bool(course.names) or len(np.unique(time)) < len(time)
    of_time: list[str] = []
    of_series: list[str] = []
    others: list[str] = []
    for name in asked:
        values = looked.column(name).values
        if _is_one(of, values):
            (of_series if course.names else others).append(name)
        else:
            (of_time if repeats and _is_one(time, values) else others).append(name)
    kinds = [(of_time, " (one value at a time for all rows)"), (of_series, " (one value for each series)")]
    kinds.append((others, " (by series and time)" if course.names else ""))
    told = [f"{_names(found)}{what}" for found, what in kinds if found]
    lines = [f"- Known in advance, because the test table has them: {'; '.join(told)}"] if told else []
    only = [name for name in is_asked if name not in test.facts]
    return lines + ([f"- Not known in advance, only in the past: {_names(only)}"] if only else [])


def _names(found: Sequence[str]) -> str:
    return shown.listed([shown.name(name) for name in found], NAMES)


def _is_one(keys: Codes, values: pl.Series) -> bool:
    """Whether each key has one value at most. Most columns show in their first rows that it has more."""
    for rows in (1_000, len(keys)):
        frame = pl.DataFrame({"key": keys[:rows], "value": values[:rows]}).drop_nulls()
        if frame.n_unique() > frame["key"].n_unique():
            return False
    return True
