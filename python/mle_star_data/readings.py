"""What the program reads from tables and description of a task: a value with its reason, or a question to the user."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Direction = Literal["minimize", "maximize"]


@dataclass(frozen=True, slots=True)
class GivenMetric:
    """What the user gave of the metric."""

    metric: str | None = None
    direction: Direction | None = None
    has_weights: bool = False
    """Whether a column of weights is given."""
    file: str | None = None
    """The name of the metric that a file of the user's own computes."""
    is_regression: bool | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """A column to predict, as the training table has it."""

    name: str
    kind: Literal["numbers", "classes", "digits", "sets"]
    """`digits` are few whole numbers, which may be classes or numbers."""
    distinct: int
    labels: tuple[str, ...] = ()
    """Some of its values, the frequent ones first; of two, both."""
    zeros: int = 0
    below: int = 0
    """Rows of -1 or less, which have no logarithm of one more."""
    has_fractions: bool = False


@dataclass(frozen=True, slots=True)
class Value:
    """A value of the task that is inferred, and why."""

    field: str
    value: str
    reason: str
    sentence: str = ""
    direction: Direction | None = None
    is_chosen: bool = False
    """Whether nothing was said, so that the program chose."""


@dataclass(frozen=True, slots=True)
class Reading:
    """An answer to a question: the value of the option, and what it means."""

    value: str
    means: str


@dataclass(frozen=True, slots=True)
class Question:
    """What only the user can decide."""

    field: str
    seen: str
    option: str
    readings: tuple[Reading, ...] = ()
