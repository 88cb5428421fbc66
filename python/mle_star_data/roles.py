"""The task that a folder of plain tables is: what the user told, and what follows from the tables and the description.

Every inferred value has a reason, so that it can be shown and corrected. What only the user can decide is a question.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

from . import dates, described_columns, description, facts, histograms, labels, metrics, naming, readings
from .aliases import Facts
from .column_kinds import HUGE, INSPECTED_ROWS, LONG_TEXT, NUMBERS
from .facts import Folder
from .frames import Column, Table
from .readings import Question, Reading, Value
from .tables import ROW_ID, Refused

USUAL_TARGETS = ("target", "label", "labels", "class", "y", "outcome")
MIN_IDS = 20
"""A first column with fewer values may have no two equal ones by chance."""
MAX_NAMED, MAX_LISTED = 10, 20
MAX_CLASSES = 30
"""A target of whole numbers with at most so many values has classes."""
MANY_FILES, MANY_FEATURES, ROWS_OF_AN_IMAGE = 10, 4, 100
MAX_LABELS = 1_000
WRITE_TIMES = (
    "write dates as 2024-01-31, weeks as 2024-W05, quarters as 2024Q1, or give another column with --time-column"
)
ROLES = {role: f"--{role}-column" for role in ("id", "group", "time", "weight")}
ROLES |= {"target": "--target", "ignored": "--ignore-columns"}
"""The options that name columns."""


@dataclass(frozen=True)
class GivenTask:
    """What the user gave; everything else is inferred."""

    target: str | list[str] | None = None
    id: str | None = None
    group: str | None = None
    time: str | None = None
    weight: str | None = None
    ignored: list[str] = field(default_factory=list)
    positive_class: str | None = None
    task_type: str | None = None
    data_modality: str | None = None
    metric: str | None = None
    direction: Literal["minimize", "maximize"] | None = None
    metric_file: str | None = None
    description: str = ""
    folds: str | None = None
    """The folds of the validation: a column, or a file."""
    marks_missing: bool = False
    makes_ids: bool = False
    """Whether an ID column is made if there is none; the task may name it already."""
    text_columns: list[dict[str, Any]] | None = None
    """What was decided before."""
    without_tables: bool = False
    """Whether the training table is known to be missing or unreadable, which is nothing to a model."""
    may_lack_tables: bool = False
    """Whether it may be."""

    def spelled(self, folder: Folder) -> GivenTask:
        """The same with columns as the tables spell them: case and blanks around names do not count."""
        known = list(folder.tables())
        target = [_spelled(known, name) for name in _listed(self.target)] or None
        id = None if self.id is None else _spelled(known, self.id)
        if self.makes_ids and id is not None and id.rstrip("_") == ROW_ID and id not in folder.train:
            id = None
        folds = None if self.folds is None else _spelled(known, self.folds)
        ignored = [*self.ignored, *([folds] if folds is not None and folds in folder.train else [])]
        return replace(self, target=target, id=id, folds=folds, ignored=ignored)


def inspect(folder: str, told: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of a folder of plain tables."""
    fields = {"ignore_columns": "ignored"}
    given = GivenTask(**{fields.get(name, name.removesuffix("_column")): value for name, value in told.items()})
    known: dict[str, Any] = {"description": given.description, "id": given.id, "marks_missing": given.marks_missing}
    if given.without_tables:
        return Task(facts.without_tables(Path(folder)), given).facts()
    try:
        opened = facts.open_folder(Path(folder), text_columns=given.text_columns, **known)
    except Refused as unread:
        if not given.may_lack_tables:
            raise
        found = Task(facts.without_tables(Path(folder)), replace(given, without_tables=True)).facts()
        return found | {"unread": [str(unread), unread.hint]}
    return Task(opened, given.spelled(opened)).facts()


