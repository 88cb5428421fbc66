"""Rows of a user that a finished run predicts: they are read like the tables of the run, and replace the rows of its
test table."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from . import facts, frames
from .aliases import Answer
from .tables import MISSING, Refused, as_number
from .tables import numbers as cell_numbers

MAX_VALUES = 1_000
"""A column with more different values is no list of categories."""
BY_HAND = "run the script of the solution by hand"
ITS_SCRIPT = "it may predict rows of the test table only: look at its script"
LEFT_OUT, RELATIVE = 10, 1e-6
"""One of so many rows is left out, so that others have other neighbours. Numbers that differ by less are equal."""
TRUTHS = {"true": "true", "1": "true", "1.0": "true", "false": "false", "0": "false", "0.0": "false"}


def rows_to_predict(folder: str, id: str | None) -> Answer:
    """What a run can predict: the files of its tables, the columns of rows and of predictions, and the spellings of
    cells."""
    path = Path(folder)
    found = facts.files_by_role(path)
    if "test" not in found or "sample" not in found:
        raise Refused(f"{path} has no test table with a sample submission", BY_HAND)
    opened = {role: frames.read(path / file, file) for role, file in found.items()}
    test, sample = opened["test"], opened["sample"]
    if sample.rows > test.rows:
        has = f"the sample submission has {sample.rows} rows for the {test.rows} rows of the test table"
        raise Refused(f"{has}, so nothing says which rows of a submission belong to another row", BY_HAND)
    header = sample.names
    if id not in header:
        id = header[0] if len(header) > 1 and header[0] in test else None
    names = {role: found.get(role) for role in ("train", "test", "sample")}
    layout = {"columns": test.names, "header": header, "id": id}
    return names | {"layout": layout, "spellings": {"columns": _spellings(opened, id) if "train" in opened else {}}}


def _spellings(tables: Mapping[str, frames.Table], id: str | None) -> dict[str, Answer]:
    """The columns that tell how cells are spelled in the rows that are looked at: whether all are numbers, and the
    values, if they repeat: all categories, and numbers if there are at most two."""
    known: dict[str, Answer] = {}
    for name in tables["test"].names:
        both = [one.source.inspected[name] for one in (tables["train"], tables["test"]) if name in one]
        cells = pl.concat([one.filter(one.str.strip_chars().is_in(list(MISSING)).not_()) for one in both])
        values = cells.unique()
        numbers = bool(np.isfinite(cell_numbers(values)).all())
        most = 2 if numbers else min(MAX_VALUES, len(cells) // 2)
        kept = sorted(values) if len(values) <= most else []
        if name != id and (numbers or kept):
            known[name] = {"numbers": numbers, "values": kept}
    return known


def match_spelling(frame: pl.DataFrame, spellings: Mapping[str, Any]) -> tuple[pl.DataFrame, list[str]]:
    """The cells as the tables of a run have them, where that is unique, and a sentence for each column of which most
    values are unknown."""
    notes: list[str] = []
    known_columns = spellings.get("columns") or {}
    for name in filter(known_columns.__contains__, frame.columns):
        values, numbers = set(known_columns[name]["values"]), known_columns[name]["numbers"]
        is_boolean = all(value.strip().lower() in TRUTHS for value in values)
        forms = Counter(_form(value, is_boolean) for value in values)
        like = {form: value for value in values if forms[form := _form(value, is_boolean)] == 1}
        given = Counter(cell for cell in frame[name] if cell is not None and cell.strip() not in MISSING)
        written = {cell: like.get(_form(cell, is_boolean), cell) for cell in given if cell not in values}
        unknown = [cell for cell in written if _form(cell, is_boolean) not in like]
        unknown = [cell for cell in unknown if not numbers or as_number(cell.strip()) is None]
        frame = frame.with_columns(frame[name].replace(written)) if written else frame
        if 2 * sum(given[cell] for cell in unknown) > given.total():
            what = "are no numbers, unlike" if numbers else "were never seen"
            notes.append(f"most values of `{name}` {what} in training, such as `{unknown[-1].strip()}`")
    return frame, notes


def _form(value: str, is_boolean: bool) -> str:
    """What the spellings of a value have in common."""
    lower = value.strip().lower()
    return TRUTHS.get(lower, lower) if is_boolean else lower


def shared_rows(train: str, rows: str, but: str | None) -> Answer:
    """How many rows are rows of the training table, by the columns that both have. None if rows repeat there, so that
    equal rows say nothing."""
    first, second = frames.read(train), frames.read(rows)
    both = [name for name in second.names if name in first and name != but]
    if not both:
        return {"shared": None}
    known, others = (table.select(both).select(_common_form(name) for name in both) for table in (first, second))
    if known.n_unique() * 10 < known.height * 9:
        return {"shared": None}
    return {"shared": others.join(known, on=both, how="semi").height}


def _common_form(name: str) -> pl.Expr:
    """The one form of a cell: tables write numbers in several."""
    cell = pl.col(name).str.strip_chars()
    number = cell.cast(pl.Float64, strict=False)
    return pl.when(number.is_not_null()).then(number.cast(pl.String)).otherwise(cell).alias(name)


def name_predictions(predicted: str, names: Sequence[str], by: str, layout: Answer, into: str) -> Answer:
    """Writes predictions for rows of these names in their order and under these names. `predicted` has them in the same
    order (`order`), or under their `own` names, or under their `numbers` from 0."""
    frame, id = frames.read(predicted).frame, layout["id"]
    if frame.height != len(names):
        raise Refused(f"the solution predicted more or fewer rows than the {len(names)} of the table", ITS_SCRIPT)
    if id in frame.columns:
        wanted = names if by != "numbers" else [str(number) for number in range(len(names))]
        places = range(len(names)) if by == "order" else _positions(wanted, frame[id].to_list())
        if places is None:
            raise Refused("the solution predicted rows with other names than those of the table", ITS_SCRIPT)
        frame = frame[list(places)].with_columns(pl.Series(id, list(names), dtype=pl.String))
    frame.write_csv(into)
    return {}


def _positions(wanted: Sequence[str], names: Sequence[str]) -> list[int] | None:
    """The place of each wanted name; None if names are missing, or repeat and have another order. A script may write
    the name `007` as 7."""
    for form in (str.strip, lambda name: name.strip() if as_number(name.strip()) is None else as_number(name.strip())):
        of_wanted, of_names = [form(name) for name in wanted], [form(name) for name in names]
        if of_wanted == of_names:
            return list(range(len(names)))
        places = {name: place for place, name in enumerate(of_names)}
        if len(places) == len(names) and all(name in places for name in of_wanted):
            return [places[name] for name in of_wanted]
    return None


def sample_for(sample: str, names: Sequence[str], layout: Answer, into: str) -> Answer:
    """Writes a sample submission for rows of these names: its first row for each."""
    made = frames.read(sample).frame.select(layout["header"])[np.zeros(len(names), dtype=int)]
    named = [pl.Series(layout["id"], list(names), dtype=pl.String)] if layout["id"] in made.columns else []
    made.with_columns(named).write_csv(into)
    return {}


def other_order(rows: str, into: str) -> Answer:
    """Writes most rows of a table in an order that has nothing to do with theirs."""
    frame = frames.read(rows).frame
    frame[_order(frame.height)].write_csv(into)
    return {}


def _order(rows: int) -> list[int]:
    order = sorted(range(rows), key=lambda row: hashlib.blake2b(row.to_bytes(8, "little")).digest())
    return order[: rows - rows // LEFT_OUT]


def same_predictions(expected: str, predicted: str, id: str | None) -> Answer:
    """How many predictions for the rows of `other_order` are not those expected; the names of rows are known."""
    one, other = frames.read(expected).frame, frames.read(predicted).frame
    one = one[_order(one.height)]
    if one.columns != other.columns or one.height != other.height:
        raise Refused("it predicts other columns or rows than those of the submission", ITS_SCRIPT)
    differs = np.zeros(one.height, dtype=bool)
    for name in one.columns:
        if name != id:
            first, second = (frame[name].str.strip_chars().cast(pl.Float64, strict=False) for frame in (one, other))
            # A number is near no cell that is none.
            pair = first.fill_null(np.inf).to_numpy(), second.fill_null(-np.inf).to_numpy()
            differs |= ~((one[name] == other[name]).to_numpy() | np.isclose(*pair, RELATIVE, 0, equal_nan=True))
    return {"rows": one.height, "different": int(differs.sum())}
