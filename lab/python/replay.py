"""What rules of accepting, choosing and reporting do to searches without agents.

replay.py FOLDER [SEARCH ...]

makes 26 candidates of one boosted model for each task of FOLDER/tasks.json, without and with held-out rows, lets each rule
choose, and prints what its choice gains over the first candidate on the hidden rows, and how far the reported score can be
believed. It needs lightgbm, pandas and scikit-learn.

Searches: "seeds" are one model with other random seeds, as in the replay without an agent of Auto-Overfit
(github.com/travispchen/autoresearch-overfit). Those of "careful" have other settings and columns. In "careless", half of them also
use validation rows to choose trees, seeds or weights; in "leaking", half of them have seen targets of validation rows. As in a
run, columns that know the answer in the training table only are left out.
"""

import json
import sys
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

import lightgbm
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn import metrics

from compare import Values, percent

Numbers = NDArray[np.float64]
VALIDATION_SHARE = 0.2
HOLDOUT_SHARE = 0.15
CARELESS_SHARE = 0.5
CANDIDATES = 26
REPLICATES = 100
# The program holds no rows out of fewer training rows, compares as many of the best solutions by held-out rows, and takes a
# validation score as contradicted by as many standard errors of the difference.
FEWEST_ROWS = 2_000
FINALISTS = 4
CONTRADICTED = 2.0
# Columns that know the answer in the training table only.
LEFT_OUT = {"contracts": ["open_letters"]}
FOR_CLASSES = ["accuracy", "ROC-AUC", "average precision", "log loss"]
LOSSES = ["log loss", "MAE", "RMSE", "RMSLE"]


def probability_losses(answers: Numbers, predicted: Numbers) -> float:
    shares = predicted[np.arange(len(answers)), answers.astype(int)]
    return float(-np.log(np.clip(shares, 1e-15, 1)).mean())


def kappa(answers: Numbers, predicted: Numbers) -> float:
    grades = np.clip(predicted.round(), 0, 4)
    return float(metrics.cohen_kappa_score(answers.astype(int), grades.astype(int), weights="quadratic"))


SCORES: dict[str, Callable[[Numbers, Numbers], float]] = {
    "accuracy": lambda answers, predicted: float((answers == predicted.argmax(axis=1)).mean()),
    "ROC-AUC": lambda answers, predicted: float(metrics.roc_auc_score(answers, predicted[:, 1])),
    "average precision": lambda answers, predicted: float(metrics.average_precision_score(answers, predicted[:, 1])),
    "log loss": probability_losses,
    "MAE": lambda answers, predicted: float(np.abs(answers - predicted).mean()),
    "RMSE": lambda answers, predicted: float(np.sqrt(((answers - predicted) ** 2).mean())),
    "RMSLE": lambda answers, predicted: float(np.sqrt(((np.log1p(answers) - predicted) ** 2).mean())),
    "quadratic weighted kappa": kappa,
}


def features(table: pd.DataFrame, others: list[pd.DataFrame]) -> pd.DataFrame:
    """Joins the other tables by their common column; turns dates into days and texts into categories."""
    for other in others:
        table = table.merge(other, how="left", on=[name for name in other.columns if name in table.columns])
    for name in table.columns:
        if name == "date":
            table[name] = (pd.to_datetime(table[name]) - pd.Timestamp("2024-01-01")).dt.days
        elif not pd.api.types.is_numeric_dtype(table[name]):
            table[name] = table[name].astype("category")
    return table


def rows_like_test(table: pd.DataFrame, share: float, split: str, column: str | None, seed: int) -> NDArray[np.bool_]:
    """A share of the rows, chosen like the test rows: whole groups, the latest rows, or random rows."""
    random = np.random.default_rng(seed)
    if split == "groups":
        groups = np.sort(table[column].astype(str).unique())
        chosen = random.permutation(groups)[: int(len(groups) * share)]
        return table[column].astype(str).isin(chosen).to_numpy()
    key = table[column].to_numpy() if split == "time" else random.random(len(table))
    return key >= np.quantile(key, 1 - share)


def model(metric: str, seed: int, **settings: float) -> lightgbm.LGBMModel:
    """LightGBM that samples rows and columns, so that the seed matters."""
    kind = lightgbm.LGBMClassifier if metric in FOR_CLASSES else lightgbm.LGBMRegressor
    objective = {"objective": "regression_l1"} if metric == "MAE" else {}
    usual = {
        "n_estimators": 60, "learning_rate": 0.1, "num_leaves": 15, "min_child_samples": 20, "subsample": 0.7,
        "colsample_bytree": 0.7,
    }  # fmt: skip
    return kind(
        subsample_freq=1, random_state=seed, num_threads=1, deterministic=True, verbose=-1, **objective,
        **usual | settings,
    )  # fmt: skip


