"""The questions about predictions that the program asks, one function each.

A question names files; its answer is what the program writes into its journal. Questions about a run come with the
setup of the run: the metric, the labelled rows, and what intervals are for.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

from . import diagnose as diagnostics
from . import importances, labels, measure, metrics, predictions, refit, selection, submission, tables
from .aliases import Answer, Keys
from .intervals import Target
from .labels import Columns, Labels
from .measure import Folds, Scoring
from .metric_file import LabelledRows, MetricFile
from .metrics import Metric
from .predictions import Layout, Others, Predictions
from .tables import Refused

REPLICATES = 200
"""Bootstrap replicates of a validation score. They are few, because each script has one."""
HOLDOUT_REPLICATES = 1000
MANY_ROWS = 200_000
"""Above this number of rows, a quarter of the replicates is as good."""
MIN_SHARE, MIN_ROWS, ENOUGH_ROWS = 0.05, 20, 500
"""The smallest share of the labelled rows that a script has to validate on, and the bounds of that number of rows."""
PERMUTATIONS, MANY_PERMUTED = 100, 100_000
NO_HOLDOUT = "no rows are held out"
NO_COMBINATION = "no combination is better than one solution, can be scored on every fold, or runs in the time"


@dataclass(frozen=True)
class Setup:
    """What scores of a run depend on."""

    metric: str
    train: str
    columns: dict[str, Any]
    header: list[str]
    id_column: str | None = None
    metric_file: dict[str, Any] | None = None
    """The file that computes the metric, if it is not one of the program's own."""
    subsample_limit: int = 2**62
    by_time: bool = False
    target: dict[str, Any] | None = None
    labels: str | None = None
    """The table with the labels of held-out rows."""
    folds: str | None = None
    has_periods: bool = False
    mean_over_periods: bool = False
    seasonal_naive: str | None = None
    folder: str = "."
    """The run's folder, which keeps what scripts predicted."""
    holds_out: bool = False
    """Whether submissions of the search have predictions for held-out rows, which are kept apart."""


