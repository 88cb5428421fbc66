"""Dates and parts of years as seconds since the beginning of 1970, for whole columns at once."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

DAY = 86_400.0
MONTHS = ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november"]
MONTHS += ["december"]
NAMED = {month[:letters]: number for number, month in enumerate(MONTHS, 1) for letters in range(3, 10)} | {"sept": 9}
WEEKDAY = r"(?i)^(?:mon|tue|wed|thu|fri|sat|sun)(?:[a-z]*day)?[ ,/-]+"
CLOCK = r"^(.*?)\s*[ T]\s*([^\sT:]*:.*)$"
"""A date, and what follows it from the last blank before the first colon on."""
TIME = (
    r"(?i)^(\d+):(\d*)(?::(\d*(?:\.\d*)?))?[\d:.]*\s*(?:(a|p)[\d:.+\- ,ZAPMUTC]*|(?:[ZUTC, ]*)([+-])(\d\d):?(\d\d)?.*"
    r"|[\d:.+\- ,ZAPMUTC]*)$"
)
NUMERIC = r"^(\d{1,4})([-/.])(\d{1,4})(?:([-/.])(\d{1,4}))?$"
WITH_NAME = r"^(?:(\d{1,4})[ ,/-]+)?(?:(\d{1,4})[ ,/-]+)?([A-Za-z]{3,9})\.?(?:[ ,/-]+(\d{1,4}))?(?:[ ,/-]+(\d{1,4}))?$"
ISO = ["%Y-%m-%d %H:%M:%S", "%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"]

YEARS = range(1600, 2200)
"""The years of weeks, quarters and the like. Other numbers of four digits are rather codes."""
UNITS = {
    **dict.fromkeys(["W", "WK", "WEEK", "CW", "KW"], "week"),
    **dict.fromkeys(["Q", "QTR", "QUARTER"], "quarter"),
    **dict.fromkeys(["H", "HALF"], "half"),
    **dict.fromkeys(["M", "MONTH"], "month"),
    **dict.fromkeys(["D", "DAY"], "day"),
    **dict.fromkeys(["FY", "CY", "FISCAL", "YEAR", "SEASON"], "year"),
}
ALL_UNITS = ["year", "half", "quarter", "month", "day", "week"]
"""Of several that fit all values of a column, the first is meant."""


def seconds(texts: pl.Series, day_first: bool) -> Numbers:
    """The time of each text; not a number where it is no date, with or without a time of day. `2024-01-31`,
    `31.01.2024`, `1/31/2024`, `2024-01`, `31-Jan-2024`, `Jan 31, 2024`, `Jan-24`, with an offset, and with the year
    behind the time."""
    unique = texts.unique()
    found = np.full(len(unique), np.nan)
    for form in ISO:
        if (open := np.isnan(found)).any():
            moments = unique.filter(pl.Series(open)).str.to_datetime(form, strict=False, time_unit="ms")
            found[open] = moments.dt.epoch("ms").cast(pl.Float64).fill_null(np.nan).to_numpy() / 1000.0
    found[(found < _days(1000, 1, 1) * DAY) | (found >= _days(3000, 1, 1) * DAY)] = np.nan
    if (open := np.isnan(found)).any():
        found[open] = _spelt(unique.filter(pl.Series(open)), day_first)
    found = np.append(found, np.nan)  # Without texts, the types would be open.
    return texts.replace_strict(unique, found[:-1], default=None, return_dtype=pl.Float64).fill_null(np.nan).to_numpy()


def is_date(texts: pl.Series) -> NDArray[np.bool_]:
    """Whether each text is a date, in one order or the other."""
    found = texts.str.contains(r"^\s*[A-Za-z0-9].{5}").to_numpy().copy()
    if found.any():
        likely = texts.filter(pl.Series(found))
        found[found] = ~np.isnan(np.fmax(seconds(likely, False), seconds(likely, True)))
    return found


def _spelt(texts: pl.Series, day_first: bool) -> Numbers:
    """As `seconds`, for every form."""
    text = texts.str.strip_chars()
    frame = pl.DataFrame({"text": text}).with_columns(
        pl.col("text").str.extract(CLOCK, 1).alias("date"),
        pl.col("text").str.extract(CLOCK, 2).str.strip_chars().alias("time"),
    )
    frame = frame.with_columns(
        pl.coalesce("date", "text").alias("date"),
        pl.col("time").str.extract(r"\s([12]\d{3})$", 1).alias("year"),
        pl.col("time").str.replace(r"\s+[12]\d{3}$", ""),
    )
    numeric, clock = _groups(frame["date"], NUMERIC), _groups(frame["time"], TIME)
    a, b, c = (_number(numeric[at]) for at in (0, 2, 4))
    one, other = numeric[1], numeric[3]
    days = _three(a, b, c, (one == ".").fill_null(False).to_numpy(), day_first)
    days = np.where((other == one).fill_null(False).to_numpy(), days, np.nan)
    is_month = (other.is_null() & (one != ".").fill_null(False)).to_numpy() & _is_year(a)
    days = np.where(is_month, _days(a, b, 1.0), days)
    has_year = frame["year"].is_not_null().to_numpy()
    named = frame.select(pl.col("date") + pl.coalesce(" " + pl.col("year"), pl.lit(""))).to_series()
    days = np.where(np.isnan(days) | has_year, _with_name(named), days)
    hours, minutes, rest = (_number(clock[at]) for at in (0, 1, 2))
    half = clock[3].str.to_lowercase()
    hours = np.where((half == "p").fill_null(False).to_numpy() & (hours < 12), hours + 12, hours)
    hours = np.where((half == "a").fill_null(False).to_numpy() & (hours >= 12), hours - 12, hours)
    sign = np.where((clock[4] == "-").fill_null(False).to_numpy(), -1.0, 1.0)
    offset = sign * (np.nan_to_num(_number(clock[5])) * 3600 + np.nan_to_num(_number(clock[6])) * 60)
    of_day = hours * 3600 + np.nan_to_num(minutes) * 60 + np.nan_to_num(rest) - offset
    length = text.str.len_bytes().to_numpy()
    fits = (length >= 6) & (length <= 40)
    return np.where(fits, days * DAY + np.where(frame["time"].is_null().to_numpy(), 0.0, of_day), np.nan)


def _groups(texts: pl.Series, pattern: str) -> list[pl.Series]:
    return texts.str.extract_groups(pattern).struct.unnest().get_columns()


def _number(texts: pl.Series) -> Numbers:
    return texts.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()


def _is_year(number: Numbers) -> NDArray[np.bool_]:
    return (number >= 1000) & (number <= 2999)


def _whole_year(year: Numbers) -> Numbers:
    return np.where(year < 69, year + 2000, np.where(year < 100, year + 1900, year))


def _three(a: Numbers, b: Numbers, c: Numbers, points: NDArray[np.bool_], day_first: bool) -> Numbers:
    """Year first or last; day and month in either order. Dates with points begin with the day."""
    year = _whole_year(c)
    year = np.where(_is_year(year), year, np.nan)
    by_month, by_day = _days(year, a, b), _days(year, b, a)
    last = np.where(points, _or(by_day, by_month), by_day if day_first else by_month)
    return np.where(_is_year(a), _or(_days(a, b, c), _days(a, c, b)), last)


def _or(one: Numbers, other: Numbers) -> Numbers:
    return np.where(np.isnan(one), other, one)


def _with_name(texts: pl.Series) -> Numbers:
    """Dates with the name of a month."""
    before, between, name, behind, last = _groups(texts.str.replace(WEEKDAY, ""), WITH_NAME)
    month = name.str.to_lowercase().replace_strict(NAMED, default=None, return_dtype=pl.Float64)
    month_number = month.fill_null(np.nan).to_numpy()
    numbers = np.stack([_number(one) for one in (before, between, behind, last)])
    count = (~np.isnan(numbers)).sum(axis=0)
    # The numbers in their order, without gaps.
    order = np.argsort(np.isnan(numbers), axis=0, kind="stable")
    first, second = np.take_along_axis(numbers, order, axis=0)[:2]
    dash = texts.str.contains("-", literal=True).fill_null(False).to_numpy() & (first < 100)
    alone = np.where(_is_year(first), _days(first, month_number, 1.0), _days(1970.0, month_number, first))
    alone = np.where(dash, _days(_whole_year(first), month_number, 1.0), alone)
    year = np.where(_is_year(second) | (second < 100), _whole_year(second), np.nan)
    both = np.where(_is_year(first), _days(first, month_number, second), _days(year, month_number, first))
    return np.where(count == 1, alone, np.where(count == 2, both, np.nan))


def _days(year: Any, month: Any, day: Any) -> Any:
    """The days from the beginning of 1970; not a number unless the month is 1 to 12 and the day 1 to 31."""
    fits = (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)
    # Years that begin in March end with the leap day.
    year, month = np.where(month > 2, year, year - 1.0), np.where(month > 2, month - 3.0, month + 9.0)
    before = 365 * year + np.floor(year / 4) - np.floor(year / 100) + np.floor(year / 400)
    return np.where(fits, before + np.floor((153 * month + 2) / 5) + day - 719_469, np.nan)


def part_of_year(text: str, unit: str) -> float | None:
    """The seconds to the first day of the part of a year that a text such as `2021-W44` names; None if it names none
    of this unit."""
    if len(text) > 24 or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9 /_.:-]*", text):
        return None
    tokens = re.findall(r"[0-9]+|[A-Za-z]+", text)
    words = [UNITS.get(token.upper()) for token in tokens if token.isalpha()]
    named = [word for word in words if word != "year"]
    numbers = [token for token in tokens if token.isdigit()]
    at = next((at for at, number in enumerate(numbers) if len(number) == 4 and int(number) in YEARS), None)
    if at is None or None in words or len(named) > 1 or (named and named[0] != unit):
        return None
    year, others = int(numbers[at]), numbers[:at] + numbers[at + 1 :]
    day = _first_day(year, [(int(other), len(other)) for other in others], unit, bool(named), at == 0, "year" in words)
    return None if day is None or np.isnan(day) else float(day) * DAY


def _first_day(
    year: int, others: list[tuple[int, int]], unit: str, named: bool, first: bool, filled: bool
) -> float | None:
    if unit == "year":
        follows = [(((year + 1) % 100) if digits == 2 else year + 1) == number for number, digits in others]
        return _days(year, 1, 1) if (not others and filled) or (first and follows == [True]) else None
    if unit == "week" and named and first and len(others) == 2 and others[1][1] == 1 and 1 <= others[1][0] <= 7:
        return _week(year, others[0][0], others[1][0])
    if len(others) != 1:
        return None
    number, digits = others[0]
    of_unit: dict[str, Callable[[], Any]] = {
        "half": lambda: _days(year, number * 6 - 5, 1) if named and number in (1, 2) else None,
        "quarter": lambda: _days(year, number * 3 - 2, 1) if named and 1 <= number <= 4 else None,
        "month": lambda: _days(year, number, 1) if digits <= 2 and (named or not first) else None,
        "day": lambda: _day(year, number) if named or (first and digits == 3) else None,
        "week": lambda: _week(year, number, 1) if digits <= 2 else None,
    }
    found = of_unit[unit]()
    return None if found is None else float(found)


def _day(year: int, day: int) -> float | None:
    first, next_first = float(_days(year, 1, 1)), float(_days(year + 1, 1, 1))
    return first + day - 1 if 1 <= day <= next_first - first else None


def _week(year: int, week: int, day: int) -> float | None:
    """The day of an ISO week, from 1 for Monday. Week 53 is read in every year."""
    # The first week has the fourth of January. The first day of 1970 was a Thursday.
    fourth = _days(year, 1, 4)
    return float(fourth - (fourth + 3) % 7 + 7 * (week - 1) + day - 1) if 1 <= week <= 53 else None