class Task:
    """What is inferred of a folder."""

    def __init__(self, folder: Folder, told: GivenTask) -> None:
        self.folder, self.told = folder, told
        self.guesses: list[dict[str, str]] = []
        self.questions: list[Question] = []
        train, further = [folder.train], [one for one in (folder.test, *folder.auxiliary) if one is not None]
        named = {"group": told.group, "time": told.time, "weight": told.weight}
        self.roles = {role: _find_column(train, name, role) for role, name in named.items() if name is not None}
        self.ignored = list(dict.fromkeys(_find_column(train + further, name, "ignored") for name in told.ignored))
        self.id = self._id()
        self.targets = self._targets()
        self.target = self.targets[0] if self.targets else None
        self.metric, self.direction = self._metric()
        self._check()
        self.modality = self._modality()
        self.task_type = self._task_type()
        self.positive_class = self._positive()

    def facts(self) -> dict[str, Any]:
        folder = self.folder
        return {
            "train": None if self.told.without_tables else _described(folder.train),
            "test": folder.test and _described(folder.test),
            "sample": folder.sample and _described(folder.sample),
            "auxiliary": [_described(one) for one in folder.auxiliary],
            "text_columns": folder.text_columns,
            "groups": folder.groups,
            "other_files": folder.other_files,
            "media": folder.media,
            "targets": self.targets,
            "id": self.id,
            "roles": self.roles | {"ignored": self.ignored, "positive_class": self.positive_class},
            "metric": self.metric,
            "metric_file": self.told.metric_file,
            "direction": self.direction,
            "folds": self.told.folds,
            "class_columns": self._class_columns(),
            "without_target": self._without_target(),
            "task_type": self.task_type,
            "data_modality": self.modality,
            "guesses": self.guesses,
            "questions": [asdict(question) for question in self.questions],
            "histograms": self._histograms(),
        }

    def _histograms(self) -> list[dict[str, Any]]:
        """What people see of the columns, and nobody else. A run does without it."""
        with suppress(Exception):
            return histograms.of_columns(self.folder.train, self.folder.test, self.targets, [self.id or ""])
        return []

    def _class_columns(self) -> list[dict[str, Any]] | None:
        """The class that each column of the sample is about."""
        asked = [name for name in self.folder.sample_columns() if name != self.id and not self.folder.in_test(name)]
        return self.folder.class_columns(self.target, asked) if self.target is not None and len(asked) > 1 else None

    def _without_target(self) -> list[tuple[str, int]]:
        """What the cells of the target without a value hold, and the rows of each."""
        column = self.column(self.target)
        if column is None:
            return []
        is_none = column.values.is_null()
        if column.kind in NUMBERS:
            is_none |= pl.Series(np.abs(column.numbers) >= HUGE)
        return column.text.filter(is_none).str.strip_chars().value_counts(sort=True).rows()

    def _guess(self, name: str, value: str, reason: str) -> str:
        self.guesses.append({"field": name, "value": value, "reason": reason})
        return value

    def _take(self, taken: Value | Question) -> Value | None:
        if isinstance(taken, Question):
            self.questions.append(taken)
            return None
        self._guess(taken.field, taken.value, taken.reason)
        return taken

    def column(self, name: str | None) -> Column | None:
        return self.folder.train.column(name) if name is not None and name in self.folder.train else None

    # ------------------------------------------------------------ the row ID

    def _id(self) -> str | None:
        folder, given = self.folder, self.told.id
        if given is None:
            guess = self._id_of_sample()
            if not self.told.without_tables:
                guess = guess or self._id_by_name() or self._id_by_position()
            return guess and self._guess("id_column", *guess)
        if not self.told.without_tables:
            for table in [one for one in (folder.sample, folder.test) if one is not None] or [folder.train]:
                _find_column([table], given, "id")
        return given

    def _id_of_sample(self) -> tuple[str, str] | None:
        sample, predicted = self.folder.sample, self.folder.test or self.folder.train
        # An only column is what is asked for.
        if sample is None or len(sample.names) < 2:
            return None
        is_known = self.told.without_tables or sample.names[0] in predicted
        return (sample.names[0], f"the first column of {sample.file}") if is_known else None

    def _id_by_name(self) -> tuple[str, str] | None:
        """A column of both tables."""
        train, test = self.folder.train, self.folder.test
        found = [name for name in train.names if (test is None or name in test) and _is_id(train, name)]
        return (found[0], "its name says so, and no two rows share a value") if found else None

    def _id_by_position(self) -> tuple[str, str] | None:
        """Without a sample, the first column if it counts or names rows."""
        tables = [one for one in (self.folder.train, self.folder.test) if one is not None]
        name, rows = self.folder.train.names[0], sum(table.rows for table in tables)
        others = {*self.roles.values(), *self.ignored, *_listed(self.told.target)}
        fits = all(table.names[0] == name and _names_rows(table, rows) for table in tables)
        if self.folder.sample is not None or name in others or naming.says_time(name) or not fits:
            return None
        return name, "the first column, and no two rows share a value"

    # ------------------------------------------------------------ the columns to predict

    def _targets(self) -> list[str]:
        if self.told.target is not None:
            given = _listed(self.told.target)
            return given if self.told.without_tables else self._given_targets(given)
        guess = self._target_of_sample() if self.told.without_tables else self._guessed_target()
        if guess is None:
            self.questions.append(self._unknown_target())
            return []
        return self.folder.targets(self._guess("target_column", *guess), self.id)

    def _given_targets(self, given: list[str]) -> list[str]:
        train, sample = self.folder.train, self.folder.sample
        if len(given) == 1 and given[0] not in train:
            given = given[0].split(",")
        given = [_find_column([train], name, "target") for name in given]
        asked = self.folder.targets(given[0], self.id)
        if len(given) == 1:
            return asked
        if len(set(given)) < len(given) or (sample is not None and set(asked) != set(given)):
            hint = "give each target column once with --target, separated by commas, and all that the sample asks for"
            raise Refused(f"the given targets are {', '.join(given)}, and those of the sample {', '.join(asked)}", hint)
        return asked if sample is not None else given

    def _target_of_sample(self) -> tuple[str, str] | None:
        others = [name for name in self.folder.sample_columns() if name != self.id]
        return (others[0], f"the column of {self.folder.sample_file()} beside the ID") if len(others) == 1 else None

    def _guessed_target(self) -> tuple[str, str] | None:
        folder, train, sample = self.folder, self.folder.train.file, self.folder.sample_file()
        test = folder.test
        taken = {self.id, *self.roles.values(), *self.ignored}
        every = [name for name in folder.train.names if name not in taken]
        open_ = [name for name in every if not folder.in_test(name)]
        asked = [name for name in folder.sample_columns() if name != self.id]
        wanted = set(asked)
        both, of_both = ([name for name in names if name in wanted] for names in (open_, every))
        in_order = sorted(both, key=asked.index)
        shown = ", ".join(f"`{name}`" for name in in_order[:MAX_NAMED])
        shown += f" and {len(in_order) - MAX_NAMED} more" if len(in_order) > MAX_NAMED else ""
        of_sample = f"of {sample} that {train} also has"
        # Of 20,000 names, hardly any begins with a word of the text.
        text = self.told.description
        begun = [name for name in open_ or every if _first_word(name) in text.lower()]
        said = described_columns.target_named(text, begun)
        named, why = ([said.value], said.reason) if said else ([], "")
        empty = [name for name in every if test and name in test and not test.column(name).distinct]
        empty = [name for name in empty if folder.train.column(name).distinct]
        tries: list[tuple[list[str], bool, str]] = [
            (both, True, f"the column {of_sample}"),
            (in_order, False, f"the first of the columns {of_sample}; all are targets: {shown}"),
            (of_both, True, f"the column {of_sample}"),
            (open_ if test else [], True, f"the only column of {train} that {test and test.file} lacks"),
            (self._with_classes(open_, asked), False, "its values are the columns of the sample submission"),
            (named, True, why),
            ([name for name in open_ if name.lower() in USUAL_TARGETS], False, "targets are usually called so"),
            (empty, True, f"the only column that {test and test.file} has without values"),
        ]
        fitting = ((found[0], why) for found, is_one, why in tries if found and not (is_one and len(found) > 1))
        return next(fitting, None)

    def _with_classes(self, open_: Iterable[str], asked: list[str]) -> list[str]:
        """The columns whose values the sample has columns for."""

        def holds(column: Facts) -> bool:
            if column["distinct"] == len(asked):
                return all(any(name.endswith(value) for name in asked) for value, _ in column["top_values"])
            return column["distinct"] < len(asked) and self.folder.class_columns(column["name"], asked) is not None

        known = (self.folder.train.column(name).facts for name in open_ if asked)
        return [one["name"] for one in known if one["distinct"] >= 2 and holds(one)]

    def _unknown_target(self) -> Question:
        folder, taken = self.folder, {self.id, *self.roles.values(), *self.ignored}
        left = [name for name in folder.train.names if name not in taken and not folder.in_test(name)]
        seen = "the column to predict is not given and cannot be inferred"
        if not left:
            seen += f": no column of {folder.train.file} is left that has no other role and is to be predicted"
        readings = tuple(Reading(name, f"a column of {folder.train.file}") for name in left[:MAX_LISTED])
        return Question("target_column", seen, "--target", readings)

    # ------------------------------------------------------------ roles that the user named

    def _check(self) -> None:
        """Refuses columns that have two roles or do not hold what their role needs."""
        beside_weights = {"id": self.id, "group": self.roles.get("group"), "time": self.roles.get("time")}
        for role, name in [*self.roles.items(), *(("ignored", name) for name in self.ignored)]:
            others = dict.fromkeys(self.targets, "target")
            others |= {one: other for other, one in beside_weights.items() if one and role == "weight"}
            if name in others:
                hint = f"give another column with {ROLES[role]} or {ROLES[others[name]]}"
                raise Refused(f"`{name}` cannot be the {role} column and the {others[name]} column", hint)
        for role, name in self.roles.items():
            column = self.folder.train.column(name)
            if role == "weight":
                self._check_weights(column)
            elif column.distinct < 2:
                hint = f"give another column with {ROLES[role]}, or leave it out"
                raise Refused(f"the {role} column `{name}` has fewer than two values in {column.table.file}", hint)
            elif role == "time":
                self._check_times(column)

    def _check_times(self, column: Column) -> None:
        """Refuses times of which not all can be put in order."""
        values = column.values
        read = (column.numbers, column.times, dates.seconds(values, False), dates.seconds(values, True))
        odd = [np.flatnonzero(values.is_not_null().to_numpy() & ~np.isfinite(times)) for times in read]
        if not all(len(rows) for rows in odd):
            return
        row = max(int(rows[0]) for rows in odd)
        has = f'"{column.values[row][:40]}" in row {row + 1} of {column.table.file}'
        raise Refused(f"the time column `{column.name}` has {has}, which is no number and no date", WRITE_TIMES)

    def _check_weights(self, column: Column) -> None:
        labelled = np.ones(column.table.rows, dtype=bool)
        for name in self.targets:
            labelled &= self.folder.train.column(name).values.is_not_null().to_numpy()
        rows, cells = np.flatnonzero(labelled), column.values.fill_null("")
        labels.check_weights(column.numbers[rows], cells[rows], rows, column.name, f" of {column.table.file}")

    def _check_numbers(self, metric: str) -> None:
        """Refuses cells that are no numbers among those of a target that a metric compares as numbers."""
        known = metrics.named(metric)
        if known is None or known.kind not in ("numbers", "intervals"):
            return
        for column in filter(None, map(self.column, self.targets)):
            odd = np.flatnonzero(column.values.is_not_null().to_numpy() & np.isnan(column.numbers))
            if not 0 < 2 * len(odd) < column.table.rows - column.missing:
                continue
            row, more = int(odd[0]), f", and {len(odd) - 1} more such cells" if len(odd) > 1 else ""
            has = f'"{column.values[row][:40]}" in the column to predict, `{column.name}`'
            hint = "correct these cells, or leave them empty: rows without a target are left out"
            raise Refused(f"row {row + 1} of {column.table.file} has {has}, which is no number{more}", hint)

    # ------------------------------------------------------------ metric and positive class

    def _metric(self) -> tuple[str | None, str | None]:
        told = self.told
        is_regression = None if told.task_type is None else told.task_type == "regression"
        has_weights = "weight" in self.roles
        asked = readings.GivenMetric(told.metric, told.direction, has_weights, told.metric_file, is_regression)
        held = [_as_target(column) for name in self.targets if (column := self.column(name))]
        found = description.read_metric(told.description, asked, held)
        self._chose = isinstance(found, Value) and found.is_chosen
        if isinstance(found, Question):
            self.questions.append(found)
            return (told.metric if found.field == "metric_direction" else None), None
        self._check_numbers(found.value)
        if told.metric is None and told.metric_file is None:
            self._take(found)
        if told.direction is None and found.direction is not None:
            is_known = told.metric_file is None and metrics.named(found.value) is not None
            better = "smaller" if found.direction == "minimize" else "larger"
            reason = f"{found.value} is better when it is {better}" if is_known else f"from {found.sentence}"
            self._guess("metric_direction", found.direction, reason)
        return found.value, found.direction

    def _positive(self) -> str | None:
        column, given = self.column(self.target), self.told.positive_class
        metric = metrics.named(self.metric) if self.metric else None
        if column is None or (given is None and (column.distinct != 2 or metric is None)):
            return given
        if column.distinct != 2:
            holds = f'"{column.name}" holds {column.distinct} different values, not two labels'
            hint = "leave out --positive-class (positive_class in the task file)"
            raise Refused(f'--positive-class "{given}": {holds}', hint)
        takes_a_side = metric is not None and (metric.kind in ("probabilities", "order") or metric.name == "F1")
        asked = [name for name in self.folder.sample_columns() if name != self.id]
        asked = [name for name in asked if name == self.target or not self.folder.in_test(name)]
        if given is None and (not takes_a_side or len(asked) > 1):
            return None
        one, other = (value for value, _ in column.facts["top_values"])
        are_numbers = described_columns.as_number(one) is not None and described_columns.as_number(other) is not None
        name = asked[0] if asked and not (are_numbers and asked[0] == self.target) else None
        found = described_columns.positive_class(self.told.description, (one, other), name, given, self._chose)
        if takes_a_side or isinstance(found, Question):
            taken = self._take(found)
            return taken.value if taken else None
        return found.value

    # ------------------------------------------------------------ kinds of data and task

    def _features(self) -> list[Facts]:
        """The columns that both tables have, beside the ID and the targets."""
        none = {self.id, self.roles.get("weight"), *self.ignored, *self.targets}
        test = self.folder.test
        return [
            one for name, one in self.folder.train.facts.items() if name not in none and (test is None or name in test)
        ]

    def _modality(self) -> str:
        if self.told.data_modality is not None:
            return self.told.data_modality
        features, train = self._features(), self.folder.train.file
        texts = [one for one in features if one["kind"] == "text"]
        others, count = len(features) - len(texts), len(features)
        found = "tabular", "no training table was read" if self.told.without_tables else f"{train} has {count} features"
        if of_files := self._modality_of_files():
            found = "mixed" if others >= MANY_FEATURES else of_files[0], of_files[1]
        elif rewritten := self._rewritten():
            found = "text", rewritten
        elif texts and others <= len(texts):
            found = "text", f"{len(texts)} of {count} features hold free text"
        elif others >= MANY_FEATURES and (long := sum(one["mean_length"] >= LONG_TEXT for one in texts)):
            found = "mixed", f"{long} of {count} features hold long texts"
        return self._guess("data_modality", *found)

    def _modality_of_files(self) -> tuple[str, str] | None:
        images, sounds, pictured = (self.folder.media[kind] for kind in ("images", "sounds", "pictured"))
        counts = {"images": images, "sound files": sounds}
        many = [f"{count} {kind}" for kind, count in counts.items() if count >= MANY_FILES]
        kind = "image" if sounds < MANY_FILES else "audio"
        # Sounds may have images of their spectra.
        if len(many) == 2 and pictured * 2 < sounds:
            kind = "mixed"
        return (kind, f"the data folder holds {' and '.join(many)}") if many else None

    def _task_type(self) -> str:
        if self.told.task_type is not None:
            return self.told.task_type
        sample, images = self.folder.sample, self.folder.media["images"]
        if self.modality == "image" and sample is not None and sample.rows >= ROWS_OF_AN_IMAGE * images:
            reason = f"{sample.file} has {sample.rows} rows for {images} images"
            return self._guess("task_type", "image_to_image", reason)
        if rewritten := self._rewritten():
            return self._guess("task_type", "sequence_to_sequence", rewritten)
        is_regression, reason = self._is_regression()
        prefix = f"{self.modality}_" if self.modality in ("image", "audio", "text") else ""
        return self._guess("task_type", "regression" if is_regression else f"{prefix}classification", reason)

    def _is_regression(self) -> tuple[bool, str]:
        metric, column = metrics.named(self.metric) if self.metric else None, self.column(self.target)
        if metric is not None and metric.kind != "order":
            of_numbers = metric.kind in ("numbers", "intervals")
            return of_numbers, f"{metric.name} is a metric for {'numbers' if of_numbers else 'classes'}"
        if column is None:
            return False, "most tasks are, and the target is not known"
        if column.kind == "number" and _has_fractions(column.facts):
            return True, f'"{column.name}" holds fractions'
        if column.kind in NUMBERS and column.distinct > MAX_CLASSES:
            return True, f'"{column.name}" holds {column.distinct} different numbers'
        return False, f'"{column.name}" holds {column.distinct} different values'

    def _rewritten(self) -> str | None:
        """The target is a feature in most rows: texts are rewritten."""
        target = self.column(self.target)
        if target is None or target.kind not in ("category", "text") or target.distinct <= MAX_CLASSES:
            return None
        for one in self._features():
            if one["kind"] in ("category", "text") and one["distinct"] > MAX_CLASSES:
                values = self.folder.train.column(one["name"]).inspected
                equal = (target.inspected == values).drop_nulls()
                if equal.sum() * 2 > len(equal):
                    return f'"{target.name}" is "{one["name"]}" in most rows'
        return None


