"""Which class or bound each column of a submission is about, by its name."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .tables import canonical


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
