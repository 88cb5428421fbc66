"""Rules for the one expected score: error, coverage and width.

`python lab/python/expected.py SECONDS` (one core; LightGBM, numpy, scikit-learn) makes worlds of 500 to 20,000 rows. A
search validates up to 16 models in five folds and keeps the best; held-out rows are 15 %. Intervals are those of
bootstrapped rows, for a test table with half as many rows. Without SECONDS, the runs of `lab/measured/trust.jsonl` are
read. Errors and widths are shares of the way from a constant to the hidden score.
"""

import json
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from lightgbm import LGBMClassifier, LGBMRegressor
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score, root_mean_squared_error
from sklearn.model_selection import KFold, StratifiedKFold

Numbers = NDArray[Any]
Model = tuple[Any, Numbers]
ROWS = [500, 1000, 2000, 5000, 500, 1000, 2000, 20000]
COLUMNS, CONTRADICTED = 15, 2.0


class Search(NamedTuple):
    """What a search reports, with standard errors, and what is true."""

    rows: int
    validated: float
    error_validated: float
    held_out: float
    error_held_out: float
    hidden: float
    constant: float
    sign: int


class World:
    """A population that rows are drawn from."""

    def __init__(self, g: np.random.Generator, is_class: bool) -> None:
        self.g, self.is_class = g, is_class
        self.weights = g.normal(size=COLUMNS) * (g.random(COLUMNS) < 0.5)
        self.at, self.cut, self.noise = g.choice(COLUMNS, 4, replace=False), g.uniform(0, 2), g.uniform(0.3, 1.2)

    def rows(self, count: int) -> tuple[Numbers, Numbers]:
        x = self.g.normal(size=(count, COLUMNS))
        one, two, three, four = (x[:, at] for at in self.at)
        z = x @ self.weights + np.sin(2 * one) * two + np.maximum(three, 0) * four
        z /= z.std()
        if self.is_class:
            return x, (self.g.random(count) < 1 / (1 + np.exp(-(z / self.noise - self.cut)))).astype(int)
        return x, z + self.noise * self.g.standard_t(4, size=count)

    def model(self) -> Model:
        g, seed = self.g, int(self.g.integers(1_000_000))
        columns = np.sort(g.choice(COLUMNS, g.integers(8, COLUMNS + 1), replace=False))
        match g.integers(3):
            case 0:
                penalty = float(10 ** g.uniform(-3, 2))
                model = LogisticRegression(C=penalty) if self.is_class else Ridge(alpha=1 / penalty)
            case 1:
                kind = LGBMClassifier if self.is_class else LGBMRegressor
                sizes = {"n_estimators": int(g.integers(20, 120)), "num_leaves": int(g.integers(4, 24))}
                model = kind(
                    **sizes, learning_rate=g.uniform(0.03, 0.2), verbose=-1, n_jobs=1, random_state=seed
                )  # fmt: skip
            case _:
                kind = ExtraTreesClassifier if self.is_class else ExtraTreesRegressor
                model = kind(n_estimators=40, min_samples_leaf=int(g.integers(1, 12)), random_state=seed)
        return model, columns

    def predicted(self, model: Model, x: Numbers, y: Numbers, new: Numbers) -> Numbers:
        estimator, columns = model
        fitted, new = estimator.fit(x[:, columns], y), new[:, columns]
        return np.asarray(fitted.predict_proba(new)[:, 1] if self.is_class else fitted.predict(new))

    def metric(self) -> Callable[[Numbers, Numbers], float]:
        return roc_auc_score if self.is_class else root_mean_squared_error

    def error(self, y: Numbers, predicted: Numbers, test_rows: int) -> float:
        drawn = (self.g.integers(len(y), size=len(y)) for _ in range(120))
        scores = [self.metric()(y[rows], predicted[rows]) for rows in drawn if len(set(y[rows])) > 1]
        return float(np.std(scores) * np.sqrt(1 + len(y) / test_rows))