def _described(table: Table) -> dict[str, Any]:
    return {"file": table.file, "rows": table.rows, "columns": list(table.facts.values())}


def _spelled(tables: Sequence[Table], name: str) -> str:
    """The name as the first of these tables with one such column spells it."""
    if any(name in table for table in tables):
        return name
    alike = [[one for one in table.names if one.strip().lower() == name.strip().lower()] for table in tables]
    return next((found[0] for found in alike if len(found) == 1), name)


def _find_column(tables: Sequence[Table], name: str, role: str) -> str:
    """The column of this name in one of these tables, whatever capitals and surrounding blanks it is given with."""
    spelled = _spelled(tables, name)
    if any(spelled in table for table in tables):
        return spelled
    lower = {one.lower(): one for one in reversed(tables[0].names)}
    close = difflib.get_close_matches(name.lower(), lower, 1)
    meant = f"did you mean `{lower[close[0]]}`? " if close else ""
    hint = f"{meant}give one of its columns with {ROLES[role]}: {', '.join(tables[0].names[:MAX_LISTED])}"
    raise Refused(f'the {role} column "{name}" is not in {tables[0].file}', hint)


def _first_word(name: str) -> str:
    found = re.search(r"[^\W_][^\W_A-Z]*", name)
    return found[0].lower() if found else name


