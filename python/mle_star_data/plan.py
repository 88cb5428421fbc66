"""The questions of a plan: how test rows differ, which labelled rows no script sees, the periods of time; and the
folders that scripts see. An answer is what the program freezes into a run; the same question has the same answer on
every machine."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from . import folders, frames, holdout, metrics, periods
from .aliases import Answer, Array
from .column_kinds import INSPECTED_ROWS, NUMBERS
from .describe import describe as describe_folder
from .frames import Table
from .holdout import HoldoutPlan, Share
from .metrics import Metric
from .periods import Timeline
from .rows import digest
from .split import Roles, Split, Tables, describe, random_split
from .tables import Refused, as_number

OTHER = "use the version of mle-star that started the run"
NUMBERED = "leave --id-column out: rows are then named by their numbers"
TOO_FEW = "give more rows, another --test-share, or a test table: a folder with train and test"
MAX_CLASSES = 20
"""A column of numbers with more different ones holds amounts rather than classes."""


@dataclass(frozen=True)
class Decision:
    """How a task is evaluated."""

    tables: Tables
    split: Split | None
    times: Timeline | None
    new_series: dict[str, Any] | None
    rows: HoldoutPlan | None
    why: str
    """Why no rows are held out."""
    unverified: str | None
    seed: int
    folds: str | None
    preset: str

    @property
    def has_folds(self) -> bool:
        """Whether scripts find the folds in a file. One that the user has there, but does not name, is data."""
        is_free = self.folds is not None or not (self.tables.folder / folders.FOLDS).exists()
        return is_free and self.split is not None and bool(self.tables.roles.targets) and self.preset != "paper"

    @cached_property
    def own_folds(self) -> Array | None:
        return holdout.own_folds(self.tables, self.folds) if self.folds else None


def read(question: Answer) -> Tables:
    """The tables of a question: a folder, and its facts as `roles.inspect` has them; with `metric_file` if a file
    computes the metric, and `folds` if the user gives some."""
    folder, facts = Path(question["folder"]), question["facts"]
    train, test, sample = (_table(folder, facts.get(name)) for name in ("train", "test", "sample"))
    if train is None:
        raise Refused("there is no training table")
    roles, id, given = facts["roles"], facts.get("id"), facts.get("targets") or []
    target = given[0] if given else None
    asked = [name for name in (sample.facts if sample else ()) if name != id and not (test and name in test)]
    # What the sample asks for beside a target is one, too: no script may see its labels.
    targets = dict.fromkeys([*given, *(asked if target in asked else [])])
    in_train = [name for name in targets if name in train]
    has_classes = _has_classes(metric(facts), train.facts.get(target or ""))
    named = {name: roles.get(name) for name in ("group", "time", "weight")}
    roles = Roles(target, in_train, id, classes=has_classes, **named)
    return Tables(folder, train, test, sample, roles, facts.get("groups") or ())


def _table(folder: Path, facts: Answer | None) -> Table | None:
    if facts is None:
        return None
    columns = {one["name"]: one for one in facts["columns"]}
    words = {name: one["words"] for name, one in columns.items() if one.get("words")}
    table = Table(facts["file"], frames.read(folder / facts["file"]).source, words)
    if table.rows != facts["rows"]:
        raise Refused(f"{table.file} is another table than the one that was looked at")
    table.facts = columns
    return table


def metric(facts: Answer) -> Metric | None:
    """The metric, if the program has its formula."""
    return None if facts.get("metric_file") else metrics.named(facts.get("metric") or "")


def _has_classes(metric: Metric | None, target: Answer | None) -> bool:
    if metric is not None:
        return metric.kind not in ("numbers", "intervals")
    return target is not None and (target["kind"] not in NUMBERS or target["distinct"] <= MAX_CLASSES)


def decide(question: Answer) -> Decision:
    """What a question asks for, decided once: materialising follows planning, and knows what was found meanwhile."""
    facts = {name: value for name, value in question["facts"].items() if name not in ("split", "relations", "period")}
    asked = {name: question.get(name) for name in ("folder", "config", "drawn")} | {"facts": facts}
    return _decide(json.dumps(asked, sort_keys=True))


@lru_cache(maxsize=1)
def _decide(asked: str) -> Decision:
    question = json.loads(asked)
    tables, config, drawn = read(question), question["config"], question["drawn"]
    preset = config.get("preset") or ""
    roles, seed, folds = tables.roles, int(config["seed"]), question["facts"].get("folds")
    split = drawn["split"] if drawn else None
    if split is None and (tables.test or roles.group or roles.time or folds):
        split = describe(tables)
        if folds and split["kind"] == "time":
            later = f"that test rows may be later in `{split['column']}` is not taken into account"
            split = random_split(tables, "") | {"why": f"the folds are given, so {later}"}
    times = None
    if split and split["kind"] == "time" and roles.target in tables.train:
        try:
            times = periods.timeline(tables, split)
            note = times.note()
        except Refused as error:
            note = str(error)
        split = split | {"why": f"{split['why']}; {note}"} if note else split
    unverified = _unverified(tables, question["facts"])
    if drawn:
        return Decision(tables, split, times, None, None, unverified or "", unverified, seed, folds, preset)
    new = periods.new_series(times) if times is not None and preset != "paper" else None
    rows, off = None, ""
    try:
        rows = _held_out(tables, split, times, config, unverified)
    except Refused as error:
        off = str(error)
    tables.forget([roles.id, *roles.targets, *((split["column"], split.get("groups")) if split else ())])
    return Decision(tables, split, times, new, rows, off, unverified, seed, folds, preset)


def _held_out(
    tables: Tables, split: Split | None, times: Timeline | None, config: Answer, unverified: str | None
) -> HoldoutPlan:
    if config["holdout"] == "off":
        raise Refused("`holdout` is off")
    if split is None:
        raise Refused("there is no test table")
    share = None if config["holdout"] == "auto" else float(config["holdout"])
    found = holdout.hold_out(tables, split, times, Share(share, int(config["holdout_rows"])), int(config["seed"]))
    if unverified:
        raise Refused(unverified)
    if target := holdout.has_rare_class(tables, len(found.held)):
        raise Refused(f"too few rows of a class of `{target}` would be held out")
    return found


def _unverified(tables: Tables, facts: Answer) -> str | None:
    """Why the program cannot compute scores itself."""
    train, sample, roles, found = tables.train, tables.sample, tables.roles, metric(facts)
    if found is None and not facts.get("metric_file"):
        return f"the program cannot compute the metric {facts.get('metric')}"
    if roles.target is None:
        return "the target is not known"
    if sample is None:
        return "there is no sample submission"
    if not roles.targets:
        return "the training table has no column that is to be predicted"
    classes = max(train.facts[name]["distinct"] for name in roles.targets)
    one_each = len(roles.targets) > 1 or len(sample.facts) <= 2
    if found and found.kind == "probabilities" and classes > 2 and one_each:
        return f"{sample.file} has one column, which cannot hold the probabilities of {classes} classes"
    if found and found.kind == "labels" and one_each and list(sample.facts.values())[-1]["kind"] == "number":
        return f"{sample.file} has numbers, and {found.name} needs labels"
    # The test table has what further columns ask for, so they are no targets.
    if copied := next(
        (name for name in sample.names if name not in (*roles.targets, roles.id) and name in train), None
    ):
        return f"{sample.file} asks for `{copied}`, which is no target"
    id = train.facts.get(roles.id or "")
    if id and id["distinct"] + id["missing"] < min(train.rows, INSPECTED_ROWS):
        return f"a value of `{roles.id}` occurs twice in {train.file}"
    return None


def plan(question: Answer) -> Answer:
    """How a task is evaluated."""
    if question["facts"].get("train") is None:
        off = "there is no training table"
        return {"split": None, "holdout": {"state": "off", "why": off}, "periods": None, "unverified": off}
    found, drawn = decide(question), question.get("drawn")
    held: Answer = found.rows.holdout() if found.rows else {"state": "off", "why": found.why}
    if drawn and not found.unverified:
        held = drawn["holdout"]
    times = found.times.periods(len(found.rows.held) if found.rows else None) if found.times else None
    own = found.own_folds
    folds = None if own is None else {"from": found.folds, "count": int(own.max()) + 1}
    return {
        "split": found.split,
        "holdout": held,
        "periods": times | ({"new_series": found.new_series} if found.new_series else {}) if times else None,
        "rows": found.tables.train.rows,
        "targets": list(found.tables.roles.targets),
        "unverified": found.unverified,
        "removed": len(found.rows.held) + len(found.rows.left_out) if found.rows else 0,
        "has_folds_file": found.has_folds,
        "own_folds": folds,
    }


def same_rows(question: Answer) -> Answer:
    """Whether test table and sample submission have the same rows; refused with the first that only one has."""
    if question["facts"].get("train") is not None:
        holdout.same_rows(read(question))
    return {}


def materialise(question: Answer) -> Answer:
    """Writes the folders that scripts see into the folder `into`: `all_rows` with the folds, and, if rows are held out,
    `input` of the search and their `labels.csv`; and `seasonal_naive.csv`. `holdout` is what was planned: other rows
    are refused. The answer has the text that tells agents what scripts of the search see, if it is `described`."""
    found, into = decide(question), Path(question["into"])
    if (found.rows.holdout() if found.rows else None) != question.get("holdout"):
        raise Refused("the rows that the run validates or keeps from its scripts cannot be found again", OTHER)
    if found.has_folds:
        folders.link_all_rows(found.tables, _folds(found, None), into / "all_rows")
    if found.rows:
        _search(found, found.rows, into)
    validated = _folds(found, found.rows) if found.times and found.own_folds is None else None
    if found.times and validated is not None:
        folders.seasonal_naive(found.times, found.rows, validated, into / "seasonal_naive.csv")
    if (known := question.get("described")) is None:
        return {}
    seen = str(into / "input") if found.rows else question["folder"]
    return {"text": describe_folder(seen, known["facts"], known["instead"])}


def last_fold(question: Answer) -> Answer:
    """Writes the data without the rows of the last fold into the folder `into`: `input`, and their `labels.csv`."""
    found = decide(question)
    if found.split is None:
        raise Refused("no rows are held out, and the target is not known")
    try:
        rows = holdout.last_fold(found.tables, found.split, found.times, found.own_folds, found.seed)
    except Refused as error:
        raise Refused(f"no rows are held out, nor can those of the last fold be: {error}") from None
    _search(found, rows, Path(question["into"]))
    return {"holdout": rows.holdout()}


def _folds(found: Decision, rows: HoldoutPlan | None) -> Array | None:
    if found.split is None or not found.has_folds:
        return None
    return holdout.folds(found.tables, found.split, found.times, found.own_folds, rows, found.seed)


def _search(found: Decision, rows: HoldoutPlan, into: Path) -> None:
    folders.search(found.tables, rows, _folds(found, rows), into / "input", into / "labels.csv")


def draw(question: Answer) -> Answer:
    """Takes the test rows of a single table. `name` is the table as the user calls it; `into` is the folder of the new
    tables and of `labels.csv`, which only the program reads."""
    tables, facts = read(question), question["facts"]
    roles, name, seed = tables.roles, question["name"], int(question["seed"])
    split = describe(tables) if roles.time or roles.group else random_split(tables, "")
    split = {key: value for key, value in split.items() if key != "given" or value}
    if roles.id and not holdout.names_rows(tables):
        raise Refused(f"a value of `{roles.id}` occurs twice in {name}, so it does not name rows", NUMBERED)
    try:
        held, labelled = holdout.choose(tables, split, Share(float(question["share"]), 1 << 62), seed)
    except Refused as error:
        raise Refused(f"no test rows can be taken from {name}: {error}", TOO_FEW) from None
    sample = _sample(tables, metric(facts))
    written = folders.divide(tables, held, sample, holdout.cluster(split, 0), Path(question["into"]))
    of = digest(tables.ids(tables.train)[held])
    counts = {"rows": len(held), "of": labelled, "seed": seed, "digest": of}
    why = f"{len(held)} of the {labelled} labelled rows of {name} are the test table: {_words(split)}"
    return {"split": split | {"why": why}, "holdout": {"state": "test"} | counts} | written


def _words(split: Split) -> str:
    column = split.get("column")
    if split["kind"] == "time" and split.get("groups"):
        return f"whole groups by `{split['groups']}`, the later ones by `{column}`"
    of_kind = {"groups": f"whole groups by `{column}`", "time": f"later rows by `{column}`", "rows": "rows at random"}
    return of_kind.get(split["kind"], "rows at random, stratified")


def make_sample(question: Answer) -> Answer:
    """Writes the sample submission of a task that has none, and numbers the rows of tables without IDs."""
    tables = read(question)
    return folders.make_sample(tables, _sample(tables, metric(question["facts"])), Path(question["into"]))


def _sample(tables: Tables, metric: Metric | None) -> list[tuple[str, str]]:
    """The columns of a sample submission after the row ID, each with the value of all rows: the targets, the bounds of
    one for a metric of intervals, or its classes if the metric is about the probabilities of more than two."""
    targets, train, kind = tables.roles.targets, tables.train, metric.kind if metric else None
    if kind == "intervals" and len(targets) == 1:
        return [(f"{targets[0]}_{bound}", "0") for bound in ("lower", "upper")]
    if kind == "probabilities" and len(targets) == 1:
        classes = sorted(train.column(targets[0]).values.drop_nulls().unique())
        if len(classes) > 2:
            return [(name, f"{1 / len(classes):.6f}") for name in classes]
    return [(name, _value(train.facts[name], kind)) for name in targets]


def _value(target: Answer, kind: str | None) -> str:
    if kind == "probabilities":
        return "0.5"
    if kind == "labels" or (kind is None and target["kind"] not in NUMBERS):
        labels: Sequence[str] = [value for value, _ in target["top_values"]]
        # Among labels such as `007`, one that is no number says that they are text.
        return next((label for label in labels if as_number(label) is None), labels[0] if labels else "")
    return "0"