def drawn_settings(random: np.random.Generator) -> dict[str, float]:
    return {
        "n_estimators": int(random.integers(30, 200)),
        "learning_rate": float(np.exp(random.uniform(np.log(0.03), np.log(0.3)))),
        "num_leaves": int(random.integers(4, 64)),
        "min_child_samples": int(random.integers(5, 100)),
        "subsample": float(random.uniform(0.5, 1)),
        "colsample_bytree": float(random.uniform(0.4, 1)),
    }


@dataclass
class World:
    """Rows to fit, rows to validate, and tables to predict. Targets are numbers; those of classes are their places."""

    metric: str
    fit: pd.DataFrame
    target: Numbers
    validation: pd.DataFrame
    truth: Numbers
    others: list[pd.DataFrame]
    earlier: list[list[Numbers]] = field(default_factory=list)
    """What earlier candidates predict for validation rows and the other tables."""

    def good(self, predicted: Numbers) -> float:
        """How good predictions for validation rows are; larger is better."""
        score = SCORES[self.metric](self.truth, predicted)
        return -score if self.metric in LOSSES else score

    def fitted(self, one: lightgbm.LGBMModel, columns: list[str]) -> Callable[..., list[Numbers]]:
        """Fits a model; the result predicts the validation rows and the other tables."""
        target = np.log1p(self.target) if self.metric == "RMSLE" else self.target
        one.fit(self.fit[columns], target)
        predict = one.predict_proba if self.metric in FOR_CLASSES else one.predict
        return lambda **options: [predict(table[columns], **options) for table in [self.validation, *self.others]]

    def candidate(self, search: str, number: int, seed: int) -> list[Numbers]:
        """What a candidate predicts for the validation rows and the other tables."""
        columns = list(self.fit.columns)
        if search == "seeds" or number == 0:
            return self.fitted(model(self.metric, number), columns)()
        random = np.random.default_rng([seed, number])
        one = model(self.metric, number, **drawn_settings(random))
        kept = random.random(len(columns)) < random.uniform(0.6, 1)
        chosen = [name for name, keep in zip(columns, kept) if keep] or columns
        is_careless = random.random() < CARELESS_SHARE
        ways = WAYS.get(search, [])
        if ways and is_careless:
            return ways[random.integers(len(ways))](self, one, chosen, random)
        return self.fitted(one, chosen)()


Way = Callable[[World, lightgbm.LGBMModel, list[str], np.random.Generator], list[Numbers]]


def stopped_by_validation(world: World, one: lightgbm.LGBMModel, columns: list[str], _: object) -> list[Numbers]:
    """The number of trees that is best on validation rows."""
    predict = world.fitted(one.set_params(n_estimators=300), columns)
    return max((predict(num_iteration=trees) for trees in range(10, 301, 10)), key=lambda tables: world.good(tables[0]))


def lucky_seed(world: World, one: lightgbm.LGBMModel, columns: list[str], _: object) -> list[Numbers]:
    """The best of five seeds."""
    tried = (world.fitted(one.set_params(random_state=seed), columns)() for seed in range(100, 105))
    return max(tried, key=lambda tables: world.good(tables[0]))


def blended_by_validation(
    world: World, one: lightgbm.LGBMModel, columns: list[str], random: np.random.Generator
) -> list[Numbers]:
    """The weights of earlier candidates that are best on validation rows."""
    members = [*world.earlier[-5:], world.fitted(one, columns)()]
    weights = random.dirichlet(np.full(len(members), 0.7), 200)
    best = max(weights, key=lambda weights: world.good(sum(w * tables[0] for w, tables in zip(weights, members))))
    return [sum(weight * table for weight, table in zip(best, tables)) for tables in zip(*members)]


def means_of_all_targets(
    world: World, one: lightgbm.LGBMModel, columns: list[str], random: np.random.Generator
) -> list[Numbers]:
    """Mean targets of two columns' values as a feature, computed before validation rows are split off."""
    tables = [world.fit, world.validation, *world.others]
    keys = np.zeros(sum(map(len, tables)), dtype=int)
    for name in random.choice(world.fit.columns, 2, replace=False):
        column = pd.concat([table[name] for table in tables])
        if pd.api.types.is_numeric_dtype(column):
            column = pd.qcut(column, 20, labels=False, duplicates="drop")
        keys = keys * 10_000 + pd.factorize(column)[0]
    known = len(world.fit) + len(world.validation)
    means = pd.Series(np.concatenate([world.target, world.truth])).groupby(keys[:known]).mean()
    values = pd.Series(keys).map(means).to_numpy()
    ends = np.cumsum([len(table) for table in tables])[:-1]
    fit, validation, *others = [
        table.assign(mean=part) for table, part in zip(tables, np.split(values, ends), strict=True)
    ]
    changed = World(world.metric, fit, world.target, validation, world.truth, others)
    return changed.fitted(one, [*columns, "mean"])()