def _listed(target: str | list[str] | None) -> list[str]:
    return [] if target is None else [target] if isinstance(target, str) else list(target)


def _is_id(table: Table, name: str) -> bool:
    column = table.column(name)
    return naming.says_id(name) and column.missing == 0 and column.distinct == min(table.rows, INSPECTED_ROWS)


def _names_rows(table: Table, rows: int) -> bool:
    """Whether the first column holds codes without blanks, or whole numbers that lie close together, each once."""
    column = table.column(table.names[0])
    if column.missing or table.rows < MIN_IDS or column.distinct < min(table.rows, INSPECTED_ROWS):
        return False
    if column.kind == "integer":
        low, high = column.facts["range"]
        return bool(high - low < 2 * rows)
    return column.kind == "category" and not any(" " in value for value, _ in column.facts["top_values"])


def _has_fractions(known: Facts) -> bool:
    numbers = (described_columns.as_number(value) for value, _ in known["top_values"])
    return any(number is not None and number % 1 != 0 for number in numbers)


def _as_target(column: Column) -> readings.Column:
    """A column to predict, as a metric sees it."""
    known, fractions = column.facts, _has_fractions(column.facts)
    labels = tuple(value for value, _ in known["top_values"])
    kind: Literal["numbers", "classes", "digits", "sets"] = "classes"
    if known["kind"] in NUMBERS or known["nearly_numbers"]:
        kind = "numbers" if fractions or known["distinct"] > MAX_CLASSES else "digits"
    elif example := _several_labels(known):
        kind, labels = "sets", (example, *labels)
    elif known["kind"] == "boolean" and {"true", "false"}.intersection(label.lower() for label in labels):
        kind = "digits"
    zeros, below = int((column.numbers == 0).sum()), int((column.numbers <= -1).sum())
    return readings.Column(column.name, kind, known["distinct"], labels, zeros, below, fractions)


def _several_labels(known: Facts) -> str | None:
    """A cell with several labels, if the cells are sets of few labels rather than names of several words: more than
    half of the labels are in several cells, there are more sets than labels, and none holds a label twice. With blanks
    between labels, there are half as many more, and a label stands both first and after another one."""
    values = [value for value, _ in known["top_values"]]
    separator = next((one for one in "|;, " if sum(one in value for value in values) >= 2), None)
    beside: dict[str, set[str]] = {}
    several, first, later = [], set(), set()
    for value in values if separator else []:
        labels = [label.strip() for label in value.split(separator) if label.strip()]
        if len(set(labels)) < len(labels):
            return None
        if len(labels) > 1:
            several.append(value)
            first.add(labels[0])
            later.update(labels[1:])
        for label in labels:
            beside.setdefault(label, set()).add(value)
    # Blanks stand between words of names, too: "light rain", "heavy rain", "light snow".
    are_many = known["distinct"] > len(beside)
    if separator == " ":
        are_many = known["distinct"] * 2 >= len(beside) * 3 and bool(first & later)
    is_shared = sum(len(cells) > 1 for cells in beside.values()) * 2 > len(beside)
    return several[0] if several and are_many and is_shared and len(beside) <= MAX_LABELS else None
