"""Scores by a Python file of the user.

The file is one more function of known rows and predictions. A child process calls it, and draws the replicates, too.
"""

from __future__ import annotations

import io
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from . import bootstrap, labels, measure, naming, tables
from .aliases import Answer, Array, Keys
from .intervals import Scale
from .labels import Columns, Labels
from .measure import Estimate, Scoring
from .metric_child import FILE_NAME, MetricFileError, MetricFunction, run_in_child
from .metrics import TABLE
from .predictions import Layout, Others, matched
from .tables import ROW_ID, Refused, Table, Text, canonical

SECONDS, MIN_REPLICATES, MAX_FAILURES = 10.0, 2, 5
"""How long all replicates may take, unless the fewest take longer. After so many without a score, there is none."""
TRIAL_ROWS = 2_000
NO_REPLICATES = "the metric file has no score for resampled rows"


@dataclass(frozen=True)
class Scorer:
    """Scores of the rows of two tables, in the child."""

    function: MetricFunction
    frames: tuple[Any, Any]
    id: str
    keys: Keys
    units: Keys

    def score(self, counts: Array | None = None) -> float:
        """The score of all rows, or of each as often as it counts."""
        pair = [self._drawn(frame, counts) for frame in self.frames]
        found = self.function.call(*pair)
        self.function.restart_timeout()
        try:
            score = float(found)
        except (TypeError, ValueError):
            raise MetricFileError(f"returned {found!r:.60}, which is no number", self.function.line) from None
        if not np.isfinite(score):
            raise MetricFileError(f"returned {score}, which is no finite number", self.function.line)
        return score

    def _drawn(self, frame: Any, counts: Array | None) -> Any:
        if counts is None:
            return frame.copy()
        rows = np.repeat(np.arange(len(frame)), counts)
        # 0 for the first copy of a row, 1 for the second, and so on.
        copies = np.arange(len(rows)) - np.repeat(np.cumsum(counts, dtype=np.int64) - counts, counts)
        drawn = frame.iloc[rows].reset_index(drop=True)
        drawn[self.id] = renamed(drawn[self.id].to_numpy(), copies)
        return drawn

    def scores(self, counts: Iterable[Array], fewest: int, score: Callable[[Array], float]) -> list[float | None]:
        """Scores of parts or of resampled rows, as many as the time allows; `None` where there is no score."""
        began, scores = time.monotonic(), list[float | None]()
        for one in counts:
            if len(scores) >= fewest:
                is_hopeless = len(scores) >= MAX_FAILURES and all(found is None for found in scores)
                if is_hopeless or time.monotonic() - began > SECONDS:
                    break
            try:
                scores.append(score(one))
            except (Exception, SystemExit):
                scores.append(None)
                self.function.restart_timeout()
        return scores

    def at(self, places: Iterable[Array], fewest: int) -> list[float | None]:
        """The scores of the rows at these places."""
        return self.scores((np.bincount(one, minlength=len(self.keys)) for one in places), fewest, self.score)

    def replicates(self, count: int, whole: float, of: Callable[[Array], float]) -> list[float | None]:
        """The scores of resampled rows."""
        units, count = labels.drawn_units(self.keys, self.units), max(count, MIN_REPLICATES)
        found = self.scores(bootstrap.draws(units, count), MIN_REPLICATES, of)
        if any(one is not None for one in found):
            return found
        # It may refuse other IDs. Drawn rows count once then; their share of all rows makes the spread too small.
        share = 1.0 - np.exp(-1.0)
        factor = float(np.sqrt(share / (1.0 - share)))
        once = self.scores((np.minimum(one, 1) for one in bootstrap.draws(units, count)), MIN_REPLICATES, of)
        return [None if one is None else whole + (one - whole) * factor for one in once]