def search(seed: int) -> Search | None:
    count, is_class = ROWS[seed % len(ROWS)], (seed // len(ROWS)) % 2 == 0
    world = World(np.random.default_rng(seed), is_class)
    metric, sign = world.metric(), 1 if is_class else -1
    (x, y), (x_test, y_test) = world.rows(count), world.rows(count // 2)
    if is_class and (y.mean() < 0.05 or y_test.sum() < 10):
        return None
    order = world.g.permutation(count)
    held, kept = np.split(order, [int(0.15 * count)])
    xs, ys = x[kept], y[kept]
    split = (StratifiedKFold if is_class else KFold)(5, shuffle=True, random_state=1)
    best: tuple[float, Model, Numbers] | None = None
    for _ in range(16 if count < 20_000 else 8):
        model, oof = world.model(), np.zeros(len(ys))
        for fit, valid in split.split(xs, ys):
            oof[valid] = world.predicted(model, xs[fit], ys[fit], xs[valid])
        score = metric(ys, oof)
        if best is None or sign * score > sign * best[0]:
            best = score, model, oof
    assert best is not None
    validated, model, oof = best
    on_held = world.predicted(model, xs, ys, x[held])
    return Search(
        count, validated, world.error(ys, oof, count // 2),
        metric(y[held], on_held), world.error(y[held], on_held, count // 2),
        metric(y_test, world.predicted(model, x, y, x_test)), metric(y_test, np.full(len(y_test), y.mean())), sign,
    )  # fmt: skip


def both(one: Search) -> tuple[float, float]:
    """The rule of the program."""
    if one.sign * (one.validated - one.held_out) > CONTRADICTED * np.hypot(one.error_validated, one.error_held_out):
        return one.held_out, one.error_held_out
    weights = one.error_validated**-2, one.error_held_out**-2
    score = np.average([one.validated, one.held_out], weights=weights)
    return float(score), float(np.sqrt(one.error_validated * one.error_held_out))


def measured() -> list[Search]:
    """The runs of the laboratory that held rows out."""
    lines = Path(__file__).parents[1].joinpath("measured/trust.jsonl").read_text().splitlines()
    runs = [run for run in map(json.loads, lines) if run["program"] == "holdout reports"]
    runs = [run for run in runs if all((run.get(kind) or {}).get("interval") for kind in ("validation", "holdout"))]

    def error(of: dict[str, Any]) -> float:
        return (of["interval"][1] - of["interval"][0]) / 3.92

    return [
        Search(
            0, run["validation"]["score"], error(run["validation"]), run["holdout"]["score"], error(run["holdout"]),
            run["hidden"], run["hidden"] - (run["best"] - run["constant"]),
            1 if run["best"] > run["constant"] else -1,
        )
        for run in runs
    ]


def simulated(seconds: float) -> list[Search]:
    warnings.filterwarnings("ignore")
    start, seed, found = time.monotonic(), 0, list[Search]()
    while time.monotonic() - start < seconds:
        if (one := search(seed)) is not None:
            found.append(one)
        seed += 1
    return found


def main(found: list[Search]) -> None:
    rules: dict[str, Callable[[Search], tuple[float, float]]] = {
        "validation": lambda one: (one.validated, one.error_validated),
        "holdout": lambda one: (one.held_out, one.error_held_out),
        "both": both,
    }
    print("| rows | searches | rule | median error | covered | median width |\n|---:|---:|---|---:|---:|---:|")
    for rows in [*sorted(set(ROWS)), None]:
        of = [one for one in found if rows in (None, one.rows)]
        for name, rule in rules.items() if of else ():
            span = np.asarray([abs(one.constant - one.hidden) + 1e-9 for one in of])
            error = np.asarray([abs(rule(one)[0] - one.hidden) for one in of])
            half = np.asarray([1.96 * rule(one)[1] for one in of])
            told = f"{np.median(error / span):.1%} | {np.mean(error <= half):.1%} | {np.median(2 * half / span):.1%}"
            print(f"| {rows or 'all'} | {len(of)} | {name} | {told} |")


if __name__ == "__main__":
    main(simulated(float(sys.argv[1])) if sys.argv[1:] else measured())
