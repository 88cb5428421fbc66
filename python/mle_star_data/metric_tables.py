"""The tables that a metric file is called with: true values and predictions as text."""

from __future__ import annotations

import io
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from . import labels, submission_columns, tables
from .aliases import Array, Keys
from .labels import Columns, Labels
from .metrics import TABLE
from .predictions import Layout, Others, matched
from .tables import Refused, Table, Text, canonical

Source = tuple[str, str | None]
"""A column of the known rows, or whether it has a class."""
Form = str | list[str]
"""What predictions for a trial hold: labels, probabilities where a column has two labels, or the same cells in every
row."""

ROW_ID = "row_id"
"""The name of the column with row numbers, if no column names the rows."""
NO_COLUMNS = "the columns of the sample submission are neither targets nor classes"


@dataclass(frozen=True)
class LabelledRows:
    """Labelled rows as text, in the order of their table."""

    table: Table
    columns: Columns
    ids: Text
    keys: Keys
    units: Keys

    @classmethod
    def of(cls, table: Table, columns: Columns) -> LabelledRows:
        rows, keys, units = labels.labelled(table, columns)
        return cls(table.at(rows), columns, table.ids(columns.id)[rows], keys, units)

    def part(self, part: str) -> Array:
        """The places of the rows of a part: the halves are those of `Labels.halves`."""
        if part == "whole":
            return np.arange(len(self.keys))
        choosing, reporting = Labels(TABLE[0], self.keys, self.units, []).halves()
        return np.flatnonzero(np.isin(self.keys, (choosing if part == "choosing" else reporting).keys))

    def paired(self, file: str, layout: Layout, others: Others, wanted: Array) -> tuple[Array, Table]:
        """The places of those wanted rows that a file of predictions has, and the file's rows in their order."""
        table = tables.read(file)
        table.needs([*layout.header, *layout.needed()])
        order = wanted[np.argsort(self.keys[wanted], kind="stable")]
        found, rows = matched(table, self.keys[order], layout.id, others)
        places = order[found]
        back = np.argsort(places, kind="stable")
        return places[back], table.at(rows[back])


@dataclass(frozen=True)
class Truth:
    """True values in the forms that a file may want."""

    known: LabelledRows
    places: Array
    layout: Layout
    text: str
    """The text of the file."""

    @property
    def id(self) -> str:
        return ROW_ID if self.layout.id is None else self.layout.id.strip()

    def predicted(self) -> list[str]:
        return [name.strip() for name in self.layout.header if name.strip() != self.id]

    def cells(self, of: Source) -> Text:
        cells = self.known.table[of[0]][self.places]
        if of[1] is None:
            return cells
        return (tables.mapped(cells, canonical) == of[1]).replace_strict([True, False], ["1", "0"])

    def frame(self, columns: dict[str, Text]) -> Any:
        """A table as the file gets it. Words such as NA are values."""
        import pandas as pd

        named = {self.id: self.known.ids[self.places]} | columns
        text = pl.DataFrame(named).write_csv()
        return pd.read_csv(io.StringIO(text), keep_default_na=False, na_values=[""], low_memory=False)

    def answers(self, form: str) -> dict[str, Text]:
        forms = {"targets": self._targets, "submission": self._submission, "named": self._named, "all": self._all}
        return {name: self.cells(of) for name, of in forms[form]().items()}

    def _targets(self) -> dict[str, Source]:
        """The targets and the weight."""
        weight = [] if self.known.columns.weight is None else [self.known.columns.weight]
        names = [*self.known.columns.targets(), *weight]
        return {name: (name.strip(), None) for name in names if name.strip() in self.known.table.names}

    def _submission(self) -> dict[str, Source]:
        """The columns of the submission: the target under their name, or a column for each class that holds 1 or 0."""
        predicted, targets = self.predicted(), [name.strip() for name in self.known.columns.targets()]
        if set(predicted) <= set(targets):
            return {name: (name, None) for name in predicted}
        if len(predicted) == 1:
            return {predicted[0]: (targets[0], None)}
        about = submission_columns.classes_of(predicted, self._classes(targets[0]))
        if about is None:
            raise Refused(NO_COLUMNS)
        return {name: (targets[0], one) for name, one in zip(predicted, about, strict=True)}

    def _named(self) -> dict[str, Source]:
        """The columns of the training table that the file names, and the targets if it names none of them."""
        names = [name for name in self.known.table.names if name != self.id and self._is_named(name)]
        named_targets = any(self._is_named(name) for name in self.known.columns.targets())
        return ({} if named_targets else self._targets()) | {name: (name, None) for name in names}

    def _is_named(self, name: str) -> bool:
        return any(quoted in self.text for quoted in (f"'{name}'", f'"{name}"', f".{name}"))

    def _all(self) -> dict[str, Source]:
        """All columns of the training table, and those of the submission."""
        own: dict[str, Source] = {name: (name, None) for name in self.known.table.names if name != self.id}
        with suppress(Refused):
            own |= {name: of for name, of in self._submission().items() if name not in own}
        return own

    def _classes(self, column: str) -> list[str]:
        return tables.in_order(tables.mapped(self.known.table[column], canonical).unique())

    def tried(self, form: Form) -> dict[str, Text]:
        """Predictions that are mostly right: every fifth row has the values of the next one."""
        count = len(self.places)
        if isinstance(form, list):
            pairs = zip(self.predicted(), form, strict=False)
            return {name: pl.Series([cell]).new_from_index(0, count) for name, cell in pairs}
        try:
            columns = self._submission()
        except Refused:
            columns = {name: (self.known.columns.target.strip(), None) for name in self.predicted()}
        at = np.arange(count)
        of = np.where(at % 5 == 4, (at + 1) % count, at)
        other, found = repr(0.1 / (max(len(columns), 2) - 1)), {}
        for name, source in columns.items():
            cells = self.cells(source)[of]
            if source[1] is not None:
                cells = cells.replace_strict(["1", "0"], ["0.9", other])
            elif form == "probabilities" and len(classes := self._classes(source[0])) == 2:
                given = self.known.columns.positive
                positive = classes[1] if given is None else canonical(given)
                cells = (tables.mapped(cells, canonical) == positive).replace_strict([True, False], ["0.9", "0.1"])
            found[name] = cells
        return found
