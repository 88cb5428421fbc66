"""Scores of many variants of a model, on validation rows, on held-out rows and on hidden rows.

Reads a JSON object from standard input: data (a folder with train.csv and test.csv), answers (a CSV file), metric,
split (rows, stratified, groups or time), column (of the groups or of the time, or null), left_out (columns that are no
features), search (seeds, careful, careless or leaking), candidates (their number), replicates (the number of bootstrap
replicates), holds_out (whether rows are held out), split_seed.

Prints a JSON line: hidden has the hidden score of each candidate, validation its validation score and a list of
replicates. Replicates are paired: the same rows are drawn for all candidates. If rows are held out, finalists has the same
candidates without these rows, the best by validation first: with scores and replicates on validation rows, on all held-out
rows and on two halves of them.

Candidates of the search "seeds" are one model with other random seeds. Those of "careful" have other settings and
columns. In "careless", half of them also use validation rows to choose trees, seeds or weights; in "leaking", half of
them have seen targets of validation rows.
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

Numbers = NDArray[np.float64]
VALIDATION_SHARE = 0.2
HOLDOUT_SHARE = 0.15
CARELESS_SHARE = 0.5
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


def main() -> None:
    task = json.load(sys.stdin)
    data, metric, seed = Path(task["data"]), str(task["metric"]), int(task["split_seed"])
    names = sorted(path.name for path in data.glob("*.csv"))
    others = [pd.read_csv(data / name) for name in names if name not in ("train.csv", "test.csv", "sample_submission.csv")]
    train, test = pd.read_csv(data / "train.csv"), pd.read_csv(data / "test.csv")
    answers = test[["id"]].merge(pd.read_csv(task["answers"]), on="id")["target"]
    # Both tables together, so that categories have the same codes.
    every = features(pd.concat([train.drop(columns="target"), test], ignore_index=True), others)
    every = every.drop(columns=["id", *set(task["left_out"]) & set(every.columns) - {"id", task["column"]}])
    known, test = every.iloc[: len(train)], every.iloc[len(train) :]
    labels = sorted(train["target"].unique()) if metric in FOR_CLASSES else None
    code = {label: number for number, label in enumerate(labels)} if labels is not None else None
    target, hidden = [
        (column.map(code) if code else column).to_numpy(dtype=np.float64) for column in (train["target"], answers)
    ]
    is_by_groups = task["split"] == "groups"
    # What rows share: a group or a time.
    units = pd.factorize(known[task["column"]])[0] if task["column"] else np.arange(len(known))

    def part(table: pd.DataFrame, share: float, seed: int) -> NDArray[np.bool_]:
        return rows_like_test(table, share, task["split"], task["column"], seed)

    def world(rows: NDArray[np.bool_], tables: list[pd.DataFrame]) -> World:
        """The candidates learn from these rows."""
        held = part(known[rows], VALIDATION_SHARE, seed)
        inputs = [known[rows][~held], known[rows][held], *tables]
        fit, validation, *tables = [table.drop(columns=task["column"]) if is_by_groups else table for table in inputs]
        return World(metric, fit, target[rows][~held], validation, target[rows][held], tables)

    def tried(world: World) -> list[list[Numbers]]:
        for number in range(task["candidates"]):
            world.earlier.append(world.candidate(task["search"], number, seed))
        return world.earlier

    whole = world(np.ones(len(known), dtype=bool), [test])
    validated = part(known, VALIDATION_SHARE, seed)
    validation = Replicates(metric, whole.truth, units[validated], task["replicates"], seed)
    candidates = tried(whole)
    result: dict[str, object] = {
        "validation": [validation.of(predicted) for predicted, _ in candidates],
        "hidden": [SCORES[metric](hidden, predicted) for _, predicted in candidates],
    }
    if task["holds_out"]:
        held_out = part(known, HOLDOUT_SHARE, seed + 1_000)
        table, truth, unit = known[held_out], target[held_out], units[held_out]
        chosen = np.random.default_rng(seed).permutation(np.unique(unit))
        chooses = np.isin(unit, chosen[: len(chosen) // 2])
        halves = {"held_out": np.ones(len(table), dtype=bool), "choosing": chooses, "reporting": ~chooses}
        scores = {
            name: Replicates(metric, truth[rows], unit[rows], task["replicates"], seed) for name, rows in halves.items()
        }
        reduced = world(~held_out, [table])
        candidates = tried(reduced)
        good = [reduced.good(predicted) for predicted, _ in candidates]
        # Of equal candidates, the later one is better.
        best = sorted(range(len(good)), key=lambda number: (-good[number], -number))
        learnt = known[~held_out]
        validated = units[~held_out][part(learnt, VALIDATION_SHARE, seed)]
        validation = Replicates(metric, reduced.truth, validated, task["replicates"], seed)
        result["finalists"] = [
            {name: scores[name].of(candidates[number][1][rows]) for name, rows in halves.items()}
            | {"candidate": number, "validation": validation.of(candidates[number][0])}
            for number in best
        ]
    print(json.dumps(result))


warnings.simplefilter("ignore")
main()
