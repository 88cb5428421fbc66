"""Compares the training with the test table: which columns tell their rows apart, and which columns know the target in
the training table only?

The program writes the constant FACTS above this text and runs both beside the folder `input`. The last line printed is
the answer, one JSON object. A random sample of its rows stands for each table. The values of a column are divided into
bins; "alone" means that the share of a label in each bin, learnt on some rows, ranks other rows.
"""

import json
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

Numbers = NDArray[Any]
FOLDS, SEED, SECONDS = 4, 0, 60.0
MOST_ROWS, MOST_CELLS, MOST_COLUMNS, MOST_BINS = 20_000, 6_000_000, 200, 64
MOST_CLASSES, MOST_PREDICTED = 10, 3
TELLING, STEADY, UNLIKE = 0.6, 0.7, 0.98
"""ROC-AUC of a column that tells the tables apart a little; not much; almost always."""
RELATED, STRONG, SORTED, DETERMINED = 0.75, 0.8, 0.9, 0.95
"""ROC-AUC of a column that is related to the target."""
BEYOND_CHANCE, LOST = 5.0, 4.0
"""Standard errors: of a ROC-AUC; of a difference of correlations."""
rng = np.random.default_rng(SEED)
start = time.monotonic()


class Column(NamedTuple):
    """A column in bins; bin 0 is for missing values. Without rows in `test`, the test table does not have it."""

    name: str
    kind: str
    train: Numbers
    test: Numbers

    def both(self) -> Numbers:
        return np.concatenate([self.train, self.test])


def in_time() -> bool:
    return time.monotonic() - start < SECONDS


