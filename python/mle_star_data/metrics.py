"""The metrics that the program knows: one table.

A function takes the truth, the predictions and, if rows have some, their weights. What it takes is its kind:

- `numbers`: numbers and numbers
- `labels`: places of classes and places of classes
- `probabilities`: places of classes, and a column of probabilities for each class; of two classes, the second is the
  positive one
- `guesses`: places of classes, and columns of places, the best guess first, -1 for none
- `sets`: two matrices that are 1 where a row has a label
- `intervals`: numbers, and two columns with the lower and the upper bound

`order` is a metric of numbers or of two classes with scores that put rows in order. Scripts compute with the source of
the same functions (`Metric.source`), so each of them uses `np`, `metrics` and other functions of this file alone.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from .aliases import Array

if TYPE_CHECKING:
    from sklearn import metrics
else:

    class _LazyModule:
        """`sklearn.metrics`, imported when a score needs it."""

        def __getattr__(self, name: str) -> Any:
            from sklearn import metrics

            return getattr(metrics, name)

    metrics = _LazyModule()

Weight = NDArray[np.float64] | None
Kind = Literal["numbers", "labels", "probabilities", "order", "guesses", "sets", "intervals"]


EPSILON = float(np.finfo(np.float64).eps)


Function = Callable[..., float]
"""A score: it takes the truth, the predictions, and weights or None."""


def rmse(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The root of the mean squared error."""
    return float(metrics.root_mean_squared_error(truth, predicted, sample_weight=weight))


