"""The true labels of rows, read from a CSV table with the IDs and weights of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from . import naming, tables
from .aliases import Array, Keys
from .metrics import Metric
from .tables import Refused, Table, Text, canonical, listed, shown

ONE_CLASS = "all labels are the same, so predictions cannot be told apart"
MIN_UNITS = 8
"""Of fewer clusters, the spread of a bootstrap says little, so rows are drawn."""


@dataclass(frozen=True)
class Columns:
    """The columns of a table with labels."""

    target: str
    id: str | None = None
    further: Sequence[str] = ()
    cluster: str | None = None
    weight: str | None = None
    positive: str | None = None
    words: Sequence[str] = ()

    def targets(self) -> list[str]:
        return [self.target, *self.further]


@dataclass(frozen=True)
class Truth:
    """The labels of one target, in the order of the keys: numbers, or places of classes in `names`."""

    target: str
    values: Array
    names: list[str] | None = None
    """The classes in order; `None` for numbers. A set is named by its labels in order."""
    separator: str = " "
    """What is between the labels of a set."""

    def at(self, places: Array) -> Truth:
        return replace(self, values=self.values[places])

    def cells(self) -> pl.Series:
        """Numbers, or the names of classes."""
        named = None if self.names is None else pl.Series(self.names, dtype=pl.String)
        return pl.Series(self.values).cast(pl.Float64) if named is None else named[self.values]

    def among(self, names: Sequence[str]) -> Truth:
        """The labels among the classes of other rows, too, so that a class which these rows lack keeps its place."""
        if self.names is None or set(names) <= set(self.names):
            return self
        merged = tables.in_order({*self.names, *names})
        place = {name: at for at, name in enumerate(merged)}
        moved = np.array([place[name] for name in self.names], dtype=np.int64)
        return replace(self, values=moved[self.values], names=merged)


@dataclass(frozen=True)
class Labels:
    """Known rows with the labels of each target."""

    metric: Metric
    keys: Keys
    """In ascending order."""
    units: Keys
    """What is drawn together: the cluster of each row, else its key."""
    targets: list[Truth]
    weights: NDArray[np.float64] | None = None
    """A weight for each row, with a mean of 1; `None` if all count the same."""
    positive: str | None = None
    """The class that a binary metric is about, if it is given."""

    def __len__(self) -> int:
        return len(self.keys)

    def at(self, places: Array) -> Labels:
        """These rows."""
        weights = None if self.weights is None else self.weights[places]
        targets = [one.at(places) for one in self.targets]
        return replace(self, keys=self.keys[places], units=self.units[places], targets=targets, weights=weights)

    def among_classes_of(self, others: Labels) -> Labels:
        pairs = zip(self.targets, others.targets, strict=True)
        return replace(self, targets=[one.among(other.names or []) for one, other in pairs])

    def has_classes_of(self, others: Labels) -> bool:
        return [one.names for one in self.targets] == [one.names for one in others.targets]

    def halves(self) -> tuple[Labels, Labels]:
        """Two halves of the rows, drawn by the IDs alone. Rows of a cluster stay together if there are enough
        clusters."""
        from .bootstrap import mixed, seed

        for units in (drawn_units(self.keys, self.units), self.keys):
            distinct, place, sizes = np.unique(units, return_inverse=True, return_counts=True)
            # No replicate has this number.
            order = np.argsort(mixed(distinct ^ seed(2**64 - 1)))
            sums = np.cumsum(sizes[order])
            first = int(np.argmin(np.abs(2 * sums - len(self)))) + 1
            count = int(sums[first - 1])
            if min(count, len(self) - count) * 4 >= len(self):
                is_first = np.zeros(len(distinct), dtype=bool)
                is_first[order[:first]] = True
                rows = is_first[place]
                return self.at(np.flatnonzero(rows)), self.at(np.flatnonzero(~rows))
        return self, self.at(np.empty(0, dtype=np.int64))


def clusters_if_few(keys: Keys, units: Keys) -> int | None:
    """The number of clusters, if it is too small to draw them."""
    if units is keys or np.array_equal(units, keys):
        return None
    count = len(np.unique(units))
    return count if count < MIN_UNITS else None


def drawn_units(keys: Keys, units: Keys) -> Keys:
    """What is drawn: the clusters, or the rows if there are too few clusters."""
    return units if clusters_if_few(keys, units) is None else keys


def read(file: str | Path, columns: Columns, metric: Metric, others: Labels | None = None) -> Labels:
    """The labels in a CSV table. Rows without a label of each target are left out. With `others`, rows may lack
    classes."""
    known = [[] for _ in columns.targets()] if others is None else [one.names or [] for one in others.targets]
    return _among(tables.read(file), columns, metric, known)


def _among(table: Table, columns: Columns, metric: Metric, known: Sequence[Sequence[str]]) -> Labels:
    """The labels in a table, among these classes of each target, which may lack rows, too."""
    rows, keys, units = labelled(table, columns, metric.kind in ("numbers", "intervals"))
    positive = None if columns.positive is None else canonical(columns.positive)
    targets = [
        _truth(target, table[target][rows], rows, metric, positive, others).among(others)
        for target, others in zip(columns.targets(), known, strict=True)
    ]
    weights = _weights(table, columns.weight, rows)
    return Labels(metric, keys, units, targets, weights, positive).at(np.argsort(keys, kind="stable"))


def labelled(table: Table, columns: Columns, are_numbers: bool = False) -> tuple[Array, Keys, Keys]:
    """The rows that have a label of each target, their keys, and what is drawn together. No label is infinite."""
    table.needs([*columns.targets(), *(name for name in (columns.id, columns.cluster) if name is not None)])
    is_kept = np.ones(len(table), dtype=bool)
    for target in columns.targets():
        is_kept &= ~tables.are_missing(table[target], columns.words)
        if are_numbers:
            is_kept &= ~np.isinf(tables.numbers(table[target]))
    rows = np.flatnonzero(is_kept)
    if not len(rows):
        raise Refused(f"no row has a label in column {shown(columns.target)}")
    keys = named_rows(table, columns.id, rows)
    return rows, keys, keys if columns.cluster is None else tables.keys(table[columns.cluster])[rows]


def named_rows(table: Table, id_column: str | None, rows: Array) -> Keys:
    """The keys of these rows, which have different IDs."""
    if id_column is not None:
        empty = np.flatnonzero((table[id_column][rows].str.strip_chars() == "").to_numpy())
        if len(empty):
            raise Refused(f"row {rows[empty[0]] + 1} has no ID")
    keys = tables.row_keys(table, id_column)[rows]
    order = np.argsort(keys, kind="stable")
    same = np.flatnonzero(keys[order][1:] == keys[order][:-1])
    if len(same):
        one, two = sorted(int(rows[order[at]]) + 1 for at in (same[0], same[0] + 1))
        raise Refused(f"IDs must be unique, but rows {one} and {two} have the same one")
    return keys


def _weights(table: Table, column: str | None, rows: Array) -> NDArray[np.float64] | None:
    if column is None:
        return None
    table.needs([column])
    cells = table[column][rows]
    weights = tables.numbers(cells)
    check_weights(weights, cells, rows, column)
    # Divided by the largest first, since the sum may be infinite.
    weights = weights / weights.max()
    return np.asarray(weights / weights.mean())


def check_weights(weights: NDArray[np.float64], cells: Text, rows: Array, column: str, where: str = "") -> None:
    """Refuses the weights of these rows if one is no number from 0 on, or none is above 0."""
    hint = "weights are numbers from 0 on; correct the row, or give another column with --weight-column"
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(wrong):
        said = f"row {int(rows[wrong[0]]) + 1}{where} has the weight {shown(cells[int(wrong[0])].strip())}"
        raise Refused(f"{said} in column {shown(column)}, which is no finite number of at least 0", hint)
    if not weights.any():
        raise Refused(f"no row{where} has a weight above 0 in column {shown(column)}", hint)


def _truth(target: str, cells: Text, rows: Array, metric: Metric, positive: str | None, others: Sequence[str]) -> Truth:
    if metric.kind in ("numbers", "intervals"):
        values = tables.numbers(cells)
        wrong = np.flatnonzero(~np.isfinite(values))
        if len(wrong):
            label = shown(cells[int(wrong[0])].strip())
            raise Refused(f"row {int(rows[wrong[0]]) + 1} has the label {label}, which is not a finite number")
        return Truth(target, values)
    between = tables.separator(cells) if metric.kind == "sets" else " "
    formed = tables.mapped(cells, partial(tables.as_set, between) if metric.kind == "sets" else canonical)
    names = tables.in_order(formed.unique())
    if len({*names, *others}) < 2:
        raise Refused(ONE_CLASS)
    if positive is not None and positive not in names and positive not in others:
        raise Refused(f"no row has the positive class {shown(positive)}; the classes are {listed(names)}")
    if metric.kind == "order":
        return Truth(target, _amounts(metric, formed, names, positive))
    place = {name: at for at, name in enumerate(names)}
    values = formed.replace_strict(place, return_dtype=pl.Int64).to_numpy()
    return Truth(target, values, names, between)


def _amounts(metric: Metric, labels: Text, names: list[str], positive: str | None) -> NDArray[np.float64]:
    """What a metric of order compares: numbers, or 1 for the positive one of two classes."""
    no_number = next((name for name in names if tables.as_number(name) is None), None)
    if len(names) == 2 and (no_number is not None or positive is not None):
        return (labels == names[positive_of(names, positive)]).cast(pl.Float64).to_numpy()
    if no_number is not None:
        said = f"{metric.name} needs numbers or two classes, but there are {len(names)} labels such as"
        raise Refused(f"{said} {shown(no_number)}")
    return tables.numbers(labels)


def positive_of(names: Sequence[str], given: str | None) -> int:
    """The class that a binary metric is about: the given one, else `true`, `yes`, or the last, such as the larger
    number."""
    if given is not None and given in names:
        return list(names).index(given)
    said = [at for at, name in enumerate(names) if name == "true" or name.lower() == "yes"]
    return said[0] if said else max(len(names) - 1, 0)


def read_per_class(file: str | Path, columns: Columns, classes: Sequence[str], metric: Metric) -> Labels:
    """The labels in a CSV table with a column for each class, which is 1 for the class of a row and else 0."""
    if metric.kind not in ("labels", "probabilities", "guesses") or metric.name == "quadratic weighted kappa":
        raise Refused(f"{metric.name} needs one column with labels, not one column per class")
    table = tables.read(file)
    table.needs(classes)
    lacks = [tables.are_missing(table[name]) for name in classes]
    forms = np.stack([tables.mapped(table[name], canonical).to_numpy() for name in classes], axis=1)
    has, is_one, is_zero = ~np.any(lacks, axis=0), np.isin(forms, ["1", "true"]), np.isin(forms, ["0", "false"])
    for row, at in np.argwhere(has[:, None] & ~(is_one | is_zero))[:1]:
        cell = shown(table[classes[at]][int(row)].strip())
        raise Refused(f"row {row + 1} has {cell}, where a column per class has 1 or 0")
    for row in np.flatnonzero(has & (is_one.sum(axis=1) != 1))[:1]:
        raise Refused(f"row {row + 1} has {is_one[row].sum()} classes, but the metric is about one for each row")
    label = pl.Series(np.where(has, np.array(classes, dtype=object)[is_one.argmax(axis=1)], ""), dtype=pl.String)
    positive = None if columns.positive is None else _named_like(columns.positive, classes)
    columns = replace(columns, target="\0", positive=positive, words=classes)
    made = Table([columns.target, *table.names], [label, *table.cells])
    return _among(made, columns, metric, [[canonical(name) for name in classes]])


def _named_like(label: str, columns: Sequence[str]) -> str | None:
    """The class whose column is about this label, such as `p_yes` about `yes`."""
    found = naming.by_name(columns, [canonical(label)])
    return canonical(columns[found.index(canonical(label))]) if found else None