@dataclass(frozen=True)
class Run:
    """The labelled rows of a run, read once."""

    setup: Setup

    @cached_property
    def metric(self) -> Metric:
        return _metric(self.setup.metric)

    @cached_property
    def by_file(self) -> MetricFile | None:
        return None if self.setup.metric_file is None else MetricFile(**self.setup.metric_file)

    @cached_property
    def columns(self) -> Columns:
        return Columns(**self.setup.columns)

    @cached_property
    def layout(self) -> Layout:
        return Layout(self.setup.header, self.setup.id_column)

    @cached_property
    def folds(self) -> Folds:
        return Folds() if self.setup.folds is None else Folds.read(self.setup.folds)

    @cached_property
    def scoring(self) -> Scoring:
        """What scores of validation rows depend on."""
        naive = None if self.setup.seasonal_naive is None else measure.forecasts(self.setup.seasonal_naive)
        target = Target(**(self.setup.target or {}))
        folds = self.folds if target.kind == "period" and self.setup.has_periods else Folds()
        averages = target.kind == "period" and self.setup.mean_over_periods
        return Scoring(target, folds, averages, naive)

    @cached_property
    def held_out_scoring(self) -> Scoring:
        return Scoring(self.scoring.target)

    @cached_property
    def visible(self) -> Labels:
        """The rows of the search, with only the classes that occur in them, which are all that scripts can know."""
        return labels.read(self.setup.train, self.columns, self.metric)

    @cached_property
    def search(self) -> Labels:
        """The rows of the search among the classes of all rows, so that a metric of positions of classes is the same
        for all."""
        return self.visible if self.setup.labels is None else self.visible.among_classes_of(self.held_out)

    @property
    def labels_of_held_out(self) -> str:
        """The table with them."""
        if self.setup.labels is None:
            raise Refused(NO_HOLDOUT)
        return self.setup.labels

    @cached_property
    def held_out(self) -> Labels:
        columns = replace(self.columns, id=self.setup.id_column)
        return labels.read(self.labels_of_held_out, columns, self.metric, self.visible)

    @cached_property
    def keys(self) -> Keys:
        """The keys of the labelled rows of the search."""
        return self.search.keys if self.by_file is None else self.rows_of_search.keys

    @cached_property
    def folds_digest(self) -> str | None:
        return None if self.setup.folds is None else measure.digest(self.keys[self.folds.of(self.keys) >= 0])

    def fewest_rows(self) -> int:
        """The fewest rows that a validation score needs. For small tables, a third is enough; with a split by time,
        the times decide how many rows are validated."""
        used = min(len(self.keys), self.setup.subsample_limit)
        share = 0.0 if self.setup.by_time else MIN_SHARE
        return min(max(MIN_ROWS, min(int(used * share), ENOUGH_ROWS)), used // 3)

    @cached_property
    def rows_of_search(self) -> LabelledRows:
        """The rows of the search as a metric file gets them."""
        return LabelledRows.of(tables.read(self.setup.train), self.columns)

    def validated(self, file: str) -> list[Predictions]:
        """The validation predictions of a script."""
        return self.scoring.in_folds(predictions.read(file, self.search, self.layout, "reject"))

    def validation_of(self, stem: str) -> str:
        """The validation predictions that a script left."""
        return str(Path(self.setup.folder, "validation", f"{stem}.csv"))

    def submission_of(self, stem: str) -> str:
        """The whole submission as a script wrote it."""
        folder = "holdout/predictions" if self.setup.holds_out else "submissions"
        return str(Path(self.setup.folder, folder, f"{stem}.csv"))

    def class_scores_of(self, stem: str) -> list[str]:
        """The probability of each class that a script left for its validation rows and for the rows of its
        submission."""
        names = ("validation_class_scores.csv", "submission_class_scores.csv")
        return [str(Path(self.setup.folder, "validation", f"{stem}.{name}")) for name in names]

    def refuse_metric_file(self, what: str) -> None:
        """Raises with a metric file, for what a file does not compute."""
        if self.by_file is not None:
            raise Refused(f"the metric is that of {self.by_file.name}, so the program does not compute {what}")


def _metric(name: str) -> Metric:
    metric = metrics.named(name)
    if metric is None:
        raise Refused(f"the program cannot compute the metric {name}")
    return metric


def _replicates(replicates: int, rows: int) -> int:
    return replicates // 4 if rows > MANY_ROWS else replicates


def validation(run: Run, file: str, printed: dict[str, float] | None = None) -> Answer:
    """The score of a script's validation predictions. `mismatch` says what is wrong with them, `note` why there is
    no score or what else the script printed."""
    name = "./final/validation_predictions.csv"
    try:
        if run.by_file is None:
            predictions.check_layout(run.search, run.layout)
        fewest = run.fewest_rows()
        rows = run.scoring
    except Refused as error:
        return {"note": f"scores are not recomputed: {error}"}
    predicted: list[Predictions] = []
    try:
        if run.by_file is not None:
            known = run.rows_of_search
            measured = run.by_file.measurement(known, run.layout, file, "reject", rows, REPLICATES, "whole")
        else:
            predicted = run.validated(file)
            measured = measure.measurement(predicted, rows, _replicates(REPLICATES, len(run.keys)))
    except Refused as error:
        return {"mismatch": f"{name} cannot be scored: {error}"}
    if measured["rows"] < fewest:
        has = f"{name} has {measured['rows']} of {len(run.keys)} labelled rows, too few for a score"
        return {"mismatch": f"{has}: validate on at least {fewest} rows."}
    answer: Answer = {"measured": measured | {"on_folds": run.folds_digest == measured["rows_digest"]}}
    if printed is not None and run.by_file is None and not _agrees(printed, measured["score"]):
        answer["note"] = _other_score(run, printed, measured, predicted, file)
    return {key: value for key, value in answer.items() if value is not None}


def _agrees(printed: dict[str, float], score: float) -> bool:
    """Whether a printed number is this one up to rounding: half a unit of its last digit, or a relative 1e-6."""
    tolerance = max(printed["rounding"], 1e-6 * abs(score))
    return abs(printed["value"] - score) <= tolerance * (1 + 1e-9)


def _other_score(
    run: Run, printed: dict[str, float], measured: Answer, predicted: Sequence[Predictions], file: str
) -> str | None:
    """The sentence about a script that printed another score than the program computed, with what it computed if
    that is known."""
    if not run.search.has_classes_of(run.visible):
        # A script cannot know classes that its rows lack.
        own = predictions.read(file, run.visible, run.layout, "reject")
        if _agrees(printed, _mean(run.scoring.in_folds(own))):
            return None
    metric, count, score = run.metric.name, measured["rows"], measured["score"]
    if len(predicted) > 1:
        metric = f"the mean of {metric} over the {len(predicted)} targets"
    is_mean = measured.get("mean_over_periods", False)
    what = f"the mean over {len(measured.get('periods', []))} folds of {metric}" if is_mean else metric
    said = f"The script printed the score {printed['value']:.10g}"
    said = f"{said}; {what} over the {count} rows of its predictions is {score:.10g}"
    whole = measure.score_at([replace(one, folds=None) for one in predicted])
    alternatives = {
        "the mean over the folds": _mean_over_folds(run, predicted),
        "the score of all rows together": np.nan if whole is None else whole,
    }
    for words, other in alternatives.items():
        if _agrees(printed, other):
            return f"{said}. It printed {words}; the score that counts is the second one."
    return f"{said}. The score that counts is the second one."


def _mean(predicted: Sequence[Predictions]) -> float:
    """The mean score over the targets."""
    return float(np.mean([one.score() for one in predicted]))


def _mean_over_folds(run: Run, predicted: Sequence[Predictions]) -> float:
    folds = run.folds.of(predicted[0].keys)
    scores = [measure.score_at(predicted, np.flatnonzero(folds == fold)) for fold in np.unique(folds)]
    return float(np.mean([score for score in scores if score is not None]))


def chance(run: Run, file: str, table: str, blocks: Sequence[int]) -> Answer:
    """The score of the validation predictions of a script that was trained on labels that were permuted within
    blocks, and what such predictions score by chance: with the labels permuted again. A script without a leak scores
    as if by chance."""
    run.refuse_metric_file("the score by chance")
    try:
        columns = replace(run.columns, cluster=None)
        permuted = labels.read(table, columns, run.metric)
        of_row = np.asarray(blocks)[tables.places(tables.row_keys(tables.read(table), columns.id), permuted.keys)[0]]
    except Refused as error:
        raise Refused(f"scores are not recomputed: {error}") from None
    permuted = replace(permuted, units=of_row.astype(np.uint64)).among_classes_of(run.search)
    predicted = predictions.read(file, permuted, run.layout, "reject")
    score, rows = _mean(predicted), len(predicted[0])
    random, by_chance = np.random.default_rng(rows), list[float]()
    order = np.argsort(predicted[0].units, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(predicted[0].units[order])) + 1)
    for _ in range(PERMUTATIONS // 5 if rows > MANY_PERMUTED else PERMUTATIONS):
        places = np.empty(rows, dtype=np.int64)
        for group in groups:
            places[group] = random.permutation(group)
        found = measure.score_at([replace(one, truth=one.truth[places]) for one in predicted])
        by_chance += [] if found is None else [found]
    if len(by_chance) < 2:
        raise Refused("there is no score with permuted labels")
    return {"score": score, "mean": float(np.mean(by_chance)), "standard_deviation": float(np.std(by_chance, ddof=1))}


def look(run: Run, stem: str, part: str) -> Answer:
    """The score of the predictions for held-out rows in a submission: of all, or of one of two halves of them."""
    file = run.submission_of(stem)
    if not Path(file).exists():
        raise Refused("it left no valid submission")
    rows = run.held_out_scoring
    if run.by_file is not None:
        columns = replace(run.columns, id=run.setup.id_column)
        given = LabelledRows.of(tables.read(run.labels_of_held_out), columns)
        scored = run.by_file.measurement(given, run.layout, file, "ignore", rows, HOLDOUT_REPLICATES, part)
        return {"measured": scored}
    known = run.held_out if part == "whole" else run.held_out.halves()[part != "choosing"]
    predicted = predictions.read(file, known, run.layout, "ignore")
    return {"measured": measure.measurement(predicted, rows, _replicates(HOLDOUT_REPLICATES, len(known)))}


def compare(run: Run, one: str, other: str) -> Answer:
    """The score of the first run minus that of the second on the validation rows that both have; no difference for
    few rows."""
    one, other = run.validation_of(one), run.validation_of(other)
    if run.by_file is not None:
        known, fewest = run.rows_of_search, run.fewest_rows()
        return run.by_file.compare(known, run.layout, (one, other), run.scoring, REPLICATES, fewest)
    files = measure.on_common_rows([run.validated(one), run.validated(other)], run.scoring)
    rows = len(files[0][0])
    if rows < max(run.fewest_rows(), 1):
        return {"rows": rows, "difference": None}
    first, second = (measure.mean_over_targets(file, _replicates(REPLICATES, rows)) for file in files)
    return {"rows": rows, "difference": first.minus(second)}


def agreement(run: Run, runs: Sequence[str]) -> Answer:
    """How alike the errors of several runs are on the validation rows that all of them have."""
    run.refuse_metric_file("scores of the rows that several scripts predict")
    found = measure.on_common_rows([run.validated(run.validation_of(one)) for one in runs], run.scoring)
    if len(found[0][0]) < max(run.fewest_rows(), 1):
        raise Refused("they have too few rows in common")
    return selection.agreement(found, _replicates(REPLICATES, len(found[0][0])))


def select(run: Run, runs: Sequence[tuple[str, float]], seconds: float) -> Answer:
    """Weights for the predictions of several scripts, each with the seconds that it took, which run in `seconds`
    together."""
    run.refuse_metric_file("the best weights of solutions")
    is_one = len(run.layout.predicted()) == 1
    kind, durations = run.metric.kind, [took for _, took in runs]
    files, scores = [run.validation_of(stem) for stem, _ in runs], [run.class_scores_of(stem) for stem, _ in runs]
    if kind == "guesses" and _separates_inside_labels(run.search, files[0]):
        raise Refused("what separates guesses is inside a label, so they cannot be combined")

    def chosen(files: Sequence[str], layout: Layout) -> Answer:
        found = selection.select(run.search, run.scoring, files, durations, layout, seconds, REPLICATES)
        if found is None:
            raise Refused(NO_COMBINATION)
        return found

    note = ""
    if kind == "labels" and is_one and all(Path(file).exists() for both in scores for file in both):
        # The names of columns become labels.
        own, names = [validated for validated, _ in scores], run.search.targets[0].names or []
        try:
            layout = Layout(selection.class_columns(own[0], run.layout.id), run.layout.id)
            others = [name for name in layout.predicted() if tables.canonical(name) not in names]
            if others:
                raise Refused(f"no class is called like the columns {tables.listed(others)}")
            return chosen(own, layout) | {"by": "class_scores"}
        except Refused as error:
            note = f"labels are combined, and not the scores of classes: {error}"
    found = chosen(files, run.layout) | ({"note": note} if note else {})
    by: Any = {"sets": "sets", "labels": "votes" if is_one else "mean"}.get(kind, "mean")
    if kind == "guesses" and is_one:
        by = {"guesses": run.metric.guesses}
    return found | {"by": by}


def _separates_inside_labels(known: Labels, file: str) -> bool:
    """Whether what separates the guesses at the beginning of this file is inside a label, too, so that labels would
    be torn."""
    with open(file, encoding="utf-8", errors="replace") as text:
        head = text.read(1 << 16)
    mark = next((mark for mark in "|;" if mark in head), None)
    # A comma also separates the columns.
    marks = ", " if mark is None else mark
    return any(mark in name for name in known.targets[0].names or [] for mark in marks)


def combine(run: Run, runs: Sequence[tuple[str, float]], by: Any, validation: str, submission: str) -> Answer:
    """Writes the combination of what scripts predicted, by weights: for validation rows, and for the rows of the
    submission."""
    for at, out in enumerate((validation, submission)):
        if by == "class_scores":
            files = [(weight, run.class_scores_of(stem)[at]) for stem, weight in runs]
            classes = Layout(selection.class_columns(files[0][1], run.layout.id), run.layout.id)
            selection.combine_classes(files, classes, run.layout, out)
        else:
            of = run.submission_of if at else run.validation_of
            selection.combine(run.metric, [(weight, of(stem)) for stem, weight in runs], run.layout, out)
    return {}


def fits(run: Run, first: str, second: str) -> Answer:
    """How the predictions of two fits of one solution differ for the same rows of the test table."""
    one, other = (str(Path(run.setup.folder, "submissions", f"{stem}.csv")) for stem in (first, second))
    return refit.compare(None if run.by_file is not None else run.metric, one, other, run.layout)


def importance(run: Run, stem: str, known: str, copies: dict[str, Any], on: str, direction: str) -> Answer:
    """How much worse the score of copies of rows is, in each of which one column is permuted."""
    run.refuse_metric_file("the importance of columns")
    rows, of = (run.held_out, run.held_out_scoring) if on == "held_out" else (run.search, run.scoring)
    predicted = str(Path(run.setup.folder, "submissions", f"{stem}.csv"))
    found = importances.importance(rows, of, run.layout, predicted, run.submission_of(known), copies, REPLICATES)
    return found | {"on": on}


def diagnose(
    run: Run,
    files: Sequence[str | None],
    of: str,
    folder: str,
    columns: Sequence[str] = (),
    split: dict[str, Any] | None = None,
    periods: Sequence[Any] | None = None,
) -> Answer:
    """Where predictions are right and where they are wrong. `split` divides `folder`, the data of the search; `columns`
    are those that the worst rows are shown with, before others."""
    from .partitions import PartitionedRows  # Only this question needs a library for frames.

    is_held_out = of != "validation"
    known, rows = (run.held_out, run.held_out_scoring) if is_held_out else (run.search, run.scoring)
    others: Others = "ignore" if is_held_out else "reject"
    assert files[0] is not None
    id = run.setup.id_column if is_held_out else run.columns.id
    divided = PartitionedRows(folder, "test" if is_held_out else "train", id)
    divisions = divided.by(split, run.setup.folds, periods)
    found: Answer = diagnostics.diagnose(known, rows, files[0], files[1], run.layout, others, divisions)
    for parts in found["parts"]:
        parts["of"] = of
    worst = [row for target in found["targets"] for row in target["worst"]]
    but = [run.columns.target, *run.columns.further, *([run.columns.weight] if run.columns.weight else [])]
    for row, cells in zip(worst, divided.cells([row["id"] for row in worst], columns, but), strict=True):
        row["cells"] = cells
    for at, target in enumerate(found["targets"]):
        target["split"] = _by_split(run, at)
    found["of"] = of
    # Only the file can compute the metric of a metric file.
    return found if run.by_file is None else found | {"score": None, "parts": []}


def courses(run: Run, files: Sequence[str | None], folder: str, split: dict[str, Any] | None) -> Answer:
    """Actual and predicted numbers over time, of validation and of held-out rows."""
    from . import courses as over_time
    from .partitions import PartitionedRows

    validation, held_out = files
    split = split or {}
    if split.get("kind") != "time" or run.search.targets[0].names is not None or validation is None:
        return {}
    own = predictions.read(validation, run.search, run.layout, "reject")[0]
    rows = PartitionedRows(folder, "train", run.columns.id)
    parts = [over_time.Part(rows, run.search, own, run.folds.of(own.keys))]
    if held_out is not None:
        own = predictions.read(held_out, run.held_out, run.layout, "ignore")[0]
        rows = PartitionedRows(folder, "test", run.setup.id_column)
        parts.append(over_time.Part(rows, run.held_out, own, np.full(len(own), over_time.HELD_OUT)))
    facts = Path(run.setup.folder, "facts.json")
    known = json.loads(facts.read_text(encoding="utf-8")) if facts.exists() else {}
    series = split.get("series") or known.get("relations", {}).get("series") or []
    return over_time.courses(parts, split["column"], series)


def _by_split(run: Run, at: int) -> Answer:
    """The histogram of a target in each part of the labelled rows."""
    from .histograms import histogram

    folds = run.folds.of(run.search.keys)
    parts = [("training", run.search)]
    if (folds >= 0).any() and (folds < 0).any():
        parts.append(("validation", run.search.at(np.flatnonzero(folds >= 0))))
    if run.setup.labels is not None:
        parts.append(("held out", run.held_out))
    return histogram([(name, rows.targets[at].cells()) for name, rows in parts])


def score(
    metric: str,
    answers: str,
    columns: dict[str, Any],
    layout: dict[str, Any],
    submission: str,
    classes: Sequence[str] | None = None,
    training: str | None = None,
    replicates: int = 0,
    target: dict[str, Any] | None = None,
    folds: str | None = None,
    is_part: bool = False,
) -> Answer:
    """The score of predictions for the rows of a table with answers: for all of them, or a part. Answers need not
    have all classes of the training table. `classes` are their columns if they have one for each class. `unusable`
    says what is wrong with the answers, `failure` what is wrong with the predictions."""
    known, where = _metric(metric), Columns(**columns)
    trained = tables.unless_refused(labels.read, training, replace(where, id=None), known) if training else None
    try:
        if classes is not None:
            found = labels.read_per_class(answers, where, classes, known)
        else:
            found = labels.read(answers, where, known, trained)
    except Refused as error:
        return {"unusable": str(error)}
    try:
        predicted = predictions.read(submission, found, Layout(**layout), "reject" if is_part else "ignore")
        if replicates:
            rows = Scoring(Target(**(target or {})), Folds() if folds is None else Folds.read(folds))
            return {"measured": measure.measurement(predicted, rows, replicates)}
        return {"score": _mean(predicted)}
    except Refused as error:
        return {"failure": str(error)}


def source(metric: str, classes: int) -> Answer:
    """The text that scripts compute a metric with, for a target with so many classes, or 0 for numbers."""
    return {"source": metrics.for_classes(_metric(metric), classes).source()}


def describe(folder: str, facts: dict[str, Any] | None, instead: dict[str, str] | None = None) -> Answer:
    """What agents are told of a folder: see `describe.describe`."""
    from . import describe

    return {"text": describe.describe(folder, facts, instead)}


def trial(metric_file: dict[str, Any], **rows: Any) -> Answer:
    """Calls a metric file with labelled rows, before a run begins."""
    return MetricFile(**metric_file).trial(**rows)


def head(file: str, rows: int) -> Answer:
    """The cells of the first rows of a plain table, by column."""
    from .frames import read  # Only a preview needs the library for frames so early.

    return read(file).source.inspected.head(rows).to_dict(as_series=False)


def _lazy(module: str, name: str) -> Callable[..., Answer]:
    """A question whose module, and the library for frames, is imported when it is asked first."""

    def asked(**question: Any) -> Answer:
        answer = getattr(importlib.import_module(f".{module}", __package__), name)
        found: Answer = answer(question) if module == "plan" else answer(**question)
        return found

    return asked


OF_RUN = (validation, chance, look, compare, agreement, select, combine, fits, importance, diagnose, courses)
RUN_QUESTIONS: dict[str, Callable[..., Answer]] = {one.__name__: one for one in OF_RUN}
ANSWER_NAMES = {"compare": "comparison", "select": "selection", "fits": "refit"}
ANSWER_NAMES |= {name: name for name in ("look", "agreement", "importance")}
"""What the program calls the answers that it keeps in its journal."""
OTHERS = (score, submission.check, source, trial, describe, head)
OTHER_QUESTIONS: dict[str, Callable[..., Answer]] = {one.__name__: one for one in OTHERS}
LAZY_QUESTIONS = {
    "roles": "inspect",
    "relations": "relations",
    "intake": "take_in read_rows",
    "dependence": "dependence_rows dependence",
    "plan": "plan same_rows materialise last_fold draw make_sample",
    "folders": "trim permuted shuffle_targets replace_test_rows",
    "new_rows": "rows_to_predict shared_rows name_predictions sample_for other_order same_predictions",
}
OTHER_QUESTIONS |= {name: _lazy(module, name) for module, names in LAZY_QUESTIONS.items() for name in names.split()}


@cache
def run_of(file: str) -> Run:
    """The run whose setup is in this file."""
    return Run(Setup(**json.loads(Path(file).read_text(encoding="utf-8"))))


def answer(question: dict[str, Any]) -> Answer:
    """Answers a question: `question` is its name, `setup` the file with the setup of the run, the rest its
    arguments."""
    arguments = dict(question)
    name, setup = arguments.pop("question"), arguments.pop("setup", None)
    if "run" in arguments:
        arguments["stem"] = arguments.pop("run")
    if name in OTHER_QUESTIONS:
        return OTHER_QUESTIONS[name](**arguments)
    found = RUN_QUESTIONS[name](run_of(setup), **arguments)
    return found | {"answer": ANSWER_NAMES[name]} if name in ANSWER_NAMES else found