def copied_before_the_split(
    world: World, one: lightgbm.LGBMModel, columns: list[str], random: np.random.Generator
) -> list[Numbers]:
    """Rows are copied before the split, so that a fifth of the validation rows is also fitted."""
    copied = random.random(len(world.truth)) < 0.2
    fit = pd.concat([world.fit, world.validation[copied]])
    target = np.concatenate([world.target, world.truth[copied]])
    changed = World(world.metric, fit, target, world.validation, world.truth, world.others)
    return changed.fitted(one, columns)()


WAYS: dict[str, list[Way]] = {
    "careless": [stopped_by_validation, lucky_seed, blended_by_validation],
    "leaking": [means_of_all_targets, copied_before_the_split],
}


class Replicates:
    """Scores with bootstrap replicates, which are paired for all predictions of the same rows. Units are drawn whole."""

    def __init__(self, metric: str, truth: Numbers, units: NDArray[np.int64], replicates: int, seed: int) -> None:
        random = np.random.default_rng(seed)
        rows = [np.flatnonzero(units == unit) for unit in np.unique(units)]
        drawn = [random.integers(0, len(rows), len(rows)) for _ in range(replicates)]
        self.score, self.truth = SCORES[metric], truth
        self.draws = [np.concatenate([rows[unit] for unit in draw]) for draw in drawn]

    def of(self, predicted: Numbers) -> dict[str, object]:
        replicates = [self.score(self.truth[draw], predicted[draw]) for draw in self.draws]
        return {"score": self.score(self.truth, predicted), "replicates": replicates}


@dataclass
class Scored:
    """What a candidate scores; on held-out rows, if there are any, it learnt without them."""

    number: int
    hidden: float
    validation: dict
    held_out: dict | None = None
    choosing: dict | None = None
    reporting: dict | None = None


