"""Predictions of scripts, read from CSV files and matched with the true labels of their rows."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from . import metrics, naming, tables
from .aliases import Array, Keys
from .labels import Labels, Truth, positive_of
from .metrics import Metric
from .tables import SEPARATORS, Refused, Table, Text, canonical, listed, shown

Others = Literal["reject", "ignore"]
"""What predictions for rows without a known label mean: an error, while some of the labelled rows are enough; or
nothing, while every labelled row needs one."""

SUM_TOLERANCE = 1.5e-8
"""How far the sum of a row's probabilities may be from 1 before they are divided by it."""
WORD = re.compile(rf"[^\s{re.escape(SEPARATORS)}]+")
MAX_LABEL = 12
"""The most words of a label that is looked for among the guesses of a cell."""

Form = Literal["number", "label", "guesses", "set", "bounds", "positive", "per class"]


@dataclass(frozen=True)
class Layout:
    """The columns of a submission."""

    header: Sequence[str]
    id: str | None = None
    """The column that names the rows; `None` if the row's number does, from 0."""

    def needed(self) -> list[str]:
        return [*([] if self.id is None else [self.id]), *self.predicted()]

    def predicted(self) -> list[str]:
        names = [name.strip() for name in self.header]
        return [name for name in names if self.id is None or name != self.id.strip()]


@dataclass(frozen=True)
class Cells:
    """What the columns of predictions stand for."""

    form: Form
    columns: list[str]
    names: list[str]
    """The known classes, and then those that only the columns name."""
    positive: int = 0
    """The class that a column of probabilities is about."""


def cells_of(metric: Metric, truth: Truth, columns: list[str], positive: str | None) -> Cells:
    """What these columns stand for."""
    names = truth.names or []
    if metric.kind in ("labels", "probabilities", "guesses") and len(columns) > 1:
        about = naming.classes_of(columns, names)
        if about is not None:
            extra = [name for name in about if name not in names]
            ordered = [columns[about.index(name)] for name in [*names, *extra]]
            return Cells("per class", ordered, [*names, *extra])
        if truth.target not in columns:
            raise Refused(f"the columns {listed(columns)} cannot be matched to the classes {listed(names)}")
    if metric.kind == "intervals":
        found = naming.bounds(columns)
        if found is None:
            needs = f"{metric.name} needs two columns, with the lower and the upper bound"
            raise Refused(f"{needs}, but there are {listed(columns)}")
        return Cells("bounds", found, names)
    if not columns:
        raise Refused("the sample submission has no column for predictions")
    if len(columns) > 1 and truth.target not in columns:
        raise Refused(f"{metric.name} needs one column of predictions, but there are {listed(columns)}")
    column = columns[0] if len(columns) == 1 else truth.target
    if metric.kind == "probabilities":
        if len(names) > 2:
            raise Refused(f"{metric.name} of {len(names)} classes needs one column of probabilities for each class")
        named = canonical(column)
        about_class = names.index(named) if positive is None and named in names else positive_of(names, positive)
        return Cells("positive", [column], names, about_class)
    forms: dict[str, Form] = {"labels": "label", "sets": "set", "guesses": "guesses"}
    return Cells(forms.get(metric.kind, "number"), [column], names)