def sample(table: dict[str, Any], columns: list[dict[str, Any]], side: str) -> tuple[pd.DataFrame, Numbers]:
    """Some rows of a table, in order, and their positions from 0 to 1."""
    rows, most = table["rows"], max(1000, min(MOST_ROWS, MOST_CELLS // len(columns)))
    kept = np.sort(rng.choice(rows, min(rows, most), replace=False))
    wanted = np.zeros(rows + 1, dtype=bool)
    wanted[0], wanted[kept + 1] = True, True
    here = sorted((column for column in columns if column[side] is not None), key=lambda column: column[side])
    frame = pd.read_csv(
        Path("input") / table["file"],
        header=0,
        index_col=False,
        names=[column["name"] for column in here],
        usecols=[column[side] for column in here],
        dtype={column["name"]: str for column in here if column["kind"] not in ("Integer", "Float")},
        skiprows=None if rows <= most else lambda line: line > rows or not wanted[line],
        low_memory=False,
    )
    return frame, kept[: len(frame)] / rows


def numbers(cells: pd.Series, kind: str) -> tuple[Numbers, str]:
    """The cells as numbers, in their order, and the kind: values are "Levels" if they have no order but repeat."""
    if kind in ("Integer", "Float"):
        return pd.to_numeric(cells, errors="coerce").to_numpy(float, na_value=np.nan), kind
    if kind == "Text":
        return cells.str.len().to_numpy(float, na_value=np.nan), kind
    if kind == "Date":
        dates = pd.to_datetime(cells, errors="coerce", utc=True)
        if dates.notna().sum() * 2 > cells.notna().sum():
            return (dates - pd.Timestamp(0, unit="s", tz="UTC")).dt.total_seconds().to_numpy(float), kind
    codes, names = pd.factorize(cells, sort=True)
    if len(names) * 10 <= len(cells):
        return np.where(codes < 0, np.nan, codes), "Levels"
    counters = pd.to_numeric(cells.str.extract(r"(\d{1,15})\D*$")[0]).to_numpy(float, na_value=np.nan)
    return (np.where(codes < 0, np.nan, codes) if np.isnan(counters[codes >= 0]).any() else counters), kind


def binned(name: str, kind: str, values: Numbers, rows: int) -> Column:
    """Bins are the values if they are few, levels by frequency, otherwise quantiles of both tables."""
    known = np.isfinite(values)
    edges, codes, counts = np.unique(values[known], return_inverse=True, return_counts=True)
    bins = np.zeros(len(values), dtype=int)
    if kind == "Levels":
        bins[known] = np.lexsort((rng.random(len(edges)), -counts)).argsort()[codes] + 1
    elif len(edges) <= MOST_BINS:
        bins[known] = codes + 1
    else:
        ranks = np.linspace(0.0, 1.0, MOST_BINS + 1)
        parts = [part[np.isfinite(part)] for part in (values[:rows], values[rows:])]
        edges = np.unique(np.concatenate([np.quantile(part, ranks, method="lower") for part in parts if len(part)]))
        bins[known] = np.searchsorted(edges, values[known]) + 1
    return Column(name, kind, bins[:rows], bins[rows:])


def folds(keys: Numbers) -> Numbers:
    """The fold of each row, at random; rows with the same key are in the same fold."""
    return (rng.permutation(keys.max() + 1) % FOLDS)[keys]


def roc_auc(label: Numbers, scores: Numbers) -> float:
    _, ranks = np.unique(scores, return_inverse=True)
    above, below = np.bincount(ranks, label), np.bincount(ranks, 1 - label)
    pairs = above.sum() * below.sum()
    return float((above * (below.cumsum() - below / 2)).sum() / pairs) if pairs else 0.5


def noise(label: Numbers) -> float:
    """The standard error of a ROC-AUC without any relation."""
    pairs = label.sum() * (len(label) - label.sum())
    return float(np.sqrt((len(label) + 1) / (12 * pairs))) if pairs else 1.0


def alone(bins: Numbers, label: Numbers, fold: Numbers) -> tuple[Numbers, Numbers]:
    """The scores of a column: for these rows, learnt on other folds; for each bin, learnt on all rows."""
    width = bins.max() + 1
    counts = np.bincount((fold * width + bins) * 2 + label, minlength=FOLDS * width * 2).reshape(FOLDS, width, 2)
    learnt = np.concatenate([counts.sum(0) - counts, counts.sum(0)[np.newaxis]])
    scores = (learnt[..., 1] + 10 * label.mean()) / (learnt.sum(-1) + 10)
    return scores[fold, bins], scores[-1]


def together(
    columns: list[Column], rows: Numbers, label: Numbers, fold: Numbers, others: Numbers
) -> tuple[Numbers, Numbers]:
    """Predictions of small models for these rows (NaN: there was no time), learnt on other folds, and for others."""
    levels = [column.kind == "Levels" and max(column.both()) < 255 for column in columns]
    on_rows, on_others = np.full(len(rows), np.nan), np.zeros(len(others))
    for held in range(FOLDS):
        fit, valid = fold != held, fold == held
        if not valid.any() or len(np.unique(label[fit])) < 2 or (held and not in_time()):
            continue
        model = HistGradientBoostingClassifier(
            learning_rate=0.1, max_iter=50, max_leaf_nodes=8, min_samples_leaf=20, early_stopping=False,
            categorical_features=levels, random_state=SEED,
        ).fit(rows[fit], label[fit])  # fmt: skip
        on_rows[valid] = model.predict_proba(rows[valid])[:, 1]
        on_others += model.predict_proba(others)[:, 1] if len(others) else 0.0
    return on_rows, on_others


def correlation(first: Numbers, second: Numbers) -> float:
    """Spearman's, without its sign; 0 if it is not defined."""
    pair = pd.DataFrame({"first": first, "second": second}).dropna().rank()
    return abs(float(pair["first"].corr(pair["second"]))) if len(pair) and (pair.nunique() > 1).all() else 0.0


def labels_of(target: pd.Series, classification: bool) -> Numbers:
    """One row for each of the most frequent classes; for numbers: are they above the median?"""
    if classification:
        names = target.astype(str)
        classes = names.value_counts().index[:MOST_CLASSES]
        return np.array([names == name for name in (classes[:1] if len(classes) == 2 else classes)]).astype(int)
    values = pd.to_numeric(target, errors="coerce").to_numpy(float)
    middle = np.nanmedian(values)
    return np.array([values > middle if (values > middle).any() else values >= middle]).astype(int)


class Relations:
    """What the columns of the training table say about the target, and whether it can hold in the test table."""

    def __init__(self, labels: Numbers, fold: Numbers, file: str) -> None:
        self.labels, self.fold, self.file = labels, fold, file
        self.weights = labels.sum(axis=1) / labels.sum()
        self.predicted: list[tuple[Numbers, Numbers, Numbers]] = []

    def strength(self, column: Column) -> float:
        """ROC-AUC of a column, the weighted mean over the labels; 0.5 if it may be chance."""
        if not in_time():
            return 0.5
        found = [roc_auc(label, alone(column.train, label, self.fold)[0]) for label in self.labels]
        auc = float(self.weights @ found)
        return auc if auc - 0.5 > BEYOND_CHANCE * (self.weights @ [noise(label) for label in self.labels]) else 0.5

    def learn(self, steady: list[Column]) -> None:
        """Predicts the most frequent labels with columns that are alike in both tables."""
        if not steady:
            return
        train, test = (np.stack(side, axis=1) for side in zip(*((c.train, c.test) for c in steady), strict=True))
        for label in self.labels[:MOST_PREDICTED]:
            self.predicted.append((label, *together(steady, train, label, self.fold, test)))

    def agreement(self, column: Column) -> tuple[float, float]:
        """Rank correlation of a column's scores with the predictions that fit best, in training and test table."""
        found = [(0.0, 0.0)]
        for label, in_train, in_test in self.predicted:
            scores, of_bin = alone(column.train, label, self.fold)
            by_score = correlation(np.take(of_bin, column.test, mode="clip"), in_test)
            found.append((correlation(scores, in_train), max(by_score, correlation(column.test, in_test))))
        return max(found)

    def why(self, column: Column, strength: float, telling: float) -> str:
        """The reason why the relation cannot hold in the test table; empty if there is none."""
        if not len(column.test):
            return f"{self.file} does not have it" if strength >= DETERMINED else ""
        if strength < RELATED:
            return ""
        if len(np.unique(column.test)) == 1:
            by_chance = (column.train == column.test[0]).mean() ** len(column.test) > 1e-6
            return "" if by_chance else f"its values in {self.file} are {'constant' if column.test[0] else 'missing'}"
        if strength < STRONG or column.kind == "Date":
            return ""
        if telling >= UNLIKE:
            return f"its values in {self.file} do not overlap with those"
        there, here = self.agreement(column)
        lost = (there - here) / np.sqrt(1 / len(column.train) + 1 / len(column.test)) > LOST
        if lost and there >= 0.1 and here <= there / 4:
            return (
                f"in {self.file} it is not related to the other columns as it is there: its rank correlation "
                f"with what they predict is {here:.2f} instead of {there:.2f}"
            )
        return ""

    def misleads(self, rows: Column) -> bool:
        """Are the training rows sorted by the target, but not the test rows?"""
        there, here = self.agreement(rows)
        holds = here >= there / 2 and here * np.sqrt(len(rows.test)) > BEYOND_CHANCE
        return self.strength(rows) >= SORTED and not holds


def main(facts: dict[str, Any]) -> None:
    columns, target, split, is_class = (facts[name] for name in ("columns", "target", "split", "classification"))
    train, train_at = sample(facts["train"], columns, "train")
    test, test_at = sample(facts["test"], columns, "test")
    labelled = train[target].notna().to_numpy()
    train, train_at = train[labelled], train_at[labelled]
    found = []
    for name, kind in ((column["name"], column["kind"]) for column in columns if column["name"] != target):
        cells = pd.concat([train[name], test[name]], ignore_index=True) if name in test else train[name]
        values, kind = numbers(cells, kind) if in_time() else (np.zeros(len(cells)), kind)
        found.append(binned(name, "Key" if name == split["column"] else kind, values, len(train)))
    key = next((column for column in found if column.kind == "Key"), None)
    found = [column for column in found if column is not key]
    groups, times = (key if key and len(key.test) and split["kind"] == kind else None for kind in ("groups", "time"))

    side = np.repeat([0, 1], [len(train), len(test)])
    side_fold = folds(groups.both() if groups else np.arange(len(side)))
    features = [column for column in found if len(column.test) and column.name != facts["id"]]
    telling = {c.name: roc_auc(side, alone(c.both(), side, side_fold)[0]) for c in found if len(c.test)}
    told = [c for c in features if telling[c.name] > max(TELLING, 0.5 + BEYOND_CHANCE * noise(side))]
    told.sort(key=lambda column: -telling[column.name])
    auc = max([0.5, *(telling[column.name] for column in told)])
    if chosen := [*told, *(column for column in features if column not in told)][:MOST_COLUMNS]:
        scores, _ = together(chosen, np.stack([c.both() for c in chosen], axis=1), side, side_fold, np.zeros(0))
        auc = max(auc, roc_auc(side[~np.isnan(scores)], scores[~np.isnan(scores)]))

    fold = folds(groups.train if groups else np.arange(len(train)))
    if times:
        fold = np.minimum(pd.Series(times.train).rank(pct=True) * FOLDS, FOLDS - 1).to_numpy(int)
    relations = Relations(labels_of(train[target], is_class), fold, facts["test"]["file"])
    strengths = {column.name: relations.strength(column) for column in found}
    relations.learn([c for c in features if strengths[c.name] < RELATED and telling[c.name] < STEADY])
    says = "gives" if is_class else f"tells high from low `{target}` with"
    suspicious = []
    for column in found:
        if why := relations.why(column, strengths[column.name], telling.get(column.name, 0.5)):
            why = f"`{column.name}` alone {says} ROC-AUC {strengths[column.name]:.2f} on the training rows, but {why}."
            suspicious.append({"column": column.name, "why": why})
    rows = binned("row number", "Float", np.concatenate([train_at, test_at]), len(train))
    if not times and facts["id"] not in [known["column"] for known in suspicious] and relations.misleads(rows):
        why = f"The position in {facts['train']['file']} alone {says} ROC-AUC {relations.strength(rows):.2f}, "
        why += f"but the rows of {facts['test']['file']} are not in such an order."
        suspicious.append({"column": rows.name, "why": why})
    answer = {
        "auc": round(auc, 4) if auc > 0.5 + BEYOND_CHANCE * noise(side) else 0.5,
        "columns": [{"column": column.name, "auc": round(telling[column.name], 4)} for column in told[:10]],
        "suspicious": suspicious,
        "rows": len(side),
    }
    print(json.dumps(answer))


with threadpool_limits(1):
    main(json.loads(FACTS))  # noqa: F821