def mse(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The mean squared error."""
    return float(metrics.mean_squared_error(truth, predicted, sample_weight=weight))


def mae(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The mean absolute error."""
    return float(metrics.mean_absolute_error(truth, predicted, sample_weight=weight))


def median_absolute_error(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The median of the absolute errors; with weights, the middle of two where they divide the rows equally."""
    errors = np.abs(np.asarray(predicted) - truth)
    if weight is None:
        return float(np.median(errors))
    order = np.argsort(errors, kind="stable")
    above = np.cumsum(np.asarray(weight)[order]) / np.sum(weight)
    low, high = (np.searchsorted(above, 0.5 + side) for side in (-1e-12, 1e-12))
    return float((errors[order[low]] + errors[order[high]]) / 2)


def rmsle(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The root of the mean squared error of the logarithms of one plus the value."""
    return float(metrics.root_mean_squared_log_error(truth, predicted, sample_weight=weight))


def r2(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The share of the variance that is explained."""
    return float(metrics.r2_score(truth, predicted, sample_weight=weight))


def mape(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The mean absolute error as a share of the truth, not in percent."""
    return float(metrics.mean_absolute_percentage_error(truth, predicted, sample_weight=weight))


def smape(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The mean of 200 * |error| / (|truth| + |prediction|), in percent, where 0/0 counts as 0."""
    return float(np.average(symmetric_shares(truth, predicted), weights=weight))


def symmetric_shares(truth: Array, predicted: Array) -> Array:
    """200 * |error| / (|truth| + |prediction|) of each row."""
    sizes = np.abs(truth) + np.abs(predicted)
    return np.asarray(200.0 * np.abs(np.asarray(predicted) - truth) / np.where(sizes > 0, sizes, 1.0))


def pearson(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The linear correlation of truth and prediction; not a number where a side is constant."""
    variances = [covariance(side, side, weight) for side in (truth, predicted)]
    sizes = [np.average(np.square(side), weights=weight) for side in (truth, predicted)]
    if min(variances[0] - 1e-28 * sizes[0], variances[1] - 1e-28 * sizes[1]) <= 0:
        return float("nan")
    found = covariance(truth, predicted, weight) / np.sqrt(variances[0] * variances[1])
    return float(np.clip(found, -1.0, 1.0))


def spearman(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The rank correlation of truth and prediction."""
    return spearman_of_ties(ties(truth), ties(predicted), weight)


def spearman_of_ties(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The rank correlation of two orders."""
    return pearson(ranks(truth, weight), ranks(predicted, weight), weight)


def gini(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The normalized Gini coefficient: how the truth goes with the rank of the prediction, compared with its own
    rank."""
    return gini_of_ties(truth, ties(truth), ties(predicted), weight)


def gini_of_ties(truth: Array, own: Array, other: Array, weight: Weight = None) -> float:
    """How the truth goes with another order, compared with its own; not a number where the truth is constant."""
    best = covariance(truth, ranks(own, weight), weight)
    least = 1e-12 * np.abs(truth).max() * (len(truth) if weight is None else np.sum(weight))
    return covariance(truth, ranks(other, weight), weight) / best if best > least else float("nan")


def ties(values: Array) -> Array:
    """The place of each value among the different ones."""
    return np.unique(values, return_inverse=True)[1]


def ranks(places: Array, weight: Weight = None) -> Array:
    """The rank of each value, if it were repeated as often as its weight says; equal values share the mean rank."""
    tied = np.bincount(places, weights=weight)
    return np.asarray((np.cumsum(tied) - tied / 2)[places])


def covariance(one: Array, other: Array, weight: Weight = None) -> float:
    """The weighted covariance."""
    one, other = one - np.average(one, weights=weight), other - np.average(other, weights=weight)
    return float(np.average(one * other, weights=weight))


def pinball(quantile: float, truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The pinball loss of a quantile."""
    return float(metrics.mean_pinball_loss(truth, predicted, alpha=quantile, sample_weight=weight))


def interval_score(covered: float, truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The width of intervals that should cover this share of the values, and what values outside cost."""
    return float(np.average(interval_costs(covered, truth, predicted), weights=weight))


def interval_costs(covered: float, truth: Array, predicted: Array) -> Array:
    """The width of each interval, and what a value outside costs."""
    lower, upper = predicted[:, 0], predicted[:, 1]
    outside = np.maximum(lower - truth, 0.0) + np.maximum(truth - upper, 0.0)
    return np.asarray(upper - lower + 2.0 / (1.0 - covered) * outside)


def accuracy(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The share of rows whose class is right."""
    return float(metrics.accuracy_score(truth, predicted, sample_weight=weight))


def balanced_accuracy(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The mean recall of the classes that have rows."""
    return float(metrics.balanced_accuracy_score(truth, predicted, sample_weight=weight))


def f1(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """F1 of the second of two classes."""
    hits = np.asarray(truth) == 1, np.asarray(predicted) == 1
    return float(metrics.f1_score(*hits, sample_weight=weight, zero_division=0.0))


def macro_f1(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The mean F1 of the classes."""
    return float(metrics.f1_score(truth, predicted, average="macro", sample_weight=weight, zero_division=0.0))


def micro_f1(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """F1 over all decisions."""
    return float(metrics.f1_score(truth, predicted, average="micro", sample_weight=weight, zero_division=0.0))


def weighted_f1(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The mean F1 of the classes, weighted by their rows."""
    return float(metrics.f1_score(truth, predicted, average="weighted", sample_weight=weight, zero_division=0.0))


def mcc(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The Matthews correlation coefficient."""
    return float(metrics.matthews_corrcoef(truth, predicted, sample_weight=weight))


def quadratic_kappa(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """Cohen's kappa with quadratic weights, over the positions of all classes."""
    classes = np.arange(max(np.max(truth), np.max(predicted)) + 1)
    return float(metrics.cohen_kappa_score(truth, predicted, labels=classes, weights="quadratic", sample_weight=weight))


def roc_auc(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The area under the ROC curve: of the second of two classes, else of each class against the rest, averaged."""
    columns = [1] if predicted.shape[1] == 2 else np.unique(truth)
    found = [metrics.roc_auc_score(truth == one, predicted[:, one], sample_weight=weight) for one in columns]
    return float(np.mean(found))


def average_precision(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The average precision: of the second of two classes, else of each class against the rest, averaged."""
    columns = [1] if predicted.shape[1] == 2 else np.unique(truth)
    found = [metrics.average_precision_score(truth == one, predicted[:, one], sample_weight=weight) for one in columns]
    return float(np.mean(found))


def gini_of_classes(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The normalized Gini coefficient: twice the area under the ROC curve of the second class, less one."""
    return float(2.0 * metrics.roc_auc_score(truth == 1, predicted[:, 1], sample_weight=weight) - 1.0)


def log_loss(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The logarithmic loss of the class probabilities."""
    classes = np.arange(predicted.shape[1])
    return float(metrics.log_loss(truth, predicted, labels=classes, sample_weight=weight))


def brier(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The squared error of the class probabilities; of two classes, that of the second."""
    return float(np.average(squares_of_classes(truth, predicted), weights=weight))


def squares_of_classes(truth: Array, predicted: Array) -> Array:
    """The squared error of each row's class probabilities; of two classes, that of the second."""
    squares = (predicted - np.eye(predicted.shape[1])[truth]) ** 2
    return np.asarray(squares[:, 1] if predicted.shape[1] == 2 else squares.sum(axis=1))


def column_roc_auc(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The area under the ROC curve of each class against the rest, averaged."""
    columns = np.unique(truth)
    found = [metrics.roc_auc_score(truth == one, predicted[:, one], sample_weight=weight) for one in columns]
    return float(np.mean(found))


def column_log_loss(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The logarithmic loss of each class against the rest, averaged."""
    both, options = range(predicted.shape[1]), {"labels": [False, True], "sample_weight": weight}
    return float(np.mean([metrics.log_loss(truth == one, predicted[:, one], **options) for one in both]))


def map_at(most: int, truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The mean of one divided by the place of the class among so many guesses."""
    return float(np.average(gains(most, truth, predicted), weights=weight))


def top_accuracy(most: int, truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The share of rows whose class is among so many guesses."""
    return float(np.average(gains(most, truth, predicted) > 0, weights=weight))


def gains(most: int, truth: Array, predicted: Array) -> Array:
    """One divided by the place of each row's class among so many guesses."""
    found = predicted[:, :most] == np.asarray(truth)[:, None]
    return np.asarray(found.any(axis=1) / (found.argmax(axis=1) + 1.0))


def sample_f1(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The mean over the rows of the F1 of two sets of labels; that of two empty sets is 1."""
    return float(metrics.f1_score(truth, predicted, average="samples", sample_weight=weight, zero_division=1.0))


def set_micro_f1(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """F1 over all decisions about the labels of all rows' sets."""
    return float(metrics.f1_score(truth, predicted, average="micro", sample_weight=weight, zero_division=0.0))


def set_macro_f1(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The mean F1 of the labels, each of which is in a row's set or not."""
    labels = np.flatnonzero((np.asarray(truth) + np.asarray(predicted)).any(axis=0))
    options = {"labels": labels, "average": "macro", "sample_weight": weight, "zero_division": 0.0}
    return float(metrics.f1_score(truth, predicted, **options))


WeightedScore = Callable[[Array], float]
"""The score of the same rows by their weights."""
Factory = Callable[[Array, Array], WeightedScore]


def from_means(rows: Callable[[Array, Array], Sequence[Array]], score: Callable[..., Any]) -> Factory:
    """A score that follows from weighted means of what each row has."""

    def prepare(truth: Array, predicted: Array) -> WeightedScore:
        values = np.stack(rows(truth, predicted)).astype(np.float64)
        return lambda weight: float(score(*(values @ weight / weight.sum())))

    return prepare


def row_mean(rows: Callable[[Array, Array], Array], is_root: bool = False) -> Factory:
    """The weighted mean of what each row has, or its root."""
    return from_means(lambda truth, predicted: [rows(truth, predicted)], np.sqrt if is_root else float)


def mean_of_errors(name: str, is_root: bool = False, **options: float) -> Factory:
    """The same by a function of the library, to which each row is an output of its own."""

    def rows(truth: Array, predicted: Array) -> Array:
        found: Array = getattr(metrics, name)(truth[None], predicted[None], multioutput="raw_values", **options)
        return found

    return row_mean(rows, is_root)


def log_losses(truth: Array, predicted: Array) -> Array:
    own = predicted[np.arange(len(truth)), truth]
    return np.asarray(-np.log(np.clip(own, EPSILON, 1.0 - EPSILON)))


def column_log_losses(truth: Array, predicted: Array) -> Array:
    own = np.where(np.eye(predicted.shape[1], dtype=bool)[truth], predicted, 1.0 - predicted)
    return np.asarray(-np.log(np.clip(own, EPSILON, 1.0 - EPSILON)).mean(axis=1))


def f1_of_sets(truth: Array, predicted: Array) -> Array:
    both, sizes = hits_of_sets(truth, predicted)
    return np.asarray(np.where(sizes > 0, 2.0 * both / np.maximum(sizes, 1), 1.0))


def hits_of_sets(truth: Array, predicted: Array) -> list[Array]:
    return [(truth & predicted).sum(axis=1), truth.sum(axis=1) + predicted.sum(axis=1)]


def sets(truth: Array, predicted: Array) -> WeightedScore:
    """The mean F1 of the labels of sets."""
    both, sizes = (truth & predicted).astype(np.float64), truth.astype(np.float64) + predicted

    def score(weight: Array) -> float:
        hits, size = weight @ both, weight @ sizes
        return float(np.mean(2.0 * hits[size > 0] / size[size > 0])) if size.any() else 0.0

    return score


def ratio(hits: float, sizes: float) -> float:
    """F1 of what is right and of what is there and predicted."""
    return 2.0 * hits / sizes if sizes > 0 else 0.0


def hits_of_second(truth: Array, predicted: Array) -> list[Array]:
    one, other = truth == 1, predicted == 1
    return [one & other, one * 1.0 + other]


def moments(truth: Array, predicted: Array) -> list[Array]:
    """What correlations, kappa and R2 follow from."""
    one, other = truth - truth.mean(), predicted - truth.mean()
    return [one, other, one**2, other**2, one * other]


def r2_of(one: float, other: float, squares: float, others: float, product: float) -> float:
    spread, error = squares - one**2, squares + others - 2.0 * product
    if spread <= 1e-13 * squares:
        return float(error <= 0)
    return 1.0 - error / spread


def kappa_of(one: float, other: float, squares: float, others: float, product: float) -> float:
    by_chance = squares + others - 2.0 * one * other
    right = (squares + others - 2.0 * product) / by_chance if by_chance > 1e-13 * (squares + others) else np.nan
    return 1.0 - right


def by_class(score: Callable[[Array, Array, Array], Any]) -> Factory:
    """A score by the weights of each class: of rows that are right, that have it, and for which it is predicted."""

    def prepare(truth: Array, predicted: Array) -> WeightedScore:
        most, right = int(max(truth.max(), predicted.max())) + 1, truth == predicted

        def counted(weight: Array) -> float:
            of_right = np.bincount(truth, weights=weight * right, minlength=most)
            own, guessed = (np.bincount(side, weights=weight, minlength=most) for side in (truth, predicted))
            is_known = own + guessed > 0
            return float(score(of_right[is_known], own[is_known], guessed[is_known]))

        return counted

    return prepare


def mcc_of(right: Array, own: Array, predicted: Array) -> float:
    total = own.sum()
    spread = (own @ (total - own)) * (predicted @ (total - predicted))
    return float((right.sum() * total - own @ predicted) / np.sqrt(spread)) if spread > 0 else 0.0


def medians(truth: Array, predicted: Array) -> WeightedScore:
    # To sort what is in order takes no time.
    order = np.argsort(np.abs(predicted - truth))
    truth, predicted = truth[order], predicted[order]
    return lambda weight: median_absolute_error(truth, predicted, weight[order])


def spearmans(truth: Array, predicted: Array) -> WeightedScore:
    return partial(spearman_of_ties, ties(truth), ties(predicted))


def ginis(truth: Array, predicted: Array) -> WeightedScore:
    return partial(gini_of_ties, truth, ties(truth), ties(predicted))


def areas(curve: Factory, each: bool = False) -> Factory:
    """The area under the curve of the second of two classes, else of each class with rows, averaged."""

    def prepare(truth: Array, predicted: Array) -> WeightedScore:
        count = predicted.shape[1]
        classes = [1] if count == 2 and not each else range(count)
        curves = [curve((truth == one).astype(np.float64), predicted[:, one]) for one in classes]
        return lambda weight: float(np.nanmean([area(weight) for area in curves]))

    return prepare


def roc_curve(is_own: Array, scores: Array) -> WeightedScore:
    of_order = ginis(is_own, scores)
    return lambda weight: (1.0 + of_order(weight)) / 2.0


def precision_curve(is_own: Array, scores: Array) -> WeightedScore:
    places = ties(-scores)

    def area(weight: Array) -> float:
        own, all_of = np.bincount(places, weights=weight * is_own), np.bincount(places, weights=weight)
        above = np.cumsum(all_of)
        return float((own * np.cumsum(own) / np.where(above > 0, above, 1.0)).sum() / own.sum())

    return area


@dataclass(frozen=True)
class Metric:
    """A row of the table."""

    name: str
    kind: Kind
    function: Function
    """The score of rows."""
    resampled: Factory | None = None
    """The same score for many weights of the same rows, if the function is too slow for that."""
    least: float = 0.0
    """The smallest possible score."""
    most: float = 1.0
    """The largest possible score."""
    is_error: bool = False
    """Whether smaller scores are better."""
    of_column: str | None = None
    """The metric of each column, for a mean over columns."""
    guesses: int = 1
    """How many guesses of a row count."""
    by_order: bool = False
    """Whether the order of predictions counts alone, not how large they are."""

    def source(self) -> str:
        """The function as a text that stands alone: `score(truth, predicted, weight=None)` with what it imports and
        calls."""
        function: Any = self.function
        bound = function.args if isinstance(function, partial) else ()
        function = function.func if isinstance(function, partial) else function
        parts = [_text(function, "score", bound)]
        own, names = vars(sys.modules[__name__]), _names(parts[0])
        waiting = sorted(names)
        while waiting:
            name = waiting.pop()
            if inspect.isfunction(own.get(name)):
                parts.insert(0, _text(own[name], name))
                waiting += sorted(_names(parts[0]) - names)
                names |= _names(parts[0])
        imports = [line for name, line in IMPORTS.items() if name in names]
        return "\n\n\n".join(["\n".join(imports), *parts])

    def sign(self) -> float:
        """What turns a score into one that is better if it is larger."""
        return -1.0 if self.is_error else 1.0

    def score(self, truth: Array, predicted: Array, weight: Weight = None) -> float:
        """The score by the function; not a number where it is undefined."""
        if weight is not None:
            # A row of weight zero counts like none.
            rows = np.flatnonzero(weight > 0)
            truth, predicted, weight = truth[rows], predicted[rows], weight[rows]
        if not len(truth) or (self.by_order and self.kind == "probabilities" and len(np.unique(truth)) < 2):
            return float("nan")
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                return self.function(truth, predicted, weight)
            except (ValueError, ZeroDivisionError):
                return float("nan")

    def scores(self, truth: Array, predicted: Array, weights: Array) -> Array:
        """The score for each line of weights; not a number where it is undefined."""
        if self.resampled is None:
            return np.array([self.score(truth, predicted, line) for line in weights])
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            score = self.resampled(truth, predicted)
            return np.array([score(line) if line.any() else np.nan for line in weights])


IMPORTS = {"np": "import numpy as np", "metrics": "from sklearn import metrics"}
"""What a text of a function imports for the names that it uses."""


def _text(function: Any, name: str, bound: tuple[Any, ...] = ()) -> str:
    """The source of a function under this name, without types. Its first parameters may have values."""
    lines = inspect.getsource(function).splitlines()
    (node,) = ast.parse("\n".join(lines)).body
    assert isinstance(node, ast.FunctionDef)
    for one in node.args.args:
        one.annotation = None
    values = [f"    {one.arg} = {value!r}" for one, value in zip(node.args.args, bound)]  # noqa: B905
    node.args.args = node.args.args[len(bound) :]
    words, said = node.body[0].lineno - 1, node.body[0].end_lineno
    head = f"def {name}({ast.unparse(node.args)}):"
    return "\n".join([head, *lines[words:said], *values, *lines[said:]])


def _names(text: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}


INFINITE = float("inf")


def _error(name: str, function: Function, rows: Factory, kind: Kind = "numbers", **further: Any) -> Metric:
    return Metric(name, kind, function, rows, is_error=True, **{"most": INFINITE} | further)


COLUMNS_AUC, COLUMNS_LOSS = areas(roc_curve, each=True), row_mean(column_log_losses)
TABLE: list[Metric] = [
    Metric("accuracy", "labels", accuracy, row_mean(np.equal)),
    Metric(
        "balanced accuracy",
        "labels",
        balanced_accuracy,
        by_class(lambda right, own, _: np.mean(right[own > 0] / own[own > 0])),
    ),
    Metric("F1", "labels", f1, from_means(hits_of_second, ratio)),
    Metric("macro F1", "labels", macro_f1, by_class(lambda right, own, pred: np.mean(2.0 * right / (own + pred)))),
    Metric("micro F1", "labels", micro_f1, row_mean(np.equal)),
    Metric(
        "weighted F1",
        "labels",
        weighted_f1,
        by_class(lambda right, own, pred: own @ (2.0 * right / (own + pred)) / own.sum()),
    ),
    Metric("ROC-AUC", "probabilities", roc_auc, areas(roc_curve), by_order=True),
    Metric("average precision", "probabilities", average_precision, areas(precision_curve), by_order=True),
    _error("log loss", log_loss, row_mean(log_losses), kind="probabilities"),
    _error("Brier score", brier, row_mean(squares_of_classes), most=2.0, kind="probabilities"),
    Metric("MCC", "labels", mcc, by_class(mcc_of), least=-1.0),
    Metric("quadratic weighted kappa", "labels", quadratic_kappa, from_means(moments, kappa_of), least=-1.0),
    _error("RMSE", rmse, mean_of_errors("mean_squared_error", is_root=True)),
    _error("MSE", mse, mean_of_errors("mean_squared_error")),
    _error("MAE", mae, mean_of_errors("mean_absolute_error")),
    _error("median absolute error", median_absolute_error, medians),
    Metric("R2", "numbers", r2, from_means(moments, r2_of), least=-INFINITE),
    _error("RMSLE", rmsle, mean_of_errors("mean_squared_log_error", is_root=True)),
    _error("MAPE", mape, mean_of_errors("mean_absolute_percentage_error")),
    _error("SMAPE", smape, row_mean(symmetric_shares), most=200.0),
    Metric("Spearman correlation", "numbers", spearman, spearmans, least=-1.0, by_order=True),
    Metric("Pearson correlation", "numbers", pearson, least=-1.0),
    Metric("normalized Gini", "order", gini, ginis, least=-1.0, by_order=True),
    Metric("sample-averaged F1", "sets", sample_f1, row_mean(f1_of_sets)),
    Metric("micro F1 of sets", "sets", set_micro_f1, from_means(hits_of_sets, ratio)),
    Metric("macro F1 of sets", "sets", set_macro_f1, sets),
    _error("MCRMSE", rmse, mean_of_errors("mean_squared_error", is_root=True), of_column="RMSE"),
    _error("mean column-wise log loss", column_log_loss, COLUMNS_LOSS, "probabilities", of_column="log loss"),
    Metric(
        "mean column-wise ROC-AUC", "probabilities", column_roc_auc, COLUMNS_AUC, by_order=True, of_column="ROC-AUC"
    ),
]
BY_NAME = {one.name: one for one in TABLE}


PARAMETERS: dict[str, Callable[[str, float], Metric]] = {
    r"MAP@(\d+)": lambda name, most: _guess_metric(name, map_at, int(most)),
    r"top-(\d+) accuracy": lambda name, most: _guess_metric(name, top_accuracy, int(most)),
    r"pinball loss ([\d.]+)": lambda name, share: _error(
        name, partial(pinball, share), mean_of_errors("mean_pinball_loss", alpha=share)
    ),
    r"interval score ([\d.]+)": lambda name, share: _error(
        name, partial(interval_score, share), row_mean(partial(interval_costs, share)), kind="intervals"
    ),
}
"""Metrics with a parameter in their names."""


def _guess_metric(name: str, function: Callable[..., float], most: int) -> Metric:
    return Metric(name, "guesses", partial(function, most), guesses=most)


def named(name: str) -> Metric | None:
    """The metric of this name, such as `RMSE`, `MAP@3` or `pinball loss 0.9`."""
    found = ((re.fullmatch(pattern, name), made) for pattern, made in PARAMETERS.items())
    return BY_NAME.get(name) or next((made(name, float(match[1])) for match, made in found if match), None)


def for_classes(metric: Metric, classes: int) -> Metric:
    """The metric of a target with so many classes, or 0 for numbers: F1 of more than two is their mean, two classes are
    put in order by probabilities, and a mean over the columns of classes needs three."""
    if metric.name == "F1" and classes != 2:
        return BY_NAME["macro F1"]
    if metric.kind == "order" and classes == 2:
        return for_two_classes(metric)
    return BY_NAME[metric.of_column] if metric.of_column is not None and classes <= 2 else metric


def for_two_classes(metric: Metric) -> Metric:
    """A metric of order for a target of two classes, which scripts predict by one score."""
    return replace(metric, kind="probabilities", function=gini_of_classes, resampled=areas(ginis))