@dataclass(frozen=True)
class Predictions:
    """Predictions for known rows of one target."""

    metric: Metric
    target: str
    keys: Keys
    units: Keys
    weights: NDArray[np.float64] | None
    truth: Array
    """Numbers, or places of classes in `names`."""
    cells: Cells
    values: Array
    """What is predicted: a line for each row. Labels are places in `names`; no guess is -1."""
    names: list[str]
    """The known classes, and then those that only the file names."""
    known: int
    """The number of known classes."""
    is_numbers: bool
    positive: str | None
    separator: str = " "
    folds: Array | None = None
    """The fold of each row, if the score is the mean over folds."""

    def __len__(self) -> int:
        return len(self.keys)

    def at(self, places: Array) -> Predictions:
        """These rows."""
        return replace(
            self,
            keys=self.keys[places],
            units=self.units[places],
            weights=None if self.weights is None else self.weights[places],
            folds=None if self.folds is None else self.folds[places],
            truth=self.truth[places],
            values=self.values[places],
        )

    def labels(self) -> int | None:
        """The number of classes, if each value is a label."""
        return len(self.names) if self.cells.form in ("label", "guesses", "set") else None

    def matches(self, other: Predictions) -> bool:
        """Whether the same rows and columns are predicted, and only known classes."""
        is_known = all(len(one.names) == one.known or one.labels() is None for one in (self, other))
        return np.array_equal(self.keys, other.keys) and self.cells == other.cells and is_known

    def compared(self, values: Array | None = None) -> tuple[Metric, Array, Array]:
        """What the metric's function takes for these values."""
        values = self.values if values is None else values
        metric, form = self.metric, self.cells.form
        if self.is_numbers:
            return metric, self.truth, values if form == "bounds" else values[:, 0]
        # Classes that only the file names are sorted in between the known ones.
        order, place = _ordered(tuple(self.names))
        truth = place[self.truth]
        is_each = metric.name == "mean column-wise ROC-AUC" and form == "per class"
        positive: int | None = None
        if self.known <= 2 and not is_each:
            about = self.cells.positive
            if form != "positive":
                about = positive_of(self.names[: self.known], self.positive)
            positive = int(place[about])
        if form == "positive":
            of_class = values[:, 0]
            if metric.kind == "order":
                metric = metrics.for_two_classes(metric)
            return metric, (truth == positive).astype(np.int64), np.stack([1.0 - of_class, of_class], axis=1)
        if form == "per class":
            ordered = np.empty_like(values)
            ordered[:, place] = values
            return _per_class(metric, truth, ordered, positive)
        if form == "set":
            return metric, *self._as_sets(order, truth, place[values[:, 0].astype(np.int64)])
        found = values.astype(np.int64)
        found = np.where(found >= 0, place[np.maximum(found, 0)], -1)
        if form == "guesses":
            return metric, truth, found
        return _binary_labels(metric, truth, found[:, 0], positive)

    def checked(self, values: Array | None = None) -> tuple[Metric, Array, Array]:
        """The same, if these predictions can have a score. Probabilities of a row are divided by their sum."""
        metric, truth, predicted = self.compared(values)
        if metric.kind == "probabilities" and not metric.by_order:
            wrong = predicted[(predicted < 0) | (predicted > 1)]
            if len(wrong):
                raise Refused(f"{metric.name} needs probabilities from 0 to 1, and one is {wrong[0]:g}")
            if metric.of_column is None:
                sums = predicted.sum(axis=1, keepdims=True)
                if (sums <= 0).any():
                    raise Refused("the probabilities of a row are all zero")
                predicted = predicted / np.where(np.abs(sums - 1.0) <= SUM_TOLERANCE, 1.0, sums)
        if metric.name == "RMSLE" and (lowest := min(truth.min(), predicted.min())) <= -1:
            raise Refused(f"RMSLE is undefined for values of -1 or less, and one is {lowest:g}")
        return metric, truth, predicted

    def _as_sets(self, names: list[str], truth: Array, predicted: Array) -> tuple[Array, Array]:
        sets = [tables.labels_of(name, self.separator) for name in names]
        labels = sorted({label for one in sets for label in one})
        place = {label: at for at, label in enumerate(labels)}
        has = np.zeros((len(sets), max(len(labels), 1)), dtype=bool)
        for at, one in enumerate(sets):
            has[at, [place[label] for label in one]] = True
        return has[truth], has[predicted]

    def _parts(self, values: Array | None) -> list[tuple[Any, float]]:
        """The folds that have a score, with it; or all rows, if the score is not the mean over folds or no fold has
        one."""
        metric, truth, predicted = self.checked(values)
        weights = np.ones(len(self)) if self.weights is None else self.weights
        folds = [] if self.folds is None else [self.folds == fold for fold in np.unique(self.folds)]
        scored = [(fold, metric.score(truth[fold], predicted[fold], weights[fold])) for fold in folds]
        known = [(fold, score) for fold, score in scored if np.isfinite(score)]
        return known or [(slice(None), metric.score(truth, predicted, self.weights))]

    def score(self, values: Array | None = None) -> float:
        """The score of these predictions, or of other values for the same rows, by the function of the metric, which
        is that of the field's libraries where they have one."""
        score = float(np.mean([score for _, score in self._parts(values)]))
        if np.isnan(score):
            raise Refused(f"{self.metric.name} is undefined for these rows")
        if not np.isfinite(score):
            raise Refused(f"{self.metric.name} is not finite, since a prediction is far too large")
        return score

    def scores(self, weights: Array, values: Array | None = None) -> Array:
        """The score for each line of weights of the rows, not a number where the metric is undefined."""
        metric, truth, predicted = self.checked(values)
        parts = [slice(None)] if self.folds is None else [fold for fold, _ in self._parts(values)]
        scores = [metric.scores(truth[part], predicted[part], weights[:, part]) for part in parts]
        return np.asarray(np.mean(scores, axis=0))


