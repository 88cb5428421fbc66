"""Scores by a Python file of the user.

The file is one more function of known rows and predictions. A child process calls it, and draws the replicates, too.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from . import bootstrap, labels, measure, tables
from .aliases import Answer, Array, Keys
from .intervals import Scale
from .labels import Columns
from .measure import Estimate, Scoring
from .metric_child import FILE_NAME, MetricFileError, MetricFunction, run_in_child
from .metric_tables import Form, LabelledRows, Truth
from .predictions import Layout, Others
from .tables import Refused, Table, Text

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

    def keys(self, table: Table, columns: Columns) -> Keys:
        """The keys of the labelled rows."""
        return LabelledRows.of(table, columns).keys

    def measurement(
        self,
        table: Table,
        columns: Columns,
        layout: Layout,
        predictions: str,
        others: Others,
        rows: Scoring,
        replicates: int,
        part: str = "whole",
    ) -> Answer:
        """The score of predictions for all rows, or for one of two halves: `choosing` or `reporting`."""
        known = LabelledRows.of(table, columns)
        places, found = known.paired(predictions, layout, others, known.part(part))
        truth = Truth(known, places, layout, self.text)
        predicted = {name: found[name] for name in truth.predicted()}
        return self._run(truth, self.answers, [predicted], lambda one: measured(one, rows, replicates))

    def compare(
        self,
        table: Table,
        columns: Columns,
        layout: Layout,
        files: tuple[str, str],
        rows: Scoring,
        replicates: int,
        fewest: int,
    ) -> Answer:
        """The score of the first file minus that of the second on the rows of both; no difference for few rows."""
        known = LabelledRows.of(table, columns)
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
