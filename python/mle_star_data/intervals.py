"""95 % prediction intervals for scores on rows that are not known yet: other rows, other groups, one more period."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from .aliases import Array

MIN_PERIODS = 3
"""The fewest periods whose scores tell how far that of another one may be from them."""
FEW_GROUPS = 100
"""Of more groups, replicates that draw whole ones tell how much a score depends on them."""
FEW_REPLICATES = 40
"""With fewer, the interval follows from the standard error instead of percentiles."""
MIN_JACKKNIFE_SCORES = 5
"""The fewest scores without a group that the standard error between groups follows from."""
HALF_WIDTH = 1.96

ONE_GROUP = "the rows are of one group, which does not tell how the score of others differs"
NO_OTHER_GROUPS = "there is no score without some of the groups, so nothing tells how the score of groups differs"
UNEQUAL_GROUPS = "one group has nearly all rows, so the others do not tell how the score of groups differs"


@dataclass(frozen=True)
class Target:
    """What an interval is for."""

    kind: Literal["rows", "groups", "period"] = "rows"
    rows: int | None = None
    """The number of rows of the test table."""
    groups: float | None = None
    """The effective number of groups of the test table."""
    rows_of_groups: float = 0.0


@dataclass(frozen=True)
class Scale:
    """The possible scores, and whether smaller ones are better."""

    low: float = -np.inf
    high: float = np.inf
    is_error: bool = False

    def within(self, low: float, high: float) -> list[float]:
        return [float(np.clip(end, self.low, self.high)) for end in (low, high)]

    def bounds(self) -> dict[str, float]:
        return {name: end for name, end in (("low", self.low), ("high", self.high)) if np.isfinite(end)}


def deviation(values: Sequence[float] | Array) -> float | None:
    """The standard deviation of a sample; `None` of fewer than two values."""
    found = np.asarray(values, dtype=np.float64)
    if len(found) < 2:
        return None
    return 0.0 if (found == found[0]).all() else float(found.std(ddof=1))


def percentile_interval(score: float, error: float, replicates: Array, scale: Scale) -> list[float]:
    """The interval by the percentiles of replicates."""
    if len(replicates) < FEW_REPLICATES:
        half = HALF_WIDTH * error
        return scale.within(score - half, score + half)
    return [float(end) for end in np.percentile(replicates, [2.5, 97.5])]


def widen(
    score: float, interval: list[float] | None, rows: int, others: int | None, scale: Scale
) -> list[float] | None:
    """The interval of a score on so many other rows, whose variance adds to that of these rows."""
    if interval is None or not others:
        return interval
    factor = (1.0 + rows / others) ** 0.5
    low, high = (score + (end - score) * factor for end in interval)
    return scale.within(low, high)


def t_quantile(degrees_of_freedom: float) -> float | None:
    """The 97.5 % quantile of Student's distribution with this many degrees of freedom."""
    if degrees_of_freedom < 0.5:
        return None
    from scipy.special import stdtrit

    return float(stdtrit(degrees_of_freedom, 0.975))


def next_period(scores: Sequence[float], scale: Scale) -> list[float] | None:
    """The interval of the score of one more period, from those of at least three, the earliest first.

    It is the prediction interval of one more value by Student's distribution, with two changes. Errors are positive
    and skewed, so where the metric has a best possible score, it is computed for the square roots of the distances
    to that. Scores drift, so half of its centre is the last period's.
    """
    if len(scores) < MIN_PERIODS:
        return None
    best = scale.low if scale.is_error else scale.high
    if not np.isfinite(best):
        return scale.within(*_one_more(np.asarray(scores)))
    near, far = (max(end, 0.0) ** 2 for end in _one_more(np.sqrt(np.abs(np.asarray(scores) - best))))
    return scale.within(best + near, best + far) if scale.is_error else scale.within(best - far, best - near)


def _one_more(values: Array) -> tuple[float, float]:
    count = len(values)
    center = (values.mean() + values[-1]) / 2.0
    weights = 0.25 + 0.75 / count
    by_steps = float(np.sqrt((np.diff(values) ** 2).sum() / (count - 1) / 2.0))
    half = (t_quantile(count - 1) or 0.0) * max(deviation(values) or 0.0, by_steps) * (1.0 + weights) ** 0.5
    return float(center - half), float(center + half)


def too_few_periods_message(count: int) -> str:
    known = {0: "the score of no period of time is known", 1: "the score of only one period of time is known"}
    said = known.get(count, f"the scores of only {count} periods of time are known")
    return f"{said}, and an interval for one more needs {MIN_PERIODS}"


def jackknife_error(scores: Sequence[float], groups: int) -> float | None:
    """The standard error of a score from the scores without one of the groups each."""
    if len(scores) < min(groups, MIN_JACKKNIFE_SCORES) or groups < 2:
        return None
    found = np.asarray(scores, dtype=np.float64)
    return float(np.sqrt((groups - 1) / len(found) * ((found - found.mean()) ** 2).sum()))


def effective_groups(sizes: Array) -> dict[str, float]:
    """The effective number of groups of these sizes, which equal ones would be as certain as, and their rows."""
    rows, squares = float(sizes.sum()), float((sizes.astype(np.float64) ** 2).sum())
    return {"groups": rows * rows / squares if squares > 0 else 0.0, "rows": rows}


def for_other_groups(
    score: float,
    errors: tuple[float | None, float | None],
    sizes: Array,
    target: Target,
    scale: Scale,
    standard_error: float | None,
    no_interval: str | None,
) -> dict[str, Any]:
    """The interval of a score on other groups, from the standard errors by groups and by rows, which tell how much
    of the variance is between groups and how much is within."""
    by_groups, by_rows = errors
    of = effective_groups(sizes)
    test = {"groups": target.groups or 0.0, "rows": target.rows_of_groups}
    if not test["groups"]:
        rows = float(target.rows or of["rows"])
        test = {"groups": max(of["groups"] * rows / of["rows"], 1.0), "rows": rows}
    if len(sizes) < 2:
        within = by_rows if by_rows is not None else standard_error
        spread = None if within is None else _spread(0.0, within**2 * of["rows"], of, test)
        return {"interval": None, "no_interval": ONE_GROUP, "spread": spread}
    if by_groups is None:
        return {"interval": None, "no_interval": no_interval or NO_OTHER_GROUPS}
    # These groups differ less among themselves than all groups do.
    among = 1.0 - 1.0 / of["groups"]
    fewer = 1.0 / of["groups"] - among / of["rows"]
    if by_rows is not None and fewer > 0:
        between = max((by_groups**2 - by_rows**2) / fewer, 0.0)
    else:
        between = by_groups**2 * of["groups"]
    within = 0.0 if by_rows is None else max(by_rows**2 * of["rows"] - between * among, 0.0)
    spread = _spread(between, within, of, test)
    student = t_quantile(max(of["groups"] - 1.0, 0.0))
    half = None if student is None else student * (_variance(spread, of) + _variance(spread, test)) ** 0.5
    interval = None if half is None or not np.isfinite(half) else scale.within(score - half, score + half)
    found = {"interval": interval, "spread": spread, "standard_error": _variance(spread, of) ** 0.5}
    return found if interval is not None else {**found, "no_interval": UNEQUAL_GROUPS}


def _spread(between: float, within: float, of: dict[str, float], test: dict[str, float]) -> dict[str, Any]:
    return {"between": between, "within": within, "of": of, "test": test}


def _variance(spread: dict[str, Any], of: dict[str, float]) -> float:
    return float(spread["between"] / of["groups"] + spread["within"] / of["rows"])