@lru_cache(maxsize=8)
def _ordered(names: tuple[str, ...]) -> tuple[list[str], Array]:
    """The names in order, and the place of each among them."""
    order = tables.in_order(names)
    return order, np.array([order.index(name) for name in names], dtype=np.int64)


def _binary_labels(metric: Metric, truth: Array, predicted: Array, positive: int | None) -> tuple[Metric, Array, Array]:
    if metric.name != "F1":
        return metric, truth, predicted
    if positive is None:
        return replace(metrics.BY_NAME["macro F1"], name=metric.name), truth, predicted
    return metric, (truth == positive).astype(np.int64), (predicted == positive).astype(np.int64)


def _per_class(metric: Metric, truth: Array, values: Array, positive: int | None) -> tuple[Metric, Array, Array]:
    if metric.kind == "labels":
        return _binary_labels(metric, truth, values.argmax(axis=1), positive)
    if metric.kind == "guesses":
        return metric, truth, np.argsort(-values, axis=1, kind="stable")[:, : metric.guesses]
    if positive is not None and (metric.by_order or values.shape[1] == 2):
        rest = np.delete(values, positive, axis=1).sum(axis=1)
        return metric, (truth == positive).astype(np.int64), np.stack([rest, values[:, positive]], axis=1)
    return metric, truth, values


def read(file: str | Path, labels: Labels, layout: Layout, others: Others) -> list[Predictions]:
    """The predictions of a file for each target.

    - One column holds numbers, labels, or the probability of the positive class, as the metric needs. It is about
    another class if it is named like that class.
    - Several columns are the probabilities of the classes. A metric of labels compares the most probable class. If
    the columns are not about classes, the one named like the target counts alone.
    - Guesses stand in one column, the best first, with blanks, commas, semicolons or `|` between them. So do the
    labels of a set. An empty cell is an empty set.
    - With several targets, each has the one column that is named like it.
    """
    return of_table(tables.read(file), labels, layout, others)


def check_layout(labels: Labels, layout: Layout) -> None:
    """Raises if files of this layout have no score, whatever they hold."""
    for truth in labels.targets:
        cells_of(labels.metric, truth, _columns_of(labels, layout, truth), labels.positive)


def _columns_of(labels: Labels, layout: Layout, truth: Truth) -> list[str]:
    columns = layout.predicted()
    if len(labels.targets) == 1:
        return columns
    if truth.target.strip() not in columns:
        raise Refused(f"the sample submission has no column for the target {shown(truth.target)}")
    return [truth.target.strip()]


def of_table(table: Table, labels: Labels, layout: Layout, others: Others) -> list[Predictions]:
    """The predictions of a table for each target; see `read`."""
    table.needs(layout.needed())
    places, rows = matched(table, labels.keys, layout.id, others)
    known, all_of = labels.at(places), []
    for truth in known.targets:
        try:
            all_of.append(_target_predictions(table.at(rows), known, truth, layout))
        except Refused as error:
            about = "" if len(known.targets) == 1 else f" (target {shown(truth.target)})"
            raise Refused(f"{error}{about}") from None
    return all_of


def matched(table: Table, keys: Keys, id_column: str | None, others: Others) -> tuple[Array, Array]:
    """The places of the known rows that a table has, in ascending order, and its rows with them."""
    if not len(table):
        raise Refused("the file has no rows")
    place, is_known = tables.places(keys, tables.row_keys(table, id_column))
    ids = table.ids(id_column)
    unknown = ids.filter(~is_known).head(5).str.strip_chars().to_list()
    rows = np.flatnonzero(is_known)
    order = np.argsort(place[rows], kind="stable")
    rows, places = rows[order], place[rows][order]
    twice = np.flatnonzero(places[1:] == places[:-1])
    if len(twice):
        raise Refused(f"the ID {shown(ids[int(rows[twice[0] + 1])].strip())} occurs more than once")
    count = int((~is_known).sum())
    if others == "reject" and count and len(rows):
        raise Refused(f"{count} rows have an ID that is not expected, for example {listed(unknown)}")
    if not len(rows):
        raise Refused(f"no row has the ID of a labelled row; the IDs in the file are {listed(unknown)}")
    if others == "ignore" and len(rows) < len(keys):
        raise Refused(f"{len(keys) - len(rows)} of {len(keys)} rows that need a prediction have none")
    return places, rows


def _target_predictions(table: Table, labels: Labels, truth: Truth, layout: Layout) -> Predictions:
    cells = cells_of(labels.metric, truth, _columns_of(labels, layout, truth), labels.positive)
    reader = _Reader(table, cells, truth, labels.metric, layout)
    values, known = reader.values(), (len(truth.names or []), truth.names is None, labels.positive, truth.separator)
    rows = labels.keys, labels.units, labels.weights, truth.values
    return Predictions(labels.metric, truth.target, *rows, cells, values, reader.names, *known)