def renamed(values: Array, copies: Array) -> Array:
    """IDs of drawn rows: that of the first copy stays, further ones get new ones."""
    repeated = copies > 0
    if values.dtype.kind in "iuf":
        # All numbers up to the largest must differ from the ones before.
        most = np.iinfo(values.dtype).max if values.dtype.kind in "iu" else 2 ** np.finfo(values.dtype).nmant
        if values.max() < most - len(values):
            values = values.copy()
            values[repeated] = values.max() + np.arange(1, repeated.sum() + 1, dtype=values.dtype)
            return values
    # IDs often begin with what they are about, and end with one of its parts.
    values = values.astype(object)
    values[repeated] = [f"{copy}~{one}" for one, copy in zip(values[repeated], copies[repeated], strict=True)]
    return values


def resample(scorer: Scorer, rows: Scoring, replicates: int) -> tuple[Estimate, list[tuple[int, int, float]], bool]:
    """The score with its replicates, the scores of periods with their rows, and whether the score is their mean."""
    score, folds = scorer.score(), rows.folds.places(scorer.keys)
    tried = list(zip(folds.items(), scorer.at(folds.values(), len(folds)), strict=True))
    scored = [(fold, places, found) for (fold, places), found in tried if found is not None]
    is_mean = bool(scored) and rows.averages and rows.folds.of_rows(scorer.keys) is not None
    parts = [np.bincount(places, minlength=len(scorer.keys)) for _, places, _ in scored]
    if is_mean:
        score = float(np.mean([found for *_, found in scored]))
        # Each takes a call for each period.
        replicates //= len(parts)
    mean: Callable[[Array], float] = lambda counts: float(np.mean([scorer.score(counts * part) for part in parts]))  # noqa: E731
    drawn = np.array(scorer.replicates(replicates, score, mean if is_mean else scorer.score), dtype=np.float64)
    is_defined = np.isfinite(drawn)
    periods = [(fold, len(places), found) for fold, places, found in scored]
    return Estimate(score, np.where(is_defined, drawn, score), is_defined), periods, is_mean


def measured(scorer: Scorer, rows: Scoring, replicates: int) -> Answer:
    """The score with its uncertainty, as `measure.measurement` has it. Its bounds are not known."""
    whole, periods, is_mean = resample(scorer, rows, replicates)
    found = measure.with_uncertainty(whole, scorer.keys, scorer.units, Scale()) | {"mean_over_periods": is_mean}
    if found["standard_error"] is None:
        found |= {"replicates": [], "defined": None, "no_interval": NO_REPLICATES}
    scores: Callable[[Iterable[Array]], list[float | None]] = lambda parts: scorer.at(parts, MIN_REPLICATES)  # noqa: E731
    return measure.for_target(found, whole, scorer.units, rows.target, Scale(), lambda: periods, scores, lambda: None)


