"""What the training rows tell about time, where the test rows are later: the series, their step and gaps, and what is
known of later rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import polars as pl

from . import markdown as md
from . import periods, split
from .frames import Column
from .relations import Data

NAMES = 12
AT, APART = "\0at", "\0apart"


def section(data: Data, room: int) -> str:
    """The facts about time."""
    train, name = data.folder.train, data.later_in
    found = None if name is None or name not in train else split.clock(data.tables, name)
    if name is None or found is None:
        return ""
    by = data.series
    columns = [Column(train, one).values.alias(one) for one in by]
    frame = pl.DataFrame([pl.Series(AT, found.train), *columns]).filter(pl.col(AT).is_not_nan()).sort(*by, AT)
    apart = pl.col(AT).diff().over(by) if by else pl.col(AT).diff()
    frame = frame.with_columns(apart.fill_null(0.0).alias(APART))
    steps = frame[APART].filter(frame[APART] > 0).sort()
    if not len(steps):
        return ""
    lines = _series(frame, by, float(steps[len(steps) // 2]), partial(periods.words, found.clock, name))
    return md.section("Time", [*lines, *_known_in_advance(data, by)], room)


def _series(frame: pl.DataFrame, by: Sequence[str], step: float, words: Callable[[float, float], str]) -> Iterator[str]:
    """The series and their step."""
    if not by:
        span = float(frame[AT][-1] - frame[AT][0]) + step
        times = f"{frame.height:,} rows at {frame[AT].n_unique():,} different times"
        yield f"- No columns name series: {times} over {words(step, span)}, usually {words(step, step)} apart"
        return
    missing = ((pl.col(APART) / step + 0.5).floor() - 1).clip(0).sum().alias("missing")
    first, last = pl.col(AT).min().alias("first"), pl.col(AT).max().alias("last")
    series = frame.group_by(by).agg(pl.len().alias("rows"), first, last, missing).sort("rows")
    rows, gaps = series["rows"], series["missing"]
    size = f"{rows[-1]:,} rows each"
    if rows[0] < rows[-1]:
        size = f"{rows[len(rows) // 2]:,} rows each in the median ({rows[0]:,} to {rows[-1]:,})"
    steps = series.select(((pl.col("last") - pl.col("first")) / step + 1).sum()).item()
    told = f"gaps in {(gaps > 0).sum():,} of them, {md.percent(float(gaps.sum()) / steps)} of all steps"
    named = " and ".join(map(md.name, by))
    told = told if gaps.sum() else "no gaps"
    yield f"- {series.height:,} series by {named}: {size}, a step of {words(step, step)}; {told}"
    late = series.select((pl.col("first") > pl.col("first").min() + step / 2).sum()).item()
    early = series.select((pl.col("last") < pl.col("last").max() - step / 2).sum()).item()
    if late + early:
        yield f"- Series that begin later than the first: {late:,}; that end earlier than the last: {early:,}"


def _known_in_advance(data: Data, by: Sequence[str]) -> list[str]:
    """The columns that both tables have, and those that only the training table has."""
    train, test = data.folder.train, data.folder.test
    others = {*data.targets, *by}
    features = [name for name in train.names if name not in others and train.kind(name) != "empty"]
    features = [name for name in features if data.role(name) == "feature"] if test else []
    asked, only = ([name for name in features if data.folder.in_test(name) == wanted] for wanted in (True, False))
    lines = [f"- Known in advance, because the test table has them: {_name_list(asked)}"] if asked else []
    return lines + ([f"- Not known in advance, only in the past: {_name_list(only)}"] if only else [])


def _name_list(found: Sequence[str]) -> str:
    return md.listed([md.name(name) for name in found], NAMES)