class _Reader:
    """Reads the cells of predictions."""

    def __init__(self, table: Table, cells: Cells, truth: Truth, metric: Metric, layout: Layout) -> None:
        self.table, self.cells, self.truth, self.metric, self.layout = table, cells, truth, metric, layout
        self.names = list(cells.names)
        self.places = {name: at for at, name in enumerate(self.names)}

    def values(self) -> Array:
        form, columns = self.cells.form, self.cells.columns
        if form == "label":
            return self._labels(self.table[columns[0]])
        if form == "guesses":
            return self._guesses(self.table[columns[0]])
        if form == "set":
            formed = tables.mapped(self.table[columns[0]], partial(tables.as_set, self.truth.separator))
            return tables.mapped(formed, self._place).cast(pl.Float64).to_numpy()[:, None]
        return np.stack([self._numbers(column) for column in columns], axis=1)

    def _place(self, name: str) -> int:
        """The place of a class among the names, to which it is added if it is new."""
        at = self.places.setdefault(name, len(self.names))
        if at == len(self.names):
            self.names.append(name)
        return at

    def _wrong(self, row: int, column: str, what: str) -> Refused:
        name = str(row) if self.layout.id is None else self.table[self.layout.id][row].strip()
        cell = self.table[column][row].strip()
        return Refused(f"the row with ID {shown(name)} has {shown(cell)} in column {shown(column)}, {what}")

    def _numbers(self, column: str) -> NDArray[np.float64]:
        found = tables.numbers(self.table[column])
        wrong = np.flatnonzero(~np.isfinite(found))
        if len(wrong):
            raise self._wrong(int(wrong[0]), column, "which is not a finite number")
        return found

    def _labels(self, cells: Text) -> NDArray[np.float64]:
        known, column = len(self.names), self.cells.columns[0]
        formed = tables.mapped(cells, canonical)
        are_whole = all((number := tables.as_number(name)) is not None and number % 1 == 0 for name in self.names)
        for label in formed.unique(maintain_order=True):
            if label in self.places:
                continue
            number = tables.as_number(label)
            is_fraction = number is not None and number % 1 != 0
            if tables.is_missing(label) or (is_fraction and are_whole):
                needs = f"; {self.metric.name} needs labels, not probabilities" if is_fraction else ""
                raise self._wrong(int(formed.index_of(label) or 0), column, f"which is no label{needs}")
        places = tables.mapped(formed, self._place).cast(pl.Float64).to_numpy()
        self._check_known(places, known)
        return places[:, None]

    def _guesses(self, cells: Text) -> NDArray[np.float64]:
        known, column, most = len(self.names), self.cells.columns[0], self.metric.guesses
        longest = min(max(len(_words(name)) for name in self.names), MAX_LABEL)
        found = {cell: guesses(cell.strip(), most, self.places, longest) for cell in cells.unique(maintain_order=True)}
        for cell, own in found.items():
            if not own or (tables.is_missing(cell) and cell.strip() not in self.places):
                raise self._wrong(int(cells.index_of(cell) or 0), column, "which is no guess")
        lines = {cell: [self._place(name) for name in own] + [-1] * (most - len(own)) for cell, own in found.items()}
        values = np.array([lines[cell] for cell in cells], dtype=np.float64).reshape(-1, most)
        self._check_known(values, known)
        return values

    def _check_known(self, values: Array, known: int) -> None:
        """Labels of which none is known are certainly wrong."""
        if len(self.names) > known and not ((values >= 0) & (values < known)).any():
            found, classes = listed(self.names[known:]), listed(self.names[:known])
            raise Refused(f"the predicted labels are {found}, but the classes are {classes}")


def guesses(cell: str, most: int, known: Container[str], longest: int) -> list[str]:
    """The guesses in a cell, at most so many. What separates them may also stand inside a label: from left to right,
    the longest run of words that is a known label is one guess, and a word that begins no known label is a guess by
    itself."""
    parts = _words(cell)
    found: list[str] = []
    at = 0
    while at < len(parts) and len(found) < most:
        ends = range(min(len(parts), at + longest) - 1, at, -1)
        runs = ((end, canonical(cell[parts[at][0] : parts[end][1]])) for end in ends)
        end, run = next(((end, run) for end, run in runs if run in known), (at, canonical(cell[slice(*parts[at])])))
        found.append(run)
        at = end + 1
    return found


def _words(cell: str) -> list[tuple[int, int]]:
    """Where the words of a cell are."""
    return [found.span() for found in WORD.finditer(cell)]