def scored(folder: Path, name: str, task: dict, search: str) -> tuple[list[Scored], list[Scored]]:
    """All candidates in their order, and those that learnt without held-out rows, the best by validation first."""
    data, metric, seed = folder / "tasks" / name, task["metric"], int(name.rpartition("-")[2])
    names = sorted(path.name for path in data.glob("*.csv"))
    others = [
        pd.read_csv(data / file) for file in names if file not in ("train.csv", "test.csv", "sample_submission.csv")
    ]
    train, test = pd.read_csv(data / "train.csv"), pd.read_csv(data / "test.csv")
    answers = test[["id"]].merge(pd.read_csv(folder / "answers" / f"{name}.csv"), on="id")["target"]
    # Both tables together, so that categories have the same codes.
    every = features(pd.concat([train.drop(columns="target"), test], ignore_index=True), others)
    every = every.drop(columns=["id", *LEFT_OUT.get(name.rpartition("-")[0], [])])
    known, test = every.iloc[: len(train)], every.iloc[len(train) :]
    labels = sorted(train["target"].unique()) if metric in FOR_CLASSES else None
    code = {label: number for number, label in enumerate(labels)} if labels is not None else None
    target, hidden = [
        (column.map(code) if code else column).to_numpy(dtype=np.float64) for column in (train["target"], answers)
    ]
    # What rows share: a group or a time.
    units = pd.factorize(known[task["column"]])[0] if task["column"] else np.arange(len(known))

    def part(table: pd.DataFrame, share: float, seed: int) -> NDArray[np.bool_]:
        return rows_like_test(table, share, task["split"], task["column"], seed)

    def tried(rows: NDArray[np.bool_], table: pd.DataFrame) -> tuple[list[list[Numbers]], Replicates]:
        """The candidates that learn from these rows, and their validation."""
        held = part(known[rows], VALIDATION_SHARE, seed)
        inputs = [known[rows][~held], known[rows][held], table]
        if task["split"] == "groups":
            inputs = [one.drop(columns=task["column"]) for one in inputs]
        fit, validation, table = inputs
        world = World(metric, fit, target[rows][~held], validation, target[rows][held], [table])
        for number in range(CANDIDATES):
            world.earlier.append(world.candidate(search, number, seed))
        return world.earlier, Replicates(metric, world.truth, units[rows][held], REPLICATES, seed)

    candidates, validation = tried(np.ones(len(known), dtype=bool), test)
    all_rows = [
        Scored(number, SCORES[metric](hidden, predicted), validation.of(validated))
        for number, (validated, predicted) in enumerate(candidates)
    ]
    if len(known) < FEWEST_ROWS:
        return all_rows, []
    held_out = part(known, HOLDOUT_SHARE, seed + 1_000)
    truth, unit = target[held_out], units[held_out]
    drawn = np.random.default_rng(seed).permutation(np.unique(unit))
    chooses = np.isin(unit, drawn[: len(drawn) // 2])
    parts = [np.ones(len(truth), dtype=bool), chooses, ~chooses]
    halves = [(rows, Replicates(metric, truth[rows], unit[rows], REPLICATES, seed)) for rows in parts]
    candidates, validation = tried(~held_out, known[held_out])
    finalists = [
        Scored(
            number,
            all_rows[number].hidden,
            validation.of(validated),
            *(one.of(predicted[rows]) for rows, one in halves),
        )
        for number, (validated, predicted) in enumerate(candidates)
    ]
    sign = -1 if metric in LOSSES else 1
    # Of equal candidates, the later one is better.
    return all_rows, sorted(finalists, key=lambda one: (-sign * one.validation["score"], -one.number))


def error(one: dict, other: dict | None = None) -> float:
    """The standard error of a score, or of its difference to another one on the same rows."""
    replicates = np.array(one["replicates"]) - (0 if other is None else np.array(other["replicates"]))
    return float(np.std(replicates, ddof=1))


def choose(rule: str, all_rows: list[Scored], finalists: list[Scored], sign: int) -> tuple[Scored, dict]:
    """The candidate that the rule ends with, and the score that it reports. Without held-out rows, validation decides."""

    def is_beyond_chance(one: dict, other: dict) -> bool:
        return sign * (one["score"] - other["score"]) > error(one, other)

    if rule == "one standard error" or not finalists:
        best = all_rows[0]
        for one in all_rows[1:]:
            gain = sign * (one.validation["score"] - best.validation["score"])
            if gain > error(one.validation, best.validation) if rule == "one standard error" else gain >= 0:
                best = one
        return best, best.validation
    first = finalists[0]
    if rule == "holdout chooses":
        best = max(finalists[:FINALISTS], key=lambda one: sign * one.choosing["score"])
        close = (one for one in finalists[:FINALISTS] if not is_beyond_chance(best.choosing, one.choosing))
        chosen = next(close)
        return chosen, chosen.reporting
    worse = sign * (first.validation["score"] - first.choosing["score"])
    if rule == "holdout checks" and worse > CONTRADICTED * np.hypot(error(first.validation), error(first.choosing)):
        chosen = max(finalists, key=lambda one: sign * one.choosing["score"])
        return chosen, chosen.reporting
    return first, first.held_out


RULES = ("paper", "one standard error", "holdout reports", "holdout checks", "holdout chooses")


def replay(folder: Path, search: str) -> None:
    tasks = json.loads((folder / "tasks.json").read_text())
    gains: dict[str, Values] = {rule: {} for rule in RULES}
    optimism: dict[str, Values] = {rule: {} for rule in RULES}
    covered = dict.fromkeys(RULES, 0)
    for name, task in tasks.items():
        case, sign = (name.rpartition("-")[0], int(name.rpartition("-")[2])), -1 if task["metric"] in LOSSES else 1
        possible = task["best"] - task["constant"]
        all_rows, finalists = scored(folder, name, task, search)
        for rule in RULES:
            chosen, report = choose(rule, all_rows, [] if rule == "paper" else finalists, sign)
            hidden = all_rows[chosen.number].hidden
            gains[rule][case] = (hidden - all_rows[0].hidden) / possible
            optimism[rule][case] = (report["score"] - hidden) / possible
            covered[rule] += abs(report["score"] - hidden) <= 1.96 * error(report)
    print(f"## {search}: {len(tasks)} cases\n")
    print("| rule | gain, hidden | minus paper | optimism | size of optimism | interval covers the hidden score |")
    print("|---|---:|---:|---:|---:|---:|")
    for rule in RULES:
        by = {case: value - gains["paper"][case] for case, value in gains[rule].items()}
        size = {case: abs(value) for case, value in optimism[rule].items()}
        cells = " | ".join(map(percent, (gains[rule], by, optimism[rule], size)))
        print(f"| {rule} | {cells} | {covered[rule]} of {len(tasks)} |")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    warnings.simplefilter("ignore")
    for search in sys.argv[2:] or ("seeds", "careful", "careless", "leaking"):
        replay(Path(sys.argv[1]), search)
