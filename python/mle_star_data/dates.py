"""Dates and parts of years as seconds since the beginning of 1970, for whole columns at once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from .aliases import Numbers

DAY = 86_400.0
ISO = ["%Y-%m-%d %H:%M:%S", "%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"]
WEEKDAY = r"(?i)^(?:mon|tue|wed|thu|fri|sat|sun)(?:[a-z]*day)?[ ,/-]+"
YEAR_LAST = r"^(.*\d) +(\d+:.*) (\d{4})$"
"""A year behind the time, as in `Wed Jan 31 03:00:00 +0300 2024`."""
CLOCK = (
    r"(?i)^(?P<date>.*?)\s*[ T]\s*(?P<hour>\d+):(?P<minute>\d+)(?::(?P<second>\d+(?:\.\d*)?))?\s*"
    r"(?:(?P<half>[ap])\.?m\.?)?\s*(?:Z|UTC|GMT)?\s*(?:(?P<sign>[+-])(?P<hours>\d\d):?(?P<minutes>\d\d)?)?$"
)
IS_DATE = (
    r"^\d{4}[-/.]\d{1,2}[-/.]\d{1,2}$|^\d{1,2}[-/.]\d{1,2}[-/.](?:\d\d|\d{4})$"
    "|(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
)
IS_MONTH = r"^(?:\d{4}[-/]\d{1,2}|[A-Za-z]{3,9}[ -]\d{4}|[A-Za-z]{3,9}-\d\d)$"
FORMS = ["%Y %m %d", "%B %d %Y", "%d %B %Y", "%B %d %y", "%d %B %y"]
FORMS += ["month %Y %m %d", "month %B %Y %d", "month %B %y %d"]
FORMS += ["%Y %d %m", "%Y %B %d", "%d.%m.%Y", "%d.%m.%y", "%m.%d.%Y", "%Y.%m.%d"]
MONTH_FIRST, DAY_FIRST = ["%m %d %Y", "%m %d %y"], ["%d %m %Y", "%d %m %y"]
"""Forms of dates in which `-`, `/` and `,` are blanks."""

WORDS = {"half": "H|HALF", "quarter": "Q|QTR|QUARTER", "month": "M|MONTH", "day": "D|DAY", "week": "W|WK|WEEK|CW|KW"}
MONTHS = {"year": 12, "half": 6, "quarter": 3, "month": 1}
YEAR, NUMBER, MARK = r"(?P<year>(?:1[6-9]|20|21)\d\d)", r"(?P<number>\d{1,3})", "[ /_.:-]*"
"""Other numbers of four digits are rather codes than years."""
PARTS = {
    unit: [rf"(?:FY|CY)?{MARK}{YEAR}{MARK}(?:{word}){MARK}{NUMBER}", rf"(?:{word}){MARK}{NUMBER}{MARK}(?:FY|CY)?{YEAR}"]
    for unit, word in WORDS.items()
}
PARTS["month"] += [rf"{NUMBER}[ /_.:-]{YEAR}"]
PARTS["day"] += [rf"{YEAR}[ /_.:-]?(?P<number>\d\d\d)"]
PARTS["week"] += [rf"{YEAR}-?W{NUMBER}-(?P<weekday>[1-7])", rf"{NUMBER}[ /_.:-]{YEAR}"]
PARTS["year"] = [rf"(?:FY|CY|FISCAL|YEAR|SEASON){MARK}{YEAR}", rf"(?:FY|CY)?{MARK}{YEAR}[/-](?P<next>\d\d|\d{{4}})"]
ALL_UNITS = ["year", "half", "quarter", "month", "day", "week"]
"""Of several that fit all values of a column, the first is meant."""


def seconds(texts: pl.Series, day_first: bool) -> Numbers:
    """The time of each text; not a number where it is no date, with or without a time of day. `2024-01-31`,
    `31.01.2024`, `1/31/2024`, `2024-01`, `31-Jan-2024`, `Jan 31, 2024`, `Jan-24`, with an offset, and with the year
    behind the time."""
    unique = texts.unique()
    found = _in_forms(unique, ISO)
    if (open := np.isnan(found)).any():
        found[open] = _spelt(unique.filter(pl.Series(open)), day_first)
    found = np.append(found, np.nan)  # Without texts, the types would be open.
    return texts.replace_strict(unique, found[:-1], default=None, return_dtype=pl.Float64).fill_null(np.nan).to_numpy()


def _in_forms(texts: pl.Series, forms: Sequence[str]) -> Numbers:
    """The time of each text in the first of these forms that fits."""
    found = np.full(len(texts), np.nan)
    for form in forms:
        if (open := np.isnan(found)).any():
            moments = texts.filter(pl.Series(open)).str.to_datetime(form, strict=False, time_unit="ms")
            made = moments.dt.epoch("ms").cast(pl.Float64) / 1000.0
            found[open] = made.set(~moments.dt.year().is_between(1000, 2999), None).fill_null(np.nan).to_numpy()
    return found


def is_date(texts: pl.Series) -> NDArray[np.bool_]:
    """Whether each text is a date, in one order or the other."""
    found = texts.str.contains(r"^\s*[A-Za-z0-9].{5}").to_numpy().copy()
    if found.any():
        likely = texts.filter(pl.Series(found))
        found[found] = ~np.isnan(np.fmax(seconds(likely, False), seconds(likely, True)))
    return found


def _spelt(texts: pl.Series, day_first: bool) -> Numbers:
    """As `seconds`, for every form."""
    text = texts.str.strip_chars().str.replace(YEAR_LAST, "$1 $3 $2").alias("text")
    frame = pl.DataFrame([text, text.str.extract_groups(CLOCK).alias("clock")]).unnest("clock")
    number = {name: pl.col(name).cast(pl.Float64, strict=False) for name in ("hour", "minute", "second")}
    hour = number["hour"] % 12 + pl.when(pl.col("half").str.to_lowercase() == "p").then(12).otherwise(0)
    hour = pl.when(pl.col("half").is_null()).then(number["hour"]).otherwise(hour)
    offset = pl.col("hours").cast(pl.Float64) * 60 + pl.col("minutes").cast(pl.Float64).fill_null(0)
    offset = pl.when(pl.col("sign") == "-").then(-offset).otherwise(offset)
    of_day = hour * 3600 + (number["minute"] - offset.fill_null(0)) * 60 + number["second"].fill_null(0)
    written = pl.coalesce("date", "text").str.replace(WEEKDAY, "")
    plain = written.str.replace_all("[-/, ]+", " ")
    plain = pl.when(written.str.contains(IS_MONTH)).then("month " + plain + " 1").otherwise(plain)
    frame = frame.select(pl.when(written.str.contains(f"{IS_MONTH}|{IS_DATE}")).then(plain), of_day.fill_null(0))
    days = _in_forms(frame.to_series(0), [*(DAY_FIRST if day_first else MONTH_FIRST), *FORMS])
    times: Numbers = days + frame.to_series(1).to_numpy()
    return times


def _days(year: Any, month: Any, day: Any) -> Any:
    """The days from the beginning of 1970; not a number unless the month is 1 to 12 and the day 1 to 31."""
    fits = (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)
    months = np.where(fits, (year - 1970) * 12 + month - 1, 0).astype("datetime64[M]")
    return np.where(fits, months.astype("datetime64[D]").astype(np.int64) + day - 1, np.nan)


def part_of_year(text: str, unit: str) -> float | None:
    """The seconds to the first day of the part of a year that a text such as `2021-W44` names; None if it names none
    of this unit."""
    found = next((one for form in PARTS[unit] if (one := re.fullmatch(form, text, re.IGNORECASE))), None)
    if found is None:
        return None
    said = found.groupdict()
    year, number = int(said["year"]), int(said.get("number") or 1)
    if int(said.get("next") or year + 1) % 100 != (year + 1) % 100:
        return None
    try:
        first = _first_day(year, number, unit) + timedelta(int(said.get("weekday") or 1) - 1)
    except ValueError:
        return None
    return (first - date(1970, 1, 1)).days * DAY


def _first_day(year: int, number: int, unit: str) -> date:
    """The first day of a part of a year. Raises `ValueError` if the year has none of this number."""
    if unit in MONTHS:
        return date(year, (number - 1) * MONTHS[unit] + 1, 1)
    first, length = (date(year, 1, 1), 1) if unit == "day" else (date.fromisocalendar(year, 1, 1), 7)
    if not 1 <= number <= (date(year, 12, 31).timetuple().tm_yday if unit == "day" else 53):
        raise ValueError
    return first + timedelta((number - 1) * length)