@dataclass(frozen=True)
class MetricFile:
    """A Python file that computes a metric."""

    name: str
    text: str
    modules: dict[str, str] | Sequence[tuple[str, str]] = ()
    answers: str = "targets"
    """The form of the true values that it wants; see `Truth.answers`."""
    limit: float = 60.0

    def measurement(
        self, known: LabelledRows, layout: Layout, file: str, others: Others, rows: Scoring, replicates: int, part: str
    ) -> Answer:
        """The score of predictions for the `whole` of the rows, or for one of two halves: `choosing` or `reporting`."""
        places, found = known.paired(file, layout, others, known.part(part))
        truth = Truth(known, places, layout, self.text)
        predicted = {name: found[name] for name in truth.predicted()}
        return self._run(truth, self.answers, [predicted], lambda one: measured(one, rows, replicates))

    def compare(
        self, known: LabelledRows, layout: Layout, files: Sequence[str], rows: Scoring, replicates: int, fewest: int
    ) -> Answer:
        """The score of the first file minus that of the second on the rows of both; no difference for few rows."""
        pairs = [known.paired(file, layout, "reject", known.part("whole")) for file in files]
        common = np.intersect1d(pairs[0][0], pairs[1][0], assume_unique=True)
        if len(common) < max(fewest, 1):
            return {"rows": len(common), "difference": None}
        truth = Truth(known, common, layout, self.text)
        both = [found.at(np.flatnonzero(np.isin(places, common))) for places, found in pairs]
        predicted = [{name: found[name] for name in truth.predicted()} for found in both]

        def work(one: Scorer, other: Scorer) -> Answer:
            first, second = (resample(scorer, rows, replicates)[0] for scorer in (one, other))
            # A file may have no score for resampled rows. Then the scores alone decide.
            is_known = first.error() is not None and second.error() is not None
            by_scores = {"by": first.score - second.score, "standard_error": 0.0}
            return {"rows": len(common), "difference": (first.minus(second) if is_known else None) or by_scores}

        return self._run(truth, self.answers, predicted, work)

    def trial(
        self,
        train: str,
        columns: Columns | dict[str, Any],
        header: Sequence[str],
        id_column: str | None,
        with_probabilities: bool,
        sample: str,
    ) -> Answer:
        """Calls the file with labelled rows and predictions that are mostly right. It may want the true values in
        one of several forms. Raises the first reason why it gives no score."""
        known = LabelledRows.of(tables.read(train), columns if isinstance(columns, Columns) else Columns(**columns))
        places = np.arange(min(len(known.keys), TRIAL_ROWS))
        truth = Truth(known, places, Layout(header, id_column), self.text)
        forms: list[Form] = ["probabilities", "labels"] if with_probabilities else ["labels", "probabilities"]
        with suppress(Refused):
            first = tables.read(sample)
            if len(first):
                forms.append([first[name][0] for name in first.names if name != truth.id or id_column is None])
        why, seen = Refused(f"{self.name} has no rows to be tried with"), list[Any]()
        for form in forms:
            for answers in ("targets", "submission", "named", "all"):
                try:
                    names = list(truth.answers(answers))
                except Refused:
                    continue
                # The same table once more gives nothing new.
                if (names, form) in seen:
                    continue
                seen.append((names, form))
                try:
                    return {"answers": answers} | self._run(truth, answers, [truth.tried(form)], _tried)
                except Refused as error:
                    # Other columns do not make it faster, or repair it before it is called.
                    if "takes longer" in str(error) or " imports " in str(error):
                        raise
                    why = error if len(seen) == 1 else why
        raise why

    def _run(
        self, truth: Truth, form: str, predicted: Sequence[dict[str, Text]], work: Callable[..., Answer]
    ) -> Answer:
        """What `work` makes of the scorers of predictions, in a child process."""
        true = truth.frame(truth.answers(form))
        frames = [(true, truth.frame(one)) for one in predicted]
        keys, units = truth.known.keys[truth.places], truth.known.units[truth.places]

        with tempfile.TemporaryDirectory(prefix="metric-") as given:
            folder = os.path.realpath(given)
            for name, text in [*dict(self.modules).items(), (FILE_NAME, self.text)]:
                Path(folder, name).write_text(text, encoding="utf-8")

            def called(restart_timeout: Callable[[], None]) -> Answer:
                function = MetricFunction.load(folder, truth.id, restart_timeout)
                return work(*(Scorer(function, pair, truth.id, keys, units) for pair in frames))

            return run_in_child(self.name, self.limit, folder, called)


def _tried(scorer: Scorer) -> Answer:
    began = time.monotonic()
    score = scorer.score()
    seconds = time.monotonic() - began
    resamples = any(one is not None for one in scorer.replicates(MIN_REPLICATES, score, scorer.score))
    return {"score": score, "seconds": seconds, "rows": len(scorer.keys), "resamples": resamples}


# The tables that the file is called with: true values and predictions as text

Source = tuple[str, str | None]
"""A column of the known rows, or whether it has a class."""
Form = str | list[str]
"""What predictions for a trial hold: labels, probabilities where a column has two labels, or the same cells in every
row."""

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
        about = naming.classes_of(predicted, self._classes(targets[0]))
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
