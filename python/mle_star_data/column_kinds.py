"""What the columns of a table hold: kinds, missing cells, frequent values, ranges, the parts of codes.

All columns are described at once: their cells are one long column, of which each different value is looked at once, so
that 20,000 short columns take as long as a few long ones.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from . import dates
from .aliases import Array, Facts
from .naming import CODE, says, says_time
from .tables import MISSING

INSPECTED_ROWS = 100_000
"""Rows from which columns are described: half of them the first ones, half spread over the others."""
BATCH_CELLS = 100_000
"""Cells that are described at once, which takes 200 bytes for each."""
KEPT = 2_000
"""Different values of a column that are looked at one by one, the first ones."""
TOP = 10
HUGE = 1e19
"""Numbers of this size are hardly measurements: the square of one does not fit into single precision."""
EXACT = 2.0**53
"""Between greater whole numbers, floats leave some out."""
LONG_TEXT = 60.0
BOOLEANS = [{"false", "true"}, {"no", "yes"}, {"n", "y"}, {"f", "t"}]
NUMBERS = ("integer", "number")

MEASURED = r"^[<>~≤≥$€£¥₹ +]*(-?(?:[1-9][0-9]{0,2}(?:,[0-9]{2,3})*,[0-9]{3}(?:[.][0-9]+)?|[0-9]*[.]?[0-9]+))([^0-9]*)$"
"""A number, perhaps with commas between thousands, and its unit: `36 months`, `$1,200`, `25+ years`."""
WORDED = r"^([A-Za-z]+)([0-9]+)$"
FIRST_WORD = r"^([^ ]+)( .*)?$"
SEPARATORS = "/|:_-., "
MIN_CODES, MIN_MEASURED, MAX_PARTS = 16, 5, 6


def inspected_rows(rows: int) -> Array | None:
    """The numbers of the rows that are looked at; None if these are all."""
    if rows <= INSPECTED_ROWS:
        return None
    half = INSPECTED_ROWS // 2
    spread = np.arange(1, half + 1, dtype=np.int64) * (rows - half)
    return np.concatenate([np.arange(half), half + (spread + half - 1) // half - 1])


def describe(frame: pl.DataFrame, words: Mapping[str, Collection[str]], exact: Collection[str] = ()) -> list[Facts]:
    """The columns of a table of texts. In some, `words` that look missing are values. Whole numbers beyond 2^53 are
    text, but not in columns that are `exact`, and not in those of times, which count billionths of seconds."""
    rows = inspected_rows(frame.height)
    wide = max(1, BATCH_CELLS // min(max(frame.height, 1), INSPECTED_ROWS))
    facts: list[Facts] = []
    for first in range(0, frame.width, wide):
        part = frame[:, first : first + wide]
        part = part if rows is None else part[rows]
        cells = pl.concat([column.alias("") for column in part.get_columns()], rechunk=True)
        at = np.repeat(np.arange(part.width, dtype=np.uint32), part.height)
        found = _Columns(part.columns, at, cells, words, {*exact, *filter(says_time, part.columns)})
        described = found.facts()
        _add_parts(found, described)
        facts += described
    for one in facts:
        one |= {"unit": _unit(one), **_said_by_name(one, min(frame.height, INSPECTED_ROWS))}
    return facts


def _unit(about: Facts) -> str | None:
    """The part of a year that the most frequent texts name, such as `week` for `2021-W44`."""
    values = [value for value, _ in about["top_values"]] if about["kind"] in ("category", "text") else []
    fits = (unit for unit in dates.ALL_UNITS if None not in [dates.part_of_year(value, unit) for value in values])
    return next(fits, None) if values else None


def _said_by_name(about: Mapping[str, Any], rows: int) -> dict[str, bool]:
    """Whether numbers of this name are codes, so that their order may mean nothing, and whether whole numbers name
    things, such as shops, with several rows each: their column says so, or they are scattered."""
    says_code = says(about["name"], CODE)
    times = 3 if says_code else 8 if about["scattered"] else np.inf
    is_exact = about["range"] is not None and about["range"][0] >= -9e15 and about["range"][1] <= 9e15
    repeats = bool(25 <= about["distinct"] <= (rows - about["missing"]) / times)
    is_name = about["kind"] == "integer" and is_exact and repeats and not says_time(about["name"])
    return {"says_code": says_code, "names_things": is_name}


class _Columns:
    """The different values of each column, in the order of their first cells, and how often each is there."""

    def __init__(
        self, names: list[str], at: Array, cells: pl.Series, words: Mapping[str, Collection[str]], exact: set[str]
    ) -> None:
        self.names, self.words, self.exact = names, words, exact
        values = cells.str.strip_chars()
        padded = (cells.str.len_bytes() != values.str.len_bytes()).to_numpy()
        found = pl.DataFrame({"at": at, "value": values}).group_by("at", "value", maintain_order=True).len("count")
        is_missing = self._is_missing(found["at"].to_numpy(), found["value"])
        self.missing = self._sum(found["at"].to_numpy()[is_missing], found["count"].to_numpy()[is_missing])
        blank = self._is_missing(at[padded], values.filter(pl.Series(padded)))
        self.blank, self.padded = (self._sum(at[padded][rows]) for rows in (blank, ~blank))
        found = found.filter(pl.Series(~is_missing))
        self.values = found["value"].rechunk()
        self.at, self.count = found["at"].to_numpy(), found["count"].to_numpy().astype(np.int64)
        self.start = np.searchsorted(self.at, np.arange(len(names) + 1))
        self.distinct = np.diff(self.start)
        self.is_kept = np.arange(len(self.at)) - self.start[self.at] < KEPT
        self.seen = self._sum(self.at, self.count)
        self.numbers = self.values.cast(pl.Float64, strict=False)
        self.is_number = self.numbers.is_not_null().to_numpy()
        self.number = self.numbers.fill_null(np.nan).to_numpy()
        self.whole = self.values.cast(pl.Int64, strict=False)
        is_whole = self.whole.is_not_null().to_numpy().copy()
        if (beyond := ~is_whole & (np.abs(self.number) >= EXACT)).any():
            is_whole[beyond] = self.values.filter(pl.Series(beyond)).str.contains(r"^[+-]?[0-9]{19}$").to_numpy()
        self.in_numbers = self._sum(self.at, self.count * self.is_number)
        self.in_whole = self._sum(self.at, self.count * is_whole)

    def _is_missing(self, at: Array, values: pl.Series) -> Array:
        found = values.is_in(list(MISSING)).to_numpy().copy()
        for place, name in enumerate(self.names):
            if kept := self.words.get(name):
                found[(at == place)] &= ~values.filter(pl.Series(at == place)).is_in(list(kept)).to_numpy()
        return found

    def _sum(self, at: Array, weights: Array | None = None) -> Array:
        """The sum of each column, whole if the weights are."""
        found = np.bincount(at, weights, minlength=len(self.names))
        return found if weights is None or weights.dtype == np.float64 else found.astype(np.int64)

    def _reduce(self, how: np.ufunc, values: Array, empty: Any) -> Array:
        """One value for each column; `empty` for those without values."""
        found = np.full(len(self.names), empty, dtype=values.dtype)
        filled = self.distinct > 0
        if filled.any():
            found[filled] = how.reduceat(values, self.start[:-1][filled])
        return found

    def _any(self, flags: Array) -> Array:
        return self._sum(self.at[flags]) > 0

    def of(self, places: Array) -> Array:
        """The values of some columns."""
        return np.isin(self.at, np.flatnonzero(places))

    def texts(self, rows: Array) -> pl.Series:
        return self.values.filter(pl.Series(rows))

    def facts(self) -> list[Facts]:
        finite = np.isfinite(self.number)
        low = self._reduce(np.minimum, np.where(finite, self.number, np.inf), np.inf)
        high = self._reduce(np.maximum, np.where(finite, self.number, -np.inf), -np.inf)
        seen = np.maximum(self.seen, 1)
        # The sum itself may be too large for a number.
        mean = self._sum(self.at, np.where(finite, self.number, 0.0) * (self.count / seen[self.at]))
        length = self._sum(self.at, self.values.str.len_chars().to_numpy() * self.count) / seen
        long = self._long(low, high)
        kinds = self._kinds(long, length)
        is_number = np.isin(kinds, NUMBERS)
        mostly = (kinds == "category") & ~long & (self.in_numbers * 20 >= self.seen * 19)
        nearly = np.where(is_number, self.blank > 0, mostly)
        huge = self._sum(self.at, self.count * (np.abs(self.number) >= HUGE)) * (is_number | nearly)
        rarest = self._reduce(np.minimum, self.count, 0) * (self.distinct <= KEPT) / seen
        has_range = is_number & (low <= high)
        found = {
            "kind": kinds,
            "missing": self.missing,
            "distinct": self.distinct,
            "rarest": rarest,
            "mean_length": length,
            "padded": self.padded,
            "huge": huge.astype(np.int64),
            "nearly_numbers": nearly.astype(bool),
            "respelled": self._respelled(kinds),
            "long": long,
            "scattered": self._scattered(kinds == "integer"),
            "day_first": self._day_first(kinds == "date"),
        }
        facts: list[Facts] = pl.DataFrame(found).to_dicts()
        bounds, mean = np.stack([low, high], axis=1).tolist(), mean.tolist()
        for at, (one, top) in enumerate(zip(facts, self._top(kinds), strict=True)):
            one["name"], one["words"] = self.names[at], sorted(self.words.get(self.names[at], ()))
            one["range"], one["mean"] = (bounds[at], mean[at]) if has_range[at] else (None, None)
            one["top_values"], one["parts"] = top, None
        return facts

    def _kinds(self, long: Array, length: Array) -> Array:
        kinds = np.full(len(self.names), "category", dtype="U8")
        kinds[self._is_text(length)] = "text"
        kinds[self.in_numbers == self.seen] = "number"
        kinds[self.in_whole == self.seen] = "integer"
        kinds[self.seen == 0] = "empty"
        open = (kinds == "category") | (kinds == "text")
        kinds[self._are_dates(open)] = "date"
        for at in np.flatnonzero(open & (self.distinct <= 2)):
            lower = [value.lower() for value in self.values[int(self.start[at]) : int(self.start[at + 1])]]
            is_plain = len(lower) == 2 or all(len(value) > 1 for value in lower)
            if is_plain and any(pair.issuperset(lower) for pair in BOOLEANS):
                kinds[at] = "boolean"
        kinds[long] = "category"
        return kinds

    def _is_text(self, length: Array) -> Array:
        """Whether the values are sentences or long texts that seldom repeat."""
        differ = (self.in_numbers < self.seen) & ((self.distinct * 5 > self.seen) | (self.distinct > 1_000))
        short = self.of(differ & (length < LONG_TEXT))
        words = self.texts(short).str.count_matches(r"[^ \t\n\r\f]+").to_numpy()
        number = self._sum(self.at[short], words * self.count[short])
        return differ & ((length >= LONG_TEXT) | (number >= 3 * self.seen))

    def _are_dates(self, open: Array) -> Array:
        """Whether all values are dates. Most columns show by their first value that they hold none."""
        for most in (1, 20, KEPT):
            rows = self.of(open) & (np.arange(len(self.at)) - self.start[self.at] < most)
            no_date = np.zeros(len(self.at), dtype=bool)
            no_date[rows] = ~dates.is_date(self.texts(rows))
            open = open & ~self._any(no_date)
        return open

    def _day_first(self, are_dates: Array) -> Array:
        """Whether a date shows that the day comes first: it is too large for a month, or a point follows."""
        rows = self.of(are_dates)
        first = self.texts(rows).str.extract_groups(r"^(\d{1,2})(\D|$)").struct.unnest()
        day = first.to_series(0).cast(pl.Int64).fill_null(0).to_numpy()
        point = (first.to_series(1) == ".").fill_null(False).to_numpy()
        return self._sum(self.at[rows][((day >= 13) & (day <= 31)) | ((day <= 12) & point)]) > 0

    def _long(self, low: Array, high: Array) -> Array:
        """Whether these are whole numbers of which several would become others as floats."""
        may_be = (np.maximum(high, -low) >= EXACT) & (high >= low) & (self.in_numbers * 20 >= self.seen * 19)
        may_be &= ~np.isin(np.arange(len(self.names)), [at for at, name in enumerate(self.names) if name in self.exact])
        for at in np.flatnonzero(may_be):
            part = slice(int(self.start[at]), int(min(self.start[at + 1], self.start[at] + KEPT)))
            texts = self.values[part].filter(self.numbers[part].is_not_null()).to_list()
            are_whole = all(text.replace("-", "").isdecimal() for text in texts)
            may_be[at] = are_whole and sum(len(text) > 15 and f"{float(text):.0f}" != text for text in texts) > 1
        return may_be

    def _respelled(self, kinds: Array) -> Array:
        """Whether pandas would write a value in another way, although no other value means the same."""
        of_kind = kinds[self.at] if len(self.at) else np.zeros(0, dtype="U8")
        other = np.zeros(len(self.at), dtype=bool)
        whole = (of_kind == "integer") & self.is_kept & self.whole.is_not_null().to_numpy()
        other[whole] = (self.whole.cast(pl.String) != self.values).to_numpy()[whole]
        point = (of_kind == "number") & self.is_kept
        plain = self.texts(point).str.contains(r"^-?(?:0|[1-9][0-9]{0,15})\.(?:[0-9]*[1-9]|0)$").to_numpy().copy()
        tiny = plain & (np.abs(self.number[point]) < 1e-4) & (self.number[point] != 0)
        plain[tiny] = False
        if not plain.all():
            odd = zip(self.number[point][~plain], self.texts(point).filter(pl.Series(~plain)), strict=True)
            plain[~plain] = [repr(float(number)) == text for number, text in odd]
        other[point] = ~plain
        truth = of_kind == "boolean"
        words = self.texts(truth)
        other[truth] = (words.str.contains(r"^(?i:true|false)$") & ~words.is_in(["True", "False"])).to_numpy()
        doubtful = self.of(self._any(other)) & self.is_kept
        frame = pl.DataFrame({"at": self.at[doubtful], "text": self.texts(doubtful), "number": self.number[doubtful]})
        meaning = pl.coalesce(pl.col("number").fill_nan(None).cast(pl.String), pl.col("text").str.to_lowercase())
        alone = frame.group_by("at").agg(meaning=meaning.is_unique().all())
        found = np.zeros(len(self.names), dtype=bool)
        found[alone.filter("meaning")["at"].to_numpy()] = True
        return found

    def _scattered(self, places: Array) -> Array:
        """Whether most whole numbers between the first and the third quartile are left out, as in codes."""
        frame = pl.DataFrame({"at": self.at, "whole": self.whole, "count": self.count})
        frame = frame.filter(pl.Series(self.of(places) & self.is_kept)).drop_nulls().sort("at", "whole")
        count, total = pl.col("count"), pl.col("count").sum().over("at")
        middle = (count.cum_sum().over("at") - count // 2) * 4
        inner = frame.filter(middle.is_between(total, 3 * total))
        at, whole = inner["at"].to_numpy(), inner["whole"].to_numpy()
        found = np.zeros(len(self.names), dtype=bool)
        columns, start, values = np.unique(at, return_index=True, return_counts=True)
        if len(columns):
            low, high = whole[start].astype(np.uint64), np.maximum.reduceat(whole, start).astype(np.uint64)
            # The difference of two whole numbers of either sign is exact in unsigned ones.
            step = np.maximum(np.gcd.reduceat(whole.astype(np.uint64) - np.repeat(low, values), start), 1)
            kept = np.minimum(self.distinct[columns], KEPT)
            found[columns] = (high - low) // step > 10.0 * (values * self.distinct[columns] // kept)
        return found

    def _top(self, kinds: Array) -> list[list[list[Any]]]:
        """The most frequent values; of equally frequent ones the first as text, or, of numbers with a point, which
        hardly repeat, the first in the file."""
        frame = pl.DataFrame({"at": self.at, "count": self.count, "value": self.values, "kind": kinds[self.at]})
        # Of equal ones, polars keeps the order of the file.
        by_text = pl.when(pl.col("kind") != "number").then("value").alias("text")
        kept = frame.filter(pl.Series(self.is_kept)).with_columns(by_text)
        kept = kept.sort("at", "count", "text", descending=[False, True, False], maintain_order=True)
        shown = kept.group_by("at", maintain_order=True).head(TOP)
        found: list[list[list[Any]]] = [[] for _ in self.names]
        ordered = shown.sort("at", "count", "value", descending=[False, True, False])
        for at, value, count in ordered.select("at", "value", "count").iter_rows():
            found[at].append([value, count])
        return found


def _add_parts(found: _Columns, facts: list[Facts]) -> None:
    """The parts that the values of codes are made of."""
    is_code = [one["kind"] == "category" and not one["nearly_numbers"] and not one["long"] for one in facts]
    made = {}
    for at in _alike(found, np.array(is_code) & (found.distinct >= MIN_MEASURED)):
        values = found.values[int(found.start[at]) : int(found.start[at + 1])][:KEPT]
        repeat = bool(found.distinct[at] * 2 < found.seen[at])
        if parts := _parts(values, repeat):
            made[at] = parts
    if not made:
        return
    names, columns = [], []
    for parts in made.values():
        numbered = [str(at + 1) for at in range(len(parts.columns))]
        names += ["number", "unit"] if parts.kind == "measured" else numbered
        columns += parts.columns
    places = np.repeat(np.arange(len(columns), dtype=np.uint32), [len(column) for column in columns])
    inner = iter(_Columns(names, places, pl.concat(columns, rechunk=True), {}, set()).facts())
    for place, parts in made.items():
        described = [next(inner) for _ in parts.columns]
        facts[place]["parts"] = {
            "pattern": parts.pattern, "kind": parts.kind, "values": len(parts.columns[0]), "columns": described
        }  # fmt: skip


def _alike(found: _Columns, places: Array) -> Array:
    """The columns that may have parts, by a glance at twenty values of each."""
    rows = found.of(places) & (np.arange(len(found.at)) - found.start[found.at] < 20)
    fits = found.texts(rows).str.contains(r"[0-9/|:_\-., ]|^[A-Za-z]{3,16}$").to_numpy()
    share = found._sum(found.at[rows][fits]) / np.maximum(found._sum(found.at[rows]), 1)
    return np.flatnonzero(places & (share >= 0.5))


class _Parts(NamedTuple):
    pattern: str
    kind: str
    columns: list[pl.Series]


def _parts(values: pl.Series, repeat: bool) -> _Parts | None:
    """The parts of these values, if most are made alike; `repeat` says whether most of them occur several times."""
    measured = values.filter(values.str.contains(MEASURED))
    if len(measured) * 20 >= len(values) * 19:
        return _cut(measured, MEASURED, "measured")
    if len(values) < MIN_CODES:
        return None
    for separator in SEPARATORS:
        count = values.str.count_matches(separator, literal=True) + 1
        middle = int(count.sort()[len(count) // 2])
        fits = values.filter(count == middle)
        if 2 <= middle <= MAX_PARTS and len(fits) * 10 >= len(values) * 9:
            # In brackets, these separators have no other meaning.
            part = f"([^{separator}]*)"
            return _cut(fits, f"^{f'[{separator}]'.join([part] * middle)}$", "fields")
    fits = values.filter(values.str.contains(r"^[A-Za-z]{1,4}[0-9]{1,8}$"))
    if len(fits) * 10 >= len(values) * 9:
        return _cut(fits, WORDED, "fields")
    letters = len(values[0])
    if 3 <= letters <= 16 and not repeat and values.str.contains(f"^[A-Za-z0-9]{{{letters}}}$").all():
        return _cut(values, f"^{'(.)' * letters}$", "letters")
    first = values.str.extract(r"^([^ ]*)", 1)
    repeats = first.n_unique() * 3 <= len(values) and values.str.contains(" ", literal=True).sum() * 2 >= len(values)
    return _cut(values, FIRST_WORD, "fields") if repeats else None


def _cut(values: pl.Series, pattern: str, kind: str) -> _Parts:
    columns = values.str.extract_groups(pattern).struct.unnest().get_columns()
    if kind == "measured":
        columns[0] = columns[0].str.replace_all(",", "", literal=True)
    return _Parts(pattern, kind, [column.fill_null("").alias("") for column in columns])
