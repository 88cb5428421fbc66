"""What the name of a column says of it: whether it is an ID, a code, a time, an amount or a counter; and of a column of
a submission, which class or bound it is about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache

from .tables import canonical


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


def listed(names: Iterable[str], between: str = ", ") -> str:
    """Names for a sentence, as code."""
    return between.join(f"`{name}`" for name in names)


ROW = word_set("index row")
KEY = word_set(
    "author batch case client cluster code customer device document driver engine family farm field group hospital "
    "house household id ids individual key machine member participant patient person place plant player plot scene "
    "school sensor session shop site speaker station store student subject team unit user vehicle video well"
)
"""The subject of a row."""
CODE = KEY | word_set(
    "agent article book branch brand campaign category department dept district film item merchant movie postal "
    "postcode product region resource route seller sku zip zone"
)
"""Numbers that only name something, so that their order may mean nothing."""
TIME = word_set(
    "created date datetime day epoch fiscal fy hour minute month period quarter season second step time timestamp ts "
    "unix utc week when year yearmon yearmonth yearweek ym yw yyyymm yyyymmdd yyyyww"
)
MEASURE = word_set(
    "age amount average avg count days distance hours max mean min minutes months n num number per price rate since "
    "sum total years"
)
"""Counts and measures: `days_since_visit` is no visit."""
COUNTER = word_set("account invoice no nr number order phone ticket")
"""Running numbers."""


@cache
def words(name: str) -> tuple[str, ...]:
    """The words of a name in lower case, split at punctuation, digits and capitals."""
    name = re.sub(r"(?<=[^\W\d_A-Z])(?=[A-Z])", " ", name)
    return tuple(re.findall(r"[^\W\d_]+", name.lower()))


def says(name: str, wanted: frozenset[str]) -> bool:
    """Whether the name has one of these words. `patient_id`, `PatientID`, `patientid` and `patients` have `patient`."""
    return any(
        word in wanted or word.removesuffix("s") in wanted or word.removesuffix("id") in wanted for word in words(name)
    )


def says_time(name: str) -> bool:
    return says(name, TIME) or name in ("t", "T")


def says_measure(name: str) -> bool:
    return not MEASURE.isdisjoint(words(name))


def says_id(name: str) -> bool:
    """Whether a column is called an ID of its rows."""
    return name.lower() == "id" or name.lower().endswith("_id") or name.endswith("Id")


def says_role(name: str, of: str) -> bool:
    """Whether values are another column's in a role of their own: `home_team`, `team_2` and `team_b` are teams."""
    parts = list(words(name))
    ends = len(of) >= 4 and "".join(parts).endswith(of)
    if parts and len(parts[-1]) == 1:
        parts.pop()
    return ends or any("".join(parts[first:]) == of for first in range(len(parts)))


def plain(name: str) -> str:
    """The letters of a name, without `id` as its last of several words."""
    parts = words(name)
    return "".join(parts[:-1] if len(parts) > 1 and parts[-1] == "id" else parts)


# Which class or bound a column of a submission is about


def classes_of(columns: Sequence[str], classes: Sequence[str]) -> list[str] | None:
    """The class that each column is about, if every known class has one: by the same prefix before each, by their
    end or beginning, or, if none is named like a class, by their order. Further columns are about classes that no
    label has."""
    found = by_name(columns, classes)
    if found is None and len(columns) == len(classes) and not any(canonical(one) in classes for one in columns):
        return list(classes)
    return found


def by_name(columns: Sequence[str], classes: Sequence[str]) -> list[str] | None:
    """The class that each column is about by its name."""
    for column in columns:
        for at in range(len(column)):
            if canonical(column[at:]) in classes and (found := _after(column[:at], columns, classes)):
                return found
    return _at_an_end(columns, classes)


def _after(prefix: str, columns: Sequence[str], classes: Sequence[str]) -> list[str] | None:
    if not all(column.startswith(prefix) for column in columns):
        return None
    found = [canonical(column[len(prefix) :]) for column in columns]
    return found if len(set(found)) == len(found) and set(classes) <= set(found) else None


def _at_an_end(columns: Sequence[str], classes: Sequence[str]) -> list[str] | None:
    """Each column begins or ends with the name of one class, whatever its capitals. Of several, the longest counts."""
    lower = [one.strip().lower() for one in classes]
    found = []
    for column in (one.lower() for one in columns):
        fits = [at for at, one in enumerate(lower) if one and (column.startswith(one) or column.endswith(one))]
        longest = max((len(lower[at]) for at in fits), default=0)
        fits = [at for at in fits if len(lower[at]) == longest]
        if len(fits) != 1:
            return None
        found.append(fits[0])
    is_whole = len(columns) == len(classes) and sorted(found) == list(range(len(classes)))
    return [classes[at] for at in found] if is_whole else None


def bounds(columns: Sequence[str]) -> list[str] | None:
    """The columns with the lower and with the upper bound: by words in their names, else in their order."""
    if len(columns) != 2:
        return None
    is_lower, is_upper = (
        [bool(re.search(rf"(?i)(?:^|[^a-z])(?:{words})", one)) for one in columns] for words in ("lo|min", "hi|upp|max")
    )
    is_turned = (is_upper[0] and not is_upper[1]) or (is_lower[1] and not is_lower[0])
    return list(columns)[:: -1 if is_turned else 1]
